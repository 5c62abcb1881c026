"""The dispatcher of one Key_Shared subscription: which message goes to whom, and what waits.

    publish ──► owner of the hash has permits? ──yes──► delivered, unacked there ──ack──► mark-delete moves on
                       │ no, or nobody covers it               │ its consumer disconnects
                       ▼                                       ▼
                   replay set ◄────────────────────────────────┘
                       │ permits arrive, or the selector changes: lowest position first
                       ▼
                   delivered, redelivered = somebody had it before

Rules: a message goes to the consumer that the selector names for its key's hash, if that one has permits; else it
joins the replay set. A consumer that leaves gives back what it has not acknowledged. Mark-delete is the position up
to which all is acknowledged.

What keeps it fast: each owner has its own heap of waiting positions, and a consumer with permits never has any, so a
new message needs one look-up and no scan. It also means that a message is never sent past an older one of its own hash.
Owners are looked up once per hash between two changes of the selector; a change sorts the waiting messages again.

Left out until its own issue: the rules that keep a key in order when its owner changes (3.2: a newcomer waits until
all before its join is acknowledged; current: draining hashes), read batches, limits of unacknowledged messages.
Messages count one permit each: no batches.

Source: Pulsar 3.2 `PersistentStickyKeyDispatcherMultipleConsumers`, `PersistentDispatcherMultipleConsumers`,
`ManagedCursorImpl`.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from heapq import heappop
from typing import Any, Self

from broker_core.errors import CommandError, InvariantError
from broker_core.pulsar.selectors import Selector, selector_from_json
from broker_core.pulsar.selectors.protocol import Range

Delivery = tuple[str, int, bool]
"""(consumer, position, redelivered: it had been delivered to somebody before)."""


class KeySharedSubscription:
    """State of one subscription; every method that can send returns its deliveries in position order.

    >>> from broker_core.pulsar.selectors import SELECTORS
    >>> subscription = KeySharedSubscription(SELECTORS["auto_split"]())
    >>> subscription.connect("c1"), subscription.flow("c1", 1)
    ([], [])
    >>> subscription.publish(0, 3112179635), subscription.publish(1, 3112179635)
    ([('c1', 0, False)], [])
    >>> subscription.ack("c1", 0); subscription.mark_delete, subscription.flow("c1", 1)
    (0, [('c1', 1, False)])
    """

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.mark_delete = -1
        self._permits: dict[str, int] = {}  # connected consumers, in the order they came
        self._unacked: dict[str, dict[int, int]] = {}  # consumer -> position -> hash of its key
        self._waiting: dict[int, int] = {}  # the replay set: position -> hash of its key
        self._sent_before: set[int] = set()  # those of the replay set that somebody has had
        self._pending: deque[int] = deque()  # positions above mark-delete, ascending
        self._acked: set[int] = set()  # those of them that are acknowledged
        # Owner -> heap of its waiting positions; those acknowledged meanwhile are passed over.
        self._queues: dict[str | None, list[int]] = {}
        self._owners: dict[int, str | None] = {}  # hash -> owner, between two changes of the selector
        self.last_published = -1

    # -- consumers -----------------------------------------------------------------------------------------------------

    def connect(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> list[Delivery]:
        """Let a consumer in, without permits. Waiting messages get owners again; nobody's permits grew, but
        owners may differ.

        Raises what the selector raises (AssignRefused, CommandError), state untouched.
        """
        self.selector.add(consumer, name, ranges)
        self._permits[consumer] = 0
        self._unacked[consumer] = {}
        return self._selector_changed()

    def disconnect(self, consumer: str) -> list[Delivery]:
        """Out of the selector first, then its unacknowledged messages wait with the others and go to the consumer that owns them
        now.

        One that is not connected changes nothing. When the last one goes, all wait for the next first consumer, which
        begins after mark-delete as the original's cursor does.
        """
        if consumer not in self._permits:
            return []
        self.selector.remove(consumer)
        del self._permits[consumer]
        unacked = self._unacked.pop(consumer)
        self._waiting.update(unacked)
        self._sent_before.update(unacked)
        return self._selector_changed()

    def flow(self, consumer: str, permits: int) -> list[Delivery]:
        """Grant `permits` more (0 or more); what waits for this consumer is sent first.

        Ignored from one that is not connected.
        """
        if permits < 0:
            raise CommandError("permits", "must be 0 or more")
        if consumer not in self._permits:
            return []
        self._permits[consumer] += permits
        return self._drain(consumer) if self._queues.get(consumer) else []

    # -- messages -------------------------------------------------------------------------------------------------------

    def publish(self, position: int, hash32: int) -> list[Delivery]:
        """A message arrives. position: above all before it; hash32: unsigned murmur3 of its key."""
        if position <= self.last_published:
            raise CommandError("position", "must be above the one before")
        self.last_published = position
        self._pending.append(position)
        try:
            owner = self._owners[hash32]
        except KeyError:
            owner = self._owners[hash32] = self.selector.select(hash32)
        if owner is not None and self._permits[owner] > 0:
            self._permits[owner] -= 1
            self._unacked[owner][position] = hash32
            return [(owner, position, False)]
        self._waiting[position] = hash32
        # Above every position that waits, so the heap needs no sifting.
        self._queues.setdefault(owner, []).append(position)
        return []

    def ack(self, consumer: str, position: int) -> None:
        """Acknowledge one message. As in the original it may come from another consumer than the message's, or while
        the message waits.

        A position that is acknowledged already, or was never published, changes nothing.
        """
        mine = self._unacked.get(consumer)
        if (mine is None or mine.pop(position, None) is None) and not self._ack_elsewhere(position):
            return
        pending, acked = self._pending, self._acked
        if pending[0] != position:
            acked.add(position)
            return
        pending.popleft()
        while pending and pending[0] in acked:
            position = pending.popleft()
            acked.remove(position)
        self.mark_delete = position

    def _ack_elsewhere(self, position: int) -> bool:
        """Take a message out of the replay set, or from the consumer that has it. False: it is in neither."""
        if self._waiting.pop(position, None) is not None:
            self._sent_before.discard(position)
            return True
        return any(unacked.pop(position, None) is not None for unacked in self._unacked.values())

    # -- questions -----------------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many messages wait: the replay set, and while nobody is connected the backlog."""
        return len(self._waiting)

    @property
    def outstanding(self) -> int:
        """How many published messages are not acknowledged yet, wherever they are."""
        return len(self._pending) - len(self._acked)

    def waiting_for(self, consumer: str) -> int:
        """How many of them wait for this consumer."""
        return sum(position in self._waiting for position in self._queues.get(consumer, ()))

    def permits(self, consumer: str) -> int:
        """How many messages this consumer still takes; 0 for one that is not connected."""
        return self._permits.get(consumer, 0)

    def unacked(self, consumer: str) -> list[int]:
        """Positions delivered to this consumer and not acknowledged, ascending."""
        return sorted(self._unacked.get(consumer, ()))

    def unacked_count(self, consumer: str) -> int:
        """How many of them."""
        return len(self._unacked.get(consumer, ()))

    def check(self) -> None:
        """Raise InvariantError where a rule of this file is broken: each pending position is in just one place,
        nobody idles.
        """
        places = [
            *self._acked,
            *self._waiting,
            *(position for unacked in self._unacked.values() for position in unacked),
        ]
        if sorted(places) != list(self._pending):
            raise InvariantError("a position is lost, or in two places")
        for consumer, permits in self._permits.items():
            if permits > 0 and any(position in self._waiting for position in self._queues.get(consumer, ())):
                raise InvariantError(f"{consumer} has permits while messages wait for it")

    def check_counts(self) -> None:
        """What of `check` can be watched while a world runs, in time that grows with the consumers only: each pending position is in just one
        place, by counts; mark-delete is below them all; nobody has permits while messages wait for it.
        """
        held = sum(map(len, self._unacked.values()))
        if len(self._pending) != len(self._waiting) + held + len(self._acked):
            raise InvariantError(f"{len(self._pending)} pending are not {len(self._waiting)} waiting, {held} unacked and {len(self._acked)} acked")
        if self._pending and self._pending[0] <= self.mark_delete:
            raise InvariantError(f"position {self._pending[0]} is pending, and mark-delete is {self.mark_delete}")
        if self._unacked.keys() != self._permits.keys():
            raise InvariantError("a consumer that is not connected holds messages")
        for consumer, queue in self._queues.items():
            if consumer is not None and queue and self._permits[consumer] > 0 and any(position in self._waiting for position in queue):
                raise InvariantError(f"{consumer} has permits while messages wait for it")

    # -- state there and back ------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain."""
        return {
            "selector": self.selector.to_json(),
            "mark_delete": self.mark_delete,
            "last_published": self.last_published,
            "permits": [list(item) for item in self._permits.items()],
            "unacked": [[consumer, sorted(unacked.items())] for consumer, unacked in self._unacked.items()],
            "waiting": sorted(self._waiting.items()),
            "sent_before": sorted(self._sent_before),
            "acked": sorted(self._acked),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The subscription that wrote `state`."""
        subscription = cls(selector_from_json(state["selector"]))
        subscription.mark_delete = state["mark_delete"]
        subscription.last_published = state["last_published"]
        subscription._permits = dict(state["permits"])
        subscription._unacked = {consumer: dict(items) for consumer, items in state["unacked"]}
        subscription._waiting = dict(state["waiting"])
        subscription._sent_before = set(state["sent_before"])
        subscription._acked = set(state["acked"])
        held = (position for unacked in subscription._unacked.values() for position in unacked)
        subscription._pending = deque(sorted([*subscription._waiting, *held, *subscription._acked]))
        subscription._sort_waiting()
        return subscription

    # -- replay --------------------------------------------------------------------------------------------------------

    def _selector_changed(self) -> list[Delivery]:
        self._sort_waiting()
        if not self._waiting:
            return []
        # Each message has one owner, so the order in which consumers are served changes nothing but the order of the
        # list.
        deliveries = [delivery for consumer in self._permits for delivery in self._drain(consumer)]
        deliveries.sort(key=lambda delivery: delivery[1])
        return deliveries

    def _sort_waiting(self) -> None:
        """Every waiting message into its owner's queue; an ascending list is a heap."""
        self._owners.clear()
        self._queues.clear()
        for position in sorted(self._waiting):
            self._queues.setdefault(self._owner(self._waiting[position]), []).append(position)

    def _owner(self, hash32: int) -> str | None:
        if hash32 not in self._owners:
            self._owners[hash32] = self.selector.select(hash32)
        return self._owners[hash32]

    def _drain(self, consumer: str) -> list[Delivery]:
        """Send this consumer what waits for it, lowest position first, as far as its permits go."""
        queue, permits = self._queues.get(consumer, []), self._permits[consumer]
        deliveries: list[Delivery] = []
        while queue and permits > 0:
            position = heappop(queue)
            hash32 = self._waiting.pop(position, None)
            if hash32 is None:
                continue  # acknowledged while it waited
            permits -= 1
            self._unacked[consumer][position] = hash32
            deliveries.append((consumer, position, position in self._sent_before))
            self._sent_before.discard(position)
        self._permits[consumer] = permits
        return deliveries

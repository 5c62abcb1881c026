"""What Shared and Key_Shared have in common: permits, pending entries, what waits to be sent again, limits of
unacknowledged messages.

    flow ─► permits ─► read (waiting ones first) ─► sent, pending at its consumer ─► ack
                          ▲                              │ its consumer leaves, or asks for it again
                          └──────── replay set ◄─────────┘

Permits and unacknowledged messages count messages, not entries. A batch costs those of its messages that are
not acknowledged.

A consumer with as many unacknowledged messages as its limit is blocked until half of them are acknowledged,
or until it asks for any again; what it grants meanwhile counts then. A subscription at its own limit reads
nothing new until less than half of it is left; what waits to be sent again still goes out.

Source: Pulsar 3.2 `PersistentDispatcherMultipleConsumers`, `Consumer` (sendMessages, individualAckNormal,
flowPermits, removePendingAcks), `InMemoryDelayedDeliveryTracker`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from broker_core.errors import InvariantError
from broker_core.plain import from_steps, kept, take_back, to_steps
from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.dispatchers.redelivery_controller import ReplaySet
from broker_core.pulsar.entry import Entries, Entry

NO_LIMIT = 1 << 62
READ_BATCH = 100
"""dispatcherMaxReadBatchSize: entries of one read."""
UNACKED_PER_CONSUMER_MAX = 50_000
UNACKED_PER_SUBSCRIPTION_MAX = 200_000
"""maxUnackedMessagesPerConsumer and maxUnackedMessagesPerSubscription; 0 is no limit."""

Sent = tuple[str, int]
"""(consumer, position)."""


@dataclass(eq=False, repr=False)
class PendingState:
    """available: permits of all consumers that can be sent something. unacked: messages at all of them;
    is_full: they have reached the subscription's limit. delayed: (moment, position) of entries that wait for
    their time; timer_us: when the broker wakes for the first of them; has_delayed: there may be more to come.
    now_us: of the last call, set by the broker."""

    available: int = 0
    unacked: int = 0
    is_full: bool = False
    delayed: list[tuple[int, int]] = field(default_factory=list)
    now_us: int = 0
    has_delayed: bool = False
    timer_us: int = 0


class PendingDispatcher(PendingState, ABC):
    """entries: the topic's, not the dispatcher's own. sent_before: entries of the replay set that somebody
    has had. has_news: there is something for the broker to tell or to set a timer for. on_settled: who hears
    of an entry that is not pending at a consumer any more, and of its hash.
    each_max: unacknowledged messages of a consumer at most; limit_first: fewer of all consumers together
    reach no limit. stuck: the replay set's first so many entries are known not to be sendable."""

    consumers: dict[str, Receiver]
    ASKED_AGAIN_BLOCKS: ClassVar[bool] = False

    def __init__(
        self,
        cursor: Cursor | None,
        entries: Entries | None,
        *,
        blocks: bool,
        read_batch: int,
        unacked_max: int,
        unacked_all_max: int,
    ) -> None:
        super().__init__()
        self.cursor = Cursor() if cursor is None else cursor
        self.entries: Entries = {} if entries is None else entries
        self.read_batch = read_batch
        self.unacked_max = unacked_max
        self.unacked_all_max = unacked_all_max
        self.each_max = unacked_max or NO_LIMIT
        self.limit_first = min(self.each_max, unacked_all_max or NO_LIMIT)
        self.consumers = {}
        self.replay = ReplaySet(blocks=blocks)
        self.on_settled: Callable[[str, int], None] | None = None
        self._stuck = 0
        self.sent_before: set[int] = set()
        self.has_news = False

    # -- what each of them does in its own way ---------------------------------------------------------------

    @abstractmethod
    def read_on(self) -> list[Sent]:
        """Read until nothing more can be sent."""

    def changed(self) -> None:
        """Something happened after which waiting entries may be sent that could not be before."""
        self._stuck = 0

    # -- messages --------------------------------------------------------------------------------------------

    def publish(self, hashes: Sequence[int]) -> list[Sent]:
        """Messages arrive at the end of the topic. hashes: unsigned murmur3 of their keys."""
        for hash32 in hashes:
            self.entries[self.cursor.end] = Entry(hash32, self.cursor.end)
            self.cursor.end += 1
        return self.read_on()

    def arrived(self, position: int, entry: Entry) -> list[Sent]:
        """One entry has arrived at the end of the topic, and is among the entries."""
        self.cursor.end = position + 1
        if entry.deliver_at_us:
            self.has_delayed = True
        return self.read_on() if self.available > 0 else []

    def flow(self, consumer: str, permits: int) -> list[Sent]:
        """The consumer can take so many more; one that is not connected changes nothing."""
        known = self.consumers.get(consumer)
        if known is None:
            return []
        if known.is_blocked:
            known.withheld += permits
            return []
        self._grant(known, permits)
        return self.read_on()

    def ack(self, positions: Sequence[int], consumer: str | None = None) -> list[Sent]:
        """Acknowledge messages one by one. consumer: who says so, usually the one that has them; another may
        as well."""
        cursor, sent_before, again = self.cursor, self.sent_before, False
        mine = self.consumers.get(consumer) if consumer is not None else None
        for position in positions:
            if sent_before:
                sent_before.discard(position)
            known = mine if mine is not None and position in mine.pending else self._holder(position)
            if known is not None:
                again |= self._settle(known, position)
            elif position in self.replay:
                self.changed()
                again = True
            cursor.ack(position)
        return self.read_on() if self._acked() or again else []

    def _holder(self, position: int) -> Receiver | None:
        """Whose pending entry it is."""
        return next((known for known in self.consumers.values() if position in known.pending), None)

    def ack_places(self, position: int, places: Sequence[int], consumer: str | None = None) -> list[Sent]:
        """Acknowledge single messages of a batch that is not acknowledged with them. The entry stays pending
        at whoever has it, with fewer messages; a consumer at its limit stays blocked until an entry of it is
        acknowledged as a whole."""
        count = self.cursor.ack_places(position, places)
        known = self._holder(position)
        if known is None or not count:
            return []
        known.unacked -= count
        self.unacked -= count
        return self.read_on() if self._release_all() else []

    def _left(self, position: int) -> int:
        """Messages of an entry that are not acknowledged; one that is not kept any more counts as one."""
        entry = self.entries.get(position)
        if entry is None or not entry.batch:
            return 1
        return self.cursor.left(position, len(entry.batch))

    def redeliver(self, consumer: str, positions: Iterable[int]) -> list[Sent]:
        """A client asks for messages of its own again; one that is not connected has none. Their hashes are
        not known here in 3.2, so they block nothing."""
        known = self.consumers.get(consumer)
        if known is None:
            return []
        for position in positions:
            if position in known.pending:
                hash32 = known.pending[position]
                self._settle(known, position)
                self._again(position, hash32 if self.ASKED_AGAIN_BLOCKS else None)
        if known.is_blocked:  # whatever it still has: Consumer.redeliverUnacknowledgedMessages
            self._unblock(known)
        self.changed()
        return self.read_on()

    def pending(self) -> dict[str, list[int]]:
        """Consumer -> positions sent to it and not acknowledged, ascending."""
        return {name: sorted(known.pending) for name, known in self.consumers.items()}

    # -- time ------------------------------------------------------------------------------------------------

    @property
    def next_delayed_us(self) -> int | None:
        """When the first delayed entry may be sent."""
        return self.delayed[0][0] if self.delayed else None

    def due(self) -> list[Sent]:
        """Time has passed: what was delayed until now goes out before anything new."""
        ready = 0
        while ready < len(self.delayed) and self.delayed[ready][0] <= self.now_us:
            self.replay.add(self.delayed[ready][1])
            ready += 1
        del self.delayed[:ready]
        if self.delayed:  # the next one needs its timer
            self.has_news = True
        self.changed()
        return self.read_on()

    def _without_delayed(self, positions: list[int]) -> list[int]:
        """Entries read whose time has not come wait aside."""
        if not self.has_delayed:
            return positions
        now = []
        for position in positions:
            at_us = self.entries[position].deliver_at_us
            if at_us > self.now_us:
                insort(self.delayed, (at_us, position))
                self.has_news = True
            else:
                now.append(position)
        return now

    # -- consumers -------------------------------------------------------------------------------------------

    def _enter(self, consumer: str, name: str, priority: int, permits: int) -> Receiver:
        """The first of a subscription reads again from mark-delete on."""
        if not self.consumers:
            self.cursor.rewind()
            self.replay.clear()
            self.delayed.clear()
        known = self.consumers[consumer] = Receiver(consumer, priority, permits, name)
        self.available += permits
        self.changed()
        return known

    def _exit(self, consumer: str) -> Receiver:
        gone = self.consumers.pop(consumer)
        if gone.is_available:
            self.available -= gone.permits
        self.unacked -= gone.unacked
        self.sent_before.update(gone.pending)
        self._release_all()
        if not self.consumers:
            self.replay.clear()
            self.delayed.clear()
            self.is_full = False
        self.changed()
        return gone

    def _grant(self, known: Receiver, permits: int) -> None:
        before = max(known.permits, 0)
        known.permits += permits
        self.available += max(known.permits, 0) - before
        self.changed()

    def _take(self, known: Receiver, position: int, entry: Entry) -> None:
        """The entry goes to this consumer, which had permits and was not blocked when it was chosen; a batch
        before it may have changed that."""
        size = self.cursor.left(position, len(entry.batch)) if entry.batch else 1
        known.pending[position] = entry.hash32
        if not known.is_blocked:  # else its permits are not among the available ones
            self.available -= size if size <= known.permits else max(known.permits, 0)
        known.permits -= size
        known.unacked += size
        self.unacked += size
        if known.unacked >= self.unacked_max or self.unacked >= self.unacked_all_max:
            self._limit(known)

    def _take_all(self, known: Receiver, positions: Sequence[int]) -> None:
        """These entries go to this consumer, one after the other; without batches it has permits for all of
        them, and its limit is not reached before the last."""
        entries = self.entries
        for position in positions:
            self._take(known, position, entries[position])

    def _limit(self, known: Receiver) -> None:
        """Too much is unacknowledged, at this consumer or at all of them."""
        if self.unacked_max and known.unacked >= self.unacked_max and not known.is_blocked:
            known.is_blocked = True
            self.available -= max(known.permits, 0)
        if self.unacked_all_max and self.unacked >= self.unacked_all_max:
            self.is_full = True

    def _settle(self, known: Receiver, position: int) -> bool:
        """The entry is not pending at this consumer any more. True: somebody is released by it."""
        hash32 = known.pending.pop(position)
        size = self._left(position)
        known.unacked -= size
        self.unacked -= size
        if self.on_settled is not None:
            self.on_settled(known.consumer, hash32)
        if not self.is_full and not known.is_blocked:
            return False
        released = self._release_all()
        if known.is_blocked and known.unacked * 2 <= self.unacked_max:
            self._unblock(known)
            released = True
        return released

    def _unblock(self, known: Receiver) -> None:
        """It may be sent something again; what it granted meanwhile counts now."""
        known.is_blocked = False
        known.permits, known.withheld = known.permits + known.withheld, 0
        self.available += max(known.permits, 0)
        self.changed()

    def _release_all(self) -> bool:
        if not self.is_full or self.unacked >= self.unacked_all_max // 2:
            return False
        self.is_full = False
        return True

    def _acked(self) -> bool:
        """Entries were acknowledged. True: more can be sent because of it."""
        return False

    def _again(self, position: int, hash32: int | None) -> None:
        self.replay.add(position, hash32)
        self.sent_before.add(position)

    # -- laws and checkpoints --------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise InvariantError where a law is broken: what was read and is not acknowledged is at one
        consumer, or waits; permits add up. In time that grows with the consumers only."""
        held = sum(len(known.pending) for known in self.consumers.values())
        places = held + len(self.replay) + len(self.delayed)
        cursor = self.cursor
        unacked = cursor.read_position - 1 - cursor.mark_delete - len(cursor.ahead)
        if self.consumers and places < unacked:
            raise InvariantError(
                f"{unacked} entries are read and not acknowledged, and only {places} are sent or wait"
            )
        available = sum(max(known.permits, 0) for known in self.consumers.values() if not known.is_blocked)
        if available != self.available:
            raise InvariantError(f"{self.available} permits are counted, there are {available}")

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain; the cursor and the entries, with the hashes of what is pending, are kept
        elsewhere."""
        return {
            **kept(self, PendingState),
            "replay": self.replay.to_json(self._hash_at),
            "sent_before": to_steps(sorted(self.sent_before)),
            "consumers": [
                msgspec.to_builtins(known) | {"pending": to_steps(known.pending)}
                for known in self.consumers.values()
            ],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become the dispatcher that wrote `state`."""
        take_back(self, PendingState, state)
        self.replay.restore(state["replay"], self._hash_at)
        self.sent_before = set(from_steps(state["sent_before"]))
        for plain in state["consumers"]:
            pending = {position: self._hash_at(position) for position in from_steps(plain["pending"])}
            known = msgspec.convert({**plain, "pending": pending}, Receiver)
            self.consumers[known.consumer] = known

    def _hash_at(self, position: int) -> int:
        return self.entries[position].hash32

"""A subscription: a durable cursor, and the dispatcher of whatever type its connected consumers have.

The type is not the subscription's own. The first consumer that connects while nobody is decides it; later
ones must ask for the same. So to change it: stop all, start them with the other type. What is acknowledged
stays acknowledged.

Source: Pulsar 3.2 `PersistentSubscription` (addConsumer, acknowledgeMessage, redeliverUnacknowledgedMessages,
doUnsubscribe, resetCursor), `Consumer.messageAcked`. A cumulative acknowledgement on Shared or Key_Shared is
ignored, as there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from broker_core.errors import InvariantError
from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.errors import ServerMetadata, SubscriptionBusy
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.pending import Sent
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.dispatchers.single_active import NOT_PARTITIONED, SingleActiveDispatcher
from broker_core.pulsar.entry import Entries
from broker_core.pulsar.selectors import make_selector, selector_from_json
from broker_core.pulsar.selectors.protocol import Selector
from broker_core.pulsar.settings import (
    DRAINING,
    EXCLUSIVE,
    FAILOVER,
    KEY_SHARED,
    SHARED,
    STICKY,
    TYPES,
    UNKNOWN_TYPE,
    Asked,
    BrokerSettings,
    selector_of,
)

Dispatcher = ActiveDispatcher | SharedDispatcher | KeySharedDispatcher | DrainingDispatcher


class Subscription:
    """One subscription of one topic, or of one partition. `attach` gives it its topic; until then it cannot
    dispatch.

    type: of the consumers that are or were connected last, None while nobody ever was. redelivery_counts:
    position -> how often a client has asked for it again. sent_before: see the dispatchers.
    """

    def __init__(self, name: str, cursor: Cursor) -> None:
        self.name = name
        self.cursor = cursor
        self.type: str | None = None
        self.policy: tuple[bool, bool] = False, False
        self.redelivery_counts: dict[int, int] = {}
        self.dispatcher: Dispatcher | None = None
        self._kept: Mapping[str, Any] | None = None

    def attach(self, topic: str, partition: int, entries: Entries, settings: BrokerSettings) -> None:
        """topic: its full name. partition: its index, NOT_PARTITIONED for none."""
        self.topic, self.partition, self.entries, self.settings = topic, partition, entries, settings
        if self._kept is not None and self.type is not None:
            selector = selector_from_json(self._kept["selector"]) if "selector" in self._kept else None
            self.dispatcher = self._make(self.type, self.policy, selector)
            self.dispatcher.restore(self._kept)
            self._kept = None

    # -- consumers -------------------------------------------------------------------------------------------

    @property
    def consumers(self) -> Sequence[str]:
        """Those connected: as they came, or where one is active in the order in which it is picked."""
        dispatcher = self.dispatcher
        if isinstance(dispatcher, ActiveDispatcher):
            return dispatcher.picker.order
        return [] if dispatcher is None else list(dispatcher.consumers)

    @property
    def consumer_count(self) -> int:
        return 0 if self.dispatcher is None else len(self.dispatcher.consumers)

    def connect(self, consumer: str, asked: Asked, now_us: int = 0) -> list[Sent]:
        """Let a consumer in, without permits. Raises SubscriptionRefused or AssignRefused, state
        untouched."""
        if asked.type not in TYPES:
            raise ServerMetadata(UNKNOWN_TYPE)
        dispatcher = self.dispatcher
        if dispatcher is not None and dispatcher.consumers:
            if asked.type != self.type:
                raise SubscriptionBusy("Subscription is of different type")
        elif (
            dispatcher is None
            or asked.type != self.type
            or (asked.type == KEY_SHARED and asked.policy != self.policy)
        ):
            sent_before = set() if dispatcher is None else dispatcher.sent_before
            dispatcher = self._make(asked.type, asked.policy)
            dispatcher.sent_before = sent_before
            if not isinstance(
                dispatcher, ActiveDispatcher
            ):  # of what arrived before there was a dispatcher it has not heard
                dispatcher.has_delayed = any(entry.deliver_at_us for entry in self.entries.values())
        dispatcher.now_us = now_us
        if isinstance(dispatcher, (KeySharedDispatcher, DrainingDispatcher)):
            sent = dispatcher.connect(consumer, asked.name, 0, list(asked.ranges) or None, asked.priority)
        else:
            sent = dispatcher.connect(consumer, asked.name, 0, asked.priority)
        self.dispatcher, self.type, self.policy = dispatcher, asked.type, asked.policy
        return sent

    def disconnect(self, consumer: str) -> list[Sent]:
        """Let it go; what it has not acknowledged is sent to others, or waits for the next. How often it was
        asked for again is forgotten with the last one."""
        sent = self.attached.disconnect(consumer)
        if not self.attached.consumers:
            self.redelivery_counts.clear()
        return sent

    def unsubscribe(self, consumer: str) -> None:
        """Raise ServerMetadata unless this consumer may take the subscription away: it is the only one, and
        if one is active, that one."""
        if list(self.attached.consumers) != [consumer]:
            raise ServerMetadata("Unconnected or shared consumer attempting to unsubscribe")

    def _make(self, kind: str, policy: tuple[bool, bool], selector: Selector | None = None) -> Dispatcher:
        settings = self.settings
        if kind in (EXCLUSIVE, FAILOVER):
            picker = SingleActiveDispatcher(
                self.topic,
                self.partition,
                is_exclusive=kind == EXCLUSIVE,
                uses_ring=settings.failover_uses_ring,
                in_order=settings.failover_in_order and self.partition == NOT_PARTITIONED,
            )
            return ActiveDispatcher(
                picker,
                delay_us=settings.failover_delay_us,
                read_batch=settings.read_batch,
                cursor=self.cursor,
                entries=self.entries,
            )
        limits = settings.unacked_max, settings.unacked_all_max
        if kind == SHARED:
            return SharedDispatcher(
                read_batch=settings.read_batch,
                cursor=self.cursor,
                entries=self.entries,
                unacked_max=limits[0],
                unacked_all_max=limits[1],
            )
        is_sticky, allows_out_of_order = policy
        if selector is None:
            algorithm = "sticky" if is_sticky and settings.algorithm not in STICKY else settings.algorithm
            selector = make_selector(selector_of(algorithm, settings.order), settings.points)
        if settings.order == DRAINING and not allows_out_of_order:
            return DrainingDispatcher(
                selector,
                is_sticky=is_sticky,
                read_batch=settings.read_batch,
                cursor=self.cursor,
                entries=self.entries,
                unacked_max=limits[0],
                unacked_all_max=limits[1],
            )
        return KeySharedDispatcher(
            selector,
            allows_out_of_order=allows_out_of_order,
            read_batch=settings.read_batch,
            cursor=self.cursor,
            entries=self.entries,
            unacked_max=limits[0],
            unacked_all_max=limits[1],
        )

    # -- messages --------------------------------------------------------------------------------------------

    def ack(
        self, consumer: str, positions: Sequence[int], in_batch: Mapping[int, Sequence[int]] | None = None
    ) -> list[Sent]:
        """Individual acknowledgements, allowed in every type. in_batch: position -> places in its batch; the
        entry is acknowledged with the last of them. Either way it is forgotten how often the entry was asked
        for again (RedeliveryTracker.removeBatch)."""
        dispatcher = self.dispatcher or self.attached  # who acknowledges has connected
        if self.redelivery_counts:
            for position in (*positions, *(in_batch or ())):
                self.redelivery_counts.pop(position, None)
        if not in_batch:
            return dispatcher.ack(positions, consumer)
        sent = []
        for position, places in in_batch.items():
            if self.is_whole_with(position, places):
                positions = [*positions, position]
            else:
                sent += dispatcher.ack_places(position, self.places_of(position, places), consumer)
        return sent + dispatcher.ack(positions, consumer)

    def is_whole_with(self, position: int, places: Iterable[int]) -> bool:
        """Whether an entry is acknowledged as a whole with these places in its batch."""
        entry = self.entries.get(position)
        return entry is not None and {*self.cursor.acked_in_batch.get(position, ()), *places}.issuperset(
            range(entry.size)
        )

    def places_of(self, position: int, places: Iterable[int]) -> list[int]:
        """Those of them that the entry's batch has: an ack set is ANDed with what is left of it
        (ManagedCursorImpl.asyncDelete)."""
        entry = self.entries.get(position)
        size = 0 if entry is None else entry.size
        return [place for place in places if 0 <= place < size]

    def ack_cumulative(self, position: int, places: Sequence[int] = ()) -> bool:
        """Everything up to an entry, or up to these places in its batch. Whether it is taken: on Shared and
        Key_Shared the broker ignores it, and nothing changes."""
        dispatcher = self.dispatcher
        if not isinstance(dispatcher, ActiveDispatcher):
            return False
        if not places or self.is_whole_with(position, places):
            dispatcher.ack_cumulative(position)
        else:
            dispatcher.ack_cumulative(position - 1)
            dispatcher.ack_places(position, self.places_of(position, places))
        return True

    def redeliver(self, consumer: str, positions: Sequence[int]) -> list[Sent]:
        """A client asks for entries again, or (no positions) for all that it has. Exclusive and Failover
        always mean all."""
        dispatcher = self.attached
        if not isinstance(dispatcher, ActiveDispatcher):
            mine = dispatcher.consumers[consumer].pending
            asked = dict.fromkeys(positions)  # one that is named twice is asked for once
            positions = [position for position in asked if position in mine] if asked else sorted(mine)
            for position in positions:
                self.redelivery_counts[position] = self.redelivery_counts.get(position, 0) + 1
        return dispatcher.redeliver(consumer, positions)

    def seek(self, position: int) -> None:
        """Read again from this entry on, and take everything before it as acknowledged. No consumer may be
        connected."""
        if self.attached.consumers:
            raise InvariantError(f"{self.name} has consumers during a seek")
        self.cursor.reset(position)
        self.attached.sent_before.clear()
        self.redelivery_counts.clear()

    # -- questions -------------------------------------------------------------------------------------------

    @property
    def attached(self) -> Dispatcher:
        if self.dispatcher is None:
            raise InvariantError(f"nobody has ever connected to {self.name}")
        return self.dispatcher

    @property
    def selector(self) -> Selector | None:
        """Of Key_Shared; None in the other types, and before the first consumer."""
        return (
            self.dispatcher.selector
            if isinstance(self.dispatcher, (KeySharedDispatcher, DrainingDispatcher))
            else None
        )

    def unacked_count(self, consumer: str) -> int:
        """Messages that this consumer has and has not acknowledged; of a single active one all entries that
        were read."""
        dispatcher = self.dispatcher
        if dispatcher is None or consumer not in dispatcher.consumers:
            return 0
        if isinstance(dispatcher, ActiveDispatcher):
            return self._read_unacked() if consumer == dispatcher.active else 0
        return dispatcher.consumers[consumer].unacked

    def unacked(self, consumer: str) -> list[int]:
        """Positions of them, ascending."""
        return [] if self.dispatcher is None else self.dispatcher.pending().get(consumer, [])

    def permits(self, consumer: str) -> int:
        """How many messages this consumer still takes."""
        return (
            0
            if self.dispatcher is None or consumer not in self.dispatcher.consumers
            else self.dispatcher.consumers[consumer].permits
        )

    @property
    def waiting(self) -> int:
        """Entries that are not acknowledged and at nobody."""
        dispatcher = self.dispatcher
        if dispatcher is None or not dispatcher.consumers:
            return self.cursor.backlog
        if isinstance(dispatcher, ActiveDispatcher):
            return self.cursor.backlog - self._read_unacked()
        return self.cursor.backlog - sum(len(known.pending) for known in dispatcher.consumers.values())

    def waiting_for(self, consumer: str) -> int:
        """Entries at nobody that only this consumer can get: of its keys, or all for the active one. In
        Shared there are none."""
        dispatcher = self.dispatcher
        if isinstance(dispatcher, (KeySharedDispatcher, DrainingDispatcher)):
            return dispatcher.waiting_for(consumer)
        return (
            self.waiting if isinstance(dispatcher, ActiveDispatcher) and consumer == dispatcher.active else 0
        )

    def _read_unacked(self) -> int:
        cursor = self.cursor
        return max(cursor.read_position - 1 - cursor.mark_delete, 0) - sum(
            position < cursor.read_position for position in cursor.ahead
        )

    def check(self) -> None:
        """Raise InvariantError where a law is broken, in time that grows with the consumers only."""
        if self.dispatcher is not None:
            self.dispatcher.check()

    # -- checkpoints -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain."""
        return {
            "name": self.name,
            "cursor": self.cursor.to_json(),
            "type": self.type,
            "policy": list(self.policy),
            "redelivery_counts": dict(self.redelivery_counts),
            "dispatcher": None if self.dispatcher is None else self.dispatcher.to_json(),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The subscription that wrote `state`, to be attached."""
        subscription = cls(state["name"], Cursor.from_json(state["cursor"]))
        subscription.type, subscription.policy = state["type"], (state["policy"][0], state["policy"][1])
        subscription.redelivery_counts = dict(state["redelivery_counts"])
        subscription._kept = state["dispatcher"]
        return subscription

"""Exclusive and Failover at work: the active consumer reads from the cursor, and whoever becomes active reads
again from mark-delete on.

    A active ─ A leaves ─► B is picked ─ 1 s ─► cursor rewinds, all hear of it, B reads    what A had and did not acknowledge is sent again

There is no list of pending entries: to send again means to rewind. A consumer that is not active any more may
still work on what it has; its acknowledgements count.

Source: Pulsar 3.2 `PersistentDispatcherSingleActiveConsumer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from broker_core.errors import InvariantError
from broker_core.plain import kept, take_back
from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.pending import READ_BATCH, Sent
from broker_core.pulsar.dispatchers.single_active import Change, SingleActiveDispatcher, Standby
from broker_core.pulsar.entry import Entries, Entry

FAILOVER_DELAY_US = 1_000_000
"""activeConsumerFailoverDelayTimeMillis: so long after a switch the new active consumer begins to read."""


@dataclass(slots=True)
class Standing:
    """A connected consumer. permits: messages that it can take."""

    name: str
    priority: int = 0
    permits: int = 0


@dataclass(eq=False, repr=False)
class ActiveState:
    """switching: a switch waits for its second; since_us: since when. rewound: entries that the last switch
    made the cursor read again."""

    switching: bool = False
    since_us: int = 0
    rewound: int = 0


class ActiveDispatcher(ActiveState):
    """picker: who is active, as recorded. starts_timer: a switch has just begun to wait. notices: (consumer,
    whether it is active) that are still to be told; has_news: there is something for the broker to tell or to
    set a timer for. sent_before: entries that somebody has had and that may be sent again."""

    def __init__(
        self,
        picker: SingleActiveDispatcher,
        *,
        delay_us: int = FAILOVER_DELAY_US,
        read_batch: int = READ_BATCH,
        cursor: Cursor | None = None,
        entries: Entries | None = None,
    ) -> None:
        super().__init__()
        self.picker = picker
        self.delay_us = 0 if picker.is_exclusive else delay_us
        self.read_batch = read_batch
        self.cursor = Cursor() if cursor is None else cursor
        self.entries: Entries = {} if entries is None else entries
        self.consumers: dict[str, Standing] = {}
        self.starts_timer = False
        self.has_news = False
        self.notices: list[tuple[str, bool]] = []
        self.sent_before: set[int] = set()
        self.now_us = 0

    @property
    def active(self) -> str | None:
        return self.picker.active

    def connect(self, consumer: str, name: str, permits: int, priority: int = 0) -> list[Sent]:
        """Let a consumer in. Raises ConsumerBusy for the second of an Exclusive subscription, state
        untouched."""
        change = self.picker.add(Standby(consumer, name, priority))
        self.consumers[consumer] = Standing(name, priority, permits)
        return self._after(change)

    def disconnect(self, consumer: str) -> list[Sent]:
        change = self.picker.remove(consumer)
        del self.consumers[consumer]
        if self.picker.active is None:
            self.sent_before.update(self.cursor.unacked_read())
            self.cursor.rewind()
        return self._after(change)

    def _after(self, change: Change) -> list[Sent]:
        if not change.switched:
            self.notices += [(consumer, consumer == self.active) for consumer in change.notified]
            self.has_news = True
            return []
        if self.delay_us:
            self.has_news = True
            if not self.switching:  # of another switch in that second there is no second timer
                self.starts_timer, self.since_us = True, self.now_us
            self.switching = True
            return []
        return self.switch()

    def switch(self) -> list[Sent]:
        """The second after a switch is over: whoever is active now begins."""
        self.switching = False
        again = self.cursor.unacked_read()
        self.rewound = len(again)
        self.sent_before.update(again)
        self.cursor.rewind()
        if not self.picker.is_exclusive:
            self.notices += [(consumer, consumer == self.active) for consumer in self.picker.order]
            self.has_news = True
        return self.read_on()

    def flow(self, consumer: str, permits: int) -> list[Sent]:
        """The consumer can take so many more."""
        self.consumers[consumer].permits += permits
        return self.read_on() if consumer == self.active else []

    def arrived(self, position: int, entry: Entry) -> list[Sent]:
        """One entry has arrived at the end of the topic, and is among the entries."""
        self.cursor.end = position + 1
        return self.read_on()

    def ack(self, positions: Sequence[int], consumer: str | None = None) -> list[Sent]:
        """Acknowledge messages one by one, whoever has them."""
        for position in positions:
            if self.cursor.ack(position) and self.sent_before:
                self.sent_before.discard(position)
        return []

    def ack_places(self, position: int, places: Sequence[int], consumer: str | None = None) -> list[Sent]:
        """Acknowledge single messages of a batch that is not acknowledged with them."""
        self.cursor.ack_places(position, places)
        return []

    def ack_cumulative(self, position: int) -> list[Sent]:
        """Acknowledge this message and all before it."""
        if self.cursor.ack_cumulative(position):
            self.sent_before = {known for known in self.sent_before if not self.cursor.is_acked(known)}
        return []

    def redeliver(self, consumer: str, positions: Iterable[int]) -> list[Sent]:
        """The active consumer asks for all again that it has not acknowledged; from anybody else, or during a
        switch, it is ignored."""
        if consumer != self.active or self.switching:
            return []
        self.sent_before.update(self.cursor.unacked_read())
        self.cursor.rewind()
        return self.read_on()

    def pending(self) -> dict[str, list[int]]:
        """Consumer -> positions that it must acknowledge, as far as the broker knows: all that was read, at
        the active one."""
        return {
            consumer: self.cursor.unacked_read() if consumer == self.active else []
            for consumer in self.consumers
        }

    def read_on(self) -> list[Sent]:
        """Read as far as the active consumer's permits go."""
        sent: list[Sent] = []
        active = self.active
        if active is None or self.switching:
            return sent
        known, entries = self.consumers[active], self.entries
        while known.permits > 0:
            read = self.cursor.read(min(self.read_batch, known.permits))
            if not read:
                break
            for position in read:
                known.permits -= self.cursor.left(position, entries[position].size)
                sent.append((active, position))
        return sent

    def check(self) -> None:
        """Raise InvariantError unless one of the connected consumers is active, or nobody is connected."""
        if (self.active in self.consumers) != bool(self.consumers):
            raise InvariantError(f"{self.active} is active of {list(self.consumers)}")

    def to_json(self) -> dict[str, Any]:
        consumers = [
            [standby.consumer, msgspec.to_builtins(self.consumers[standby.consumer])]
            for standby in self.picker.consumers
        ]
        return {
            **kept(self, ActiveState),
            "active": self.active,
            "sent_before": sorted(self.sent_before),
            "consumers": consumers,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become the dispatcher that wrote `state`."""
        take_back(self, ActiveState, state)
        self.consumers = {
            consumer: msgspec.convert(plain, Standing) for consumer, plain in state["consumers"]
        }
        standbys = [
            Standby(consumer, known.name, known.priority) for consumer, known in self.consumers.items()
        ]
        self.picker.restore(standbys, state["active"])
        self.sent_before = set(state["sent_before"])

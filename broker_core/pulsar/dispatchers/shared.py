"""Shared: whose turn it is. Consumers take turns within their priority level, and a level gets something only
while no better one can.

    list     C1 C2 C3 | C4 C5        level 0 | level 1
    permits   2  1  1    2  1
    turns    C1 C2 C3 C1 C4 C5 C4

Source: Pulsar 3.2 and master of April 2026, `AbstractDispatcherMultipleConsumers.getNextConsumer` and
`PersistentDispatcherMultipleConsumers.addConsumer`. Vectors: pulsar/shared_dispatch.json.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.pending import (
    READ_BATCH,
    UNACKED_PER_CONSUMER_MAX,
    UNACKED_PER_SUBSCRIPTION_MAX,
    PendingDispatcher,
    Sent,
)
from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.entry import Entries

ROUND_ROBIN_BATCH = 20
"""dispatcherMaxRoundRobinBatchSize: so many messages in a row may go to the consumer whose turn it is, or one
entry."""


class SharedTurns:
    """The turns of a Shared subscription.

    index: where the next search starts; it may be the list's length.

    >>> turns = SharedTurns()
    >>> for name, priority, permits in [("C1", 0, 2), ("C2", 0, 1), ("C3", 0, 1), ("C4", 1, 2), ("C5", 1, 1)]:
    ...     turns.add(Receiver(name, priority, permits))
    >>> [turns.take(1)[0] for _ in range(8)]
    ['C1', 'C2', 'C3', 'C1', 'C4', 'C5', 'C4', None]
    """

    def __init__(self) -> None:
        self.consumers: list[Receiver] = []
        self.index = 0

    def add(self, consumer: Receiver) -> None:
        """At the end of the list, which is sorted by priority only when the newcomer's is better than that of
        the one before it."""
        self.consumers.append(consumer)
        if len(self.consumers) > 1 and consumer.priority < self.consumers[-2].priority:
            self.consumers.sort(key=lambda known: known.priority)

    def remove(self, consumer: str) -> None:
        """The index stays, so a removal before it makes the search pass over one consumer in this round."""
        self.consumers = [known for known in self.consumers if known.consumer != consumer]

    def flow(self, consumer: str, permits: int) -> None:
        """The consumer can take so many more; one that is not connected changes nothing."""
        known = self.find(consumer)
        if known is not None:
            known.permits += permits

    def find(self, consumer: str) -> Receiver | None:
        return next((known for known in self.consumers if known.consumer == consumer), None)

    def take(self, messages: int) -> tuple[str | None, int]:
        """Whose turn it is and how many of so many messages it gets, at most ROUND_ROBIN_BATCH; (None, 0)
        when none can take any."""
        known = self.next()
        if known is None:
            return None, 0
        count = max(1, min(messages, known.permits, ROUND_ROBIN_BATCH))
        known.permits -= count
        return known.consumer, count

    def next(self) -> Receiver | None:
        """Whose turn it is; None, and the index as it was, when nobody has permits."""
        consumers = self.consumers
        if not consumers:
            return None
        if self.index >= len(consumers):
            self.index = 0
        level = consumers[self.index].priority
        place = self._better(level) if level else None
        if place is None:
            place = self._in_level(level)
        if place is None:
            place = self._after(level)
        if place is None:
            return None
        self.index = place + 1
        return consumers[place]

    def upcoming(self) -> list[Receiver]:
        """Everybody in the order of the turns to come: whose turn is next, the others of its level, then the
        other levels, the best first. Where nobody has permits the round stays at its index. Nothing is
        changed."""
        if not self.consumers:
            return []
        index = self.index
        first = self.next() or self.consumers[index % len(self.consumers)]
        self.index = index
        level = [known for known in self.consumers if known.priority == first.priority]
        place = next(place for place, known in enumerate(level) if known is first)
        return [
            *level[place:],
            *level[:place],
            *(known for known in self.consumers if known.priority != first.priority),
        ]

    def _better(self, level: int) -> int | None:
        """The first with permits among those of better levels, which stand at the head of the list."""
        for place, known in enumerate(self.consumers):
            if known.priority >= level:
                return None
            if known.is_available:
                return place
        return None

    def _in_level(self, level: int) -> int | None:
        """Once round the level, from the index on."""
        consumers, start = self.consumers, self.index
        first = next(place for place, known in enumerate(consumers) if known.priority == level)
        end = start
        while end < len(consumers) and consumers[end].priority == level:
            end += 1
        for place in chain(range(start, end), range(first, start)):
            if consumers[place].priority == level and consumers[place].is_available:
                return place
        return None

    def _after(self, level: int) -> int | None:
        """The first with permits behind the level."""
        for place, known in enumerate(self.consumers):
            if known.priority > level and known.is_available:
                return place
        return None


class SharedDispatcher(PendingDispatcher):
    """One Shared subscription of one topic: entries that wait to be sent again first, then new ones, to whose
    turn it is."""

    def __init__(
        self, *, read_batch: int = READ_BATCH, cursor: Cursor | None = None, entries: Entries | None = None,
        unacked_max: int = UNACKED_PER_CONSUMER_MAX, unacked_all_max: int = UNACKED_PER_SUBSCRIPTION_MAX,
    ) -> None:  # fmt: skip
        super().__init__(
            cursor,
            entries,
            blocks=False,
            read_batch=read_batch,
            unacked_max=unacked_max,
            unacked_all_max=unacked_all_max,
        )
        self.turns = SharedTurns()

    def connect(self, consumer: str, name: str, permits: int, priority: int = 0) -> list[Sent]:
        """Let a consumer in with its first permits."""
        self.turns.add(self._enter(consumer, name, priority, permits))
        return self.read_on()

    def disconnect(self, consumer: str) -> list[Sent]:
        """What it has not acknowledged waits to be sent again. One that is not connected changes nothing."""
        if consumer not in self.consumers:
            return []
        self.turns.remove(consumer)
        gone = self._exit(consumer)
        if not self.consumers:
            return []
        for position in gone.pending:
            self._again(position, None)
        return self.read_on()

    def read_on(self) -> list[Sent]:
        sent: list[Sent] = []
        while self.available > 0:
            count = min(self.read_batch, self.available)
            positions = self.replay.first(count)
            if positions:
                self.replay.remove(positions)
                positions = [position for position in positions if not self.cursor.is_acked(position)]
            elif self.is_full:
                break
            else:
                read = self.cursor.read(count)
                if not read:
                    break
                positions = self._without_delayed(read)
            self._send(positions, sent)
        return sent

    def _send(self, positions: list[int], sent: list[Sent]) -> None:
        """Entries that were read, to whose turn it is: as many as hold the messages that it may be sent, by
        what an entry of this read holds on average. With batches that may be more than it has permits for."""
        place, entries = 0, self.entries
        left = sum([entries[position].size for position in positions])
        average = left // len(positions) if positions else 1
        while place < len(positions):
            known = self.turns.next()
            if known is None:
                for position in positions[place:]:
                    self.replay.add(position)
                return
            messages = min(left, known.permits, ROUND_ROBIN_BATCH)
            if self.unacked_max:
                messages = min(messages, max(self.unacked_max - known.unacked, 0))
            mine = positions[place : place + max(messages // average, 1)]
            self._take_all(known, mine)
            sent += [(known.consumer, position) for position in mine]
            left -= sum([entries[position].size for position in mine])
            place += len(mine)

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "turns": [known.consumer for known in self.turns.consumers],
            "index": self.turns.index,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.turns.consumers = [self.consumers[consumer] for consumer in state["turns"]]
        self.turns.index = state["index"]

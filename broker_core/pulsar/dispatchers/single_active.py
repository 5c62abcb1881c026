"""Exclusive and Failover: of all connected consumers one is active and gets everything; Failover lets the
others stand by.

    partitioned topic     best priority level, sorted by name:  A  B  C      partition 4 of any number: 4 mod 3 -> B
    other topics          a ring of that level's consumers, 100 points each; the first one at or after the topic's name wins,
                          of two on one point the later in the list

The active consumer is picked at every join and leave from the whole list, so a leave can move the role on
partitions whose active consumer stayed.

Source: Pulsar 3.2 and master of April 2026, `AbstractDispatcherSingleActiveConsumer`. Vectors:
pulsar/failover.json.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from broker_core.hashing.java_hash import utf16_order
from broker_core.hashing.murmur3 import murmur3_31
from broker_core.pulsar.dispatchers.errors import ConsumerBusy, ServerMetadata

POINTS = 100
"""Points of a consumer on the ring of names, whatever broker.conf says about Key_Shared."""
NOT_PARTITIONED = -1
MASK_31 = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Standby:
    """A connected consumer. consumer: unique; priority: priorityLevel, 0 is best."""

    consumer: str
    name: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What a join or a leave did. switched: another consumer is active now (not: nobody is). notified: those
    that hear which one is active, in the dispatcher's order."""

    switched: bool
    notified: tuple[str, ...]


class SingleActiveDispatcher:
    """One topic, or one partition of a topic, under one subscription.

    topic: its full name, persistent://tenant/namespace/name. partition: its index, NOT_PARTITIONED for none.
    uses_ring: master's activeConsumerFailoverConsistentHashing, the ring for partitions as well. in_order:
    the documentation's rule for one topic that is not
    partitioned: whoever subscribed first is active.

    >>> dispatcher = SingleActiveDispatcher("persistent://public/default/t-partition-1", 1)
    >>> [dispatcher.add(Standby(name, name)).switched for name in "AB"], dispatcher.active
    ([True, True], 'B')
    """

    def __init__(
        self,
        topic: str,
        partition: int = NOT_PARTITIONED,
        *,
        is_exclusive: bool = False,
        uses_ring: bool = False,
        in_order: bool = False,
    ) -> None:
        self.topic = topic
        self.partition = 0 if is_exclusive else partition
        self.is_exclusive = is_exclusive
        self.in_order = in_order
        self.uses_ring = uses_ring or self.partition == NOT_PARTITIONED
        self.consumers: list[Standby] = []
        self.active: str | None = None
        # Derived, so that a join does not look at all who are there. Of the ring the point after the topic's name
        # decides alone: how far each consumer's nearest one is, and the place of its join.
        self._joins = 0
        self._ring: list[tuple[int, int, bytes, int, str]] = []
        self._target = murmur3_31(topic) if self.uses_ring else 0

    @property
    def order(self) -> list[str]:
        """All connected consumers: by priority, then by name, then as they came; in_order: as they came."""
        return [standby.consumer for standby in self.consumers]

    def add(self, standby: Standby) -> Change:
        """Let a consumer in. Raises ConsumerBusy for the second of an Exclusive subscription."""
        if self.is_exclusive and self.consumers:
            raise ConsumerBusy("Exclusive consumer is already connected")
        self._enter(standby)
        switched = self.pick()
        if self.is_exclusive:
            return Change(switched, ())
        return Change(switched, tuple(self.order) if switched else (standby.consumer,))

    def remove(self, consumer: str) -> Change:
        """Let a consumer go. Raises ServerMetadata if it is not connected."""
        place = next(
            (place for place, known in enumerate(self.consumers) if known.consumer == consumer), None
        )
        if place is None:
            raise ServerMetadata("Consumer was not connected")
        del self.consumers[place]
        self._ring = [point for point in self._ring if point[-1] != consumer]
        switched = self.pick()
        return Change(switched, tuple(self.order) if switched and not self.is_exclusive else ())

    def restore(self, consumers: Iterable[Standby], active: str | None) -> None:
        """Become the one that has these, in its order."""
        for standby in consumers:
            self._enter(standby)
        self.active = active

    def _enter(self, standby: Standby) -> None:
        if self.in_order:
            self.consumers.append(standby)
            return
        insort(self.consumers, standby, key=_order)
        if self.uses_ring:
            self._joins += 1
            points = (murmur3_31(f"{standby.name}{index}") for index in range(POINTS))
            distance = min((point - self._target) & MASK_31 for point in points)
            priority, name = _order(standby)
            insort(self._ring, (priority, distance, name, self._joins, standby.consumer))

    def pick(self) -> bool:
        """Pick the active consumer; whether it is another one than before."""
        before = self.active
        if not self.consumers:
            self.active = None
            return False
        if self.in_order:
            self.active = self.consumers[0].consumer
        elif self.uses_ring:
            nearest = self._ring[0][:2]
            self.active = self._ring[bisect_right(self._ring, nearest, key=itemgetter(0, 1)) - 1][-1]
        else:
            best = bisect_right(self.consumers, self.consumers[0].priority, key=attrgetter("priority"))
            self.active = self.consumers[self.partition % best].consumer
        return self.active != before


def _order(standby: Standby) -> tuple[int, bytes]:
    return standby.priority, utf16_order(standby.name)

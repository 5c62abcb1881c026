"""Where a new topic's replicas go: striped over the racks, and within each rack over its brokers.

    racks a: 1 2, b: 3 4, c: 5     partition 0: 1 3 5     1: 3 5 2     2: 5 2 4     each begins at the next rack

The first replica, which will lead, is on an unfenced broker; the others may be on fenced ones, after the
rack's unfenced ones. After as many partitions as there are unfenced brokers everything is shuffled, so that
the same brokers do not always stand side by side.

Source: Kafka 3.9 metadata StripedReplicaPlacer. Vectors: kafka/replication/controller.json, kind `placer`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.hashing.java_hash import string_hash_unsigned
from broker_core.hashing.java_map import JavaHashSet
from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.error_codes import ErrorCode, Refused

TOO_FEW_BROKERS = (
    "The target replication factor of {factor} cannot be reached because only {brokers} broker(s) are "
    "registered."
)
"""The original's sentence."""


class UsableBroker(NamedTuple):
    """A registered broker that is not shutting down. rack: None: it has none."""

    broker_id: int
    rack: str | None = None
    is_fenced: bool = False


def place_replicas(
    brokers: Sequence[UsableBroker], partitions: int, replication_factor: int, random: JavaRandom
) -> list[list[int]]:
    """Give each partition's replicas, the preferred leader first. random: drawn from as the original does.

    Raises Refused (INVALID_REPLICATION_FACTOR): below 1, all brokers fenced, more than there are brokers.

    >>> place_replicas([UsableBroker(1), UsableBroker(2)], 2, 2, JavaRandom.seeded(1))
    [[2, 1], [1, 2]]
    """
    racks = _Racks(brokers, random)
    _check(replication_factor, racks)
    return [racks.place(replication_factor) for _ in range(partitions)]


def check_assignment(replicas: Sequence[int], registered: Container[int]) -> None:
    """Raise Refused(INVALID_REPLICA_ASSIGNMENT) for replicas that somebody names by hand and that cannot be
    (ReplicationControlManager)."""
    if not replicas:
        raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "an assignment names at least one broker")
    if len(set(replicas)) < len(replicas):
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, "{brokers} names a broker twice", brokers=in_line(replicas)
        )
    if unknown := [broker for broker in replicas if broker not in registered]:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker {broker} is not registered", broker=unknown[0]
        )


def in_line(brokers: Iterable[int]) -> str:
    """As a person types them.

    >>> in_line((3, 1))
    '3 1'
    """
    return " ".join(map(str, brokers))


def _check(replication_factor: int, racks: _Racks) -> None:
    code = ErrorCode.INVALID_REPLICATION_FACTOR
    if replication_factor <= 0:
        raise Refused(
            code,
            "Invalid replication factor {factor}: the replication factor must be positive.",
            factor=replication_factor,
        )
    if not racks.unfenced_count:
        raise Refused(code, "All brokers are currently fenced.")
    if replication_factor > racks.broker_count:
        raise Refused(code, TOO_FEW_BROKERS, factor=replication_factor, brokers=racks.broker_count)


@dataclass(slots=True)
class _Brokers:
    """A ring of brokers that is walked once a partition (epoch), from one place further each time."""

    brokers: list[int] = field(default_factory=list)
    index: int = 0
    offset: int = 0
    epoch: int = 0

    def begin(self, random: JavaRandom) -> None:
        if self.brokers:
            self.brokers.sort()
            self.offset = random.below(len(self.brokers))

    def next(self, epoch: int) -> int | None:
        if not self.brokers:
            return None
        if self.epoch != epoch:
            self.epoch, self.index = epoch, 0
            self.offset = (self.offset + 1) % len(self.brokers)
        if self.index >= len(self.brokers):
            return None
        self.index += 1
        return self.brokers[(self.index - 1 + self.offset) % len(self.brokers)]


@dataclass(slots=True)
class _Rack:
    fenced: _Brokers = field(default_factory=_Brokers)
    unfenced: _Brokers = field(default_factory=_Brokers)

    def next(self, epoch: int) -> int | None:
        broker = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker is None else broker


class _Racks:
    """All racks, walked from one rack further with each partition."""

    def __init__(self, brokers: Sequence[UsableBroker], random: JavaRandom) -> None:
        self.random = random
        self.broker_count = len(brokers)
        self.unfenced_count = sum(not broker.is_fenced for broker in brokers)
        racks: dict[str | None, _Rack] = {}
        order: JavaHashSet[str | None] = JavaHashSet(_rack_hash)
        for broker in brokers:
            order.add(broker.rack)
            rack = racks.setdefault(broker.rack, _Rack())
            (rack.fenced if broker.is_fenced else rack.unfenced).brokers.append(broker.broker_id)
        # Each draw counts: the racks draw in the order of the original's map, the names are sorted after
        # that.
        self.racks = {name: racks[name] for name in order.in_order()}
        for rack in self.racks.values():
            rack.fenced.begin(random)
            rack.unfenced.begin(random)
        self.names = sorted(racks, key=lambda name: (name is not None, (name or "").encode("utf-16-be")))
        self.offset = random.below(len(self.names)) if self.names else 0
        self.epoch = 0

    def place(self, replication_factor: int) -> list[int]:
        if self.epoch == self.unfenced_count and self.unfenced_count > 1:
            self._shuffle()
            self.epoch = 0
        if self.offset == len(self.names):
            self.offset = 0
        first_rack, leader = self._leader()
        placed = [leader]
        index, passed_over = self.offset, first_rack
        while len(placed) < replication_factor:
            broker = None
            if index == passed_over:
                passed_over = (
                    -1
                )  # the leader's rack has given one already; the next time round it gives again
            else:
                broker = self.racks[self.names[index]].next(self.epoch)
            index = (index + 1) % len(self.names)
            if broker is not None:
                placed.append(broker)
        self.epoch += 1
        self.offset += 1
        return placed

    def _leader(self) -> tuple[int, int]:
        """The next rack with an unfenced broker left, and that broker."""
        index = self.offset
        while True:
            broker = self.racks[self.names[index]].unfenced.next(self.epoch)
            if broker is not None:
                return index, broker
            index = (index + 1) % len(self.names)

    def _shuffle(self) -> None:
        self.random.shuffle(self.names)
        for rack in self.racks.values():
            self.random.shuffle(rack.fenced.brokers)
            self.random.shuffle(rack.unfenced.brokers)


def _rack_hash(rack: str | None) -> int:
    return 0 if rack is None else string_hash_unsigned(rack)

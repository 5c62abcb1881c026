"""What producers were told is in a log, and whether a new leader has it: acknowledged records that are lost,
and records that are there twice.

    acked at 40..49, epoch 3 ─► a leader of epoch 4 begins at 47 ─► three acknowledged records are lost, for good: every other copy cuts them off

A record is known by its offset and the epoch of the leader that wrote it: two logs that agree on both have
the same record there. An ack of acks=0 says nothing and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.state import BrokerState, TopicPartition
from broker_core.kafka.replication.replica_log import LightBatch, LightLog
from broker_core.sim.slot import RUNNING
from broker_core.sim.world import World

LOOKED_BACK = 2_000
"""Offsets before a repeated batch among which its first copy is looked for."""


@dataclass(slots=True)
class Acked:
    """ranges: partition -> [leader epoch, first offset, one past the last], the oldest first; below the log
    start they are forgotten."""

    ranges: dict[str, list[list[int]]] = field(default_factory=dict)

    def note(self, name: str, log: LightLog, base_offset: int, count: int, epoch: int) -> None:
        """These were acknowledged by the leader of that epoch."""
        known = self.ranges.setdefault(name, [])
        if known and known[-1][0] == epoch and known[-1][1] <= base_offset <= known[-1][2]:
            known[-1][2] = max(known[-1][2], base_offset + count)
        else:
            known.append([epoch, base_offset, base_offset + count])
        while known and known[0][2] <= log.log_start_offset:
            del known[0]

    def ends(self) -> dict[str, int]:
        """By partition, one past the last acknowledged record."""
        return {name: ranges[-1][2] for name, ranges in self.ranges.items() if ranges}

    def take_missing(self, name: str, log: LightLog) -> int:
        """How many acknowledged records this leader's log does not have; from now on they are no longer
        counted."""
        count, kept = _compare(self.ranges.get(name, []), log)
        if count:
            self.ranges[name] = kept
        return count

    def missing(self, name: str, log: LightLog) -> int:
        """As `take_missing`, changing nothing."""
        return _compare(self.ranges.get(name, []), log)[0]


def _compare(ranges: list[list[int]], log: LightLog) -> tuple[int, list[list[int]]]:
    """(how many are missing, the ranges that are left)."""
    rows = log.epochs.rows
    ends = {
        epoch: (start, rows[place + 1][1] if place + 1 < len(rows) else log.log_end_offset)
        for place, (epoch, start) in enumerate(rows)
    }
    missing, kept = 0, []
    for epoch, first, end in ranges:
        low = max(first, min(end, log.log_start_offset))  # what was deleted is not lost
        start, stop = ends.get(epoch, (low, low))
        has = [max(low, start), min(end, stop)]
        if has[0] < has[1]:
            kept.append([epoch, first if has[0] == low else has[0], has[1]])
        missing += end - low - max(0, has[1] - has[0])
    return missing, kept


def holder_of(
    world: World, key: TopicPartition, offset: int, values: list[int]
) -> tuple[int, LightLog, int] | None:
    """(broker, its log, epoch of the batch) where these records are from that offset on, those that were
    deleted or compacted away apart: the registered leader first; None: nowhere any more."""
    for broker, log in logs_of(world, key):
        first_kept = max(offset, log.log_start_offset)
        if not first_kept < min(offset + len(values), log.log_end_offset):
            continue
        batch = log.batch_at(first_kept)
        if batch is not None and batch.header.base_offset == offset and _begins_with(batch, values[0]):
            return broker, log, batch.header.partition_leader_epoch
        is_gap = batch is None or batch.header.base_offset >= offset + len(values)
        if is_gap and log.settings.cleanup_compact and first_kept < log.active.base_offset:
            return broker, log, _epoch_at(log, first_kept)
    return None


def _begins_with(batch: LightBatch, value: int) -> bool:
    """Whether that is its first record, or was before compaction took it."""
    first = next(iter(batch.values), None)
    return first is None or first == value


def _epoch_at(log: LightLog, offset: int) -> int:
    """The leader epoch in which an offset was written."""
    return next((epoch for epoch, start in reversed(log.epochs.rows) if start <= offset), 0)


def are_deleted(world: World, key: TopicPartition, offset: int, count: int) -> bool:
    """Whether a log begins after these records. Only what is committed is deleted: an ack that comes so late
    has lost nothing."""
    return any(offset + count <= log.log_start_offset for _, log in logs_of(world, key))


def logs_of(world: World, key: TopicPartition) -> Iterator[tuple[int, LightLog]]:
    """A partition's logs, each with its broker, the registered leader's first."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    topic = controller.rules.topics.get(key[0])
    if topic is None:
        return
    registration = topic.partitions[key[1]]
    for broker in dict.fromkeys((registration.leader, *registration.replicas)):
        log = log_on(world, broker, key)
        if log is not None:
            yield broker, log


def is_repeated(log: LightLog, base_offset: int, value: int) -> bool:
    """Whether the batch at that offset, which was sent more than once, is in the log already before it."""
    for batch in log.batches(max(log.log_start_offset, base_offset - LOOKED_BACK)):
        if batch.header.base_offset >= base_offset:
            return False
        if not batch.header.is_control and next(iter(batch.values), None) == value:  # type: ignore[attr-defined]  # light batches
            return True
    return False


def leading_log(world: World, key: TopicPartition, leader: int, epoch: int) -> LightLog | None:
    """The log of a broker that has begun to lead in that epoch, or a later one; None: it has not, or its
    process is gone."""
    slot = world.slots.get(broker_node(leader))
    if slot is None or slot.condition != RUNNING:
        return None
    state: BrokerState = slot.node.state
    replica = state.replicas.get(key)
    if replica is None or not replica.partition.is_leader or replica.partition.leader_epoch < epoch:
        return None
    return state.disk.logs.get(key)


def log_on(world: World, broker: int, key: TopicPartition) -> LightLog | None:
    slot = world.slots.get(broker_node(broker))
    return None if slot is None else slot.node.state.disk.logs.get(key)

"""What a group has passed over: records that its position jumped beyond and none of its programs ever polled.

    read up to here ─┐                  ┌─ goes on here: a reset by auto.offset.reset, a seek, a commit of a given offset
    . . . . . . . . .│x x x M x x x x x │. . .            seven x and one more that the group never reads; M: a marker, no record

Retention that deletes what nobody has read yet passes it over, too: what a program holds already of that, and
polls later, is taken off the count.

A record is counted once, and no longer when somebody seeks back and reads it. What a reader would not see is
no record: markers, and under read_committed what was aborted. Below the log start there is nothing to look
at: there each offset counts as a record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

from broker_core.kafka.client.group_consumer.fetches import visible
from broker_core.kafka.cluster.requests import READ_COMMITTED
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.lab.kafka.acked import logs_of
from broker_core.sim.world import World

TopicPartition = tuple[str, int]


@dataclass(slots=True)
class PassedOver:
    """By the partition's name (`flights-0`). reached: the next offset that was neither read nor passed over;
    runs: what was passed over and not read since, each (first offset, end, excluded), ascending."""

    reached: dict[str, int] = field(default_factory=dict)
    runs: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def read(self, name: str, offset: int) -> bool:
        """A program polls this record. Returns whether it had been passed over."""
        if offset >= self.reached.get(name, 0):
            self.reached[name] = offset + 1
            return False
        runs = self.runs.get(name, [])
        for place, (first, end) in enumerate(runs):
            if first <= offset < end:
                runs[place : place + 1] = [
                    run for run in ((first, offset), (offset + 1, end)) if run[0] < run[1]
                ]
                return True
        return False

    def jump(self, name: str, offset: int, runs: list[tuple[int, int]]) -> int:
        """The group goes on at an offset; runs: the records from `reached` up to there. Returns how many
        these are."""
        if offset <= self.reached.get(name, 0):
            return 0
        self.reached[name] = offset
        if runs:
            self.runs[name] = [*self.runs.get(name, ()), *runs]
        return sum(end - first for first, end in runs)

    def is_passing(self, name: str) -> bool:
        """Whether what was passed over last is still the last thing that happened: nothing after it was
        read."""
        runs = self.runs.get(name, [])
        return bool(runs) and runs[-1][1] == self.reached[name]

    def cut(self, name: str, end: int) -> None:
        """The log ends there now: what comes next is new at offsets that were there before."""
        if self.reached.get(name, 0) > end:
            self.reached[name] = end
            self.runs[name] = [
                (first, min(stop, end)) for first, stop in self.runs.get(name, ()) if first < end
            ]

    def count(self, name: str) -> int:
        return sum(end - first for first, end in self.runs.get(name, ()))

    def total(self) -> int:
        return sum(self.count(name) for name in self.runs)


def runs_of(
    world: World, partition: TopicPartition, first: int, end: int, isolation: int
) -> list[tuple[int, int]]:
    """The records that such a reader would have seen from one offset to another, which is excluded, as runs
    of offsets."""
    _, log = next(logs_of(world, partition), (None, None))
    if log is None or first >= end:
        return []
    start = min(max(first, log.log_start_offset), end)
    runs = [(first, start)] if first < start else []
    for offset in _offsets(log, start, end, isolation):
        if runs and runs[-1][1] == offset:
            runs[-1] = (runs[-1][0], offset + 1)
        else:
            runs.append((offset, offset + 1))
    return runs


def _offsets(log: LightLog, start: int, end: int, isolation: int) -> list[int]:
    aborted = log.aborted_transactions(start, end) if isolation == READ_COMMITTED else ()
    batches = takewhile(lambda batch: batch.header.base_offset < end, log.batches(start))
    return [offset for offset, _ in visible(batches, start, isolation, aborted) if offset < end]  # type: ignore[arg-type]  # light batches

"""What has been committed of a partition, record by record: the book that a cluster's laws (`laws.py`) keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from broker_core.kafka.cluster.state import TopicPartition
from broker_core.kafka.replication.replica_log import LightLog

GONE = "compacted"
"""In place of the value of a record that compaction had taken before anybody looked."""


class Entry(NamedTuple):
    """One committed record. producer: (producer id, epoch, sequence), None without one. A marker's value is
    None."""

    epoch: int
    value: Any
    producer: tuple[int, int, int] | None = None


GONE_ENTRY = Entry(-1, GONE)


class Loss(NamedTuple):
    """Committed records of a partition that are there no more. offset: of the first of them."""

    at_us: int
    partition: TopicPartition
    offset: int
    entries: tuple[Entry, ...]
    reason: str


@dataclass(slots=True)
class Ledger:
    """One partition. start: offset of the first entry; below it, what was deleted is not compared. sequences: where each producer's sequence is.

    leader_epoch: the highest one in which somebody led. alone: leaders that were the only member of the ISR when they
    were elected: the one of now, and those of whom nobody has looked at what came after them.
    unclean_epoch: of an unclean election whose leader was not looked at yet; -1: none. is_troubled: there was
    an unclean election, or a copy was destroyed: a leader that did not know yet may have committed, alone,
    what nobody saw here. had_truncation: a cut to the high watermark.
    destroyed: broker -> from which offset on its copy was destroyed.
    """

    start: int = 0
    entries: list[Entry] = field(default_factory=list)
    sequences: dict[tuple[int, int, int], int] = field(default_factory=dict)
    unclean_epoch: int = -1
    is_troubled: bool = False
    had_truncation: bool = False
    destroyed: dict[int, int] = field(default_factory=dict)
    leader_epoch: int = -1
    alone: set[int] = field(default_factory=set)

    @property
    def end(self) -> int:
        return self.start + len(self.entries)


def entries_of(log: LightLog, start: int, end: int) -> Iterable[tuple[int, Entry]]:
    """The records of a log from one offset up to another, of those that it still has.

    Below its log start a replica may have anything: of epochs that the leader has deleted nothing is known to
    compare, so what a follower had there of its own is not cut off, and nobody reads it.
    """
    start = max(start, log.log_start_offset)
    if start >= end:
        return
    for batch in log.batches(start):
        header = batch.header
        if header.base_offset >= end:
            return
        values = (None,) if header.is_control else batch.values  # type: ignore[attr-defined]  # a light log has light batches
        for number, value in enumerate(values):
            offset = header.base_offset + number
            if start <= offset < end and (value is not None or header.is_control):
                has_sequence = header.producer_id >= 0 and not header.is_control
                producer = (
                    (header.producer_id, header.producer_epoch, header.base_sequence + number)
                    if has_sequence
                    else None
                )
                yield offset, Entry(header.partition_leader_epoch, value, producer)

"""A partition's folder opened to be looked at: a lab's, an uploaded one, a real broker's. Nothing on disk is
changed.

The segments are the log's own (`kafka/log/segment.py`), over files that are only read. What the log would
refuse to open, damage that a recovery would cut off, is kept and told.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.errors import CommandError
from broker_core.kafka.group.record_words import OFFSETS_TOPIC
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.file_names import (
    CLEANED,
    DELETED,
    INDEX,
    LOG,
    SWAP,
    TIME_INDEX,
    file_name,
)
from broker_core.kafka.log.index_file import CorruptIndex
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.lab.kafka_log.guarded import GuardedSegment, guarded_at
from broker_core.lab.kafka_log.read_only import ReadOnlyFolder, base_offset_of
from broker_core.lab.kafka_log.walk import BatchSeen, Damage, walk

DAMAGE_MAX = 20


@dataclass(frozen=True, slots=True)
class Summary:
    """What a segment holds, counted batch by batch. next_offset: after its last whole batch. formats: magic
    numbers, ascending.

    Times are ms, -1 for none. damage: at most DAMAGE_MAX of them, in order. A summary of a file that does not
    change stays valid.
    """

    next_offset: int
    records: int
    batches: int
    first_timestamp: int
    max_timestamp: int
    formats: tuple[int, ...]
    damage: tuple[Damage, ...]


class OpenedLog:
    """One partition's folder.

    path: the folder. start_offset: what DeleteRecords has moved it to, where that is known. live: of a folder
    that is being written, the segments that count, as far as they are still there; default: all. sizes: as
    ReadOnlyFolder takes them. end_offset: of a folder that is being written, the log end at those sizes:
    index rows from there on belong to batches that do not count yet. live, deleted: base offsets, ascending.
    has_group_records: by its name it is a partition of `__consumer_offsets`.
    """

    def __init__(
        self,
        path: Path,
        *,
        start_offset: int | None = None,
        live: list[int] | None = None,
        sizes: Mapping[str, int] | None = None,
        end_offset: int | None = None,
    ) -> None:
        self.folder = ReadOnlyFolder(path, sizes)
        self.has_group_records = path.name.rpartition("-")[0] == OFFSETS_TOPIC
        self.names = self.folder.names()
        present = self._bases(LOG)
        self.live = present if live is None else [base for base in live if base in present]
        self.deleted = self._bases(LOG + DELETED)
        first = self.live[0] if self.live else 0
        self.end_offset = end_offset
        self.start_offset = first if start_offset is None else max(start_offset, first)
        self._segments: dict[tuple[int, str], Segment] = {}

    def _bases(self, ending: str) -> list[int]:
        found = [base_offset_of(name) for name in self.names if name.endswith(ending)]
        return sorted(base for base in found if base is not None)

    def segment(self, base_offset: int, stage: str = "") -> Segment:
        """A segment by its base offset. stage: DELETED for one that waits for its end. Raises CommandError at
        `segment`."""
        if base_offset not in (self.deleted if stage else self.live):
            raise CommandError("segment", "there is no segment {segment}", segment=base_offset)
        key = (base_offset, stage)
        if key not in self._segments:
            self._segments[key] = self._open(base_offset, stage)
        return self._segments[key]

    def _open(self, base_offset: int, stage: str) -> Segment:
        segment = GuardedSegment(self.folder, base_offset, LogSettings(), 0, stage)
        if self.end_offset is not None and not stage:
            segment.offset_index.truncate_to(self.end_offset)
            segment.time_index.truncate_to(self.end_offset)
            segment.max_timestamp, segment.offset_of_max_timestamp = segment.time_index.last_entry
        # The rows of a segment that grows end before the log does; what a restart would find there is found
        # here.
        for seen in walk(segment.log, segment.offset_index.lookup(1 << 62).position):
            if isinstance(seen, BatchSeen) and seen.max_timestamp > segment.max_timestamp:
                segment.max_timestamp, segment.offset_of_max_timestamp = seen.max_timestamp, seen.last_offset
        return segment

    def place_of(self, offset: int) -> int:
        """Which of `live` holds, or would hold, the offset: the rule of `PartitionLog.segment_of`."""
        return max(0, bisect_right(self.live, offset) - 1)

    def files_of(self, base_offset: int, stage: str = "") -> list[str]:
        """The names of a segment's files that are there."""
        begin = file_name(base_offset, ".")
        return [
            name for name in self.names if name.startswith(begin) and name.endswith(DELETED) == bool(stage)
        ]

    def other_files(self) -> list[str]:
        """The names of the files that belong to no segment."""
        return [name for name in self.names if base_offset_of(name) is None]

    def bytes_of(self, base_offset: int, stage: str = "") -> int:
        """Of its `.log`, as far as it counts."""
        return self.folder.open(file_name(base_offset, LOG) + stage).size

    def batch_starts_before(self, segment: Segment, position: int) -> int:
        """Where a walk to `position` can begin: the last row of the index that points at or before it."""
        index = segment.offset_index
        slot = bisect_right(range(index.row_count), position, key=lambda slot: index.entry(slot).position) - 1
        return index.entry(slot).position if slot >= 0 else 0

    def batch_at(self, segment: Segment, position: int) -> RecordBatch | LegacyBatch:
        """The batch that starts there. Raises CommandError at `position` where none does."""
        size = next(
            (
                seen.bytes
                for seen in self.walk_to(segment, position)
                if isinstance(seen, BatchSeen) and seen.position == position
            ),
            0,
        )
        batch = guarded_at(segment.log.view(position, size)) if size else None
        if batch is None:
            raise CommandError("position", "no batch starts at byte {position}", position=position)
        return batch

    def walk_to(self, segment: Segment, position: int) -> Sequence[BatchSeen | Damage]:
        """The batches from the index row before `position` up to the one that starts there."""
        return list(walk(segment.log, self.batch_starts_before(segment, position), position + 1))


def summarize(
    log: OpenedLog, base_offset: int, stage: str = "", *, check: bool, unpack: bool = True
) -> Summary:
    """Count a segment. check: also every CRC, both indexes, and whether the records can be read; else headers
    only.

    unpack: whether compressed records are read too; what takes hours to unpack is a few bytes to send.
    """
    segment = log.segment(base_offset, stage)
    records = batches = 0
    first_timestamp, max_timestamp, next_offset = -1, -1, base_offset
    formats: set[int] = set()
    damage: list[Damage] = []
    for seen in walk(segment.log):
        if isinstance(seen, Damage):
            damage.append(seen)
            break
        if not batches:
            first_timestamp = seen.first_timestamp
        batches += 1
        records += seen.records
        max_timestamp = max(max_timestamp, seen.max_timestamp)
        next_offset = seen.last_offset + 1
        formats.add(seen.magic)
        if check and len(damage) < DAMAGE_MAX:
            damage += _check_batch(segment, seen, unpack)
    if check:
        damage += _check_indexes(log, segment)
        damage += [
            Damage("unfinished", 0, log.folder.size_of(name), name)
            for name in log.names
            if name.endswith((CLEANED, SWAP))
        ]
    return Summary(
        next_offset,
        records,
        batches,
        first_timestamp,
        max_timestamp,
        tuple(sorted(formats)),
        tuple(damage[:DAMAGE_MAX]),
    )


def _check_batch(segment: Segment, seen: BatchSeen, unpack: bool) -> list[Damage]:
    batch = guarded_at(segment.log.view(seen.position, seen.bytes))
    if batch is None:
        return [Damage("cut", seen.position, seen.bytes)]
    try:
        batch.ensure_valid()
    except LogError as error:
        return [Damage("crc", seen.position, seen.bytes, str(error))]
    try:
        codec = batch.codec if isinstance(batch, LegacyBatch) else batch.header.codec
        for _ in batch.records() if unpack or codec is Codec.NONE else ():
            pass
    except LogError as error:
        return [
            Damage(
                "old_format" if isinstance(batch, LegacyBatch) else "records",
                seen.position,
                seen.bytes,
                str(error),
            )
        ]
    return []


def _check_indexes(log: OpenedLog, segment: Segment) -> list[Damage]:
    missing = [
        Damage("index", 0, 0, name)
        for name in (file_name(segment.base_offset, suffix) + segment.stage for suffix in (INDEX, TIME_INDEX))
        if name not in log.names
    ]
    try:
        segment.offset_index.check(segment.size)
        segment.time_index.check()
    except CorruptIndex as error:
        missing.append(Damage("index", 0, 0, str(error)))
    return missing

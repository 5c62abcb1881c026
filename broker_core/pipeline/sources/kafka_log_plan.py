"""Which bytes of which segments hold the wanted offsets and times, and how tasks share them. Opens indexes,
reads no records.

    .index       (offset, position)     where to begin for an offset; rows about 4 KiB apart, so cuts fall on whole batches
    .timeindex   (timestamp, offset)    up to this offset nothing is later: what is before a time is skipped

An index is a hint: a row that does not point at a batch that begins at or below its offset is left out.
Without indexes a segment is one task. An end in time prunes nothing: producers set timestamps, and later
records may be older.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.kafka.log import offset_index, time_index
from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.errors import CorruptRecord
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.transaction_index import AbortedTransaction, read_rows
from broker_core.pipeline.sources.kafka_log_folders import PartitionFolder
from broker_core.real_files import open_file, read_file

TASK_BYTES = 32 << 20
OFFSET_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """Wanted records: offset in [from_offset, until_offset) and timestamp in [from_ms, until_ms); None: no
    bound."""

    from_offset: int = 0
    until_offset: int = OFFSET_MAX
    from_ms: int | None = None
    until_ms: int | None = None

    def within(self, other: Bounds) -> Bounds:
        """What both want."""
        return Bounds(
            max(self.from_offset, other.from_offset), min(self.until_offset, other.until_offset),
            _of(max, self.from_ms, other.from_ms), _of(min, self.until_ms, other.until_ms),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LogRange:
    """Bytes [start, end) of a segment, from a batch's first to a batch's last. is_tail: the log's last bytes,
    where a batch may be cut off."""

    topic: str
    partition: int
    path: str
    start: int
    end: int
    bounds: Bounds
    is_tail: bool
    aborted: tuple[AbortedTransaction, ...] | None = None


def plan(
    partitions: Sequence[PartitionFolder],
    bounds: Bounds,
    *,
    committed: bool = False,
    task_bytes: int = TASK_BYTES,
) -> list[LogRange]:
    """The ranges to read, in order. committed: only what a read_committed consumer would be given."""
    ranges: list[LogRange] = []
    for partition in partitions:
        aborted = aborted_transactions(partition) if committed else None
        wanted = bounds.within(Bounds(until_offset=last_stable_offset(partition))) if committed else bounds
        ranges += _partition(partition, wanted, aborted, task_bytes)
    return ranges


def aborted_transactions(partition: PartitionFolder) -> tuple[AbortedTransaction, ...]:
    """All aborted transactions that the partition's .txnindex files tell of."""
    rows: list[AbortedTransaction] = []
    for _, path in partition.segments:
        try:
            rows += read_rows(read_file(path.with_suffix(".txnindex")))
        except FileNotFoundError:
            continue
    return tuple(rows)


def last_stable_offset(partition: PartitionFolder) -> int:
    """The first offset of the oldest transaction that is still open; OFFSET_MAX if none is. Reads every
    batch's header."""
    open_since: dict[int, int] = {}
    for _, path in partition.segments:
        for _, batch in walk(path):
            if isinstance(batch, LegacyBatch) or not batch.header.is_transactional:
                continue
            if batch.header.is_control:
                open_since.pop(batch.header.producer_id, None)
            else:
                open_since.setdefault(batch.header.producer_id, batch.header.base_offset)
    return min(open_since.values(), default=OFFSET_MAX)


def end_offset(partition: PartitionFolder) -> int:
    """The offset after the last whole batch; a batch that is still being written does not count."""
    for base, path in reversed(partition.segments):
        rows = index_rows(path, base)
        end = base
        for _, batch in walk(path, rows[-1][1] if rows else 0):
            end = batch.last_offset + 1 if isinstance(batch, LegacyBatch) else batch.header.next_offset
        if end > base:
            return end
    return partition.segments[0][0]


def offset_from(partition: PartitionFolder, from_ms: int) -> int:
    """An offset before which no record is as late as `from_ms`, by the time indexes; the first of the log
    where they do not say."""
    for base, path in partition.segments[:-1]:
        rows = time_rows(path, base)
        if not rows or rows[-1][0] >= from_ms:
            return _behind_earlier(base, rows, from_ms)
    base, path = partition.segments[-1]
    return _behind_earlier(base, time_rows(path, base), from_ms)


def _behind_earlier(base: int, rows: list[tuple[int, int]], from_ms: int) -> int:
    return max([base, *(offset + 1 for timestamp, offset in rows if timestamp < from_ms)])


def walk(path: Path, position: int = 0) -> Iterator[tuple[int, RecordBatch | LegacyBatch]]:
    """The whole batches of a .log file from a position on, as far as they are known."""
    view = map_file(path)
    try:
        while (batch := batch_at(view, position)) is not None:
            yield position, batch
            position += batch.size_in_bytes
    except CorruptRecord:
        return


def map_file(path: Path) -> memoryview:
    """The file's bytes as they are now. Raises FileNotFoundError where retention has taken it."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        return (
            memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)) if size else memoryview(b"")
        )


def index_rows(path: Path, base: int) -> list[tuple[int, int]]:
    """(offset, position) of the offset index, as far as the rows rise and stay within the log; [] without
    one."""
    return _rising(
        path.with_suffix(".index"), offset_index.ROW, lambda row: (base + row[0], row[1]), path.stat().st_size
    )


def time_rows(path: Path, base: int) -> list[tuple[int, int]]:
    """(timestamp, offset) of the time index, as far as the rows rise; [] without one."""
    return _rising(
        path.with_suffix(".timeindex"), time_index.ROW, lambda row: (row[0], base + row[1]), OFFSET_MAX
    )


def _rising(
    file: Path, row: struct.Struct, read: Callable[[tuple[int, int]], tuple[int, int]], second_below: int
) -> list[tuple[int, int]]:
    try:
        content = read_file(file)
    except FileNotFoundError:
        return []
    rows: list[tuple[int, int]] = []
    for pair in row.iter_unpack(content[: len(content) // row.size * row.size]):
        first, second = read(pair)
        # A running broker keeps room for more rows: zeros.
        if (rows and first <= rows[-1][0]) or not 0 <= second < second_below or pair == (0, 0):
            break
        rows.append((first, second))
    return rows


def _partition(
    partition: PartitionFolder,
    bounds: Bounds,
    aborted: tuple[AbortedTransaction, ...] | None,
    task_bytes: int,
) -> Iterator[LogRange]:
    segments = partition.segments
    for place, (base, path) in enumerate(segments):
        is_last = place == len(segments) - 1
        next_base = OFFSET_MAX if is_last else segments[place + 1][0]
        if next_base <= bounds.from_offset or base >= bounds.until_offset:
            continue
        size = path.stat().st_size
        rows = _agreeing(path, index_rows(path, base))
        times = time_rows(path, base)
        if bounds.from_ms is not None and times and not is_last and times[-1][0] < bounds.from_ms:
            continue
        start, end = _byte_bounds(rows, times, bounds, size)
        for first, last in _cuts([position for _, position in rows], start, end, task_bytes):
            is_tail = is_last and last == size
            yield LogRange(
                partition.topic, partition.partition, str(path), first, last, bounds, is_tail, aborted
            )


def _byte_bounds(
    rows: list[tuple[int, int]], times: list[tuple[int, int]], bounds: Bounds, size: int
) -> tuple[int, int]:
    """Where reading begins and ends. A row's batches end with its offset, so the wanted batches begin at or
    after its position."""
    from_offset = bounds.from_offset
    if bounds.from_ms is not None:
        from_offset = max(
            [from_offset, *(offset + 1 for timestamp, offset in times if timestamp < bounds.from_ms)]
        )
    start = max((position for offset, position in rows if offset <= from_offset), default=0)
    # The append at the first row at or above the end may begin below it; the one after that cannot.
    behind = [position for offset, position in rows if offset >= bounds.until_offset]
    return start, behind[1] if len(behind) > 1 else size


def _cuts(positions: list[int], start: int, end: int, task_bytes: int) -> Iterator[tuple[int, int]]:
    first = start
    for position in positions:
        if start < position < end and position - first >= task_bytes:
            yield first, position
            first = position
    if first < end:
        yield first, end


def _agreeing(path: Path, rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The rows at which a batch begins, at or below their offset."""
    view = map_file(path)
    return [(offset, position) for offset, position in rows if _begins_by(view, position, offset)]


def _begins_by(view: memoryview, position: int, offset: int) -> bool:
    try:
        batch = batch_at(view, position)
    except CorruptRecord:
        return False
    if batch is None:
        return False
    return isinstance(batch, LegacyBatch) or batch.header.base_offset <= offset


def _of(choose: Callable[[int, int], int], first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else choose(first, second)

"""The batches of one `.log` file, found through its two indexes.

    00000000000003257573.log         |batch|batch|batch|batch|batch|batch|batch|batch|...
    00000000000003257573.index            (relative offset, position)  ^           ^      one for about every 4 KiB
    00000000000003257573.timeindex        (timestamp, relative offset)

A row is written *before* the bytes of an append are counted, so the first append of a segment never has one.
An index is only a hint: before a row is used, the batch it points at must agree with it; if it does not, the
index was damaged and is rebuilt from the log.

Source: Kafka 3.9 storage/internals/log/LogSegment, FileRecords.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from broker_core.errors import InvariantError
from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.errors import CorruptRecord, LogError
from broker_core.kafka.log.file_names import (
    INDEX,
    LOG,
    TIME_INDEX,
    file_name,
)
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.offset_index import OffsetIndex, OffsetPosition
from broker_core.kafka.log.record_batch import HEADER, HEADER_SIZE, MAGIC, BatchHeader, RecordBatch
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.time_index import TimeIndex, TimestampOffset

RELATIVE_OFFSET_MAX = 2**31 - 1
_READ_AHEAD_BYTES = 64 * 1024


class BatchPosition(NamedTuple):
    """A batch and where it starts in the `.log` file."""

    position: int
    batch: RecordBatch


@dataclass(slots=True)
class OffsetLookup:
    """How an offset was found; the page draws it. index_probes: rows looked at, in order. scanned: batches
    passed over."""

    entry: OffsetPosition
    index_probes: list[int]
    scanned: list[BatchPosition]


class _OffsetThatCannotBe(CorruptRecord):
    """A batch whose offset does not rise, or is outside its segment."""

    def __init__(self, offset: int, expected: int) -> None:
        super().__init__(f"offset {offset}, where {expected} or more was to come")
        self.offset = offset


class IndexedBatches:
    """A `.log` file and its indexes, read and indexed again. `stage`: .cleaned or .swap while compaction
    prepares them, else empty."""

    def __init__(self, folder: Folder, base_offset: int, settings: LogSettings, stage: str = "") -> None:
        self.folder = folder
        self.base_offset = base_offset
        self.settings = settings
        self.stage = stage
        self.log = folder.open(file_name(base_offset, LOG) + stage)
        self._open_indexes()
        self.max_timestamp, self.offset_of_max_timestamp = self.time_index.last_entry
        self._is_time_loaded = False
        self._last_offset_max = base_offset + RELATIVE_OFFSET_MAX
        self._index_interval_bytes = settings.index_interval_bytes
        # an append after this position gets a row
        self._row_behind = self.log.size + settings.index_interval_bytes

    @property
    def size(self) -> int:
        return self.log.size

    @property
    def is_index_full(self) -> bool:
        """Whether one of the indexes has no room for another row."""
        return self._bytes_max < 0

    # --- read

    def batches(
        self, position: int = 0, end: int | None = None, window_bytes: int = _READ_AHEAD_BYTES
    ) -> Iterator[BatchPosition]:
        """Walk over the whole batches from a position on. Raises CorruptRecord where a batch is
        impossible."""
        end = self.log.size if end is None else end
        while position < end:
            window_start = position
            window = self.log.view(position, min(window_bytes, end - position))
            while (batch := batch_at(window, position - window_start)) is not None:
                yield BatchPosition(position, _of_this_format(batch))
                position += batch.size_in_bytes
            if position == window_start:  # larger than the window, or cut off by the end
                needed = _needed_bytes(window)
                if needed > end - position:
                    return
                batch = batch_at(self.log.view(position, needed), 0)
                if batch is None:
                    return
                yield BatchPosition(position, _of_this_format(batch))
                position += batch.size_in_bytes

    def find(self, offset: int, trace: OffsetLookup | None = None) -> BatchPosition | None:
        """Give the first batch whose last offset is at or above the offset. None: the segment ends before."""
        entry = self.offset_index.lookup(offset, trace.index_probes if trace is not None else None)
        if trace is not None:
            trace.entry = entry
        position, end = entry.position, self.log.size
        is_hint = position > 0  # until the batch that the row points at agrees
        while position < end:
            header = self._header_at(position, end)
            if is_hint and (header is None or not self.base_offset <= header.base_offset <= entry.offset):
                self.rebuild_indexes()
                if trace is not None:
                    trace.index_probes.clear()
                return self.find(offset, trace)
            if header is None:
                next(self.batches(position), None)  # raises, unless the file just ends inside a batch
                return None
            is_hint = False
            size = header.size_in_bytes
            if header.last_offset >= offset:
                return BatchPosition(position, RecordBatch(header, self.log.view(position, size)))
            if trace is not None:
                trace.scanned.append(
                    BatchPosition(position, RecordBatch(header, self.log.view(position, size)))
                )
            position += size
        return None

    def trace(self, offset: int) -> tuple[BatchPosition | None, OffsetLookup]:
        """Find an offset and tell how."""
        trace = OffsetLookup(OffsetPosition(self.base_offset, 0), [], [])
        return self.find(offset, trace), trace

    def find_timestamp(
        self, timestamp: int, starting_offset: int, probes: list[int] | None = None
    ) -> TimestampOffset | None:
        """Give the first record at or after that time, from an offset on.

        Kafka's rule: the time index's last row at or below the time, the offset index, then a scan.
        """
        row = self._indexed_timestamp(timestamp, probes)
        position = self._indexed_position(max(row.offset, starting_offset))
        return self.scan_for_timestamp(timestamp, position, starting_offset)

    def scan_for_timestamp(
        self, timestamp: int, position: int, starting_offset: int
    ) -> TimestampOffset | None:
        """Give the first record at or after that time, after a position."""
        for found in self.batches(position):
            header = found.batch.header
            if header.max_timestamp >= timestamp and header.last_offset >= starting_offset:
                for record in found.batch.records():
                    if record.timestamp >= timestamp and record.offset >= starting_offset:
                        return TimestampOffset(record.timestamp, record.offset)
        return None

    def next_offset(self) -> int:
        """The offset after the last batch; the base offset of an empty segment."""
        tail = self.batches(self._indexed_position(self.offset_index.last_offset))
        last = deque(tail, maxlen=1)
        return last[0].batch.header.next_offset if last else self.base_offset

    def rebuild_indexes(self) -> bool:
        """Rebuild both indexes from the log, which stays as it is. False: it has bytes that are not a batch,
        or impossible offsets."""
        _, is_whole = self._index_anew(lambda _: None)
        return is_whole

    # --- inside

    def _index_anew(self, look_at: Callable[[RecordBatch], None]) -> tuple[int, bool]:
        """Walk over all batches and write the rows that appends would have written; `look_at` may refuse a
        batch.

        Returns where the walk ended, and whether nothing was refused.
        """
        self._reset_indexes()
        end, is_whole = 0, True
        try:
            for position, batch in self._in_order():
                look_at(batch)
                header = batch.header
                if header.max_timestamp > self.max_timestamp:
                    self.max_timestamp, self.offset_of_max_timestamp = (
                        header.max_timestamp,
                        header.last_offset,
                    )
                # Under other settings than it was written with a segment may be too long for its indexes:
                # they end early.
                if position > self._row_behind and not self.is_index_full:
                    self._add_rows(header.last_offset, position)
                end = position + len(batch.data)
        except _OffsetThatCannotBe as error:
            is_whole = False
            # Which of the two batches has the wrong offset nobody knows: rows at or above the lower one would
            # mislead.
            self.offset_index.truncate_to(error.offset)
            self.time_index.truncate_to(error.offset)
        except (LogError, InvariantError):
            is_whole = False
        return end, is_whole

    def _in_order(self, position: int = 0) -> Iterator[BatchPosition]:
        """Walk over the batches as `batches` does. Raises CorruptRecord too where an offset cannot be: they
        rise, within the segment's span.

        The CRC leaves the base offset out, so it is asked for itself.
        """
        next_offset = self.base_offset
        for found in self.batches(position):
            header = found.batch.header
            if not next_offset <= header.base_offset <= header.last_offset <= self._last_offset_max:
                raise _OffsetThatCannotBe(header.base_offset, next_offset)
            next_offset = header.next_offset
            yield found

    def _add_rows(self, largest_offset: int, position: int) -> None:
        offset_index, time_index = self.offset_index, self.time_index
        offset_index.append(largest_offset, position)
        if self.max_timestamp > time_index.last_entry[0]:
            time_index.maybe_append(self.max_timestamp, self.offset_of_max_timestamp)
        self._row_behind = position + self._index_interval_bytes
        if offset_index.is_full or time_index.is_full:
            self._bytes_max = self._room()

    def _indexed_position(self, offset: int) -> int:
        """Where to begin looking for an offset: as the index has it, if the batch there agrees."""
        entry = self.offset_index.lookup(offset)
        if entry.position and not self._agrees(entry):
            self.rebuild_indexes()
            entry = self.offset_index.lookup(offset)
        return entry.position

    def _indexed_timestamp(self, timestamp: int, probes: list[int] | None) -> TimestampOffset:
        row = self.time_index.lookup(timestamp, probes)
        if row.timestamp >= 0:
            found = self.find(row.offset)
            if found is None or found.batch.header.max_timestamp != row.timestamp:
                self.rebuild_indexes()
                row = self.time_index.lookup(timestamp)
        return row

    def _header_at(self, position: int, end: int) -> BatchHeader | None:
        """Read the header of the batch there; None: no whole batch of format 2 before `end`."""
        head = self.log.view(position, HEADER_SIZE)
        if len(head) < HEADER_SIZE:
            return None
        header = BatchHeader._make(HEADER.unpack(head))
        is_whole = header.magic == MAGIC and HEADER_SIZE <= header.size_in_bytes <= end - position
        return header if is_whole else None

    def _agrees(self, entry: OffsetPosition) -> bool:
        try:
            found = next(self.batches(entry.position), None)
        except CorruptRecord:
            return False
        return found is not None and self.base_offset <= found.batch.header.base_offset <= entry.offset

    def _reset_indexes(self) -> None:
        self.offset_index.file.truncate(0)
        self.time_index.file.truncate(0)
        self._open_indexes()
        self.max_timestamp, self.offset_of_max_timestamp, self._is_time_loaded = -1, self.base_offset, True
        self._row_behind = self._index_interval_bytes

    def _open_indexes(self) -> None:
        bytes_max = self.settings.segment_index_bytes
        names = [file_name(self.base_offset, suffix) + self.stage for suffix in (INDEX, TIME_INDEX)]
        self.offset_index = OffsetIndex(self.folder.open(names[0]), self.base_offset, bytes_max)
        self.time_index = TimeIndex(self.folder.open(names[1]), self.base_offset, bytes_max)
        self._bytes_max = self._room()

    def _room(self) -> int:
        """How long the `.log` file may become. Beside a full index no append fits, whatever the segment's
        size."""
        return -1 if self.offset_index.is_full or self.time_index.is_full else self.settings.segment_bytes


def _needed_bytes(window: memoryview) -> int:
    """How long the batch at the start of a window is, which is longer than the window; a header at least."""
    return 12 + int.from_bytes(window[8:12], signed=True) if len(window) >= HEADER_SIZE else 1 << 62


def _of_this_format(batch: RecordBatch | LegacyBatch) -> RecordBatch:
    if isinstance(batch, LegacyBatch) or len(batch.data) < HEADER_SIZE:
        raise CorruptRecord(
            f"a message of format {batch.magic} and {batch.size_in_bytes} bytes, which no segment of "
            f"ours holds"
        )
    return batch

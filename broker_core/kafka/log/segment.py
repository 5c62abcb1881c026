"""A segment: one run of the log, in a `.log` file named after its first offset, with its two indexes.

    00000000000003257573.log  .index  .timeindex  .txnindex

Nothing in a `.log` file is ever changed: it grows at its end until the segment is closed, and is deleted
whole, or replaced whole by a compacted one.

How its batches are found: indexed_batches.py. Here: when it is full, how it grows, recovers and is cut.

Source: Kafka 3.9 storage/internals/log/LogSegment, FileRecords.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from broker_core.kafka.log.file_names import (
    INDEX,
    LOG,
    TIME_INDEX,
    TXN_INDEX,
    file_name,
)
from broker_core.kafka.log.index_file import CorruptIndex
from broker_core.kafka.log.indexed_batches import IndexedBatches
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder, StorageFull
from broker_core.kafka.log.transaction_index import truncate_aborted
from broker_core.kafka.log.varint import Buffer

RollReason = Literal["size", "time", "index_full", "offset_span"]


class Segment(IndexedBatches):
    """One segment of a partition's log. `stage`: .cleaned or .swap while compaction prepares it, else
    empty."""

    def __init__(
        self, folder: Folder, base_offset: int, settings: LogSettings, now_ms: int, stage: str = ""
    ) -> None:
        super().__init__(folder, base_offset, settings, stage)
        self.created_ms = now_ms
        self._segment_ms = settings.segment_ms - settings.segment_jitter_ms
        self._first_timestamp: int | None = None  # not looked up yet
        self._timestamp_max = -1  # up to here no roll by age; -1: not known

    @property
    def largest_timestamp(self) -> int:
        """The largest record timestamp; without any, when the file was last written."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.folder.modified_ms(self.log.name)

    def load_times(self) -> int:
        """Give the largest timestamp, and remember over a truncation that there is one.

        The original reads it from the time index when somebody first asks. A segment opened again and
        truncated before that may know no time, though it has records: where its time index has no row left.
        """
        self._is_time_loaded = True
        return self.largest_timestamp

    @property
    def first_timestamp(self) -> int:
        """The largest timestamp of the first batch; -1 without any."""
        return self._first_timestamp if self._first_timestamp is not None else self._read_first_timestamp()

    # --- append

    def append(
        self,
        largest_offset: int,
        max_timestamp: int,
        offset_of_max_timestamp: int,
        data: Buffer,
        rest: Buffer | None = None,
    ) -> None:
        """Write batches at the end, of one append; `rest` follows `data`. Raises StorageFull, and then
        nothing was written."""
        log = self.log
        position = log.size
        try:
            log.append(data, rest)
        except StorageFull:
            log.truncate(position)
            raise
        if not position:
            self._begin_at(max_timestamp)
        self._is_time_loaded = True
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max_timestamp = max_timestamp, offset_of_max_timestamp
        # A log begins a new segment beside a full index; a segment that the cleaner writes takes all it is
        # given, and its index ends early.
        if position > self._row_behind and self._bytes_max >= 0:
            self._add_rows(largest_offset, position)

    def should_roll(
        self, incoming_bytes: int, max_timestamp: int, last_offset: int, now_ms: int
    ) -> RollReason | None:
        """Why the next append must go to a new segment, None if it need not: size, age by record time, full
        index, offset span. The first that holds in this order."""
        size = self.log.size
        if size + incoming_bytes > self._bytes_max or last_offset > self._last_offset_max:
            return self._roll_reason(size + incoming_bytes, max_timestamp, now_ms)
        if 0 <= max_timestamp <= self._timestamp_max or not size:
            return None
        return "time" if self._is_old(max_timestamp, now_ms) else None

    def _roll_reason(self, bytes_then: int, max_timestamp: int, now_ms: int) -> RollReason:
        if bytes_then > self.settings.segment_bytes:
            return "size"
        if self.log.size and self._is_old(max_timestamp, now_ms):
            return "time"
        return "index_full" if self.is_index_full else "offset_span"

    def _is_old(self, max_timestamp: int, now_ms: int) -> bool:
        # Record time, where the segment began with one: a log that is loaded again from elsewhere rolls as it
        # did there.
        if self.first_timestamp >= 0:
            return max_timestamp > self._timestamp_max
        return now_ms - self.created_ms > self._segment_ms

    # --- life

    def recover(self, on_batch: Callable[[RecordBatch], None] | None = None) -> int:
        """Rebuild the indexes and cut the file at the first batch that is not whole and sound.

        on_batch: sees each sound batch, in order. Returns how many bytes were cut off.
        """

        def ensure_sound(batch: RecordBatch) -> None:
            batch.ensure_valid()
            if on_batch is not None:
                on_batch(batch)

        end, _ = self._index_anew(ensure_sound)
        cut = self.log.size - end
        if cut:
            self.log.truncate(end)
        self._row_behind = end + self._index_interval_bytes
        self.close_for_appends()
        return cut

    def check(self) -> None:
        """Raise CorruptIndex unless both indexes can be those of this log, closed."""
        self.offset_index.check(self.log.size)
        self.time_index.check()
        # What was lost at a time index's end looks whole; the last batches tell.
        for _, batch in self._in_order(self._indexed_position(self.offset_index.last_offset)):
            if batch.header.max_timestamp > self.time_index.last_entry.timestamp:
                raise CorruptIndex(f"{self.time_index.file.name}: the log holds later records")

    def truncate_to(self, offset: int, now_ms: int) -> int:
        """Drop everything from the batch that holds the offset on. Returns how many bytes were cut off."""
        found = self.find(offset)
        if found is None:
            return 0
        cut = self.log.size - found.position
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.log.truncate(found.position)
        has_time = self._is_time_loaded and self.max_timestamp >= 0
        self.max_timestamp, self.offset_of_max_timestamp = self.time_index.last_entry
        self._is_time_loaded = True
        if has_time or self.max_timestamp >= 0:
            for last in self.batches(self._indexed_position(self.offset_index.last_offset)):
                header = last.batch.header
                if header.max_timestamp > self.max_timestamp:
                    self.max_timestamp, self.offset_of_max_timestamp = (
                        header.max_timestamp,
                        header.last_offset,
                    )
        truncate_aborted(self.folder, file_name(self.base_offset, TXN_INDEX), offset)
        self._row_behind = self.log.size + self._index_interval_bytes
        self._bytes_max = self._room()
        if not found.position:
            self.created_ms, self._first_timestamp, self._timestamp_max = now_ms, None, -1
        return cut

    def close_for_appends(self) -> None:
        """Put the largest timestamp into the time index: the segment takes no more. Raises StorageFull."""
        self._is_time_loaded = True
        self.time_index.maybe_append(self.max_timestamp, self.offset_of_max_timestamp, at_close=True)
        self.offset_index.close_for_appends()
        self.time_index.close_for_appends()

    def flush(self) -> None:
        """Make everything outlive a power cut. Raises StorageFull."""
        self.offset_index.write_out()
        self.time_index.write_out()
        self.log.flush()
        self.offset_index.file.flush()
        self.time_index.file.flush()

    def close(self) -> None:
        for file in (self.log, self.offset_index.file, self.time_index.file):
            file.close()

    def files(self) -> list[str]:
        """The names of its files that are there."""
        present = set(self.folder.names())
        names = [
            file_name(self.base_offset, suffix) + self.stage for suffix in (LOG, INDEX, TIME_INDEX, TXN_INDEX)
        ]
        return [name for name in names if name in present]

    def change_stage(self, stage: str) -> None:
        """Rename all files: .cleaned to .swap, .swap to none. The `.log` last: it is what a restart goes
        by."""
        for name in reversed(self.files()):
            self.folder.rename(name, name.removesuffix(self.stage) + stage if self.stage else name + stage)
        self.stage = stage
        for file, suffix in (
            (self.log, LOG),
            (self.offset_index.file, INDEX),
            (self.time_index.file, TIME_INDEX),
        ):
            file.name = file_name(self.base_offset, suffix) + stage

    # --- inside

    def _read_first_timestamp(self) -> int:
        first = next(self.batches(), None)
        timestamp = first.batch.header.max_timestamp if first is not None else -1
        self._begin_at(timestamp)
        return timestamp

    def _begin_at(self, timestamp: int) -> None:
        self._first_timestamp = timestamp
        self._timestamp_max = timestamp + self._segment_ms if timestamp >= 0 else -1

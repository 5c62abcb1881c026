"""A partition's segments in a row, of which the last one grows: choosing, reading, beginning and deleting
them.

    log start offset                                             high watermark    log end offset
          v                                                              v               v
    [ 0 ........ 3257572 ][ 3257573 ...... 6506250 ][ 6506251 ........................... )
      closed segment         closed segment            active segment

A read chooses the segment by its base offset, the place by its index, and returns the bytes as stored. What
an append checks and notes is in partition_log.py, how far consumers may read in watermarks.py; both build on
this.

Source: Kafka 3.9 core LocalLog, UnifiedLog (fetchOffsetByTimestamp, deleteSegmentFiles).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.file_names import DELETED, SNAPSHOT, TXN_INDEX, file_name
from broker_core.kafka.log.indexed_batches import BatchPosition
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.time_index import TimestampOffset
from broker_core.kafka.log.transaction_index import AbortedTransaction, read_aborted

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3


class Fetched(NamedTuple):
    """Bytes as stored in one segment: whole batches, but the last may be cut off by the limit."""

    data: memoryview
    base_offset: (
        int  # of the first batch, at or below the offset asked for; that offset, if there are no bytes
    )
    position: int


class LocalLog:
    """The segments of one folder. segments: at least one, by base offset."""

    def __init__(
        self,
        folder: Folder,
        settings: LogSettings,
        segments: list[Segment],
        log_start_offset: int,
        log_end_offset: int,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.segments = segments
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.to_delete: list[tuple[int, list[str]]] = []  # (when, files)

    # --- where things are

    @property
    def active(self) -> Segment:
        return self.segments[-1]

    @property
    def size(self) -> int:
        """In bytes, of all `.log` files."""
        return sum(segment.size for segment in self.segments)

    def segment_of(self, offset: int) -> int:
        """The index of the segment that holds, or would hold, the offset. Bisection over the base offsets."""
        return max(0, bisect_right(self.segments, offset, key=lambda segment: segment.base_offset) - 1)

    # --- read

    def read(
        self,
        offset: int,
        bytes_max: int,
        *,
        end_offset: int | None = None,
        at_least_one: bool = True,
    ) -> Fetched:
        """Give bytes from the batch that holds the offset on, at most `bytes_max`, from one segment.

        end_offset: nothing at or after it (high_watermark, last_stable_offset; default: the log end).
        at_least_one: the first batch comes whole even where it is larger than the limit, so that a reader
        never starves.
        Raises OffsetOutOfRange outside log start to log end. The bytes are a view: nothing is copied.
        """
        # After `restart_at` the log start offset may be below the first segment: nothing is there, whatever
        # it says.
        if not max(self.log_start_offset, self.segments[0].base_offset) <= offset <= self.log_end_offset:
            raise OffsetOutOfRange(
                f"offset {offset}; the log holds {self.log_start_offset} to {self.log_end_offset}"
            )
        end = self.log_end_offset if end_offset is None else min(end_offset, self.log_end_offset)
        if offset < end:
            index = self.segment_of(offset)
            while index < len(self.segments):
                segment = self.segments[index]
                found = segment.find(offset)
                if found is not None:
                    return self._fetched(segment, found, offset, bytes_max, end, at_least_one)
                index += 1  # compaction has taken the end of this segment
        return Fetched(memoryview(b""), offset, self.active.size)

    def batches(self, offset: int | None = None) -> Iterator[RecordBatch]:
        """Walk over all batches from the one that holds the offset on (default: the log start)."""
        start = self.log_start_offset if offset is None else offset
        for segment in self.segments[self.segment_of(start) :]:
            found = segment.find(start)
            if found is not None:
                for _, batch in segment.batches(found.position):
                    yield batch

    def offset_for_time(self, timestamp: int) -> TimestampOffset | None:
        """Give the first record at or after that time; None: there is none.

        LATEST, EARLIEST and MAX_TIMESTAMP (-1, -2, -3) give the log end, the log start, the latest record.
        What a consumer may see of it is the high watermark's to say.
        """
        if timestamp == EARLIEST:
            return TimestampOffset(-1, self.log_start_offset)
        if timestamp == LATEST:
            return TimestampOffset(-1, self.log_end_offset)
        if timestamp == MAX_TIMESTAMP:
            for segment in self.segments:
                segment.load_times()
            latest = max(self.segments, key=lambda segment: segment.max_timestamp)
            return (
                latest.find_timestamp(latest.max_timestamp, latest.base_offset)
                if latest.max_timestamp >= 0
                else None
            )
        for segment in self.segments:
            if segment.load_times() >= timestamp:
                # This one and no later one, even where the log start offset has moved past all that it holds.
                return segment.find_timestamp(timestamp, self.log_start_offset)
        return None

    def aborted_transactions(self, first_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Give the aborted transactions that touch the offsets from `first_offset` up to `end_offset`."""
        return [
            aborted
            for segment in self.segments[self.segment_of(first_offset) :]
            for aborted in read_aborted(self.folder, file_name(segment.base_offset, TXN_INDEX))
            if aborted.last_offset >= first_offset and aborted.first_offset < end_offset
        ]

    def aborted_in(self, fetched: Fetched, offset: int) -> list[AbortedTransaction]:
        """Give the aborted transactions that a read_committed reader needs to know with what it has read from
        that offset on.

        As far as the index tells, a little more than the bytes hold: the original does not look into them
        either.
        """
        index = self.segment_of(fetched.base_offset)
        row = self.segments[index].offset_index.first_at_or_after_position(
            fetched.position + len(fetched.data)
        )
        behind = (
            self.segments[index + 1].base_offset if index + 1 < len(self.segments) else self.log_end_offset
        )
        end_offset = behind if row is None else row.offset
        found: list[AbortedTransaction] = []
        for segment in self.segments[index:]:
            for aborted in read_aborted(self.folder, file_name(segment.base_offset, TXN_INDEX)):
                if aborted.last_offset >= offset and aborted.first_offset < end_offset:
                    found.append(aborted)
                if aborted.last_stable_offset >= end_offset:
                    return found  # all that is stable by then has been seen
        return found

    def is_beyond_records(self, offset: int) -> bool:
        """Whether no batch is left at or after that offset."""
        return all(segment.find(offset) is None for segment in self.segments[self.segment_of(offset) :])

    def position_of(self, offset: int) -> tuple[int, int, int]:
        """Give where an offset is: (offset, base offset of its segment, position in its file). The log end is
        the end of the last file.

        Below the first segment, after `restart_at` with an earlier log start, there is no place: -1, -1.
        """
        if offset < self.segments[0].base_offset:
            return offset, -1, -1
        for segment in self.segments[self.segment_of(offset) :]:
            found = segment.find(offset)
            if found is not None:
                return offset, segment.base_offset, found.position
        return offset, self.active.base_offset, self.active.size

    # --- delete

    def delete_files_of(
        self, segments: Iterable[Segment], now_ms: int, *, with_snapshots: bool = True
    ) -> None:
        """Rename to `.deleted`, and remove when the delay is over: a reader may be in the middle of them."""
        due_ms = now_ms + self.settings.file_delete_delay_ms
        for segment in segments:
            segment.close()
            names = segment.files()
            snapshot = file_name(segment.base_offset, SNAPSHOT)
            if with_snapshots and snapshot in self.folder.names():
                names.append(snapshot)
            for name in names:
                self.folder.rename(name, name + DELETED)
            self.to_delete.append((due_ms, [name + DELETED for name in names]))

    def delete_due_files(self, now_ms: int) -> list[str]:
        """Remove what was renamed long enough ago. Gives the names."""
        due = [name for due_ms, names in self.to_delete if due_ms <= now_ms for name in names]
        self.to_delete = [(due_ms, names) for due_ms, names in self.to_delete if due_ms > now_ms]
        for name in due:
            self.folder.remove(name)
        return due

    # --- inside

    def _fetched(
        self,
        segment: Segment,
        found: BatchPosition,
        offset: int,
        bytes_max: int,
        end: int,
        at_least_one: bool,
    ) -> Fetched:
        position, batch = found
        limit = max(bytes_max, len(batch.data)) if at_least_one else bytes_max
        end_position = segment.size
        if end < self.log_end_offset:
            behind = segment.find(end)
            if behind is not None:
                end_position = behind.position
        size = min(limit, end_position - position)
        if size <= 0:
            return Fetched(memoryview(b""), offset, position)
        return Fetched(segment.log.view(position, size), batch.header.base_offset, position)

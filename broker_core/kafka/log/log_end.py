"""The end of a partition's log: where it grows, rolls, is flushed, and is cut.

    note the leader's epoch -> roll if the segment is full -> write -> note the producers' state
    truncate -> segments, epochs, producers and high watermark go back with the end

What an append checks before: partition_log.py.

Source: Kafka 3.9 core UnifiedLog.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from broker_core.errors import CommandError
from broker_core.kafka.log import recovery
from broker_core.kafka.log.errors import RecordBatchTooLarge
from broker_core.kafka.log.file_names import SNAPSHOT, TXN_INDEX, file_name
from broker_core.kafka.log.producer_snapshots import rebuild_producers, snapshot_offsets, take_snapshot
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.producer_updates import ProducerUpdates
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.segment import RollReason, Segment
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.transaction_index import add_aborted
from broker_core.kafka.log.transaction_verification import TransactionVerifications
from broker_core.kafka.log.varint import Buffer
from broker_core.kafka.log.watermarks import WatermarkedLog


class LogEnd(WatermarkedLog):
    """A partition's segments, and what changes at their end."""

    def __init__(
        self,
        folder: Folder,
        settings: LogSettings,
        loaded: recovery.Loaded,
        now_ms: int,
        high_watermark: int | None,
    ) -> None:
        super().__init__(folder, settings, loaded.segments, loaded.log_start_offset, loaded.log_end_offset)
        self.producers = loaded.producers
        self.epochs = loaded.epochs
        self.verifications = TransactionVerifications()
        self.recovery_point = loaded.recovery_point
        self.leader_epoch = max(0, self.epochs.latest)
        self.roll_reason: RollReason | None = None  # of the last append that went to a new segment
        self._flushed_ms = now_ms
        self._flush_at_offset = self.recovery_point + settings.flush_interval_messages
        if high_watermark is None:
            self._note_stable()
        else:
            self.high_watermark = high_watermark

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Close the active segment and begin a new one, by default at the log end."""
        base = self.log_end_offset if base_offset is None else base_offset
        active = self.active
        if active.size == 0 and active.base_offset == base:
            active.created_ms = now_ms  # the original puts a new one in its place
            segment = active
        else:
            active.close_for_appends()
            self.producers.end_offset = base
            take_snapshot(self.folder, self.producers)
            segment = self._new_segment(base, now_ms)
            self.segments.append(segment)
        if self._high_watermark is not None and self._high_watermark >= self.log_end_offset:
            self.high_watermark = self.log_end_offset  # its place is in the new segment now
        return segment

    # --- cut, flush, close

    def flush(self, now_ms: int) -> None:
        """Make everything up to the log end outlive a power cut."""
        self._flush_up_to(self.log_end_offset)
        self._flushed_ms = now_ms

    def flush_if_due(self, now_ms: int) -> None:
        """Flush where `flush.messages` or `flush.ms` says so; after a roll, what was closed. To be called now
        and then.

        By default nothing else flushes: replication, not the disk, keeps records. The original flushes a
        closed segment from its own thread, so no producer waits for it either.
        """
        unflushed = self.log_end_offset - self.recovery_point
        is_long_ago = now_ms - self._flushed_ms >= self.settings.flush_interval_ms
        if unflushed and (unflushed >= self.settings.flush_interval_messages or is_long_ago):
            self.flush(now_ms)
        elif self.recovery_point < self.active.base_offset:
            self._flush_up_to(self.active.base_offset)

    def truncate_to(self, offset: int, now_ms: int) -> bool:
        """Drop every record at or after the offset: a follower cuts off what its new leader does not have.
        Tells whether there was one.

        Of the leader epochs those go that wrote nothing below it, in either case. Raises CommandError for a
        negative offset.
        """
        if offset < 0:
            raise CommandError("offset", "a log cannot end at {offset}", offset=offset)
        if offset >= self.log_end_offset:
            self.epochs.truncate_from_end(self.log_end_offset)
            return False
        if offset < self.segments[0].base_offset:
            self.restart_at(offset, now_ms)
            return True
        keep = self.segment_of(offset) + 1
        gone, self.segments = self.segments[keep:], self.segments[:keep]
        self.delete_files_of(gone, now_ms)
        self.active.truncate_to(offset, now_ms)
        self.log_end_offset = offset
        self._has_open_end = True
        self.log_start_offset = min(self.log_start_offset, offset)
        self.recovery_point = min(self.recovery_point, offset)
        self.epochs.truncate_from_end(offset)
        self._rebuild_producers(now_ms)
        if self._high_watermark is None:
            self._note_stable()
        elif self._high_watermark >= offset:
            self.high_watermark = offset
        return True

    def restart_at(self, offset: int, now_ms: int, *, log_start_offset: int | None = None) -> None:
        """Drop everything and start again at that offset: the leader no longer needs anything here.

        log_start_offset: as the leader says, at or below the offset; default the offset.
        """
        gone, self.segments = self.segments, []
        self.delete_files_of(gone, now_ms)
        self.segments.append(self._new_segment(offset, now_ms))
        self.log_end_offset = offset
        self.log_start_offset = offset if log_start_offset is None else log_start_offset
        self.recovery_point = min(self.recovery_point, offset)
        self.epochs.clear_and_flush()
        self.producers = ProducerState()
        for stale in snapshot_offsets(self.folder):
            self.folder.remove(file_name(stale, SNAPSHOT))
        self.producers.end_offset = offset
        self._rebuild_producers(now_ms)
        if self._high_watermark is None:
            self._note_stable()
        else:
            self.high_watermark = offset

    def close(self, now_ms: int) -> None:
        """Flush and let go. A next `open` with `was_closed` reads no records."""
        self.active.close_for_appends()
        take_snapshot(self.folder, self.producers)
        self.flush(now_ms)
        for segment in self.segments:
            segment.close()

    # --- inside

    def _new_segment(self, base_offset: int, now_ms: int) -> Segment:
        """A segment of files; the log of descriptors has its own (replication/replica_log.py)."""
        return Segment(self.folder, base_offset, self.settings, now_ms)

    def _flush_up_to(self, end_offset: int) -> None:
        """Flush the segments that hold something between the recovery point and that offset, which it then
        is."""
        for segment in self.segments[self.segment_of(self.recovery_point) :]:
            if segment.base_offset < end_offset:
                segment.flush()
        self.folder.sync()
        self.recovery_point = end_offset
        self._flush_at_offset = end_offset + self.settings.flush_interval_messages

    def _rebuild_producers(self, now_ms: int) -> None:
        self.producers = rebuild_producers(
            self.folder,
            self.segments,
            self.producers,
            self.log_start_offset,
            self.log_end_offset,
            now_ms,
            self.settings.producer_id_expiration_ms,
            self._end_verification,
        )

    def _end_verification(self, batch: RecordBatch) -> None:
        """A transactional batch uses its producer's guard up, also one that is copied or read again."""
        if self.verifications.under_way and batch.header.is_transactional:
            self.verifications.end(batch.header.producer_id)

    def _ending_verifications(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Give the batches; the guard of each one is used up when the next is asked for, that is if it was
        not refused."""
        for batch in batches:
            yield batch
            self._end_verification(batch)

    def _segment_for(
        self, first_offset: int, last_offset: int, max_timestamp: int, epoch: int, now_ms: int, size: int
    ) -> Segment:
        """Give the segment that an append of `size` bytes goes to: the active one, or a new one. Notes the
        leader's epoch.

        Raises RecordBatchTooLarge.
        """
        epochs = self.epochs
        if epoch >= 0 and (epoch != epochs.latest or first_offset < epochs.latest_start):
            epochs.assign(epoch, first_offset)
        segment = self.segments[-1]
        if (reason := segment.should_roll(size, max_timestamp, last_offset, now_ms)) is not None:
            if size > self.settings.segment_bytes:
                raise RecordBatchTooLarge(f"{size} bytes; a segment has {self.settings.segment_bytes}")
            segment = self.roll(now_ms, first_offset)
            self.roll_reason = reason
        return segment

    def _write(
        self,
        segment: Segment,
        last_offset: int,
        max_timestamp: int,
        offset_of_max_timestamp: int,
        now_ms: int,
        data: Buffer,
        rest: Buffer | None = None,
    ) -> None:
        """Write an append, `data` and then `rest`, at the end of the active segment. Raises StorageFull."""
        segment.append(last_offset, max_timestamp, offset_of_max_timestamp, data, rest)
        self.log_end_offset = self.producers.end_offset = last_offset + 1
        self._has_open_end = False
        if last_offset + 1 >= self._flush_at_offset:
            self.flush(now_ms)
        if self._first_unstable is not None:
            self._note_stable()

    def _note_producers(self, batches: Iterable[RecordBatch], segment: Segment) -> None:
        """Note in the producers' state what was written, and in the segment's index what was aborted."""
        updates = ProducerUpdates(self.producers)
        for batch in batches:
            updates.add(batch)
            self._end_verification(batch)
        for completed in updates.note():
            row = self.producers.complete(completed)
            if completed.is_aborted:
                add_aborted(self.folder, file_name(segment.base_offset, TXN_INDEX), row)
        self._note_stable()

"""One partition's log: what an append checks, writes and notes, and how the log is cut, flushed and closed.

    validate -> give offsets -> ask the producer's state -> roll if the segment is full -> write -> note

The segments, and reading from them: local_log.py. How a log is opened again: recovery.py; what is deleted:
retention.py; how superseded keys go: compaction.py. Nothing here asks a clock: who appends says what time it is.

Source: Kafka 3.9 core UnifiedLog.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from broker_core.kafka.log import recovery
from broker_core.kafka.log.batch_reader import records_only, whole_batches
from broker_core.kafka.log.codecs import Codec, compress
from broker_core.kafka.log.errors import CorruptRecord, RecordBatchTooLarge, RecordTooLarge
from broker_core.kafka.log.local_log import EARLIEST, LATEST, MAX_TIMESTAMP, Fetched, LocalLog
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    ControlType,
    RecordBatch,
    encode_control_batch,
    placed,
    seal,
)
from broker_core.kafka.log.segment import SNAPSHOT, TXN_INDEX, Segment, file_name
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.transaction_index import add_aborted
from broker_core.kafka.log.validation import ensure_one_batch_if_compressed, validated
from broker_core.kafka.log.varint import Buffer

__all__ = ["EARLIEST", "LATEST", "MAX_TIMESTAMP", "Appended", "Fetched", "PartitionLog"]
_new_tuple = tuple.__new__


class Appended(NamedTuple):
    """What an append came to. is_duplicate: nothing was written, the producer had sent it before."""

    first_offset: int
    last_offset: int
    is_duplicate: bool = False


class PartitionLog(LocalLog):
    """One partition's log in one folder. `PartitionLog.open` is the way in."""

    def __init__(self, folder: Folder, settings: LogSettings, loaded: recovery.Loaded, now_ms: int) -> None:
        super().__init__(folder, settings, loaded.segments, loaded.log_start_offset, loaded.log_end_offset)
        self.producers = loaded.producers
        self.epochs = loaded.epochs
        self.recovery_point = loaded.recovery_point
        self.leader_epoch = max(0, self.epochs.latest)
        self._flushed_ms = now_ms
        self._flush_at_offset = self.recovery_point + settings.flush_interval_messages
        self._message_bytes_max = settings.message_bytes_max
        self._looks_into_batches = settings.is_log_append_time or settings.asks_for_records

    @classmethod
    def open(
        cls,
        folder: Folder,
        settings: LogSettings | None = None,
        *,
        now_ms: int,
        was_closed: bool = False,
        recovery_point: int = 0,
        log_start_offset: int = 0,
    ) -> PartitionLog:
        """Open a partition's folder, empty or not.

        was_closed: the last run ended with `close`; else everything from the recovery point on is read and checked.
        recovery_point: up to there all is known to be flushed. log_start_offset: as its checkpoint says.

        >>> from broker_core.kafka.log.memory_storage import MemoryFolder
        >>> log = PartitionLog.open(MemoryFolder(), now_ms=0)
        >>> log.append_pairs([(b"k", b"v")], now_ms=1).first_offset, log.log_end_offset
        (0, 1)
        """
        settings = settings or LogSettings()
        loaded = recovery.load(folder, settings, now_ms, was_closed, recovery_point, log_start_offset)
        return cls(folder, settings, loaded, now_ms)

    @property
    def last_stable_offset(self) -> int:
        """read_committed consumers, and the cleaner, go no further: here the oldest open transaction begins."""
        unstable = self.producers.first_unstable_offset()
        return self.high_watermark if unstable is None else min(self.high_watermark, unstable)

    # --- append

    def append(self, data: Buffer, *, now_ms: int, leader_epoch: int | None = None) -> Appended:
        """Append what a client sent: one or more encoded batches, which get the next offsets.

        All or nothing as far as checks go: they come before the first byte is written. Raises CorruptRecord, InvalidRecord,
        InvalidTimestamp, RecordTooLarge, RecordBatchTooLarge, the errors of producer_state.py, StorageFull.
        """
        epoch = self.leader_epoch if leader_epoch is None else leader_epoch
        batches = whole_batches(data)
        if len(batches) == 1:  # as most requests
            return self._append_from_client(validated(batches[0], self.settings, now_ms), epoch, now_ms)
        batches = [validated(batch, self.settings, now_ms) for batch in batches]
        ensure_one_batch_if_compressed(batches)
        if sum(len(batch.data) for batch in batches) > self.settings.segment_bytes:
            raise RecordBatchTooLarge(f"more than {self.settings.segment_bytes} bytes at once")
        first = self.log_end_offset
        for batch in batches:
            appended = self._append_from_client(batch, epoch, now_ms)
            if appended.is_duplicate:  # ends the append of the whole request, as in the original
                return appended
        return Appended(first, self.log_end_offset - 1)

    def append_pairs(
        self,
        pairs: Iterable[tuple[bytes | None, bytes | None]],
        *,
        now_ms: int,
        timestamp: int | None = None,
        codec: Codec = Codec.NONE,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        base_sequence: int = NO_SEQUENCE,
        is_transactional: bool = False,
    ) -> Appended:
        """Append (key, value) pairs as one batch, none for no pairs. timestamp: of all of them; default `now_ms`.

        Raises as `append` does.
        """
        encoded, count = encode_pairs(pairs)
        if not count:
            return Appended(self.log_end_offset, self.log_end_offset - 1)
        time = now_ms if timestamp is None else timestamp
        base, epoch = self.log_end_offset, self.leader_epoch
        last = base + count - 1
        if codec:
            encoded = compress(codec, encoded)
        attributes = codec | TRANSACTIONAL if is_transactional else codec
        data = seal(encoded, base, epoch, attributes, count - 1, time, time, producer_id, producer_epoch, base_sequence, count)
        size = len(data)
        if size > self._message_bytes_max:
            raise RecordTooLarge(f"{size} bytes; the topic takes {self._message_bytes_max}")
        if producer_id >= 0 or self._looks_into_batches:
            (batch,) = whole_batches(data)
            if self._looks_into_batches:
                batch = validated(batch, self.settings, now_ms)
            return self._append_from_client(batch, epoch, now_ms)
        # Nobody asks for the fields of such a batch again. A record a call comes this way.
        self._write(base, last, time, epoch, now_ms, size, data)
        return _new_tuple(Appended, (base, last, False))

    def append_marker(
        self,
        control_type: ControlType,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        now_ms: int,
    ) -> Appended:
        """Append the control batch that ends a producer's transaction. Raises TransactionCoordinatorFenced."""
        batch = encode_control_batch(
            control_type,
            base_offset=self.log_end_offset,
            timestamp=now_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            partition_leader_epoch=self.leader_epoch,
        )
        self.producers.check_marker(batch)
        return self._append_in_place(batch, now_ms)

    def append_as_follower(self, data: Buffer, *, now_ms: int) -> Appended:
        """Append what the leader gave: offsets and epochs stay. Raises CorruptRecord, StorageFull."""
        batches = list(records_only(data))  # what a fetch has cut off at its end comes again with the next one
        offset = self.log_end_offset
        for batch in batches:
            if batch.header.base_offset < offset:
                raise CorruptRecord(f"offset {batch.header.base_offset} where {offset} or more was to come")
            offset = batch.header.next_offset
        for batch in batches:
            self._append_in_place(batch, now_ms)
        return Appended(batches[0].header.base_offset if batches else offset, offset - 1)

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Close the active segment and begin a new one, by default at the log end."""
        base = self.log_end_offset if base_offset is None else base_offset
        active = self.active
        if active.size == 0 and active.base_offset == base:
            return active
        active.close_for_appends()
        self.folder.replace(file_name(base, SNAPSHOT), self.producers.snapshot())
        if active.size == 0:  # an empty segment, of a full index or of another base offset, has nothing to keep
            self.segments.pop()
            self.delete_files_of([active], now_ms)
        segment = Segment(self.folder, base, self.settings, now_ms)
        self.segments.append(segment)
        return segment

    # --- cut, flush, close

    def flush(self, now_ms: int) -> None:
        """Make everything up to the log end outlive a power cut."""
        self._flush_up_to(self.log_end_offset)
        self._flushed_ms = now_ms

    def flush_if_due(self, now_ms: int) -> None:
        """Flush where `flush.messages` or `flush.ms` says so; after a roll, what was closed. To be called now and then.

        By default nothing else flushes: replication, not the disk, keeps records. The original flushes a closed segment
        from a thread of its own, so no producer waits for it either.
        """
        unflushed = self.log_end_offset - self.recovery_point
        is_long_ago = now_ms - self._flushed_ms >= self.settings.flush_interval_ms
        if unflushed and (unflushed >= self.settings.flush_interval_messages or is_long_ago):
            self.flush(now_ms)
        elif self.recovery_point < self.active.base_offset:
            self._flush_up_to(self.active.base_offset)

    def truncate_to(self, offset: int, now_ms: int) -> None:
        """Drop every record at or behind the offset: a follower cuts off what its new leader does not have."""
        if offset >= self.log_end_offset:
            return
        if offset <= self.log_start_offset or offset < self.segments[0].base_offset:
            self.restart_at(offset, now_ms)
            return
        keep = self.segment_of(offset) + 1
        gone, self.segments = self.segments[keep:], self.segments[:keep]
        self.delete_files_of(gone, now_ms)
        self.active.truncate_to(offset)
        self.log_end_offset = offset
        self.recovery_point = min(self.recovery_point, offset)
        if self.replicated_to is not None:
            self.replicated_to = min(self.replicated_to, offset)
        self.epochs.truncate_from_end(offset)
        self.producers = recovery.rebuild_producers(self.folder, self.segments, offset)

    def restart_at(self, offset: int, now_ms: int) -> None:
        """Drop everything and begin anew at that offset: nothing here is of use to the leader any more."""
        gone, self.segments = self.segments, []
        self.delete_files_of(gone, now_ms)
        self.segments.append(Segment(self.folder, offset, self.settings, now_ms))
        self.log_start_offset = self.log_end_offset = self.recovery_point = offset
        self.epochs.truncate_from_end(-1)
        self.producers = ProducerState()

    def close(self, now_ms: int) -> None:
        """Flush and let go. A next `open` with `was_closed` reads no records."""
        self.active.close_for_appends()
        self.folder.replace(file_name(self.log_end_offset, SNAPSHOT), self.producers.snapshot())
        self.flush(now_ms)
        for segment in self.segments:
            segment.close()

    # --- inside

    def _flush_up_to(self, end_offset: int) -> None:
        """Flush the segments that hold something between the recovery point and that offset, which it then is."""
        for segment in self.segments[self.segment_of(self.recovery_point) :]:
            if segment.base_offset < end_offset:
                segment.flush()
        self.folder.sync()
        self.recovery_point = end_offset
        self._flush_at_offset = end_offset + self.settings.flush_interval_messages

    def _append_from_client(self, batch: RecordBatch, epoch: int, now_ms: int) -> Appended:
        """Write a validated batch at the log end, unless its producer has sent it before."""
        header, data = batch
        base_offset = self.log_end_offset
        has_producer = header.producer_id >= 0
        if has_producer:
            earlier = self.producers.check(header)
            if earlier is not None:
                return Appended(earlier.first_offset, earlier.last_offset, is_duplicate=True)
        last_offset = base_offset + header.last_offset_delta
        place, rest = placed(batch, base_offset, epoch)
        segment = self._write(base_offset, last_offset, header.max_timestamp, epoch, now_ms, len(data), place, rest)
        if has_producer:
            self._note_producer(RecordBatch(header._replace(base_offset=base_offset), data), segment)
        return _new_tuple(Appended, (base_offset, last_offset, False))  # as `Appended(...)`, in half the time

    def _append_in_place(self, batch: RecordBatch, now_ms: int) -> Appended:
        """Write a batch as it is: its offsets and its epoch are settled."""
        header, data = batch
        base_offset, last_offset = header.base_offset, header.last_offset
        epoch = header.partition_leader_epoch
        segment = self._write(base_offset, last_offset, header.max_timestamp, epoch, now_ms, len(data), data)
        if header.producer_id >= 0:
            self._note_producer(batch, segment)
        return Appended(base_offset, last_offset)

    def _write(
        self,
        base_offset: int,
        last_offset: int,
        max_timestamp: int,
        epoch: int,
        now_ms: int,
        size: int,
        data: Buffer,
        rest: Buffer | None = None,
    ) -> Segment:
        """Write a batch of `size` bytes, `data` and then `rest`, into the active segment or a new one. Gives the segment."""
        segment = self.segments[-1]
        if segment.should_roll(size, max_timestamp, last_offset, now_ms):
            if size > self.settings.segment_bytes:
                raise RecordBatchTooLarge(f"{size} bytes; a segment has {self.settings.segment_bytes}")
            segment = self.roll(now_ms, base_offset)
        if epoch > self.epochs.latest:
            self.epochs.assign(epoch, base_offset)
        segment.append(last_offset, max_timestamp, last_offset, data, rest)
        self.log_end_offset = last_offset + 1
        if last_offset >= self._flush_at_offset:
            self.flush(now_ms)
        return segment

    def _note_producer(self, batch: RecordBatch, segment: Segment) -> None:
        completed = self.producers.update(batch)
        if completed is not None and completed.is_aborted:
            add_aborted(self.folder, file_name(segment.base_offset, TXN_INDEX), self.producers.aborted_transaction(completed))

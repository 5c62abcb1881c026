"""One partition's log: its segments in a row, of which the last one grows.

    log start offset                                             high watermark    log end offset
          v                                                              v               v
    [ 0 ........ 3257572 ][ 3257573 ...... 6506250 ][ 6506251 ........................... )
      closed segment         closed segment            active segment

Append: validate, give offsets, check the producer, roll if the segment is full, write, note.
Read: choose the segment by its base offset, the place by its index, give the bytes as they lie.

Nothing here asks a clock: who appends says what time it is.
Source: Kafka 3.9 core UnifiedLog, LocalLog. How a log is opened again: recovery.py; what is deleted: retention.py;
how superseded keys go: compaction.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker_core.kafka.log import recovery
from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.codecs import Codec, compress
from broker_core.kafka.log.errors import CorruptRecord, OffsetOutOfRange, RecordBatchTooLarge, RecordTooLarge
from broker_core.kafka.log.producer_state import BatchMark, ProducerState
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    ControlType,
    RecordBatch,
    assemble,
    encode_control_batch,
    with_offset,
)
from broker_core.kafka.log.segment import (
    DELETED,
    SNAPSHOT,
    TXN_INDEX,
    BatchPosition,
    Segment,
    file_name,
)
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.time_index import TimestampOffset
from broker_core.kafka.log.transaction_index import AbortedTransaction, add_aborted, read_aborted
from broker_core.kafka.log.validation import ensure_one_batch_if_compressed, validated
from broker_core.kafka.log.varint import Buffer

_new_tuple = tuple.__new__
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3


class Appended(NamedTuple):
    """What an append came to. is_duplicate: nothing was written, the producer had sent it before."""

    first_offset: int
    last_offset: int
    is_duplicate: bool = False


class Fetched(NamedTuple):
    """Bytes as they lie in one segment: whole batches, but the last may be cut off by the limit."""

    data: memoryview
    base_offset: int  # of the first batch, at or below the offset asked for; that offset, if there are no bytes
    position: int


class PartitionLog:
    """One partition's log in one folder. `PartitionLog.open` is the way in."""

    def __init__(self, folder: Folder, settings: LogSettings, loaded: recovery.Loaded, now_ms: int) -> None:
        self.folder = folder
        self.settings = settings
        self.segments = loaded.segments
        self.producers = loaded.producers
        self.epochs = loaded.epochs
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.recovery_point = loaded.recovery_point
        self.leader_epoch = max(0, self.epochs.latest)
        self.replicated_to: int | None = None  # None: nobody replicates, all that is appended counts
        self.to_delete: list[tuple[int, list[str]]] = []  # (when, files)
        self._flushed_ms = now_ms
        self._has_rolled = False
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

    # --- where things are

    @property
    def active(self) -> Segment:
        return self.segments[-1]

    @property
    def size(self) -> int:
        """In bytes, of all `.log` files."""
        return sum(segment.size for segment in self.segments)

    @property
    def high_watermark(self) -> int:
        """Consumers read up to here."""
        return self.log_end_offset if self.replicated_to is None else self.replicated_to

    @property
    def last_stable_offset(self) -> int:
        """read_committed consumers, and the cleaner, go no further: here the oldest open transaction begins."""
        unstable = self.producers.first_unstable_offset()
        return self.high_watermark if unstable is None else min(self.high_watermark, unstable)

    def segment_of(self, offset: int) -> int:
        """The index of the segment that holds, or would hold, the offset. Bisection over the base offsets."""
        return max(0, bisect_right(self.segments, offset, key=lambda segment: segment.base_offset) - 1)

    # --- append

    def append(self, data: Buffer, *, now_ms: int, leader_epoch: int | None = None) -> Appended:
        """Append what a client sent: one or more encoded batches, which get the next offsets.

        All or nothing as far as checks go: they come before the first byte is written. Raises CorruptRecord, InvalidRecord,
        InvalidTimestamp, RecordTooLarge, RecordBatchTooLarge, the errors of producer_state.py, StorageFull.
        """
        epoch = self.leader_epoch if leader_epoch is None else leader_epoch
        batches: list[RecordBatch] = []
        position = 0
        offset = self.log_end_offset
        for found in read_batches(data):
            if not isinstance(found, RecordBatch):
                raise CorruptRecord(f"a message of format {found.magic}")
            batch = with_offset(validated(found, self.settings, now_ms), offset, epoch)
            batches.append(batch)
            offset = batch.header.next_offset
            position += found.size_in_bytes
        if position != len(data) or not batches:
            raise CorruptRecord(f"{len(data) - position} bytes that are no whole batch")
        if len(batches) == 1:  # as most requests
            return self._append_one(batches[0], now_ms)
        ensure_one_batch_if_compressed(batches)
        return self._append_all(batches, now_ms)

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
        batch = assemble(
            compress(codec, encoded) if codec else encoded,
            self.log_end_offset,
            self.leader_epoch,
            codec | TRANSACTIONAL if is_transactional else codec,
            count - 1,
            time,
            time,
            producer_id,
            producer_epoch,
            base_sequence,
            count,
        )
        if self._looks_into_batches:
            batch = validated(batch, self.settings, now_ms)
        elif len(batch.data) > self._message_bytes_max:
            raise RecordTooLarge(f"{len(batch.data)} bytes; the topic takes {self._message_bytes_max}")
        return self._append_one(batch, now_ms)

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
        return self._append_one(batch, now_ms, is_client=False)

    def append_as_follower(self, data: Buffer, *, now_ms: int) -> Appended:
        """Append what the leader gave: offsets and epochs stay. Raises CorruptRecord, StorageFull."""
        batches: list[RecordBatch] = []
        offset = self.log_end_offset
        for batch in read_batches(data):
            if not isinstance(batch, RecordBatch):
                raise CorruptRecord(f"a message of format {batch.magic}")
            batch.ensure_valid()
            if batch.header.base_offset < offset:
                raise CorruptRecord(f"offset {batch.header.base_offset} where {offset} or more was to come")
            batches.append(batch)
            offset = batch.header.next_offset
        if not batches:
            return Appended(offset, offset - 1)
        for batch in batches:
            self._append_one(batch, now_ms, is_client=False)
        return Appended(batches[0].header.base_offset, offset - 1)

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Close the active segment and begin a new one, by default at the log end."""
        base = self.log_end_offset if base_offset is None else base_offset
        active = self.active
        if active.size == 0 and active.base_offset == base:
            return active
        active.close_for_appends()
        self.folder.replace(file_name(base, SNAPSHOT), self.producers.snapshot())
        self._has_rolled = True  # the closed segment is flushed by the next `flush_if_due`, not while a producer waits
        if active.size == 0:  # an empty segment, of a full index or of another base offset, has nothing to keep
            self.segments.pop()
            self.delete_files_of([active], now_ms)
        segment = Segment(self.folder, base, self.settings, now_ms)
        self.segments.append(segment)
        return segment

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

        end_offset: nothing at or behind it (high_watermark, last_stable_offset; default: the log end). at_least_one: the
        first batch comes whole even where it is larger than the limit, so that a reader never starves.
        Raises OffsetOutOfRange outside log start to log end. The bytes are a view: nothing is copied.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise OffsetOutOfRange(f"offset {offset}; the log holds {self.log_start_offset} to {self.log_end_offset}")
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

        LATEST, EARLIEST and MAX_TIMESTAMP (-1, -2, -3) give the high watermark, the log start, the latest record.
        """
        if timestamp == EARLIEST:
            return TimestampOffset(-1, self.log_start_offset)
        if timestamp == LATEST:
            return TimestampOffset(-1, self.high_watermark)
        if timestamp == MAX_TIMESTAMP:
            timestamp = max(segment.max_timestamp for segment in self.segments)
            if timestamp < 0:
                return None
        for segment in self.segments:
            if segment.largest_timestamp >= timestamp:
                found = segment.find_timestamp(timestamp, self.log_start_offset)
                if found is not None:
                    return found
        return None

    def aborted_transactions(self, first_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Give the aborted transactions that touch the offsets from `first_offset` up to `end_offset`."""
        return [
            aborted
            for segment in self.segments[self.segment_of(first_offset) :]
            for aborted in read_aborted(self.folder, file_name(segment.base_offset, TXN_INDEX))
            if aborted.last_offset >= first_offset and aborted.first_offset < end_offset
        ]

    # --- cut, flush, close

    def flush(self, now_ms: int) -> None:
        """Make everything up to the log end outlive a power cut."""
        for segment in self.segments[self.segment_of(self.recovery_point) :]:
            segment.flush()
        self.folder.sync()
        self.recovery_point = self.log_end_offset
        self._flush_at_offset = self.recovery_point + self.settings.flush_interval_messages
        self._flushed_ms = now_ms
        self._has_rolled = False

    def flush_if_due(self, now_ms: int) -> None:
        """Flush where `flush.messages` or `flush.ms` says so, and after a roll. To be called now and then.

        By default nothing else flushes: replication, not the disk, keeps records.
        """
        unflushed = self.log_end_offset - self.recovery_point
        if unflushed and (
            self._has_rolled
            or unflushed >= self.settings.flush_interval_messages
            or now_ms - self._flushed_ms >= self.settings.flush_interval_ms
        ):
            self.flush(now_ms)

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

    def delete_files_of(self, segments: Iterable[Segment], now_ms: int, *, with_snapshots: bool = True) -> None:
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

    def close(self, now_ms: int) -> None:
        """Flush and let go. A next `open` with `was_closed` reads no records."""
        self.active.close_for_appends()
        self.folder.replace(file_name(self.log_end_offset, SNAPSHOT), self.producers.snapshot())
        self.flush(now_ms)
        for segment in self.segments:
            segment.close()

    # --- inside

    def _append_all(self, batches: list[RecordBatch], now_ms: int) -> Appended:
        first = batches[0].header.base_offset
        if sum(len(batch.data) for batch in batches) > self.settings.segment_bytes:
            raise RecordBatchTooLarge(f"more than {self.settings.segment_bytes} bytes at once")
        appended = Appended(first, first - 1)
        for batch in batches:
            appended = self._append_one(batch, now_ms)
            if appended.is_duplicate:  # ends the append of the whole request, as in the original
                return appended
        return Appended(first, appended.last_offset)

    def _append_one(self, batch: RecordBatch, now_ms: int, is_client: bool = True) -> Appended:
        """Write a batch that has its offset."""
        header, data = batch
        base_offset, _, epoch, _, _, _, last_offset_delta, _, max_timestamp, producer_id, _, _, _ = header
        last_offset = base_offset + last_offset_delta
        if is_client and producer_id >= 0:
            earlier: BatchMark | None = self.producers.check(header)
            if earlier is not None:
                return Appended(earlier.first_offset, earlier.last_offset, is_duplicate=True)
        segment = self.segments[-1]
        if segment.should_roll(len(data), max_timestamp, last_offset, now_ms):
            if len(data) > self.settings.segment_bytes:
                raise RecordBatchTooLarge(f"{len(data)} bytes; a segment has {self.settings.segment_bytes}")
            segment = self.roll(now_ms, base_offset)
        if epoch > self.epochs.latest:
            self.epochs.assign(epoch, base_offset)
        segment.append(last_offset, max_timestamp, last_offset, data)
        self.log_end_offset = last_offset + 1
        if producer_id >= 0:
            self._note_producer(batch, segment)
        if last_offset >= self._flush_at_offset:
            self.flush(now_ms)
        return _new_tuple(Appended, (base_offset, last_offset, False))  # as `Appended(...)`, in half the time

    def _note_producer(self, batch: RecordBatch, segment: Segment) -> None:
        completed = self.producers.update(batch)
        if completed is not None and completed.is_aborted:
            aborted = AbortedTransaction(completed.producer_id, completed.first_offset, completed.last_offset, self.last_stable_offset)
            add_aborted(self.folder, file_name(segment.base_offset, TXN_INDEX), aborted)

    def _fetched(self, segment: Segment, found: BatchPosition, offset: int, bytes_max: int, end: int, at_least_one: bool) -> Fetched:
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

"""One partition's log: what an append checks, writes and notes.

    validate -> give offsets -> note the leader's epoch -> roll if the segment is full -> ask the producer's
    state -> write -> note

As in the original the epoch is noted, and a segment may be rolled, before the producer's state refuses an
append or knows it already. Of records nothing is written unless all of an append is taken.

The segments, and reading from them: local_log.py; how far consumers may read: watermarks.py; where the log
grows, rolls and is cut: log_end.py. How a log is opened again: recovery.py; what is deleted: retention.py; how
superseded keys go: compaction.py. Nothing here asks a clock: who appends says what time it is.

Source: Kafka 3.9 core UnifiedLog.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from broker_core.kafka.log import recovery
from broker_core.kafka.log.batch_reader import records_only, whole_batches
from broker_core.kafka.log.codecs import Codec, compress
from broker_core.kafka.log.errors import (
    OffsetsOutOfOrder,
    RecordTooLarge,
    UnexpectedAppendOffset,
)
from broker_core.kafka.log.local_log import EARLIEST, LATEST, MAX_TIMESTAMP, Fetched
from broker_core.kafka.log.log_end import LogEnd
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import (
    LOG_APPEND_TIME,
    NO_LEADER_EPOCH,
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
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.log.validation import validated, with_times
from broker_core.kafka.log.varint import Buffer

__all__ = ["EARLIEST", "LATEST", "MAX_TIMESTAMP", "Appended", "Fetched", "PartitionLog"]
_new_tuple = tuple.__new__


class Appended(NamedTuple):
    """What an append came to. is_duplicate: nothing was written, the producer had sent it before."""

    first_offset: int
    last_offset: int
    is_duplicate: bool = False


class PartitionLog(LogEnd):
    """One partition's log in one folder. `PartitionLog.open` is the way in."""

    def __init__(
        self,
        folder: Folder,
        settings: LogSettings,
        loaded: recovery.Loaded,
        now_ms: int,
        high_watermark: int | None,
    ) -> None:
        super().__init__(folder, settings, loaded, now_ms, high_watermark)
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
        high_watermark: int | None = None,
    ) -> PartitionLog:
        """Open a partition's folder, empty or not.

        was_closed: the last run ended with `close`; else everything from the recovery point on is read and
        checked.
        recovery_point: up to there all is known to be flushed. log_start_offset, high_watermark: as their
        checkpoints say; None: nobody replicates.

        >>> from broker_core.kafka.log.memory_storage import MemoryFolder
        >>> log = PartitionLog.open(MemoryFolder(), now_ms=0)
        >>> log.append_pairs([(b"k", b"v")], now_ms=1).first_offset, log.log_end_offset
        (0, 1)
        """
        settings = settings or LogSettings()
        loaded = recovery.load(folder, settings, now_ms, was_closed, recovery_point, log_start_offset)
        return cls(folder, settings, loaded, now_ms, high_watermark)

    # --- append

    def append(
        self,
        data: Buffer,
        *,
        now_ms: int,
        leader_epoch: int | None = None,
        is_from_coordinator: bool = False,
        verification_guard: int | None = None,
    ) -> Appended:
        """Append the batch that a client sent, encoded with base offset 0: it gets the next offsets.

        leader_epoch: default the log's own. is_from_coordinator: of a producer's batch only the epoch is
        checked, not the sequence.
        verification_guard: of `start_verification`, for a transaction's first batch.
        Raises CorruptRecord, InvalidRecord, InvalidTimestamp, UnknownCodec, CodecFailed, RecordTooLarge,
        RecordBatchTooLarge, the errors of producer_state.py, StorageFull; then nothing of it was written.
        """
        epoch = self.leader_epoch if leader_epoch is None else leader_epoch
        batch = validated(whole_batches(data), self.settings, now_ms, not is_from_coordinator)
        return self._append_from_client(batch, epoch, now_ms, is_from_coordinator, verification_guard)

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
        """Append (key, value) pairs as one batch, none for no pairs. timestamp: of all of them; default
        `now_ms`.

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
        placed_at = 0 if self._looks_into_batches else base
        data = seal(
            encoded,
            placed_at,
            epoch,
            attributes,
            count - 1,
            time,
            time,
            producer_id,
            producer_epoch,
            base_sequence,
            count,
        )
        size = len(data)
        if size > self._message_bytes_max:
            raise RecordTooLarge(f"{size} bytes; the topic takes {self._message_bytes_max}")
        if producer_id >= 0 or self._looks_into_batches:
            batches = whole_batches(data)
            batch = validated(batches, self.settings, now_ms) if self._looks_into_batches else batches[0]
            return self._append_from_client(batch, epoch, now_ms)
        # Nobody asks for the fields of such a batch again. A record a call comes this way.
        segment = self._segment_for(base, last, time, epoch, now_ms, size)
        self._write(segment, last, time, last, now_ms, data)
        return _new_tuple(Appended, (base, last, False))

    def append_marker(
        self,
        control_type: ControlType,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        now_ms: int,
        leader_epoch: int | None = None,
    ) -> Appended:
        """Append the control batch that ends a producer's transaction. leader_epoch: default the log's own.

        Raises InvalidProducerEpoch, TransactionCoordinatorFenced.
        """
        base_offset = self.log_end_offset
        epoch = self.leader_epoch if leader_epoch is None else leader_epoch
        batch = self._marker(
            control_type, base_offset, now_ms, producer_id, producer_epoch, coordinator_epoch, epoch
        )
        segment = self._segment_for(base_offset, base_offset, now_ms, epoch, now_ms, len(batch.data))
        self.producers.check_marker(batch)
        self._write(
            segment, base_offset, now_ms, base_offset, now_ms, *self._placed(batch, base_offset, epoch)
        )
        self._note_producers([batch], segment)
        return Appended(base_offset, base_offset)

    def append_as_follower(self, data: Buffer, *, now_ms: int) -> Appended:
        """Append what the leader gave, in one piece: offsets and epochs stay. What a fetch has cut off at its
        end comes again with the next one.

        Raises CorruptRecord, UnexpectedAppendOffset, OffsetsOutOfOrder, RecordBatchTooLarge, InvalidTxnState,
        StorageFull; then nothing was written.
        """
        batches = self._copied(data)
        if not batches:
            return Appended(self.log_end_offset, self.log_end_offset - 1)
        for before, after in pairwise(batches):
            if after.header.base_offset <= before.header.last_offset:
                raise OffsetsOutOfOrder(
                    f"offset {after.header.base_offset} after {before.header.last_offset}"
                )
        first_offset, last_offset = batches[0].header.base_offset, batches[-1].header.last_offset
        if first_offset < self.log_end_offset:
            raise UnexpectedAppendOffset(first_offset, last_offset, self.log_end_offset)
        for header, _ in batches:
            if header.partition_leader_epoch >= 0:
                self.epochs.assign(header.partition_leader_epoch, header.base_offset)
        latest = max(
            batches, key=lambda batch: batch.header.max_timestamp
        ).header  # of equal ones the first, as in the original
        size = sum(len(batch.data) for batch in batches)
        segment = self._segment_for(
            first_offset, last_offset, latest.max_timestamp, NO_LEADER_EPOCH, now_ms, size
        )
        self.producers.check_replicated(self._ending_verifications(batches))
        self._write(
            segment, last_offset, latest.max_timestamp, latest.last_offset, now_ms, self._whole(data, size)
        )
        if any(batch.header.producer_id >= 0 for batch in batches):
            self._note_producers(batches, segment)
        return Appended(first_offset, last_offset)

    # --- what only a leader is asked

    def start_verification(
        self, producer_id: int, producer_epoch: int, sequence: int, now_ms: int
    ) -> int | None:
        """Give the guard for a transaction's first batch, before its coordinator is asked; None: one is open,
        none is needed."""
        if self.producers.has_open_transaction(producer_id):
            return None
        return self.verifications.start(producer_id, producer_epoch, sequence, now_ms)

    def forget_expired_producers(self, now_ms: int) -> None:
        """Drop the producers, and the verifications, that have been silent for too long. The original asks
        every 10 minutes."""
        self.producers.forget_expired(now_ms, self.settings.producer_id_expiration_ms)
        self.verifications.forget_expired(now_ms, self.settings.producer_id_expiration_ms)

    # --- inside: what the bytes are; the log of descriptors has its own (replication/replica_log.py)

    def last_epoch_of(self, data: Buffer) -> int | None:
        """The leader epoch of the last batch that a fetch brought; None: it brought none."""
        batches = self._copied(data)
        return batches[-1].header.partition_leader_epoch if batches else None

    def _copied(self, data: Buffer) -> list[RecordBatch]:
        """The whole batches that a leader gave. Raises CorruptRecord."""
        return list(records_only(data))

    def _whole(self, data: Buffer, size: int) -> Buffer:
        """What of them is written: all but the batch that was cut off."""
        return memoryview(data)[:size]

    def _placed(self, batch: RecordBatch, base_offset: int, epoch: int) -> tuple[Buffer, Buffer]:
        return placed(batch, base_offset, epoch)

    def _marker(
        self,
        control_type: ControlType,
        base_offset: int,
        now_ms: int,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        epoch: int,
    ) -> RecordBatch:
        batch = encode_control_batch(
            control_type,
            base_offset=base_offset,
            timestamp=now_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            partition_leader_epoch=epoch,
        )
        return (
            with_times(batch, batch.header.attributes | LOG_APPEND_TIME, now_ms)
            if self.settings.is_log_append_time
            else batch
        )

    # --- inside

    def _append_from_client(
        self,
        batch: RecordBatch,
        epoch: int,
        now_ms: int,
        is_from_coordinator: bool = False,
        verification_guard: int | None = None,
    ) -> Appended:
        """Write a validated batch at the log end, unless its producer has sent it before."""
        header, data = batch
        base_offset = self.log_end_offset
        last_offset = base_offset + header.last_offset_delta
        segment = self._segment_for(base_offset, last_offset, header.max_timestamp, epoch, now_ms, len(data))
        has_producer = header.producer_id >= 0
        if has_producer:
            earlier = None if is_from_coordinator else self.producers.duplicate_of(header)
            if earlier is not None:
                return Appended(earlier.first_offset, earlier.last_offset, is_duplicate=True)
            if (
                header.is_transactional
                and self.settings.verifies_transactions
                and not self.producers.has_open_transaction(header.producer_id)
            ):
                self.verifications.check_guard(header.producer_id, verification_guard)
            lowest = None if is_from_coordinator else self.verifications.lowest_sequence(header.producer_id)
            self.producers.check(header, has_sequence=not is_from_coordinator, lowest_sequence=lowest)
        place, rest = self._placed(batch, base_offset, epoch)
        self._write(segment, last_offset, header.max_timestamp, last_offset, now_ms, place, rest)
        if has_producer:
            self._note_producers([batch._replace(header=header._replace(base_offset=base_offset))], segment)
        return _new_tuple(Appended, (base_offset, last_offset, False))  # as `Appended(...)`, in half the time

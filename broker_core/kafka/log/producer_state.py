"""What the log knows of each idempotent producer: its epoch, its last five batches, its open transaction.

    last + 1                    taken
    one of the last five        answered as before, nothing is written
    anything else               OUT_OF_ORDER_SEQUENCE_NUMBER: a batch between them is missing

So a producer may send a batch again as often as it likes, and it stands in the log once. A file `<offset>.snapshot`,
written at each roll, holds the state before that offset: a restart reads it and replays only what follows.

    version 2   crc-32c 4   count 4   then for each producer:
    id 8  epoch 2  last sequence 4  last offset 8  offset delta 4  timestamp 8  coordinator epoch 4  open transaction's first offset 8

Source: Kafka 3.9 storage/internals/log/ProducerStateManager, ProducerAppendInfo, ProducerStateEntry.
"""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from crc32c import crc32c

from broker_core.kafka.log.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    LogError,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from broker_core.kafka.log.record_batch import NO_SEQUENCE, BatchHeader, ControlType, RecordBatch, add_sequence
from broker_core.kafka.log.transaction_index import AbortedTransaction

BATCHES_KEPT = 5
NO_OPEN_TRANSACTION = -1
SNAPSHOT_VERSION = 1
_SNAPSHOT_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")


class CorruptSnapshot(LogError):
    """A snapshot file that cannot be read; it is passed over for an older one."""


class BatchMark(NamedTuple):
    """One of a producer's last batches."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return add_sequence(self.last_sequence, -self.offset_delta)

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(slots=True)
class ProducerEntry:
    """One producer, as far as this partition has seen it."""

    producer_epoch: int
    batches: deque[BatchMark] = field(default_factory=lambda: deque(maxlen=BATCHES_KEPT))
    coordinator_epoch: int = -1
    transaction_start: int = NO_OPEN_TRANSACTION
    last_timestamp: int = -1

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE


class CompletedTransaction(NamedTuple):
    """A transaction that a marker has ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class ProducerState:
    """All producers of one partition."""

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}

    def check(self, header: BatchHeader) -> BatchMark | None:
        """Decide on a client's batch. Gives the earlier one that it repeats, or None: to be appended.

        Raises InvalidProducerEpoch, OutOfOrderSequence, InvalidTxnState. Reads the state, never writes it.
        """
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return None  # nothing known, or forgotten: any sequence will do
        epoch = header.producer_epoch
        if epoch == entry.producer_epoch:
            for mark in entry.batches:
                if mark.first_sequence == header.base_sequence and mark.last_sequence == header.last_sequence:
                    return mark
        elif epoch < entry.producer_epoch:
            raise InvalidProducerEpoch(f"epoch {epoch}; producer {header.producer_id} is at {entry.producer_epoch}")
        elif header.base_sequence != 0 and entry.last_sequence != NO_SEQUENCE:
            raise OutOfOrderSequence(f"a new epoch begins with sequence 0, not {header.base_sequence}")
        last = entry.last_sequence
        if epoch == entry.producer_epoch and last != NO_SEQUENCE and header.base_sequence != add_sequence(last, 1):
            raise OutOfOrderSequence(f"sequence {header.base_sequence} after {last}")
        if entry.transaction_start != NO_OPEN_TRANSACTION and not header.is_transactional:
            raise InvalidTxnState(f"a plain batch inside producer {header.producer_id}'s open transaction")
        return None

    def update(self, batch: RecordBatch) -> CompletedTransaction | None:
        """Note a batch that stands in the log. Gives the transaction that it ends, if it is a marker.

        Raises InvalidRecord for a control batch that is no marker.
        """
        header = batch.header
        if header.producer_id < 0:
            return None
        if header.is_control:
            return self._end_transaction(batch)
        entry = self.entries.get(header.producer_id)
        if entry is None:
            entry = self.entries[header.producer_id] = ProducerEntry(header.producer_epoch)
        elif entry.producer_epoch != header.producer_epoch:
            entry.producer_epoch = header.producer_epoch
            entry.batches.clear()
        delta = header.last_offset_delta
        entry.batches.append(BatchMark(header.last_sequence, header.base_offset + delta, delta, header.max_timestamp))
        entry.last_timestamp = header.max_timestamp
        if header.is_transactional and entry.transaction_start == NO_OPEN_TRANSACTION:
            entry.transaction_start = header.base_offset
        return None

    def first_unstable_offset(self) -> int | None:
        """Where the oldest open transaction begins; None: there is none."""
        starts = [entry.transaction_start for entry in self.entries.values() if entry.transaction_start != NO_OPEN_TRANSACTION]
        return min(starts, default=None)

    def aborted_transaction(self, completed: CompletedTransaction) -> AbortedTransaction:
        """Give the row that the index of aborted transactions gets when one has ended, and the state knows of it."""
        unstable = self.first_unstable_offset()
        last_stable = completed.last_offset + 1 if unstable is None else unstable
        return AbortedTransaction(completed.producer_id, completed.first_offset, completed.last_offset, last_stable)

    def is_last_batch(self, header: BatchHeader) -> bool:
        """Whether a batch is the last one that a producer wrote: compaction keeps it, emptied, for its sequence."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return False
        if entry.batches:
            return entry.batches[-1].last_offset == header.last_offset
        # Only a marker is known of it: the marker fences older epochs.
        return header.is_control and header.producer_epoch == entry.producer_epoch

    def forget_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Drop producers without an open transaction that have been silent for so long."""
        for producer_id, entry in list(self.entries.items()):
            is_idle = entry.transaction_start == NO_OPEN_TRANSACTION
            if is_idle and now_ms - entry.last_timestamp >= expiration_ms:
                del self.entries[producer_id]

    def snapshot(self) -> bytes:
        """Write the state as a `.snapshot` file has it: of the five batches only the last."""
        rows = [_COUNT.pack(len(self.entries))]
        for producer_id, entry in self.entries.items():
            mark = entry.batches[-1] if entry.batches else BatchMark(NO_SEQUENCE, -1, 0, entry.last_timestamp)
            rows.append(
                _ENTRY.pack(
                    producer_id,
                    entry.producer_epoch,
                    mark.last_sequence,
                    mark.last_offset,
                    mark.offset_delta,
                    entry.last_timestamp,
                    entry.coordinator_epoch,
                    entry.transaction_start,
                )
            )
        body = b"".join(rows)
        return _SNAPSHOT_HEAD.pack(SNAPSHOT_VERSION, crc32c(body)) + body

    @classmethod
    def from_snapshot(cls, content: bytes) -> ProducerState:
        """Read a `.snapshot` file. Raises CorruptSnapshot.

        >>> len(ProducerState().snapshot()), ProducerState.from_snapshot(ProducerState().snapshot()).entries
        (10, {})
        """
        state = cls()
        try:
            version, crc = _SNAPSHOT_HEAD.unpack_from(content)
            body = content[_SNAPSHOT_HEAD.size :]
            if version != SNAPSHOT_VERSION or crc != crc32c(body):
                raise CorruptSnapshot(f"version {version}, crc {crc}")
            (count,) = _COUNT.unpack_from(body)
            rows = list(_ENTRY.iter_unpack(body[_COUNT.size :]))
        except struct.error as error:
            raise CorruptSnapshot(str(error)) from None
        if count != len(rows):
            raise CorruptSnapshot(f"{count} producers in {len(rows)} rows")
        for producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, start in rows:
            entry = ProducerEntry(epoch, coordinator_epoch=coordinator_epoch, transaction_start=start)
            entry.last_timestamp = timestamp
            if sequence != NO_SEQUENCE or offset >= 0:
                entry.batches.append(BatchMark(sequence, offset, delta, timestamp))
            state.entries[producer_id] = entry
        return state

    def check_marker(self, batch: RecordBatch) -> None:
        """Decide on a marker. Raises InvalidProducerEpoch, TransactionCoordinatorFenced. Writes nothing."""
        header = batch.header
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        _, coordinator_epoch = batch.control_type()
        if header.producer_epoch < entry.producer_epoch:
            raise InvalidProducerEpoch(f"a marker of epoch {header.producer_epoch} after {entry.producer_epoch}")
        if coordinator_epoch < entry.coordinator_epoch:
            raise TransactionCoordinatorFenced(f"coordinator epoch {coordinator_epoch} after {entry.coordinator_epoch}")

    def _end_transaction(self, batch: RecordBatch) -> CompletedTransaction | None:
        header = batch.header
        if not header.record_count:
            return None  # a marker that compaction has emptied; it stays for the producer's sake
        control_type, coordinator_epoch = batch.control_type()
        entry = self.entries.get(header.producer_id)
        if entry is None:
            entry = self.entries[header.producer_id] = ProducerEntry(header.producer_epoch)
        elif header.producer_epoch > entry.producer_epoch:
            entry.producer_epoch = header.producer_epoch
            entry.batches.clear()
        start, entry.transaction_start = entry.transaction_start, NO_OPEN_TRANSACTION
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp = header.max_timestamp
        if start == NO_OPEN_TRANSACTION:
            return None
        is_aborted = control_type is ControlType.ABORT
        return CompletedTransaction(header.producer_id, start, header.last_offset, is_aborted)

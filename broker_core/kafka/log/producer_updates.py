"""What one append changes in the producers' state: gathered batch by batch, then noted at once.

    state: producer 7, epoch 0, batches [a b]      append: marker of epoch 1, marker of epoch 0, batch c
    gathered: epoch 0, batches [c]                 noted:  epoch 0, batches [a b c]

So an append changes all of the state or nothing of it, and an epoch that comes and goes within one append
forgets no batches. A segment that is read again counts as one append.

Source: Kafka 3.9 storage/internals/log/ProducerAppendInfo, ProducerStateManager.update;
UnifiedLog.loadProducersFromRecords.
Vectors: kafka/replication/producer_state.json.
"""

from __future__ import annotations

from broker_core.kafka.log.producer_state import (
    NO_OPEN_TRANSACTION,
    BatchMark,
    CompletedTransaction,
    ProducerEntry,
    ProducerState,
)
from broker_core.kafka.log.record_batch import ControlType, RecordBatch


class ProducerUpdates:
    """The changes of one append to one partition's producers."""

    def __init__(self, state: ProducerState) -> None:
        self._state = state
        self._gathered: dict[int, ProducerEntry] = {}
        self._begun: list[tuple[int, int]] = []  # (first offset, producer)
        self._completed: list[CompletedTransaction] = []

    def add(self, batch: RecordBatch) -> None:
        """Gather a batch from the log. Raises InvalidRecord for a control batch that is not a marker; then it
        changed nothing."""
        header = batch.header
        if header.producer_id < 0 or (header.is_control and not header.record_count):
            return  # a marker that compaction has emptied stays for its producer's sake
        if header.is_control:
            self._end_transaction(batch)
            return
        entry = self._entry(batch)
        delta = header.last_offset_delta
        entry.batches.append(
            BatchMark(header.last_sequence, header.base_offset + delta, delta, header.max_timestamp)
        )
        entry.last_timestamp = header.max_timestamp
        if header.is_transactional and entry.transaction_start == NO_OPEN_TRANSACTION:
            entry.transaction_start = header.base_offset
            self._begun.append((header.base_offset, header.producer_id))

    def forget(self, producer_id: int) -> None:
        """Drop all that is known of a producer, gathered or noted."""
        self._gathered.pop(producer_id, None)
        self._begun = [begun for begun in self._begun if begun[1] != producer_id]
        self._completed = [completed for completed in self._completed if completed.producer_id != producer_id]
        self._state.forget(producer_id)

    def note(self) -> list[CompletedTransaction]:
        """Change the state. Gives the transactions that have ended, for `ProducerState.complete`."""
        for producer_id, gathered in self._gathered.items():
            entry = self._state.entries.get(producer_id)
            if entry is not None and entry.producer_epoch == gathered.producer_epoch:
                entry.batches.extend(gathered.batches)
                gathered.batches = entry.batches
            self._state.entries[producer_id] = gathered
        self._state.begin(self._begun)
        return self._completed

    def _entry(self, batch: RecordBatch) -> ProducerEntry:
        """The producer as this append has left it so far, at the batch's epoch; its earlier batches are put
        back in the end."""
        header = batch.header
        entry = self._gathered.get(header.producer_id)
        if entry is None:
            known = self._state.entries.get(header.producer_id)
            entry = ProducerEntry(header.producer_epoch)
            if known is not None:
                entry.coordinator_epoch, entry.last_timestamp = known.coordinator_epoch, known.last_timestamp
                entry.transaction_start = known.transaction_start
            self._gathered[header.producer_id] = entry
        elif entry.producer_epoch != header.producer_epoch:
            entry.producer_epoch = header.producer_epoch
            entry.batches.clear()
        return entry

    def _end_transaction(self, batch: RecordBatch) -> None:
        control_type, coordinator_epoch = batch.control_type()
        entry = self._entry(batch)
        start, entry.transaction_start = entry.transaction_start, NO_OPEN_TRANSACTION
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp = batch.header.max_timestamp
        if start != NO_OPEN_TRANSACTION:
            is_aborted = control_type is ControlType.ABORT
            self._completed.append(
                CompletedTransaction(batch.header.producer_id, start, batch.header.last_offset, is_aborted)
            )

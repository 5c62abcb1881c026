"""Which transactions the cleaner meets on its way through a log, and how each ended.

Records of an aborted transaction go at once. A marker may go when nothing of its transaction is left, and so
not in the round that takes the records: by then a reader may be between the two.

Source: Kafka 3.9 core LogCleaner.CleanedTransactionMetadata.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.kafka.log.record_batch import ControlType, RecordBatch
from broker_core.kafka.log.transaction_index import AbortedTransaction


class CleanedTransactions:
    """aborted: the aborted transactions of the part of the log that is walked over, in any order."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._waiting = sorted(aborted, key=lambda transaction: transaction.first_offset, reverse=True)
        self._open_aborted: dict[int, AbortedTransaction] = {}  # producer id -> the one that is under way
        self._has_records: set[int] = set()  # producers of open transactions of which a batch was met
        self._kept: list[AbortedTransaction] = []

    def is_aborted(self, batch: RecordBatch) -> bool:
        """Note a batch of records, and say whether its transaction was aborted."""
        header = batch.header
        if not header.is_transactional:
            return False
        self._begin_up_to(header.last_offset)
        self._has_records.add(header.producer_id)
        return header.producer_id in self._open_aborted

    def on_marker(self, batch: RecordBatch) -> bool:
        """Note a marker, and say whether its transaction has no records left."""
        header = batch.header
        self._begin_up_to(header.last_offset)
        has_records = header.producer_id in self._has_records
        self._has_records.discard(header.producer_id)
        if not header.record_count:
            return True  # emptied in an earlier round
        control_type, _ = batch.control_type()
        if control_type is ControlType.ABORT:
            aborted = self._open_aborted.pop(header.producer_id, None)
            if aborted is not None and has_records:
                self._kept.append(aborted)
        return not has_records

    def take_kept(self) -> list[AbortedTransaction]:
        """Give the aborted transactions whose markers stay with a meaning: they go into the new segment's
        index."""
        kept, self._kept = self._kept, []
        return kept

    def _begin_up_to(self, offset: int) -> None:
        while self._waiting and self._waiting[-1].first_offset <= offset:
            begun = self._waiting.pop()
            self._open_aborted[begun.producer_id] = begun

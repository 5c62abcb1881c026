"""What idempotence remembers on the producer's side: its id and epoch, and of each partition the next
sequence and the batches without a word.

    drained    a batch takes (id, epoch, next sequence) and joins those in flight
    acked      the last acked sequence rises
    expired    nobody knows whether the broker has it: the partition is unresolved, nothing new is numbered there
    resolved   a later batch was acked, so the broker has it too, or nothing is in flight and the epoch is raised

A raised epoch makes the broker take sequence 0 again (before 2.5: a new producer id). Until then what was in
flight was either written or not, and the producer cannot tell which: the record of an expired batch may be in
the log or lost, and an application that sends it again may write it twice. That is the loss that the
article's 4.3.1 means.

Source: Kafka 3.9 clients TransactionManager, TxnPartitionMap, TxnPartitionEntry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, add_sequence

EPOCH_MAX = 2**15 - 1


@dataclass(slots=True)
class PartitionSequences:
    """One partition's numbers. in_flight: batches that were numbered and are not decided, by their first
    sequence, as `Batch.number`."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    next_sequence: int = 0
    last_acked: int = NO_SEQUENCE
    last_acked_offset: int = -1
    in_flight: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Sequences:
    """unresolved: partition -> the sequence after the batch that expired. rewrite: partitions whose batches
    get new numbers with the next epoch.

    is_bump_required: an error asks for a new epoch.
    """

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    partitions: dict[TopicPartition, PartitionSequences] = field(default_factory=dict)
    unresolved: dict[TopicPartition, int] = field(default_factory=dict)
    rewrite: dict[TopicPartition, None] = field(default_factory=dict)
    is_bump_required: bool = False

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID

    def of(self, partition: TopicPartition) -> PartitionSequences:
        entry = self.partitions.get(partition)
        if entry is None:
            entry = self.partitions[partition] = PartitionSequences()
        return entry

    def may_drain(self, batch: Batch, batches: Mapping[int, Batch]) -> bool:
        """Whether the first waiting batch of a partition may go now.

        A new one waits while batches of an older epoch are in flight or the partition is unresolved; one that
        was sent before waits until it is the first of those in flight.
        """
        if not self.has_producer_id:
            return False
        entry = self.of(batch.topic_partition)
        if not batch.has_sequence:
            is_stale = (entry.producer_id, entry.producer_epoch) != (self.producer_id, self.producer_epoch)
            is_in_doubt = self.is_bump_required or batch.topic_partition in self.unresolved
            return not is_in_doubt and not (is_stale and entry.in_flight)
        return (
            not entry.in_flight
            or entry.in_flight[0] == batch.number
            or batches[entry.in_flight[0]].base_sequence == batch.base_sequence
        )

    def give(self, batch: Batch, is_transactional: bool) -> None:
        """Number a batch that is drained for the first time."""
        entry = self.of(batch.topic_partition)
        if (entry.producer_id, entry.producer_epoch) != (
            self.producer_id,
            self.producer_epoch,
        ) and not entry.in_flight:
            entry.producer_id, entry.producer_epoch = self.producer_id, self.producer_epoch
            entry.next_sequence, entry.last_acked = 0, NO_SEQUENCE
        batch.number_from(self.producer_id, self.producer_epoch, entry.next_sequence, is_transactional)
        entry.next_sequence = add_sequence(entry.next_sequence, len(batch.values))
        entry.in_flight.append(batch.number)

    def acked(self, batch: Batch, base_offset: int) -> None:
        """The broker has it. base_offset: -1 where the broker no longer knows."""
        entry = self.of(batch.topic_partition)
        entry.last_acked = max(entry.last_acked, batch.last_sequence)
        if base_offset >= 0:
            entry.last_acked_offset = max(entry.last_acked_offset, base_offset + len(batch.values) - 1)
        self.drop(batch)

    def drop(self, batch: Batch) -> None:
        """It is decided: it is no longer in flight."""
        entry = self.partitions.get(batch.topic_partition)
        if entry is not None and batch.number in entry.in_flight:
            entry.in_flight.remove(batch.number)

    def is_next(self, partition: TopicPartition, sequence: int) -> bool:
        """Whether this sequence follows the last acked one."""
        return sequence - self.of(partition).last_acked == 1

    def mark_unresolved(self, batch: Batch) -> None:
        """A batch that may have been written has expired."""
        following = batch.last_sequence + 1
        self.unresolved[batch.topic_partition] = max(
            self.unresolved.get(batch.topic_partition, following), following
        )

    def ask_bump(self, partition: TopicPartition) -> None:
        """The next epoch is needed, and gives what is in flight to this partition new numbers."""
        self.is_bump_required = True
        self.rewrite[partition] = None

    def settled(self) -> list[TopicPartition]:
        """Unresolved partitions with nothing in flight, whose last sequence was never acked: they are to be
        given up. Others are resolved here."""
        given_up: list[TopicPartition] = []
        for partition in list(self.unresolved):
            entry = self.of(partition)
            if not entry.in_flight:
                del self.unresolved[partition]
                if not self.is_next(partition, entry.next_sequence):
                    given_up.append(partition)
        return given_up

    def bump(self, batches: Mapping[int, Batch]) -> None:
        """Raise the epoch, as an idempotent producer may on its own; after 32767 the id is given up. Batches
        of `rewrite` begin at 0 again."""
        if self.producer_epoch == EPOCH_MAX:
            self.producer_id, self.producer_epoch = NO_PRODUCER_ID, NO_PRODUCER_EPOCH
        else:
            self.producer_epoch += 1
        for partition in self.rewrite:
            self.begin_again(partition, batches)
            self.unresolved.pop(partition, None)
        self.rewrite.clear()
        self.is_bump_required = False

    def begin_again(self, partition: TopicPartition, batches: Mapping[int, Batch]) -> None:
        """Number what is in flight to a partition from 0, under the id and epoch of now."""
        entry = self.of(partition)
        sequence = 0
        for number in entry.in_flight:
            batch = batches[number]
            batch.number_from(self.producer_id, self.producer_epoch, sequence, batch.is_transactional)
            batch.is_reset = True
            sequence = add_sequence(sequence, len(batch.values))
        entry.producer_id, entry.producer_epoch = self.producer_id, self.producer_epoch
        entry.next_sequence, entry.last_acked = sequence, NO_SEQUENCE

    def close_gap(self, failed: Batch, batches: Mapping[int, Batch]) -> None:
        """The broker has refused a transactional batch for good: what follows it takes its numbers."""
        entry = self.partitions.get(failed.topic_partition)
        if entry is None:
            return
        entry.next_sequence -= len(failed.values)
        for number in entry.in_flight:
            batch = batches[number]
            if batch.base_sequence >= failed.base_sequence:
                sequence = batch.base_sequence - len(failed.values)
                batch.number_from(batch.producer_id, batch.producer_epoch, sequence, batch.is_transactional)
                batch.is_reset = True

    def forget(self) -> None:
        """A new id or an epoch from the coordinator: every partition begins at 0."""
        self.partitions.clear()
        self.unresolved.clear()
        self.rewrite.clear()
        self.is_bump_required = False

    def adopt(self, producer_id: int, producer_epoch: int) -> None:
        """Take what InitProducerId gave."""
        self.producer_id, self.producer_epoch = producer_id, producer_epoch

    def may_retry(
        self,
        error: ErrorCode,
        batch: Batch,
        log_start_offset: int,
        batches: Mapping[int, Batch],
        *,
        is_transactional: bool,
    ) -> bool | None:
        """What to do about an error of sequences; None: it is not one. May ask for a new epoch.

        UNKNOWN_PRODUCER_ID: the broker forgot. OUT_OF_ORDER_SEQUENCE_NUMBER: a batch before it is missing; if
        that one is still on its way, it will come. Else there is a gap, and only a new epoch gets past it.
        """
        partition = batch.topic_partition
        match error:
            case ErrorCode.UNKNOWN_PRODUCER_ID:
                if log_start_offset == -1 or batch.is_reset:
                    return True
                if not is_transactional:
                    self.ask_bump(partition)
                    return True
                if self.of(partition).last_acked_offset < log_start_offset:
                    self.begin_again(partition, batches)  # retention took the records, not a fault
                    return True
                return False
            case ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                is_unresolved = partition in self.unresolved
                if not is_unresolved and (batch.is_reset or not self.is_next(partition, batch.base_sequence)):
                    return True
                if is_transactional:
                    return False
                if not is_unresolved or self.unresolved[partition] == batch.base_sequence:
                    self.ask_bump(partition)
                return True
        return None

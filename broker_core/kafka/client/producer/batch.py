"""A batch of records for one partition, from the first record to the last word on it.

    open ─► closed ─► on its way ─► acked
               ▲          │ lost answer, retriable error
               └──────────┴─► failed: time is over, retries exhausted, fatal error

Its producer id, epoch and first sequence are given when it is first drained and stay for every retry: that is
what makes a retry the same batch. Only a bump of the epoch gives it new ones.
Source: Kafka 3.9 clients producer.internals.ProducerBatch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.log.record import size_at
from broker_core.kafka.log.record_batch import (
    HEADER_SIZE,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    add_sequence,
)


@dataclass(slots=True)
class Batch:
    """number: of the producer's batches, from 1. values: a record each. size: bytes, header included.
    reserved: bytes of the buffer.

    attempts: how often it came back. retry_at_us: not sent again before. sent_epoch: leader epoch under which
    it was sent last; -1: unknown.
    is_drained: it has been sent, or is waiting to be sent again. is_reset: its sequence was given again after
    a bump of the epoch.
    """

    number: int
    topic_partition: TopicPartition
    created_us: int
    reserved: int
    values: list[int] = field(default_factory=list)
    size: int = HEADER_SIZE
    is_closed: bool = False
    attempts: int = 0
    retry_at_us: int = 0
    sent_epoch: int = -1
    is_drained: bool = False
    is_transactional: bool = False
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    is_reset: bool = False

    @property
    def has_sequence(self) -> bool:
        return self.base_sequence != NO_SEQUENCE

    @property
    def last_sequence(self) -> int:
        return add_sequence(self.base_sequence, len(self.values) - 1) if self.has_sequence else NO_SEQUENCE

    def has_room(self, size: int, batch_size: int) -> bool:
        """Whether a record of so many bytes goes in. The first one always does: a batch of one may be larger
        than batch.size."""
        return not self.is_closed and (not self.values or self.size + size <= max(batch_size, self.reserved))

    def append(self, value: int, size: int) -> None:
        """size: of the record as the first of a batch. From the 65th on its number takes a byte more."""
        place = len(self.values)
        self.values.append(value)
        self.size += size if place < 64 else size_at(size, place)

    def is_full(self, batch_size: int) -> bool:
        """Whether it need not wait for more records."""
        return self.is_closed or self.size >= batch_size

    def number_from(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None:
        """Give it what the broker knows it by."""
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        self.is_transactional = is_transactional

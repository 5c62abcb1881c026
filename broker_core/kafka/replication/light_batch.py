"""A batch that is its header, and what its caller put in where another one has bytes. The light log holds
these.

Source: Kafka 3.9 clients DefaultRecordBatch, of which this keeps the header.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from broker_core.kafka.log.record_batch import (
    CONTROL,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    BatchHeader,
    ControlType,
    RecordBatch,
)

MARKER_BYTES = 78
_new_tuple = tuple.__new__  # a named tuple in half the time


@dataclass(slots=True)
class Payload:
    """In place of a batch's bytes: what the caller put in, a value a record, and how many bytes there would
    be. Nobody changes it.

    Of a marker: the kind, and the coordinator's epoch. Not frozen: that would take three times as long to
    make.
    """

    values: tuple[Any, ...]
    size_in_bytes: int

    def __len__(self) -> int:
        return self.size_in_bytes


class LightBatch(RecordBatch):
    """A batch that is its header, and a `Payload` where another one has bytes. Replicas share it: nobody
    changes it."""

    __slots__ = ()
    if not TYPE_CHECKING:
        # What a checkpoint reads a batch back as (`broker_core/plain.py`).
        header: BatchHeader
        data: Payload

    @property
    def values(self) -> tuple[Any, ...]:
        payload: Any = self.data
        return tuple(payload.values)

    def control_type(self) -> tuple[ControlType, int]:
        control_type, coordinator_epoch = self.values
        return ControlType(control_type), coordinator_epoch

    def placed_at(self, base_offset: int, epoch: int) -> LightBatch:
        """As the leader writes it: with its offset and epoch."""
        header, payload = self
        placed: LightBatch = _new_tuple(
            LightBatch, (_new_tuple(BatchHeader, (base_offset, header[1], epoch, *header[3:])), payload)
        )
        return placed


def light_batch(
    values: Sequence[Any],
    *,
    timestamp: int,
    size_in_bytes: int = 0,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_LEADER_EPOCH,
) -> LightBatch:
    """Make a batch of one value a record. size_in_bytes: of the batch, should sizes matter; default: its
    header's.

    >>> light_batch(["a", "b"], timestamp=5).header.last_offset
    1
    """
    attributes = TRANSACTIONAL if is_transactional else 0
    return _batch(
        Payload(tuple(values), size_in_bytes or HEADER_SIZE),
        len(values),
        attributes,
        timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        base_offset,
        partition_leader_epoch,
    )


def light_marker(
    control_type: ControlType,
    base_offset: int,
    now_ms: int,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    epoch: int,
) -> LightBatch:
    """Make the control batch that ends a transaction."""
    payload = Payload((control_type, coordinator_epoch), MARKER_BYTES)
    return _batch(
        payload,
        1,
        CONTROL | TRANSACTIONAL,
        now_ms,
        producer_id,
        producer_epoch,
        NO_SEQUENCE,
        base_offset,
        epoch,
    )


def _batch(
    payload: Payload,
    count: int,
    attributes: int,
    timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    base_offset: int,
    epoch: int,
) -> LightBatch:
    fields = (
        base_offset,
        payload.size_in_bytes - LOG_OVERHEAD,
        epoch,
        MAGIC,
        0,
        attributes,
        count - 1,
        timestamp,
        timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    batch: LightBatch = _new_tuple(LightBatch, (_new_tuple(BatchHeader, fields), payload))
    return batch

"""What a broker asks of a batch that a client sends, before it gives it an offset.

Source: Kafka 3.9 storage/internals/log/LogValidator, UnifiedLog.analyzeAndValidateRecords.
"""

from __future__ import annotations

from broker_core.kafka.log.errors import CorruptRecord, InvalidRecord, InvalidTimestamp, RecordTooLarge
from broker_core.kafka.log.record_batch import (
    CODEC_MASK,
    CONTROL,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    RecordBatch,
    seal,
)
from broker_core.kafka.log.settings import LogSettings


def validated(batch: RecordBatch, settings: LogSettings, now_ms: int) -> RecordBatch:
    """Give the batch as it is to be stored: itself, or with the broker's time where the topic says so.

    Asks in this order: size, CRC, count and offsets, no control records, a sequence for a producer; then keys and times.
    Single records are read only where a rule is about them: keys in a compacted topic, limits on times.
    Raises RecordTooLarge, CorruptRecord, InvalidRecord, InvalidTimestamp, and what reading the records raises.
    """
    header, data = batch
    if len(data) > settings.message_bytes_max:
        raise RecordTooLarge(f"{len(data)} bytes; the topic takes {settings.message_bytes_max}")
    batch.ensure_valid()
    offsets = header.last_offset_delta + 1
    if header.record_count <= 0 or offsets != header.record_count:
        raise InvalidRecord(f"{header.record_count} records over {offsets} offsets")
    attributes = header.attributes
    if attributes & CONTROL:
        raise InvalidRecord("clients may not write control records")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise InvalidRecord(f"no sequence from producer {header.producer_id}")
    if attributes & LOG_APPEND_TIME and not settings.is_log_append_time:
        raise InvalidTimestamp("only the broker sets the append time")
    if settings.asks_for_records:
        _look_at_records(batch, settings, now_ms)
    return with_append_time(batch, now_ms) if settings.is_log_append_time else batch


def with_append_time(batch: RecordBatch, now_ms: int) -> RecordBatch:
    """Give the batch the broker's time. The records keep their bytes; the CRC is worked out anew."""
    header = batch.header
    if len(batch.data) < HEADER_SIZE:
        raise CorruptRecord("a batch shorter than its header")
    data = seal(
        bytes(memoryview(batch.data)[HEADER_SIZE:]),
        header.base_offset,
        header.partition_leader_epoch,
        header.attributes | LOG_APPEND_TIME,
        header.last_offset_delta,
        header.base_timestamp,
        now_ms,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.record_count,
    )
    return RecordBatch.of(data)


def ensure_one_batch_if_compressed(batches: list[RecordBatch]) -> None:
    """Raise InvalidRecord for a compressed batch that does not come alone."""
    if len(batches) > 1 and any(batch.header.attributes & CODEC_MASK for batch in batches):
        raise InvalidRecord("a compressed batch must come alone")


def _look_at_records(batch: RecordBatch, settings: LogSettings, now_ms: int) -> None:
    earliest = now_ms - settings.message_timestamp_before_max_ms
    latest = now_ms + settings.message_timestamp_after_max_ms
    for record in batch.records():
        if settings.cleanup_compact and record.key is None:
            raise InvalidRecord("a record without a key in a compacted topic")
        if not settings.is_log_append_time and record.timestamp >= 0 and not earliest <= record.timestamp <= latest:
            raise InvalidTimestamp(f"time {record.timestamp} is outside {earliest} to {latest}")

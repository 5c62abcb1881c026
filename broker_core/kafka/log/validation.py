"""What a broker asks of a batch that a client sends, before it gives it an offset.

    one batch, base offset 0 ─► size, CRC, codec ─► count, no control records ─► each record: readable, numbered, key, time

What passes can be read: a look-up by time and the cleaner open every batch again. A follower asks less, for
its leader has asked all this (`PartitionLog.append_as_follower`).

Source: Kafka 3.9 storage/internals/log/LogValidator, UnifiedLog.analyzeAndValidateRecords. The compiled loop:
record_kernels.py, imported when the first batch comes.
"""

from __future__ import annotations

from broker_core.kafka.log.codecs import Codec, decompress
from broker_core.kafka.log.errors import CorruptRecord, InvalidRecord, InvalidTimestamp, RecordTooLarge
from broker_core.kafka.log.record import NO_TIMESTAMP
from broker_core.kafka.log.record_batch import (
    CODEC_MASK,
    CONTROL,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    RecordBatch,
    seal,
)
from broker_core.kafka.log.settings import LONG_MAX, LogSettings


def validated(
    batches: list[RecordBatch], settings: LogSettings, now_ms: int, needs_sequence: bool = True
) -> RecordBatch:
    """Give the one batch of a request as it is to be stored: itself, or with other times in its header.

    needs_sequence: False for a coordinator's batch, which may name a producer without a sequence.
    The broker's time where the topic says so; else the largest time of its records, whatever its header
    claims.
    Raises RecordTooLarge, CorruptRecord, InvalidRecord, InvalidTimestamp, UnknownCodec, CodecFailed.
    """
    for batch in batches:
        header, data = batch
        attributes = header.attributes
        if header.base_offset:
            raise InvalidRecord(f"a client's batch has base offset 0, not {header.base_offset}")
        if len(data) > settings.message_bytes_max:
            raise RecordTooLarge(f"{len(data)} bytes; the topic takes {settings.message_bytes_max}")
        batch.ensure_valid()
        if attributes & CODEC_MASK:
            Codec.of(attributes & CODEC_MASK)
    if len(batches) > 1:
        raise InvalidRecord(f"{len(batches)} batches at once; a client sends one")
    offsets = header.last_offset_delta + 1
    if offsets <= 0 or offsets != header.record_count:
        raise InvalidRecord(f"{header.record_count} records over {offsets} offsets")
    if attributes & CONTROL:
        raise InvalidRecord("clients may not write control records")
    if needs_sequence and header.producer_id >= 0 and header.base_sequence < 0:
        raise InvalidRecord(f"no sequence from producer {header.producer_id}")
    largest = _largest_timestamp(batch, settings, now_ms)
    if settings.is_log_append_time:
        return with_times(batch, attributes | LOG_APPEND_TIME, now_ms)
    if attributes & LOG_APPEND_TIME or largest != header.max_timestamp:
        return with_times(batch, attributes & ~LOG_APPEND_TIME, largest)
    return batch


def with_times(batch: RecordBatch, attributes: int, max_timestamp: int) -> RecordBatch:
    """Give the batch other attributes and another largest time. The records keep their bytes; the CRC is
    computed again."""
    header = batch.header
    if len(batch.data) < HEADER_SIZE:
        raise CorruptRecord("a batch shorter than its header")
    data = seal(
        bytes(memoryview(batch.data)[HEADER_SIZE:]),
        header.base_offset,
        header.partition_leader_epoch,
        attributes,
        header.last_offset_delta,
        header.base_timestamp,
        max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.record_count,
    )
    return RecordBatch.of(data)


def _largest_timestamp(batch: RecordBatch, settings: LogSettings, now_ms: int) -> int:
    """Look at each record, and give the largest time; -1: none has one."""
    import numpy as np

    from broker_core.kafka.log.record_kernels import survey

    header, data = batch
    records, position = data, HEADER_SIZE
    if header.attributes & CODEC_MASK:
        out = decompress(header.codec, memoryview(data)[HEADER_SIZE:])
        if out.failure is not None:
            return _one_by_one(batch, settings, now_ms)
        records, position = out.data, 0
    is_sound, smallest, largest, has_null_key = survey(
        np.frombuffer(records, np.uint8), position, header.record_count
    )
    if not is_sound or header.attributes & LOG_APPEND_TIME or (has_null_key and settings.cleanup_compact):
        return _one_by_one(batch, settings, now_ms)
    base = header.base_timestamp
    if not settings.is_log_append_time:
        earliest, latest = _times_taken(settings, now_ms)
        if base + smallest < earliest or base + largest > latest:
            return _one_by_one(batch, settings, now_ms)
    return max(NO_TIMESTAMP, base + int(largest))


def _one_by_one(batch: RecordBatch, settings: LogSettings, now_ms: int) -> int:
    """As `_largest_timestamp`, for a batch in which something is odd: only each record can tell what."""
    header = batch.header
    earliest, latest = _times_taken(settings, now_ms)
    largest = NO_TIMESTAMP
    without_key = wrong_time = ""
    for index, record in enumerate(batch.records()):
        time = record.timestamp
        if record.offset != header.base_offset + index:
            raise InvalidRecord(
                f"record {index} has offset {record.offset - header.base_offset} in its batch"
            )
        if settings.cleanup_compact and record.key is None:
            without_key = "a record without a key in a compacted topic"
        elif not settings.is_log_append_time and time != NO_TIMESTAMP:
            if not earliest <= time <= latest:
                wrong_time = f"time {time} is outside {earliest} to {latest}"
        elif header.is_log_append_time:
            wrong_time = "only the broker sets the append time"
        largest = max(largest, time)
    if wrong_time:  # of several reasons the original names this one
        raise InvalidTimestamp(wrong_time)
    if without_key:
        raise InvalidRecord(without_key)
    return largest


def _times_taken(settings: LogSettings, now_ms: int) -> tuple[int, int]:
    """The earliest and the latest time that the topic takes, within the 64 bits of a header."""
    return max(now_ms - settings.message_timestamp_before_max_ms, -LONG_MAX), min(
        now_ms + settings.message_timestamp_after_max_ms, LONG_MAX
    )

"""Rewriting one batch without some of its records: the step in which the cleaner changes bytes.

A batch keeps its base and last offset, its producer's fields and its epoch, so that offsets, sequences and fencing go on
as if nothing had gone. Where nothing goes and no horizon is set, the batch stays byte for byte.

    horizon    When a tombstone (or the marker of a transaction without records) is seen for the first time, the batch is
               told how long it stays: the time goes where the base timestamp was, and attribute bit 6 says so.
    emptied    A batch that loses all its records goes, unless it must stay for its producer's sake: then as a header.

Source: Kafka clients 3.9.2, MemoryRecords.filterTo, buildRetainedRecordsInto, DefaultRecordBatch.writeEmptyHeader.
Vectors: kafka/records/compaction_filter.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import compress as selected

from broker_core.kafka.log.codecs import compress, decompress
from broker_core.kafka.log.errors import CodecFailed
from broker_core.kafka.log.record import NO_TIMESTAMP, RecordSpan, record_spans
from broker_core.kafka.log.record_batch import (
    CODEC_MASK,
    DELETE_HORIZON,
    HEADER_SIZE,
    RecordBatch,
    assemble,
)
from broker_core.kafka.log.varint import encode_varint


class BatchRetention(Enum):
    """What becomes of a batch, before its records are looked at."""

    DELETE = "DELETE"  # goes whole
    RETAIN_EMPTY = "RETAIN_EMPTY"  # stays, if need be as a header
    DELETE_EMPTY = "DELETE_EMPTY"  # goes if no record stays


Keep = Callable[[Sequence[RecordSpan]], Sequence[bool]]


def filter_batch(
    batch: RecordBatch,
    retention: BatchRetention,
    keep: Keep,
    *,
    is_marker_of_empty_transaction: bool = False,
    delete_horizon_ms: int,
) -> tuple[RecordBatch | None, int]:
    """Give the batch as it stays, None if it goes, and the largest offset that is left in it (-1: none).

    keep: says for each record whether it stays. delete_horizon_ms: what the batch is given if it needs a horizon and has
    none. Raises CodecFailed, InvalidRecord for a batch that cannot be read.
    """
    if retention is BatchRetention.DELETE:
        return None, -1
    header = batch.header
    data = plain_records(batch)
    spans = record_spans(data, header.record_count)
    kept = list(selected(spans, keep(spans)))
    if not kept:
        return (_emptied(batch), header.last_offset) if retention is BatchRetention.RETAIN_EMPTY else (None, -1)
    has_tombstones = not all(span[6] for span in kept)
    horizon = header.delete_horizon_ms
    needs_horizon = horizon is None and (has_tombstones or is_marker_of_empty_transaction)
    if len(kept) == len(spans) and not needs_horizon:
        return batch, header.last_offset
    if needs_horizon:
        horizon = delete_horizon_ms
    return _rewritten(batch, data, kept, horizon), header.base_offset + kept[-1][4]


def plain_records(batch: RecordBatch) -> bytes:
    """Give a batch's records uncompressed. Raises CodecFailed."""
    out = decompress(batch.header.codec, memoryview(batch.data)[HEADER_SIZE:])
    if out.failure is not None:
        raise CodecFailed(out.failure)
    return bytes(out.data)


def _rewritten(batch: RecordBatch, data: bytes, kept: list[RecordSpan], horizon: int | None) -> RecordBatch:
    header = batch.header
    stored_base = header.base_timestamp
    if header.is_log_append_time:
        # Every record reads as the batch's largest time, and is written again as what it reads as.
        deltas = [header.max_timestamp - stored_base] * len(kept)
        max_timestamp = header.max_timestamp
    else:
        deltas = [span[3] for span in kept]
        max_timestamp = stored_base + max(deltas)
    base = stored_base + deltas[0] if horizon is None else horizon
    shift = stored_base - base
    if shift == 0 and not header.is_log_append_time:
        records = b"".join([data[span[0] : span[2]] for span in kept])
    else:
        parts: list[bytes] = []
        for (_, rest, end, *_), delta in zip(kept, deltas, strict=True):
            body = b"\x00%b%b" % (encode_varint(delta + shift), data[rest:end])
            parts += (encode_varint(len(body)), body)
        records = b"".join(parts)
    return assemble(
        compress(header.codec, records),
        header.base_offset,
        header.partition_leader_epoch,
        header.attributes | DELETE_HORIZON if horizon is not None else header.attributes,
        header.last_offset_delta,
        base,
        max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        len(kept),
    )


def _emptied(batch: RecordBatch) -> RecordBatch:
    header = batch.header
    return assemble(
        b"",
        header.base_offset,
        header.partition_leader_epoch,
        header.attributes & ~(CODEC_MASK | DELETE_HORIZON),
        header.last_offset_delta,
        NO_TIMESTAMP,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        0,
    )

"""Rewriting one batch without some of its records: the step in which the cleaner changes bytes.

A batch keeps its base and last offset, its producer's fields and its epoch, so that offsets, sequences and
fencing go on as if nothing had gone. Where no record goes and no horizon is set, the batch stays byte for
byte.

    horizon    When a tombstone (or the marker of a transaction without records) is seen for the first time, the batch is
               given how long it stays: the time goes where the base timestamp was, and attribute bit 6 says
               so.
    emptied    A batch that loses all its records goes, unless it must stay for its producer's sake: then as a header.

Source: Kafka clients 3.9.2, MemoryRecords.filterTo, buildRetainedRecordsInto,
DefaultRecordBatch.writeEmptyHeader.
Vectors: kafka/records/compaction_filter.json.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from broker_core.kafka.log.codecs import compress, decompress
from broker_core.kafka.log.errors import CodecFailed
from broker_core.kafka.log.record import NO_TIMESTAMP
from broker_core.kafka.log.record_batch import (
    CODEC_MASK,
    DELETE_HORIZON,
    HEADER_SIZE,
    RecordBatch,
    seal,
)
from broker_core.kafka.log.record_columns import Bools, Ints, RecordColumns, record_columns
from broker_core.kafka.log.varint import encode_varint


class BatchRetention(Enum):
    """What becomes of a batch, before its records are looked at."""

    DELETE = "DELETE"  # goes whole
    RETAIN_EMPTY = "RETAIN_EMPTY"  # stays, if necessary as a header
    DELETE_EMPTY = "DELETE_EMPTY"  # goes if no record stays


Keep = Callable[[RecordColumns], Bools]


def filter_batch(
    batch: RecordBatch,
    retention: BatchRetention,
    keep: Keep,
    *,
    is_marker_of_empty_transaction: bool = False,
    delete_horizon_ms: int,
) -> tuple[RecordBatch | None, int]:
    """Give the batch as it stays, None if it goes, and the largest offset that is left in it (-1: none).

    keep: says for each record whether it stays. delete_horizon_ms: what the batch is given if it needs a
    horizon and has none. Raises CodecFailed, InvalidRecord for a batch that cannot be read.
    """
    if retention is BatchRetention.DELETE:
        return None, -1
    header = batch.header
    data = plain_records(batch)
    records = record_columns(data, header.record_count)
    kept = np.flatnonzero(keep(records))
    if not len(kept):
        return (
            (_emptied(batch), header.last_offset) if retention is BatchRetention.RETAIN_EMPTY else (None, -1)
        )
    has_tombstones = not records.has_values[kept].all()
    horizon = header.delete_horizon_ms
    needs_horizon = horizon is None and (has_tombstones or is_marker_of_empty_transaction)
    if len(kept) == records.count and not needs_horizon:
        return batch, header.last_offset
    if needs_horizon:
        horizon = delete_horizon_ms
    return _rewritten(batch, records, kept, horizon), header.base_offset + int(
        records.offset_deltas[kept[-1]]
    )


def plain_records(batch: RecordBatch) -> bytes:
    """Give a batch's records uncompressed. Raises CodecFailed."""
    out = decompress(batch.header.codec, memoryview(batch.data)[HEADER_SIZE:])
    if out.failure is not None:
        raise CodecFailed(out.failure)
    return bytes(out.data)


def _rewritten(batch: RecordBatch, records: RecordColumns, kept: Ints, horizon: int | None) -> RecordBatch:
    header = batch.header
    stored_base = header.base_timestamp
    # Times are 64-bit numbers and wrap, as the original's do: of a topic with append times a client's base
    # time may be any.
    if header.is_log_append_time:
        # Every record reads as the batch's largest time, and is written again as what it reads as.
        times = np.full(len(kept), header.max_timestamp, dtype=np.int64)
    else:
        times = stored_base + records.timestamp_deltas[kept]
    max_timestamp = int(times.max())
    base = int(times[0]) if horizon is None else horizon
    if base == stored_base and not header.is_log_append_time:
        parts = _runs(records, kept)
    else:
        parts = []
        columns = (records.rests[kept], records.ends[kept], times - base)
        for rest, end, delta in zip(*(column.tolist() for column in columns), strict=True):
            body = b"\x00%b%b" % (encode_varint(delta), records.data[rest:end])
            parts += (encode_varint(len(body)), body)
    data = seal(
        compress(header.codec, b"".join(parts)),
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
    return RecordBatch.of(data)


def _runs(records: RecordColumns, kept: Ints) -> list[bytes]:
    """Give the bytes of the records as they are, neighbours in one piece."""
    breaks = np.flatnonzero(np.diff(kept) > 1) + 1
    first, last = kept[np.append(0, breaks)], kept[np.append(breaks, len(kept)) - 1]
    spans = zip(records.starts[first].tolist(), records.ends[last].tolist(), strict=True)
    return [records.data[start:end] for start, end in spans]


def _emptied(batch: RecordBatch) -> RecordBatch:
    header = batch.header
    data = seal(
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
    return RecordBatch.of(data)

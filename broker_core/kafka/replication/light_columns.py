"""The batches of a light segment as plain columns, for a checkpoint: a column in which all are equal is that
one value.

    batches [a][b][c] of one record each     {"base": [7, 8, 9], "count": 1, "time": [40, 40, 55], "epoch": 2, ..., "values": [[1], [2], [3]]}

Ten thousand batches of a lab come to three lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

from broker_core.kafka.log.record_batch import LOG_OVERHEAD, MAGIC, BatchHeader
from broker_core.kafka.replication.light_batch import LightBatch, Payload

Columns = dict[str, Any]
NAMES = (
    "base",
    "last",
    "count",
    "epoch",
    "attributes",
    "base_time",
    "time",
    "producer_id",
    "producer_epoch",
    "sequence",
    "size",
)


def columns_of(batches: list[LightBatch]) -> Columns:
    """Give the columns; {} for no batches. base_time: of a batch that was compacted it may be the delete
    horizon."""
    if not batches:
        return {}
    rows = (
        (
            h.base_offset,
            h.last_offset_delta,
            h.record_count,
            h.partition_leader_epoch,
            h.attributes,
            h.base_timestamp,
            h.max_timestamp,
            h.producer_id,
            h.producer_epoch,
            h.base_sequence,
            h.size_in_bytes,
        )
        for h, _ in batches
    )
    columns: Columns = {
        name: _shortened(column) for name, column in zip(NAMES, zip(*rows, strict=True), strict=True)
    }
    columns["values"] = [batch.values for batch in batches]
    return columns


def batches_of(columns: Columns) -> list[LightBatch]:
    """What `columns_of` was given. Values are plain data now: what was a tuple inside one is a list."""
    if not columns:
        return []
    values: list[list[Any]] = columns["values"]
    rows = zip(*(_lengthened(columns[name], len(values)) for name in NAMES), values, strict=False)
    return [
        LightBatch(
            BatchHeader(
                base,
                size - LOG_OVERHEAD,
                epoch,
                MAGIC,
                0,
                attributes,
                last,
                base_time,
                time,
                producer_id,
                producer_epoch,
                sequence,
                count,
            ),
            _payload(held, size),
        )
        for base, last, count, epoch, attributes, base_time, time, producer_id, producer_epoch, sequence, size, held in rows
    ]


def _payload(held: list[Any], size: int) -> Any:
    return Payload(tuple(held), size)


def _shortened(column: tuple[int, ...]) -> int | list[int]:
    first = column[0]
    return first if column.count(first) == len(column) else list(column)


def _lengthened(column: int | list[int], count: int) -> Iterable[int]:
    return repeat(column, count) if isinstance(column, int) else column

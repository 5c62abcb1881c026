"""A log folder as a study's workload: keys, times, sizes; ordinals in the order of time across partitions;
damaged batches set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Json
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.kafka_log_plan import Bounds, LogRange, plan
from broker_core.pipeline.sources.kafka_log_tasks import damaged_batches, read_range, segment_name
from broker_core.pipeline.sources.rows import BAD_BATCH, TEXT_CHARACTERS_MAX
from broker_core.pipeline.sources.workload import RECORD_SCHEMA, Reading, Workload

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

PLACE_SCHEMA = ", timestamp_ms bigint, topic string, partition int, offset bigint"
_PLACE = [
    ("timestamp_ms", pa.int64()),
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
]
_SIZES = pa.schema([*_PLACE, ("key", pa.binary()), ("key_bytes", pa.int32()), ("value_bytes", pa.int32())])


def kafka_log_workload(
    spark: SparkSession, spec: Json, *, ordinals: bool, counter: Accumulator[int] | None = None
) -> Workload:
    """The folder as it is now. Ordinals follow (timestamp, topic, partition, offset): the order in which the
    records were made, as far as it is known. A damaged batch is one bad row: line is its position in the
    segment."""
    bounds = Bounds(from_ms=spec["from_ms"], until_ms=spec["until_ms"])
    ranges = plan(partition_folders(Path(spec["path"]), spec["topic"]), bounds)
    reading = Reading(
        spark, len(ranges), partial(_read, ranges, ordinals), counter, partial(_both, ranges, ordinals)
    )
    workload = Workload.read_by(
        reading, RECORD_SCHEMA + PLACE_SCHEMA if ordinals else RECORD_SCHEMA, partial(_damaged, ranges)
    )
    return Workload(_in_order(workload.records), workload.bad) if ordinals else workload


def _read(
    ranges: Sequence[LogRange], with_place: bool, ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    place = [name for name, _ in _PLACE] if with_place else []
    for batch in ids:
        for number in batch.column(0).to_pylist():
            for made in read_range(ranges[number], _SIZES, "sizes", skip_damaged=True):
                times = made.column("timestamp_ms")
                # -1 is Kafka's way to say that a record has no time.
                at_us = pc.if_else(pc.greater_equal(times, 0), pc.multiply(times, 1_000), None)
                sizes = [
                    pc.cast(pc.fill_null(made.column(name), 0), pa.int64())
                    for name in ("key_bytes", "value_bytes")
                ]
                columns = [made.column("key"), at_us, pc.add(*sizes), *(made.column(name) for name in place)]
                yield pa.RecordBatch.from_arrays(columns, names=["key", "at_us", "bytes", *place])


def _both(
    ranges: Sequence[LogRange], with_place: bool, ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in ids:
        yield from _read(ranges, with_place, iter([batch]))
        yield from _damaged(ranges, iter([batch]))


def _in_order(records: DataFrame) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.orderBy("timestamp_ms", "topic", "partition", "offset")
    return records.select(
        "key", "at_us", "bytes", (f.row_number().over(order) - 1).cast("bigint").alias("ordinal")
    )


def _damaged(ranges: Sequence[LogRange], ids: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in ids:
        for number in batch.column(0).to_pylist():
            found = damaged_batches(ranges[number])
            count = len(found)
            columns = {
                "line": pa.array([position for position, _ in found], pa.int64()),
                "reason": pa.array([BAD_BATCH] * count, pa.string()),
                "text": pa.array([problem[:TEXT_CHARACTERS_MAX] for _, problem in found], pa.string()),
                "file": pa.array([segment_name(ranges[number])] * count, pa.string()),
            }
            yield pa.RecordBatch.from_pydict(columns)

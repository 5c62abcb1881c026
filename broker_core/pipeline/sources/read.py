"""A source as a Spark DataFrame: key, at_us, bytes, ordinal, and the bad rows beside them.

Files are read by our own readers inside Spark's tasks (`mapInArrow`), not by Spark's: a key is its bytes in
the file, a bad row keeps its line number, and both are the same however the file is cut. The plan is a list
of parts; task i reads the parts that fall to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Json
from broker_core.lab.workload.flights_table import data_dir
from broker_core.pipeline.sources.csv_head import csv_columns
from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.encodings import WIDE
from broker_core.pipeline.sources.files import Part, cut, source_files
from broker_core.pipeline.sources.generated import lab_part, lab_workload, made_up_part
from broker_core.pipeline.sources.json_layout import VALUES
from broker_core.pipeline.sources.jsonl_rows import jsonl_part
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_parts
from broker_core.pipeline.sources.quote_cuts import Counted, count_part, number_lines
from broker_core.pipeline.sources.rows import is_record
from broker_core.pipeline.sources.spec import source_check
from broker_core.pipeline.sources.workload import RECORD_SCHEMA, Reading, Workload

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

TASK_RECORDS = 2_000_000
LAB_TASK_RECORDS = 50_000
TASKS_MAX = 2_000
COUNTED_HERE_MAX = 8
"""Parts whose lines the driver counts: a quarter of a gigabyte takes a tenth of a second, a job takes
longer."""
SPARK_BATCH_ROWS = 65_536
ORDINAL_SCHEMA = RECORD_SCHEMA + ", ordinal bigint"

Reader = Callable[[Part], Iterator[pa.RecordBatch]]


def source_read(
    spark: SparkSession, spec: Json, *, ordinals: bool = False, counter: Accumulator[int] | None = None
) -> Workload:
    """Read a source. Nothing is read yet but what the plan needs: lines and, for ordinals, rows are counted
    in the parts before.

    counter: told of each row that is read as a record, each time that it is.
    Raises CommandError as `source_check` does, and where Spark's work fails its error with a `SourceFailed`
    inside (`source_failure`).
    """
    spec = source_check(spec)
    match spec["kind"]:
        case "kafka_log":
            from broker_core.pipeline.sources.kafka_log_workload import kafka_log_workload

            return kafka_log_workload(spark, spec, ordinals=ordinals, counter=counter)
        case "zipf" | "uniform":
            return _generated(
                spark, partial(made_up_part, spec), spec["records"], TASK_RECORDS, ordinals, counter
            )
        case "lab" | "flights":
            _, count = lab_workload(spec)
            make = partial(_lab_part, spec, str(data_dir()))
            return _generated(spark, make, count, LAB_TASK_RECORDS, ordinals, counter)
    return _files(spark, spec, ordinals, counter)


def source_failure(error: BaseException) -> str | None:
    """What a reader said when it gave up, out of the error that Spark made of it; None if it was not a
    reader."""
    for line in str(error).splitlines():
        _, found, reason = line.partition("SourceFailed: ")
        if found:
            return reason.strip()
    return None


def _lab_part(spec: Json, folder: str, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    return lab_part(spec, start, stop, Path(folder))


def _generated(
    spark: SparkSession,
    make: Callable[[int, int], Iterator[pa.RecordBatch]],
    records: int,
    task_records: int,
    ordinals: bool,
    counter: Accumulator[int] | None,
) -> Workload:
    tasks = max(1, min(TASKS_MAX, -(-records // task_records)))
    bounds = [records * task // tasks for task in range(tasks + 1)]
    task = partial(_generated_task, make, bounds, ordinals)
    return Workload.read_by(
        Reading(spark, tasks, task, counter), ORDINAL_SCHEMA if ordinals else RECORD_SCHEMA
    )


def _generated_task(
    make: Any, bounds: Sequence[int], ordinals: bool, ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in ids:
        for task in batch.column(0).to_pylist():
            for made in make(bounds[task], bounds[task + 1]):
                yield from _pieces(made if ordinals else made.select(["key", "at_us", "bytes"]))


def _files(spark: SparkSession, spec: Json, ordinals: bool, counter: Accumulator[int] | None) -> Workload:
    paths = source_files(spec["kind"], Path(spec["path"]))
    if spec["kind"] == "parquet":
        parts, reader = parquet_parts(paths), partial(parquet_part, spec)
    else:
        whole = cut(paths, is_whole=spec.get("encoding") in WIDE or spec.get("layout") == VALUES)
        parts = _numbered(spark, whole, Dialect.of(spec) if spec["kind"] == "csv" else None)
        if spec["kind"] == "csv":
            reader = partial(csv_part, spec, csv_columns(paths[0], Dialect.of(spec)))
        else:
            reader = partial(jsonl_part, spec)
    if ordinals:
        parts = _with_ordinals(spark, parts, reader)
    reading = Reading(
        spark,
        len(parts),
        partial(_good_task, reader, parts, ordinals),
        counter,
        partial(_both_task, reader, parts, ordinals),
    )
    return Workload.read_by(
        reading, ORDINAL_SCHEMA if ordinals else RECORD_SCHEMA, partial(_bad_task, reader, parts)
    )


def _numbered(spark: SparkSession, parts: list[Part], dialect: Dialect | None) -> list[Part]:
    """Parts with their first lines and rows. Only files in several parts need counting. dialect: of a CSV."""
    several = [part for part in parts if part.end >= 0]
    if not several:
        return parts
    if len(several) <= COUNTED_HERE_MAX:
        counted = {index: count_part(part, dialect) for index, part in enumerate(several)}
    else:
        frame = spark.range(0, len(several), 1, len(several)).mapInArrow(
            partial(_count_task, several, dialect),
            "part int, lines bigint, quote boolean, ways array<bigint>",
        )
        counted = {row.part: Counted(row.lines, row.quote, tuple(row.ways)) for row in frame.collect()}
    numbered = number_lines(several, [counted[index] for index in range(len(several))])
    order = {part.path: index for index, part in reversed(list(enumerate(parts)))}
    return sorted(
        [part for part in parts if part.end < 0] + numbered, key=lambda part: (order[part.path], part.start)
    )


def _with_ordinals(spark: SparkSession, parts: list[Part], reader: Reader) -> list[Part]:
    """Parts with the ordinal of their first good row: how many good rows the parts before have."""
    if len(parts) < 2:
        return parts
    frame = spark.range(0, len(parts), 1, len(parts)).mapInArrow(
        partial(_good_count_task, reader, parts), "part int, rows bigint"
    )
    counted = {row.part: row.rows for row in frame.collect()}
    before = accumulate((counted[index] for index in range(len(parts))), initial=0)
    return [replace(part, first_ordinal=first) for part, first in zip(parts, before, strict=False)]


def _count_task(
    parts: Sequence[Part], dialect: Dialect | None, ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for index in _indexes(ids):
        counted = count_part(parts[index], dialect)
        yield pa.record_batch(
            {
                "part": pa.array([index], pa.int32()),
                "lines": pa.array([counted.lines]),
                "quote": pa.array([counted.has_quote]),
                "ways": pa.array([list(counted.ways)], pa.list_(pa.int64())),
            }
        )


def _good_count_task(
    reader: Reader, parts: Sequence[Part], ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for index in _indexes(ids):
        good = sum(_records(rows) for rows in reader(parts[index]))
        yield pa.record_batch({"part": pa.array([index], pa.int32()), "rows": [good]})


def _records(rows: pa.RecordBatch) -> int:
    reason = rows.column("reason")
    if reason.null_count == len(reason):
        return len(reason)
    return int(pc.sum(is_record(reason)).as_py() or 0)


def _good_task(
    reader: Reader, parts: Sequence[Part], ordinals: bool, ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return (batch for batch in _both_task(reader, parts, ordinals, ids) if "reason" not in batch.schema.names)


def _both_task(
    reader: Reader, parts: Sequence[Part], ordinals: bool, ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The records and, in separate batches, the rows of which there is something to say."""
    for index in _indexes(ids):
        ordinal = parts[index].first_ordinal
        for rows in reader(parts[index]):
            reason = rows.column("reason")
            good = rows.select(["key", "at_us", "bytes"])
            if reason.null_count < len(reason):
                good = good.filter(is_record(reason))
                yield _bad(rows, parts[index])
            if ordinals:
                places = pa.array(range(ordinal, ordinal + good.num_rows), pa.int64())
                good = pa.RecordBatch.from_arrays(
                    [*good.columns, places], names=["key", "at_us", "bytes", "ordinal"]
                )
                ordinal += good.num_rows
            yield from _pieces(good)


def _bad_task(
    reader: Reader, parts: Sequence[Part], ids: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for index in _indexes(ids):
        for rows in reader(parts[index]):
            if rows.column("reason").null_count < rows.num_rows:
                yield _bad(rows, parts[index])


def _bad(rows: pa.RecordBatch, part: Part) -> pa.RecordBatch:
    """Those of a part's rows of which there is something to say."""
    bad = rows.filter(pc.is_valid(rows.column("reason"))).select(["line", "reason", "text"])
    return bad.append_column("file", pa.array([Path(part.path).name] * bad.num_rows, pa.string()))


def _indexes(ids: Iterator[pa.RecordBatch]) -> Iterator[int]:
    for batch in ids:
        yield from batch.column(0).to_pylist()


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """No more rows at once than Spark's own batches have."""
    for start in range(0, batch.num_rows, SPARK_BATCH_ROWS):
        yield batch.slice(start, SPARK_BATCH_ROWS)

"""`kafka_log`: Kafka's log folders as a Spark data source, in batch and streaming.

    spark.read.format("kafka_log").load("/var/kafka-logs")            all partitions of a log folder; or one partition's folder, or one .log
    spark.readStream.format("kafka_log").option("topic", "flights").load(...)

    view            records (default) | sizes | batches: see kafka_log_tasks.py      includeHeaders   false (default) | true, for records
    topic           only this one                         from_offset, until_offset, from_ms, until_ms    half-open bounds
    isolation       read_uncommitted (default) | read_committed
    damaged         fail (default) | skip | tell: what a batch does that cannot be read. tell: records and sizes have a column `problem`, and
                    a damaged batch is one row, without key and value, at the time of the sound batch before
                    it; `batches` tells them all
    starting        earliest (default) | latest           failOnDataLoss   true (default) | false     maxRecordsPerTrigger   (streaming)

A schema of the reader's, .schema("key binary, offset bigint"), names the columns that are made and sent;
without one it is all of the view. Partitions, segments and offset ranges become tasks by the indexes
(kafka_log_plan.py). Comparisons of partition, offset and timestamp_ms with numbers reach the plan as well, if
the session has spark.sql.python.filterPushdown.enabled, as ours has; Spark checks them again.

A stream's offset is {"flights-0": next offset, ...}: with a checkpoint each record comes once, over restarts,
growing segments, new segments and new partitions. What retention removed before it was read is an error, or
with failOnDataLoss=false passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from broker_core.errors import CommandError, Names
from broker_core.pipeline.sources.kafka_log_folders import PartitionFolder, partition_folders
from broker_core.pipeline.sources.kafka_log_plan import (
    OFFSET_MAX,
    Bounds,
    LogRange,
    end_offset,
    last_stable_offset,
    offset_from,
    plan,
)
from broker_core.pipeline.sources.kafka_log_tasks import read_range
from broker_core.pipeline.sources.rows import SourceFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMAS = {
    "records": "topic string, partition int, offset bigint, timestamp_ms bigint, key binary, value binary",
    "sizes": "topic string, partition int, offset bigint, timestamp_ms bigint, key binary, key_bytes int, "
    "value_bytes int",
    "batches": "topic string, partition int, segment string, position bigint, bytes bigint, base_offset bigint, "
    "last_offset bigint,"
    " records int, max_timestamp_ms bigint, codec int, is_control boolean, is_transactional boolean, "
    "problem string",
}
PROBLEM_SCHEMA = ", problem string"
HEADERS_SCHEMA = ", headers array<struct<key:binary,value:binary>>"
_CHOICES = {
    "view": ("records", "sizes", "batches"),
    "isolation": ("read_uncommitted", "read_committed"),
    "damaged": ("fail", "skip", "tell"),
    "starting": ("earliest", "latest"),
    "failondataloss": ("true", "false"),
    "includeheaders": ("false", "true"),
}
_NUMBERS = ("from_offset", "until_offset", "from_ms", "until_ms", "maxrecordspertrigger", "taskbytes")


def kafka_log_register(spark: SparkSession) -> None:
    """Make `kafka_log` known to the session; again does no harm."""
    with _active(spark):
        spark.dataSource.register(KafkaLogSource)


@contextmanager
def _active(spark: SparkSession) -> Iterator[None]:
    """Make the session the thread's active one for a while: Spark 4.3 asks the active session whether a name
    is taken, and would refuse to register in a new session what another one knows."""
    if not hasattr(spark, "_jsparkSession"):  # Spark Connect has one session for each server
        yield
        return
    sessions = getattr(spark._jvm, "org.apache.spark.sql.classic.SparkSession")  # noqa: B009
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


@dataclass(frozen=True, slots=True)
class Options:
    """The options, checked."""

    path: str
    topic: str | None
    view: str
    has_headers: bool
    bounds: Bounds
    committed: bool
    skip_damaged: bool
    tells_damaged: bool
    from_latest: bool
    fail_on_data_loss: bool
    records_max: int | None
    task_bytes: int | None

    @classmethod
    def of(cls, raw: dict[str, str]) -> Options:
        """Raises CommandError at the option that is wrong."""
        given = {name.lower(): value for name, value in raw.items()}
        if not given.get("path"):
            raise CommandError("source.path", "must name a file or a folder")
        for name, choices in _CHOICES.items():
            if given.get(name, choices[0]) not in choices:
                raise CommandError(f"source.{name}", "must be one of {choices}", choices=Names(choices))
        numbers: dict[str, int] = {}
        for name in _NUMBERS:
            if name in given:
                if not given[name].isdecimal():
                    raise CommandError(f"source.{name}", "must be a whole number of 0 or more")
                numbers[name] = int(given[name])
        bounds = Bounds(
            numbers.get("from_offset", 0),
            numbers.get("until_offset", OFFSET_MAX),
            numbers.get("from_ms"),
            numbers.get("until_ms"),
        )
        return cls(
            path=given["path"],
            topic=given.get("topic"),
            view=given.get("view", "records"),
            bounds=bounds,
            has_headers=given.get("includeheaders") == "true" and given.get("view", "records") == "records",
            committed=given.get("isolation") == "read_committed",
            skip_damaged=given.get("damaged", "fail") != "fail",
            tells_damaged=given.get("damaged") == "tell" and given.get("view", "records") != "batches",
            from_latest=given.get("starting") == "latest",
            fail_on_data_loss=given.get("failondataloss", "true") == "true",
            records_max=numbers.get("maxrecordspertrigger"),
            task_bytes=numbers.get("taskbytes"),
        )

    def schema(self) -> str:
        return (
            SCHEMAS[self.view]
            + (HEADERS_SCHEMA if self.has_headers else "")
            + (PROBLEM_SCHEMA if self.tells_damaged else "")
        )

    def partitions(self) -> list[PartitionFolder]:
        return partition_folders(Path(self.path), self.topic)

    def plan(self, partitions: Sequence[PartitionFolder], bounds: Bounds) -> list[LogRange]:
        more = {} if self.task_bytes is None else {"task_bytes": self.task_bytes}
        return plan(partitions, bounds, committed=self.committed and self.view != "batches", **more)


class LogPartition(InputPartition):
    """A task's range."""

    def __init__(self, given: LogRange | None) -> None:
        super().__init__(given)
        self.given = given


class KafkaLogSource(DataSource):
    """The data source; Spark makes one wherever it plans or reads."""

    @classmethod
    def name(cls) -> str:
        return "kafka_log"

    def schema(self) -> str:
        return Options.of(dict(self.options)).schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        return KafkaLogReader(self._checked(schema), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return KafkaLogStreamReader(self._checked(schema), schema)

    def _checked(self, schema: StructType) -> Options:
        """The options. Raises CommandError where somebody has given a schema with another column than the
        view has, or of another type."""
        options = Options.of(dict(self.options))
        columns = options.schema()
        if not {f"{field.name} {field.dataType.simpleString()}" for field in schema.fields} <= set(
            columns.split(", ")
        ):
            raise CommandError("source.schema", "may name these columns: {columns}", columns=columns)
        return options


class _Reading:
    """What batch and stream share: from a range to rows."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self.options = options
        self.spark_schema = schema

    def rows(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        given = partition.given if isinstance(partition, LogPartition) else None
        if given is not None:
            schema = to_arrow_schema(self.spark_schema, timezone="UTC")
            yield from read_range(given, schema, self.options.view, skip_damaged=self.options.skip_damaged)


class KafkaLogReader(DataSourceReader):
    """A log folder as it is now."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self.reading = _Reading(options, schema)
        self.bounds = options.bounds
        self.wanted_partition: int | None = None

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Narrow the plan by comparisons with numbers. All are given back: a batch may hold more than what is
        wanted."""
        if self.reading.options.view != "batches":
            for each in filters:
                self._narrow(each)
        return filters

    def _narrow(self, given: Filter) -> None:
        if not isinstance(given, EqualTo | GreaterThan | GreaterThanOrEqual | LessThan | LessThanOrEqual):
            return
        column, value = given.attribute, given.value
        if not isinstance(value, int) or isinstance(value, bool):
            return
        low = (
            value
            if isinstance(given, EqualTo | GreaterThanOrEqual)
            else value + 1
            if isinstance(given, GreaterThan)
            else None
        )
        high = (
            value + 1
            if isinstance(given, EqualTo | LessThanOrEqual)
            else value
            if isinstance(given, LessThan)
            else None
        )
        if column == ("offset",):
            self.bounds = self.bounds.within(Bounds(low or 0, OFFSET_MAX if high is None else high))
        elif column == ("timestamp_ms",):
            self.bounds = self.bounds.within(Bounds(from_ms=low, until_ms=high))
        elif column == ("partition",) and isinstance(given, EqualTo):
            self.wanted_partition = value

    def partitions(self) -> list[InputPartition]:
        chosen = [
            partition for partition in self.reading.options.partitions()
            if self.wanted_partition in (None, partition.partition)
        ]  # fmt: skip
        return [LogPartition(given) for given in self.reading.options.plan(chosen, self.bounds)] or [
            LogPartition(None)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.reading.rows(partition)


class KafkaLogStreamReader(DataSourceStreamReader):
    """A log folder that grows."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self.reading = _Reading(options, schema)
        self.options = options

    def initialOffset(self) -> dict[str, int]:
        return {
            _name(each): self._end(each) if self.options.from_latest else self._start(each)
            for each in self._partitions()
        }

    def getDefaultReadLimit(self) -> ReadLimit:
        return (
            ReadAllAvailable() if self.options.records_max is None else ReadMaxRows(self.options.records_max)
        )

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        """Where each partition ends now. What a start names and the folder lacks keeps its place:
        `partitions` says what that means."""
        ends = dict(start)
        left = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        for each in self._partitions():
            name = _name(each)
            begin = start.get(name, self._start(each))
            # A folder that was put back may end before what was read of it.
            end = max(self._end(each), begin)
            if left is not None:
                end = min(end, max(begin, self._start(each)) + left)
                left -= max(0, end - begin)
            ends[name] = end
        return ends

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """The ranges between two offsets. Raises SourceFailed where the log no longer has them."""
        found = {_name(each): each for each in self._partitions()}
        ranges: list[LogRange] = []
        for name, until in end.items():
            each = found.get(name)
            begin = start.get(name, 0 if each is None else self._start(each))
            if begin >= until:
                continue
            first = until if each is None else each.segments[0][0]
            if first > begin:
                self._lost(name, begin, first)
            if each is not None:
                bounds = replace(self.options.bounds, from_offset=begin, until_offset=until)
                ranges += self.options.plan([each], bounds)
        return [LogPartition(given) for given in ranges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.reading.rows(partition)

    def _partitions(self) -> list[PartitionFolder]:
        return self.options.partitions()

    def _start(self, partition: PartitionFolder) -> int:
        bounds = self.options.bounds
        first = partition.segments[0][0] if bounds.from_ms is None else offset_from(partition, bounds.from_ms)
        return max(bounds.from_offset, first)

    def _end(self, partition: PartitionFolder) -> int:
        end = min(end_offset(partition), self.options.bounds.until_offset)
        return min(end, last_stable_offset(partition)) if self.options.committed else end

    def _lost(self, name: str, begin: int, first: int) -> None:
        if self.options.fail_on_data_loss:
            raise SourceFailed(
                "{partition}: offsets {begin} to {last} were removed before they were read; "
                "failOnDataLoss=false continues without them",
                partition=name,
                begin=begin,
                last=first - 1,
            )


def _name(partition: PartitionFolder) -> str:
    return f"{partition.topic}-{partition.partition}"

"""A live study: what happens now, in windows, from a lab's chunks or a log folder that grows.

    {"kind": "lab", "chunks": FOLDER}             rows of each second, as the lab's worker leaves them (chunks.py)
    {"kind": "kafka_log", "path": FOLDER, ...}    new records, as brokers append them (sources/kafka_log.py)

    source ─► watermark ─► groupBy(window, lane or partition) ─► update mode, each small batch ─► live_windows.py ─► on_windows(rows)

A row: start_us, end_us, lane (a log's topic), throughput (records a second), lag, skew (max / mean), hw_lag,
rebalance_cost (partition-seconds that were paused), late (rows that came too late) and damaged (batches of a
log that cannot be read), both until now. What a source cannot tell is null: a log has no consumers, a lab no
replicas. A window is reported again with its new figures each time they change, and with the same figures
when a batch is done again after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown
from broker_core.pipeline.chunks import SPARK_SCHEMA, want
from broker_core.pipeline.live_windows import WindowBook, high_watermarks
from broker_core.pipeline.sources.spec import source_check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

OnWindows = Callable[[list[Json]], None]

WINDOW_S = 1
WATERMARK_S = 10
SHUFFLE_PARTITIONS = 1
"""Groups are the lanes or partitions of some windows: a second task would cost more than it saves."""
LOG_SCHEMA = "topic string, partition int, offset bigint, timestamp_ms bigint, problem string"
RECORDS_PER_BATCH_MAX = 1_000_000
FILES_PER_BATCH_MAX = 50
_KEYS = {"lab": "lane", "kafka_log": "topic"}


class LiveQuery:
    """A running live study. `isActive` is asked often by its supervisor: each time is also the sign of life
    that a lab's worker needs."""

    def __init__(self, query: StreamingQuery, chunks: Path | None) -> None:
        self.query = query
        self.chunks = chunks

    @property
    def isActive(self) -> bool:
        if self.chunks is not None:
            want(self.chunks)
        return self.query.isActive

    @property
    def is_counting(self) -> bool:
        """Whether it has records to count, or is only about to look for some; False where it waits for more, or where
        Spark does not answer: what the query ended by is for `exception` to say."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            status = self.query.status
        except (PySparkException, Py4JError, OSError):
            return False
        return bool(status["isDataAvailable"] or status["message"].startswith("Initializing"))

    def exception(self) -> Exception | None:
        """What the query ended by; None while it runs or if it was stopped."""
        return self.query.exception()

    def stop(self) -> None:
        """End the query. Its checkpoint stays: `live_start` with it continues where this one was."""
        self.query.stop()


def live_check(source: object) -> Json:
    """The source of a live study, filled in. Raises CommandError at `source` or `source.<field>`."""
    if isinstance(source, dict) and source.get("kind") == "lab":
        refuse_unknown(source, {"kind", "chunks"}, "source.", "source")
        if not isinstance(source.get("chunks"), str):
            raise CommandError("source.chunks", "must name a folder")
        return dict(source)
    checked = source_check(source)
    if checked["kind"] != "kafka_log":
        raise CommandError("source.kind", "must be one of {choices}", choices=Names(_KEYS))
    return checked


def live_start(
    spark: SparkSession,
    request: Json,
    *,
    checkpoint: Path,
    on_windows: OnWindows,
    window_s: int = WINDOW_S,
    watermark_s: int = WATERMARK_S,
) -> LiveQuery:
    """Begin a live study, or go on from its checkpoint. on_windows: called with each small batch's windows,
    in a thread of Spark's.

    request: {"source": ...} or the source itself. Raises CommandError as `live_check`; SparkUnavailable on a
    Spark Connect server, which cannot call back.
    """
    from broker_core.pipeline.session import SparkUnavailable

    source = live_check(request.get("source", request))
    if not hasattr(spark, "_jsparkSession"):
        raise SparkUnavailable("a live study needs its own Spark: set SPARK_MASTER in place of SPARK_REMOTE")
    # A separate session: its few shuffle partitions must not be a batch study's.
    session = spark.newSession()
    for name, value in {
        "spark.sql.shuffle.partitions": SHUFFLE_PARTITIONS,
        "spark.sql.streaming.minBatchesToRetain": 10,
        # Else each batch that moves the watermark is followed by an empty one, which only tidies up: the next
        # one with data does that as well.
        "spark.sql.streaming.noDataMicroBatches.enabled": False,
        "spark.sql.files.ignoreMissingFiles": True,
        "spark.sql.adaptive.enabled": False,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": True,
        "spark.sql.python.filterPushdown.enabled": True,
    }.items():
        session.conf.set(name, str(value).lower() if isinstance(value, bool) else str(value))
    chunks = Path(source["chunks"]) if source["kind"] == "lab" else None
    if chunks is not None:
        want(chunks)
    frame = (
        _lab_windows(session, source, window_s, watermark_s)
        if chunks is not None
        else _log_windows(session, source, window_s, watermark_s)
    )
    book = WindowBook(checkpoint / "windows", window_s * 1_000_000, (watermark_s + window_s) * 1_000_000)
    running: list[StreamingQuery] = []
    tell = partial(_tell, book, on_windows, running, None if chunks is not None else Path(source["path"]))
    query = (
        frame.writeStream.outputMode("update")
        .option("checkpointLocation", str(checkpoint / "spark"))
        .foreachBatch(tell)
        .queryName(f"live-{checkpoint.parent.name}-{checkpoint.name}")
        .start()
    )
    running.append(query)
    return LiveQuery(query, chunks)


def _tell(
    book: WindowBook,
    on_windows: OnWindows,
    running: list[Any],
    path: Path | None,
    frame: DataFrame,
    batch: int,
) -> None:
    rows = [row.asDict() for row in frame.collect()]
    late = _late(running[0]) if running else (0, -1)
    windows = book.merge(batch, rows, late, high_watermarks(path) if path is not None else {})
    if windows:
        on_windows(windows)


def _late(query: Any) -> tuple[int, int]:
    """Rows that the last finished batch dropped as too late, and that batch. Spark counts them after it has
    put rows of one group of a task together."""
    progress = query.lastProgress
    if not progress:
        return 0, -1
    operators = progress["stateOperators"] or []
    return sum(operator["numRowsDroppedByWatermark"] for operator in operators), progress["batchId"]


def _lab_windows(session: SparkSession, source: Json, window_s: int, watermark_s: int) -> DataFrame:
    from pyspark.sql import functions as f

    rows = (
        session.readStream.schema(SPARK_SCHEMA)
        .option("maxFilesPerTrigger", FILES_PER_BATCH_MAX)
        .parquet(source["chunks"])
    )
    lanes = (
        # Chunks of before 27 November 2026 have no column of this name.
        rows.filter("lane is not null and kind != 'owner'")
        .withColumn("at", f.timestamp_micros("at_us"))
        .withWatermark("at", f"{watermark_s} seconds")
    )
    is_lane = f.col("kind") == "lane"
    order = f.when(is_lane, f.col("at_us"))  # a maximum passes over nulls
    return (
        lanes.groupBy(f.window("at", f"{window_s} seconds"), "lane", f.lit(-1).alias("partition"))
        .agg(
            f.sum("finished").alias("records"),
            f.max_by("lag", order).alias("lag"),
            f.max_by("skew", order).alias("skew"),
            f.max_by("hw_lag", order).alias("hw_lag"),
            f.sum("stopped_us").alias("stopped_us"),
            f.lit(None).cast("bigint").alias("end_offset"),
        )
        .select(
            f.unix_micros("window.start").alias("start_us"),
            "lane",
            "partition",
            "records",
            "lag",
            "skew",
            "hw_lag",
            "stopped_us",
            "end_offset",
        )
    )


def _log_windows(session: SparkSession, source: Json, window_s: int, watermark_s: int) -> DataFrame:
    from pyspark.sql import functions as f

    from broker_core.pipeline.sources.kafka_log import kafka_log_register

    kafka_log_register(session)
    reader = (
        session.readStream.format("kafka_log")
        .schema(LOG_SCHEMA)
        .option("damaged", "tell")
        .option("failOnDataLoss", "false")
    )
    reader = reader.option("maxRecordsPerTrigger", RECORDS_PER_BATCH_MAX)
    for name in ("topic", "from_ms", "until_ms"):
        if source[name] is not None:
            reader = reader.option(name, source[name])
    nothing = f.lit(None)
    records = (
        reader.load(source["path"])
        .filter("timestamp_ms >= 0")
        .withColumn("at", f.timestamp_millis("timestamp_ms"))
    )
    return (
        records.withWatermark("at", f"{watermark_s} seconds")
        .groupBy(f.window("at", f"{window_s} seconds"), f.col("topic").alias("lane"), "partition")
        .agg(
            f.count_if(f.isnull("problem")).alias("records"),
            (f.max("offset") + 1).alias("end_offset"),
            f.count("problem").alias("damaged"),
        )
        .select(
            f.unix_micros("window.start").alias("start_us"),
            "lane",
            "partition",
            "records",
            nothing.cast("bigint").alias("lag"),
            nothing.cast("double").alias("skew"),
            nothing.cast("bigint").alias("hw_lag"),
            nothing.cast("bigint").alias("stopped_us"),
            "end_offset",
            "damaged",
        )
    )

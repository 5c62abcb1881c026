"""A log folder as a study's workload: keys, times, sizes; ordinals in the order of time across partitions; damaged batches set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.pipeline.sources.kafka_log import kafka_log_register
from broker_core.pipeline.sources.rows import BAD_BATCH, TEXT_CHARACTERS_MAX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def kafka_log_workload(spark: SparkSession, spec: Json, *, ordinals: bool) -> tuple[DataFrame, DataFrame]:
    """(records, bad). Ordinals follow (timestamp, topic, partition, offset): the order in which the records were made, as far as it is known.

    A damaged batch is one bad row: line is its position in the segment.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    kafka_log_register(spark)

    def reader(view: str) -> DataFrame:
        made = spark.read.format("kafka_log").option("view", view).option("damaged", "skip")
        for name in ("topic", "from_ms", "until_ms"):
            if spec[name] is not None:
                made = made.option(name, spec[name])
        return made.load(spec["path"])

    sizes = reader("sizes")
    size = (f.coalesce("key_bytes", f.lit(0)) + f.coalesce("value_bytes", f.lit(0))).cast("bigint")
    # -1 is Kafka's way to say that a record has no time.
    at_us = f.when(f.col("timestamp_ms") >= 0, f.col("timestamp_ms") * 1_000)
    columns = [f.col("key"), at_us.alias("at_us"), size.alias("bytes")]
    if ordinals:
        order = Window.orderBy("timestamp_ms", "topic", "partition", "offset")
        columns.append((f.row_number().over(order) - 1).cast("bigint").alias("ordinal"))
    damaged = reader("batches").filter("problem is not null")
    bad = damaged.select(
        f.col("position").alias("line"), f.lit(BAD_BATCH).alias("reason"), f.substring("problem", 1, TEXT_CHARACTERS_MAX).alias("text"),
        f.col("segment").alias("file"),
    )  # fmt: skip
    return sizes.select(*columns), bad

"""How fast keys are hashed, over arrays and in Spark, beside mmh3, kafka-python and an empty hop of the same
run.

HIGHWATER_BENCH_KEYS: how many keys go through Spark (2 million).
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import mmh3
import pyarrow as pa
from kafka.partitioner.default import murmur2 as kafka_murmur2
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import pandas_udf

from broker_core.hashing.columns import java_column, murmur2_column, murmur3_column
from tests.bench.cpu import in_turn
from tests.bench.spark import bench_spark

Figure = tuple[str, float, str, str, str]

KEYS = int(os.environ.get("HIGHWATER_BENCH_KEYS", "2000000"))
ARRAY_KEYS = 1_000_000
PURE_PYTHON_KEYS = 20_000
REPEATS = 5


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    return [*_arrays(), *_spark()]


def _arrays() -> list[Figure]:
    keys = [f"user-{number * 7_919 % 10**8}".encode() for number in range(ARRAY_KEYS)]
    column, few = pa.array(keys), keys[:PURE_PYTHON_KEYS]
    for warm in (murmur3_column, murmur2_column, java_column):
        warm(column)
    theirs, ours = _both(lambda: [mmh3.hash(key, 0, False) for key in keys], lambda: murmur3_column(column))
    figures: list[Figure] = [
        (
            "murmur3 of an array: a loop of mmh3 over ours",
            theirs / ours,
            "times",
            "at least 5",
            f"ours {ours / ARRAY_KEYS * 1e9:.1f} ns a key",
        ),
    ]
    theirs, ours = _both(lambda: [kafka_murmur2(key) for key in few], lambda: murmur2_column(column))
    ratio = theirs / len(few) / (ours / ARRAY_KEYS)
    figures.append(
        (
            "murmur2 of an array: kafka-python's over ours",
            ratio,
            "times",
            "at least 100",
            f"ours {ours / ARRAY_KEYS * 1e9:.1f} ns a key",
        )
    )
    return figures


def _spark() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, bench_spark(Path(folder)) as spark:
        return _hops(spark, str(Path(folder) / "keys"))


def _hops(spark: SparkSession, path: str) -> list[Figure]:
    spark.range(KEYS, numPartitions=4).selectExpr(
        "cast(concat('user-', cast(id as string)) as binary) as key"
    ).write.parquet(path)
    keys = spark.read.parquet(path)

    @pandas_udf("long")  # type: ignore[call-overload]
    def around_mmh3(column):  # type: ignore[no-untyped-def]
        return column.map(lambda key: mmh3.hash(key, 0, False))

    figures: list[Figure] = []
    empty = keys.mapInArrow(lambda batches: batches, "key binary")
    peer = keys.select(around_mmh3("key").alias("hash"))
    for name, ours in (
        ("murmur3", _hashed(keys, _murmur3, "hash bigint")),
        ("murmur2", _hashed(keys, _murmur2, "hash int")),
    ):
        times = in_turn(
            [lambda: _drain(empty), lambda: _drain(peer), lambda ours=ours: _drain(ours)], REPEATS
        )
        (hop, hop_cpu), (udf, udf_cpu), (mine, mine_cpu) = times
        note = (
            f"{KEYS:,} keys: ours {mine:.2f} s, pandas_udf {udf:.2f} s, empty hop {hop:.2f} s; by CPU "
            f"{udf_cpu / mine_cpu:.3g} times"
        )
        figures.append(
            (
                f"{name} a row in Spark: a pandas_udf around mmh3 over ours",
                udf / mine,
                "times",
                "at least 1.5",
                note,
            )
        )
        note = f"by CPU {hop_cpu / mine_cpu:.3g}"
        figures.append(
            (
                f"{name} a row in Spark: rate of an empty mapInArrow hop",
                hop / mine,
                "of it",
                "at least 0.7",
                note,
            )
        )
    return figures


def _hashed(
    keys: DataFrame, task: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str
) -> DataFrame:
    return keys.mapInArrow(task, schema)


def _murmur3(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_arrays(
            [pa.array(murmur3_column(batch.column(0)).astype("int64"))], ["hash"]
        )


def _murmur2(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array(murmur2_column(batch.column(0)))], ["hash"])


def _drain(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _both(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    (first, _), (second, _) = in_turn([one, other], REPEATS)
    return first, second

"""Keys through all strategies at 16 consumers, beside one `hash()` histogram of Spark over the same keys in
the same run.

HIGHWATER_BENCH_KEYS: how many records (2 million); by hand with 100,000,000. They are read from Parquet, ours
by a study's own reader.
"""

import os
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.routing import route_counts
from broker_core.pipeline.sources.read import source_read
from broker_core.pipeline.strategies import strategies_offered, strategies_parse
from tests.bench.cpu import in_turn
from tests.bench.spark import bench_spark

Figure = tuple[str, float, str, str, str]

KEYS = int(os.environ.get("HIGHWATER_BENCH_KEYS", "2000000"))
DISTINCT_OF_REPEATED = 200_000
CONSUMERS = 16
REPEATS = 3
WORKLOADS = (
    ("repeat", f"pmod(xxhash64(id), {DISTINCT_OF_REPEATED})", 3),
    ("are all distinct", "id", 6),
)


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, bench_spark(Path(folder), driver_memory="4g") as spark:
        for place, (name, number, bar) in enumerate(WORKLOADS):
            figures.append(_routed(spark, str(Path(folder) / str(place)), name, number, bar))
    return figures


def _routed(spark: SparkSession, path: str, name: str, number: str, bar: int) -> Figure:
    key = f"cast(concat('user-', cast({number} as string)) as binary)"
    spark.range(KEYS, numPartitions=8).selectExpr(
        f"{key} as key", "cast(100 + id % 900 as bigint) as bytes"
    ).write.parquet(path)
    records = spark.read.parquet(path)
    source = {"kind": "parquet", "path": path, "key": "key", "size": "bytes"}
    strategies = strategies_parse([f"{each['model']}.{each['algorithm']}" for each in strategies_offered()])
    steps = history_steps(history_check({"kind": "given", "start": CONSUMERS}))
    counts = []

    def histogram() -> None:
        records.selectExpr(f"pmod(hash(key), {CONSUMERS}) as owner").groupBy("owner").count().collect()

    def ours() -> None:
        counts.append(route_counts(source_read(spark, source), strategies, steps))

    (peer, peer_cpu), (mine, mine_cpu) = in_turn([histogram, ours], REPEATS)
    note = (
        f"{KEYS:,} records, {counts[-1].keys:,} keys, {len(strategies)} strategies: "
        f"{mine:.1f} s, histogram {peer:.1f} s"
    )
    note += f"; CPU {mine_cpu:.1f} s, {peer_cpu:.1f} s: {mine_cpu / peer_cpu:.3g} times"
    return (
        f"keys that {name}: all strategies' time over a hash() histogram's",
        mine / peer,
        "times",
        f"at most {bar}",
        note,
    )

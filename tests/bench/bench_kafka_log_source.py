"""How fast Spark reads a log folder: 10-byte keys, 100-byte values, batches of 1,000, on two cores, beside
kafka-python's reader in the same run."""

import os
import tempfile
import time
from pathlib import Path

from kafka.record.default_records import DefaultRecordBatch as PythonBatch

from broker_core.kafka.log.arrow_columns import arrow_columns
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import RecordBatch, encode_pairs_batch
from broker_core.pipeline.sources.kafka_log import kafka_log_register
from tests.bench.spark import bench_spark

Figure = tuple[str, float, str, str, str]

NOW = 1_700_000_000_000
BATCH = 1_000
PARTITIONS = 2
RECORDS = int(os.environ.get("HIGHWATER_BENCH_RECORDS", "5000000"))
ROUNDS = 6


def run() -> list[Figure]:
    """Measure. Returns (what, value, unit, bar, note) rows."""
    pairs = [(b"key-%06d" % (number * 7919 % 1_000_000), b"v" * 100) for number in range(BATCH)]
    batch = encode_pairs_batch(pairs, timestamp=NOW)
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as path:
        folder = Path(path)
        for partition in range(PARTITIONS):
            log = PartitionLog.open(
                DiskFolder(folder / "logs" / f"bench-{partition}"), None, now_ms=NOW, was_closed=True
            )
            for _ in range(RECORDS // BATCH // PARTITIONS):
                log.append(batch.data, now_ms=NOW)
            log.close(NOW)
        whole = RECORDS // BATCH // PARTITIONS * PARTITIONS * BATCH
        with bench_spark(folder) as spark:
            kafka_log_register(spark)

            def read(view: str, schema: str, columns: list[str]) -> float:
                frame = (
                    spark.read.format("kafka_log")
                    .option("view", view)
                    .schema(schema)
                    .load(str(folder / "logs"))
                    .selectExpr(*columns)
                )
                best = float("inf")
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    assert frame.first()[0] == whole
                    best = min(best, time.perf_counter() - began)
                return whole / best

            records = read(
                "records",
                "key binary, value binary, offset bigint",
                ["count(key)", "sum(length(value))", "max(offset)"],
            )
            sizes = read(
                "sizes",
                "key binary, value_bytes int, offset bigint",
                ["count(key)", "sum(value_bytes)", "max(offset)"],
            )
    ours, theirs = _decoders(batch)
    return [
        (
            "read a log folder, keys and values",
            records,
            "records/s",
            "at least 1,000,000",
            f"{whole:,} records, two cores",
        ),
        ("read a log folder, keys and sizes", sizes, "records/s", "at least 1,000,000", ""),
        (
            "decode a batch of 1,000: kafka-python's time over ours",
            theirs / ours,
            "times",
            "none",
            f"{BATCH / ours:,.0f} records/s, one core",
        ),
    ]


def _decoders(batch: RecordBatch) -> tuple[float, float]:
    """Processor time for a batch: all columns as Arrow, and kafka-python's records one by one."""
    group = [batch] * 64
    list(arrow_columns(group))

    def ours() -> None:
        list(arrow_columns(group))

    content = bytes(batch.data)

    def theirs() -> None:
        for record in PythonBatch(content):
            _ = record.key, record.value

    return _best(ours, 5) / len(group), _best(theirs, 20)


def _best(work: object, rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()  # type: ignore[operator]
        best = min(best, time.process_time() - began)
    return best


if __name__ == "__main__":
    for figure in run():
        print(*figure, sep="  ")

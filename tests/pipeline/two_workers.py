"""Run by test_two_workers.py in its own process: a study on two worker processes, told as JSON on the last
line.

The same Spark is a Spark Connect server too, and a second process asks it for the same study.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.routing import route_counts
from broker_core.pipeline.session import spark_open, spark_stop
from broker_core.pipeline.strategies import strategies_default
from broker_core.pipeline.study import study_run
from broker_core.pipeline.study_request import study_check
from tests.pipeline.keys import mixed_keys, workload

COUNT = 2_000
FOREIGN = {"django", "dashboard", "mqsite", "celery", "channels"}


def study(spark: SparkSession) -> list[Any]:
    """All numbers of a small study."""
    records = workload(spark, mixed_keys(COUNT, seed=11), [number % 500 for number in range(COUNT)], slices=2)
    steps = history_steps(history_check({"kind": "autoscale", "from": 2, "to": 6}))
    counts = route_counts(records, strategies_default(), steps)
    return [
        [each.strategy.id, each.records.tolist(), each.keys.tolist(), each.bytes_moved.tolist()]
        for each in counts.strategies
    ]


def small_study(spark: SparkSession, folder: Path) -> dict[str, str]:
    """The files of a whole study of few records in three files, each by its bytes' digest."""
    source = folder / "orders"
    source.mkdir(parents=True, exist_ok=True)
    for number in range(3):
        rows = "".join(
            f"{'' if row % 17 == 0 else f'k{row * row % 5_003}'},{'x' if row % 43 == 0 else row}\n"
            for row in range(2_000 + number)
        )
        (source / f"{number}.csv").write_text("customer,size\n" + rows)
    request = study_check(
        {
            "source": {"kind": "csv", "path": str(source), "key": "customer", "size": "size"},
            "strategies": ["kafka.sticky", "pulsar.consistent_hash"],
            "history": {"kind": "given", "start": 2, "changes": [{"kind": "join"}]},
            "service": {"records_max": 2_000},
        }
    )
    study_run(spark, request, folder / "result", lambda _: None, lambda: False)
    return {
        file.name: sha256(file.read_bytes()).hexdigest() for file in sorted((folder / "result").iterdir())
    }


def who_runs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a worker has loaded once it can hash, and the folder it runs in: each executor has its own."""
    from broker_core.pipeline import route_tasks

    for _ in batches:
        pass
    loaded = sorted({name.partition(".")[0] for name in sys.modules} & FOREIGN)
    row = {"hashes": [route_tasks.__name__], "loaded": [",".join(loaded)], "folder": [str(Path.cwd())]}
    yield pa.RecordBatch.from_pydict(row)


def main(work_dir: str) -> None:
    port = free_port()
    options = {
        # Both workers must have come before the first job, or one of them does all of it.
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
        "spark.executor.memory": "512m",
        "spark.locality.wait": "0",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    spark = spark_open(
        work_dir=Path(work_dir),
        master="local-cluster[2,1,512]",
        driver_memory="512m",
        shuffle_partitions=2,
        options=options,
    )
    try:
        told = study(spark)
        whole = small_study(spark, Path(work_dir))
        workers = (
            spark.range(2, numPartitions=2)
            .mapInArrow(who_runs, "hashes string, loaded string, folder string")
            .collect()
        )
        remote = [sys.executable, "-m", "tests.pipeline.two_workers", work_dir, f"sc://127.0.0.1:{port}"]
        over_connect = json.loads(
            subprocess.run(remote, stdout=subprocess.PIPE, check=True, timeout=300).stdout
        )
        loaded, folders = {row.loaded for row in workers}, {row.folder for row in workers}
        print(
            json.dumps(
                {
                    "told": told,
                    "whole": whole,
                    "over_connect": over_connect,
                    "loaded": sorted(loaded),
                    "folders": len(folders),
                }
            )
        )
    finally:
        spark_stop(spark)


def ask(work_dir: str, remote: str) -> None:
    """The study as a Spark Connect server does it, as JSON."""
    # A server's worker compiles the rules again, which takes longer than the study: one worker is enough.
    spark = spark_open(work_dir=Path(work_dir) / "client", remote=remote, shuffle_partitions=1)
    try:
        print(json.dumps({"told": study(spark), "whole": small_study(spark, Path(work_dir))}))
    finally:
        spark_stop(spark)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


if __name__ == "__main__":
    (ask if len(sys.argv) == 3 else main)(*sys.argv[1:])

"""Run by test_two_workers.py in a process of its own: a study on two worker processes, told as JSON on the last line."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.routing import route_counts
from broker_core.pipeline.session import spark_open, spark_stop
from broker_core.pipeline.strategies import strategies_default
from tests.pipeline.keys import mixed_keys, workload

COUNT = 2_000
FOREIGN = {"django", "dashboard", "mqsite", "celery", "channels"}


def study(spark: SparkSession) -> list[Any]:
    """All numbers of a small study, counted both ways."""
    records = workload(spark, mixed_keys(COUNT, seed=11), [number % 500 for number in range(COUNT)], slices=2)
    steps = history_steps(history_check({"kind": "autoscale", "from": 2, "to": 6}))
    told = []
    for grouped in (True, False):
        counts = route_counts(spark, records, strategies_default(), steps, grouped=grouped)
        told.append([[each.strategy.id, each.records.tolist(), each.keys.tolist(), each.bytes_moved.tolist()] for each in counts.strategies])
    return told


def who_runs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a worker has loaded once it can hash, and the folder it runs in: each executor has its own."""
    from broker_core.pipeline import route_tasks

    for _ in batches:
        pass
    loaded = sorted({name.partition(".")[0] for name in sys.modules} & FOREIGN)
    row = {"hashes": [route_tasks.__name__], "loaded": [",".join(loaded)], "folder": [str(Path.cwd())]}
    yield pa.RecordBatch.from_pydict(row)


def main(work_dir: str) -> None:
    # Both workers must have come before the first job, or one of them does all of it.
    options = {"spark.scheduler.minRegisteredResourcesRatio": "1", "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
               "spark.executor.memory": "512m", "spark.locality.wait": "0"}  # fmt: skip
    spark = spark_open(work_dir=Path(work_dir), master="local-cluster[2,1,512]", driver_memory="512m", shuffle_partitions=2, options=options)
    try:
        told = study(spark)
        workers = spark.range(2, numPartitions=2).mapInArrow(who_runs, "hashes string, loaded string, folder string").collect()
        print(json.dumps({"told": told, "loaded": sorted({row.loaded for row in workers}), "folders": len({row.folder for row in workers})}))
    finally:
        spark_stop(spark)


if __name__ == "__main__":
    main(sys.argv[1])

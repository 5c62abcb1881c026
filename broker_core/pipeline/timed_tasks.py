"""The timed runs of a study as Spark's tasks: one for each strategy, as many at once as there are cores.

    strategies, steps, timetable, records ──► a task each: timed_run ──► (place, its steps) ──► in the order of the strategies

The lab runs in Spark's Python workers, so these need what the core needs without Django: numpy, msgspec,
mmh3, crc32c and cramjam.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from broker_core.lab.scenario import LaneSpec
from broker_core.lab.workload.base import Workload
from broker_core.pipeline.members import Step
from broker_core.pipeline.timed import TimedStep, Timetable, timed_run

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

Inputs = tuple[Sequence[LaneSpec], Sequence[Step], Timetable, Workload, int, Sequence[int | None]]


def timed_runs(
    spark: SparkSession,
    specs: Sequence[LaneSpec],
    steps: Sequence[Step],
    table: Timetable,
    workload: Workload,
    seed: int,
    counter: Accumulator[int] | None = None,
    keyless_sizes: Sequence[int | None] | None = None,
) -> list[list[TimedStep]]:
    """`timed_run` of each strategy. It is one Spark job, so whoever cancels its group ends the runs. counter:
    told of each that is done. keyless_sizes: of each, as `timed_run` takes it; None: all send keys."""
    sizes = keyless_sizes if keyless_sizes is not None else [None] * len(specs)
    task = partial(_run, (specs, steps, table, workload, seed, sizes), counter)
    rows = spark.range(0, len(specs), 1, len(specs)).mapInArrow(task, "place int, steps binary").collect()
    found = {row["place"]: msgspec.msgpack.decode(row["steps"], type=list[TimedStep]) for row in rows}
    return [found[place] for place in range(len(specs))]


def _run(
    inputs: Inputs, counter: Accumulator[int] | None, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    specs, steps, table, workload, seed, sizes = inputs
    for batch in numbers:
        for place in batch.column(0).to_pylist():
            run = timed_run(specs[place], steps, table, workload, seed, keyless_size=sizes[place])
            timed = msgspec.msgpack.encode(run)
            if counter is not None:
                counter.add(1)
            yield pa.RecordBatch.from_arrays(
                [pa.array([place], pa.int32()), pa.array([timed], pa.binary())], ["place", "steps"]
            )

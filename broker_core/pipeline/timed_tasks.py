"""The timed runs of a study as Spark's tasks: one for each strategy, as many at once as there are cores.

    strategies, steps, timetable, records ──► a task each: timed_run ──► (place, its steps) ──► in the order of the strategies

The lab runs in Spark's Python workers, so these need what the core needs without Django: numpy, msgspec,
mmh3, crc32c and cramjam.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa

from broker_core.lab.scenario import LaneSpec
from broker_core.lab.workload.base import Workload
from broker_core.pipeline.members import Step
from broker_core.pipeline.strategies import Strategy
from broker_core.pipeline.timed import TimedStep, Timetable, timed_run

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession


class Run(NamedTuple):
    """What one strategy's run needs of its own. steps: with the names of its processes. keyless_size: as `timed_run`
    takes it."""

    spec: LaneSpec
    steps: Sequence[Step]
    keyless_size: int | None = None


def run_of(strategy: Strategy, steps: Sequence[Step], seed: int, *, topic: str, mean_size: int) -> Run:
    """The run of a strategy under a history. mean_size: of the records, in bytes, where they go without keys."""
    family = strategy.family
    return Run(
        strategy.lane_spec(topic=topic),
        steps if family.history is None else family.history(steps, seed),
        None if family.sends_keys else mean_size,
    )


Inputs = tuple[Sequence[Run], Timetable, Workload, int]


def timed_runs(
    spark: SparkSession,
    runs: Sequence[Run],
    table: Timetable,
    workload: Workload,
    seed: int,
    counter: Accumulator[int] | None = None,
) -> list[list[TimedStep]]:
    """`timed_run` of each strategy. It is one Spark job, so whoever cancels its group ends the runs. counter:
    told of each that is done."""
    task = partial(_run, (runs, table, workload, seed), counter)
    rows = spark.range(0, len(runs), 1, len(runs)).mapInArrow(task, "place int, steps binary").collect()
    found = {row["place"]: msgspec.msgpack.decode(row["steps"], type=list[TimedStep]) for row in rows}
    return [found[place] for place in range(len(runs))]


def _run(
    inputs: Inputs, counter: Accumulator[int] | None, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    runs, table, workload, seed = inputs
    for batch in numbers:
        for place in batch.column(0).to_pylist():
            spec, steps, size = runs[place]
            run = timed_run(spec, steps, table, workload, seed, keyless_size=size)
            timed = msgspec.msgpack.encode(run)
            if counter is not None:
                counter.add(1)
            yield pa.RecordBatch.from_arrays(
                [pa.array([place], pa.int32()), pa.array([timed], pa.binary())], ["place", "steps"]
            )

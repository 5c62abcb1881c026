"""A workload as Spark sees it: its records, its bad rows, and a way to work on the records in the very tasks
that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

BAD_SCHEMA = "line bigint, reason string, text string, file string"
BAD_ARROW = pa.schema(
    [("line", pa.int64()), ("reason", pa.string()), ("text", pa.string()), ("file", pa.string())]
)
RECORD_SCHEMA = "key binary, at_us bigint, bytes bigint"

Batches = Iterator[pa.RecordBatch]
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Reading:
    """How our own readers read a source. tasks: how many there are. read: from batches of task numbers to
    records. counter: told how many records each task has read, at its end. both: records and, in batches with
    BAD_SCHEMA's columns, what is bad among them; None: a source that cannot have any."""

    spark: SparkSession
    tasks: int
    read: Task
    counter: Accumulator[int] | None = None
    both: Task | None = None

    def map_in_arrow(self, work: Task, schema: str) -> DataFrame:
        """`work` over the batches that each task reads."""
        read = self.read if self.counter is None else partial(_counted, self.counter, self.read)
        return self.numbers().mapInArrow(partial(_one_after_the_other, read, work), schema)

    def both_in_arrow(
        self, work: Callable[[int, Batches], Iterator[pa.RecordBatch]], schema: str
    ) -> DataFrame:
        """`work(task number, batches)` over what each task reads, bad rows among it."""
        return self.numbers().mapInArrow(
            partial(_each_task, self.counter, self.both or self.read, work), schema
        )

    def numbers(self) -> DataFrame:
        """The tasks' numbers, each in its own task."""
        return self.spark.range(0, self.tasks, 1, max(1, self.tasks))


@dataclass(frozen=True, slots=True)
class Workload:
    """records: key binary (null: no key), at_us bigint or null, bytes bigint, and ordinal bigint if it was
    asked for.

    bad: line bigint, reason string, text string, file string; None for a source that cannot have any.
    reading: None where Spark reads the records.
    """

    records: DataFrame
    bad: DataFrame | None = None
    reading: Reading | None = None

    @classmethod
    def read_by(cls, reading: Reading, schema: str, bad: Task | None = None) -> Workload:
        """A workload of our own readers. schema: of what `reading` reads. bad: from batches of task numbers
        to bad rows."""
        bad_rows = None if bad is None else reading.numbers().mapInArrow(bad, BAD_SCHEMA)
        return cls(reading.map_in_arrow(iter, schema), bad_rows, reading)


def _counted(
    counter: Accumulator[int], read: Task, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in read(numbers):
        counter.add(batch.num_rows)
        yield batch


def _each_task(
    counter: Accumulator[int] | None,
    read: Task,
    work: Callable[[int, Batches], Batches],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in range(batch.num_rows):
            one = batch.slice(number, 1)
            yield from work(one.column(0)[0].as_py(), _records_counted(counter, read(iter([one]))))


def _records_counted(counter: Accumulator[int] | None, batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if counter is not None and "reason" not in batch.schema.names:
            counter.add(batch.num_rows)
        yield batch


def _one_after_the_other(
    read: Task, work: Task, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return work(read(numbers))

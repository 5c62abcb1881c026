"""A workload as Spark sees it: its records, its bad rows, and a way to work on the records in the very tasks that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SAMPLE_ROWS = 65_536
BAD_SCHEMA = "line bigint, reason string, text string, file string"
RECORD_SCHEMA = "key binary, at_us bigint, bytes bigint"
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Workload:
    """records: key binary (null: no key), at_us bigint or null, bytes bigint, and ordinal bigint if it was asked for.

    bad: line bigint, reason string, text string, file string; None for a source that cannot have any. tasks, read: rows of which each task
    makes its records, and how; None where Spark reads them.
    """

    records: DataFrame
    bad: DataFrame | None = None
    tasks: DataFrame | None = None
    read: Task | None = None

    @classmethod
    def read_in_tasks(cls, tasks: DataFrame, read: Task, schema: str, bad: DataFrame | None = None) -> Workload:
        """A workload of our own readers. read: from a task's rows to records of `schema`."""
        return cls(tasks.mapInArrow(read, schema), bad, tasks, read)

    def map_in_arrow(self, columns: Sequence[str], work: Task, schema: str) -> DataFrame:
        """`work` over batches that hold at least these columns of the records, as mapInArrow does it.

        Where the readers are ours they hand on to it in the same Python process: by way of Spark's rows, there and back, counting a hundred
        million keys takes four times as long.
        """
        if self.tasks is None or self.read is None:
            return self.records.select(*columns).mapInArrow(work, schema)
        return self.tasks.mapInArrow(partial(_one_after_the_other, self.read, work), schema)

    def sample_in_arrow(self, columns: Sequence[str], work: Task, schema: str) -> DataFrame:
        """`work` over the first rows of each task, SAMPLE_ROWS or a batch more, or over the first of all where Spark reads the records."""
        if self.tasks is None or self.read is None:
            return self.records.select(*columns).limit(SAMPLE_ROWS).mapInArrow(work, schema)
        return self.tasks.mapInArrow(partial(_first_rows, self.read, work), schema)


def _one_after_the_other(read: Task, work: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return work(read(batches))


def _first_rows(read: Task, work: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from work(_until(SAMPLE_ROWS, read(batches)))
    # A Python process whose rows were not all taken is ended, and the next one takes a second to start.
    for _ in batches:
        pass


def _until(rows: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch
        rows -= batch.num_rows
        if rows <= 0:
            return

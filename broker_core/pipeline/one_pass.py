"""A workload of few tasks in one Spark job: each task reads its part once and hands on its keys counted; the
driver puts them together.

    task 0  read ─► count by key ─┐ keys, places, records, bytes
    task 1  read ─► count by key ─┼──────────► driver: hottest keys, a sample, counts by unit
            bad rows, times ──────┘            (hot_key_tasks.py, route_tasks.py: the very functions that larger workloads run in Spark)

Jobs with a shuffle cost seconds each before they see a record; keys that fit into the driver need none. What
does not fit is said by the task that finds out, which stops reading, and the workload takes the way of the
large ones. All jobs run in the caller's thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Json
from broker_core.pipeline.group_tasks import Batches, count_by_key, grouped
from broker_core.pipeline.sources.problems import Problems
from broker_core.pipeline.sources.workload import Workload
from broker_core.pipeline.strategies.base import Int64s

TASKS_MAX = 8
"""Of files 256 MB: where there are more, all cores of a cluster are worth a shuffle."""
KEPT_BYTES = 128 << 20
"""Counted keys that the driver takes, of all tasks together: about three million short ones."""
CHUNK_BYTES = 8 << 20
CHUNKS_SQL = "task int, number int, kind int, data binary"
COUNTED, BAD, FACTS = 0, 1, 2

_CHUNKS = pa.schema(
    [("task", pa.int32()), ("number", pa.int32()), ("kind", pa.int32()), ("data", pa.binary())]
)


@dataclass(frozen=True, slots=True)
class OnePass:
    """What one job found. counted: of each task rows of COUNTED_SCHEMA, its keys grouped by stretch. problems: what
    there is to say of the rows. first_us, last_us: of the records that have a time. key_bytes_max: of the longest
    key."""

    counted: list[Any]
    problems: Problems
    first_us: int | None
    last_us: int | None
    key_bytes_max: int

    def by_key(self) -> list[Any]:
        """As `counted`, but the same key of several stretches as one row."""
        return [
            table if pc.max(table["place"]).as_py() in (None, 0) else _of_one_place(table)
            for table in self.counted
        ]


def one_pass(workload: Workload, ats: Sequence[int], bad_kept: int) -> OnePass | None:
    """Read the workload in one job. ats: ascending, records at which a new stretch begins; with them the
    workload has ordinals.

    bad_kept: how many bad rows to bring along. None: it is not ours to read, has too many tasks, or more keys
    than the driver takes.
    """
    reading = workload.reading
    if reading is None or not 0 < reading.tasks <= TASKS_MAX:
        return None
    work = partial(_task, tuple(ats), KEPT_BYTES // reading.tasks, bad_kept)
    chunks = (
        reading.both_in_arrow(work, CHUNKS_SQL)
        .toArrow()
        .sort_by([("task", "ascending"), ("number", "ascending")])
    )
    tasks: dict[int, list[Any]] = {}
    problems = Problems(bad_kept)
    facts: list[Json] = []
    for task, kind, data in zip(
        *(chunks[name].to_pylist() for name in ("task", "kind", "data")), strict=True
    ):
        if kind == FACTS:
            facts.append(json.loads(data))
        elif kind == COUNTED:
            tasks.setdefault(task, []).append(pa.ipc.open_stream(data).read_all())
        else:
            problems.join_summary(pa.ipc.open_stream(data).read_all().to_pylist())
    if any(fact["is_too_large"] for fact in facts):
        return None
    return OnePass(
        counted=[pa.concat_tables(tables) for tables in tasks.values()],
        problems=problems,
        first_us=min((fact["first_us"] for fact in facts if fact["first_us"] is not None), default=None),
        last_us=max((fact["last_us"] for fact in facts if fact["last_us"] is not None), default=None),
        key_bytes_max=max((fact["key_bytes_max"] for fact in facts), default=0),
    )


def _of_one_place(counted: Any) -> Any:
    place = counted.schema.get_field_index("place")
    return grouped([counted.set_column(place, "place", pa.array(np.zeros(counted.num_rows, np.int32)))])


@dataclass
class _Facts:
    """What a task notices beside the keys."""

    problems: Problems
    first_us: int | None = None
    last_us: int | None = None
    key_bytes_max: int = 0
    is_too_large: bool = False

    def good(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """The records among the batches; what there is to say of rows stays here."""
        for batch in batches:
            if "reason" in batch.schema.names:
                self.problems.add(batch)
                continue
            times = pc.min_max(batch.column("at_us")).as_py()
            if times["min"] is not None:
                self.first_us = times["min"] if self.first_us is None else min(self.first_us, times["min"])
                self.last_us = times["max"] if self.last_us is None else max(self.last_us, times["max"])
            self.key_bytes_max = max(
                self.key_bytes_max, pc.max(pc.binary_length(batch.column("key"))).as_py() or 0
            )
            yield batch

    def to_json(self) -> bytes:
        names = ("first_us", "last_us", "key_bytes_max", "is_too_large")
        return json.dumps({name: getattr(self, name) for name in names}).encode()


def _task(
    ats: tuple[int, ...], kept_bytes: int, bad_kept: int, task: int, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """What one task makes of the batches that it reads, good and bad."""
    facts, size = _Facts(Problems(bad_kept)), 0
    counted: list[pa.RecordBatch] = []
    for batch in count_by_key(ats, held_bytes=kept_bytes)(facts.good(batches)):
        size += batch.nbytes
        if size > kept_bytes:
            facts.is_too_large = True
            counted.clear()
            break
        counted.append(batch)
    chunks = (
        [(COUNTED, data) for data in _streams(counted)]
        + [(BAD, data) for data in _streams([facts.problems.summary()])]
        + [(FACTS, facts.to_json())]
    )
    for number, (kind, data) in enumerate(chunks):
        yield pa.RecordBatch.from_arrays(
            [pa.array([each]) for each in (task, number, kind, data)], names=_CHUNKS.names
        ).cast(_CHUNKS)


def _streams(batches: Sequence[pa.RecordBatch]) -> Iterator[bytes]:
    """The batches as Arrow streams of about CHUNK_BYTES: Spark moves each as one value, whatever is in it."""
    start = size = 0
    for place, batch in enumerate(batches):
        size += batch.nbytes
        if size >= CHUNK_BYTES or place + 1 == len(batches):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                for each in batches[start : place + 1]:
                    stream.write_batch(each)
            yield sink.getvalue().to_pybytes()
            start, size = place + 1, 0


def first_of_keys(keys: Any, places: Int64s) -> Int64s:
    """1 where a row is of the first stretch in which its key comes, else 0. keys: an array, null for no key;
    no row comes twice."""
    codes = keys.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    first = np.full(int(codes.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, codes, places)
    is_first: Int64s = (places == first[codes]).astype(np.int64)
    return is_first

"""One pass over a workload: each task reads its part once and groups it by key; whoever has a shard of the keys has
all rows of them, so it counts them by unit and keeps the hottest and a sample.

    task 0  read ─► group by key ─► pieces by shard ─┐             ┌─► shards 0, 3: group again ─► by unit, hottest, sample ─┐
    task 1  read ─► group by key ─► pieces by shard ─┴─► shuffle ──┴─► shards 1, 2: group again ─► by unit, hottest, sample ─┴─► driver: sums
            bad rows, times ───────────────────────────────────────────────────────────────────────────────────────────────────► driver

A piece is one value for Spark, an Arrow stream, so that no row passes between Java and Python. A workload of one
task has one shard and needs no shuffle: the task does both. All numbers are exact and the same however the workload
is cut. Memory: a task holds what `group_tasks.py` lets it, then one shard. All jobs run in the caller's thread, so a
job group that it has set cancels them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Json
from broker_core.hashing.xxhash64 import xxhash64_column
from broker_core.pipeline.group_tasks import (
    Batches,
    by_key,
    count_by_key,
    first_of_keys,
    grouped,
)
from broker_core.pipeline.hot_keys import KeyProfile, KeySummary
from broker_core.pipeline.route_tasks import COUNTS_SCHEMA, EMPTY_KEY, NO_KEY, Counter
from broker_core.pipeline.sources.problems import SUMMARY_SCHEMA, Problems, summed_up
from broker_core.pipeline.strategies.base import Int64s
from broker_core.pipeline.units import UnitMap

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from broker_core.pipeline.sources.workload import Workload

SHARDS_MIN, SHARDS_MAX = 64, 256
"""At least so many that some partitions share them evenly; a shard of the largest workloads still fits a task."""
SHARD_SHIFT = 40
"""The sample goes by the order of the mixes, the shard by bits in their middle: neither tells the other."""
COUNTED, BAD, FACTS, COUNTS, HOT, SAMPLED = range(6)
PIECES_SQL = "task int, number int, kind int, shard int, data binary"

_PIECES = pa.schema(
    [*((name, pa.int32()) for name in ("task", "number", "kind", "shard")), ("data", pa.binary())]
)
_RECORD_COLUMNS = ("key", "at_us", "bytes", "ordinal")


@dataclass(slots=True)
class OnePass:
    """What the pass found. counts: of each map [place, unit, (keys, records, bytes)], of records with a key. odd:
    [no key or empty key, place, the same]. first_us, last_us: of the records that have a time. key_bytes_max: of the
    longest key."""

    counts: list[Int64s]
    odd: Int64s
    profile: KeyProfile
    problems: Problems
    first_us: int | None
    last_us: int | None
    key_bytes_max: int


def one_pass(workload: Workload, maps: Sequence[UnitMap], ats: Sequence[int], bad_kept: int) -> OnePass:
    """Read the workload in one job. maps: of all strategies, none twice. ats: ascending, records at which a new
    stretch begins; with them the workload has ordinals. bad_kept: how many bad rows to bring along."""
    places, reading = len(ats) + 1, workload.reading
    if reading is not None and reading.tasks == 1:
        both = partial(_alone, tuple(ats), bad_kept, maps, places)
        found = reading.both_in_arrow(both, PIECES_SQL)
    else:
        tasks = SHARDS_MIN if reading is None else reading.tasks
        shards = min(SHARDS_MAX, max(SHARDS_MIN, 1 << (tasks - 1).bit_length()))
        read = partial(_pieces, tuple(ats), bad_kept, shards)
        pieces = (
            _of_rows(workload.records, read) if reading is None else reading.both_in_arrow(read, PIECES_SQL)
        )
        by_shard = pieces.repartition("shard").sortWithinPartitions("shard")
        found = by_shard.mapInArrow(partial(_counted, maps, places), PIECES_SQL)
    made = _joined(found.toArrow(), maps, places, bad_kept)
    if reading is None and workload.bad is not None:
        rows = workload.bad.mapInArrow(partial(summed_up, bad_kept), SUMMARY_SCHEMA).collect()
        made.problems.join_summary(row.asDict() for row in rows)
    return made


def _of_rows(records: DataFrame, read: Any) -> DataFrame:
    """Records that Spark itself reads: its rows pass to Python once."""
    columns = [name for name in _RECORD_COLUMNS if name in records.columns]
    return records.select(*columns).mapInArrow(partial(read, 0), PIECES_SQL)


# -- reading -------------------------------------------------------------------------------------------------


@dataclass
class _Facts:
    """What a task notices beside the keys."""

    problems: Problems
    first_us: int | None = None
    last_us: int | None = None
    key_bytes_max: int = 0

    def good(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """The records among the batches; what there is to say of rows stays here."""
        for batch in batches:
            if "reason" in batch.schema.names:
                self.problems.add(batch)
                continue
            if "at_us" in batch.schema.names:
                self._see(pc.min_max(batch.column("at_us")).as_py())
            self.key_bytes_max = max(
                self.key_bytes_max, pc.max(pc.binary_length(batch.column("key"))).as_py() or 0
            )
            yield batch

    def _see(self, times: Json) -> None:
        if times["min"] is not None:
            self.first_us = times["min"] if self.first_us is None else min(self.first_us, times["min"])
            self.last_us = times["max"] if self.last_us is None else max(self.last_us, times["max"])

    def to_json(self) -> bytes:
        return json.dumps(
            {name: getattr(self, name) for name in ("first_us", "last_us", "key_bytes_max")}
        ).encode()


def _pieces(
    ats: tuple[int, ...], bad_kept: int, shards: int, task: int, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """What one task makes of the batches that it reads, good and bad."""
    facts, number = _Facts(Problems(bad_kept)), 0
    for table in count_by_key(ats)(facts.good(batches)):
        for shard, rows in _by_shard(table, shards):
            yield _piece(task, number, COUNTED, shard, _stream(rows))
            number += 1
    yield _piece(task, number, BAD, -1, _stream(pa.Table.from_batches([facts.problems.summary()])))
    yield _piece(task, number + 1, FACTS, -1, facts.to_json())


def _alone(
    ats: tuple[int, ...], bad_kept: int, maps: Sequence[UnitMap], places: int, task: int, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Both halves in one task."""
    return _counted(maps, places, _pieces(ats, bad_kept, 1, task, batches))


def _by_shard(table: Any, shards: int) -> Iterator[tuple[int, Any]]:
    """A task's counted keys, cut by shard; those without a key are in that of the empty one."""
    if shards == 1 or not table.num_rows:
        yield 0, table
        return
    mix = xxhash64_column(pc.fill_null(table["key"].combine_chunks(), b""))
    shard = (mix >> SHARD_SHIFT) & (shards - 1)
    order = np.argsort(shard, kind="stable")
    in_order, ends = table.take(order), np.searchsorted(shard[order], np.arange(shards + 1))
    for each in range(shards):
        if ends[each + 1] > ends[each]:
            yield each, in_order.slice(ends[each], ends[each + 1] - ends[each])


def _stream(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _table(data: bytes) -> Any:
    return pa.ipc.open_stream(data).read_all()


def _piece(task: int, number: int, kind: int, shard: int, data: bytes) -> pa.RecordBatch:
    values = (task, number, kind, shard, data)
    return pa.RecordBatch.from_arrays(
        [pa.array([value], column.type) for value, column in zip(values, _PIECES, strict=True)],
        schema=_PIECES,
    )


# -- counting whole keys -------------------------------------------------------------------------------------


@dataclass
class _Shards:
    """The shards that one task counts, one after another."""

    maps: Sequence[UnitMap]
    places: int
    counter: Counter = field(init=False)
    summary: KeySummary = field(default_factory=KeySummary)

    def __post_init__(self) -> None:
        self.counter = Counter(self.maps, self.places)

    def add(self, pieces: Sequence[Any]) -> None:
        """All pieces of a shard."""
        if not pieces:
            return
        whole = grouped(pieces) if len(pieces) > 1 else pieces[0].combine_chunks()
        if not whole.num_rows:
            return
        keys, place = whole["key"].combine_chunks(), whole["place"].to_numpy().astype(np.int64)
        records, sizes = (whole[name].fill_null(0).to_numpy() for name in ("records", "bytes"))
        is_first = np.ones(len(keys), np.int64) if self.places == 1 else first_of_keys(keys, place)
        self.counter.add_rows(keys, is_first, records, sizes, place)
        keyed = whole.filter(pc.is_valid(whole["key"]))
        if self.places > 1:
            keyed = by_key(keyed)
        self.summary.add(keyed["key"].combine_chunks(), keyed["records"].to_numpy())

    def pieces(self) -> Iterator[pa.RecordBatch]:
        counts = pa.Table.from_batches([self.counter.to_batch()])
        for kind, table in ((COUNTS, counts), (HOT, self.summary.hot), (SAMPLED, self.summary.sample)):
            yield _piece(-1, 0, kind, -1, _stream(table))


def _counted(
    maps: Sequence[UnitMap], places: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over pieces, those of a shard together: their counts. What is not of a shard goes on as it is."""
    shards, current = _Shards(maps, places), -1
    held: list[Any] = []
    for batch in batches:
        kinds, numbers = batch.column("kind").to_pylist(), batch.column("shard").to_pylist()
        for row, (kind, shard) in enumerate(zip(kinds, numbers, strict=True)):
            if kind != COUNTED:
                yield batch.slice(row, 1)
                continue
            if shard != current:
                shards.add(held)
                held, current = [], shard
            held.append(_table(batch.column("data")[row].as_buffer()))
    shards.add(held)
    yield from shards.pieces()


# -- in the driver -------------------------------------------------------------------------------------------


def _joined(pieces: Any, maps: Sequence[UnitMap], places: int, bad_kept: int) -> OnePass:
    """All that the tasks found."""
    in_order = pieces.sort_by([("task", "ascending"), ("number", "ascending")])
    of_kind: dict[int, list[Any]] = {}
    for kind, data in zip(in_order["kind"].to_pylist(), in_order["data"], strict=True):
        of_kind.setdefault(kind, []).append(data.as_buffer())
    problems = Problems(bad_kept)
    for data in of_kind.get(BAD, ()):
        problems.join_summary(_table(data).to_pylist())
    facts = [json.loads(data.to_pybytes()) for data in of_kind.get(FACTS, ())]
    counts = [np.zeros((places * units.count, 3), np.int64) for units in maps]
    odd = np.zeros((2, places, 3), np.int64)
    for data in of_kind.get(COUNTS, ()):
        _add(_table(data), counts, odd)
    summary = KeySummary()
    for kind, join in ((HOT, summary.join_hot), (SAMPLED, summary.join_sample)):
        for data in of_kind.get(kind, ()):
            join(_table(data))
    return OnePass(
        counts=[each.reshape(places, -1, 3) for each in counts],
        odd=odd,
        profile=summary.profile(),
        problems=problems,
        first_us=min((fact["first_us"] for fact in facts if fact["first_us"] is not None), default=None),
        last_us=max((fact["last_us"] for fact in facts if fact["last_us"] is not None), default=None),
        key_bytes_max=max((fact["key_bytes_max"] for fact in facts), default=0),
    )


def _add(rows: Any, counts: Sequence[Int64s], odd: Int64s) -> None:
    """rows: of COUNTS_SCHEMA, none of a map and unit twice."""
    assert rows.schema.equals(COUNTS_SCHEMA)
    numbers = np.stack([rows[name].to_numpy() for name in ("keys", "records", "bytes")], axis=1)
    which, at = rows["map"].to_numpy(), rows["unit"].to_numpy()
    into = {**dict(enumerate(counts)), NO_KEY: odd[0], EMPTY_KEY: odd[1]}
    for number, array in into.items():
        mine = which == number
        array[at[mine]] += numbers[mine]

"""Routes a workload through all strategies at once, in Spark: who gets what in each step, and what each step
moves.

    records ─keys repeat──► grouped in the task, then by Spark ──► mapInArrow: hash, count by unit ──► sum ──► (driver) × owners in each step
            └keys distinct─► hash, count, prints by shard in the task ──► mapInArrow: keys seen twice ─┘

The first of these runs in the tasks that read the records (`Workload.map_in_arrow`); of records that Spark
reads, Spark does all grouping.

A unit (`units.py`) is a piece of a hash space that has one owner in every step, so one count per unit answers
for all steps, and the work per key does not grow with the history. Maps of units travel with the task;
executors need the core, numpy, numba and pyarrow, and what the lab needs (`timed_tasks.py`); no Django.
All numbers are exact, but see `route_tasks.py` for keys that agree in 96 bits, and `keyless.py` for records
without a key.
Memory: a task holds its counters and one batch of keys; the driver a row per unit. All jobs run in the
caller's thread, so a job group that it has set cancels them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from broker_core.pipeline import group_tasks, keyless, route_tasks
from broker_core.pipeline.one_pass import first_of_keys
from broker_core.pipeline.sources.workload import Workload
from broker_core.pipeline.strategies.base import (
    DEFAULT_SEED,
    DEFAULT_TOPIC,
    Int64s,
    RouteTable,
    SlotRule,
    Step,
    Strategy,
)
from broker_core.pipeline.units import ONE_UNIT, UnitMap, unit_map

OWNERS_MAX = 1 << 24
"""Owners of units in steps that are worked out together, 32 MB; beyond it a strategy gets units of its
own."""
ROWS_AT_ONCE = 65_536
DISTINCT_SHARE = 0.987
"""Of a sample's keys: where more of them are different, grouping would save too little. With evenly drawn
keys this is at 2.5 million keys."""


@dataclass(frozen=True)
class StrategyCounts:
    """One strategy's numbers; arrays of int64 with the step first.

    names: everybody who was ever there. records, bytes, keys: [step, consumer], of what was written before
    the step's end (the record `at` of the next step; without `at`: all), by the owners of this step. nobody:
    [step, (records, bytes, keys)] that no consumer owns. keys_moved, records_moved, bytes_moved: [step], of
    keys whose owner differs from the step before, among those written before the step's own `at`; keys_total:
    how many those are. The start moves nothing. RabbitMQ: all zero, as keys have no owner.
    """

    strategy: Strategy
    tables: list[RouteTable]
    names: tuple[str, ...]
    records: Int64s
    bytes: Int64s
    keys: Int64s
    nobody: Int64s
    keys_moved: Int64s
    keys_total: Int64s
    records_moved: Int64s
    bytes_moved: Int64s


@dataclass(frozen=True)
class RouteCounts:
    """A workload through all strategies.

    records, bytes: of the workload. keys: different keys, the empty one among them. no_key, no_key_bytes,
    empty_key: records.
    keyless_exact: whether records without a key are where the lab puts them, in every strategy. path:
    "grouped" or "distinct".
    """

    records: int
    bytes: int
    keys: int
    no_key: int
    no_key_bytes: int
    empty_key: int
    keyless_exact: bool
    path: str
    strategies: list[StrategyCounts]


def route_counts(
    workload: Workload,
    strategies: Sequence[Strategy],
    steps: Sequence[Step],
    *,
    seed: int = DEFAULT_SEED,
    topic: str = DEFAULT_TOPIC,
    grouped: bool | None = None,
    counted: Sequence[Any] | None = None,
) -> RouteCounts:
    """Count everything. workload: with ordinals where changes have an `at`; with them keyless records are
    placed one by one. seed, topic: of the lab that this is compared with. grouped: which way; None: by a
    sample. counted: the records grouped by key and stretch already, tables of COUNTED_SCHEMA: then only what
    depends on their order is asked of Spark.

    Raises CommandError where a lane refuses a change of the history.
    """
    tables = [strategy.routes(steps, seed=seed, topic=topic) for strategy in strategies]
    plan = _plan(strategies, tables)
    ats = sorted({step.at for step in steps[1:] if step.at is not None})
    if grouped is None:
        grouped = counted is not None or bool(ats) or _keys_repeat(workload)
    path = "grouped" if grouped or ats else "distinct"
    if counted is not None:
        counts, odd = _counted(counted, plan.maps, len(ats) + 1)
    else:
        counts, odd = (
            _grouped(workload, plan.maps, ats) if path == "grouped" else _distinct(workload, plan.maps)
        )
    sequence = _keyless_sequence(workload.records, ats, int(odd[0, :, 1].sum()), strategies)
    until, before = _places(steps, ats)
    out: list[StrategyCounts] = []
    for strategy, history, place, owners in zip(strategies, tables, plan.places, plan.owners, strict=True):
        if place is None:
            out.append(_strategy_counts(strategy, history, None, None, odd[0, :, None, 1:], until, before))
            continue
        keyed_units = np.flatnonzero(counts[place][:, :, 1].sum(axis=0)).tolist()
        no_key = keyless.by_unit(strategy.model, plan.maps[place], odd[0, :, 1:], sequence, seed, keyed_units)
        out.append(_strategy_counts(strategy, history, owners, counts[place], no_key, until, before))
    keys, keyed, keyed_bytes = counts[0].sum(axis=(0, 1)).tolist()
    no_key, no_key_bytes = odd[0, :, 1:].sum(axis=0).tolist()
    return RouteCounts(
        records=keyed + no_key,
        bytes=keyed_bytes + no_key_bytes,
        keys=keys,
        no_key=no_key,
        no_key_bytes=no_key_bytes,
        empty_key=int(odd[1, :, 1].sum()),
        keyless_exact=no_key == 0 or sequence is not None or not _needs_order(strategies),
        path=path,
        strategies=out,
    )


def route_keys(
    records: DataFrame,
    strategies: Sequence[Strategy],
    steps: Sequence[Step],
    *,
    seed: int = DEFAULT_SEED,
    topic: str = DEFAULT_TOPIC,
) -> DataFrame:
    """Each record's key with its owner after the last step: columns key, owner_0, owner_1, ... in the order
    of the strategies.

    An owner is a place in the names of the strategy's last table; -1: nobody, or no owner follows from the
    key alone (RabbitMQ, and records without a key under Kafka and TubeMQ). Lazy, as any DataFrame.
    """
    maps: list[UnitMap | None] = []
    owners: list[NDArray[np.int16] | None] = []
    no_key: list[int] = []
    for strategy in strategies:
        units = held = None
        if strategy.hash is not None:
            units, by_step = unit_map(strategy.hash, strategy.routes(steps, seed=seed, topic=topic))
            held = by_step[-1]
        maps.append(units)
        owners.append(held)
        no_key.append(
            int(held[keyless.none_key_unit(units)])
            if strategy.model == "pulsar" and units is not None and held is not None
            else -1
        )
    columns = ", ".join(f"owner_{number} smallint" for number in range(len(maps)))
    return records.select("key").mapInArrow(
        route_tasks.name_owners(maps, owners, no_key), f"key binary, {columns}"
    )


@dataclass(frozen=True)
class _Plan:
    """maps: one for all strategies of the same rule. places: strategy -> number of its map, None where keys
    have no owner.
    owners: strategy -> owners[step, unit].
    """

    maps: list[UnitMap]
    places: list[int | None]
    owners: list[NDArray[np.int16] | None]


def _plan(strategies: Sequence[Strategy], tables: Sequence[list[RouteTable]]) -> _Plan:
    plan = _Plan([], [None] * len(strategies), [None] * len(strategies))
    for members in _of_one_rule(strategies, tables):
        units, owners = unit_map(
            strategies[members[0]].hash or "", [table for number in members for table in tables[number]]
        )
        for number, mine in zip(members, np.split(owners, len(members)), strict=True):
            plan.places[number], plan.owners[number] = len(plan.maps), mine
        plan.maps.append(units)
    if not plan.maps:
        plan.maps.append(ONE_UNIT)
    return plan


def _of_one_rule(strategies: Sequence[Strategy], tables: Sequence[list[RouteTable]]) -> list[list[int]]:
    """Numbers of strategies that make the same slot of a key, so that one look-up serves all of them; groups
    are kept from growing large."""
    groups: dict[tuple[str, SlotRule, int], list[list[int]]] = {}
    for number, strategy in enumerate(strategies):
        if strategy.hash is None:
            continue
        first = tables[number][0]
        same = groups.setdefault((strategy.hash, first.rule, first.space), [[]])
        together = [tables[each][-1] for each in (*same[-1], number)]
        if sum(len(table.owners) for table in together) * len(together) * len(tables[number]) > OWNERS_MAX:
            same.append([])
        same[-1].append(number)
    return [group for same in groups.values() for group in same if group]


def _keys_repeat(workload: Workload) -> bool:
    """Whether grouping by key will shrink the workload, by the share of different keys among the first ones
    of some tasks."""
    sampled = workload.sample_in_arrow(("key",), group_tasks.count_different, group_tasks.DIFFERENT_SQL)
    batches = sampled.collect()
    different, keys = (sum(batch[column] for batch in batches) for column in ("different", "keys_there"))
    return bool(different <= DISTINCT_SHARE * keys)


def _place(ats: Sequence[int]) -> Column:
    """The stretch that a record is in: how many changes come at or before it."""
    if not ats:
        return F.lit(0)
    return F.size(F.filter(F.array(*(F.lit(at) for at in ats)), lambda at: at <= F.col("ordinal")))


def _grouped(workload: Workload, maps: Sequence[UnitMap], ats: Sequence[int]) -> tuple[list[Int64s], Int64s]:
    if (
        workload.reading is None
    ):  # what Spark reads it groups itself: every row would have to pass to Python first
        found = workload.records.select(
            "key", _place(ats).cast("int").alias("place"), F.lit(1).alias("records"), "bytes"
        )
    else:
        columns = ("key", "bytes", "ordinal") if ats else ("key", "bytes")
        found = workload.map_in_arrow(columns, group_tasks.count_by_key(ats), group_tasks.COUNTED_SQL)
    summed = (F.sum("records").alias("records"), F.sum("bytes").alias("bytes"))
    if ats:
        rows = found.groupBy("key", "place").agg(*summed)
        is_first = (F.col("place") == F.min("place").over(Window.partitionBy("key"))).cast("bigint")
    else:
        rows = found.groupBy("key").agg(*summed).withColumn("place", F.lit(0))
        is_first = F.lit(1).cast("bigint")
    rows = rows.select("key", "place", is_first.alias("is_first"), "records", "bytes")
    places = len(ats) + 1
    return _collected(
        rows.mapInArrow(route_tasks.count_grouped(maps, places), route_tasks.COUNTS_SQL), maps, places
    )


def _counted(counted: Sequence[Any], maps: Sequence[UnitMap], places: int) -> tuple[list[Int64s], Int64s]:
    """What `_grouped` finds, from what the tasks grouped: the rows of a key and stretch summed over the
    tasks, then counted by unit."""
    whole = group_tasks.grouped([group_tasks.COUNTED_SCHEMA.empty_table(), *counted])
    keys, place = whole["key"].combine_chunks(), whole["place"].to_numpy().astype(np.int64)
    columns = [keys, whole["place"], pa.array(first_of_keys(keys, place)), whole["records"], whole["bytes"]]
    rows = pa.Table.from_arrays(columns, names=["key", "place", "is_first", "records", "bytes"])
    batches = route_tasks.count_grouped(maps, places)(rows.to_batches(ROWS_AT_ONCE))
    return _arrays(pa.Table.from_batches(batches, route_tasks.COUNTS_SCHEMA), maps, places)


def _distinct(workload: Workload, maps: Sequence[UnitMap]) -> tuple[list[Int64s], Int64s]:
    shards = workload.map_in_arrow(("key", "bytes"), route_tasks.count_rows(maps), route_tasks.SHARDS_SQL)
    in_order = shards.repartition("shard").sortWithinPartitions("shard")
    return _collected(in_order.mapInArrow(route_tasks.count_shards(maps), route_tasks.COUNTS_SQL), maps, 1)


def _collected(counted: DataFrame, maps: Sequence[UnitMap], places: int) -> tuple[list[Int64s], Int64s]:
    return _arrays(
        counted.groupBy("map", "unit")
        .agg(*(F.sum(name).alias(name) for name in ("keys", "records", "bytes")))
        .toArrow(),
        maps,
        places,
    )


def _arrays(rows: Any, maps: Sequence[UnitMap], places: int) -> tuple[list[Int64s], Int64s]:
    """counts[map][place, unit, (keys, records, bytes)], and the same of records without key [0], with an
    empty one [1]. rows: of COUNTS_SCHEMA, none of a map and unit twice."""
    numbers = np.stack(
        [rows.column(name).to_numpy() for name in ("keys", "records", "bytes")], axis=1
    ).astype(np.int64)
    which, at = rows.column("map").to_numpy(), rows.column("unit").to_numpy()
    counts = [np.zeros((places * units.count, 3), np.int64) for units in maps]
    for number, array in enumerate(counts):
        mine = which == number
        array[at[mine]] = numbers[mine]
    odd = np.zeros((2, places, 3), np.int64)
    for row, number in enumerate((route_tasks.NO_KEY, route_tasks.EMPTY_KEY)):
        mine = which == number
        odd[row, at[mine]] = numbers[mine]
    return [array.reshape(places, -1, 3) for array in counts], odd


def _needs_order(strategies: Sequence[Strategy]) -> bool:
    return any(strategy.model in ("kafka", "tubemq") for strategy in strategies)


def _keyless_sequence(
    records: DataFrame, ats: Sequence[int], count: int, strategies: Sequence[Strategy]
) -> tuple[Int64s, Int64s] | None:
    """Place and bytes of each record without a key, in order; None where the order is unknown, they are too
    many, or nobody asks."""
    if (
        not 0 < count <= keyless.SEQUENCE_MAX
        or "ordinal" not in records.columns
        or not _needs_order(strategies)
    ):
        return None
    rows = records.where("key is null").select("ordinal", _place(ats).alias("place"), "bytes").toArrow()
    order = np.argsort(rows.column("ordinal").to_numpy(), kind="stable")
    return rows.column("place").to_numpy().astype(np.int64)[order], rows.column("bytes").to_numpy().astype(
        np.int64
    )[order]


def _places(steps: Sequence[Step], ats: Sequence[int]) -> tuple[list[int], list[int]]:
    """How many stretches each step counts up to its end, and how many are before its change."""
    if not ats:
        return [1] * len(steps), [1] * len(steps)
    before = [0 if step.at is None else ats.index(step.at) + 1 for step in steps]
    return [*before[1:], len(ats) + 1], before


def _strategy_counts(
    strategy: Strategy,
    tables: list[RouteTable],
    owners: NDArray[np.int16] | None,
    counts: Int64s | None,
    no_key: Int64s,
    until: Sequence[int],
    before: Sequence[int],
) -> StrategyCounts:
    """From counts by unit to counts by consumer. owners: [step, unit]; counts: [place, unit, (keys, records,
    bytes)], with keys only;
    no_key: [place, unit, (records, bytes)] of records without one."""
    names = tables[-1].names
    shares = np.zeros((len(tables), len(names) + 1, 3), np.int64)  # the last column is nobody's
    moved, total = np.zeros((len(tables), 3), np.int64), np.zeros(len(tables), np.int64)
    if owners is not None and counts is not None:
        so_far = np.concatenate([np.zeros((1, *counts.shape[1:]), np.int64), np.cumsum(counts, axis=0)])
        with_keyless = counts.copy()
        with_keyless[:, :, 1:] += no_key
        all_so_far = np.concatenate([so_far[:1], np.cumsum(with_keyless, axis=0)])
        for step in range(len(tables)):
            np.add.at(shares[step], owners[step], all_so_far[until[step]])  # owner -1 is the last column
            if step:
                seen = so_far[before[step]]
                moved[step] = seen[owners[step] != owners[step - 1]].sum(axis=0)
                total[step] = seen[:, 0].sum()
    return StrategyCounts(
        strategy=strategy,
        tables=tables,
        names=names,
        keys=shares[:, :-1, 0],
        records=shares[:, :-1, 1],
        bytes=shares[:, :-1, 2],
        nobody=shares[:, -1, [1, 2, 0]],
        keys_moved=moved[:, 0],
        keys_total=total,
        records_moved=moved[:, 1],
        bytes_moved=moved[:, 2],
    )

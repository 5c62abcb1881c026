"""Routes a workload through all strategies at once, in Spark: who gets what in each step, and what each step
moves.

    one pass (one_pass.py): counts by unit, all strategies ──► (driver) × owners in each step

A unit (`units.py`) is a piece of a hash space that has one owner in every step, so one count per unit answers
for all steps, and the work per key does not grow with the history. Maps of units travel with the task;
executors need the core, numpy, numba and pyarrow, and what the lab needs (`timed_tasks.py`); no Django.
All numbers are exact, but see `keyless.py` for records without a key.
Memory: the driver holds a row per unit. All jobs run in the caller's thread, so a job group that it has set
cancels them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from broker_core.pipeline import keyless, route_tasks
from broker_core.pipeline.one_pass import OnePass, one_pass
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
    keyless_exact: whether records without a key are where the lab puts them, in every strategy. found: what else the
    pass over the records found.
    """

    records: int
    bytes: int
    keys: int
    no_key: int
    no_key_bytes: int
    empty_key: int
    keyless_exact: bool
    found: OnePass
    strategies: list[StrategyCounts]


def route_counts(
    workload: Workload,
    strategies: Sequence[Strategy],
    steps: Sequence[Step],
    *,
    seed: int = DEFAULT_SEED,
    topic: str = DEFAULT_TOPIC,
    bad_kept: int = 0,
) -> RouteCounts:
    """Count everything. workload: with ordinals where changes have an `at`; with them keyless records are
    placed one by one. seed, topic: of the lab that this is compared with. bad_kept: how many bad rows to bring along.

    Raises CommandError where a lane refuses a change of the history.
    """
    tables = [strategy.routes(steps, seed=seed, topic=topic) for strategy in strategies]
    plan = _plan(strategies, tables)
    ats = sorted({step.at for step in steps[1:] if step.at is not None})
    found = one_pass(workload, plan.maps, ats, bad_kept)
    counts, odd = found.counts, found.odd
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
        found=found,
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
    key alone (a RabbitMQ queue, and records without a key under Kafka and TubeMQ). Lazy, as any DataFrame.
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
            int(held[keyless.unit_of_keyless(strategy.model, units)])
            if strategy.model in keyless.FOR_A_KEY and units is not None and held is not None
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


def _place(ats: Sequence[int]) -> Column:
    """The stretch that a record is in: how many changes come at or before it."""
    if not ats:
        return F.lit(0)
    return F.size(F.filter(F.array(*(F.lit(at) for at in ats)), lambda at: at <= F.col("ordinal")))


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

"""From counts and timed runs to the rows of a result's tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broker_core.analysis.skew import skew_milli
from broker_core.analysis.waiting import added
from broker_core.events import Json
from broker_core.lab.workload.weighted_keys import key_text
from broker_core.pipeline import result
from broker_core.pipeline.hot_keys import KeyProfile, key_owner
from broker_core.pipeline.luck import KeyLoads, even_loads, key_loads, luck_of
from broker_core.pipeline.measures import Facts, measure
from broker_core.pipeline.measures.base import Share
from broker_core.pipeline.members import Step, has_records
from broker_core.pipeline.originals import config_lines
from broker_core.pipeline.strategies import RouteTable
from broker_core.pipeline.timed import TimedStep

if TYPE_CHECKING:
    from broker_core.pipeline.routing import RouteCounts, StrategyCounts

HOT_KEYS_SHOWN = 20
KEY_SHOWN_CHARACTERS = 200
KEY_SHOWN_BYTES = 512


def study_tables(
    counts: "RouteCounts",
    steps: Sequence[Step],
    timed: Sequence[list[TimedStep] | None],
    profile: KeyProfile,
    *,
    is_exact: bool,
    seed: int,
    topic: str,
) -> tuple[dict[str, list[Json]], list[Json]]:
    """The result's rows by table, and the strategies as the manifest describes them.

    timed: of each strategy, None where there was none. seed, topic: as in the request. is_exact: the timed runs were over the very records,
    as a live lab.
    """
    tables: dict[str, list[Json]] = {"consumers": [], "steps": [], "strategies": [], "lag": []}
    described: list[Json] = []
    loads = _loads(counts, profile)
    for mine, runs in zip(counts.strategies, timed, strict=True):
        strategy = mine.strategy
        facts = [
            _facts(
                mine,
                step,
                None if runs is None else runs[step.step],
                _turns(mine, counts, steps, step, runs if is_exact else None),
            )
            for step in steps
        ]
        rows, totals = measure(facts)
        tables["steps"] += [
            {"strategy": strategy.id, "label": step.label, **row}
            for step, row in zip(steps, rows, strict=True)
        ]
        tables["strategies"].append(
            {
                "strategy": strategy.id,
                "model": strategy.model,
                "algorithm": strategy.algorithm,
                "document": strategy.document,
                **totals,
            }
        )
        for fact in facts:
            tables["consumers"] += _consumer_rows(strategy.id, fact)
        for run in runs or ():
            tables["lag"] += [
                {"strategy": strategy.id, "step": run.step, "second": second, "records": lag}
                for second, lag in run.lag
            ]
        described.append(
            {
                "id": strategy.id,
                "model": strategy.model,
                "algorithm": strategy.algorithm,
                "params": strategy.params,
                "document": strategy.document,
                "config": config_lines(strategy, mine.tables[0]),
                # The start is not a change: a group that forms lets everything wait.
                "waits": None if runs is None else added(run.waits for run in runs[1:]),
                "luck": luck_of(
                    strategy,
                    _uneven(steps, rows).members,
                    loads[strategy.hash, strategy.model],
                    group=max((step.members for step in steps), key=len),
                    actual=totals["skew"],
                    seed=seed,
                    topic=topic,
                ),
            }
        )
    tables["hot_keys"] = _hot_key_rows(counts, profile)
    return tables, described


def _loads(counts: "RouteCounts", profile: KeyProfile) -> dict[tuple[str | None, str], KeyLoads]:
    """By hash and model, once for all their strategies."""
    kinds = {(mine.strategy.hash, mine.strategy.model) for mine in counts.strategies}
    return {
        (name, model): even_loads(counts.records)
        if name is None
        else key_loads(profile, name, model, counts.records, counts.no_key)
        for name, model in kinds
    }


def _uneven(steps: Sequence[Step], rows: Sequence[Json]) -> Step:
    """The step with the worst skew, whose figure a strategy has; with changes at records the last one: only
    then all records are there."""
    if has_records(steps):
        return steps[-1]
    return steps[max(range(len(rows)), key=lambda place: rows[place]["skew"] or 0.0)]


def _facts(mine: "StrategyCounts", step: Step, timed: TimedStep | None, turns: "_Turns | None") -> Facts:
    number, table = step.step, mine.tables[step.step]
    if turns is not None:
        return Facts(
            step=number,
            shares=turns.shares,
            skew_milli=turns.skew_milli,
            keys_moved=None,
            keys_total=None,
            bytes_moved=None,
            partitions_moved=table.partitions_moved if number else None,
            partitions_total=len(table.units) or None,
            space_moved=None,
            unowned=None,
            timed=timed,
        )
    total = int(mine.records[number].sum())
    shares = {
        name: _share(
            int(mine.records[number, place]),
            int(mine.bytes[number, place]),
            int(mine.keys[number, place]),
            total,
        )
        for place, name in enumerate(mine.names)
        if name in table.live or mine.records[number, place]
    }
    moved = [
        int(column[number]) if number else None
        for column in (mine.keys_moved, mine.keys_total, mine.bytes_moved)
    ]
    return Facts(
        step=number,
        shares=shares,
        skew_milli=skew_milli([share.records for share in shares.values()]),
        keys_moved=moved[0],
        keys_total=moved[1],
        bytes_moved=moved[2],
        partitions_moved=table.partitions_moved if number else None,
        partitions_total=len(table.units) or None,
        space_moved=table.space_moved if number else None,
        unowned=int(mine.nobody[number, 0]),
        timed=timed,
    )


def _share(records: int, size: int, keys: int, total: int) -> Share:
    return Share(records, size, keys, records * 1_000_000 // total if total else 0)


@dataclass(frozen=True, slots=True)
class _Turns:
    """Shares where keys have no owner and every consumer gets its turn."""

    shares: dict[str, Share]
    skew_milli: int | None


def _turns(
    mine: "StrategyCounts",
    counts: "RouteCounts",
    steps: Sequence[Step],
    step: Step,
    runs: list[TimedStep] | None,
) -> _Turns | None:
    """An even share of what was written until the step's end, or that of the consumer's partitions where records are
    sent without keys; None where keys have owners.

    runs: of a live lab's own records: then the shares are in proportion to what each consumer finished
    lately, which is how a lane of the lab has them (Lane.weights).
    """
    if mine.tables[step.step].kind != "none":
        return None
    following = steps[step.step + 1].at if step.step + 1 < len(steps) else None
    records, size = (
        (counts.records, counts.bytes) if following is None else (min(following, counts.records), None)
    )
    table = mine.tables[step.step]
    weights = dict.fromkeys(table.live, 1)
    if runs is not None:
        weights = runs[step.step].weights
    elif table.units:
        weights = _partitions_held(table)
    total = sum(weights.values())
    if not total:
        return _Turns({name: Share(0, 0, None, 0) for name in weights}, None)
    shares = {
        name: Share(
            records * weight // total,
            None if size is None else size * weight // total,
            None,
            weight * 1_000_000 // total,
        )
        for name, weight in weights.items()
    }
    return _Turns(shares, skew_milli(list(weights.values())))


def _partitions_held(table: RouteTable) -> dict[str, int]:
    """How many partitions each consumer has: without keys each of them gets as much, over batches enough."""
    return {name: int((table.owners == table.names.index(name)).sum()) for name in table.live}


def _consumer_rows(strategy_id: str, fact: Facts) -> Iterator[Json]:
    for name, share in fact.shares.items():
        yield {
            "strategy": strategy_id,
            "step": fact.step,
            "consumer": name,
            "records": share.records,
            "bytes": share.bytes,
            "keys": share.keys,
            "share": share.millionths / 1_000_000,
        }


def _hot_key_rows(counts: "RouteCounts", profile: KeyProfile) -> list[Json]:
    rows: list[Json] = []
    for hot in profile.hottest[:HOT_KEYS_SHOWN]:
        owners = {
            result.OWNER + mine.strategy.id: key_owner(hot.key, mine.strategy.hash, mine.tables[-1])
            for mine in counts.strategies
        }
        rows.append(
            {
                "key": key_text(hot.key)[:KEY_SHOWN_CHARACTERS],
                "key_hex": hot.key[:KEY_SHOWN_BYTES].hex(),
                "key_bytes": len(hot.key),
                "records": hot.records,
                "share": hot.records / counts.records,
                **owners,
            }
        )
    return rows

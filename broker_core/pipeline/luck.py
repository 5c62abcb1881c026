"""How far the skew of a strategy is chance: the same keys and consumers under other names of the consumers, or
with other numbers of partitions nearby.

A ring puts a consumer's points where its name hashes to, and a key's partition is its hash modulo their number;
neither knows how heavy a key is. So one skew is one draw, and two strategies whose spreads overlap are tied:

    ring, 100 points     |------#---------|            1.6 to 2.9 over the names
    Range                   |----#----------------|    1.8 to 3.2 over 24 to 30 partitions

Only tables are made for it, by the strategy's own rule, no records are read again: the hottest keys are placed
one by one, what is left is spread over the hash space.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from broker_core.events import Json
from broker_core.lab.pulsar.owners import NO_KEY_HASH_KEY
from broker_core.pipeline.hot_keys import KeyProfile, key_hash
from broker_core.pipeline.members import START, Step
from broker_core.pipeline.strategies import NOBODY, RouteTable, Strategy
from broker_core.rng import SeededRandom

NAMES_DRAWN = 20
NAME_BITS = 20
"""A Pulsar client that is given no name draws one of five hexadecimal digits (ConsumerBase)."""
COUNTS_DRAWN = 13
NEARBY = 4
"""Counts from a quarter below to a quarter above are nearby."""
COUNTS_TRIED, SUITS_SHOWN, SUITS_WITHIN = 64, 4, 1.05
"""How many counts are tried for a group, and how many are named of those within 5 % of the most even."""
LOW, HIGH = 5, 95
"""Percentiles at the ends of a band."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KeyLoads:
    """Hashes of a workload's hottest keys under one hash, records of each, and the records of all others."""

    hashes: NDArray[np.int64]
    records: Floats
    rest: float

    def skew(self, table: RouteTable) -> float | None:
        """The busiest of the consumers that the table's broker counts over their mean; None without records."""
        loads = np.zeros(len(table.names) + 1)  # the last one is nobody's
        np.add.at(loads, _owners(table, self.hashes), self.records)
        loads += self.rest * _space(table)
        held = loads[[table.names.index(name) for name in table.live]]
        return float(held.max() * len(held) / held.sum()) if held.sum() else None


def key_loads(profile: KeyProfile, hash_name: str, model: str, records: int, no_key: int) -> KeyLoads:
    """The loads of a workload. records: of all, no_key: of them those without a key, which Pulsar gives to one
    owner and the others spread."""
    keys = [(key.key, key.records) for key in profile.hottest]
    if model == "pulsar" and no_key:
        keys.append((NO_KEY_HASH_KEY.encode(), no_key))
    hashes = np.array([key_hash(key, hash_name) for key, _ in keys], np.int64)
    counts = np.array([count for _, count in keys], np.float64)
    return KeyLoads(hashes, counts, max(0.0, records - float(counts.sum())))


def even_loads(records: int) -> KeyLoads:
    """Of records that are sent without keys: none is heavier than another."""
    return KeyLoads(np.array([], np.int64), np.array([]), float(records))


def luck_of(
    strategy: Strategy,
    members: Sequence[str],
    loads: KeyLoads | None,
    *,
    group: Sequence[str] | None = None,
    actual: float | None,
    seed: int,
    topic: str,
) -> Json | None:
    """How the skew of a strategy spreads over what chance decides of it; None where nothing is drawn.

    members: of the step whose skew is `actual`. group: the most that the history has, for whom partition counts are
    named; None: those members. A draw's skew is that of the two that is worse, as a study's is that of its worst step.
    loads: None where consumers take turns. `{"of", "low", "mid",
    "high", "draws", "counts", "suits", "suits_skew"}`: of "names" or "partitions"; low and high hold `actual`;
    counts: [partitions, skew] of those nearby; suits: partition counts with the lowest skew for so many
    consumers, and their skew. The last three are empty, or None, for names.
    """
    drawn = strategy.family.drawn
    if drawn is None or loads is None or actual is None or not members:
        return None

    group = members if group is None else group

    def skew(each: Strategy, names: Sequence[str]) -> float | None:
        return loads.skew(_table(each, names, seed, topic))

    def worst(each: Strategy, groups: Sequence[Sequence[str]]) -> float | None:
        known = [value for names in groups if (value := skew(each, names)) is not None]
        return max(known, default=None)

    if drawn == "names":
        counts = {len(members), len(group)}
        skews = [worst(strategy, [names[:count] for count in counts]) for names in _names(max(counts), seed)]
        return _band(drawn, skews, actual)
    count = strategy.params["partitions"]
    groups = [members] if len(members) == len(group) else [members, group]
    nearby = _of_counts(strategy, lambda each: worst(each, groups))(
        _spaced(count - count // NEARBY, count + count // NEARBY, COUNTS_DRAWN)
    )
    found = _band(drawn, [each for _, each in nearby], actual)
    if found is None:
        return None
    wanted = _spaced(len(group), max(2 * count, 4 * len(group)), COUNTS_TRIED)
    tried = [
        (each, value)
        for each, value in _of_counts(strategy, lambda each: skew(each, group))(wanted)
        if each >= len(group)
    ]
    least = min((each for _, each in tried), default=math.inf)
    suits = [[each, value] for each, value in tried if value <= least * SUITS_WITHIN]
    return found | {
        "counts": [list(pair) for pair in nearby],
        "suits": [each for each, _ in suits[:SUITS_SHOWN]],
        "suits_skew": max((value for _, value in suits[:SUITS_SHOWN]), default=None),
    }


def _of_counts(
    strategy: Strategy, skew: Callable[[Strategy], float | None]
) -> Callable[[Sequence[int]], list[tuple[int, float]]]:
    """Skew by partition count. TubeMQ has as many on each broker, so other counts are left out."""
    multiple = strategy.params.get("brokers", 1)

    def measured(counts: Sequence[int]) -> list[tuple[int, float]]:
        wanted = sorted({max(1, round(count / multiple)) * multiple for count in counts})
        made = [
            (count, strategy.family.make({**strategy.params, "partitions": count}, "")) for count in wanted
        ]
        found = [(count, skew(each)) for count, each in made]
        return [(count, value) for count, value in found if value is not None]

    return measured


def _band(of: str, skews: Sequence[float | None], actual: float) -> Json | None:
    known = [skew for skew in skews if skew is not None]
    if not known:
        return None
    low, mid, high = (float(value) for value in np.percentile(known, (LOW, 50, HIGH)))
    return {
        "of": of,
        "low": min(low, actual),
        "mid": mid,
        "high": max(high, actual),
        "draws": len(known),
        "counts": [],
        "suits": [],
        "suits_skew": None,
    }


def _table(strategy: Strategy, members: Sequence[str], seed: int, topic: str) -> RouteTable:
    """Who owns what in a group that forms at once."""
    if strategy.family.start is not None:
        return strategy.family.start(strategy, members)
    start = Step(0, START, None, str(len(members)), tuple(members), None)
    return strategy.routes([start], seed=seed, topic=topic)[0]


def _names(count: int, seed: int) -> list[list[str]]:
    """Names as clients draw them; none comes twice in a group."""
    random = SeededRandom(seed)
    drawn: list[list[str]] = []
    for _ in range(NAMES_DRAWN):
        names: dict[str, None] = {}
        while len(names) < count:
            names[f"{random.bits('study.names', NAME_BITS):05x}"] = None
        drawn.append(list(names))
    return drawn


def _spaced(low: int, high: int, most: int) -> list[int]:
    """Whole numbers from low to high, at most `most` of them, evenly spaced; the ends are among them."""
    low, high = max(1, low), max(1, high)
    if high - low < most:
        return list(range(low, high + 1))
    return sorted({round(low + (high - low) * place / (most - 1)) for place in range(most)})


def _owners(table: RouteTable, hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The owner of each hash, as a place in the names; -1 for nobody."""
    rule = table.rule
    slots = hashes & rule.mask
    slots = (slots % rule.modulo if rule.modulo else slots) + rule.offset
    at = slots if table.kind != "ranges" else np.searchsorted(table.bounds, slots) % len(table.bounds)
    owners = table.owners[at].astype(np.int64)
    for place in np.flatnonzero(owners < NOBODY).tolist():
        holders = table.shared[-2 - int(owners[place])]
        owners[place] = holders[int(slots[place]) % len(holders)]
    return owners


def _space(table: RouteTable) -> Floats:
    """Each consumer's part of the hash space, nobody's last."""
    parts = np.zeros(len(table.names) + 1)
    if table.kind == "modulo":
        np.add.at(parts, table.owners.astype(np.int64), 1 / len(table.owners))
        return parts
    uppers = np.append(table.bounds, max(int(table.bounds[-1]), table.space - 1))
    widths = np.diff(np.append([table.first_slot - 1], uppers)).astype(np.float64)
    widths /= widths.sum()
    owners = np.append(table.owners, table.owners[0]).astype(
        np.int64
    )  # above the last bound: the first slice
    for owner, width in zip(owners.tolist(), widths.tolist(), strict=True):
        if owner < NOBODY:
            holders = table.shared[-2 - owner]
            parts[list(holders)] += width / len(holders)
        else:
            parts[owner] += width
    return parts

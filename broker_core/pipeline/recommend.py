"""Which strategy serves a workload best, by what matters to the person who asks, how sure that is, and why in
numbers.

First what must hold (`constraints.py`): a strategy that breaks a constraint has no place, whatever its
figures. Then four terms from 0 to 100, each on a scale that knows no other strategy (`scales.py`); a score is
their mean by weight:

    skew    worst step's busiest consumer over the mean            ideal 1
    churn   keys moved over the whole history, in workloads        ideal 0
    pause   share of the records that came while nobody could take them: a partition was paused, a consumer was dead    ideal 0
    order   share of the records sent while another consumer had one of the same key                                     ideal 0

Two whose scores differ by TIE_POINTS or less are tied: as much comes from which keys the timed sample drew. So
are two whose bands overlap: the scores that they have over other names of the consumers, or over other numbers
of partitions nearby (`luck.py`). A lucky draw is no merit.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown
from broker_core.pipeline.constraints import constraints_resolve, violations
from broker_core.pipeline.scales import figure_of, skew_points, term_points

WEIGHTS: Mapping[str, int] = MappingProxyType({"skew": 30, "churn": 30, "pause": 20, "order": 20})
"""What a study weighs unless told otherwise."""
WEIGHT_MAX = 100
TIE_POINTS = 2
"""Measured: over eight seeds of the sample, ten strategies, 10,260 records each, a score moved by 1.7 points
at most (docs/analyze/measures.md)."""
ROUNDED = 0.21
"""So far apart may be two differences of figures that are rounded to tenths."""
# Of what a strategy loses, a reason tells the dearest term from half a point on, the second from a quarter of
# that, and a third from ten points.
POINTS_TOLD, SHARE_TOLD, POINTS_THIRD, TERMS_TOLD = 0.5, 0.25, 10, 3
_Terms = Mapping[str, Mapping[str, float]]


def weights_check(raw: object, field: str = "weights") -> dict[str, int]:
    """The weights complete. Raises CommandError at the field for anything but whole numbers from 0 to 100, or
    if all are 0.

    >>> weights_check({"skew": 50})
    {'skew': 50, 'churn': 30, 'pause': 20, 'order': 20}
    """
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise CommandError(field, "must be an object")
    refuse_unknown(raw, WEIGHTS, f"{field}.", field)
    weights: dict[str, int] = {}
    for name, default in WEIGHTS.items():
        value = raw.get(name, default)
        if type(value) is not int or not 0 <= value <= WEIGHT_MAX:
            raise CommandError(
                f"{field}.{name}", "must be a whole number from {low} to {high}", low=0, high=WEIGHT_MAX
            )
        weights[name] = value
    if not any(weights.values()):
        raise CommandError(field, "at least one weight must be above 0")
    return weights


def rank(result: Json, weights: Mapping[str, int] = WEIGHTS, constraints: object = None) -> list[Json]:
    """The strategies of a result (`result_json`), the best first, and after them those that a constraint
    excludes; equal ones stay in the study's order.

    `{"id", "place", "score", "band", "is_best", "terms": {"skew", "churn", "pause", "order"}, "excluded",
    "why": [{"code", "params"}, ...]}`, scores and terms from 0 to 100, places from 1. band: the lowest and the
    highest score over what chance decides. is_best: the first, and those tied with it. An excluded one has
    neither place nor score; `excluded` lists what it breaks, as `violations` gives it, and is empty for the
    others. `why` is one or two sentences: where scores that read
    the same lead the list, how it compares with the other one (equal, tied.ahead, tied.behind, tied.differs);
    then what costs it most points (lost, lost.none); and, where nobody shares its place, what it does best
    (best, near). Alone in a study: only; alone in holding every constraint: only.left; excluded: excluded. A
    figure that does not apply to a strategy (keys have no owner, so none can move) is ideal. Weights are as
    `weights_check` takes them, constraints as `constraints_check` does; both raise CommandError for others.
    """
    weights = weights_check(dict(weights))
    strategies: list[Json] = result["strategies"]
    if not strategies:
        return []
    resolved, changes = constraints_resolve(result, constraints), len(result["steps"]) - 1
    terms = {each["id"]: {term: term_points(each, term, changes) for term in weights} for each in strategies}
    total = sum(weights.values())
    scores = {
        name: sum(weights[term] * value for term, value in terms[name].items()) / total for name in terms
    }
    bands = {
        each["id"]: _band(each, scores[each["id"]], terms[each["id"]]["skew"], weights) for each in strategies
    }
    broken = {each["id"]: violations(each, resolved, result) for each in strategies}
    order = sorted(strategies, key=lambda strategy: -scores[strategy["id"]])
    kept, excluded = (
        [each for each in order if not broken[each["id"]]],
        [each for each in order if broken[each["id"]]],
    )
    entries = [
        _entry(each, place, scores[each["id"]], terms) | {"band": bands[each["id"]]}
        for place, each in enumerate(kept, 1)
    ]
    tied = sum(is_level(entry, entries[0]) for entry in entries)
    ranked = [
        entry
        | {
            "is_best": _lead(entries[0], entry) <= TIE_POINTS or _overlap(entries[0], entry),
            "excluded": [],
            "why": _why(place, kept, tied, terms, weights, result),
        }
        for place, entry in enumerate(entries)
    ]
    return ranked + [
        _entry(each, None, None, terms)
        | {
            "band": None,
            "is_best": False,
            "excluded": broken[each["id"]],
            "why": [{"code": "excluded", "params": {"broken": broken[each["id"]]}}],
        }
        for each in excluded
    ]


def verdict(ranking: Sequence[Json]) -> Json | None:
    """How sure a ranking (`rank`) is, as `{"code", "params"}`; None for an empty one.

    ahead, tied, level, luck: `id` is `points` ahead of `than`, the next one; margin: TIE_POINTS, up to which it is
    a tie. luck: it is more, but their bands overlap. only: there is no next one.
    none: every strategy is excluded; `constraint` excludes most of them, `excluded` of `count`.
    """
    if not ranking:
        return None
    kept = [entry for entry in ranking if not entry["excluded"]]
    if not kept:
        broken = Counter(each["code"] for entry in ranking for each in entry["excluded"])
        constraint, excluded = broken.most_common(1)[0]
        return {
            "code": "none",
            "params": {"constraint": constraint, "excluded": excluded, "count": len(ranking)},
        }
    if len(kept) == 1:
        return {"code": "only", "params": {"id": kept[0]["id"], "count": len(ranking)}}
    points = _lead(*kept[:2])
    code = "level" if is_level(*kept[:2]) else "tied" if points <= TIE_POINTS else "ahead"
    if code == "ahead" and _overlap(*kept[:2]):
        code = "luck"
    return {
        "code": code,
        "params": {"id": kept[0]["id"], "than": kept[1]["id"], "points": points, "margin": TIE_POINTS},
    }


def is_level(entry: Json, other: Json) -> bool:
    """Whether two scores read the same: in whole numbers, halves rounded up."""
    mine, its = (math.floor(float(each["score"]) + 0.5) for each in (entry, other))
    return mine == its


def _lead(first: Json, other: Json) -> float:
    return round(float(first["score"]) - float(other["score"]), 1)


def _band(strategy: Json, score: float, skew: float, weights: Mapping[str, int]) -> list[float]:
    """The score at the worst and at the best skew that chance gives. skew: the points of the one it has."""
    luck = strategy.get("luck")
    if not luck:
        return [round(score, 1)] * 2
    share = weights["skew"] / sum(weights.values())
    return [round(score + share * (skew_points(luck[end]) - skew), 1) for end in ("high", "low")]


def _overlap(first: Json, other: Json) -> bool:
    """Whether chance may turn two round. It may not where both have one draw, as two protocols of one assignor: what
    they differ in is no luck."""
    if _is_one_draw(first, other):
        return False
    low, high = first["band"][0], other["band"][1]
    return bool(high >= low)


def _is_one_draw(first: Json, other: Json) -> bool:
    """Whether chance has drawn the skew of both alike: the same figure, in a band of the same width."""
    mine, its = ([end - entry["score"] for end in entry["band"]] for entry in (first, other))
    is_same = all(abs(here - there) <= ROUNDED for here, there in zip(mine, its, strict=True))
    return bool(first["terms"]["skew"] == other["terms"]["skew"] and is_same and mine != [0, 0])


def _entry(strategy: Json, place: int | None, score: float | None, terms: _Terms) -> Json:
    mine = {name: round(value, 1) for name, value in terms[strategy["id"]].items()}
    return {
        "id": strategy["id"],
        "place": place,
        "score": None if score is None else round(score, 1),
        "terms": mine,
    }


def _why(
    place: int, order: Sequence[Json], tied: int, terms: _Terms, weights: Mapping[str, int], result: Json
) -> list[Json]:
    if len(order) == 1:
        return [{"code": "only" if len(result["strategies"]) == 1 else "only.left", "params": {}}]
    mine = order[place]
    lost = _lost(mine, terms, weights, result)
    if place < tied > 1:
        return [_beside(mine, order[1 if place == 0 else 0], terms, weights), lost]
    best = _best_side(mine, order, terms, weights, [part["term"] for part in lost["params"].get("parts", [])])
    return [lost, best] if best else [lost]


def _lost(mine: Json, terms: _Terms, weights: Mapping[str, int], result: Json) -> Json:
    """The terms that cost most, the dearest first and with what more there is to say; what costs little is
    left out."""
    points = {
        term: weight * (100 - terms[mine["id"]][term]) / sum(weights.values())
        for term, weight in weights.items()
    }
    dearest = sorted((term for term in points if points[term] >= POINTS_TOLD), key=lambda term: -points[term])
    told = [
        term
        for place, term in enumerate(dearest[:TERMS_TOLD])
        if place == 0
        or points[term] >= POINTS_THIRD
        or (place == 1 and points[term] >= points[dearest[0]] * SHARE_TOLD)
    ]
    if not told:
        return {"code": "lost.none", "params": {}}
    parts = [
        {"term": term, "points": round(points[term], 1), "value": figure_of(mine, term)} for term in told
    ]
    return {"code": "lost", "params": {"parts": [parts[0] | _details(mine, told[0], result), *parts[1:]]}}


def _beside(mine: Json, other: Json, terms: _Terms, weights: Mapping[str, int]) -> Json:
    """How two with one score differ: the term that speaks most for it, and the one that speaks most against
    it."""
    leads = {
        term: weight * (terms[mine["id"]][term] - terms[other["id"]][term])
        for term, weight in weights.items()
    }
    sides = {
        "ahead": max(leads, key=lambda term: leads[term]),
        "behind": min(leads, key=lambda term: leads[term]),
    }
    told = {
        side: term
        for side, term in sides.items()
        if (leads[term] > 0 if side == "ahead" else leads[term] < 0)
    }
    if not told:
        return {"code": "equal", "params": {"than": other["id"]}}
    pairs = {
        side: {"term": term, "value": figure_of(mine, term), "other": figure_of(other, term)}
        for side, term in told.items()
    }
    return {
        "code": "tied.differs" if len(told) == 2 else f"tied.{next(iter(told))}",
        "params": {"than": other["id"], **pairs},
    }


def _best_side(
    mine: Json, order: Sequence[Json], terms: _Terms, weights: Mapping[str, int], lost: Sequence[str]
) -> Json | None:
    """What it does best, where not all are alike: a term in which nobody is better, unless most are as good;
    else one of those not lost in which it is better than the mean; else what it shares with most. Those to
    which a figure does not apply are not compared with it."""
    own = terms[mine["id"]]
    peers, leads = {}, {}
    for term, weight in weights.items():
        others = [
            each
            for each in order
            if each is not mine and (figure_of(mine, term) is None or figure_of(each, term) is not None)
        ]
        values = [terms[other["id"]][term] for other in others]
        if weight and any(value != own[term] for value in values):
            peers[term], leads[term] = others, weight * (own[term] - sum(values) / len(values))
    firsts = [
        term
        for term, others in peers.items()
        if all(own[term] >= terms[other["id"]][term] for other in others)
    ]
    rare = [
        term
        for term in firsts
        if 2 * sum(terms[other["id"]][term] == own[term] for other in peers[term]) < len(peers[term])
    ]
    above = [term for term in leads if term not in lost and term not in firsts and leads[term] > 0]
    sides = rare or above or firsts
    if not sides:
        return None
    term = max(sides, key=lambda side: leads[side])
    nearest = max(peers[term], key=lambda other: terms[other["id"]][term])
    params = {
        "term": term,
        "value": figure_of(mine, term),
        "other": figure_of(nearest, term),
        "than": nearest["id"],
    }
    if term not in firsts:
        return {"code": "near", "params": params}
    return {"code": "best", "params": params | {"is_shared": terms[nearest["id"]][term] >= own[term]}}


def _details(strategy: Json, term: str, result: Json) -> Json:
    """What more a sentence about this term can say."""
    match term:
        case "churn":
            moved = [(step["keys_moved_share"] or 0.0, step["step"]) for step in strategy["steps"][1:]]
            share, number = max(moved, key=lambda pair: pair[0], default=(0.0, 0))
            return {"step": result["steps"][number]["label"], "step_share": share}
        case "order":
            # Where keys have no owner, none can move.
            return {"is_owned": strategy["totals"]["churn"] is not None}
    return {}

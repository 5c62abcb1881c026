"""Which strategy serves a workload best, by what matters to whoever asks, and why in numbers.

Four terms, each 100 at the ideal and 0 at the worst of the study; a score is their mean by weight:

    skew    worst step's busiest consumer over the mean            ideal 1
    churn   keys moved over the whole history, in workloads        ideal 0
    pause   share of the records that came while nobody could take them: a partition stood still, a consumer was dead    ideal 0
    order   share of the records sent while another consumer had one of the same key                                     ideal 0

Where all strategies are close to the ideal, the worst of them is no bad one: a term does not tell less than its floor apart.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.command import refuse_unknown

WEIGHTS: Mapping[str, int] = MappingProxyType({"skew": 30, "churn": 30, "pause": 20, "order": 20})
"""What a study weighs unless told otherwise."""
WEIGHT_MAX = 100
# Of what a strategy loses, a reason tells the dearest term from half a point on, the second from a quarter of that, and a third from ten points.
POINTS_TOLD, SHARE_TOLD, POINTS_THIRD, TERMS_TOLD = 0.5, 0.25, 10, 3
_TOTALS = MappingProxyType({"skew": "skew", "churn": "churn", "pause": "waited_share", "order": "order_share"})
_IDEALS = MappingProxyType({"skew": 1.0, "churn": 0.0, "pause": 0.0, "order": 0.0})
_FLOORS = MappingProxyType({"skew": 0.5, "churn": 0.5, "pause": 0.01, "order": 0.001})
_Terms = Mapping[str, Mapping[str, float]]


def weights_check(raw: object, field: str = "weights") -> dict[str, int]:
    """The weights complete. Raises CommandError at the field for anything but whole numbers from 0 to 100, or if all are 0.

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
            raise CommandError(f"{field}.{name}", "must be a whole number from {low} to {high}", low=0, high=WEIGHT_MAX)
        weights[name] = value
    if not any(weights.values()):
        raise CommandError(field, "something must matter: not all weights can be 0")
    return weights


def rank(result: Json, weights: Mapping[str, int] = WEIGHTS) -> list[Json]:
    """The strategies of a result (`result_json`), the best first; equal ones stay in the study's order.

    `{"id", "score", "terms": {"skew", "churn", "pause", "order"}, "why": [{"code", "params"}, ...]}`, scores and terms from 0 to 100. `why` is
    one or two sentences: where scores that read the same lead the list, how it compares with the other one (equal, tied.ahead, tied.behind,
    tied.differs); then what costs it most points (lost, lost.none); and, where nobody shares its place, what it does best (best, near).
    Alone in a study: only. A figure that does not apply to a strategy (no key has an owner, so none can move) counts as ideal. Weights are
    as `weights_check` takes them, which raises CommandError for others.
    """
    weights = weights_check(dict(weights))
    strategies: list[Json] = result["strategies"]
    if not strategies:
        return []
    terms = _terms(strategies)
    total = sum(weights.values())
    scores = {name: sum(weights[term] * value for term, value in terms[name].items()) / total for name in terms}
    order = sorted(strategies, key=lambda strategy: -scores[strategy["id"]])
    ranked = [{"id": each["id"], "score": round(scores[each["id"]], 1), "terms": _rounded(terms[each["id"]])} for each in order]
    tied = sum(is_level(entry, ranked[0]) for entry in ranked)
    return [entry | {"why": _why(place, order, tied, terms, weights, result)} for place, entry in enumerate(ranked)]


def is_level(entry: Json, other: Json) -> bool:
    """Whether two scores read the same: in whole numbers, halves rounded up."""
    mine, its = (math.floor(float(each["score"]) + 0.5) for each in (entry, other))
    return mine == its


def _terms(strategies: Sequence[Json]) -> dict[str, dict[str, float]]:
    """Strategy -> term -> 0 to 100."""
    terms: dict[str, dict[str, float]] = {strategy["id"]: {} for strategy in strategies}
    for term, ideal in _IDEALS.items():
        excess = {strategy["id"]: max(0.0, _value(strategy, term) - ideal) for strategy in strategies}
        span = max(*excess.values(), _FLOORS[term])
        for name, value in excess.items():
            terms[name][term] = 100 * (1 - value / span)
    return terms


def _value(strategy: Json, term: str) -> float:
    value = _figure(strategy, term)
    return _IDEALS[term] if value is None else float(value)


def _why(place: int, order: Sequence[Json], tied: int, terms: _Terms, weights: Mapping[str, int], result: Json) -> list[Json]:
    if len(order) == 1:
        return [{"code": "only", "params": {}}]
    mine = order[place]
    lost = _lost(mine, terms, weights, result)
    if place < tied > 1:
        return [_beside(mine, order[1 if place == 0 else 0], terms, weights), lost]
    best = _best_side(mine, order, terms, weights, [part["term"] for part in lost["params"].get("parts", [])])
    return [lost, best] if best else [lost]


def _lost(mine: Json, terms: _Terms, weights: Mapping[str, int], result: Json) -> Json:
    """The terms that cost most, the dearest first and with what more there is to say; what costs little is left out."""
    points = {term: weight * (100 - terms[mine["id"]][term]) / sum(weights.values()) for term, weight in weights.items()}
    dearest = sorted((term for term in points if points[term] >= POINTS_TOLD), key=lambda term: -points[term])
    told = [
        term for place, term in enumerate(dearest[:TERMS_TOLD])
        if place == 0 or points[term] >= POINTS_THIRD or (place == 1 and points[term] >= points[dearest[0]] * SHARE_TOLD)
    ]  # fmt: skip
    if not told:
        return {"code": "lost.none", "params": {}}
    parts = [{"term": term, "points": round(points[term], 1), "value": _figure(mine, term)} for term in told]
    return {"code": "lost", "params": {"parts": [parts[0] | _details(mine, told[0], result), *parts[1:]]}}


def _beside(mine: Json, other: Json, terms: _Terms, weights: Mapping[str, int]) -> Json:
    """How two with one score differ: the term that speaks most for it, and the one that speaks most against it."""
    leads = {term: weight * (terms[mine["id"]][term] - terms[other["id"]][term]) for term, weight in weights.items()}
    sides = {"ahead": max(leads, key=lambda term: leads[term]), "behind": min(leads, key=lambda term: leads[term])}
    told = {side: term for side, term in sides.items() if (leads[term] > 0 if side == "ahead" else leads[term] < 0)}
    if not told:
        return {"code": "equal", "params": {"than": other["id"]}}
    pairs = {side: {"term": term, "value": _figure(mine, term), "other": _figure(other, term)} for side, term in told.items()}
    return {"code": "tied.differs" if len(told) == 2 else f"tied.{next(iter(told))}", "params": {"than": other["id"], **pairs}}


def _best_side(mine: Json, order: Sequence[Json], terms: _Terms, weights: Mapping[str, int], lost: Sequence[str]) -> Json | None:
    """What it does best, where not all are alike: a term in which nobody is better, unless most are as good; else one of those not lost in
    which it is better than the mean; else what it shares with most. Those to which a figure does not apply are not compared with it."""
    own = terms[mine["id"]]
    peers, leads = {}, {}
    for term, weight in weights.items():
        others = [each for each in order if each is not mine and (_figure(mine, term) is None or _figure(each, term) is not None)]
        values = [terms[other["id"]][term] for other in others]
        if weight and any(value != own[term] for value in values):
            peers[term], leads[term] = others, weight * (own[term] - sum(values) / len(values))
    firsts = [term for term, others in peers.items() if all(own[term] >= terms[other["id"]][term] for other in others)]
    rare = [term for term in firsts if 2 * sum(terms[other["id"]][term] == own[term] for other in peers[term]) < len(peers[term])]
    above = [term for term in leads if term not in lost and term not in firsts and leads[term] > 0]
    sides = rare or above or firsts
    if not sides:
        return None
    term = max(sides, key=lambda side: leads[side])
    nearest = max(peers[term], key=lambda other: terms[other["id"]][term])
    params = {"term": term, "value": _figure(mine, term), "other": _figure(nearest, term), "than": nearest["id"]}
    if term not in firsts:
        return {"code": "near", "params": params}
    return {"code": "best", "params": params | {"is_shared": terms[nearest["id"]][term] >= own[term]}}


def _figure(strategy: Json, term: str) -> float | None:
    """The figure that is scored, None where it does not apply."""
    value: float | None = strategy["totals"].get(_TOTALS[term])
    return value


def _details(strategy: Json, term: str, result: Json) -> Json:
    """What more a sentence about this term can say."""
    match term:
        case "churn":
            moved = [(step["keys_moved_share"] or 0.0, step["step"]) for step in strategy["steps"][1:]]
            share, number = max(moved, key=lambda pair: pair[0], default=(0.0, 0))
            return {"step": result["steps"][number]["label"], "step_share": share}
        case "order":
            # Where no key has an owner, none can move.
            return {"is_owned": strategy["totals"]["churn"] is not None}
    return {}


def _rounded(terms: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 1) for name, value in terms.items()}

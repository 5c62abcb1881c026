"""Which strategy serves a workload best, by what matters to whoever asks, and why in numbers.

Four terms, each 100 at the ideal and 0 at the worst of the study; a score is their mean by weight:

    skew    worst step's busiest consumer over the mean            ideal 1
    churn   keys moved over the whole history, in workloads        ideal 0
    pause   share of the records that came while nobody could take them: a partition stood still, a consumer was dead    ideal 0
    order   share of the records sent while another consumer had one of the same key                                     ideal 0

Where all strategies are close to the ideal, the worst of them is no bad one: a term does not tell less than its floor apart.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.command import refuse_unknown

WEIGHTS: Mapping[str, int] = MappingProxyType({"skew": 30, "churn": 30, "pause": 20, "order": 20})
"""What a study weighs unless told otherwise."""
WEIGHT_MAX = 100
_TOTALS = MappingProxyType({"skew": "skew", "churn": "churn", "pause": "waited_share", "order": "order_share"})
_IDEALS = MappingProxyType({"skew": 1.0, "churn": 0.0, "pause": 0.0, "order": 0.0})
_FLOORS = MappingProxyType({"skew": 0.5, "churn": 0.5, "pause": 0.01, "order": 0.001})


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

    `{"id", "score", "terms": {"skew", "churn", "pause", "order"}, "why": {"code", "params"}}`, scores and terms from 0 to 100. The codes:
    best.<term> where the best leads the second most, behind.<term> where another one loses most against the best, by weight; equal, only.
    A figure that does not apply to a strategy (no key has an owner, so none can move) counts as ideal.
    """
    strategies: list[Json] = result["strategies"]
    if not strategies:
        return []
    terms = _terms(strategies)
    total = sum(weights.values())
    scores = {name: sum(weights[term] * value for term, value in terms[name].items()) / total for name in terms}
    order = sorted(strategies, key=lambda strategy: -scores[strategy["id"]])
    return [
        {"id": strategy["id"], "score": round(scores[strategy["id"]], 1), "terms": _rounded(terms[strategy["id"]]),
         "why": _why(place, order, terms, weights, result)}
        for place, strategy in enumerate(order)
    ]  # fmt: skip


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
    value = strategy["totals"].get(_TOTALS[term])
    return _IDEALS[term] if value is None else float(value)


def _why(place: int, order: Sequence[Json], terms: Mapping[str, Mapping[str, float]], weights: Mapping[str, int], result: Json) -> Json:
    if len(order) == 1:
        return {"code": "only", "params": {}}
    mine, other = order[place], order[1 if place == 0 else 0]
    sign = 1 if place == 0 else -1
    leads = {term: sign * weights[term] * (terms[mine["id"]][term] - terms[other["id"]][term]) for term in WEIGHTS}
    decisive = max(leads, key=lambda term: leads[term])
    if leads[decisive] <= 0:
        return {"code": "equal", "params": {"than": other["id"]}}
    code = "best" if place == 0 else "behind"
    params = {"value": _value(mine, decisive), "other": _value(other, decisive), "than": other["id"]}
    return {"code": f"{code}.{decisive}", "params": params | _details(mine, decisive, result)}


def _details(strategy: Json, term: str, result: Json) -> Json:
    """What more a sentence about this term can say."""
    totals = strategy["totals"]
    match term:
        case "churn":
            moved = [(step["keys_moved_share"] or 0.0, step["step"]) for step in strategy["steps"][1:]]
            share, number = max(moved, key=lambda pair: pair[0], default=(0.0, 0))
            return {"least": result["churn_least"], "step": result["steps"][number]["label"], "step_share": share}
        case "pause":
            return {"partition_s": totals["pause_partition_s"], "longest_s": totals["pause_longest_s"]}
        case "order":
            # Where no key has an owner, none can move.
            return {"records": totals["order_at_risk"], "is_owned": totals["churn"] is not None}
    return {}


def _rounded(terms: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 1) for name, value in terms.items()}

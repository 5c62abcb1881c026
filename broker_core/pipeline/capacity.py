"""Whether consumers keep up: what arrives for each against what it takes, once the history is over.

A backlog that a change leaves is worked off as long as each consumer gets less than it takes; where one gets
more in the last step, its lag grows for good. The rates are those of the request. Rates that nobody stated
exclude nothing: they are the form's defaults.

    arrives for c1  =  rate x share of c1        rate 36, share 0.33: 12 records a second
    takes                consumer_rate           10: it falls behind by 2 a second
"""

from collections.abc import Mapping
from types import MappingProxyType

from broker_core.events import Json

DEFAULT_RATES: Mapping[str, int] = MappingProxyType({"rate": 36, "consumer_rate": 10})
"""Records a second that arrive, and that one consumer takes, unless a study states them: the lab's."""


def rates_of(result: Json) -> Mapping[str, int]:
    """The rates that a result (`result_json`) was asked for with."""
    service = result.get("request", {}).get("service") or {}
    return {name: service.get(name, default) for name, default in DEFAULT_RATES.items()}


def is_stated(result: Json) -> bool:
    """Whether the study's rates are its own: of all consumers, or of one that slows."""
    return dict(rates_of(result)) != dict(DEFAULT_RATES) or bool(takes_of(result))


def overload(strategy: Json, result: Json) -> Json | None:
    """The consumer that falls behind most in the last step of a strategy; None where each keeps up.

    `{"consumer", "gets", "takes", "count"}`: records a second that arrive for it and that it takes, and how
    many consumers fall behind. Of the records without a consumer nobody gets any. Where consumers take turns,
    a slow one gets less: they fall behind together, and `consumer` is None.
    """
    rates, last = rates_of(result), strategy["steps"][-1]
    takes = takes_of(result)
    owned = 1.0 - (last.get("unowned_share") or 0.0)
    gets = {
        name: rates["rate"] * owned * share["share"]
        for name, share in last.get("consumers", {}).items()
        if share.get("share") is not None
    }
    usual = rates["consumer_rate"]
    takes_turns = last.get("partitions_total") is None
    if gets and takes_turns and all(share["keys"] is None for share in last["consumers"].values()):
        arrive, together = sum(gets.values()), sum(takes.get(name, usual) for name in gets)
        params = {"consumer": None, "gets": arrive, "takes": together, "count": len(gets)}
        return params if arrive > together else None
    behind = {name: each for name, each in gets.items() if each > takes.get(name, usual)}
    if not behind:
        return None
    worst = max(behind, key=lambda name: behind[name] - takes.get(name, usual))
    return {
        "consumer": worst,
        "gets": behind[worst],
        "takes": takes.get(worst, usual),
        "count": len(behind),
    }


def takes_of(result: Json) -> dict[str, int]:
    """The consumers that are slower than the others once the history is over, and how many records a second
    each takes. Who leaves and comes back is a new process, with the usual rate."""
    slow: dict[str, int] = {}
    for step in result.get("steps", ()):
        if step.get("kind") == "slow":
            slow[step["consumer"]] = step["rate"]
        elif step.get("kind") in ("leave", "stop"):
            slow.pop(step["consumer"], None)
    return slow

"""What a strategy must hold to be ranked at all, whatever its score: bounds that no weight can buy off.

keeps_order   no record is sent while another consumer has one of the same key. None: asked for where keys repeat
keeps_up      no consumer gets more than it takes for good (`capacity.py`). None: asked for where the rates are stated
no_idle       there are as many partitions as consumers, in every step. None: asked for
drain_s_max   the backlog of every change is worked off within so many seconds
wait_s_max    at most wait_percent_max per cent of the records wait longer, in whole seconds, after the start; whatever
              they wait for: a paused partition, a dead consumer, a backlog
skew_max      the busiest consumer has at most so many times the mean, after every change
"""

from collections.abc import Mapping
from types import MappingProxyType

from broker_core.analysis.waiting import WAIT_S_MAX
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown
from broker_core.pipeline.capacity import is_stated, overload

CONSTRAINTS: Mapping[str, None] = MappingProxyType(
    {
        "keeps_order": None,
        "keeps_up": None,
        "no_idle": None,
        "wait_s_max": None,
        "wait_percent_max": None,
        "drain_s_max": None,
        "skew_max": None,
    }
)
"""What a study asks for unless told otherwise: order where keys repeat, no lag that grows for good where the
rates are stated, no consumer without a partition, no bound."""
ANSWERS = ("keeps_order", "keeps_up", "no_idle")
BOUNDS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "wait_s_max": (1, WAIT_S_MAX),
        "wait_percent_max": (0, 100),
        "drain_s_max": (0, 86_400),
        "skew_max": (1, 4_096),
    }
)
WAIT_PERCENT = 1
"""So many of the records may wait longer than wait_s_max, unless told otherwise."""


_COLUMNS: Mapping[str, str] = MappingProxyType({"drain_s_max": "drain_s", "skew_max": "skew"})


def constraints_check(raw: object, field: str = "constraints") -> Json:
    """The constraints complete; checking checked ones changes nothing. Raises CommandError at the field that
    is wrong.

    >>> constraints_check({"skew_max": 1.5})["skew_max"]
    1.5
    """
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise CommandError(field, "must be an object")
    raw = _renamed(raw)
    refuse_unknown(raw, CONSTRAINTS, f"{field}.", field)
    checked: Json = dict(CONSTRAINTS) | raw
    # Not `in (None, True, False)`: 1 == True.
    for name in ANSWERS:
        if not (checked[name] is None or isinstance(checked[name], bool)):
            raise CommandError(f"{field}.{name}", "must be true, false or null")
    for name, (low, high) in BOUNDS.items():
        value = checked[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and low <= value <= high):
            raise CommandError(f"{field}.{name}", "must be a number from {low} to {high}", low=low, high=high)
    if (seconds := checked["wait_s_max"]) is not None and seconds != int(seconds):
        raise CommandError(
            f"{field}.wait_s_max", "must be a whole number from {low} to {high}", low=1, high=WAIT_S_MAX
        )
    return checked


def _renamed(raw: Json) -> Json:
    """Constraints of a study that was stored before waiting was bounded: it bounded the pause of a
    partition."""
    if "pause_s_max" not in raw:
        return raw
    pause_s = raw["pause_s_max"]
    rest = {name: value for name, value in raw.items() if name != "pause_s_max"}
    if pause_s is None:
        return rest
    is_number = isinstance(pause_s, int | float) and not isinstance(pause_s, bool) and pause_s >= 0
    return {"wait_s_max": int(min(WAIT_S_MAX, max(1, pause_s)))} | rest if is_number else raw


def constraints_resolve(result: Json, raw: object = None) -> Json:
    """The constraints that a result (`result_json`) is ranked under: what can be answered is True or
    False."""
    checked = constraints_check(raw)
    if checked["keeps_order"] is None:
        checked["keeps_order"] = keys_repeat(result)
    if checked["keeps_up"] is None:
        checked["keeps_up"] = is_stated(result)
    if checked["no_idle"] is None:
        checked["no_idle"] = True
    if checked["wait_percent_max"] is None:
        checked["wait_percent_max"] = WAIT_PERCENT
    return checked


def keys_repeat(result: Json) -> bool:
    """Whether any key has two records, so that there is an order to keep."""
    workload = result["workload"]
    is_repeating: bool = workload["records"] - workload["no_key"] > workload["keys"]
    return is_repeating


def violations(strategy: Json, constraints: Json, result: Json) -> list[Json]:
    """What a strategy of a result (`result_json`) does not hold, as `{"code": the constraint, "params"}`; []
    if it holds all.

    constraints: as `constraints_resolve` gives them. A figure that was not measured or does not apply breaks
    nothing. Where keys have no owner, order is kept by chance alone: that breaks `keeps_order` also where no
    record of the sample was at risk.
    """
    totals, broken = strategy["totals"], []
    at_risk = totals.get("order_at_risk")
    if constraints["keeps_order"] and (at_risk or is_unowned(strategy)):
        params = {
            "count": at_risk or 0,
            "value": totals.get("order_share") or 0.0,
            "is_owned": not is_unowned(strategy),
        }
        broken.append({"code": "keeps_order", "params": params})
    if constraints["keeps_up"] and (behind := overload(strategy, result)) is not None:
        broken.append({"code": "keeps_up", "params": behind | {"lag": totals.get("lag_peak")}})
    if constraints["no_idle"] and (idle := idle_consumers(strategy)) is not None:
        broken.append({"code": "no_idle", "params": idle})
    seconds, waits = constraints["wait_s_max"], strategy.get("waits")
    if seconds is not None and waits is not None and (records := totals.get("timed_records")):
        share = (waits[int(seconds) - 1] if seconds <= len(waits) else 0) / records
        if share * 100 > constraints["wait_percent_max"]:
            params = {"value": share, "seconds": seconds, "limit": constraints["wait_percent_max"]}
            broken.append({"code": "wait_s_max", "params": params})
    undrained = totals.get("undrained") or 0
    for code, column in _COLUMNS.items():
        value, limit = totals.get(column), constraints[code]
        if limit is None:
            continue
        if code == "drain_s_max" and undrained:
            # The backlog outlasts its step, so how long it takes is not known.
            broken.append({"code": code, "params": {"value": None, "limit": limit, "count": undrained}})
        elif value is not None and value > limit:
            broken.append({"code": code, "params": {"value": value, "limit": limit}})
    return broken


def idle_consumers(strategy: Json) -> Json | None:
    """The step in which most consumers have no partition because there are too few: `{"count", "partitions",
    "consumers"}`; None where there are enough, and where nothing is shared by partition."""
    idle = [
        {"count": consumers - partitions, "partitions": partitions, "consumers": consumers}
        for step in strategy["steps"]
        if (partitions := step.get("partitions_total")) is not None
        and (consumers := len(step.get("consumers", {}))) > partitions
    ]
    return max(idle, key=lambda each: each["count"], default=None)


def is_unowned(strategy: Json) -> bool:
    """Whether several consumers take what no key assigns to one of them."""
    shares = [share for step in strategy["steps"] for share in step.get("consumers", {}).values()]
    is_shared = any(len(step.get("consumers", {})) > 1 for step in strategy["steps"])
    return is_shared and all(share["keys"] is None for share in shares)

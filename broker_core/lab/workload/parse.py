"""The lab's workload from what a person asked for, and back.

    {"kind": "flights", "key": "tail_number", "rate": 36}
    {"kind": "uniform", "keys": 1000, "rate": 36}
    {"kind": "zipf", "keys": 1000, "exponent": 1.1, "rate": 36}
    {"kind": "hot_key", "keys": 1000, "share": 0.3, "rate": 36}
    {"kind": "keys", "name": "orders", "keys": [["N725MQ", 575], ["N722MQ", 513]], "keyless": 40, "rate": 36}

Every field but the kind and the keys of the last may be left out, and the kind too: {} is the demo's, flights
by tail number at 36 records a second. {"kind": "none"}, which no form has, is no records: of a lab that real clients come to.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.setting import DECIMAL, TABLE, TEXT, WHOLE, Setting, choice, number
from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.flights import KEY_COLUMNS, FlightsWorkload
from broker_core.lab.workload.none import NONE, NoRecords
from broker_core.lab.workload.synthetic import HotKeyWorkload, UniformWorkload, ZipfWorkload
from broker_core.lab.workload.weighted_keys import keys_workload

__all__ = ["KEY_COLUMNS", "Workload", "workload_from_json"]

DEFAULT_RATE = 36
DEFAULT_KEYS = 1_000
DEFAULT_EXPONENT = 1.1
DEFAULT_SHARE = 0.3
EXPONENT_MAX = 5
GROUP = "workload"
"""Where a form has a setting."""
MADE_UP = ("uniform", "zipf", "hot_key")


def workload_settings(limits: Limits = DEFAULT_LIMITS) -> dict[str, tuple[Setting, ...]]:
    """Kind -> what it sets beside the rate, the default kind first. keys: with one hot key there is another beside
    it."""
    keys = {
        kind: number("keys", 2 if kind == "hot_key" else 1, limits.keys_max, DEFAULT_KEYS, group=GROUP)
        for kind in MADE_UP
    }
    exponent = Setting("exponent", DECIMAL, 0, EXPONENT_MAX, DEFAULT_EXPONENT, group=GROUP)
    return {
        "flights": (choice("key", tuple(KEY_COLUMNS), next(iter(KEY_COLUMNS)), group=GROUP),),
        "uniform": (keys["uniform"],),
        "zipf": (keys["zipf"], exponent),
        "hot_key": (keys["hot_key"], Setting("share", DECIMAL, 0, 1, DEFAULT_SHARE, group=GROUP)),
        "keys": (Setting("name", TEXT), Setting("keys", TABLE), Setting("keyless", WHOLE)),
    }


def record_rate(limits: Limits = DEFAULT_LIMITS) -> Setting:
    """Of every kind."""
    return number(
        "rate",
        1,
        limits.records_per_second_max,
        DEFAULT_RATE,
        "per_second",
        group=GROUP,
        changed_by="record_rate",
    )


KINDS = tuple(workload_settings())


def workload_from_json(data: Any, limits: Limits = DEFAULT_LIMITS, seed: int = 7) -> Workload:
    """The workload that `data` describes. seed: the lab's; real flights do not depend on it.

    Raises CommandError("workload...", reason) for anything but a mapping of the fields above: another kind,
    an unknown field, a wrong type (a bool is not a number), a number out of range, not finite or with more
    decimals than it may have (3 for exponent, 6 for share); also where the flights are not installed.

    >>> workload_from_json({"kind": "uniform", "keys": 10}).to_json()
    {'kind': 'uniform', 'keys': 10, 'rate': 36}
    """
    if not isinstance(data, Mapping):
        raise CommandError("workload", "must be an object")
    kind = data.get("kind", "flights")
    if data == NONE:
        return NoRecords()
    if not isinstance(kind, str) or kind not in KINDS:
        raise CommandError("workload.kind", "must be one of {choices}", choices=Names(KINDS))
    settings = {each.name: each for each in workload_settings(limits)[kind]}
    unknown = sorted(str(name) for name in data if name not in (*settings, "kind", "rate"))
    if unknown:
        raise CommandError(f"workload.{unknown[0][:40]}", "is not a field of the workload {kind}", kind=kind)
    rate = _given(data, record_rate(limits))
    if kind == "flights":
        return FlightsWorkload(rate, _given(data, settings["key"]))
    if kind == "keys":
        return keys_workload(data, rate, seed)
    keys = _given(data, settings["keys"])
    if kind == "zipf":
        return ZipfWorkload(rate, keys, seed, _fixed_point(data, settings["exponent"], 1_000))
    if kind == "hot_key":
        return HotKeyWorkload(rate, keys, seed, _fixed_point(data, settings["share"], 1_000_000))
    return UniformWorkload(rate, keys, seed)


def _given(data: Mapping[str, Any], setting: Setting) -> Any:
    return setting.check(data.get(setting.name, setting.default), f"workload.{setting.name}")


def _fixed_point(data: Mapping[str, Any], setting: Setting, units: int) -> int:
    """The number in whole units of 1/units: from here on a float can no longer decide a key."""
    value, field = data.get(setting.name, setting.default), f"workload.{setting.name}"
    if type(value) not in (int, float) or not setting.low <= value <= setting.high:  # no NaN, no infinity
        raise CommandError(field, "must be a number from {low} to {high}", low=setting.low, high=setting.high)
    scaled = Decimal(repr(value)) * units
    if scaled != int(scaled):
        raise CommandError(field, "may have at most {count} decimals", count=len(str(units)) - 1)
    return int(scaled)

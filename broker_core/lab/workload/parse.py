"""The lab's workload from what a person asked for, and back.

    {"kind": "flights", "key": "tail_number", "rate": 36}
    {"kind": "uniform", "keys": 1000, "rate": 36}
    {"kind": "zipf", "keys": 1000, "exponent": 1.1, "rate": 36}
    {"kind": "hot_key", "keys": 1000, "share": 0.3, "rate": 36}
    {"kind": "keys", "name": "orders", "keys": [["N725MQ", 575], ["N722MQ", 513]], "keyless": 40, "rate": 36}

Every field but the kind and the keys of the last may be left out, and the kind too: {} is the demo's, flights
by tail number at 36 records a second.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.flights import KEY_COLUMNS, FlightsWorkload
from broker_core.lab.workload.synthetic import HotKeyWorkload, UniformWorkload, ZipfWorkload
from broker_core.lab.workload.weighted_keys import keys_workload

__all__ = ["KEY_COLUMNS", "Workload", "workload_from_json"]

DEFAULT_RATE = 36
DEFAULT_KEYS = 1_000
DEFAULT_EXPONENT = 1.1
DEFAULT_SHARE = 0.3
EXPONENT_MAX = 5

_FIELDS = {
    "flights": {"key"},
    "uniform": {"keys"},
    "zipf": {"keys", "exponent"},
    "hot_key": {"keys", "share"},
    "keys": {"name", "keys", "keyless"},
}
KINDS = tuple(_FIELDS)


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
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise CommandError("workload.kind", "must be one of {choices}", choices=Names(_FIELDS))
    unknown = sorted(str(name) for name in data if name not in _FIELDS[kind] | {"kind", "rate"})
    if unknown:
        raise CommandError(f"workload.{unknown[0][:40]}", "is not a field of the workload {kind}", kind=kind)
    rate = _whole(data, "rate", DEFAULT_RATE, 1, limits.records_per_second_max)
    if kind == "flights":
        key_by = data.get("key", "tail_number")
        if not isinstance(key_by, str) or key_by not in KEY_COLUMNS:
            raise CommandError("workload.key", "must be one of {choices}", choices=Names(KEY_COLUMNS))
        return FlightsWorkload(rate, key_by)
    if kind == "keys":
        return keys_workload(data, rate, seed)
    # One hot key needs another beside it.
    keys = _whole(data, "keys", DEFAULT_KEYS, 2 if kind == "hot_key" else 1, limits.keys_max)
    if kind == "zipf":
        return ZipfWorkload(
            rate, keys, seed, _fixed_point(data, "exponent", DEFAULT_EXPONENT, EXPONENT_MAX, 1_000)
        )
    if kind == "hot_key":
        return HotKeyWorkload(rate, keys, seed, _fixed_point(data, "share", DEFAULT_SHARE, 1, 1_000_000))
    return UniformWorkload(rate, keys, seed)


def _whole(data: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = data.get(name, default)
    if type(value) is not int or not low <= value <= high:
        raise CommandError(
            f"workload.{name}", "must be a whole number from {low} to {high}", low=low, high=high
        )
    return value


def _fixed_point(data: Mapping[str, Any], name: str, default: float, high: int, units: int) -> int:
    """The number 0..high in whole units of 1/units: from here on a float can no longer decide a key."""
    value = data.get(name, default)
    if type(value) not in (int, float) or not 0 <= value <= high:  # neither NaN nor an infinity passes
        raise CommandError(f"workload.{name}", "must be a number from {low} to {high}", low=0, high=high)
    scaled = Decimal(repr(value)) * units
    if scaled != int(scaled):
        raise CommandError(f"workload.{name}", "may have at most {count} decimals", count=len(str(units)) - 1)
    return int(scaled)

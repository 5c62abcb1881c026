"""The numbers that a check may ask for: a path into what a lane shows, so that whatever a lane shows can be
checked without new code.

bill.keys_moved                       a field of a field
consumers.c1.share                    by a name
picture.partitions.*.lag.max          * stands for all; count, sum, max or min makes one number of them
picture.partitions.owner=c1.count     those whose owner is c1; also != < >
bill.pause_s                          a time in seconds (_s) or milliseconds (_ms) where the view has microseconds (_us)
events.kafka.group.rebalance_started  how many turning points of this kind there were
"""

import re
from collections.abc import Mapping
from typing import Any

from broker_core.errors import HighwaterError

NOTHING = "nothing"
"""How a file writes what is null in a view: an owner that is not there."""
ALL = "*"
EVENTS = "events."
FOLDS = ("count", "sum", "max", "min")
_UNITS = {"_s": 1_000_000, "_ms": 1_000}
_SUCH = re.compile(r"(\w+)(!=|=|<|>)(.*)")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_KNOWN_MAX = 24


class NoSuchNumber(HighwaterError):
    """name: the part of the path that leads nowhere. known: what stands there instead."""

    def __init__(self, name: str, known: list[str]) -> None:
        self.name, self.known = name, known
        super().__init__(
            f"there is no {name}; there are: {', '.join(known)}" if known else f"there is no {name}"
        )


def number_at(view: Mapping[str, Any], path: str) -> Any:
    """What stands at the path: a number, a text, a truth value, or None for what is not there yet. Raises
    NoSuchNumber.

    >>> lane = {"partitions": {"0": {"owner": "c1", "lag": 5}, "1": {"owner": None, "lag": 9}}, "bill": {"pause_us": 1500}}
    >>> [number_at(lane, path) for path in ("partitions.0.lag", "partitions.*.lag.sum", "partitions.owner=nothing.count", "bill.pause_ms")]
    [5, 14, 1, 1.5]
    """
    return _follow(view, path.split("."), path)


def _follow(value: Any, names: list[str], path: str) -> Any:
    if not names:
        if isinstance(value, dict | list):
            raise NoSuchNumber(path, _known(value))
        return value
    if value is None:
        return None  # a bill before the first change
    name, rest = names[0], names[1:]
    if isinstance(value, dict):
        for length in range(len(names), 0, -1):  # a name may hold dots itself
            if (whole := ".".join(names[:length])) in value:
                return _follow(value[whole], names[length:], path)
    elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return _follow(value[int(name)], rest, path)
    if isinstance(value, dict):
        for ending, divisor in _UNITS.items():
            exact = name.removesuffix(ending) + "_us"
            if name.endswith(ending) and exact in value and not rest:
                return None if value[exact] is None else value[exact] / divisor
    if isinstance(value, dict | list):
        entries = list(value.values()) if isinstance(value, dict) else value
        if name == ALL:
            return _fold(
                [_follow(entry, rest[:-1], path) for entry in entries] if len(rest) > 1 else entries,
                rest[-1:],
                path,
            )
        if such := _SUCH.fullmatch(name):
            return _follow(
                [entry for entry in entries if _is_such(entry, *such.groups())], rest or ["count"], path
            )
        if name in FOLDS and not rest:
            return _fold(entries, [name], path)
    raise NoSuchNumber(name, _known(value))


def _is_such(entry: Any, field: str, compare: str, wanted: str) -> bool:
    if not isinstance(entry, dict) or field not in entry:
        return False
    value = entry[field]
    if compare in ("=", "!="):
        return (_written(value) == wanted) is (compare == "=")
    if isinstance(value, bool) or not isinstance(value, int | float) or not _WHOLE.fullmatch(wanted):
        return False
    return value < int(wanted) if compare == "<" else value > int(wanted)


def _fold(values: list[Any], fold: list[str], path: str) -> Any:
    if not fold or fold[0] not in FOLDS:
        raise NoSuchNumber(fold[0] if fold else path, list(FOLDS))
    if fold[0] == "count":
        return len(values)
    known = [value for value in values if value is not None]
    if any(not isinstance(value, int | float) for value in known):
        raise NoSuchNumber(path, ["count"])
    if fold[0] == "sum":
        return sum(known)
    return (max if fold[0] == "max" else min)(known, default=None)


def _known(value: Any) -> list[str]:
    if isinstance(value, dict):
        return sorted(value)[:_KNOWN_MAX]
    return (
        [*FOLDS, f"0 to {len(value) - 1}"]
        if isinstance(value, list) and value
        else [*FOLDS]
        if isinstance(value, list)
        else []
    )


def _written(value: Any) -> str:
    """A value as a path or a file writes it."""
    if value is None:
        return NOTHING
    return str(value).lower() if isinstance(value, bool) else str(value)

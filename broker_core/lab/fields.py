"""What a field of a request may hold, checked without a lab."""

import re
import sys
from collections.abc import Collection, Mapping
from typing import Any

from broker_core.errors import CommandError, Names

CONSUMER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
COMMAND_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
LANE_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
NODES = frozenset({"broker", "publisher", "producer", "operator", "controller", "tool"})
NUMBERED_NODE = re.compile(r"(broker|writer)-[0-9]+")
"""Processes that lanes have of their own; a consumer's program is a process beside them."""
SPEED_MILLI_MIN, SPEED_MILLI_MAX = 100, 20_000


def refuse_unknown(raw: Mapping[Any, Any], known: Collection[str], prefix: str, whole_field: str) -> None:
    """Raise CommandError for the first key that is not `known`: at `prefix` + its name, or at `whole_field`
    if that is not a name."""
    for name in raw:
        if name not in known:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise CommandError(whole_field, "has a field that is not a name")
            raise CommandError(f"{prefix}{name}", "is unknown; known: {names}", names=Names(sorted(known)))


def whole(field: str, value: object, low: int, high: int) -> int:
    """`value` as a whole number from `low` to `high`; CommandError at `field` otherwise. A bool is not a
    number here."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise CommandError(field, "must be a whole number from {low} to {high}", low=low, high=high)
    return value


def is_finite(value: float) -> bool:
    """Whether a float can hold it: no NaN, no infinity, and no whole number of hundreds of digits, of which
    `math.isfinite` cannot be asked.

    >>> is_finite(-2), is_finite(float("inf")), is_finite(10**400)
    (True, False, False)
    """
    return abs(value) <= sys.float_info.max


MOMENT_US_MAX = 10**15
"""Later than any lab gets, and a whole number in every browser."""


def speed(value: Any, field: str = "args.speed") -> float:
    """A clock's speed, 1.0 being real time, in thousandths; CommandError at `field` otherwise."""
    # In thousandths an infinity would not be a whole number, nor would the largest floats.
    is_number = (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= SPEED_MILLI_MAX
    )
    milli = round(value * 1000) if is_number else 0
    if not SPEED_MILLI_MIN <= milli <= SPEED_MILLI_MAX:
        raise CommandError(field, "must be a number from {low} to {high}", low=0.1, high=20)
    return milli / 1000


def consumer_name(value: object, field: str = "consumer") -> str:
    """A consumer's name; CommandError at `field` otherwise."""
    if not isinstance(value, str) or not CONSUMER_NAME.fullmatch(value):
        raise CommandError(
            field, "must be 1 to 32 letters, digits or . _ -, beginning with a letter or digit"
        )
    if value in NODES or NUMBERED_NODE.fullmatch(value):
        raise CommandError(field, "{consumer} is the name of a process of the lane itself", consumer=value)
    return value

"""How figures and words are written: groups with no-break spaces, percent, durations, clock, and a text with
its places filled.

static/js/base/say.js writes them in the same way; tests/dashboard/test_presentation.py holds the two together.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

NARROW = "\u202f"
NONE = "–"
_PLACE = re.compile(r"\{(\w+)(?:\?([^|}{]*)\|((?:[^{}]|\{\w+\})*))?\}")


def number(value: float | int) -> str:
    """Whole part in groups of three with narrow no-break spaces.

    >>> number(1363).replace(NARROW, "_")
    '1_363'
    """
    return f"{value:,}".replace(",", NARROW)


def half_up(value: float, digits: int = 0) -> str:
    """Decimal digits, halves rounded up as JavaScript's Math.round does, so that server and browser agree.

    >>> half_up(2.5), half_up(0.125, 2)
    ('3', '0.13')
    """
    scale = 10**digits
    return f"{math.floor(value * scale + 0.5) / scale:.{digits}f}"


def percent(share: float | None, digits: int = 0) -> str:
    """A share of 1 in percent, with a narrow space; nothing known is a dash.

    >>> percent(0.2026).replace(NARROW, "_")
    '20_%'
    """
    return NONE if share is None else f"{half_up(share * 100, digits)}{NARROW}%"


def figure(value: float | None, digits: int) -> str:
    """A decimal figure, or a dash."""
    return NONE if value is None else half_up(value, digits)


def seconds(us: int | None, words: Mapping[str, str]) -> str:
    """A duration: milliseconds below a tenth of a second, tenths below ten seconds, whole seconds below two
    minutes, then minutes.

    >>> seconds(2_700_000, {"second": "s", "minute": "min"}).replace(NARROW, "_")
    '2.7_s'
    """
    if us is None:
        return NONE
    value = us / 1_000_000
    if 0 < us < 99_500:
        return f"{max(1, int(us / 1000 + 0.5))}{NARROW}{words['millisecond']}"
    if value < 9.95:
        return f"{half_up(value, 0 if us % 1_000_000 == 0 else 1)}{NARROW}{words['second']}"
    if value < 119.5:
        return f"{half_up(value)}{NARROW}{words['second']}"
    return f"{half_up(value / 60)}{NARROW}{words['minute']}"


def clock(us: int) -> str:
    """Virtual time as minutes and seconds, with tenths; hours when there are any. What happened while a lab
    was set up, before its clock began, has a negative time and is shown at the beginning.

    >>> clock(76_000_000), clock(3_661_500_000)
    ('1:16.0', '1:01:01.5')
    """
    tenths = max(0, us // 100_000)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    tail = f"{rest // 10:02d}.{rest % 10}"
    return f"{hours}:{minutes:02d}:{tail}" if hours else f"{minutes}:{tail}"


def fill(text: str, params: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """The text with its places filled; a place nobody filled stays empty.

    >>> fill("{n?record|{n} records}", {"n": 2}, {})
    '2 records'
    """

    def place(match: re.Match[str]) -> str:
        name, one, many = match.groups()
        value = params.get(name)
        if many is not None:
            return fill(one if value == 1 else many, params, words)
        if value is None:
            return ""
        if name.endswith("_us"):
            return seconds(value, words)
        return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)

    return _PLACE.sub(place, text)

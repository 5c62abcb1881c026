"""The marks that stills are made of, as SVG: squares, dots, chips, arcs and short texts.

An owner's colour is a class (`i1`..`i7`), so that a still follows the theme of its page (css/still.css).
"""

import math
from collections.abc import Iterable, Mapping

from django.utils.html import escape

HUES = 7
VOID, INK, OPEN, GONE, OTHER = "void", "ink", "open", "gone", "other"
"""Without an owner; a record that may be read; one that may not yet; one that is lost; one that the leader has another
of at this offset."""


def owner_class(color: int) -> str:
    return f"i{(color - 1) % HUES + 1}" if color else VOID


def squares(places: Iterable[tuple[float, float]], side: float, css: str) -> str:
    """Squares of one kind as one path."""
    path = "".join(f"M{_n(x)} {_n(y)}h{_n(side)}v{_n(side)}h-{_n(side)}z" for x, y in places)
    return f'<path class="{css}" d="{path}"/>' if path else ""


def crosses(places: Iterable[tuple[float, float]], side: float) -> str:
    """On squares of what is gone."""
    inner = side - 4
    path = "".join(
        f"M{_n(x + 2)} {_n(y + 2)}l{_n(inner)} {_n(inner)}m0 -{_n(inner)}l-{_n(inner)} {_n(inner)}"
        for x, y in places
    )
    return f'<path class="cross" d="{path}"/>' if path else ""


def dots(places: Iterable[tuple[float, float]], radius: float, css: str) -> str:
    path = "".join(
        f"M{_n(x - radius)} {_n(y)}a{_n(radius)} {_n(radius)} 0 1 0 {_n(2 * radius)} 0"
        f"a{_n(radius)} {_n(radius)} 0 1 0 -{_n(2 * radius)} 0z"
        for x, y in places
    )
    return f'<path class="{css}" d="{path}"/>' if path else ""


def box(x: float, y: float, width: float, height: float, css: str) -> str:
    return f'<rect class="{css}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"/>'


def chip(x: float, y: float, color: int, state: str) -> str:
    """A consumer: a square with round corners; dashed and empty where it has crashed or gone."""
    css = f"chip {GONE}" if state in ("crashed", "gone") else f"chip {owner_class(color)}"
    return f'<rect class="{css}" x="{_n(x)}" y="{_n(y)}" width="14" height="14" rx="3"/>'


def text(
    x: float,
    y: float,
    words: str,
    css: str = "",
    anchor: str = "start",
    both: Mapping[str, str] | None = None,
) -> str:
    """both: the words in each language, where the page may change them in place."""
    data = "" if both is None else f' data-en="{escape(both["en"])}" data-zh="{escape(both["zh"])}"'
    return f'<text class="{css}" x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{data}>{escape(words)}</text>'


def line(path: str, css: str) -> str:
    return f'<path class="{css}" d="{path}"/>'


def arcs(
    parts: Iterable[tuple[float, float]], center: tuple[float, float], outer: float, inner: float, css: str
) -> str:
    """Slices of a ring as one path; from and to in turns, from the top, with the clock."""
    (x, y), path = center, ""
    for begin, end in parts:
        end = min(end, begin + 0.9999)
        wide = int(end - begin > 0.5)
        points = [
            (radius, turn) for radius, turn in ((outer, begin), (outer, end), (inner, end), (inner, begin))
        ]
        at = [
            f"{_n(x + radius * math.sin(2 * math.pi * turn))} {_n(y - radius * math.cos(2 * math.pi * turn))}"
            for radius, turn in points
        ]
        path += (
            f"M{at[0]}A{_n(outer)} {_n(outer)} 0 {wide} 1 {at[1]}"
            f"L{at[2]}A{_n(inner)} {_n(inner)} 0 {wide} 0 {at[3]}z"
        )
    return f'<path class="{css}" d="{path}"/>' if path else ""


def slices(path: str, width: float, parts: Iterable[tuple[int, int]]) -> str:
    """A way along which shares of a space follow one another, each in its owner's colour: one dashed line for
    each owner. path: its shape, as long as all shares together; parts: share and colour."""
    dashes: dict[int, list[int]] = {}
    ends: dict[int, int] = {}
    at = 0
    for share, color in parts:
        own = dashes.setdefault(color, [0])
        own += [at - ends.get(color, 0), share]
        at += share
        ends[color] = at
    lines = "".join(
        f'<path class="slice s{owner_class(color)}" stroke-dasharray="{_turns(own, at)}"/>'
        for color, own in dashes.items()
    )
    common = f'd="{path}" pathLength="{at}" stroke-width="{_n(width)}"'
    return lines.replace("<path ", f"<path {common} ")


def _turns(own: list[int], length: int) -> str:
    """Dashes and gaps in turns, from a dash of nothing on; the last gap is longer than what is left."""
    return " ".join(map(str, [*own, length]))


def _n(value: float) -> str:
    """At most one decimal: a still is small."""
    return f"{value:.1f}".removesuffix(".0")

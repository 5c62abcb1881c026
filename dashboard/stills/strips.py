"""A lane of several in a still: a strip as wide as the picture."""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

from dashboard.formats import number
from dashboard.stills.marks import (
    GONE,
    INK,
    OPEN,
    OTHER,
    VOID,
    arcs,
    box,
    chip,
    crosses,
    dots,
    line,
    owner_class,
    slices,
    squares,
    text,
)

Json = dict[str, Any]
Strip = Callable[[Json, float, float, float, float], str]
FIGURE_PX = 44  # for the figure at a strip's end
LOST_SHOWN = 5
BEFORE_OTHERS = 1


def space(lane: Json, x: float, y: float, width: float, height: float) -> str:
    """The hash space from end to end: a ring is cut open at its top."""
    way = f"M{x:.0f} {y + height / 2:.1f}h{width:.0f}"
    return slices(way, height, lane["parts"]) + box(x, y, width, height, "edge")


def partitions(lane: Json, x: float, y: float, width: float, height: float) -> str:
    """One cell for each partition, in the colour of who reads it; hatched while it is paused."""
    cells = lane["cells"]
    pitch = min(width / max(len(cells), 1), height + 4, 24)
    side = min(pitch - 2, height)
    return cell_squares(cells, [(x + place * pitch, y) for place in range(len(cells))], side)


def cell_squares(cells: list[Any], places: list[tuple[float, float]], side: float) -> str:
    owners = sorted({color for color, _ in cells})
    shapes = ""
    for owner in owners:
        own = [at for (color, _), at in zip(cells, places, strict=True) if color == owner]
        shapes += squares(own, side, owner_class(owner))
    paused = [at for (color, is_paused), at in zip(cells, places, strict=True) if is_paused and color]
    return shapes + squares(paused, side, "paused")


def queue(lane: Json, x: float, y: float, width: float, height: float) -> str:
    """What is ready, as squares, then what each consumer holds, in its colour; the sum behind them."""
    sums = [lane["ready"], *lane["held"]]
    room = width - FIGURE_PX
    pitch = min(height, 11)
    each = max(1, ceil(sum(sums) / max(1, int(room / pitch) - len(sums))))
    shapes, at, middle = "", x, y + height / 2
    ready = ceil(lane["ready"] / each)
    shapes += squares(
        [(at + place * pitch, middle - pitch / 2 + 1) for place in range(ready)], pitch - 2, INK
    )
    at += ready * pitch
    for (_, color, *_), held in zip(lane["consumers"], lane["held"], strict=True):
        count = ceil(held / each)
        places = [(at + (place + 0.5) * pitch, middle) for place in range(count)]
        shapes += dots(places, pitch / 2 - 1, f"dot {owner_class(color)}")
        at += count * pitch
    return shapes + text(x + width, middle + 5, number(sum(sums)), "n", "end")


def queues(lane: Json, x: float, y: float, width: float, height: float) -> str:
    """A cell for each queue, its figure how many messages were routed to it."""
    count = max(len(lane["queues"]), 1)
    shapes, wide = "", (width - 4 * (count - 1)) / count
    for place, (_, _, routed) in enumerate(lane["queues"]):
        left = x + place * (wide + 4)
        shapes += box(left, y, wide, height, "tube")
        shapes += text(
            left + wide / 2, y + height / 2 + 5, number(routed), "n" if routed else "n m", "middle"
        )
    return shapes


LABELS = {
    "end": {"en": "LEO", "zh": "LEO"},
    "lost": {"en": "lost", "zh": "丢失"},
    "others": {"en": "differ", "zh": "不同"},
}


def replicas(lane: Json, x: float, y: float, width: float, height: float) -> str:
    """The newest records of the log that leads: below its high watermark in ink, above it hatched, then those
    that are lost, with how many. Where a replica has other records at some offsets, those around the first of them."""
    copies, others = lane["copies"], lane["others"]
    leading = [copy for copy in copies if copy[4] == "leads"]
    log = max(leading or copies, key=lambda copy: int(copy[2]))
    _, start, end, high_watermark, role, _ = log
    side = min(height, 13)
    pitch, lost = side + 2, min(lane["lost"], LOST_SHOWN)
    room = int((width - FIGURE_PX) / pitch) - lost
    last = min(end, max(start, min(each[1] for each in others) - BEFORE_OTHERS) + room) if others else end
    first = max(start, last - room)
    places = {offset: (x + (offset - first) * pitch, y) for offset in range(first, last)}
    other = {offset for _, since, until in others for offset in range(since, until)}
    ink = [at for offset, at in places.items() if offset < high_watermark and offset not in other]
    shapes = squares(ink, side, INK if role == "leads" else VOID)
    shapes += squares([at for offset, at in places.items() if offset in other], side, OTHER)
    shapes += squares(
        [at for offset, at in places.items() if offset >= high_watermark and offset not in other], side, OPEN
    )
    gone = [(x + (last - first + place) * pitch, y) for place in range(lost)]
    shapes += squares(gone, side, GONE) + crosses(gone, side)
    css = "n er b" if others or lost else "n"
    return shapes + text(x + width, y + side / 2 + 5, _figure(lane, end, len(other)), css, "end")


def _figure(lane: Json, end: int, others: int) -> str:
    if others:
        return f"\N{NOT EQUAL TO}{number(others)}"
    return f"\N{MINUS SIGN}{number(lane['lost'])}" if lane["lost"] else number(end)


def figure_name(lane: Json) -> Mapping[str, str] | None:
    """What the figure at the strip's end counts, in each language; None where the picture says it."""
    if lane["kind"] != "replicas":
        return None
    return LABELS["others" if lane["others"] else "lost" if lane["lost"] else "end"]


STRIPS: dict[str, Strip] = {
    "ring": space,
    "ranges": space,
    "partitions": partitions,
    "queue": queue,
    "queues": queues,
    "replicas": replicas,
}


def detectors(lanes: list[Json], language: str) -> str:
    """Side by side, how long each lane has waited since a consumer crashed: full and ticked once it has
    noticed, else the part of its time-out that is over."""
    name, color, _, _ = next(
        one for lane in lanes for one in lane["consumers"] if one[2] in ("crashed", "gone")
    )
    shapes = chip(26, 14, color, "crashed") + text(47, 26, f"{name} \N{MULTIPLICATION SIGN}", "b")
    for place, lane in enumerate(lanes):
        x, y = 33 + place * 50, 62
        part = 1 if lane["of_us"] is None else lane["waited_us"] / max(lane["of_us"], 1)
        shapes += dots([(x, y)], 17, "dial") + _hand(x, y, part)
        if lane["of_us"] is None:
            shapes += line(f"M{x - 7} {y}l5 6l9 -11", "tick")
        seconds = round((lane["waited_us"] if lane["of_us"] is None else lane["of_us"]) / 1_000_000)
        both = {"en": f"{seconds} s", "zh": f"{seconds}秒"}
        css = "n s" if lane["of_us"] is None else "n m s"
        shapes += text(x, y + 42, both[language], css, "middle", both)
    return shapes


def _hand(x: float, y: float, part: float) -> str:
    return arcs([(0, min(part, 1))], (x, y), 20, 14, INK) if part > 0 else ""

"""The only lane of a still: a drawing of its own for each kind."""

from collections.abc import Callable
from math import ceil
from typing import Any

from dashboard.formats import number, percent
from dashboard.stills.marks import (
    INK,
    OPEN,
    OTHER,
    VOID,
    box,
    chip,
    dots,
    line,
    owner_class,
    slices,
    squares,
    text,
)
from dashboard.stills.reading import SPACE_PARTS
from dashboard.stills.strips import cell_squares

Json = dict[str, Any]
CENTER = (108, 64)
CIRCLE = "M108 17a47 47 0 1 1 0 94a47 47 0 1 1 0 -94"
"""From the top, with the clock, in the middle of the ring."""
ROWS_MAX = 5
HELD_MAX = 8
RECORDS = 6  # of a log, from its end


def ring(lane: Json) -> str:
    """The slices of the hash space around, and in the middle the newest consumer with its share."""
    shapes = dots([CENTER], 58, "edge") + slices(CIRCLE, 22, lane["parts"]) + dots([CENTER], 36, "edge")
    owners = [one for one in lane["consumers"] if _share(lane, one[1])]
    if not owners:
        return shapes
    name, color, _, _ = owners[-1]
    shapes += text(108, 62, name, "b", "middle")
    return shapes + text(108, 80, percent(_share(lane, color)), "n", "middle")


def _share(lane: Json, color: int) -> float:
    return sum(share for share, owner in lane["parts"] if owner == color) / SPACE_PARTS


def ranges(lane: Json) -> str:
    """The hash space from its beginning to its end; a range that nobody has is hatched."""
    names = {one[1]: one[0] for one in lane["consumers"]}
    shapes, at = slices("M12 60h192", 32, lane["parts"]), 12.0
    for share, color in lane["parts"]:
        wide = share * 192 / SPACE_PARTS
        shapes += box(at, 44, wide, 32, "edge")
        if wide > 22 and color in names:
            shapes += text(at + wide / 2, 96, names[color], "b", "middle")
        at += wide
    return shapes + text(12, 34, "0", "n m") + text(204, 34, "65535", "n m", "end")


def partitions(lane: Json) -> str:
    """A row for each consumer with its partitions; those without a reader in a row of their own."""
    consumers, cells = lane["consumers"], lane["cells"]
    if len(consumers) > ROWS_MAX:
        return _crowd(lane)
    rows = [([one], [cell for cell in cells if cell[0] == one[1]]) for one in consumers]
    free = [cell for cell in cells if not any(cell[0] == one[1] for one in consumers)]
    if free or not rows:
        rows.append(([], free))
    pitch = min(26.0, 116 / len(rows))
    top = 64 - pitch * len(rows) / 2
    longest = max(len(own) for _, own in rows)
    wide = min(17.0, 150 / max(longest, 1))
    shapes = ""
    for place, (consumer, own) in enumerate(rows):
        y = top + place * pitch
        if consumer:
            name, color, state, _ = consumer[0]
            shapes += chip(10, y + pitch / 2 - 7, color, state) + text(29, y + pitch / 2 + 5, name, "n")
        side = min(wide - 2, pitch - 6)
        places = [(58 + cell * wide, y + (pitch - side) / 2) for cell in range(len(own))]
        shapes += cell_squares(own, places, side)
    return shapes


def _crowd(lane: Json) -> str:
    """Many consumers: those with a partition are full, the others empty."""
    consumers, owners = lane["consumers"], {color for color, _ in lane["cells"]}
    columns = min(8, len(consumers))
    rows = ceil(len(consumers) / columns)
    shapes = ""
    for place, (_, color, state, _) in enumerate(consumers):
        x = 108 - columns * 12 + place % columns * 24 + 5
        y = 64 - rows * 13 + place // columns * 26
        shapes += chip(x, y, color if color in owners else 0, state if color in owners else "gone")
    has = sum(one[1] in owners for one in consumers)
    return shapes + text(108, 116, f"{has} / {len(consumers)}", "n", "middle")


def queue(lane: Json) -> str:
    """The queue with what is ready, and beyond it the consumers with what each one holds."""
    consumers = list(zip(lane["consumers"], lane["held"], strict=True))[:4]
    shown = min(6, lane["ready"])
    shapes = line("M8 48h78M8 80h78", "edge")
    shapes += squares([(72 - place * 13, 58) for place in range(shown)], 11, INK)
    shapes += text(8, 100, number(lane["ready"]), "n" if lane["ready"] else "n m")
    pitch = 116 / max(len(consumers), 1)
    for place, ((_, color, state, _), held) in enumerate(consumers):
        y = 6 + (place + 0.5) * pitch
        shapes += line(f"M86 64C104 64 100 {y:.1f} 118 {y:.1f}", "thin") + chip(118, y - 7, color, state)
        places = [(141 + each * 9, y) for each in range(min(held, HELD_MAX if held <= HELD_MAX else 4))]
        shapes += dots(places, 3.5, f"dot {owner_class(color)}")
        if held > HELD_MAX:
            shapes += text(206, y + 5, number(held), "n", "end")
    return shapes


def queues(lane: Json) -> str:
    """An exchange and its queues, each with how many messages were routed to it."""
    rows = lane["queues"][:4]
    shapes = dots([(18, 64)], 8, "tube")
    pitch = 116 / max(len(rows), 1)
    for place, (name, ready, routed) in enumerate(rows):
        y = 6 + (place + 0.5) * pitch
        shapes += line(f"M26 64C44 64 36 {y:.1f} 54 {y:.1f}", "thin") + box(54, y - 12, 110, 24, "tube")
        waiting = min(ready, 9)
        shapes += squares([(153 - each * 11, y - 4) for each in range(waiting)], 8, INK)
        if not waiting:
            shapes += text(60, y + 5, name.partition("-")[0][:12], "m")
        shapes += text(206, y + 5, number(routed), "n" if routed else "n m", "end")
    return shapes


def replicas(lane: Json) -> str:
    """The end of each replica's log as a column: in ink up to its own high watermark, hatched above it. The
    leader is darker, its high watermark a dotted line with a flag."""
    copies = lane["copies"]
    leading = next(
        (copy for copy in copies if copy[4] == "leads"), max(copies, key=lambda copy: int(copy[2]))
    )
    top = max(copy[2] for copy in copies)
    low = max(0, top - RECORDS)
    side, floor = 13.0, 104.0
    wide, gap = 34, 172 / len(copies)
    shapes = ""
    for place, (broker, _, end, high_watermark, role, runs) in enumerate(copies):
        x = 16 + gap * (place + 0.5) - wide / 2
        for offset in range(low, end):
            css = INK if offset < high_watermark else OPEN
            if any(each == broker and since <= offset < until for each, since, until in lane["others"]):
                css = OTHER
            kind = css if role == "leads" or css != INK else f"{css} follows"
            shapes += box(x, floor - (offset - low + 1) * side, wide, side - 1, kind if runs else VOID)
        shapes += line(f"M{x - 3:.1f} {floor}h{wide + 6}", "edge")
        shapes += text(x + wide / 2, 121, number(end), "n b" if broker == leading[0] else "n m", "middle")
    if low < leading[3] <= top:
        y = floor - (leading[3] - low) * side - 0.5
        shapes += line(f"M8 {y:.1f}H190", "mark") + line(f"M190 {y:.1f}v-14h14l-3 4l3 4h-12", "flag")
        shapes += text(193, max(12.0, y - 18), "HW", "b", "middle")
    return shapes


WHOLE: dict[str, Callable[[Json], str]] = {
    "ring": ring,
    "ranges": ranges,
    "partitions": partitions,
    "queue": queue,
    "queues": queues,
    "replicas": replicas,
}

"""Sticky ranges before anybody asks for them: what the client and the broker would say, what would be
covered, and what would overlap.

c1 |----- 0..16383 -----|        typed for c2:  16000-40000      overlap 16000..16383 with c1, gap 40001..65535
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pulsar.selectors import AssignRefused, Selector, selector_from_json
from broker_core.pulsar.selectors.protocol import Range, Ranges
from broker_core.pulsar.selectors.sticky_ranges import check_client_ranges
from broker_core.pulsar.settings import STICKY

RANGES_MAX = 64
_RANGE = re.compile(r"\s*(-?\d{1,9})\s*(?:-|\.\.)\s*(-?\d{1,9})\s*", re.ASCII)


def ranges_from_text(text: str) -> Ranges:
    """Ranges as a person writes them: "0-16383, 32768-49151", also with "..". Raises CommandError at
    `ranges`.

    >>> ranges_from_text("0-16383, 32768..49151")
    [(0, 16383), (32768, 49151)]
    """
    parts = [part for part in re.split(r"[,;\n]", text) if part.strip()]
    if len(parts) > RANGES_MAX:
        raise CommandError("ranges", "at most {limit} ranges", limit=RANGES_MAX)
    found = []
    for part in parts:
        matched = _RANGE.fullmatch(part)
        if matched is None:
            raise CommandError(
                "ranges", "must be ranges such as 0-16383, 32768-49151: {part}", part=part.strip()[:32]
            )
        found.append((int(matched[1]), int(matched[2])))
    return found


def check_ranges(panel: Mapping[str, Any], consumer: str, ranges: Sequence[Range]) -> Json:
    """What would come of these ranges for this consumer. panel: of a lane with sticky ranges, as
    `pulsar_view` makes it.

    Returns {"refused", "covered", "space", "gaps", "overlaps"}: refused is None or {"kind", "message",
    "conflict"}, where the client or the broker says no; covered counts slots of `space` that are no gap then,
    also the one that no key has; gaps are [first, last], overlaps [first, last, with whom], with "" for its
    own. What 3.2 serves between two ranges of one consumer is no gap, unless the ranges are refused: then
    gaps are what no range holds.
    Raises CommandError where the lane has no sticky ranges.
    """
    state = panel["selector"]
    if state is None or state["algorithm"] not in STICKY:
        raise CommandError("lane", "has no sticky ranges")
    selector = selector_from_json(state)
    for key, name in panel["holders"].items():
        if name == consumer:
            selector.remove(key)
    refused = None
    half_open = state["algorithm"] == "sticky_document"
    try:
        check_client_ranges([(first, last - 1) for first, last in ranges] if half_open else ranges)
        selector.add("asked", consumer, list(ranges))
    except AssignRefused as no:
        refused = {
            "kind": no.kind,
            "message": no.message,
            "conflict": None if no.conflict is None else panel["holders"].get(no.conflict),
        }
    step = 1 if half_open else 0
    mine = sorted((first, last - step) for first, last in ranges if last - step >= first)
    others = sorted(
        (first, last - step, name)
        for name, known in panel["consumers"].items()
        if name != consumer and known["connected"]
        for first, last in known["ranges"]
    )
    gaps = (
        _unowned(selector)
        if refused is None
        else _outside([*mine, *((first, last) for first, last, _ in others)], selector)
    )
    overlaps: list[list[Any]] = [
        [max(first, low), min(last, high), name]
        for first, last in mine
        for low, high, name in others
        if low <= last and first <= high
    ]
    overlaps += [[low, min(high, last), ""] for (_, last), (low, high) in pairwise(mine) if low <= last]
    covered = selector.space - sum(last - first + 1 for first, last in gaps)
    return {
        "refused": refused,
        "covered": covered,
        "space": selector.space,
        "gaps": gaps,
        "overlaps": overlaps,
    }


def _unowned(selector: Selector) -> list[list[int]]:
    """The slots that this selector gives to nobody."""
    gaps: list[list[int]] = []
    first = selector.first_slot
    for bound, owner in zip(*selector.slices(), strict=True):
        if owner is None and bound >= first:
            gaps.append([first, bound])
        first = max(first, bound + 1)
    return gaps


def _outside(ranges: Sequence[Range], selector: Selector) -> list[list[int]]:
    """The slots that none of these ranges holds."""
    gaps: list[list[int]] = []
    first, end = selector.first_slot, selector.space
    for low, high in sorted(ranges):
        if min(low, end) > first:
            gaps.append([first, min(low, end) - 1])
        first = max(first, high + 1)
    if first < end:
        gaps.append([first, end - 1])
    return gaps

"""The lab's own plan for "Add consumer" under sticky ranges, where the original leaves the choice of ranges
to the user.

The newcomer gets the upper half of the widest owner's slots; that owner reconnects first with the rest.
"""

from collections.abc import Mapping, Sequence

from broker_core.pulsar.selectors.protocol import Range, Ranges

SPACE = 65536


def plan_join(
    owned: Mapping[str, Sequence[Range]], newcomer: str, half_open: bool = False, space: int = SPACE
) -> tuple[str | None, Ranges, Ranges]:
    """Who has to make room for `newcomer`, what it keeps, and what the newcomer asks for.

    owned: consumer -> its ranges, none overlapping, in 0 .. space - 1, both ends inclusive, or [start, end)
    with `half_open`; the answer is written the same way. The widest owner is the one with the most slots, the
    first in `owned` among equals. Of an odd number of slots it keeps one more. The first consumer gets the
    whole space. A widest owner with a single slot cannot share: then the newcomer takes the widest gap that
    earlier leavers left, and nobody makes room (None, []).

    >>> plan_join({}, "c1")
    (None, [], [(0, 65535)])
    >>> plan_join({"c1": [(0, 65535)]}, "c2")
    ('c1', [(0, 32767)], [(32768, 65535)])
    >>> plan_join({"c1": [(0, 100), (200, 300)]}, "c2", half_open=True)
    ('c1', [(0, 100)], [(200, 300)])
    """
    ranges = {name: _ascending(pairs, half_open) for name, pairs in owned.items() if name != newcomer}
    widest = max(ranges, key=lambda name: _slot_count(ranges[name]), default=None)
    if widest is None or _slot_count(ranges[widest]) < 2:
        return None, [], _written([_widest_gap(ranges, space)], half_open)
    keep_count = (_slot_count(ranges[widest]) + 1) // 2
    kept: Ranges = []
    given: Ranges = []
    for start, end_exclusive in ranges[widest]:
        middle = min(start + keep_count, end_exclusive)
        keep_count -= middle - start
        kept += [(start, middle)] if start < middle else []
        given += [(middle, end_exclusive)] if middle < end_exclusive else []
    return widest, _written(kept, half_open), _written(given, half_open)


def _ascending(pairs: Sequence[Range], half_open: bool) -> Ranges:
    """As [start, end), which halves without special cases."""
    return sorted(pairs) if half_open else sorted((start, end + 1) for start, end in pairs)


def _written(pairs: Ranges, half_open: bool) -> Ranges:
    return pairs if half_open else [(start, end_exclusive - 1) for start, end_exclusive in pairs]


def _slot_count(pairs: Ranges) -> int:
    return sum(end_exclusive - start for start, end_exclusive in pairs)


def _widest_gap(ranges: Mapping[str, Ranges], space: int) -> Range:
    gap, low = (0, 0), 0
    for start, end_exclusive in [
        *sorted(pair for pairs in ranges.values() for pair in pairs),
        (space, space),
    ]:
        if start - low > gap[1] - gap[0]:
            gap = (low, start)
        low = end_exclusive
    return gap

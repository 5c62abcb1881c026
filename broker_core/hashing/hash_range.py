"""How much of a hash space changed hands between two assignments, exactly.

An assignment is a list of slices: inclusive upper bounds, ascending, and the owner of each slice. Slice i holds the
slots (bounds[i-1], bounds[i]]; slots above the last bound belong to the first slice, as on a ring (a range split has
none: its last bound is the last slot). An owner may be a tuple of names: holders of a shared ring point, who split
its slots by `slot % len(holders)`.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

Owner = str | tuple[str, ...] | None
Slices = tuple[Sequence[int], Sequence[Owner]]
Range = tuple[int, int]
Ranges = Sequence[Range]


def moved_share(before: Slices, after: Slices, space: int, first_slot: int = 0) -> Fraction:
    """Share of the slots first_slot .. space - 1 whose owner differs between the two assignments.

    before, after: (bounds, owners), see above; nobody (None) counts as a separate owner.

    >>> moved_share(([15], ["a"]), ([7, 15], ["b", "a"]), 16)
    Fraction(1, 2)
    >>> moved_share(([3, 9], ["a", "b"]), ([9], ["b"]), 16)   # 0..3, and 10..15 which wrap to them
    Fraction(5, 8)
    """
    old, new = _unrolled(before, space), _unrolled(after, space)
    moved = i = j = 0
    low = first_slot
    while low < space:
        while old[i][0] < low:
            i += 1
        while new[j][0] < low:
            j += 1
        (old_bound, was), (new_bound, now) = old[i], new[j]
        high = min(old_bound, new_bound)
        moved += _differing(low, high, was, now)
        low = high + 1
    return Fraction(moved, space - first_slot)


def taken_ranges(before: Mapping[str, Ranges], after: Mapping[str, Ranges]) -> dict[str, list[Range]]:
    """What each owner had before and has no longer: ranges with both ends inclusive, ascending; owners that lost
    nothing are absent.

    With the arguments exchanged it tells what each was given. before, after: owner -> its ranges, ascending, none
    overlapping.
    Source: the impacted consumers that Pulsar's current selectors return
    (ConsumerHashAssignmentsSnapshot.resolveImpactedConsumers).

    >>> taken_ranges({"a": [(0, 99)]}, {"a": [(50, 99)], "b": [(0, 49)]})
    {'a': [(0, 49)]}
    """
    lost = {owner: list(_without(ranges, after.get(owner, ()))) for owner, ranges in before.items()}
    return {owner: ranges for owner, ranges in lost.items() if ranges}


def _without(ranges: Ranges, kept: Ranges) -> Iterator[Range]:
    """The parts of `ranges` outside `kept`; both ascending."""
    at = 0
    for start, end in ranges:
        while at < len(kept) and kept[at][1] < start:
            at += 1
        low, over = start, at
        while over < len(kept) and kept[over][0] <= end:
            if low < kept[over][0]:
                yield low, kept[over][0] - 1
            low = kept[over][1] + 1
            over += 1
        if low <= end:
            yield low, end


def _unrolled(slices: Slices, space: int) -> list[tuple[int, Owner]]:
    """The slices up to the last slot, with what wraps over written as a separate slice."""
    bounds, owners = slices
    if not bounds:
        return [(space - 1, None)]
    out = list(zip(bounds, owners, strict=True))
    if bounds[-1] < space - 1:
        out.append((space - 1, owners[0]))
    return out


def _differing(low: int, high: int, was: Owner, now: Owner) -> int:
    """How many of the slots low..high have different owners."""
    if was == now:
        return 0
    if not isinstance(was, tuple) and not isinstance(now, tuple):
        return high - low + 1
    olds = was if isinstance(was, tuple) else (was,)
    news = now if isinstance(now, tuple) else (now,)
    # Who owns a slot repeats with this period, so count the differing residues and how often each occurs in low..high.
    period = lcm(len(olds), len(news))
    differing = (residue for residue in range(period) if olds[residue % len(olds)] != news[residue % len(news)])
    return sum((high - residue) // period - (low - 1 - residue) // period for residue in differing)

"""How much of a hash space changed hands between two assignments, exactly.

An assignment is a list of slices: inclusive upper bounds, ascending, and the owner of each slice. Slice i
holds the slots (bounds[i-1], bounds[i]]; slots above the last bound belong to the first slice, as on a ring
(a range split has
none: its last bound is the last slot). An owner may be a tuple of names: holders of a shared ring point, who
split its slots by `slot % len(holders)`.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
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
    if before == after:
        return Fraction(0)
    (old_bounds, old), (new_bounds, new) = _unrolled(before, space), _unrolled(after, space)
    # A large ring has tens of thousands of slices on either side: owners become numbers, and arrays do the
    # rest.
    number = {owner: index for index, owner in enumerate(dict.fromkeys([*old, *new]))}
    highs = np.union1d(old_bounds, new_bounds)
    highs = highs[highs >= first_slot]
    lows = np.concatenate(([first_slot], highs[:-1] + 1))
    was = _numbers(old, number)[np.searchsorted(old_bounds, highs)]
    now = _numbers(new, number)[np.searchsorted(new_bounds, highs)]
    is_other = was != now
    is_split = np.fromiter((isinstance(owner, tuple) for owner in number), bool, len(number))
    is_partly = is_other & (is_split[was] | is_split[now])
    is_whole = is_other & ~is_partly
    moved = int((highs[is_whole] - lows[is_whole] + 1).sum())
    owners = list(number)
    for at in np.flatnonzero(is_partly):
        moved += _differing(int(lows[at]), int(highs[at]), owners[was[at]], owners[now[at]])
    return Fraction(moved, space - first_slot)


def moved_ranges(before: Slices, after: Slices, space: int, first_slot: int = 0) -> list[Range]:
    """The slots first_slot .. space - 1 whose owner differs between the two assignments, as ranges with both ends
    inclusive, ascending; a slice of several owners counts as a whole.

    >>> moved_ranges(([15], ["a"]), ([7, 15], ["b", "a"]), 16)
    [(0, 7)]
    """
    (old_bounds, old), (new_bounds, new) = _unrolled(before, space), _unrolled(after, space)
    highs = [int(high) for high in np.union1d(old_bounds, new_bounds) if high >= first_slot]
    found: list[Range] = []
    low = first_slot
    for high in highs:
        was, now = old[int(np.searchsorted(old_bounds, high))], new[int(np.searchsorted(new_bounds, high))]
        if was != now:
            if found and found[-1][1] == low - 1:
                found[-1] = found[-1][0], high
            else:
                found.append((low, high))
        low = high + 1
    return found


def taken_ranges(before: Mapping[str, Ranges], after: Mapping[str, Ranges]) -> dict[str, list[Range]]:
    """What each owner had before and has no longer: ranges with both ends inclusive, ascending; owners that
    lost nothing are absent.

    With the arguments exchanged it tells what each was given. before, after: owner -> its ranges, ascending,
    none overlapping.
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


def _unrolled(slices: Slices, space: int) -> tuple[IntArray, list[Owner]]:
    """The slices up to the last slot, with what wraps over written as a separate slice."""
    bounds, owners = slices
    if not bounds:
        return np.array([space - 1]), [None]
    if bounds[-1] < space - 1:
        return np.array([*bounds, space - 1]), [*owners, owners[0]]
    return np.array(bounds), list(owners)


def _numbers(owners: Sequence[Owner], number: Mapping[Owner, int]) -> IntArray:
    return np.fromiter(map(number.__getitem__, owners), np.int64, len(owners))


def _differing(low: int, high: int, was: Owner, now: Owner) -> int:
    """How many of the slots low..high have different owners, where several split them before or after."""
    olds = was if isinstance(was, tuple) else (was,)
    news = now if isinstance(now, tuple) else (now,)
    # Who owns a slot repeats with this period, so count the differing residues and how often each occurs in
    # low..high.
    period = lcm(len(olds), len(news))
    differing = (
        residue for residue in range(period) if olds[residue % len(olds)] != news[residue % len(news)]
    )
    return sum((high - residue) // period - (low - 1 - residue) // period for residue in differing)

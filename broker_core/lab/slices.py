"""A hash space for the page: slices with owners, thinned where no screen could show more. And how much of one
is dark.

A large ring has tens of thousands of slices but only hundreds of owners: what is asked of an owner is asked
once for each owner.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from broker_core.events import Json
from broker_core.hashing.hash_range import Owner

SLICES_MAX = 4096
CELLS = 2880
"""An eighth of a degree of a ring: finer than a pixel of any picture we draw."""

Slice = tuple[int, bool]
"""Index of its owner among the names (-1: nobody), and whether nobody serves it."""


def slices_view(
    bounds: Sequence[int],
    owners: Sequence[Owner],
    slots: int,
    names: Sequence[str],
    dark: Sequence[bool] | None = None,
) -> Json:
    """Slices as `{"bounds", "owners"}`: slice i holds the slots (bounds[i-1], bounds[i]], its owner is
    names[owners[i]], -1 for nobody.

    bounds: inclusive upper ends, ascending, in a space of `slots` slots; what is above the last belongs to
    the first slice (it wraps).
    owners: of several who share a slice the first is shown. dark: which slices a dead consumer owns; `"dark"`
    is then a 0 or 1 for each slice, and absent where all are served.
    Neighbours of one owner become one slice. More than SLICES_MAX slices become CELLS cells of equal size,
    each shown with the owner of its middle slot.

    >>> slices_view([3, 7, 15], ["a", "a", None], 16, ["a"])
    {'bounds': [7, 15], 'owners': [0, -1]}
    >>> slices_view([3, 7, 15], ["a", "b", ("b", "a")], 16, ["a", "b"], [True, False, False])
    {'bounds': [3, 15], 'owners': [0, 1], 'dark': [1, 0]}
    """
    if len(bounds) > SLICES_MAX:
        bounds, chosen = _cells(bounds, slots)
        owners, dark = [owners[at] for at in chosen], dark and [dark[at] for at in chosen]
    place = {name: index for index, name in enumerate(names)}
    out_bounds: list[int] = []
    out: list[Slice] = []
    for bound, owner, is_dark in zip(bounds, owners, dark or [False] * len(owners), strict=True):
        piece = (-1 if owner is None else place[owner[0] if isinstance(owner, tuple) else owner], is_dark)
        if out and out[-1] == piece:
            out_bounds[-1] = bound
        else:
            out_bounds.append(bound)
            out.append(piece)
    view: Json = {"bounds": out_bounds, "owners": [owner for owner, _ in out]}
    if any(is_dark for _, is_dark in out):
        view["dark"] = [int(is_dark) for _, is_dark in out]
    return view


def _cells(bounds: Sequence[int], slots: int) -> tuple[list[int], list[int]]:
    """The cells' bounds, and for each the slice that holds its middle slot."""
    chosen: list[int] = []
    at = 0
    for cell in range(CELLS):
        at = bisect_left(bounds, (2 * cell + 1) * slots // (2 * CELLS), at)
        chosen.append(at if at < len(bounds) else 0)
    return [(cell + 1) * slots // CELLS - 1 for cell in range(CELLS)], chosen


def named_owners(owners: Sequence[Owner], name_of: Mapping[str, str]) -> list[Owner]:
    """The same owners by other names, such as consumers for sessions.

    >>> named_owners(["s1", None, ("s2", "s1")], {"s1": "a", "s2": "b"})
    ['a', None, ('b', 'a')]
    """
    names = {owner: _named(owner, name_of) for owner in set(owners)}
    return [names[owner] for owner in owners]


def _named(owner: Owner, name_of: Mapping[str, str]) -> Owner:
    if isinstance(owner, tuple):
        return tuple(name_of[one] for one in owner)
    return None if owner is None else name_of[owner]


def dark_slots(
    bounds: Sequence[int],
    owners: Sequence[Owner],
    slots: int,
    first_slot: int,
    is_dead: Callable[[str], bool],
) -> int:
    """How many of the slots first_slot .. slots - 1 nobody serves: no owner, or a dead one. Several owners of
    a slice share it evenly.

    bounds, owners: as for `slices_view`, at least one slice.

    >>> dark_slots([3, 7, 13], ["a", None, ("a", "b")], 16, 0, lambda owner: owner == "a")   # 0..3 and 14..15, 4..7, half of 8..13
    13
    """
    dead: dict[Owner, tuple[int, int]] = {}
    for owner in set(owners):
        shared = owner if isinstance(owner, tuple) else (owner,)
        count = sum(one is None or is_dead(one) for one in shared)
        if count:
            dead[owner] = count, len(shared)
    if not dead:
        return 0
    ends = [first_slot - 1, *bounds]
    dark = 0
    for at in [at for at, owner in enumerate(owners) if owner in dead]:
        count, sharers = dead[owners[at]]
        dark += (bounds[at] - ends[at]) * count // sharers
    count, sharers = dead.get(owners[0], (0, 1))
    return dark + (slots - 1 - bounds[-1]) * count // sharers

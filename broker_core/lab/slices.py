"""A hash space for the page: slices with owners, thinned where no screen could show more."""

from collections.abc import Sequence

from broker_core.events import Json

SLICES_MAX = 4096
CELLS = 2880
"""An eighth of a degree of a ring: finer than a pixel of any picture we draw."""


def slices_view(bounds: Sequence[int], owners: Sequence[str | None], slots: int, names: Sequence[str]) -> Json:
    """Slices as `{"bounds", "owners"}`: slice i holds the slots (bounds[i-1], bounds[i]], its owner is names[owners[i]], -1 for nobody.

    bounds: inclusive upper ends, ascending, in a space of `slots` slots; what lies above the last belongs to the first slice (it wraps).
    Neighbours of one owner become one slice. More than SLICES_MAX slices become CELLS cells of equal size, each shown with the owner of its
    middle slot.

    >>> slices_view([3, 7, 15], ["a", "a", None], 16, ["a"])
    {'bounds': [7, 15], 'owners': [0, -1]}
    """
    place = {name: index for index, name in enumerate(names)}
    if len(bounds) > SLICES_MAX:
        bounds, owners = _cells(bounds, owners, slots)
    out_bounds: list[int] = []
    out_owners: list[int] = []
    for bound, owner in zip(bounds, owners, strict=True):
        index = -1 if owner is None else place[owner]
        if out_owners and out_owners[-1] == index:
            out_bounds[-1] = bound
        else:
            out_bounds.append(bound)
            out_owners.append(index)
    return {"bounds": out_bounds, "owners": out_owners}


def _cells(bounds: Sequence[int], owners: Sequence[str | None], slots: int) -> tuple[list[int], list[str | None]]:
    cell_bounds: list[int] = []
    cell_owners: list[str | None] = []
    at = 0
    for cell in range(CELLS):
        middle = (2 * cell + 1) * slots // (2 * CELLS)
        while at < len(bounds) and bounds[at] < middle:
            at += 1
        cell_owners.append(owners[at] if at < len(bounds) else owners[0])
        cell_bounds.append((cell + 1) * slots // CELLS - 1)
    return cell_bounds, cell_owners

"""A hash space for the page: slices with owners, thinned where no screen could show more."""

from collections.abc import Sequence

from broker_core.events import Json

SLICES_MAX = 4096
CELLS = 2880
"""An eighth of a degree of a ring: finer than a pixel of any picture we draw."""

Slice = tuple[int, bool]
"""Index of its owner among the names (-1: nobody), and whether nobody serves it."""


def slices_view(
    bounds: Sequence[int], owners: Sequence[str | None], slots: int, names: Sequence[str], dark: Sequence[bool] | None = None
) -> Json:
    """Slices as `{"bounds", "owners"}`: slice i holds the slots (bounds[i-1], bounds[i]], its owner is names[owners[i]], -1 for nobody.

    bounds: inclusive upper ends, ascending, in a space of `slots` slots; what is above the last belongs to the first slice (it wraps).
    dark: which slices a dead consumer owns; `"dark"` is then a 0 or 1 for each slice, and absent where all are served.
    Neighbours of one owner become one slice. More than SLICES_MAX slices become CELLS cells of equal size, each shown with the owner of its
    middle slot.

    >>> slices_view([3, 7, 15], ["a", "a", None], 16, ["a"])
    {'bounds': [7, 15], 'owners': [0, -1]}
    >>> slices_view([3, 7, 15], ["a", "b", "b"], 16, ["a", "b"], [True, False, False])
    {'bounds': [3, 15], 'owners': [0, 1], 'dark': [1, 0]}
    """
    place: dict[str | None, int] = {name: index for index, name in enumerate(names)}
    place[None] = -1
    slices = [(place[owner], is_dark) for owner, is_dark in zip(owners, dark or [False] * len(owners), strict=True)]
    if len(bounds) > SLICES_MAX:
        bounds, slices = _cells(bounds, slices, slots)
    out_bounds: list[int] = []
    out: list[Slice] = []
    for bound, piece in zip(bounds, slices, strict=True):
        if out and out[-1] == piece:
            out_bounds[-1] = bound
        else:
            out_bounds.append(bound)
            out.append(piece)
    view: Json = {"bounds": out_bounds, "owners": [owner for owner, _ in out]}
    if any(is_dark for _, is_dark in out):
        view["dark"] = [int(is_dark) for _, is_dark in out]
    return view


def _cells(bounds: Sequence[int], slices: Sequence[Slice], slots: int) -> tuple[list[int], list[Slice]]:
    cell_bounds: list[int] = []
    cells: list[Slice] = []
    at = 0
    for cell in range(CELLS):
        middle = (2 * cell + 1) * slots // (2 * CELLS)
        while at < len(bounds) and bounds[at] < middle:
            at += 1
        cells.append(slices[at] if at < len(bounds) else slices[0])
        cell_bounds.append((cell + 1) * slots // CELLS - 1)
    return cell_bounds, cells

"""A hash ring: sorted points, each with its holders, that stays fast with a hundred thousand of them.

    points   12      40          77   90           a slot belongs to the first point at or after it;
    holders  a       b           a,c  b            what is above the last point (here 91..) wraps to the first

The space is cut into cells of equal size and each cell keeps its few points sorted, four to eight on average:
hashes are spread evenly, so the answer is in the slot's cell or just after it. A cell is one tuple, its
points and then their first holders, so that a look-up ends in one place of memory, where a bisection over one
long list reads seventeen. Putting a point in touches its cell alone. Cells double or halve in number with the
points, like a hash table's.

What the holders of a shared point do about it is the caller's rule (`pulsar/selectors/consistent_hash.py`).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from broker_core.errors import CommandError

CELLS_MIN = 64
POINTS_PER_CELL_MAX = 8
Cell = tuple[Any, ...]
"""Points ascending, then the first holder of each: (12, 14, "a", "c")."""


class HashRing:
    """Points in 0 .. space - 1 and who holds them. space: a power of two.

    first_holder: of each point. shared: point -> all its holders in order, where there are two or more
    (repeats included). Both are for reading; only `add` and `remove` write.

    >>> ring = HashRing(256)
    >>> ring.add("a", [10, 20]); ring.add("b", [15, 20])
    >>> ring.points, [ring.holder_at(slot) for slot in (10, 11, 16, 21)]
    ([10, 15, 20], ['a', 'b', 'a', 'a'])
    >>> ring.holders(15), ring.holders(20)
    (('b',), ['a', 'b'])
    """

    __slots__ = ("_cells", "_shift", "_space_bits", "first_holder", "shared")

    def __init__(self, space: int) -> None:
        if space < CELLS_MIN or space & (space - 1):
            raise CommandError("space", f"must be a power of two, {CELLS_MIN} or more")
        self._space_bits = space.bit_length() - 1
        self.first_holder: dict[int, str] = {}
        self.shared: dict[int, list[str]] = {}
        self._cut(CELLS_MIN)

    def __len__(self) -> int:
        return len(self.first_holder)

    @property
    def points(self) -> list[int]:
        """All points, ascending; computed at each call."""
        return list(chain.from_iterable(cell[: len(cell) >> 1] for cell in self._cells))

    @property
    def first_holders(self) -> list[str]:
        """The first holder of each of `points`; computed at each call."""
        return list(chain.from_iterable(cell[len(cell) >> 1 :] for cell in self._cells))

    def holder_at(self, slot: int, is_split: bool = False) -> str | None:
        """The first holder of the first point at or after `slot`, else of the first point of the ring.

        is_split: the holders of a shared point take the slots in turn (slot mod their count). None on an
        empty ring.
        """
        cell = self._cells[slot >> self._shift]
        count = len(cell) >> 1
        at = bisect_left(cell, slot, 0, count)
        if at < count:
            if not is_split or cell[at] not in self.shared:
                holder: str = cell[count + at]
                return holder
            point = cell[at]
        elif self.first_holder:
            point = self._first_point_after_cell(slot >> self._shift)
        else:
            return None
        if is_split and point in self.shared:
            holders = self.shared[point]
            return holders[slot % len(holders)]
        return self.first_holder[point]

    def holders(self, point: int) -> Sequence[str]:
        """All holders of a point of the ring, in order."""
        return self.shared.get(point) or (self.first_holder[point],)

    def add(
        self,
        holder: str,
        points: Iterable[int],
        sort_key: Callable[[str], Any] | None = None,
        repeats: bool = False,
    ) -> None:
        """Give `holder` these points.

        At a taken point it goes to the end of the holders, which are then sorted (stably) by sort_key, where
        one is given. A point that it names twice counts once; with `repeats` it enters the holders as often
        as it names the point.
        """
        first_holder, cells, shift = self.first_holder, self._cells, self._shift
        for point in points:
            if point not in first_holder:
                first_holder[point] = holder
                cell = cells[point >> shift]
                count = len(cell) >> 1
                at = bisect_left(cell, point, 0, count)
                cells[point >> shift] = (
                    *cell[:at],
                    point,
                    *cell[at : count + at],
                    holder,
                    *cell[count + at :],
                )
                continue
            holders = [*self.holders(point)]
            if holder in holders and not repeats:
                continue
            holders.append(holder)
            if sort_key is not None:
                holders.sort(key=sort_key)
            self.shared[point] = holders
            self._set_first(point, holders[0])
        if len(first_holder) > POINTS_PER_CELL_MAX * len(cells):
            self._cut(2 * len(cells))

    def remove(self, holder: str, points: Iterable[int]) -> None:
        """Take these points from `holder`; at a shared one the next holder moves up.

        Points that it does not hold stay.
        """
        for point in points:
            if point not in self.first_holder:
                continue
            others = [other for other in self.holders(point) if other != holder]
            self.shared.pop(point, None)
            if len(others) > 1:
                self.shared[point] = others
            if others:
                self._set_first(point, others[0])
            else:
                del self.first_holder[point]
                cell = self._cells[point >> self._shift]
                count = len(cell) >> 1
                at = bisect_left(cell, point, 0, count)
                self._cells[point >> self._shift] = (
                    *cell[:at],
                    *cell[at + 1 : count + at],
                    *cell[count + at + 1 :],
                )
        # Far from the bound of `add`, so that a consumer that comes and goes does not cut the ring again each
        # time.
        if CELLS_MIN < len(self._cells) > len(self.first_holder):
            self._cut(len(self._cells) // 2)

    def _set_first(self, point: int, holder: str) -> None:
        self.first_holder[point] = holder
        cell = self._cells[point >> self._shift]
        count = len(cell) >> 1
        at = count + bisect_left(cell, point, 0, count)
        self._cells[point >> self._shift] = (*cell[:at], holder, *cell[at + 1 :])

    def _first_point_after_cell(self, at: int) -> int:
        cells = self._cells
        while True:  # the ring has a point, so this ends
            at = (at + 1) % len(cells)
            if cells[at]:
                point: int = cells[at][0]
                return point

    def _cut(self, cell_count: int) -> None:
        """Cut the space into so many cells (a power of two, at most its size) and sort the points into
        them."""
        cell_count = min(cell_count, 1 << self._space_bits)
        self._shift = self._space_bits - (cell_count.bit_length() - 1)
        cells: list[list[int]] = [[] for _ in range(cell_count)]
        for point in sorted(self.first_holder):
            cells[point >> self._shift].append(point)
        first_holder = self.first_holder
        self._cells: list[Cell] = [(*points, *(first_holder[point] for point in points)) for points in cells]

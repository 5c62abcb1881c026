"""A hash ring as one flat sorted list of points, each with the list of its holders.

    points   12      40          77   90           a slot belongs to the first point at or after it;
    holders  a       b           a,c  b            what lies above the last point (here 91..) wraps to the first

Most points have a single holder, so the holder of a look-up comes out of one dictionary; only shared points keep a
list. Looking up is one bisection. A newcomer's points are sorted and merged as one run, so adding costs one pass over
the list and not one per point. What the holders of a shared point do about it is the caller's rule
(`pulsar/selectors/consistent_hash.py`).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Holders = Sequence[str]


class HashRing:
    """Points (whole numbers, 0 or more) and who holds them. `points` ascends and holds no number twice."""

    __slots__ = ("_owners", "_shared", "points")

    def __init__(self) -> None:
        self.points: list[int] = []
        self._owners: dict[int, str] = {}  # point -> first holder
        self._shared: dict[int, list[str]] = {}  # point -> all holders, where there are two or more

    def __len__(self) -> int:
        return len(self.points)

    def add(
        self,
        holder: str,
        points: Iterable[int],
        sort_key: Callable[[str], Any] | None = None,
        repeats: bool = False,
    ) -> None:
        """Give `holder` these points.

        At a taken point it goes to the end of the holders, which are then sorted (stably) by sort_key, where one is
        given. A point that it names twice counts once; with `repeats` it enters the holders as often as it names the
        point.
        """
        fresh: list[int] = []
        for point in points:
            if point not in self._owners:
                self._owners[point] = holder
                fresh.append(point)
                continue
            holders = self._shared.get(point) or [self._owners[point]]
            if holder in holders and not repeats:
                continue
            holders.append(holder)
            if sort_key is not None:
                holders.sort(key=sort_key)
            self._shared[point] = holders
            self._owners[point] = holders[0]
        fresh.sort()
        self._merge(fresh)

    def remove(self, holder: str, points: Iterable[int]) -> None:
        """Take these points from `holder`; at a shared one the next holder moves up.

        Points that it does not hold stay.
        """
        gone: set[int] = set()
        for point in points:
            if point not in self._owners:
                continue
            others = [other for other in self.holders(point) if other != holder]
            self._shared.pop(point, [])
            if len(others) > 1:
                self._shared[point] = others
            if others:
                self._owners[point] = others[0]
            else:
                del self._owners[point]
                gone.add(point)
        if gone:
            self.points = [point for point in self.points if point not in gone]

    def holder_at(self, slot: int) -> str | None:
        """First holder of the first point at or after `slot`, else of the first point; None on an empty ring.

        >>> ring = HashRing()
        >>> ring.add("a", [10, 20]); ring.add("b", [15])
        >>> [ring.holder_at(slot) for slot in (10, 11, 16, 21)]
        ['a', 'b', 'a', 'a']
        """
        points = self.points
        if not points:
            return None
        at = bisect_left(points, slot)
        return self._owners[points[at] if at < len(points) else points[0]]

    def holders_at(self, slot: int) -> Holders:
        """All holders of that point, in order; empty on an empty ring."""
        if not self.points:
            return ()
        at = bisect_left(self.points, slot)
        return self.holders(self.points[at] if at < len(self.points) else self.points[0])

    def holders(self, point: int) -> Holders:
        """All holders of a point of the ring, in order."""
        return self._shared.get(point) or (self._owners[point],)

    @property
    def shared_count(self) -> int:
        """How many points have two holders or more, repeats included."""
        return len(self._shared)

    def _merge(self, fresh: list[int]) -> None:
        # Two ascending runs: the sort finds them and merges them in one galloping pass, in C.
        self.points += fresh
        self.points.sort()

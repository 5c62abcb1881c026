"""What a change does to the records that wait: how many at the most, and how long until they are worked off.

A curve is [(seconds after the change, records that arrived and are not done), ...], ascending, the first at
the change itself.
"""

from collections.abc import Sequence
from itertools import pairwise

Curve = Sequence[tuple[float, int]]


def lag_peak(curve: Curve) -> int | None:
    """The most that waited; None for no curve.

    >>> lag_peak([(0, 4), (1, 40), (2, 9)])
    40
    """
    return max((records for _, records in curve), default=None)


def drain_s(curve: Curve, level: int) -> float | None:
    """Seconds from the change until the backlog is worked off: from its highest point on, the first moment at
    which no more than `level` wait. 0 where there never were more; None where the curve ends above the level.

    >>> drain_s([(0, 4), (1, 40), (2, 9), (3, 3), (4, 6)], 4)
    3
    """
    peak = lag_peak(curve)
    if peak is None or peak <= level:
        return None if peak is None else 0
    highest = max(place for place, (_, records) in enumerate(curve) if records == peak)
    return next((second for second, records in curve[highest:] if records <= level), None)


def thinned(curve: Curve, count: int) -> list[tuple[float, int]]:
    """At most `count` (2 or more) points of the curve: its ends, and the highest point of each stretch
    between.

    >>> thinned([(0, 1), (1, 5), (2, 2), (3, 0)], 3)
    [(0, 1), (1, 5), (3, 0)]
    """
    if len(curve) <= count:
        return list(curve)
    inner, stretches = curve[1:-1], count - 2
    edges = [place * len(inner) // stretches for place in range(stretches + 1)] if stretches else [0]
    peaks = [max(inner[start:stop], key=lambda point: point[1]) for start, stop in pairwise(edges)]
    return [curve[0], *peaks, curve[-1]]

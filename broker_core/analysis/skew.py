"""How evenly a load is shared: the busiest against the mean, the Gini coefficient, the 99th percentile.

A load is one whole number per consumer (records, bytes or keys); consumers with nothing count. None where
there is nothing to share.
"""

from collections.abc import Sequence


def skew_milli(loads: Sequence[int]) -> int | None:
    """Largest load over mean load in thousandths, rounded down: 1000 is even. The figure a lane of the lab
    shows (Lane.skew_milli).

    >>> skew_milli([30, 10, 20])
    1500
    """
    total = sum(loads)
    return max(loads) * len(loads) * 1000 // total if total else None


def gini(loads: Sequence[int]) -> float | None:
    """The Gini coefficient: 0 where all carry the same, (n - 1) / n where one of n carries everything.

    It is half the mean difference between two consumers over the mean load: for loads x[1] <= ... <= x[n],
    (2 * sum(i * x[i]) / sum(x) - (n + 1)) / n.

    >>> gini([10, 10]), gini([0, 0, 0, 8])
    (0.0, 0.75)
    """
    total, count = sum(loads), len(loads)
    if not total:
        return None
    weighted = sum(rank * load for rank, load in enumerate(sorted(loads), 1))
    return (2 * weighted - (count + 1) * total) / (count * total)


def p99(loads: Sequence[int]) -> float | None:
    """The 99th percentile of the loads over their mean, on the straight line between the two nearest ranks.

    With a hundred consumers one of them may be an accident; this is what the next one bears.

    >>> p99([10, 10, 10, 10])
    1.0
    """
    total, count = sum(loads), len(loads)
    if not total:
        return None
    ordered = sorted(loads)
    below, rest = divmod(99 * (count - 1), 100)
    above = ordered[min(below + 1, count - 1)]
    return (ordered[below] + (above - ordered[below]) * rest / 100) * count / total

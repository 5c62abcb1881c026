"""What a figure of a study is worth, from 0 to 100, whichever other strategies the study holds.
docs/analyze/measures.md draws the scales.

skew    logarithmic: 1 is 100, each doubling costs 50, 4 and more is 0. A group works at the speed of its busiest member, so at skew 2
        half of what was paid for idles, at 4 three quarters.
churn   linear in the keys moved by a change, in the mean over the changes: none is 100, all keys at each change is 0. What a moved key
        costs (its cache, its state) is the same for each, and a longer history is not worse for being long.
pause   half logarithmic, as availability is counted in nines, and half linear in the time in the dark, with 25 % and more at 0: 0 is 100,
        0.1 % is 87, 1 % is 73, 10 % is 42, 25 % is 8, all is 0. By the nines alone a strategy that leaves
        four times as many records waiting, 16 % where another has 4 %, would be 15 points behind it: who
        loses little by changes, because crashed consumers keep what they had, would rank level with who hands
        it on.
order   logarithmic alone: 0 is 100, 0.1 % is 74, 1 % is 50, 10 % is 25, all is 0.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from broker_core.events import Json

SKEW_HALVINGS = 2
"""How often capacity halves from 100 points to 0: skew 1, 2, 4."""
SHARE_NINES, SHARE_KNEE = 4, 0.0001
"""Decades from 100 points to 0, and the share from which on a scale is logarithmic; below it, it is nearly
linear and reaches 100 at 0."""
DARK_SHARE = 0.25
"""Share of the records that arrive in the dark from which on the linear half of the pause scale is 0."""
IDEALS: Mapping[str, float] = MappingProxyType({"skew": 1.0, "churn": 0.0, "pause": 0.0, "order": 0.0})
_TOTALS = MappingProxyType(
    {"skew": "skew", "churn": "churn", "pause": "waited_share", "order": "order_share"}
)


def figure_of(strategy: Json, term: str) -> float | None:
    """The figure of a result's strategy that a term scores; None where it does not apply."""
    value: float | None = strategy["totals"].get(_TOTALS[term])
    return value


def term_points(strategy: Json, term: str, changes: int) -> float:
    """0 to 100; a figure that does not apply (keys have no owner, so none can move) counts as the ideal.
    changes: of the history."""
    value = figure_of(strategy, term)
    return _SCALES[term](IDEALS[term] if value is None else float(value), changes)


def skew_points(skew: float) -> float:
    """skew: busiest over mean, 1 or more.

    >>> [skew_points(skew) for skew in (1, 2, 4, 9)]
    [100.0, 50.0, 0.0, 0.0]
    """
    return _bounded(100 * (1 - math.log2(max(1.0, skew)) / SKEW_HALVINGS))


def churn_points(churn: float, changes: int) -> float:
    """churn: keys moved in the whole history, in workloads.

    >>> churn_points(1.0, 4), churn_points(4.0, 4), churn_points(0.0, 0)
    (75.0, 0.0, 100.0)
    """
    return _bounded(100 * (1 - churn / max(1, changes)))


def share_points(share: float) -> float:
    """share: of the records, 0 to 1.

    >>> [round(share_points(share)) for share in (0, 0.0001, 0.001, 0.002, 0.01, 0.1, 0.4, 1)]
    [100, 92, 74, 67, 50, 25, 10, 0]
    """
    return _bounded(100 * (1 - math.log10(1 + share / SHARE_KNEE) / SHARE_NINES))


def pause_points(share: float) -> float:
    """share: of the records, 0 to 1, that came while nobody could take them.

    >>> [round(pause_points(share)) for share in (0, 0.001, 0.01, 0.04, 0.1, 0.16, 0.25, 1)]
    [100, 87, 73, 59, 42, 28, 8, 0]
    """
    return (share_points(share) + _bounded(100 * (1 - share / DARK_SHARE))) / 2


def _bounded(points: float) -> float:
    return min(100.0, max(0.0, points))


_SCALES: Mapping[str, Callable[[float, int], float]] = MappingProxyType({
    "skew": lambda value, _: skew_points(value), "churn": churn_points,
    "pause": lambda value, _: pause_points(value), "order": lambda value, _: share_points(value),
})  # fmt: skip

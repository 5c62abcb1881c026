"""What was at the end of each of the last seconds: how even the load was, and what a page draws over time.

Samples are kept in the lab, by virtual second, and come with the view, so that whoever opens a page late, or
in a paused lab, sees what was. A history has a bounded number of values: of many things at a time a sample is
taken only every few seconds.
"""

from __future__ import annotations

from typing import Any

from broker_core.lab.shared.observed import ObservedLane
from broker_core.lab.shared.shares import skew_milli

HISTORY_KEPT_S = 300
VALUES_MAX = 12_000
"""Values in one history: in 180 s, of up to 66 things one each second."""


def keep_skew(lane: ObservedLane, second: int) -> None:
    """The second is over."""
    lane.history[second] = skew_milli(lane)
    lane.history.pop(second - HISTORY_KEPT_S, None)


def pace_s(values: int, kept_s: int) -> int:
    """Seconds from one sample of so many values to the next, in a history that goes back so far.

    >>> pace_s(9, 180), pace_s(66, 180), pace_s(67, 180), pace_s(96 * 3, 180)
    (1, 1, 2, 5)
    """
    return max(1, -(-values * kept_s // VALUES_MAX))


def forget(samples: dict[int, Any], until: int) -> None:
    """Drop the samples of this second and of those before it."""
    for second in [second for second in samples if second <= until]:
        del samples[second]


def by_second(samples: dict[int, Any]) -> dict[str, Any]:
    """As a view has them."""
    return {str(second): sample for second, sample in samples.items()}

"""How even the load was at the end of each of the last seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.lab.observers.shares import skew_milli

if TYPE_CHECKING:
    from broker_core.lab.lanes.lane import Lane

HISTORY_KEPT_S = 300


def keep_skew(lane: Lane, second: int) -> None:
    """The second is over."""
    lane.history[second] = skew_milli(lane)
    lane.history.pop(second - HISTORY_KEPT_S, None)

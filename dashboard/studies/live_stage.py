"""What a live study is doing, for its page and the API: a stage, and how far behind its lab it is.

preparing, starting_spark ─► no_window, first_window ─► streaming ⇄ waiting          lab_paused: until it plays
"""

from dataclasses import dataclass
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.events import Json

QUIET_S = 5.0
"""So long after the last window a study with nothing to count is waiting; a lab's rows come every second."""


@dataclass(slots=True)
class Source:
    """What is known of a lab that is studied. until_us: the end of the last second that it has left rows of; None before
    the first. is_paused: by a person, or because it rests."""

    until_us: int | None = None
    is_paused: bool = False


def live_stage(
    query: Any, *, is_spark_open: bool, newest_us: int | None, quiet_s: float, lab: Source | None
) -> Json:
    """{stage, behind_s}: what the study does now, and whole seconds of the lab's time between its last row and the newest
    window; None where there is no window, and of a log, whose records may have any time.

    query: None while it is being started. newest_us: the end of the newest window. quiet_s: since a window was last heard
    of. lab: None for a log.
    """
    if query is None:
        return {"stage": "preparing" if is_spark_open else "starting_spark", "behind_s": None}
    behind_s = None
    if lab is not None and lab.until_us is not None and newest_us is not None:
        behind_s = max(0, lab.until_us - newest_us) // SECOND_US
    return {"stage": _stage(query, newest_us, quiet_s, lab), "behind_s": behind_s}


def _stage(query: Any, newest_us: int | None, quiet_s: float, lab: Source | None) -> str:
    if newest_us is not None and quiet_s < QUIET_S:
        return "streaming"
    if query.is_counting:
        return "first_window" if newest_us is None else "streaming"
    if lab is not None and lab.is_paused:
        return "lab_paused"
    return "no_window" if newest_us is None else "waiting"

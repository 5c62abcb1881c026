"""So many messages on the wire further or back: the lab goes from event to event, and those count at which a message
arrives in any lane.

Nobody knows backwards when messages arrived. So the lab begins a little before the moment and goes up to it; a stretch
with too few of them is begun earlier.
"""

from collections.abc import Callable

from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.moments import next_event
from dashboard.labs.past.stepping import Place

Seek = Callable[[int], CoreLab]
"""The lab as it was at a time, with all that was ordered then."""
STRETCH_US, LONGER = 200_000, 8


def by_messages(seek: Seek, at_us: int, by: int, last_us: int) -> Place:
    """last_us: how far the lab has come. seek is dearer for an earlier time than for a later one."""
    found = _later(seek, at_us, by, last_us) if by > 0 else _earlier(seek, at_us, -by)
    return Place(found[-1], None, len(found) if by > 0 else -len(found)) if found else Place(at_us, None)


def _later(seek: Seek, at_us: int, count: int, last_us: int) -> list[int]:
    """The next `count` moments at which messages arrive, or as many as there are."""
    found: list[int] = []
    lab = seek(at_us)
    while len(found) < count:
        next_us, is_message = next_event(lab)
        if next_us > last_us:
            break
        lab = seek(next_us)
        if is_message:
            found.append(next_us)
    return found


def _earlier(seek: Seek, at_us: int, count: int) -> list[int]:
    """The same backwards, the latest first."""
    stretch_us, found = STRETCH_US, list[int]()
    while True:
        first_us = max(0, at_us - stretch_us)
        found = _later(seek, first_us, at_us - first_us, at_us - 1)
        if len(found) >= count or first_us == 0:
            return found[::-1][:count]
        stretch_us *= LONGER

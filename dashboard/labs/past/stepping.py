"""So many records, messages, turning points or changes further or back from a moment.

What is stepped over are moments: several turning points of one microsecond are one. From a moment between two of
them a step back leads to the one before it. Where there are fewer left, the last one is where it ends.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from broker_core.lab.commands import COMMANDS
from broker_core.lab.commands.clock import ClockCommand
from broker_core.lab.journal import Journal
from dashboard.labs.past.kept import Past
from dashboard.labs.past.marks import system_marks
from dashboard.models import StoredEvent

CLOCK_KINDS = frozenset(kind for kind, command in COMMANDS.items() if issubclass(command, ClockCommand))
Order = tuple[int, int]
"""(virtual time, position)."""


class Place(NamedTuple):
    """A moment of a journal, and how many steps led to it. position: None: all that was ordered then belongs to
    it."""

    at_us: int
    position: int | None
    steps: int = 0


def by_records(journal: Journal, at_us: int, by: int, last_us: int) -> Place:
    """last_us: how far the lab has come."""
    workload = journal.workload()
    if by > 0:
        come = workload.count_until(at_us)
        index = min(come + by, max(come, workload.count_until(last_us))) - 1
        steps = index + 1 - come
    else:
        come = workload.count_until(at_us - 1) if at_us else 0
        index = max(come + by, 0)
        steps = index - come
    return Place(workload.arrival_us(index), None, steps) if steps else Place(at_us, None)


def by_events(lab_id: str, at_us: int, by: int) -> Place:
    """Turning points, as they are stored."""
    rows = StoredEvent.objects.filter(lab_id=lab_id, at_us__gte=0)
    later = (
        rows.filter(at_us__gt=at_us).order_by("at_us")
        if by > 0
        else rows.filter(at_us__lt=at_us).order_by("-at_us")
    )
    times = list(later.values_list("at_us", flat=True).distinct()[: abs(by)])
    return Place(times[-1], None, len(times) if by > 0 else -len(times)) if times else Place(at_us, None)


def along(moments: Sequence[Order], here: Order, by: int) -> tuple[Order, int]:
    """(the moment so many further or back in this ascending list, how many there were to step over)."""
    if by > 0:
        first = bisect_right(moments, here)
        steps = min(by, len(moments) - first)
        return (moments[first + steps - 1], steps) if steps else (here, 0)
    first = bisect_left(moments, here)
    steps = min(-by, first)
    return (moments[first - steps], -steps) if steps else (here, 0)


def by_changes(past: Past, at_us: int, position: int | None, by: int, last_us: int) -> Place:
    """Orders, and what the system did on its own: the marks of the timeline. position: as of a moment."""
    orders = [
        (each["at_us"], each["position"]) for each in past.journal.commands if each["kind"] not in CLOCK_KINDS
    ]
    times = [order_us for order_us, _position in orders]

    def after(moment_us: int) -> tuple[int, int]:
        """The moment with the last order by then."""
        count = bisect_right(times, moment_us)
        return moment_us, orders[count - 1][1] if count else 0

    done = {after(mark["at_us"]) for mark in system_marks(past.row.pk, last_us)}
    here = after(at_us)
    if position is not None:
        here = (
            at_us,
            max((each for order_us, each in orders if (order_us, each) <= (at_us, position)), default=0),
        )
    (found_us, found), steps = along(sorted({*orders, *done}), here, by)
    return Place(found_us, found, steps) if steps else Place(at_us, position)

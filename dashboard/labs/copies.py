"""Copies of a moment: which of a visitor's labs is the one that a copied link would make once more."""

from broker_core.lab.journal import Journal
from dashboard import access
from dashboard.labs.moment import Moment
from dashboard.models import Lab, StoredCommand


def unchanged_copy(parent: Lab, moment: Moment, journal: Journal, visitor: str) -> Lab | None:
    """The visitor's newest copy of `parent` at this moment to which nothing has been done; None where there
    is none.

    journal: the parent's. A copy of a moment is paused by the last command that it was made with, so without
    a later one it is unchanged.
    """
    cut = journal.cut(moment.until_us, moment.until_position)
    wanted = [(command["command_id"], command["at_us"]) for command in cut.commands]
    copies = Lab.objects.filter(
        parent=parent, visitor_hash=access.token_hash(visitor), clock_floor_us=cut.until_us
    )
    for lab in copies.exclude(status=Lab.Status.FAILED).order_by("-created_at"):
        *past, last = lab.commands.order_by("position") or [None]
        if last is None or last.command_id != own_id(lab, "pause_lab"):
            continue
        speeds = [_speed_of(past.pop())] if past and past[-1].command_id == own_id(lab, "speed") else []
        if (
            speeds == [speed for speed in (moment.speed,) if speed is not None]
            and [(row.command_id, row.at_us) for row in past] == wanted
        ):
            return lab
    return None


def own_id(lab: Lab, kind: str) -> str:
    """The id of the command of this kind that a copy is made with."""
    return f"lab:{lab.pk}:{kind}"


def _speed_of(row: StoredCommand) -> float:
    return float(row.body["args"]["speed"])

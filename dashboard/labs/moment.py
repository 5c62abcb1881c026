"""A moment of a lab: a virtual time, the last change that had been made by then, and the speed. What a copied
link holds.

    /lab/<id>/?at_us=83250000&position=5&speed=4

A paused lab may be changed several times within one microsecond; `position`, the place of the last change in
the journal, tells those apart. A program names the same `until_us` and `until_position`, or the position
alone. Until a lab can be moved in time, a moment is opened as a copy (`services.lab_fork`); what belongs to
it is `Journal.cut`'s to say.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import check_command
from dashboard.errors import Refused, in_words
from dashboard.formats import clock, number
from dashboard.models import Lab, StoredCommand

LINK = ("at_us", "position", "speed")
CALL = ("until_us", "until_position", "speed")
FIELDS = (*CALL, *LINK[:2])
DIGITS_MAX = 15


@dataclass(frozen=True, slots=True)
class Moment:
    """until_us: virtual time; None: that of the change at until_position. until_position: what was ordered at
    this very time after that place of the journal does not belong to it; None: all does. speed: of the clock;
    None: as the journal has it."""

    until_us: int | None
    until_position: int | None
    speed: float | None


def moment_of(lab: Lab, request: Json) -> Moment:
    """The moment that `request` names as JSON values: {until_us?, until_position?, speed?} with one of the
    two at least, or as a link does, {at_us, position?, speed?}.

    Raises Refused 400 at the field: a value that is not a number, and a time or a change to which the lab has
    not come.
    """
    is_call = any(name in request for name in CALL[:2])
    at, place, _speed_name = CALL if is_call else LINK
    if unknown := [name for name in request if name not in (at, place, "speed")]:
        raise Refused(400, {unknown[0]: _("is unknown")})
    until_us = None if is_call and at not in request else _whole(at, request.get(at))
    if until_us is not None and until_us > lab.clock_floor_us:
        now, asked = clock(lab.clock_floor_us), clock(until_us)
        if now == asked:  # less than a tenth of a second apart
            now, asked = f"{number(lab.clock_floor_us)} µs", f"{number(until_us)} µs"
        raise Refused(
            400,
            {
                at: _("the lab has not come that far: it is at %(now)s, not yet at %(asked)s")
                % {"now": now, "asked": asked}
            },
        )
    until_position = _whole(place, request[place]) if place in request else None
    if until_position is not None and not _has_come(lab, until_position):
        raise Refused(
            400,
            {place: _("change %(position)s has not been made yet") % {"position": number(until_position)}},
        )
    return Moment(until_us, until_position, _speed(request["speed"]) if "speed" in request else None)


def _has_come(lab: Lab, position: int) -> bool:
    """Whether everything up to this place of the journal is decided."""
    waiting = lab.commands.filter(
        position__lte=position, state=StoredCommand.State.ACCEPTED, at_us__isnull=True
    )
    return position <= lab.position and not waiting.exists()


def moment_in(query: Mapping[str, str], names: Iterable[str] = LINK) -> Json:
    """What the query of an address says about a moment, numbers as numbers; {} where it names none. Garbage
    stays text, to be refused. names: as a link has them, or a call."""
    return {name: _number(query[name]) for name in names if name in query}


def _number(text: str) -> Any:
    if text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX:
        return int(text)
    whole, _point, part = text.partition(".")
    is_decimal = text.isascii() and whole.isdigit() and part.isdigit() and len(text) <= DIGITS_MAX
    return float(text) if is_decimal else text


def _whole(field: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**DIGITS_MAX:
        raise Refused(400, {field: _("must be a whole number of 0 or more")})
    return value


def _speed(value: Any) -> float:
    try:
        return float(
            check_command({"command_id": "speed", "kind": "speed", "args": {"speed": value}})["args"]["speed"]
        )
    except CommandError as error:
        raise Refused(400, {"speed": in_words(error)}) from error

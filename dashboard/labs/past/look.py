"""What somebody asks of a lab's past, checked at the field.

VIEW   at_us, position?, panels?, step? and by?, every_us?    FRAMES   at_us, until_us, every_us, panels?      MARKS  only?
LOG    at_us, position?, look? and what is asked of the log page
TRIAL  at_us?, position?, key?, next? or kind? with lane?, consumer?, count?      PASSPORT  at_us?, position?, record? or key?
WHY    at_us?, position?, lane, thing                          CODE   at_us?, position?, lane, of
"""

import re
import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.lesson.lesson import CHANGES
from broker_core.lab.panels import PANELS
from broker_core.lab.why.answer import THING_MAX
from dashboard.errors import Refused, in_words, listed
from dashboard.labs import selectors
from dashboard.labs.moment import moment_in, moment_of
from dashboard.models import Lab, StoredView

VIEW, FRAMES, MARKS, TRIAL, PASSPORT, WHY = "view", "frames", "marks", "trial", "passport", "why"
LOG, CODE = "log", "code"
SYSTEM_ONLY = "system"
STEPS = ("record", "message", "event", "change")
KEY_MAX = 200
BY_MAX = 1_000
FRAMES_MAX = 100
FIELDS = {
    VIEW: ("at_us", "position", "panels", "step", "by", "every_us", "look"),
    FRAMES: ("at_us", "until_us", "every_us", "panels", "look"),
    MARKS: ("only", "look"),
    TRIAL: ("at_us", "position", "key", "next", "kind", "lane", "consumer", "count", "look"),
    PASSPORT: ("at_us", "position", "record", "key", "look"),
    LOG: ("at_us", "position", "look"),
    WHY: ("at_us", "position", "lane", "thing", "look"),
    CODE: ("at_us", "position", "lane", "of", "look"),
}
AT_PRESENT = (TRIAL, PASSPORT, WHY, CODE)
"""Without a moment these are of the lab's present."""
_LOOK = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BY = re.compile(r"[+-]?[0-9]{1,6}")


class Look(msgspec.Struct, frozen=True):
    """until_position: None: all that was ordered at at_us belongs to it. step, by: how far from there. look: whose it
    is; number: which one of theirs. every_us: what its moments are apart, of a view: the next one asked for is likely to be
    a little earlier. deadline: when nobody waits for it any more, seconds since 1970. order: what is
    tried there, None: nothing; is_next: the lesson's next order, at its own time. key: who has it, or what became
    of its newest record; record: what became of this one; without either, of one that was sent some time ago.
    place: whose log is looked at, as the address of its page says it. thing: of this lane, why it is so, or which
    algorithm. only: of the marks those of the system."""

    lab: str
    kind: str
    language: str
    look: str
    at_us: int = 0
    until_position: int | None = None
    panels: list[str] = []
    step: str = ""
    by: int = 0
    until_us: int = 0
    every_us: int = 0
    number: int = 0
    deadline: float = 0.0
    order: Json | None = None
    key: str | None = None
    record: int | None = None
    place: dict[str, str] = {}
    is_next: bool = False
    lane: str = ""
    thing: str = ""
    only: str = ""


def look_of(lab: Lab, kind: str, query: Mapping[str, str]) -> Look:
    """Raises Refused: 400 at the field, 409 for a lab whose past would take another course today."""
    if lab.status == Lab.Status.FAILED and kind != MARKS:
        raise selectors.lab_has_stopped(lab.failed_reason)
    selectors.check_rules(lab=lab)
    if unknown := sorted(set(query) - set(FIELDS[kind])):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    given: dict[str, Any] = {
        "lab": lab.pk,
        "kind": kind,
        "language": get_language() or "en",
        "look": _look(query.get("look")),
    }
    if kind == TRIAL:
        given |= {"key": _key(query.get("key")), "order": _order(query), "is_next": _is_next(query)}
    if kind == PASSPORT:
        given |= {"key": _key(query.get("key")), "record": _record(query)}
    if "only" in query:
        given["only"] = _only(query["only"])
    if kind == WHY:
        given |= {name: _named(name, query.get(name, "")) for name in ("lane", "thing")}
    if kind == CODE:
        given |= {"lane": _named("lane", query.get("lane", "")), "thing": _named("of", query.get("of", ""))}
    if kind in AT_PRESENT and "at_us" not in query and "position" not in query:
        given["at_us"] = min(come_to(lab), lab.clock_floor_us)
    elif kind != MARKS:
        moment = moment_of(lab, moment_in(query))
        given |= {
            "at_us": moment.until_us,
            "until_position": moment.until_position,
            "panels": _panels(query.get("panels", "")),
        }
    if "step" in query or "by" in query:
        given |= {"step": _step(query.get("step")), "by": _by(query.get("by"))}
    if kind == FRAMES:
        given |= _stretch(lab, given["at_us"], query)
    elif "every_us" in query:
        given["every_us"] = _apart(query)
    return Look(**given)


def _look(text: str | None) -> str:
    if text is None:
        return secrets.token_urlsafe(9)
    if not _LOOK.fullmatch(text):
        raise Refused(400, {"look": _("must be 1 to 64 letters, digits, - or _")})
    return text


def _panels(text: str) -> list[str]:
    """As the page's socket asks for them: unknown names are another version's, and left out."""
    asked = text.split(",")
    return [name for name in PANELS if name in asked]


def _step(text: str | None) -> str:
    if text not in STEPS:
        raise Refused(400, {"step": _("must be %(names)s") % {"names": listed(STEPS)}})
    return text


def _by(text: str | None) -> int:
    by = int(text) if text is not None and _BY.fullmatch(text) else 0
    if by == 0 or abs(by) > BY_MAX:
        raise Refused(400, {"by": _("must be a whole number from -1,000 to 1,000 other than 0")})
    return by


def _apart(query: Mapping[str, str]) -> int:
    if "step" in query or "position" in query:
        raise Refused(400, {"every_us": _("is for a moment without a position or a step")})
    return _every(query)


def _every(query: Mapping[str, str]) -> int:
    text = query.get("every_us", "")
    every_us = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0
    if every_us < 1:
        raise Refused(400, {"every_us": _("must be a whole number of 1 or more")})
    return every_us


def _key(text: str | None) -> str | None:
    if text is not None and not 1 <= len(text) <= KEY_MAX:
        raise Refused(400, {"key": _("must be 1 to %(count)d letters") % {"count": KEY_MAX}})
    return text


def _only(text: str) -> str:
    if text != SYSTEM_ONLY:
        raise Refused(400, {"only": _("must be %(names)s") % {"names": SYSTEM_ONLY}})
    return text


def _named(field: str, text: str) -> str:
    if not 1 <= len(text) <= THING_MAX:
        raise Refused(400, {field: _("must be 1 to %(count)d letters") % {"count": THING_MAX}})
    return text


def _record(query: Mapping[str, str]) -> int | None:
    """The record's number, None where it is not given."""
    if "record" in query and "key" in query:
        raise Refused(400, {"record": _("give a record or a key, not both")})
    text = query.get("record", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise Refused(400, {"record": _("must be a whole number of 0 or more")})
    return int(text) if "record" in query else None


def _is_next(query: Mapping[str, str]) -> bool:
    if "next" in query and (query["next"] != "1" or "kind" in query):
        raise Refused(400, {"next": _("must be 1, and stands without a change of one's own")})
    return "next" in query


def _order(query: Mapping[str, str]) -> Json | None:
    """The change that is asked about; None: none is."""
    if "kind" not in query:
        if given := [name for name in ("lane", "consumer", "count") if name in query]:
            raise Refused(400, {given[0]: _("belongs to a change, whose kind is not given")})
        return None
    if query["kind"] not in CHANGES:
        raise Refused(400, {"kind": _("must be %(names)s") % {"names": listed(CHANGES)}})
    count = query.get("count")
    order = {
        "command_id": "trial",
        "kind": query["kind"],
        "lane": query.get("lane", "all"),
        "consumer": query.get("consumer"),
        "args": {}
        if count is None
        else {"count": int(count) if count.isascii() and count.isdigit() else count},
    }
    try:
        return check_command(order)
    except CommandError as error:
        raise Refused(400, {error.field.removeprefix("args."): in_words(error)}) from error


def come_to(row: Lab) -> int:
    """How far a lab has come, as browsers have seen it."""
    at_us = StoredView.objects.filter(pk=row.pk).values_list("at_us", flat=True).first()
    return int(row.clock_floor_us if at_us is None else at_us)


def _stretch(lab: Lab, at_us: int, query: Mapping[str, str]) -> dict[str, int]:
    until_us = _moment_at("until_us", lab, query)
    if until_us < at_us:
        raise Refused(400, {"until_us": _("is before at_us")})
    every_us = _every(query)
    if (until_us - at_us) // every_us >= FRAMES_MAX:
        text = _("is too short: there may be %(count)d pictures at most") % {"count": FRAMES_MAX}
        raise Refused(400, {"every_us": text})
    return {"until_us": until_us, "every_us": every_us}


def _moment_at(field: str, lab: Lab, query: Mapping[str, str]) -> int:
    """A time that the lab has come to, told at this field."""
    try:
        moment = moment_of(lab, moment_in({"at_us": query.get(field, "")}))
    except Refused as refused:
        raise Refused(refused.status, {field: refused.fields["at_us"][0]}) from refused
    assert moment.until_us is not None, "a link's moment has a time"
    return moment.until_us

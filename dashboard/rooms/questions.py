"""A question that the presenter asks the room: about the next change, what Predict asks one person, or a lesson's frame;
or the question of a lecture's slide.

    trial/ (a copy of the lab carries the change out) ─┬─► open ─► closed ─► told: the truth is sent
    a slide of the deck that is shown ─────────────────┘

Question and truth about a change are the engine's (`broker_core/lab/trial.py`). Nobody is sent the truth before the last
stage, and how the room has answered goes apart from the room's state (`answers.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import F
from django.utils.translation import gettext as _

from broker_core.events import Json
from broker_core.lab.lesson.texts import LANGUAGES
from dashboard.errors import Refused, listed
from dashboard.labs.past.look import TRIAL, Look, look_of
from dashboard.lectures.lecture import LessonQuestion, OwnQuestion
from dashboard.lectures.shelf import lecture_of
from dashboard.lectures.shown import answers_of
from dashboard.models import Room
from dashboard.rooms.selectors import OPEN, STAGES, Role
from dashboard.rooms.services import no_lab, only, room_change
from dashboard.rooms.shown import is_deck
from dashboard.stored import intact

FIELDS = ("kind", "consumer", "lane", "figure", "next", "at_us", "position")
MARKED = ("partition", "slot", "record")
SLIDE = "slide"
"""The figure of a question that is a lecture's own words."""
P = TypeVar("P")


def question_look(*, room: Room, role: Role, request: Json) -> Look:
    """What the engine is to try out for a question. request: as a trial's query, and figure: which of the questions
    about it, None for the first. Raises Refused."""
    _check_free(room, role)
    if room.lab is None:
        raise no_lab()
    if unknown := sorted(set(request) - set(FIELDS)):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    given = {name: value for name, value in request.items() if value is not None and name != "figure"}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise Refused(400, {name: _("must be a text or a whole number")})
    if not isinstance(given.get("lane"), str):
        raise Refused(400, {"lane": _("say which lane is asked about")})
    if not isinstance(request.get("figure", ""), str | None):
        raise Refused(400, {"figure": _("must be text")})
    query = {name: str(value) for name, value in given.items()}
    if "kind" not in query:
        if "next" not in query:
            raise Refused(400, {"kind": _("say which change is asked about")})
        del query["lane"]
    elif query["kind"] == "join":
        query["count"] = "1"
    return look_of(room.lab, TRIAL, {**query, "look": f"room-{room.code}"})


def question_ask(*, room: Room, role: Role, request: Json, told: Json) -> Room:
    """Ask the room. request: as question_look has checked it; told: what came of that look. Raises Refused 400 where
    nothing can be asked about it."""
    only(role, Role.PRESENTER)
    lane = told["lanes"].get(request["lane"])
    outcome = None if lane is None else lane["outcome"]
    if outcome is None or not outcome["questions"]:
        raise Refused(400, {"lane": _("the change has nothing to ask about there")})
    figures = {each["figure"]: each for each in outcome["questions"]}
    order = told["order"]
    asked = {
        "lane": request["lane"],
        "change": {"kind": order["kind"], "consumer": order["consumer"]},
        "is_next": "next" in request,
        "at_us": told["at_us"],
        "question": figures.get(request.get("figure")) or outcome["questions"][0],
        "rest_us": outcome["rest_us"],
        "standing": len(outcome["stopped"]),
        "marks": _marks(outcome["marks"]),
    }
    return room_change(room, question=F("question") + 1, stage=OPEN, bars_shown=False, asked=asked)


def slide_ask(*, room: Room, role: Role, request: Json) -> Room:
    """Ask the room a question of the deck that it shows. request: {slide, question}, both from 1. The answers are those
    that everybody reads there, in their own language. Raises Refused 400 at the field, 409 where no deck is shown."""
    _check_free(room, role)
    shown = intact(room.shown)
    if not is_deck(shown):
        raise Refused(409, {"room": _("the room shows no slide")})
    if unknown := sorted(set(request) - {"slide", "question"}):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    slides = lecture_of(shown["lecture"], LANGUAGES[0]).slides
    slide = _place("slide", request.get("slide"), slides)
    asking = [part for part in slide.parts if isinstance(part, LessonQuestion | OwnQuestion)]
    count, truth = answers_of(_place("question", request.get("question"), asking))
    asked = {
        "slide": {"lecture": shown["lecture"], **request},
        "question": {
            "figure": SLIDE,
            "total": None,
            "answers": list(range(count)),
            "truth": truth,
            "value": None,
        },
        "marks": None,
    }
    return room_change(room, question=F("question") + 1, stage=OPEN, bars_shown=False, asked=asked)


def _place(field: str, number: Any, all_: Sequence[P]) -> P:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(all_):
        raise Refused(400, {field: _("is not there")})
    return all_[number - 1]


def _check_free(room: Room, role: Role) -> None:
    only(role, Role.PRESENTER)
    if room.task:
        raise Refused(409, {"room": _("a task is under way: end it first")})


def question_set(*, room: Room, role: Role, number: Any, stage: Any = None, bars_shown: Any = None) -> Room:
    """Go on to a later stage; show or hide what the room has answered. number: of the question that is meant. Raises
    Refused 409 where another is open."""
    only(role, Role.PRESENTER)
    check_number(room, number)
    changes: Json = {}
    if stage is not None:
        if stage not in STAGES:
            raise Refused(400, {"stage": _("must be %(names)s") % {"names": listed(STAGES)}})
        if STAGES.index(stage) < STAGES.index(room.stage):
            raise Refused(409, {"stage": _("the question is past that")})
        changes["stage"] = stage
    if bars_shown is not None:
        if not isinstance(bars_shown, bool):
            raise Refused(400, {"bars_shown": _("must be true or false")})
        changes["bars_shown"] = bars_shown
    return room_change(room, **changes)


def question_end(*, room: Room, role: Role) -> Room:
    """Put the question away, at any stage. Raises Refused 403."""
    only(role, Role.PRESENTER)
    return room_change(room, stage="")


def check_number(room: Room, number: Any) -> None:
    if not room.stage or number != room.question or isinstance(number, bool):
        raise Refused(409, {"number": _("this question is not there any more")})


def _marks(marks: Mapping[str, Json | None]) -> Json | None:
    """What of the lane's picture an answer may mark: {kind, total, true, space?}; None: nothing."""
    for kind in MARKED:
        if (found := marks[kind]) is not None:
            return {"kind": kind, **found}
    return None

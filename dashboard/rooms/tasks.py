"""A task that the presenter sets the room: what a lab is to come to. Each seat does it in a copy of its own of the
presenter's lab, as that was when the task was set, so that all begin alike.

    task_set ─► the room's row ─► task_copy: a Goal, and a copy that has it ─► the copy's driver looks with each frame
                                                                         Goal.held_at ─► progress, task_of ─► the room

What is asked is what a lesson's check asks (`broker_core/lab/lesson/goal.py`).
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.fields import is_finite
from broker_core.lab.lesson.checks import ASKS, holds
from broker_core.lab.lesson.goal import figures_of
from broker_core.lab.lesson.lesson import ASKED_MAX
from broker_core.lab.lesson.numbers import EVENTS, NoSuchNumber, number_at
from dashboard.access import token_hash
from dashboard.errors import Refused, listed
from dashboard.labs import keeping
from dashboard.labs import selectors as labs
from dashboard.labs import services as lab_services
from dashboard.models import Goal, Lab, Room, RoomSeat
from dashboard.rooms.selectors import GONE_S, Role
from dashboard.rooms.services import no_lab, only, room_change
from dashboard.stored import intact

SAME = "same"
"""Asks that a number does not change."""
COMPARISONS = (*ASKS, SAME)
FIELDS = ("check", "lane", "consumer", "figure", "comparison", "value", "for_s", "note")
OWN = FIELDS[1:-1]
FOR_S_MAX, NOTE_MAX, NAMES_MAX = 600, 200, 60


# -- setting it ----------------------------------------------------------------------------------------------


def task_offers(*, room: Room, role: Role) -> Json:
    """What a task can be about: {checks: of the lesson, as its view has them, lanes: {lane: {consumer: [figure]}}}; consumer
    "" is the lane itself. Raises Refused 403, 409 before the lab's first view."""
    only(role, Role.PRESENTER)
    view = _view(room)
    lanes = {
        name: {consumer: list(figures_of(lane, consumer)) for consumer in ("", *lane["order"])}
        for name, lane in view["lanes"].items()
    }
    return {"checks": view.get("lesson", {}).get("checks", []), "lanes": lanes}


def task_set(*, room: Room, role: Role, request: Json) -> Room:
    """Set the room a task, in place of the one or the question that is there. request: {check: a place among the lesson's,
    note?} or {lane, consumer?, figure, comparison, value?, for_s?, note?}. Raises Refused 400 at the field."""
    only(role, Role.PRESENTER)
    if unknown := sorted(set(request) - set(FIELDS)):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    given = {name: value for name, value in request.items() if value not in (None, "")}
    note = given.pop("note", "")
    if not isinstance(note, str) or len(note) > NOTE_MAX or not note.isprintable():
        text = _("must be at most %(count)d printable characters")
        raise Refused(400, {"note": text % {"count": NOTE_MAX}})
    view, shown = _view(room), intact(room.shown)
    about = _of_lesson(view, given) if "check" in given else _own(view, given)
    if shown["at_us"] is None and _is_so_already(view, about["goal"]):
        field = "check" if "check" in given else "value"
        raise Refused(400, {field: _("this is so already: ask for something else")})
    moment = (shown["at_us"], shown["position"]) if shown["at_us"] is not None else (view["at_us"], None)
    task = {
        **about, "note": note.strip(), "lab": room.lab_id,
        "until_us": moment[0], "until_position": moment[1],
    }  # fmt: skip
    return room_change(room, tasks=F("tasks") + 1, task=task, stage="")


def task_end(*, room: Room, role: Role, recall: bool = False) -> Room:
    """The task is over. recall: all are called back, too; else their copies stay theirs to play with. Raises Refused 403."""
    only(role, Role.PRESENTER)
    return room_change(room, task={}, **({"recalls": F("recalls") + 1} if recall else {}))


def _view(room: Room) -> Json:
    if room.lab_id is None:
        raise no_lab()
    snapshot = labs.lab_snapshot(lab_id=room.lab_id)
    if snapshot is None:
        raise Refused(409, {"room": _("the lab has no picture yet: try again in a moment")})
    view: Json = snapshot["view"]
    return view


def _of_lesson(view: Json, given: Json) -> Json:
    if more := [name for name in given if name != "check"]:
        raise Refused(400, {more[0]: _("stands without a check of the lesson")})
    checks, place = view.get("lesson", {}).get("checks", []), given["check"]
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(checks):
        raise Refused(400, {"check": _("the lesson has no such check")})
    check = checks[place]
    goal = {**{name: check[name] for name in ("lane", "number", "asks")}, "for_us": 0}
    return {"goal": goal, "says": check["says"], "consumer": "", "figure": ""}


def _own(view: Json, given: Json) -> Json:
    lane, consumer, figure = given.get("lane"), given.get("consumer", ""), given.get("figure")
    if not isinstance(lane, str) or lane not in view["lanes"]:
        raise Refused(400, {"lane": _must_be(view["lanes"])})
    names = ("", *view["lanes"][lane]["order"])
    if not isinstance(consumer, str) or consumer not in names:
        raise Refused(400, {"consumer": _must_be(names[1:])})
    figures = figures_of(view["lanes"][lane], consumer)
    if not isinstance(figure, str) or figure not in figures:
        raise Refused(400, {"figure": _must_be(figures)})
    comparison, value = given.get("comparison"), given.get("value")
    if not isinstance(comparison, str) or comparison not in COMPARISONS:
        raise Refused(400, {"comparison": _must_be(COMPARISONS)})
    if comparison == SAME and value is not None:
        raise Refused(400, {"value": _("is for a comparison with a number")})
    if comparison != SAME and not _is_number(value):
        raise Refused(400, {"value": _("must be a number")})
    for_s, least = given.get("for_s", 0), int(comparison == SAME)
    if isinstance(for_s, bool) or not isinstance(for_s, int) or not least <= for_s <= FOR_S_MAX:
        text = _("must be a whole number from %(low)d to %(high)d")
        raise Refused(400, {"for_s": text % {"low": least, "high": FOR_S_MAX}})
    asks = {} if comparison == SAME else {comparison: value}
    goal = {
        "lane": lane, "number": figures[figure], "asks": asks, "for_us": for_s * SECOND_US, "consumer": consumer,
    }  # fmt: skip
    return {"goal": goal, "says": None, "consumer": consumer, "figure": figure}


def _must_be(names: Mapping[str, Any] | tuple[str, ...]) -> str:
    return _("must be %(names)s") % {"names": listed(tuple(names))}


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and is_finite(value) and abs(value) <= ASKED_MAX


def _is_so_already(view: Json, goal: Json) -> bool:
    """What must last, or counts turning points, is only known once the copy runs."""
    if goal["for_us"] or not goal["asks"] or goal["number"].startswith(EVENTS):
        return False
    try:
        came = number_at(view["lanes"][goal["lane"]] if goal["lane"] else view, goal["number"])
    except NoSuchNumber:
        return False
    return holds(came, goal["asks"])


# -- doing it ------------------------------------------------------------------------------------------------


def task_copy(*, room: Room, role: Role, number: Any, visitor: str | None, address: str) -> str:
    """The seat's copy for this task: its id. A seat has one for a task; with the next one it goes, as a lab that one
    deletes does, so that a room of 200 with many tasks stays within its address's labs. A locked room gives it, too.
    Raises Refused 409 where the task is over, else as lab_fork."""
    only(role, Role.ATTENDEE)
    task = intact(room.task)
    if not task or isinstance(number, bool) or number != room.tasks:
        raise Refused(409, {"number": _("this task is over")})
    with transaction.atomic():
        # The seat's row is the lock: two presses make one copy.
        seat = RoomSeat.objects.select_for_update().get(room=room, visitor_hash=token_hash(visitor or ""))
        goal, _is_new = Goal.objects.get_or_create(seat=seat, task=number, defaults={"asked": task["goal"]})
        if (own := goal.labs.order_by("-created_at").first()) is not None:
            return str(own.pk)
        for older in Lab.objects.filter(goal__seat=seat, visitor_hash=seat.visitor_hash):
            keeping.lab_delete(lab_id=older.pk, visitor=visitor)
        moment = {name: task[name] for name in ("until_us", "until_position")}
        fork = lab_services.lab_fork(
            lab_id=task["lab"], request=moment, visitor=visitor, address=address, goal=goal
        )
        return str(fork.lab.pk)


# -- how it goes ---------------------------------------------------------------------------------------------


def task_of(room: Room, seat: RoomSeat | None) -> Json:
    """What a seat has of the task that is there: {number, labs: its copies, the newest first, is_done}."""
    goal = Goal.objects.filter(seat=seat, task=room.tasks).first() if seat is not None and room.task else None
    copies = [] if goal is None else goal.labs.order_by("-created_at").values_list("pk", flat=True)
    return {
        "number": room.tasks,
        "labs": list(copies),
        "is_done": goal is not None and goal.held_at is not None,
    }


def seats_done(room: Room) -> list[int]:
    """Which seats have done the task that is there."""
    if not room.task:
        return []
    done = Goal.objects.filter(seat__room=room, task=room.tasks, held_at__isnull=False)
    return list(done.values_list("seat_id", flat=True))


def progress(room: Room) -> Json | None:
    """How the task goes, for its presenter; None where none is set.

    {type, number, of, at, done, names}. of: the seats that are here or have begun; at: who is in a copy and has not done
    it. names: of those who have, the first NAMES_MAX in turn, "" for one without a name.
    """
    if not room.task:
        return None
    goals = Goal.objects.filter(seat__room=room, task=room.tasks)
    is_here = Q(seen_at__gt=timezone.now() - timedelta(seconds=GONE_S))
    begun = Q(pk__in=goals.values("seat"))
    at_it = Q(pk__in=goals.filter(held_at=None).values("seat")) & is_here & Q(is_looking=True)
    done = goals.filter(held_at__isnull=False).order_by("held_at", "pk").values_list("seat__name", flat=True)
    return {
        "type": "progress",
        "number": room.tasks,
        "of": room.seats.filter(begun | is_here).count(),
        "at": room.seats.filter(at_it).count(),
        "done": len(done),
        "names": list(done[:NAMES_MAX]),
    }

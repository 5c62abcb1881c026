"""Everything that is read of rooms: which room a code names and who one is in it, its state as all see it, and how
many follow."""

import hmac
from collections.abc import Collection
from datetime import timedelta
from enum import StrEnum

import msgspec
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.access import token_hash
from dashboard.errors import Refused
from dashboard.models import Room, RoomSeat
from dashboard.rooms import codes
from dashboard.rooms.shown import NOTHING, path_of
from dashboard.stored import intact

GONE_S = 12.0
"""A seat whose browser no process has seen for so long is gone; a page that changes is not."""
STAGES = OPEN, CLOSED, TOLD = "open", "closed", "told"
"""Of a question: it takes answers, it takes none any more, everybody sees its truth."""
_encoder = msgspec.json.Encoder()


class Role(StrEnum):
    """visitor: has the code, and no seat. remote: a second device of the presenter's, by its secret."""

    VISITOR = "visitor"
    ATTENDEE = "attendee"
    PRESENTER = "presenter"
    REMOTE = "remote"


def room_unknown() -> Refused:
    return Refused(404, {"code": _("there is no room with this code")})


def room_over() -> Refused:
    return Refused(404, {"code": _("this room is over")})


def room_get(*, code: str, visitor: str | None = None, bearer: str | None = None, address: str) -> Room:
    """The open room with this code. An address that has tried too many wrong ones learns nothing more, but who
    presents the room or has a seat in it stays. Raises Refused 404,
    also of a room that is over, or 429."""
    wanted = codes.code_in(code)
    room = Room.objects.filter(pk=wanted).first()
    if room is None or role_of(room, visitor=visitor, bearer=bearer) == Role.VISITOR:
        codes.check_tries(address)
    if room is None:
        codes.wrong_code_add(address)
        raise room_unknown()
    if is_over(room):
        raise room_over()
    return room


def role_of(room: Room, *, visitor: str | None, bearer: str | None = None) -> Role:
    """A token that is given decides alone, as with a lab."""
    if bearer is not None:
        is_remote = hmac.compare_digest(token_hash(bearer), room.remote_hash)
        return Role.REMOTE if is_remote else Role.VISITOR
    if visitor is None:
        return Role.VISITOR
    if hmac.compare_digest(token_hash(visitor), room.presenter_hash):
        return Role.PRESENTER
    return Role.ATTENDEE if seat_of(room, visitor) is not None else Role.VISITOR


def seat_of(room: Room, visitor: str | None) -> RoomSeat | None:
    return room.seats.filter(visitor_hash=token_hash(visitor)).first() if visitor else None


def room_of(visitor: str) -> Room | None:
    """The open room that this visitor presents."""
    rooms = Room.objects.filter(presenter_hash=token_hash(visitor), ends_at__gt=timezone.now())
    return rooms.order_by("-created_at").first()


def room_state(room: Room) -> Json:
    """What everybody in the room knows of it, whole. `seq` is its version."""
    shown = NOTHING | intact(room.shown)
    return {
        "type": "snapshot",
        "seq": room.version,
        "code": room.code,
        "lab": room.lab_id,
        "path": path_of(room.lab_id, shown),
        **shown,
        "locked": room.locked,
        "recalls": room.recalls,
        "handovers": room.handovers,
        "presses": room.presses,
        "press": room.press,
        "asked": asked_view(room),
        "task": task_view(room),
        "ends_at": room.ends_at.isoformat(),
        "is_over": is_over(room),
    }


def asked_view(room: Room) -> Json | None:
    """The question of a room as everybody in it may know it; None where none is. The truth is in it at the last stage alone.
    slide: {lecture, slide, question} of one that a slide asks, which is about no change; else None."""
    if not room.stage:
        return None
    asked = intact(room.asked)
    question, marks = asked["question"], asked["marks"]
    slide = asked.get("slide")
    told = {"truth": question["truth"], "value": question["value"]}
    if slide is None:
        told |= {"rest_us": asked["rest_us"], "standing": asked["standing"]}
    return {
        "number": room.question,
        "stage": room.stage,
        "bars_shown": room.bars_shown,
        "slide": slide,
        **({} if slide else {name: asked[name] for name in ("lane", "change", "is_next", "at_us")}),
        "question": {name: question[name] for name in ("figure", "total", "answers")},
        "marking": marks and {"kind": marks["kind"], "total": marks["total"]},
        "told": told if room.stage == TOLD else None,
    }


def task_view(room: Room) -> Json | None:
    """The task of a room: {number, goal, says: a lesson's words, None for a figure of a lane or consumer, note}; None where
    none is set."""
    task = intact(room.task)
    if not task:
        return None
    told = {name: task[name] for name in ("goal", "says", "consumer", "figure", "note")}
    return {"number": room.tasks, **told}


def is_over(room: Room) -> bool:
    return bool(room.ends_at <= timezone.now())


def state_text(room: Room) -> str:
    return _encoder.encode(room_state(room)).decode()


def rooms_now(codes_: Collection[str]) -> dict[str, Room]:
    """These rooms, those that are over too; one that is not there any more is left out."""
    return {room.code: room for room in Room.objects.filter(pk__in=codes_)}


def counts_of(codes_: Collection[str]) -> dict[str, Json]:
    """How many follow, look around and are gone, of each room."""
    since = timezone.now() - timedelta(seconds=GONE_S)
    is_here = Q(seen_at__gt=since)
    rows = (
        RoomSeat.objects.filter(room_id__in=codes_)
        .values("room_id")
        .annotate(
            following=Count("pk", filter=is_here & Q(is_looking=False)),
            looking=Count("pk", filter=is_here & Q(is_looking=True)),
            gone=Count("pk", filter=~is_here),
        )
    )
    none = {"following": 0, "looking": 0, "gone": 0}
    found = {row.pop("room_id"): row for row in rows}
    return {code: {"type": "counts", **found.get(code, none)} for code in codes_}

"""What the room answers: each seat once, changed as often as one likes until the question is closed; and all of it
together, which is what the room is shown."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.access import token_hash
from dashboard.errors import Refused
from dashboard.labs.transport import transport
from dashboard.models import Room, RoomSeat
from dashboard.rooms.questions import check_number
from dashboard.rooms.selectors import GONE_S, OPEN, TOLD, Role
from dashboard.rooms.services import only
from dashboard.stored import Damaged, intact

CHANGES_MAX = 60
"""Of one seat's answer to one question."""
MARKS_MAX, NAME_MAX = 64, 24
BINS = 64
"""Equal parts of a hash space, in which the marks of a room are counted."""
HEAT_MAX = 200
"""So many marked things are sent, the most marked ones."""


def answer_give(*, room: Room, role: Role, visitor: str | None, request: Json) -> Json:
    """A seat's answer, in place of the one before: its place among the answers, or the marks on the picture, or both.
    request: {number, chosen?, marks?}. Returns answer_of. Raises Refused 409 where the question is not open, 429 beyond
    CHANGES_MAX."""
    only(role, Role.ATTENDEE)
    if unknown := sorted(set(request) - {"number", "chosen", "marks"}):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    check_number(room, request.get("number"))
    given: Json = {}
    if "chosen" in request:
        given["chosen"] = _chosen(room, request["chosen"])
    if "marks" in request:
        given["marks"] = _marked(room, request["marks"])
    if not given:
        raise Refused(400, {"chosen": _("say what you answer")})
    number = room.question
    with transaction.atomic():
        # The seat's row is the lock: of a place and marks that come at once, both stay.
        seat = RoomSeat.objects.select_for_update().get(room=room, visitor_hash=token_hash(visitor or ""))
        is_first = seat.answered != number
        if not is_first and seat.changes >= CHANGES_MAX:
            raise Refused(429, {"chosen": _("you have changed your answer too often")})
        answer = {**({} if is_first else intact(seat.answer)), **given}
        still_open = Room.objects.filter(pk=room.pk, question=number, stage=OPEN)
        changed = RoomSeat.objects.filter(pk=seat.pk, room__in=still_open).update(
            answered=number,
            answer=answer,
            changes=1 if is_first else F("changes") + 1,
            seen_at=timezone.now(),
        )
        if not changed:
            raise Refused(409, {"number": _("the question is closed")})
    transport().tell_answered(room.code)
    seat.answered, seat.answer = number, answer
    return answer_of(room, seat)


def answer_of(room: Room, seat: RoomSeat | None) -> Json:
    """What a seat has answered to the question that is there: {number, chosen, marks}, None for what it has not."""
    answer = intact(seat.answer) if seat is not None and room.stage and seat.answered == room.question else {}
    return {"number": room.question, "chosen": answer.get("chosen"), "marks": answer.get("marks")}


def tally(room: Room) -> Json | None:
    """How many have answered, and what; None where nothing is asked.

    {type, number, answered, of, counts, heat}. of: the seats that are here or have answered. counts: of each answer.
    heat: {kind, who, marks {name: count}, true?}: how many have marked something, and what; a slot stands for its part
    of the space. true, at the last stage: what the change is about, as a trial has it. Both None while they are hidden.
    """
    if not room.stage:
        return None
    asked = intact(room.asked)
    has_answered = Q(answered=room.question)
    is_here = Q(seen_at__gt=timezone.now() - timedelta(seconds=GONE_S))
    stored = room.seats.filter(has_answered).values_list("answer", flat=True)
    answers = [answer for answer in stored if not isinstance(answer, Damaged)]
    is_shown = room.bars_shown or room.stage == TOLD
    return {
        "type": "tally",
        "number": room.question,
        "answered": len(answers),
        "of": room.seats.filter(has_answered | is_here).count(),
        "counts": _counts(asked["question"], answers) if is_shown else None,
        "heat": _heat(asked["marks"], answers, room.stage == TOLD) if is_shown and asked["marks"] else None,
    }


def _counts(question: Json, answers: Iterable[Json]) -> list[int]:
    found = Counter(answer.get("chosen") for answer in answers)
    return [found[place] for place in range(len(question["answers"]))]


def _heat(marks: Json, answers: Iterable[Json], is_told: bool) -> Json:
    marked = [answer["marks"] for answer in answers if answer.get("marks")]
    found = Counter(name for names in marked for name in {_part(marks, name) for name in names})
    heat = {"kind": marks["kind"], "who": len(marked), "marks": dict(found.most_common(HEAT_MAX))}
    return {**heat, "true": marks["true"]} if is_told else heat


def _part(marks: Json, name: str) -> str:
    """What a mark is counted as: itself, or of a slot the middle of its part of the space.

    >>> _part({"kind": "slot", "space": 65536}, "1000"), _part({"kind": "partition"}, "3")
    ('512', '3')
    """
    if marks["kind"] != "slot":
        return name
    part = int(name) * BINS // marks["space"]
    return str((2 * part + 1) * marks["space"] // (2 * BINS))


def _chosen(room: Room, value: Any) -> int:
    count = len(intact(room.asked)["question"]["answers"])
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < count:
        raise Refused(400, {"chosen": _("must be a whole number from 0 to %(high)d") % {"high": count - 1}})
    return value


def _marked(room: Room, value: Any) -> list[str]:
    marks = intact(room.asked)["marks"]
    if marks is None:
        raise Refused(400, {"marks": _("this question is not asked about a picture")})
    if (
        not isinstance(value, list)
        or len(value) > MARKS_MAX
        or not all(_is_name(marks, each) for each in value)
    ):
        raise Refused(400, {"marks": _("must be at most %(count)d names of things") % {"count": MARKS_MAX}})
    return list(dict.fromkeys(value))


def _is_name(marks: Json, name: Any) -> bool:
    if not isinstance(name, str) or not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        return False
    return marks["kind"] != "slot" or (name.isascii() and name.isdecimal() and int(name) < marks["space"])

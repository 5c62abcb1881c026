"""Every write to rooms but questions and their answers (`questions.py`, `answers.py`). A service takes values and returns
values, never a request; each names who may.

room_open     anybody with a cookie          room_show     the presenter      seat_take     anybody with the code
room_close    the presenter                  room_order    the presenter      room_copy     anybody with the code, unlocked
link_secret   the presenter                  room_press    presenter, remote  room_take     who has the hand-over's secret
"""

import hmac
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard import access, quotas
from dashboard.access import token_hash
from dashboard.errors import Refused, listed
from dashboard.labs import selectors as labs
from dashboard.labs import services as lab_services
from dashboard.labs.transport import transport
from dashboard.models import Room, RoomSeat
from dashboard.quotas import DAY_S, Quota
from dashboard.rooms import codes, selectors
from dashboard.rooms.selectors import Role
from dashboard.rooms.shown import checked_shown, is_deck
from dashboard.stored import intact

ROOMS_ADDRESS_MAX, ROOMS_MAX, SEATS_MAX = 20, 1_000, 1_000
ROOM_KEPT_S = DAY_S
CODES_MAX = 5
"""So many codes are drawn for a room. With every room open that there may be, another has one once in 900,000."""
NAME_MAX = 32
PRESSES = ("next", "back", "pause")
REMOTE, HANDOVER = "remote", "hand_over"
LINKS = {REMOTE: "remote_hash", HANDOVER: "handover_hash"}


def room_open(*, request: Json, visitor: str | None, address: str) -> Room:
    """The visitor's room, showing this lab, or a lecture's deck: opened now, or the one that is open already. request:
    {lab, shown?}, without a lab for a deck. Raises Refused 403 without a cookie, 404 for an unknown lab, 429 beyond the quotas."""
    token = _cookie(visitor)
    if unknown := sorted(set(request) - {"lab", "shown"}):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    shown = checked_shown(request.get("shown", {}))
    is_of_lab = not is_deck(shown) or request.get("lab") is not None
    lab = labs.lab_get(lab_id=_lab_id(request.get("lab"))).pk if is_of_lab else None
    if (own := selectors.room_of(token)) is not None:
        return room_show(room=own, role=Role.PRESENTER, lab_id=lab, shown=shown)
    quota = Quota(quotas.ROOMS, "room", ROOMS_ADDRESS_MAX, ROOMS_MAX)
    rooms = Room.objects.filter(ends_at__gt=timezone.now())
    quota.check(mine=rooms.filter(address_hash=address).count(), everybody=rooms.count(), again_s=ROOM_KEPT_S)
    ends_at = timezone.now() + timedelta(seconds=ROOM_KEPT_S)
    for _try in range(CODES_MAX):
        code = codes.code_new()
        try:
            with transaction.atomic():
                return Room.objects.create(
                    code=code, lab_id=lab, shown=shown, presenter_hash=token_hash(token), address_hash=address, ends_at=ends_at,
                )  # fmt: skip
        except IntegrityError:
            if not Room.objects.filter(pk=code).exists():
                raise
    raise Refused(503, {"room": _("no code was free: try again")})


def room_show(*, room: Room, role: Role, lab_id: Any, shown: Any) -> Room:
    """What the presenter's page shows now; lab_id: None for the same lab as before. Raises Refused."""
    only(role, Role.PRESENTER)
    checked = checked_shown(shown)
    lab = room.lab_id if lab_id is None else labs.lab_get(lab_id=_lab_id(lab_id)).pk
    if lab is None and not is_deck(checked):
        raise no_lab()
    return room_change(room, lab_id=lab, shown=checked, **_no_question(room, lab, checked))


def room_order(*, room: Room, role: Role, locked: Any = None, recall: Any = None) -> Room:
    """Lock or unlock the room; call all back. Locking calls all back too. Raises Refused."""
    only(role, Role.PRESENTER)
    for name, value in (("locked", locked), ("recall", recall)):
        if value is not None and not isinstance(value, bool):
            raise Refused(400, {name: _("must be true or false")})
    changes: Json = {} if locked is None else {"locked": locked}
    if recall or locked:
        changes["recalls"] = F("recalls") + 1
    return room_change(room, **changes)


def room_close(*, room: Room, role: Role) -> None:
    """The room is over for everybody. Raises Refused 403."""
    only(role, Role.PRESENTER)
    room_change(room, ends_at=timezone.now())


def link_secret(*, room: Room, role: Role, kind: Any) -> str:
    """A new secret for the remote's or the next presenter's link; the one before is worth nothing from now on. Raises
    Refused."""
    only(role, Role.PRESENTER)
    if not isinstance(kind, str) or kind not in LINKS:
        raise Refused(400, {"for": _("must be %(names)s") % {"names": listed(tuple(LINKS))}})
    secret = access.token_new()
    Room.objects.filter(pk=room.pk).update(**{LINKS[kind]: token_hash(secret)})
    return secret


def room_press(*, room: Room, role: Role, press: Any) -> Room:
    """A press on the remote, which the presenter's page carries out once. Raises Refused."""
    only(role, Role.PRESENTER, Role.REMOTE)
    if not isinstance(press, str) or press not in PRESSES:
        raise Refused(400, {"press": _("must be %(names)s") % {"names": listed(PRESSES)}})
    return room_change(room, press=press, presses=F("presses") + 1)


def room_take(*, room: Room, secret: str | None, visitor: str | None, address: str) -> Room:
    """Whoever has the hand-over's secret presents from now on, once. The lab stays its owner's: the new presenter gets
    a copy as it is now, and the room shows that one. Raises Refused."""
    token = _cookie(visitor)
    with transaction.atomic():
        room = Room.objects.select_for_update().get(pk=room.pk)
        if secret is None or not hmac.compare_digest(token_hash(secret), room.handover_hash):
            raise Refused(403, {"room": _("this link has been used, or a newer one was made")})
        lab = room.lab
        if lab is not None and not access.is_owner(lab, bearer=None, visitor=token):
            lab = lab_services.lab_fork(lab_id=lab.pk, visitor=token, address=address).lab
        RoomSeat.objects.filter(room=room, visitor_hash=token_hash(token)).delete()
        return room_change(
            room, lab_id=lab and lab.pk, presenter_hash=token_hash(token), handover_hash="", remote_hash="",
            handovers=F("handovers") + 1,
        )  # fmt: skip


def seat_take(*, room: Room, visitor: str | None, name: Any = "") -> RoomSeat:
    """A seat in the room, or another name for the one that the visitor has. name: "" for none. Raises Refused."""
    token = _cookie(visitor)
    if not isinstance(name, str) or len(name.strip()) > NAME_MAX or not name.strip().isprintable():
        text = _("must be at most %(count)d printable characters")
        raise Refused(400, {"name": text % {"count": NAME_MAX}})
    taken = room.seats.exclude(visitor_hash=token_hash(token)).count()
    Quota(quotas.SEATS, "room", SEATS_MAX, 2 * SEATS_MAX).check(mine=taken, everybody=taken, again_s=DAY_S)
    seat, _is_new = RoomSeat.objects.update_or_create(
        room=room, visitor_hash=token_hash(token), defaults={"name": name.strip(), "seen_at": timezone.now()}
    )
    return seat


def room_copy(*, room: Room, role: Role, request: Json, visitor: str | None, address: str) -> str:
    """A copy of the presenter's lab to look around in, as lab_fork makes it: its id. Raises Refused 409 while the
    room is locked, else as lab_fork."""
    token = _cookie(visitor)
    if room.locked and role is not Role.PRESENTER:
        raise Refused(409, {"room": _("the teacher has locked the room: everybody follows now")})
    if room.lab_id is None:
        raise no_lab()
    fork = lab_services.lab_fork(lab_id=room.lab_id, request=request, visitor=token, address=address)
    return str(fork.lab.pk)


def seat_moved(*, seat_id: int, is_looking: bool) -> None:
    RoomSeat.objects.filter(pk=seat_id).update(is_looking=is_looking, seen_at=timezone.now())


def seats_seen(*, seat_ids: Collection[int]) -> None:
    """These browsers are here now."""
    RoomSeat.objects.filter(pk__in=seat_ids).update(seen_at=timezone.now())


def rooms_sweep() -> None:
    """What is over goes, with its seats; it stays for an hour, so that those who come late learn that it is over."""
    Room.objects.filter(ends_at__lt=timezone.now() - timedelta(hours=1)).delete()
    codes.wrong_codes_sweep()


def room_change(room: Room, **columns: Any) -> Room:
    """Write a new version, and send it when it is stored."""
    with transaction.atomic():
        Room.objects.filter(pk=room.pk).update(version=F("version") + 1, **columns)
        changed = Room.objects.get(pk=room.pk)
        text = selectors.state_text(changed)
        transaction.on_commit(lambda: transport().tell_room(text) and None)
    return changed


def only(role: Role, *allowed: Role) -> None:
    """Raises Refused 403 for everybody else."""
    if role not in allowed:
        raise Refused(403, {"room": _("only the presenter may do this")})


def no_lab() -> Refused:
    return Refused(409, {"lab": _("the room shows no lab")})


def _no_question(room: Room, lab_id: str | None, shown: Json) -> Json:
    """A question is about the lab, or the slide, that it was asked in."""
    slide = intact(room.asked).get("slide") if room.stage else None
    if slide is None:
        return {} if lab_id == room.lab_id else {"stage": ""}
    here = (shown["lecture"], shown["chosen"].get("slide")) if is_deck(shown) else None
    return {} if here == (slide["lecture"], str(slide["slide"])) else {"stage": ""}


def _cookie(visitor: str | None) -> str:
    if visitor is None:
        raise Refused(403, {"room": _("your browser sends no cookie, so a seat could not be yours")})
    return visitor


def _lab_id(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(400, {"lab": _("must be the id of a lab")})
    return value

"""Rooms: codes, who may do what, what is shown, the copy to look around in, and the end."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from dashboard.access import token_hash, token_new
from dashboard.errors import Refused
from dashboard.labs import services as labs
from dashboard.models import Lab, Room, RoomSeat, WrongCode
from dashboard.rooms import codes, links, questions, selectors, services, tasks
from dashboard.rooms.selectors import Role
from dashboard.rooms.shown import NOTHING, checked_shown

pytestmark = pytest.mark.django_db

HERE, THERE = "address-here", "address-there"


def opened(**request: Any) -> tuple[Room, Lab, str]:
    """A room, the lab that it shows, and the presenter's token, who owns both."""
    visitor = token_new()
    lab = labs.lab_open(request={}, visitor=visitor).lab
    room = services.room_open(request={"lab": lab.pk, **request}, visitor=visitor, address=HERE)
    return room, lab, visitor


def role(room: Room, visitor: str) -> Role:
    return selectors.role_of(room, visitor=visitor)


# -- codes ---------------------------------------------------------------------------------------------------


def test_a_code_has_six_letters_of_which_none_look_alike() -> None:
    made = {codes.code_new() for _time in range(500)}
    assert len(made) == 500 and all(re.fullmatch("[A-Z2-9]{6}", code) for code in made)
    assert not set("".join(made)) & set("ILO01") and len(codes.LETTERS) == len(set(codes.LETTERS)) == 31


def test_an_address_may_try_so_many_wrong_codes_an_hour_and_no_other_address_pays() -> None:
    room, _lab, visitor = opened()
    for _try in range(codes.WRONG_ADDRESS_MAX):
        with pytest.raises(Refused) as wrong:
            selectors.room_get(code="ZZZZZZ", address=HERE)
        assert wrong.value.status == 404
    stored = WrongCode.objects.count()
    for code in ("ZZZZZZ", room.code):  # the right one, too: else guessing would go on
        with pytest.raises(Refused) as full:
            selectors.room_get(code=code, address=HERE)
        assert full.value.status == 429 and full.value.again_s
    assert WrongCode.objects.count() == stored, "who is refused stores nothing more"
    assert selectors.room_get(code=room.code, address=THERE) == room
    assert selectors.room_get(code=room.code, address=HERE, visitor=visitor) == room, "the presenter stays"
    WrongCode.objects.update(at=timezone.now() - timedelta(hours=2))
    services.rooms_sweep()
    assert selectors.room_get(code=room.code, address=HERE) == room and not WrongCode.objects.exists()


def test_who_has_a_seat_stays_whatever_others_at_the_address_type() -> None:
    room, _lab, _visitor = opened()
    attendee = token_new()
    services.seat_take(room=room, visitor=attendee)
    for _try in range(codes.WRONG_ADDRESS_MAX):
        codes.wrong_code_add(HERE)
    assert selectors.room_get(code=room.code, address=HERE, visitor=attendee) == room


# -- one room ------------------------------------------------------------------------------------------------


def test_a_presenter_has_one_room_and_moves_it_to_another_lab() -> None:
    room, _lab, visitor = opened()
    other = labs.lab_open(request={}, visitor=visitor).lab
    again = services.room_open(request={"lab": other.pk}, visitor=visitor, address=HERE)
    assert again.code == room.code and again.lab_id == other.pk and again.version > room.version


def test_each_write_is_a_new_version_of_the_whole_state() -> None:
    room, lab, visitor = opened()
    shown = {"page": "cluster", "query": "?lane=kafka", "at_us": 5, "chosen": {"partition": "p0"}}
    states = [selectors.room_state(room)]
    room = services.room_show(room=room, role=role(room, visitor), lab_id=lab.pk, shown=shown)
    states.append(selectors.room_state(room))
    room = services.room_order(room=room, role=Role.PRESENTER, locked=True)
    states.append(selectors.room_state(room))
    assert [state["seq"] for state in states] == [1, 2, 3]
    assert all(state.keys() == states[0].keys() for state in states)
    last = states[-1]
    assert last["path"] == f"/lab/{lab.pk}/kafka/cluster/?lane=kafka" and last["at_us"] == 5
    assert last["locked"] and last["recalls"] == 1, "locking calls all back"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"page": "settings"}, "shown.page"),
        ({"query": "?next=//evil.example"}, "shown.query"),
        ({"query": "lane=kafka"}, "shown.query"),
        ({"at_us": -1}, "shown.at_us"),
        ({"position": True}, "shown.position"),
        ({"chosen": {"lane": 5}}, "shown.chosen"),
        ({"chosen": {str(number): "x" for number in range(13)}}, "shown.chosen"),
        ({"thing": "x" * 201}, "shown.thing"),
        ({"colour": "red"}, "shown.colour"),
    ],
)
def test_what_is_shown_is_checked_at_its_field(given: dict[str, Any], field: str) -> None:
    room, lab, _visitor = opened()
    with pytest.raises(Refused) as refused:
        services.room_show(room=room, role=Role.PRESENTER, lab_id=lab.pk, shown=given)
    assert refused.value.status == 400 and list(refused.value.fields) == [field]
    room.refresh_from_db()
    assert room.version == 1 and room.shown == NOTHING


def test_an_empty_shown_is_the_stage_at_present() -> None:
    assert checked_shown({}) == NOTHING


# -- a lecture's deck ----------------------------------------------------------------------------------------


DECK = {"page": "deck", "lecture": "assignors", "chosen": {"slide": "4"}}


def test_a_room_may_show_a_lectures_deck_and_no_lab() -> None:
    presenter, attendee = token_new(), token_new()
    room = services.room_open(request={"shown": DECK}, visitor=presenter, address=HERE)
    state = selectors.room_state(room)
    assert (state["lab"], state["path"], state["chosen"]) == (
        None,
        "/lectures/assignors/deck/",
        {"slide": "4"},
    )
    services.seat_take(room=room, visitor=attendee)
    for act in (
        lambda: services.room_copy(
            room=room, role=Role.ATTENDEE, request={}, visitor=attendee, address=THERE
        ),
        lambda: services.room_show(room=room, role=Role.PRESENTER, lab_id=None, shown={"page": "stage"}),
        lambda: tasks.task_offers(room=room, role=Role.PRESENTER),
        lambda: questions.question_look(
            room=room, role=Role.PRESENTER, request={"kind": "join", "lane": "kafka"}
        ),
    ):
        with pytest.raises(Refused) as refused:
            act()
        assert refused.value.status == 409
    secret = services.link_secret(room=room, role=Role.PRESENTER, kind="hand_over")
    taken = services.room_take(room=room, secret=secret, visitor=attendee, address=THERE)
    assert taken.lab is None and role(taken, attendee) is Role.PRESENTER


def test_a_step_that_is_shown_live_and_back_to_the_slides() -> None:
    room, lab, visitor = opened()
    room = services.room_open(request={"shown": DECK}, visitor=visitor, address=HERE)
    assert room.lab_id == lab.pk and selectors.room_state(room)["path"] == "/lectures/assignors/deck/"
    live = labs.lab_open(request={}, visitor=visitor).lab
    room = services.room_show(room=room, role=Role.PRESENTER, lab_id=live.pk, shown={})
    assert selectors.room_state(room)["path"] == f"/lab/{live.pk}/" and room.shown == NOTHING
    room = services.room_show(room=room, role=Role.PRESENTER, lab_id=None, shown=DECK)
    assert room.lab_id == live.pk and selectors.room_state(room)["path"] == "/lectures/assignors/deck/"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"page": "deck"}, "shown.lecture"),
        ({"page": "deck", "lecture": "../labs"}, "shown.lecture"),
        ({"page": "deck", "lecture": 4}, "shown.lecture"),
        ({"page": "stage", "lecture": "assignors"}, "shown.lecture"),
    ],
)
def test_a_deck_is_one_of_the_shelf(given: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        services.room_open(request={"shown": given}, visitor=token_new(), address=HERE)
    assert list(refused.value.fields) == [field] and not Room.objects.exists()


def test_a_state_that_was_stored_before_there_were_decks_is_read() -> None:
    room, lab, _visitor = opened()
    Room.objects.update(shown={name: value for name, value in NOTHING.items() if name != "lecture"})
    room.refresh_from_db()
    assert (
        selectors.room_state(room)["lecture"] == ""
        and selectors.room_state(room)["path"] == f"/lab/{lab.pk}/"
    )


# -- looking around ------------------------------------------------------------------------------------------


def test_looking_around_is_in_a_copy_that_is_ones_own() -> None:
    room, lab, presenter = opened()
    attendee = token_new()
    copy = services.room_copy(room=room, role=Role.ATTENDEE, request={}, visitor=attendee, address=THERE)
    made = Lab.objects.get(pk=copy)
    assert made.parent_id == lab.pk and made.visitor_hash == token_hash(attendee)
    with pytest.raises(Refused) as refused:
        labs.lab_submit(lab_id=lab.pk, request={"command_id": "x", "kind": "join"}, visitor=attendee)
    assert refused.value.status == 403 and role(room, presenter) is Role.PRESENTER


def test_a_locked_room_gives_no_copies() -> None:
    room, _lab, _visitor = opened()
    room = services.room_order(room=room, role=Role.PRESENTER, locked=True)
    with pytest.raises(Refused) as refused:
        services.room_copy(room=room, role=Role.ATTENDEE, request={}, visitor=token_new(), address=THERE)
    assert refused.value.status == 409 and Lab.objects.count() == 1
    room = services.room_order(room=room, role=Role.PRESENTER, locked=False)
    assert services.room_copy(room=room, role=Role.ATTENDEE, request={}, visitor=token_new(), address=THERE)


def test_counts_tell_who_follows_looks_around_and_is_gone() -> None:
    room, _lab, _visitor = opened()
    seats = [services.seat_take(room=room, visitor=token_new(), name=f"n{number}") for number in range(4)]
    services.seat_moved(seat_id=seats[0].pk, is_looking=True)
    RoomSeat.objects.filter(pk=seats[1].pk).update(
        seen_at=timezone.now() - timedelta(seconds=selectors.GONE_S + 1)
    )
    counts = selectors.counts_of([room.code])[room.code]
    assert counts == {"type": "counts", "following": 2, "looking": 1, "gone": 1}
    services.seats_seen(seat_ids=[seats[1].pk])
    assert selectors.counts_of([room.code])[room.code]["gone"] == 0


def test_a_browser_has_one_seat_however_often_it_joins() -> None:
    room, _lab, _visitor = opened()
    attendee = token_new()
    services.seat_take(room=room, visitor=attendee, name="Ana")
    assert services.seat_take(room=room, visitor=attendee, name=" 安娜 ").name == "安娜"
    assert room.seats.count() == 1
    for name in ("x" * 33, "a\nb", 5):
        with pytest.raises(Refused) as refused:
            services.seat_take(room=room, visitor=attendee, name=name)
        assert list(refused.value.fields) == ["name"]


# -- a second device, and another presenter ------------------------------------------------------------------


def test_a_remote_presses_and_does_nothing_else() -> None:
    room, lab, _visitor = opened()
    secret = services.link_secret(room=room, role=Role.PRESENTER, kind="remote")
    room.refresh_from_db()
    assert selectors.role_of(room, visitor=None, bearer=secret) is Role.REMOTE
    pressed = services.room_press(room=room, role=Role.REMOTE, press="next")
    assert (pressed.presses, pressed.press) == (1, "next")
    for order in (
        lambda: services.room_show(room=room, role=Role.REMOTE, lab_id=lab.pk, shown={}),
        lambda: services.room_order(room=room, role=Role.REMOTE, locked=True),
        lambda: services.room_close(room=room, role=Role.REMOTE),
        lambda: services.link_secret(room=room, role=Role.REMOTE, kind="hand_over"),
    ):
        with pytest.raises(Refused) as refused:
            order()
        assert refused.value.status == 403
    services.link_secret(room=room, role=Role.PRESENTER, kind="remote")
    room.refresh_from_db()
    assert selectors.role_of(room, visitor=None, bearer=secret) is Role.VISITOR, "a newer link replaces it"


def test_a_hand_over_gives_the_room_and_never_the_lab() -> None:
    room, lab, before = opened()
    secret = services.link_secret(room=room, role=Role.PRESENTER, kind="hand_over")
    after = token_new()
    services.seat_take(room=room, visitor=after)
    room = services.room_take(room=room, secret=secret, visitor=after, address=THERE)
    assert (role(room, after), role(room, before)) == (Role.PRESENTER, Role.VISITOR)
    assert room.lab.parent_id == lab.pk and room.lab.visitor_hash == token_hash(after)
    lab.refresh_from_db()
    assert lab.visitor_hash == token_hash(before)
    with pytest.raises(Refused) as again:
        services.room_take(room=room, secret=secret, visitor=token_new(), address=THERE)
    assert again.value.status == 403, "it works once"


def test_nobody_takes_a_room_over_that_was_not_handed_over() -> None:
    room, _lab, _visitor = opened()
    for secret in (None, "", token_new()):
        with pytest.raises(Refused) as refused:
            services.room_take(room=room, secret=secret, visitor=token_new(), address=THERE)
        assert refused.value.status == 403


# -- the end -------------------------------------------------------------------------------------------------


def test_a_room_ends_after_a_day_and_then_goes() -> None:
    room, _lab, visitor = opened()
    assert timedelta(hours=23) < room.ends_at - timezone.now() <= timedelta(hours=24)
    Room.objects.update(ends_at=timezone.now() - timedelta(minutes=1))
    with pytest.raises(Refused) as over:
        selectors.room_get(code=room.code, address=HERE, visitor=visitor)
    assert over.value.status == 404 and not WrongCode.objects.exists()
    services.rooms_sweep()
    assert Room.objects.exists(), "who comes late learns that it is over"
    Room.objects.update(ends_at=timezone.now() - timedelta(hours=2))
    services.rooms_sweep()
    assert not Room.objects.exists()


def test_the_quota_of_rooms_counts_addresses() -> None:
    for _number in range(services.ROOMS_ADDRESS_MAX):
        opened()
    visitor = token_new()
    lab = labs.lab_open(request={}, visitor=visitor).lab
    with pytest.raises(Refused) as full:
        services.room_open(request={"lab": lab.pk}, visitor=visitor, address=HERE)
    assert full.value.status == 429 and "room" in full.value.fields
    assert services.room_open(request={"lab": lab.pk}, visitor=visitor, address=THERE)


def test_a_taken_code_is_drawn_again_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, _lab, _visitor = opened()
    drawn = iter([taken.code, taken.code, "FREE22"])
    monkeypatch.setattr(codes, "code_new", lambda: next(drawn))
    assert opened()[0].code == "FREE22"
    tries: list[str] = []
    monkeypatch.setattr(codes, "code_new", lambda: tries.append(taken.code) or taken.code)
    with pytest.raises(Refused) as full:
        opened()
    assert full.value.status == 503 and len(tries) == services.CODES_MAX


def test_whatever_else_the_database_refuses_is_no_taken_code(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []
    monkeypatch.setattr(codes, "code_new", lambda: tries.append("FREE33") or "FREE33")
    monkeypatch.setattr(services, "token_hash", lambda _token: None)  # no room without a presenter
    with pytest.raises(IntegrityError):
        opened()
    assert len(tries) == 1 and not Room.objects.exists()


# -- pages ---------------------------------------------------------------------------------------------------


def test_a_typed_code_leads_to_its_room_however_it_is_typed(client: Client) -> None:
    room, _lab, _visitor = opened()
    typed = f" {room.code[:3].lower()}-{room.code[3:]}"
    assert client.get("/rooms/", {"code": typed})["Location"] == f"/rooms/{room.code}/"
    assert client.get(f"/rooms/{room.code.lower()}/")["Location"] == f"/rooms/{room.code}/"
    assert client.get(f"/rooms/{room.code}/").status_code == 200


def test_a_wrong_code_is_told_on_the_page_where_it_is_typed(client: Client) -> None:
    answer = client.get("/rooms/ZZZZZZ/")
    assert answer.status_code == 404 and "there is no room with this code" in answer.content.decode()
    assert 'name="code"' in answer.content.decode()


def test_a_links_secret_is_behind_its_hash_and_its_qr_reads_the_same() -> None:
    link = links.link("https://example.org", "room-remote", "ABC2DF", "secret")
    assert link["url"] == "https://example.org/rooms/ABC2DF/remote/#secret"
    assert link["qr"] == links.qr(link["url"]) != links.qr("https://example.org/rooms/ABC2DF/remote/")
    assert re.fullmatch(r"(M\d+ \d+h1v1h-1z)+", link["qr"]["path"])

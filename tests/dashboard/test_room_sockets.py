"""A room's socket: whole states in order, the newest to whoever comes late, nothing to whoever does not read, and
states from the row where Redis brings none."""

import json
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.utils import timezone

from dashboard.access import token_new
from dashboard.labs import services as labs
from dashboard.models import Room
from dashboard.rooms import answers, questions, services
from dashboard.rooms import feed as feeds
from dashboard.rooms.selectors import Role
from dashboard.threads import in_thread
from mqsite.asgi import application
from tests.dashboard.room_question import asked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


@pytest.fixture(autouse=True)
def fresh_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has an event loop of its own, so a feed of its own; its tasks are run by hand."""
    monkeypatch.setattr(feeds, "_feed", None)
    monkeypatch.setattr(feeds.RoomFeed, "_start", lambda _feed: None)


async def opened() -> tuple[Room, str]:
    visitor = token_new()
    lab = (await in_thread(labs.lab_open)(request={}, visitor=visitor)).lab
    return await in_thread(services.room_open)(
        request={"lab": lab.pk}, visitor=visitor, address="here"
    ), visitor


async def connect(code: str, visitor: str | None = None, **headers: str) -> WebsocketCommunicator:
    given = {"host": "localhost:8000", **headers}
    if visitor:
        given["cookie"] = f"highwater_visitor={visitor}"
    socket = WebsocketCommunicator(
        application, f"/ws/rooms/{code}/", [(name.encode(), value.encode()) for name, value in given.items()]
    )
    connected, _subprotocol = await socket.connect(timeout=5)
    assert connected
    return socket


async def heard(socket: WebsocketCommunicator) -> dict[str, Any]:
    return dict(json.loads(await socket.receive_from(timeout=5)))


async def closed(socket: WebsocketCommunicator) -> int:
    while True:
        message = await socket.receive_output(timeout=5)
        if message["type"] == "websocket.close":
            return int(message["code"])


async def show(room: Room, at_us: int) -> None:
    await in_thread(services.room_show)(room=room, role=Role.PRESENTER, lab_id=None, shown={"at_us": at_us})


async def test_a_late_comer_hears_who_they_are_and_the_state_as_it_is() -> None:
    room, presenter = await opened()
    for at_us in (1, 2, 3):
        await show(room, at_us)
    attendee = token_new()
    await in_thread(services.seat_take)(room=room, visitor=attendee, name="Ana")
    for visitor, role in ((presenter, "presenter"), (attendee, "attendee"), (None, "visitor")):
        socket = await connect(room.code, visitor)
        assert (await heard(socket))["role"] == role
        state = await heard(socket)
        assert (state["seq"], state["at_us"]) == (4, 3)
        assert await socket.receive_nothing(timeout=0.1)
        await socket.disconnect()


async def test_a_state_is_sent_once_whichever_way_it_comes() -> None:
    room, visitor = await opened()
    socket = await connect(room.code, visitor)
    await heard(socket), await heard(socket)
    await show(room, 7)
    await feeds.room_feed().look()
    heard_now = [await heard(socket), await heard(socket)]
    assert {message["type"] for message in heard_now} == {"snapshot", "counts"}
    old = json.dumps({"code": room.code, "seq": 1, "is_over": False}).encode()
    await feeds.room_feed()._receive(old)
    await feeds.room_feed().look()
    assert await socket.receive_nothing(timeout=0.1)
    await socket.disconnect()


async def test_who_does_not_read_gets_no_more_and_then_the_newest_alone() -> None:
    room, _visitor = await opened()
    deaf, reading = await connect(room.code), await connect(room.code)
    seen = []
    await heard(deaf), await heard(deaf), await heard(reading)
    for at_us in range(8):
        seq = (await heard(reading))["seq"]
        seen.append(seq)
        await reading.send_to(json.dumps({"type": "ack", "seq": seq}))
        await show(room, at_us)
        await feeds.room_feed().look()
    assert seen == list(range(1, 9))
    got = [(await heard(deaf))["seq"], (await heard(deaf))["seq"]]
    assert got == [2, 3] and await deaf.receive_nothing(timeout=0.1)
    await deaf.send_to(json.dumps({"type": "ack", "seq": 3}))
    assert (await heard(deaf))["seq"] == 9
    for socket in (deaf, reading):
        await socket.disconnect()


async def test_where_an_attendee_is_they_say_of_their_own_seat_alone() -> None:
    room, presenter = await opened()
    attendee = token_new()
    seat = await in_thread(services.seat_take)(room=room, visitor=attendee)
    for visitor in (presenter, None, attendee):
        socket = await connect(room.code, visitor)
        await socket.send_to(json.dumps({"type": "at", "is_looking": True}))
        await heard(socket), await heard(socket)
        assert await socket.receive_nothing(timeout=0.1)
        await in_thread(seat.refresh_from_db)()
        assert seat.is_looking == (visitor == attendee)
        await socket.disconnect()


@pytest.mark.parametrize(
    "text", ["[]", "null", '{"type":"press"}', '{"type":"at"}', '{"type":"ack","seq":1,"x":1}', "x" * 300]
)
async def test_anything_else_closes_the_socket(text: str) -> None:
    room, visitor = await opened()
    socket = await connect(room.code, visitor)
    await socket.send_to(text)
    assert await closed(socket) == 4400


async def test_another_sites_page_and_a_wrong_code_are_turned_away() -> None:
    room, visitor = await opened()
    assert await closed(await connect(room.code, visitor, origin="https://evil.example")) == 4403
    assert await closed(await connect("ZZZZZZ")) == 4410


async def test_the_end_of_a_room_closes_its_sockets() -> None:
    room, visitor = await opened()
    socket = await connect(room.code, visitor)
    await heard(socket), await heard(socket)
    await in_thread(services.room_close)(room=room, role=Role.PRESENTER)
    await feeds.room_feed().look()
    assert (await heard(socket))["is_over"]
    assert await closed(socket) == 4410
    assert await closed(await connect(room.code, visitor)) == 4410
    assert room.ends_at > timezone.now(), "this copy of the row is old"


async def test_a_socket_that_cannot_be_sent_to_costs_the_others_nothing() -> None:
    room, _visitor = await opened()
    broken, whole = await connect(room.code), await connect(room.code)
    for socket in (broken, whole):
        await heard(socket), await heard(socket)
    watched = feeds.room_feed().rooms[room.code]
    first = next(iter(watched.seats))

    async def fails(_message: Any) -> None:
        raise ConnectionResetError

    first.reader._send = fails
    await show(room, 1)
    await feeds.room_feed().look()
    assert len(watched.seats) == 1
    others = [socket for socket in (broken, whole) if not await socket.receive_nothing(timeout=0.1)]
    assert len(others) == 1 and (await heard(others[0]))["seq"] == 2
    for socket in (broken, whole):
        await socket.disconnect()


# -- a question ----------------------------------------------------------------------------------------------


async def seated(room: Room) -> tuple[str, WebsocketCommunicator]:
    visitor = token_new()
    await in_thread(services.seat_take)(room=room, visitor=visitor)
    return visitor, await connect(room.code, visitor)


async def give(room: Room, visitor: str, chosen: int) -> None:
    request = {"number": room.question, "chosen": chosen}
    await in_thread(answers.answer_give)(room=room, role=Role.ATTENDEE, visitor=visitor, request=request)


async def acknowledge(socket: WebsocketCommunicator, seq: int) -> None:
    await socket.send_to(json.dumps({"type": "ack", "seq": seq}))


async def test_many_answers_are_one_tally_to_each() -> None:
    room, presenter = await opened()
    room = await in_thread(asked)(room)
    watching = await connect(room.code, presenter)
    people = [await seated(room) for _number in range(8)]
    feed = feeds.room_feed()
    await feed.tally()
    sockets = [watching, *(socket for _visitor, socket in people)]
    for socket in sockets:
        assert [(await heard(socket))["type"] for _time in range(3)] == ["you", "snapshot", "tally"]
        await acknowledge(socket, room.version)
    for place, (visitor, _socket) in enumerate(people):
        await give(room, visitor, place % 2)
        await feed._receive(json.dumps({"code": room.code}).encode())
    await feed.tally()
    await feed.tally()
    for socket in sockets:
        tally = await heard(socket)
        assert (tally["answered"], tally["of"], tally["counts"]) == (8, 8, None)
        assert await socket.receive_nothing(timeout=0.05)
    room = await in_thread(questions.question_set)(
        room=room, role=Role.PRESENTER, number=room.question, bars_shown=True
    )
    await feed.look()
    await feed.tally()
    for socket in sockets[1:]:
        assert (await heard(socket))["asked"]["bars_shown"]
        assert (await heard(socket))["counts"][:2] == [4, 4]
        await socket.disconnect()
    await watching.disconnect()


async def test_who_comes_late_or_back_hears_the_question_their_own_answer_and_the_tally_once() -> None:
    room, _presenter = await opened()
    room = await in_thread(asked)(room)
    visitor, first = await seated(room)
    await give(room, visitor, 2)
    await first.disconnect()
    again, (_late, late) = await connect(room.code, visitor), await seated(room)
    for socket, chosen in ((again, 2), (late, None)):
        you, state = await heard(socket), await heard(socket)
        assert you["answer"] == {"number": 1, "chosen": chosen, "marks": None}
        assert state["asked"]["number"] == 1 and state["asked"]["stage"] == "open"
    await feeds.room_feed().tally()
    for socket in (again, late):
        tally = await heard(socket)
        assert (tally["answered"], tally["of"]) == (1, 2)
    await feeds.room_feed().look()
    await feeds.room_feed().tally()
    for socket in (again, late):
        assert await socket.receive_nothing(timeout=0.1)
        await socket.disconnect()


async def test_who_does_not_read_gets_no_more_tallies_and_then_the_newest_alone() -> None:
    room, _presenter = await opened()
    room = await in_thread(asked)(room)
    (visitor, writer), deaf = await seated(room), await connect(room.code)
    feed = feeds.room_feed()
    for number in range(8):
        await give(room, visitor, number % 3)
        feed.rooms[room.code].is_behind = True
        room = await in_thread(questions.question_set)(
            room=room, role=Role.PRESENTER, number=room.question, bars_shown=number % 2 == 0
        )
        await feed.look()
        await feed.tally()
    got = [(await heard(deaf))["type"] for _message in range(4)]
    assert got == ["you", "snapshot", "snapshot", "tally"] and await deaf.receive_nothing(timeout=0.1)
    await acknowledge(deaf, room.version)
    assert [(await heard(deaf))["type"] for _message in range(2)] == ["snapshot", "tally"]
    assert await deaf.receive_nothing(timeout=0.1)
    for socket in (writer, deaf):
        await socket.disconnect()

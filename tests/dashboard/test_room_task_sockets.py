"""A task of a room on its sockets: how it goes to the presenter alone, done to the seat that has done it, once."""

from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.utils import timezone

from dashboard.models import Goal, Room, RoomSeat
from dashboard.rooms import feed as feeds
from dashboard.rooms import services, tasks
from dashboard.rooms.selectors import Role
from dashboard.threads import in_thread
from tests.dashboard.test_room_sockets import connect, fresh_feed, heard, opened, seated

__all__ = ["fresh_feed"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

ASKED = {"lane": "kafka", "number": "lag", "asks": {"is": 0}, "for_us": 0}
TASK = {"goal": ASKED, "says": None, "consumer": "", "figure": "lag", "note": "", "lab": "x", "until_us": 0}


def set_task(room: Room) -> Room:
    return services.room_change(room, tasks=room.tasks + 1, task=TASK)


def hold(room: Room, visitor: str) -> None:
    """As the driver of a copy says it."""
    seat = RoomSeat.objects.get(visitor_hash=services.token_hash(visitor))
    Goal.objects.create(seat=seat, task=room.tasks, asked=ASKED, held_at=timezone.now())


async def counted(room: Room) -> None:
    feed = feeds.room_feed()
    feed.rooms[room.code].is_behind = True
    await feed.tally()


async def got(socket: WebsocketCommunicator) -> list[str]:
    found = []
    while not await socket.receive_nothing(timeout=0.1):
        found.append((await heard(socket))["type"])
    return found


async def test_how_a_task_goes_is_the_presenters_to_know_and_done_is_said_once() -> None:
    room, presenter = await opened()
    room = await in_thread(set_task)(room)
    watching = await connect(room.code, presenter)
    (ana, own), (_bo, other) = await seated(room), await seated(room)
    await counted(room)
    assert await got(watching) == ["you", "snapshot", "progress"]
    assert await got(own) == await got(other) == ["you", "snapshot"]
    await in_thread(hold)(room, ana)
    for _time in range(3):
        await counted(room)
    progress: dict[str, Any] = await heard(watching)
    assert (progress["done"], progress["of"], progress["names"]) == (1, 2, [""])
    assert await heard(own) == {"type": "done", "number": 1}
    assert await got(watching) == await got(own) == await got(other) == []
    for socket in (watching, own, other):
        await socket.disconnect()


async def test_who_comes_back_after_it_is_done_hears_it_with_the_rest_and_not_again() -> None:
    room, _presenter = await opened()
    room = await in_thread(set_task)(room)
    ana, first = await seated(room)
    await first.disconnect()
    await in_thread(hold)(room, ana)
    again = await connect(room.code, ana)
    assert (await heard(again))["task"] == {"number": 1, "labs": [], "is_done": True}
    assert (await heard(again))["task"]["number"] == 1
    await counted(room)
    assert await got(again) == []
    # The next task is another: nothing of it is done.
    room = await in_thread(set_task)(room)
    await feeds.room_feed().look()
    await counted(room)
    assert await got(again) == ["snapshot"]
    await in_thread(hold)(room, ana)
    await counted(room)
    assert await heard(again) == {"type": "done", "number": 2}
    await again.disconnect()


async def test_a_task_that_is_over_says_nothing_more() -> None:
    room, presenter = await opened()
    room = await in_thread(set_task)(room)
    watching, (ana, own) = await connect(room.code, presenter), await seated(room)
    await counted(room)
    room = await in_thread(tasks.task_end)(room=room, role=Role.PRESENTER)
    await in_thread(hold)(room, ana)
    await feeds.room_feed().look()
    await counted(room)
    assert "done" not in await got(own)
    assert (await got(watching))[-1] in ("snapshot", "counts")
    for socket in (watching, own):
        await socket.disconnect()

"""The rooms that the browsers of one web process are in: every new state is sent to each socket, and to the presenter
how many follow.

    a write ─► the row ─► Redis ─► receive ─┐
                          the row ─► look ──┴─► newest state ─► Reader (dashboard/labs/feed.py), as far as it acknowledges

A state is whole, so only the newest counts: whoever does not acknowledge gets none until they do, and then that one.
"""

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from typing import Any

import msgspec
import redis.asyncio
from django.conf import settings
from django.db import Error as DatabaseError
from redis.exceptions import RedisError

from broker_core.events import Json
from dashboard.labs.feed import CLOSE_CANNOT_SEND, Reader
from dashboard.labs.transport import ROOMS_CHANNEL
from dashboard.models import Room
from dashboard.rooms import selectors, services
from dashboard.rooms.selectors import Role
from dashboard.threads import in_thread

log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0  # how late a state is that Redis did not bring
RETRY_S = 0.2
READ_S = 5.0
CLOSE_OVER = 4410
_encoder = msgspec.json.Encoder()


class _Head(msgspec.Struct):
    code: str
    seq: int
    is_over: bool


@dataclass(slots=True, eq=False)
class Seat:
    """One socket in a room. seat_id: None of the presenter's, of a remote and of a visitor's."""

    reader: Reader
    role: Role
    seat_id: int | None
    counted: str = ""  # the counts that it was sent last


@dataclass(slots=True, eq=False)
class WatchedRoom:
    """A room with its sockets in this process, and the newest state that is known here."""

    code: str
    seats: set[Seat] = field(default_factory=set)
    version: int = 0
    text: str = ""

    async def take(self, version: int, text: str) -> None:
        """A state has come, from Redis or from the row; one that is not newer changes nothing."""
        if version <= self.version:
            return
        self.version, self.text = version, text
        for seat in tuple(self.seats):
            await self.bring(seat)

    async def bring(self, seat: Seat) -> None:
        """Send a socket the newest state, unless it has it or has not acknowledged those before."""
        reader = seat.reader
        if reader.seq >= self.version:
            return
        reader.stalled = not reader.may_have_snapshot
        if reader.stalled:
            return
        try:
            await reader.send(self.text, 0, self.version, snapshot=True)
        except Exception:  # of one socket; the others have nothing to do with it
            log.exception("room %s: sending to a socket failed; closing it", self.code)
            self.seats.discard(seat)
            await reader.close(CLOSE_CANNOT_SEND)

    async def end(self) -> None:
        for seat in tuple(self.seats):
            self.seats.discard(seat)
            await seat.reader.close(CLOSE_OVER)


class RoomFeed:
    """All rooms of this process. Its two tasks run while there is one."""

    def __init__(self) -> None:
        self.rooms: dict[str, WatchedRoom] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def join(self, room: Room, seat: Seat) -> WatchedRoom:
        """Join a socket to a room: it is sent the state as it is, then every newer one."""
        watched = self.rooms.setdefault(room.code, WatchedRoom(room.code))
        watched.seats.add(seat)
        self._start()
        await watched.take(room.version, await in_thread(selectors.state_text)(room))
        await watched.bring(seat)
        return watched

    def leave(self, watched: WatchedRoom, seat: Seat) -> None:
        watched.seats.discard(seat)
        if not watched.seats and self.rooms.get(watched.code) is watched:
            del self.rooms[watched.code]

    def _start(self) -> None:
        self._tasks = [task for task in self._tasks if not task.done()]
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._keep_looking())]

    # -- from Redis ------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Hear every room's states over a connection of its own; retry while Redis is away."""
        while True:
            client = redis.asyncio.Redis.from_url(
                settings.REDIS_URL, socket_connect_timeout=settings.REDIS_TIMEOUT_S
            )
            try:
                async with client.pubsub(ignore_subscribe_messages=True) as channel:
                    await channel.subscribe(ROOMS_CHANNEL)
                    while True:
                        message = await channel.get_message(timeout=READ_S)
                        if message is not None:
                            await self._receive(message["data"])
            except (RedisError, OSError):
                await asyncio.sleep(RETRY_S)
            except Exception:
                log.exception("error in the rooms' feed; continuing")
                await asyncio.sleep(RETRY_S)
            finally:
                with contextlib.suppress(RedisError, OSError):
                    await client.aclose()

    async def _receive(self, data: Any) -> None:
        try:
            head = msgspec.json.decode(data, type=_Head)
        except (msgspec.DecodeError, TypeError):
            return log.warning("skipping an unreadable state of a room")
        if (watched := self.rooms.get(head.code)) is not None:
            await watched.take(head.seq, data.decode())
            if head.is_over:
                await watched.end()

    # -- from the rows ---------------------------------------------------------------------------------------

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if not self.rooms:
                continue
            try:
                await self.look()
            except DatabaseError as error:
                log.warning("reading the rooms failed: %s", error)
            except Exception:
                log.exception("error in the rooms' feed; continuing")

    async def look(self) -> None:
        """Read the rooms' rows, say which seats are here, and tell the presenters the counts."""
        seat_ids = {seat.seat_id for watched in self.rooms.values() for seat in watched.seats} - {None}
        states, counts = await in_thread(_read)(list(self.rooms), seat_ids)
        for code, watched in list(self.rooms.items()):
            if code not in states:
                await watched.end()
                self.rooms.pop(code, None)
                continue
            version, text, is_over = states[code]
            await watched.take(version, text)
            for seat in [each for each in watched.seats if each.role in (Role.PRESENTER, Role.REMOTE)]:
                await self._count(seat, counts[code])
            if is_over:
                await watched.end()

    async def _count(self, seat: Seat, counts: Json) -> None:
        text = _encoder.encode(counts).decode()
        if text == seat.counted:
            return
        seat.counted = text
        with contextlib.suppress(Exception):  # of a socket that is gone: its consumer learns it on its own
            await seat.reader.tell(text)


def _read(codes: list[str], seat_ids: set[int]) -> tuple[dict[str, tuple[int, str, bool]], dict[str, Json]]:
    """{code: (version, state, is over)}, {code: counts}."""
    if seat_ids:
        services.seats_seen(seat_ids=seat_ids)
    states = {}
    for code, room in selectors.rooms_now(codes).items():
        states[code] = (room.version, selectors.state_text(room), selectors.is_over(room))
    return states, selectors.counts_of(codes)


_feed: RoomFeed | None = None


def room_feed() -> RoomFeed:
    """This process's one."""
    global _feed
    if _feed is None:
        _feed = RoomFeed()
    return _feed

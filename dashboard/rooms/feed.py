"""The rooms that the browsers of one web process are in: every new state is sent to each socket, and how the room has
answered; to the presenter how many follow, and how a task goes.

    a write ─► the row ─► Redis ─► receive ─┐
                          the row ─► look ──┴─► newest state ─► Reader (dashboard/labs/feed.py), as far as it acknowledges
    an answer ─► the seat ─► Redis ─► is_behind ─► count, TALLIES_PER_S at most ─► newest tally ─► the same

A state is whole, so only the newest counts: whoever does not acknowledge gets none until they do, and then that one. So
is a tally: 200 answers are some tallies, whoever is sent them.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import redis.asyncio
from django.conf import settings
from django.db import Error as DatabaseError
from redis.exceptions import RedisError

from broker_core.events import Json
from dashboard.labs.feed import CLOSE_CANNOT_SEND, Reader
from dashboard.labs.transport import ROOMS_CHANNEL
from dashboard.models import Room
from dashboard.rooms import answers, selectors, services, tasks
from dashboard.rooms.selectors import Role
from dashboard.threads import in_thread

log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0  # how late a state is that Redis did not bring
TALLIES_PER_S = 3.0  # of a room
RETRY_S = 0.2
READ_S = 5.0
CLOSE_OVER = 4410
_encoder = msgspec.json.Encoder()


class _Head(msgspec.Struct):
    """seq: 0 where it is no state: somebody has answered the room's question."""

    code: str
    seq: int = 0
    is_over: bool = False


class Counted(NamedTuple):
    """Of a room: the tally, the progress of a task, which task, and which seats have done it."""

    tally: str = ""
    progress: str = ""
    task: int = 0
    done: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Seat:
    """One socket in a room. seat_id: None of the presenter's, of a remote and of a visitor's."""

    reader: Reader
    role: Role
    seat_id: int | None
    counted: str = ""  # the counts that it was sent last
    tally: str = ""  # the tally that it was sent last
    progress: str = ""  # of a task, the same; to a presenter alone
    done: int = 0  # the task of which it has heard that its seat has done it


@dataclass(slots=True, eq=False)
class WatchedRoom:
    """A room with its sockets in this process, and the newest state that is known here."""

    code: str
    seats: set[Seat] = field(default_factory=set)
    version: int = 0
    text: str = ""
    tally: str = ""  # how the room has answered; "" where nothing is asked
    progress: str = ""  # how the task goes; "" where none is set
    task: int = 0  # which one, and which seats have done it
    done: frozenset[int] = frozenset()
    is_behind: bool = False  # the tally or the progress may be another by now

    async def take(self, version: int, text: str) -> None:
        """A state has come, from Redis or from the row; one that is not newer changes nothing."""
        if version <= self.version:
            return
        self.version, self.text, self.is_behind = version, text, True
        for seat in tuple(self.seats):
            await self.bring(seat)

    async def count(self, counted: Counted) -> None:
        """How the room has answered now, and how its task goes."""
        self.tally, self.progress, self.task, self.done = counted
        for seat in tuple(self.seats):
            await self.bring(seat)
            if seat.role is Role.PRESENTER and seat.progress != self.progress:
                seat.progress = self.progress
                await tell(seat, self.progress)
            if seat.seat_id in self.done and seat.done != self.task:
                seat.done = self.task
                await tell(seat, _encoder.encode({"type": "done", "number": self.task}).decode())

    async def bring(self, seat: Seat) -> None:
        """Send a socket the newest state and the newest tally, unless it has them or has not acknowledged those
        before."""
        reader = seat.reader
        try:
            if reader.seq < self.version:
                reader.stalled = not reader.may_have_snapshot
                if reader.stalled:
                    return
                await reader.send(self.text, 0, self.version, snapshot=True)
            if seat.tally != self.tally and reader.may_have_snapshot:
                seat.tally = self.tally
                if self.tally:
                    await reader.send(self.tally, 0, reader.seq, snapshot=True)
        except Exception:  # of one socket; the others have nothing to do with it
            log.exception("room %s: sending to a socket failed; closing it", self.code)
            self.seats.discard(seat)
            await reader.close(CLOSE_CANNOT_SEND)

    async def end(self) -> None:
        for seat in tuple(self.seats):
            self.seats.discard(seat)
            await seat.reader.close(CLOSE_OVER)


class RoomFeed:
    """All rooms of this process. Its three tasks run while there is one."""

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
            own = (
                self._listen(),
                self._keep(self.look, LOOK_EVERY_S),
                self._keep(self.tally, 1 / TALLIES_PER_S),
            )
            self._tasks = [asyncio.create_task(task) for task in own]

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
            if head.seq == 0:
                watched.is_behind = True
                return
            await watched.take(head.seq, data.decode())
            if head.is_over:
                await watched.end()

    # -- from the rows ---------------------------------------------------------------------------------------

    async def _keep(self, act: Callable[[], Awaitable[None]], every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            if not self.rooms:
                continue
            try:
                await act()
            except DatabaseError as error:
                log.warning("reading the rooms failed: %s", error)
            except Exception:
                log.exception("error in the rooms' feed; continuing")

    async def tally(self) -> None:
        """Count the answers, and who has done the task, of each room that may have new ones."""
        behind = [watched for watched in self.rooms.values() if watched.is_behind]
        for watched in behind:
            watched.is_behind = False
        tallies = await in_thread(_tallies)([watched.code for watched in behind]) if behind else {}
        for watched in behind:
            await watched.count(tallies.get(watched.code, Counted()))

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
            watched.is_behind |= bool(
                watched.tally or watched.progress
            )  # an answer of which Redis did not tell; who is gone
            for seat in [each for each in watched.seats if each.role in (Role.PRESENTER, Role.REMOTE)]:
                await self._count(seat, counts[code])
            if is_over:
                await watched.end()

    async def _count(self, seat: Seat, counts: Json) -> None:
        text = _encoder.encode(counts).decode()
        if text == seat.counted:
            return
        seat.counted = text
        await tell(seat, text)


async def tell(seat: Seat, text: str) -> None:
    """Send one socket what is its own; "" is nothing."""
    with contextlib.suppress(Exception):  # of a socket that is gone: its consumer learns it on its own
        if text:
            await seat.reader.tell(text)


def _read(codes: list[str], seat_ids: set[int]) -> tuple[dict[str, tuple[int, str, bool]], dict[str, Json]]:
    """{code: (version, state, is over)}, {code: counts}."""
    if seat_ids:
        services.seats_seen(seat_ids=seat_ids)
    states = {}
    for code, room in selectors.rooms_now(codes).items():
        states[code] = (room.version, selectors.state_text(room), selectors.is_over(room))
    return states, selectors.counts_of(codes)


def _tallies(codes: list[str]) -> dict[str, Counted]:
    return {
        code: Counted(
            _text(answers.tally(room)),
            _text(tasks.progress(room)),
            room.tasks,
            frozenset(tasks.seats_done(room)),
        )
        for code, room in selectors.rooms_now(codes).items()
    }


def _text(message: Json | None) -> str:
    return "" if message is None else _encoder.encode(message).decode()


_feed: RoomFeed | None = None


def room_feed() -> RoomFeed:
    """This process's one."""
    global _feed
    if _feed is None:
        _feed = RoomFeed()
    return _feed

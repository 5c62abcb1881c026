"""The websocket entrance of rooms: a room's state to one browser. Decides nothing; the presenter's orders come by
HTTP."""

import msgspec
from django.conf import settings
from django.http.cookie import parse_cookie

from broker_core.events import Json
from dashboard import access
from dashboard.address import address_of_socket
from dashboard.consumers import (
    CLOSE_BAD_MESSAGE,
    CLOSE_FORBIDDEN,
    CLOSE_NO_ROOM,
    CLOSE_TOO_MANY,
    Acknowledgement,
    origin_is_ours,
)
from dashboard.doors import CountedConsumer
from dashboard.errors import Refused
from dashboard.labs.feed import Reader, TooMany
from dashboard.models import Room
from dashboard.rooms import answers, selectors, services, tasks
from dashboard.rooms.feed import CLOSE_OVER, Seat, WatchedRoom, room_feed
from dashboard.rooms.selectors import Role
from dashboard.threads import in_thread


class Whereabouts(msgspec.Struct, tag_field="type", tag="at", forbid_unknown_fields=True):
    """Where an attendee's page is: with the presenter, or in a copy of its own."""

    is_looking: bool


_decoder = msgspec.json.Decoder(Acknowledgement | Whereabouts)
_encoder = msgspec.json.Encoder()


class RoomConsumer(CountedConsumer):
    """Joins the feed of one room. The browser says what it has drawn and where it is, of its own seat alone."""

    seat: Seat | None = None
    watched: WatchedRoom | None = None

    async def connect(self) -> None:
        await self.send({"type": "websocket.accept"})  # only an open socket can receive a code
        if not origin_is_ours(self.scope):
            return await self.close(CLOSE_FORBIDDEN)
        if not self.enter():
            return await self.close(CLOSE_NO_ROOM)
        code = self.scope["url_route"]["kwargs"]["code"]
        try:
            room, role, seat_id, you = await in_thread(_seat)(
                code, _visitor_of(self.scope), address_of_socket(self.scope)
            )
        except Refused as refused:
            return await self.close(CLOSE_OVER if refused.status == 404 else CLOSE_NO_ROOM)
        self.seat = Seat(Reader(self.base_send), role, seat_id)
        self.seat.done = you["task"]["number"] if you["task"]["is_done"] else 0
        await self.seat.reader.tell(_encoder.encode(you).decode())
        self.watched = await room_feed().join(room, self.seat)

    async def receive(self, message: Json) -> None:
        if self.seat is None or self.watched is None:
            return  # already told to go
        try:
            text = message.get("text") or ""
            if len(text) > settings.SOCKET_MESSAGE_BYTES_MAX:
                raise msgspec.DecodeError("too long")
            self.seat.reader.count_message()
            match _decoder.decode(text):
                case Acknowledgement(seq=seq):
                    self.seat.reader.acknowledge(seq)
                    await self.watched.bring(self.seat)
                case Whereabouts(is_looking=is_looking):
                    if self.seat.seat_id is not None:
                        await in_thread(services.seat_moved)(seat_id=self.seat.seat_id, is_looking=is_looking)
        except (msgspec.DecodeError, RecursionError):
            await self.close(CLOSE_BAD_MESSAGE)
        except TooMany:
            await self.close(CLOSE_TOO_MANY)

    def leave(self) -> None:
        if self.seat is not None and self.watched is not None:
            room_feed().leave(self.watched, self.seat)
        self.seat = None


def _visitor_of(scope: Json) -> str | None:
    headers = {name: value.decode("latin1") for name, value in scope["headers"]}
    token = parse_cookie(headers.get(b"cookie", "")).get(settings.VISITOR_COOKIE, "")
    return token if access.is_token(token) else None


def _seat(code: str, visitor: str | None, address: str) -> tuple[Room, Role, int | None, Json]:
    """The last: what the browser hears of itself, with its own answer to the question and its own copy for the task that are there."""
    room = selectors.room_get(code=code, visitor=visitor, address=address)
    role = selectors.role_of(room, visitor=visitor)
    seat = selectors.seat_of(room, visitor) if role is Role.ATTENDEE else None
    you = {
        "type": "you",
        "role": role,
        "name": seat.name if seat else "",
        "answer": answers.answer_of(room, seat),
        "task": tasks.task_of(room, seat),
    }
    return room, role, seat.pk if seat else None, you

"""The websocket entrance: one lab's frames to one browser. Decides nothing; commands come by POST."""

from urllib.parse import parse_qs

import msgspec
from django.conf import settings

from broker_core.events import Json
from broker_core.lab.panels import PANELS
from dashboard import origins
from dashboard.doors import CountedConsumer
from dashboard.labs import selectors
from dashboard.labs.feed import CLOSE_UNKNOWN_LAB, LabFeed, Reader, TooMany, feed
from dashboard.threads import in_thread

CLOSE_BAD_MESSAGE = 4400  # anything but a snapshot request or an acknowledgement
CLOSE_FORBIDDEN = 4403  # a page of another site opened the socket
CLOSE_NO_ROOM = 4430  # too many sockets are open, in all or of this network address: come again later
CLOSE_TOO_MANY = 4429  # more messages than a reader of frames has to send


class Acknowledgement(msgspec.Struct, tag_field="type", tag="ack", forbid_unknown_fields=True):
    seq: int


class SnapshotRequest(msgspec.Struct, tag_field="type", tag="snapshot", forbid_unknown_fields=True):
    pass


_decoder = msgspec.json.Decoder(Acknowledgement | SnapshotRequest)


class LabConsumer(CountedConsumer):
    """Joins the feed of one lab. Frames are sent by the feed itself; here are only the browser's two
    messages."""

    reader: Reader | None = None
    lab: LabFeed | None = None

    async def connect(self) -> None:
        await self.send({"type": "websocket.accept"})  # only an open socket can receive a code
        lab_id = self.scope["url_route"]["kwargs"]["lab_id"]
        if not origin_is_ours(self.scope):
            await self.close(CLOSE_FORBIDDEN)
        elif not self.enter():
            await self.close(CLOSE_NO_ROOM)
        elif not await in_thread(selectors.lab_exists)(lab_id=lab_id):
            await self.close(CLOSE_UNKNOWN_LAB)
        else:
            self.reader = Reader(self.base_send, panels_of_query(self.scope["query_string"].decode("latin1")))
            self.lab = await feed().watch(lab_id, self.reader)

    async def receive(self, message: Json) -> None:
        if self.reader is None or self.lab is None:
            return  # already told to go
        try:
            text = message.get("text") or ""
            if len(text) > settings.SOCKET_MESSAGE_BYTES_MAX:
                raise msgspec.DecodeError("too long")
            self.reader.count_message()
            match _decoder.decode(text):
                case Acknowledgement(seq=seq):
                    await self.lab.acknowledge(self.reader, seq)
                case SnapshotRequest():
                    await self.lab.send_snapshot(self.reader)
        except (msgspec.DecodeError, RecursionError):
            await self.close(CLOSE_BAD_MESSAGE)
        except TooMany:
            await self.close(CLOSE_TOO_MANY)

    def leave(self) -> None:
        if self.lab is not None and self.reader is not None:
            self.lab.leave(self.reader)
            self.reader = None


async def unknown_socket(scope: Json, receive: object, send: object) -> None:
    """Any other address: the handshake is accepted only to say that there is nothing here."""
    await send({"type": "websocket.accept"})  # type: ignore[operator]
    await send({"type": "websocket.close", "code": CLOSE_UNKNOWN_LAB})  # type: ignore[operator]


def panels_of_query(query: str) -> list[str]:
    """The panels that ?panels=cluster,group names; unknown names are another version's, and left out."""
    asked = {name for value in parse_qs(query).get("panels", ()) for name in value.split(",")}
    return [name for name in PANELS if name in asked]


def origin_is_ours(scope: Json) -> bool:
    """Whether a browser's page of this very site opened the socket. A program sends no Origin, and reads what
    anybody may read."""
    headers = {name: value.decode("latin1") for name, value in scope["headers"]}
    return origins.is_ours(host=headers.get(b"host", ""), origin=headers.get(b"origin"))

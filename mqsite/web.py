"""The web server: Daphne, with an end to what a request may bring.

Daphne on its own takes a body of any size into a temporary file, and then into memory, before anybody may
refuse it. Here a body above the largest upload is answered 413 as soon as its length is known, one for which
the disk has no room 507; nothing of either is kept. A long body stays in its file, below the run folder, and
goes to Django as that file: an upload of 200 MB costs no 200 MB of memory. What is on its way at one time is
limited by network address and in all (`dashboard/quotas.py`): a body is on the disk before anybody can ask
whose it is.

`python -m mqsite.web [Daphne's arguments] mqsite.asgi:application`
"""

import io
import json
import os
import shutil
import tempfile
from collections import Counter
from typing import Any

from daphne import server as daphne_server  # first: it chooses the reactor
from daphne.cli import CommandLineInterface
from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.internet import reactor

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.dev")

from django.conf import settings  # noqa: E402  (they are what the environment says)

from dashboard.address import client_address  # noqa: E402
from dashboard.quotas import Quota  # noqa: E402
from mqsite.sockets import BoundedSocketFactory  # noqa: E402

BODY_FILE = "highwater.body"
IN_MEMORY_BYTES = 64 * 1024
# What a client that was refused may still send before the connection is cut: by then it has read the answer,
# or never will.
IGNORED_BYTES_MAX = 256 * 2**20
IGNORED_FOR_S = 30
TOO_LARGE = (413, "Content Too Large", "is larger than anything that may be sent here")
AGAIN_S = 60
TOO_MANY = (
    429,
    "Too Many Requests",
    "is too much at once from your network address; try again in about a minute",
)
NO_ROOM = (507, "Insufficient Storage", "does not fit on the server's disk; nothing of it was kept")


class Bodies:
    """How many bytes of bodies are on their way, or being worked on, in all and of each network address."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()

    def add(self, address: str, length: int) -> tuple[int, str, str] | None:
        """Count so much more; or say why not."""
        quota = Quota(
            "",
            "",
            settings.BODIES_ADDRESS_BYTES_MAX,
            settings.BODIES_BYTES_MAX,
            newcomer=settings.BODY_BYTES_MAX,
        )
        mine, everybody = self._bytes[address], self._bytes.total()
        if quota.is_full_for(mine, length):
            return TOO_MANY
        if (
            quota.is_full(mine, everybody, length)
            or shutil.disk_usage(settings.RUN_DIR).free < everybody + length
        ):
            return NO_ROOM
        self._bytes[address] += length
        return None

    def remove(self, address: str, length: int) -> None:
        self._bytes[address] -= length
        if self._bytes[address] <= 0:
            del self._bytes[address]


bodies = Bodies()


class Nowhere(io.BytesIO):
    """Takes everything and keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


class BoundedRequest(WebRequest):
    """A request whose body has an end. refused: it was answered while it came."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refused = False
        self.received = 0
        self.counted = 0
        self.address = ""
        self.body_file: Any = None

    def gotLength(self, length: int | None) -> None:
        if length is not None and length > settings.BODY_BYTES_MAX:
            self.content = Nowhere()
            self._refuse(TOO_LARGE)
            return
        if length is not None and length > IN_MEMORY_BYTES and (why := self._count(length)):
            self.content = Nowhere()
            self._refuse(why)
            return
        try:
            super().gotLength(length)
        except OSError:
            self.content = Nowhere()
            self._refuse(NO_ROOM)

    def handleContentChunk(self, data: bytes) -> None:
        self.received += len(data)
        if self.refused:
            if self.received > IGNORED_BYTES_MAX:
                self._cut()
            return
        if self.received > settings.BODY_BYTES_MAX:
            self._refuse(TOO_LARGE)
            return
        # A body of unknown length is counted as it grows; a short one is not: nobody's click waits for
        # others' uploads.
        if self.received > max(self.counted, IN_MEMORY_BYTES) and (
            why := self._count(self.received - self.counted)
        ):
            self._refuse(why)
            return
        try:
            super().handleContentChunk(data)
        except OSError:
            self._refuse(NO_ROOM)

    def _count(self, length: int) -> tuple[int, str, str] | None:
        why = bodies.add(self._address(), length)
        if why is None:
            self.counted += length
        return why

    def _release(self) -> None:
        if self.counted:
            bodies.remove(self._address(), self.counted)
            self.counted = 0

    def _address(self) -> str:
        if not self.address:
            peer = self.channel.transport.getPeer()
            forwarded = b",".join(self.requestHeaders.getRawHeaders(b"x-forwarded-for", []))
            self.address = client_address(str(getattr(peer, "host", "") or ""), forwarded.decode("latin1"))
        return self.address

    def finish(self) -> None:
        self._release()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        self._release()
        super().connectionLost(reason)

    def _refuse(self, why: tuple[int, str, str]) -> None:
        """Answer at once, without waiting for the end of what is not kept."""
        self.refused = True
        self._release()
        self.content.close()
        self.content = Nowhere()
        # It gets no "continue": the answer is there already.
        self.requestHeaders.removeHeader(b"expect")
        status, name, text = why
        body = json.dumps({"fields": {"body": [text]}}).encode()
        again = "" if why is TOO_LARGE else f"Retry-After: {AGAIN_S}\r\n"
        head = (
            f"HTTP/1.1 {status} {name}\r\nContent-Type: application/json\r\nContent-Length: "
            f"{len(body)}\r\n{again}Connection: close\r\n\r\n"
        )
        self.channel.transport.write(head.encode() + body)
        # Ours is said; closing both ways now would cost the client the answer, which it reads once it has
        # sent what it is sending.
        self.channel.transport.loseWriteConnection()
        reactor.callLater(IGNORED_FOR_S, self._cut)

    def _cut(self) -> None:
        if self.channel is not None:
            self.channel.loseConnection()

    def process(self) -> Any:
        if self.refused:
            self._cut()
            return None
        if self.received > IN_MEMORY_BYTES:
            self.content.seek(0)
            self.body_file, self.content = self.content, io.BytesIO()
        return super().process()


class BoundedFactory(HTTPFactory):
    """Makes such requests."""

    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


class BoundedServer(daphne_server.Server):
    """Hands a long body over as a file, in the scope."""

    def create_application(self, protocol: Any, scope: Any) -> Any:
        if getattr(protocol, "body_file", None) is not None:
            scope["extensions"] = {**scope.get("extensions", {}), BODY_FILE: protocol.body_file}
        return super().create_application(protocol, scope)


class Web(CommandLineInterface):
    server_class = BoundedServer


def main() -> None:
    folder = settings.RUN_DIR / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    # On the disk of the run folder: /tmp may be memory.
    tempfile.tempdir = str(folder)
    daphne_server.HTTPFactory, daphne_server.WebSocketFactory = BoundedFactory, BoundedSocketFactory
    Web.entrypoint()


if __name__ == "__main__":
    main()

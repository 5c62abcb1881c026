"""A client's socket on an asyncio loop: what it says is handed to whoever serves it, as acts. A client that does not read is
held back: what the server has for it waits on the server's side, and after UNREAD_S it is cut off.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from broker_core.wire.acts import Backlog, SocketAct
from broker_core.wire.amqp.remote import Accepted, Arrived, HungUp
from broker_core.wire.open_server import BROKER

READ_BYTES = 256 * 1024
UNREAD_S = 60.0
"""How long a client may leave unread what the server has sent, beyond what a socket's buffer takes."""
UNWRITTEN_BYTES_MAX = 1 << 20


class Host(Protocol):
    """Who serves sockets. sockets: number -> those that are there. buffer: what comes is read into it, and taken before the next socket
    is read."""

    loop: asyncio.AbstractEventLoop
    sockets: dict[int, Socket]
    buffer: memoryview

    def admit(self, socket: Socket) -> int:
        """The number of a new socket, 0 to refuse it."""

    def hand_in(self, socket: int, act: SocketAct) -> None:
        """What it says."""


class Socket(asyncio.BufferedProtocol):
    """A client's socket. is_held: it is not read."""

    transport: asyncio.Transport

    def __init__(self, host: Host) -> None:
        self.host = host
        self.number = 0
        self.is_held = False
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self.number = self.host.admit(self)
        if not self.number:
            self.transport.abort()
            return
        self.host.sockets[self.number] = self
        self.transport.set_write_buffer_limits(UNWRITTEN_BYTES_MAX)
        self.host.hand_in(self.number, Accepted(BROKER))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.host.buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self.number:
            self.host.hand_in(self.number, Arrived(bytes(self.host.buffer[:nbytes])))

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._unread is not None:
            self._unread.cancel()
        if self.number and self.host.sockets.pop(self.number, None) is not None:
            self.host.hand_in(self.number, HungUp())

    def pause_writing(self) -> None:
        if self.number:
            self._unread = self.host.loop.call_later(UNREAD_S, self.transport.abort)
            self.host.hand_in(self.number, Backlog(True))

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
        if self.number:
            self.host.hand_in(self.number, Backlog(False))

    def write(self, parts: list[bytes], is_over: bool) -> None:
        if parts:
            self.transport.write(b"".join(parts))
        if is_over:
            self.transport.close()

    def hold(self, is_held: bool) -> None:
        if is_held != self.is_held:
            self.is_held = is_held
            if is_held:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

"""A lab's door: where it listens, and the sockets of its real clients, on one thread for all doors of the process, so that they
are there between two tasks of the shard, too.

    thread of the sockets: accept, read ─► came ─► take: thread of the shard
                           write ◄──────────────── leave: when what it answers is stored

What a client says stays at the door until the shard takes it. So a lab that is paused holds its clients back: no socket is read
further than WAITING_BYTES_MAX ahead.
"""

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from broker_core.events import Json
from broker_core.lab.commands.rabbitmq_clients import ACTS_MAX, BYTES_MAX, plain_act
from broker_core.serve.sockets import READ_BYTES, Socket
from broker_core.wire.acts import SocketAct
from broker_core.wire.amqp.remote import Arrived, HungUp
from broker_core.wire.open_server import Leaving

WAITING_BYTES_MAX = BYTES_MAX
"""Of one socket, that the lab has not taken."""
LISTEN_S = 5.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """connections: at one time. bytes_each: that one of them may send."""

    connections: int
    bytes_each: int


class Door:
    """Of one lab. port: where it listens. came: what sockets said, to be taken. refused: clients that were turned away at
    `bounds.connections`. cut: those that had sent more than they may."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        bounds: Bounds,
        last_socket: int,
        wake: Callable[[], object],
    ) -> None:
        """last_socket: the highest number that a socket of the lab had. wake: tells the shard that there is something."""
        self.loop, self.bounds, self.last_socket, self.wake = loop, bounds, last_socket, wake
        self.sockets: dict[int, Socket] = {}
        self.buffer = memoryview(bytearray(READ_BYTES))
        self.came: deque[tuple[int, SocketAct]] = deque()
        self.port = self.refused = self.cut = 0
        self.is_closed = False
        self._lock = threading.Lock()
        self._waiting: Counter[int] = Counter()
        self._sent: Counter[int] = Counter()
        self._blocked: Collection[int] = ()
        self._listener: asyncio.Server | None = None

    # -- the thread of the shard -----------------------------------------------------------------------------

    def take(self) -> list[Json]:
        """What came, in its order, as much as one order of the lab has."""
        taken: list[Json] = []
        size = 0
        with self._lock:
            while self.came and len(taken) < ACTS_MAX:
                number, act = self.came[0]
                length = len(act.data) if isinstance(act, Arrived) else 0
                if taken and size + length > BYTES_MAX:
                    break
                size += length
                self._waiting[number] -= length
                self.came.popleft()
                if isinstance(act, HungUp):
                    del self._waiting[number]
                taken.append(plain_act(number, act))
        if size:
            self.loop.call_soon_threadsafe(self._hold)
        return taken

    def leave(self, leaving: Sequence[Leaving], blocked: Collection[int]) -> None:
        """Write what left for the sockets. blocked: those that are not read, as their publishes wait for an alarm to end."""
        if leaving or blocked != self._blocked:
            self.loop.call_soon_threadsafe(self._leave, leaving, blocked)

    def drop(self, numbers: Iterable[int]) -> None:
        """What these said was not taken: they are cut off."""
        self.loop.call_soon_threadsafe(self._drop, list(numbers))

    def close(self) -> None:
        """Listen no more, and end every connection when what has left is written."""
        self.is_closed = True
        self.loop.call_soon_threadsafe(self._close)

    # -- the thread of the sockets ---------------------------------------------------------------------------

    async def listen(self, host: str, ports: Iterable[int]) -> None:
        """At the first of these ports that is free, 0 for any. Raises OSError where none is."""
        error: OSError | None = None
        for port in ports:
            try:
                self._listener = await self.loop.create_server(lambda: Socket(self), host, port, backlog=64)
            except OSError as refused:
                error = refused
                continue
            self.port = int(self._listener.sockets[0].getsockname()[1])
            return
        raise error or OSError("no port is named")

    def admit(self, socket: Socket) -> int:
        """Its number, 0 where there is no room for it."""
        if self.is_closed:
            return 0
        if len(self.sockets) >= self.bounds.connections:
            self.refused += 1
            return 0
        self.last_socket += 1
        return self.last_socket

    def hand_in(self, socket: int, act: SocketAct) -> None:
        """It waits here until the shard takes it."""
        if self.is_closed:
            return
        length = len(act.data) if isinstance(act, Arrived) else 0
        if isinstance(act, HungUp):
            del self._sent[socket]
        else:
            self._sent[socket] += length
        if self._sent[socket] > self.bounds.bytes_each and socket in self.sockets:
            self.cut += 1
            self._drop([socket])
            return
        with self._lock:
            is_first = not self.came
            self.came.append((socket, act))
            self._waiting[socket] += length
        self._hold()
        if is_first:
            self.wake()

    def _hold(self) -> None:
        for number, socket in self.sockets.items():
            socket.hold(number in self._blocked or self._waiting[number] >= WAITING_BYTES_MAX)

    def _leave(self, leaving: Sequence[Leaving], blocked: Collection[int]) -> None:
        self._blocked = blocked
        for number, parts, is_over in leaving:
            # The lab has ended it: its hanging up says nothing any more.
            socket = self.sockets.pop(number, None) if is_over else self.sockets.get(number)
            if socket is not None:
                socket.write(parts, is_over)
        self._hold()

    def _drop(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            if (socket := self.sockets.get(number)) is not None:
                socket.transport.abort()

    def _close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for socket in self.sockets.values():
            socket.transport.close()
        self.sockets.clear()


def open_door(
    host: str, ports: Iterable[int], bounds: Bounds, last_socket: int, wake: Callable[[], object]
) -> Door:
    """Listen, at the first of these ports that is free. Raises OSError."""
    loop = _loop()
    door = Door(loop, bounds, last_socket, wake)
    asyncio.run_coroutine_threadsafe(door.listen(host, ports), loop).result(LISTEN_S)
    return door


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Of this process's sockets."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="sockets", daemon=True).start()
    return loop

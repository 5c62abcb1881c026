"""The sockets of a run, and its clock: asyncio on one thread.

    socket ─ bytes ─► turn: stamp, journal, world, flush ─► bytes ─ socket          a timer, for what is due of itself

What has been read when a turn begins is handed in with one stamp; only when the journal has it is anything written out, so
that whatever a client has seen can be replayed. A client that does not read is held back: the broker's messages for it
wait on the broker's side. One whose publishes wait for an alarm is not read.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence
from contextlib import suppress

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.log.storage import StorageFull
from broker_core.serve.conditions import Condition
from broker_core.serve.journal import Began, Journal
from broker_core.serve.run import Run
from broker_core.serve.sockets import READ_BYTES, Socket
from broker_core.wire.acts import Act

SOCKETS_MAX = 1_000


class Server:
    """failed: done when a broken invariant, or a journal that cannot be written, has stopped it. loop: the clock, and who
    reads the sockets. waiting: who waits for a condition of the run, done with what was seen when it holds. first: orders with which
    the run begins, and begins again."""

    def __init__(self, run: Run, journal: Journal, loop: asyncio.AbstractEventLoop) -> None:
        self.run, self.journal, self.loop = run, journal, loop
        self.began_s = loop.time()
        self.sockets: dict[int, Socket] = {}
        self.last_socket = 0
        self._acts: list[tuple[int, Act]] = []
        self._is_turning = self.is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._listeners: list[asyncio.Server] = []
        self._blocked: set[int] = set()
        self.failed: asyncio.Future[Exception] = loop.create_future()
        self.first: list[Act] = []
        self.waiting: dict[asyncio.Future[Json], Condition] = {}
        self.buffer = memoryview(bytearray(READ_BYTES))

    def begin(self, first: Sequence[Act]) -> None:
        """Carry out the orders with which the run begins. Raises CommandError."""
        for act in first:
            self.order(act)
        self.first = list(first)

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Take clients. port: 0 for any that is free. Returns the port. Raises OSError."""
        listener = await self.loop.create_server(lambda: Socket(self), host, port, backlog=512, ssl=tls)
        self._listeners.append(listener)
        return int(listener.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Take no more clients, and end those that are there."""
        for listener in self._listeners:
            listener.close()
        if self.is_closed:
            return
        for socket in list(self.sockets.values()):
            socket.transport.close()
        self.turn()
        self.is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self.journal.close()

    def now_us(self) -> int:
        return round((self.loop.time() - self.began_s) * 1_000_000)

    def reset(self) -> None:
        """The run begins again, at time 0, and so does its journal; clients and waits are cut off."""
        if self.is_closed:
            return
        for socket in self.sockets.values():
            socket.number = 0  # of the run that ends
            socket.transport.abort()
        self.sockets.clear()
        self._acts.clear()
        for future in self.waiting:
            if not future.done():
                future.set_exception(CommandError("server", "was reset"))
        self.waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        began = Began(self.run.seed, epoch_us())
        self.run, self.began_s = Run(began.seed, began.began_us), self.loop.time()
        self.journal.begin_again(began)
        self.begin(self.first)

    def admit(self, socket: Socket) -> int:
        """Its number, 0 where there is no room for it."""
        if len(self.sockets) >= SOCKETS_MAX or self.is_closed:
            return 0
        self.last_socket += 1
        return self.last_socket

    def hand_in(self, socket: int, act: Act) -> None:
        """An act of a socket, for the turn that comes next."""
        if self.is_closed:
            return
        self._acts.append((socket, act))
        if not self._is_turning:
            self._is_turning = True
            self.loop.call_soon(self.turn)

    def order(self, act: Act) -> None:
        """An act of no socket, at once. Raises CommandError, and then nothing has changed."""
        self.turn(act)

    def turn(self, order: Act | None = None) -> None:
        """One round: what has come is stamped and handed in, in its order; the journal has it before an answer leaves."""
        if self.is_closed:
            return
        self._is_turning = False
        acts, self._acts = self._acts, []
        run, journal = self.run, self.journal
        now_us = max(self.now_us(), run.world.now_us)
        try:
            run.advance(now_us)
            self._look()
            for socket, act in acts:
                journal.note(now_us, socket, act)
                run.act(socket, act)
                self._look()
            if order is not None:
                self._carry_out(order, now_us)
                self._look()
            self._leave(now_us)
        except CommandError:
            self._leave(now_us)
            raise
        except Exception as error:
            self._fail(error, now_us)
            raise

    def _carry_out(self, order: Act, now_us: int) -> None:
        """One that is refused has changed nothing and is not in the journal."""
        self.run.act(0, order)
        self.journal.note(now_us, 0, order)

    def _look(self) -> None:
        """Whoever waits for what is so now hears it; it need not be so for longer than this step."""
        for future, condition in list(self.waiting.items()):
            if not future.done() and condition.is_met(self.run):
                future.set_result(condition.seen(self.run))

    def _fail(self, error: Exception, now_us: int) -> None:
        """A state that cannot be, or a journal that cannot be written: no client is served any more, and the journal
        keeps what led there."""
        self.is_closed = True
        for socket in list(self.sockets.values()):
            socket.transport.abort()
        if not self.failed.done():
            self.failed.set_result(error)
        for future in self.waiting:
            if not future.done():
                future.set_exception(CommandError("server", "has stopped: {why}", why=repr(error)))
        with suppress(OSError, StorageFull):
            self.journal.flush(now_us)

    def _leave(self, now_us: int) -> None:
        """What the turn came to goes to the sockets, and the next moment is set."""
        answers = list(self.run.outgoing())
        self.journal.answer(now_us, [(number, parts) for number, parts, _ in answers])
        self.journal.flush(now_us)
        for number, parts, is_over in answers:
            socket = self.sockets.get(number)
            if socket is not None:
                socket.write(parts, is_over)
        if (blocked := self.run.server.blocked()) != self._blocked:
            self._blocked = blocked
            for number, socket in self.sockets.items():
                socket.hold(number in blocked)
        due_us = self.run.due_us()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            None if due_us is None else self.loop.call_at(self.began_s + due_us / 1_000_000, self.turn)
        )


def epoch_us() -> int:
    """What the wall clock says, microseconds since 1970."""
    return time.time_ns() // 1_000

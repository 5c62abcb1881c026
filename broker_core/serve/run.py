"""A run: a world with one RabbitMQ server and the real clients that came to it, driven from outside.

    act (a socket's bytes, an order) ─ stamped, journaled ─► world ─► bytes for the sockets

What happened follows from the acts and their times alone, so that the journal of them is the run. An act's time is later
than the one before it; whatever is due until then happens first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from broker_core.errors import CommandError
from broker_core.events import Json, TurningPoint
from broker_core.rabbitmq import loading
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client.operator import Ask, Operator, OperatorState
from broker_core.rabbitmq.definitions import read_definitions
from broker_core.rabbitmq.lone_server import LoneServer
from broker_core.rabbitmq.restart import come_back, crash, stop
from broker_core.serve.faults.book import Faults, Row
from broker_core.serve.faults.broker import FaultyBroker, Release
from broker_core.serve.faults.fault import TO_CLIENT, TO_SERVER, Fault
from broker_core.serve.faults.timer import Remind, Timer, TimerState
from broker_core.sim.design import Design
from broker_core.sim.slot import CRASHED
from broker_core.sim.world import World
from broker_core.wire.amqp.remote import Accepted, Arrived, HungUp, Remote, RemoteState, SocketEvent

BROKER, OPERATOR, TIMER = "broker", "operator", "timer"


class Crash(msgspec.Struct, frozen=True, tag="serve.crash", array_like=True):
    """The server's process dies; what was on its way to the disk is lost, and connections break."""


class Stop(msgspec.Struct, frozen=True, tag="serve.stop", array_like=True):
    """The server stops clean."""


class Start(msgspec.Struct, frozen=True, tag="serve.start", array_like=True):
    """The server that is down starts with what its disk has."""


class Define(msgspec.Struct, frozen=True, tag="serve.define", array_like=True):
    """A definitions file, parsed: what it has comes to the server."""

    definitions: Json


class SetFault(msgspec.Struct, frozen=True, tag="serve.set_fault", array_like=True):
    """From now on methods meet this fault; its number is the next one."""

    fault: Fault


class EndFault(msgspec.Struct, frozen=True, tag="serve.end_fault", array_like=True):
    """The fault strikes no more: what it holds goes on, its alarm, cut and crash end. is_gone: it leaves the list, too."""

    number: int
    is_gone: bool = False


class Backlog(msgspec.Struct, frozen=True, tag="serve.backlog", array_like=True):
    """The client does not read: what the server sends it waits on the server's side. Or it reads again."""

    is_full: bool


ServerAct = Crash | Stop | Start | Define | SetFault | EndFault | server.SetAlarm
SocketAct = Accepted | Arrived | HungUp | Backlog
Act = ServerAct | SocketAct


class Run:
    """seed: what names that the server makes follow from. began_us: what the server's clock says at time 0, microseconds
    since 1970. listener: hears its turning points. sockets: number -> its node's state. touched: those of them that have
    something for their socket."""

    def __init__(
        self,
        seed: int = 0,
        began_us: int = 0,
        listener: Callable[[list[TurningPoint]], None] = lambda told: None,
    ) -> None:
        self.seed, self.began_us = seed, began_us
        self.sockets: dict[int, RemoteState] = {}
        self.touched: dict[RemoteState, None] = {}
        self.faults = Faults()
        self.world = World("rabbitmq", self._design(), seed, listener)
        self.world.start(BROKER, "broker", BrokerState())
        self.world.start(OPERATOR, "operator", OperatorState())
        self.world.start(TIMER, "timer", TimerState())

    def _define(self, plain: Json) -> None:
        """Raises CommandError at the row that is wrong, or that the server would refuse."""
        definitions = read_definitions(plain, loading.DEFAULT_VHOST)
        for section, place, (code, text) in loading.refused_rows(
            definitions, LoneServer.like(self.broker.state)
        ):
            raise CommandError(
                f"{section}.{place}", "RabbitMQ refuses it: {code} {text}", code=code, text=text
            )
        world = self.world
        for order in (
            *loading.orders(definitions, is_file=bool(definitions.users)),
            *loading.rights(definitions),
        ):
            world.order(BROKER, order)
        for ask in loading.asks(BROKER, definitions):
            world.order(OPERATOR, ask)
        world.advance(world.now_us)
        world.order(BROKER, server.DeleteUser(loading.LOADER))

    def _design(self) -> Design:
        return Design(
            {
                "broker": (BrokerState, lambda state: FaultyBroker(state, self.faults)),
                "socket": (RemoteState, lambda state: Remote(state, self.touched)),
                "operator": (OperatorState, Operator),
                "timer": (TimerState, lambda state: Timer(state, self.faults)),
            },
            m.Method | server.Order | SocketEvent | Ask | Release | Remind,
            delay_us=0,
            ahead_us=self.began_us,
        )

    @property
    def broker(self) -> FaultyBroker:
        node: FaultyBroker = self.world.slots[BROKER].node  # type: ignore[assignment]
        return node

    @property
    def is_up(self) -> bool:
        return self.world.condition(BROKER) != CRASHED

    def due_us(self) -> int | None:
        """When something happens next of its own accord; None: nothing will."""
        return self.world.heap[0][0] if self.world.heap else None

    def advance(self, now_us: int) -> None:
        """Whatever is due until now happens, and what faults ask for in its midst."""
        world = self.world
        while True:
            world.advance(now_us, by_report=True)
            if not self._carry_out_faults() and not world.is_midway:
                return

    def act(self, socket: int, act: Act) -> None:
        """Something comes from outside, now. socket: its number, 0 for what no socket says. Raises CommandError, and then
        nothing has changed."""
        world, name = self.world, f"socket {socket}"
        if isinstance(act, Accepted):
            state = self.sockets[socket] = RemoteState(socket)
            world.start(name, "socket", state)
        if isinstance(act, SocketAct):
            known = self.sockets.get(socket)
            if known is None:
                return  # it has ended already
            if not isinstance(act, Backlog):
                world.order(name, act)
            elif known.connection:
                world.fill(known.connection, BROKER, act.is_full)
        else:
            self._order(act)
        self.advance(world.now_us)

    def outgoing(self) -> Iterable[tuple[int, list[bytes], bool]]:
        """(socket, bytes for it, whether it is to be closed then), of those that have any; taken with that."""
        touched = list(self.touched)
        self.touched.clear()
        for state in touched:
            taken, state.outgoing = state.outgoing, []
            if state.is_over and self.sockets.pop(state.number, None) is not None:
                self.world.exit(f"socket {state.number}")
            yield state.number, taken, state.is_over

    def _order(self, act: ServerAct) -> None:
        world = self.world
        match act:
            case Crash():
                self._crash()
            case Stop():
                self._expect_up()
                self.faults.lines.clear()
                stop(world, BROKER)
            case Start():
                come_back(world, BROKER)
            case Define(plain):
                self._expect_up()
                self._define(plain)
            case SetFault(fault):
                self.faults.add(fault)
            case EndFault(number, is_gone):
                row = self.faults.row(number)
                row.is_over = True
                self._end(row)
                if is_gone:
                    del self.faults.rows[number]
            case _:
                self._expect_up()
                world.order(BROKER, act)

    def _crash(self) -> None:
        self._expect_up()
        self.faults.lines.clear()
        crash(self.world, BROKER)

    def _expect_up(self) -> None:
        if not self.is_up:
            raise CommandError("server", "is down")

    # -- faults that the server cannot carry out alone -------------------------------------------------------

    def _carry_out_faults(self) -> bool:
        """Returns whether there was anything to do."""
        faults = self.faults
        if not (faults.crashing or faults.cutting or faults.ended):
            return False
        while faults.crashing:
            row = faults.crashing.pop(0)
            if self.is_up:
                self._crash()
                if row.fault.ms:
                    self.world.order(TIMER, Remind(row.number, row.fault.ms * 1_000))
                else:
                    come_back(self.world, BROKER)
        while faults.cutting:
            self._cut(*faults.cutting.pop(0))
        while faults.ended:
            ended = faults.rows.get(faults.ended.pop(0))
            if ended is not None:
                self._end(ended)
        return True

    def _cut(self, row: Row, connection: int) -> None:
        state = self._socket_of(connection)
        if state is None:
            return
        senders = {TO_CLIENT: BROKER, TO_SERVER: f"socket {state.number}"}
        with suppress(CommandError):  # it is cut already
            self.world.cut(connection, senders.get(row.fault.way))
            state.is_cut = row.fault.way != TO_SERVER
            row.connections.append(connection)
            if row.fault.ms:
                self.world.order(TIMER, Remind(row.number, row.fault.ms * 1_000))

    def _heal(self, connection: int) -> None:
        state = self._socket_of(connection)
        if state is not None:
            state.is_cut = False
            self.world.heal(connection)

    def _socket_of(self, connection: int) -> RemoteState | None:
        return next((state for state in self.sockets.values() if state.connection == connection), None)

    def _end(self, row: Row) -> None:
        """What the fault holds goes on; what it broke is whole again."""
        if self.is_up:
            self.world.order(BROKER, Release(row.number))
        elif row.fault.do == "crash" and row.hits:
            come_back(self.world, BROKER)
        while row.connections:
            self._heal(row.connections.pop())

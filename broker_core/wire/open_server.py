"""A RabbitMQ server that real clients come to, in a world: what comes from outside is carried out here, and what leaves for
the sockets is collected. `broker_core/serve/` drives one by the wall clock, a lab by its journal.

    act (a socket's bytes, an order) ─► world: sockets' nodes, server, faults ─► bytes for the sockets

What happened follows from the acts and their times alone. All that a run is at some moment is the state of its nodes,
the faults' too, so that a checkpoint of the world goes on the same; what leaves is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.rabbitmq import loading
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client.operator import Ask, Operator, OperatorState
from broker_core.rabbitmq.definitions import read_definitions
from broker_core.rabbitmq.lone_server import LoneServer
from broker_core.rabbitmq.overhearing import Ear
from broker_core.rabbitmq.restart import come_back, crash, stop
from broker_core.sim.node import Node
from broker_core.sim.slot import CRASHED
from broker_core.sim.world import World
from broker_core.wire.acts import (
    Act,
    Backlog,
    Crash,
    Define,
    EndFault,
    ServerAct,
    SetFault,
    SocketAct,
    Start,
    Stop,
)
from broker_core.wire.amqp.remote import Accepted, Remote, RemoteState, SocketEvent
from broker_core.wire.faults.book import Faults
from broker_core.wire.faults.broker import FaultyBroker, Release
from broker_core.wire.faults.fault import TO_CLIENT, TO_SERVER
from broker_core.wire.faults.timer import Remind, Timer

BROKER, OPERATOR, TIMER = "broker", "operator", "timer"
SOCKET = "socket"
"""Kind of a real client's node."""
MESSAGES = m.Method | server.Order | SocketEvent | Ask | Release | Remind
"""What travels in its world."""
Leaving = tuple[int, list[bytes], bool]
"""(socket, bytes for it, whether it is to be closed then)."""


class OpenServer:
    """sockets: number -> its node's state. faults: of the run, state of its timer's node. heard: (socket, method) that came
    since somebody made it a list; None: nobody wants to know."""

    def __init__(
        self,
        world: Callable[[], World],
        workload_size: Callable[[int], int] | None = None,
        ear: Ear | None = None,
        *,
        restarted: Callable[[BrokerState, BrokerState], None] = lambda before, after: None,
        is_heard: bool = True,
    ) -> None:
        """world: gives the one that it is in. restarted: called when the server starts again, with its states before and
        after. is_heard: somebody takes what leaves; else it is dropped."""
        self._world, self.workload_size, self.ear = world, workload_size, ear
        self.restarted, self.is_heard = restarted, is_heard
        self.heard: list[tuple[int, m.Method]] | None = None
        self.sockets: dict[int, RemoteState] = {}
        self.leaving: dict[int, list[bytes]] = {}
        self.faults = Faults()

    # -- its world -------------------------------------------------------------------------------------------

    def kinds(self) -> Mapping[str, tuple[type, Callable[[Any], Node]]]:
        """Of a world's design."""
        return {
            "broker": (BrokerState, self._broker),
            SOCKET: (RemoteState, self._socket),
            "operator": (OperatorState, Operator),
            "timer": (Faults, self._timer),
        }

    def _broker(self, state: BrokerState) -> FaultyBroker:
        return FaultyBroker(state, self.faults, self.workload_size, self.ear)

    def _timer(self, state: Faults) -> Timer:
        self.faults = state
        return Timer(state)

    def _socket(self, state: RemoteState) -> Remote:
        self.sockets[state.number] = state
        return Remote(state, self.leave, self._note)

    def _note(self, socket: int, method: m.Method) -> None:
        if self.heard is not None:
            self.heard.append((socket, method))

    def begin(self, state: BrokerState) -> None:
        """Start the server and who belongs to it. The faults come first, in a checkpoint, too: the server knows them."""
        self.world.start(TIMER, "timer", Faults())
        self.world.start(BROKER, "broker", state)
        self.world.start(OPERATOR, "operator", OperatorState())

    @property
    def world(self) -> World:
        return self._world()

    @property
    def broker(self) -> FaultyBroker:
        node: FaultyBroker = self.world.slots[BROKER].node  # type: ignore[assignment]
        return node

    @property
    def is_up(self) -> bool:
        return self.world.condition(BROKER) != CRASHED

    # -- what comes ------------------------------------------------------------------------------------------

    def advance(self, now_us: int) -> None:
        """Whatever is due until now happens, and what faults ask for in its midst."""
        world = self.world
        while True:
            world.advance(now_us, by_report=True)
            if not self.carry_out_faults() and not world.is_midway:
                return

    def act(self, socket: int, act: Act, cause: Cause | None = None) -> None:
        """Something comes from outside, now. socket: its number, 0 for what no socket says. Raises CommandError, and then
        nothing has changed."""
        if isinstance(act, SocketAct):
            self._hear(socket, act, cause)
        else:
            self._obey(act, cause)
        self.advance(self.world.now_us)

    def _hear(self, socket: int, act: SocketAct, cause: Cause | None) -> None:
        world, name = self.world, socket_name(socket)
        if isinstance(act, Accepted):
            world.start(name, SOCKET, RemoteState(socket))
        known = self.sockets.get(socket)
        if known is None:
            return  # it has ended already
        if not isinstance(act, Backlog):
            world.order(name, act, cause)
        elif known.connection:
            with suppress(CommandError):  # its link is broken already
                world.fill(known.connection, BROKER, act.is_full)

    def _obey(self, act: ServerAct, cause: Cause | None) -> None:
        world = self.world
        match act:
            case Crash():
                self._expect_up()
                self._crash(cause)
            case Stop():
                self._expect_up()
                self.faults.forget_all()
                stop(world, BROKER, cause)
            case Start():
                self._come_back(cause)
            case Define(plain):
                self._expect_up()
                self._define(plain, cause)
            case SetFault(fault):
                self.faults.add(fault)
            case EndFault(number, is_gone):
                self.faults.row(number).is_over = True
                self._end(number, cause)
                if is_gone:
                    del self.faults.rows[number]
            case _:
                self._expect_up()
                world.order(BROKER, act, cause)

    def _crash(self, cause: Cause | None = None) -> None:
        self.faults.forget_all()
        crash(self.world, BROKER, cause)

    def _come_back(self, cause: Cause | None = None) -> None:
        before = self.world.slots[BROKER].node.state
        come_back(self.world, BROKER, cause)
        self.restarted(before, self.broker.state)

    def _expect_up(self) -> None:
        if not self.is_up:
            raise CommandError("server", "is down")

    def _define(self, plain: Json, cause: Cause | None) -> None:
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
            world.order(BROKER, order, cause)
        for ask in loading.asks(BROKER, definitions):
            world.order(OPERATOR, ask, cause)
        world.advance(world.now_us)
        world.order(BROKER, server.DeleteUser(loading.LOADER))

    # -- what leaves -----------------------------------------------------------------------------------------

    def leave(self, socket: int, data: bytes) -> None:
        """Bytes for a socket, or none where it is to be closed."""
        if self.is_heard:
            self.leaving.setdefault(socket, []).append(data)

    def taken(self) -> list[Leaving]:
        """What leaves, in the order in which sockets came to have any; it is taken with that."""
        found, self.leaving = self.leaving, {}
        return [
            (socket, [data for data in parts if data], self.is_over(socket))
            for socket, parts in found.items()
        ]

    def is_over(self, socket: int) -> bool:
        return socket not in self.sockets or self.sockets[socket].is_over

    def blocked(self) -> set[int]:
        """Sockets whose publishes wait for an alarm to end: they are not read meanwhile."""
        broker = self.broker
        if not broker.alarms:
            return set()
        known = broker.connections
        return {
            number
            for number, state in self.sockets.items()
            if state.connection in known and known[state.connection].is_blocked
        }

    def sweep(self) -> None:
        """Sockets that are at their end go from the books; nothing can tell."""
        for number in [number for number, state in self.sockets.items() if state.is_over]:
            del self.sockets[number]
            self.world.exit(socket_name(number))

    # -- faults that the server cannot carry out alone -------------------------------------------------------

    def carry_out_faults(self) -> bool:
        """Returns whether there was anything to do."""
        faults = self.faults
        if not (faults.crashing or faults.cutting or faults.ended):
            return False
        while faults.crashing:
            number = faults.crashing.pop(0)
            if self.is_up:
                self._crash()
                after_ms = faults.rows[number].fault.ms
                if after_ms:
                    self.world.order(TIMER, Remind(number, after_ms * 1_000))
                else:
                    self._come_back()
        while faults.cutting:
            self._cut(*faults.cutting.pop(0))
        while faults.ended:
            self._end(faults.ended.pop(0))
        return True

    def _cut(self, number: int, connection: int) -> None:
        state, row = self._socket_of(connection), self.faults.rows[number]
        if state is None:
            return
        senders = {TO_CLIENT: BROKER, TO_SERVER: socket_name(state.number)}
        with suppress(CommandError):  # it is cut already
            self.world.cut(connection, senders.get(row.fault.way))
            state.is_cut = row.fault.way != TO_SERVER
            row.connections.append(connection)
            if row.fault.ms:
                self.world.order(TIMER, Remind(number, row.fault.ms * 1_000))

    def _heal(self, connection: int) -> None:
        state = self._socket_of(connection)
        if state is not None:
            state.is_cut = False
            self.world.heal(connection)

    def _socket_of(self, connection: int) -> RemoteState | None:
        return next((state for state in self.sockets.values() if state.connection == connection), None)

    def _end(self, number: int, cause: Cause | None = None) -> None:
        """What the fault holds goes on; what it broke is whole again."""
        row = self.faults.rows.get(number)
        if row is None:
            return
        if self.is_up:
            self.world.order(BROKER, Release(number), cause)
        elif row.fault.do == "crash" and row.hits:
            self._come_back(cause)
        while row.connections:
            self._heal(row.connections.pop())


def socket_name(number: int) -> str:
    """Its node's."""
    return f"socket {number}"

"""A real client's end of a connection, as a node of its world: bytes that came from it are handed in, bytes for it are
handed out.

    socket ─ Arrived(bytes) ─► session ─ methods ─► link ─► broker
    socket ◄─ leave ────────── session ◄─ methods ── link ◄─┘

So whatever happens to links and processes of a world happens to a real client's connection too. The broker opens it when
the protocol header has come; who does not come to `connection.open` within ten seconds is cut off; after a close by the
server the client's close-ok is awaited for thirty.
Source: RabbitMQ 3.10 rabbit_reader, rabbit_heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.clock import SECOND_US
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.values import bare
from broker_core.sim.node import Closed, Outbox
from broker_core.wire.amqp.errors import LocalProtocolError
from broker_core.wire.amqp.session import Session

HANDSHAKE_US, CLOSING_US = 10 * SECOND_US, 30 * SECOND_US
HANDSHAKE, CLOSING, HEARTBEAT = "handshake", "closing", "heartbeat"


class Accepted(msgspec.Struct, frozen=True, tag="wire.amqp.accepted", array_like=True):
    """A socket is there. broker: the node that it wants to talk to."""

    broker: str


class Arrived(msgspec.Struct, frozen=True, tag="wire.amqp.arrived", array_like=True):
    data: bytes


class HungUp(msgspec.Struct, frozen=True, tag="wire.amqp.hung_up", array_like=True):
    """The client has closed its socket, or it broke."""


SocketEvent = Accepted | Arrived | HungUp
"""What a socket tells its node."""


@dataclass(slots=True, eq=False)
class RemoteState:
    """number: of the socket. broker: whom it talks to. connection: in the world, 0 while there is none. is_closing: the
    server has said that it closes. is_over: the socket is to be closed when all that left for it is written.
    name: as the client calls its connection, "" before it has, or where it does not. heartbeat_us: between two signs of
    life of the server, 0 for none. has_sent: since the last of them. is_cut: nothing of
    the server comes through, its signs of life neither."""

    number: int
    broker: str = ""
    name: str = ""
    connection: int = 0
    session: Session = field(default_factory=Session)
    is_closing: bool = False
    is_over: bool = False
    has_sent: bool = False
    is_cut: bool = False
    heartbeat_us: int = 0


class Remote:
    """leave: hands out (number of the socket, bytes for it), no bytes at its end. hear: gets each method that came."""

    def __init__(
        self,
        state: RemoteState,
        leave: Callable[[int, bytes], None],
        hear: Callable[[int, m.Method], None],
    ) -> None:
        self.state = state
        self.leave, self.hear = leave, hear

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case Accepted(broker):
                self.state.broker = broker
                out.deadline(HANDSHAKE, now_us + HANDSHAKE_US)
            case Arrived(data):
                if not self.state.is_over:
                    self.read(data, now_us, out)
            case HungUp():
                self.end(out)
            case Closed():
                self.state.connection = 0
                if self.state.is_closing:
                    out.deadline(CLOSING, now_us + CLOSING_US)
                else:
                    self.end(out)
            case _:
                self.answer(message, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name != HEARTBEAT:
            self.end(out)
            return
        if not state.has_sent and not state.is_cut:
            self.write(m.Heartbeat())
        state.has_sent = False
        out.deadline(HEARTBEAT, now_us + state.heartbeat_us)

    def read(self, data: bytes, now_us: int, out: Outbox) -> None:
        """What has come from the socket goes to the broker. Bytes that complete nothing are a sign of life all the
        same."""
        state, session = self.state, self.state.session
        is_new, is_whole = not session.is_greeted, False
        for method in session.receive(data):
            is_whole = True
            self.hear(state.number, method)
            if is_new and session.is_greeted:
                self.open(out)
                is_new = False
            if not state.connection or state.is_closing:
                self.read_last(method, out)
                continue
            if isinstance(method, m.ConnectionStartOk):
                state.name = str(bare(method.client_properties.get("connection_name")) or "")
            elif isinstance(method, m.ConnectionTuneOk):
                state.heartbeat_us = method.heartbeat * SECOND_US // 2
                if state.heartbeat_us:
                    out.deadline(HEARTBEAT, now_us + state.heartbeat_us)
            out.send(state.connection, method)
        if is_new and session.is_greeted:
            self.open(out)
        elif not is_whole and state.connection:
            out.send(state.connection, m.Heartbeat())

    def open(self, out: Outbox) -> None:
        if not self.state.session.refusal:
            self.state.connection = out.connect(self.state.broker)

    def read_last(self, method: m.Method, out: Outbox) -> None:
        """What comes when the server has closed the connection, or has never opened it."""
        state = self.state
        if isinstance(method, m.ConnectionClose):
            self.write(m.ConnectionCloseOk())
        if not state.is_closing or isinstance(method, m.ConnectionClose | m.ConnectionCloseOk):
            self.leave(state.number, state.session.refusal)
            self.end(out)

    def answer(self, method: m.Method, out: Outbox) -> None:
        """The broker's methods, for the socket."""
        state = self.state
        if state.is_over:
            return
        if isinstance(method, m.ConnectionClose):
            state.is_closing = True
        elif isinstance(method, m.ConnectionOpenOk):
            out.cancel(HANDSHAKE)
        try:
            self.write(method)
        except LocalProtocolError as error:
            self.write(m.ConnectionClose(codes.INTERNAL_ERROR, f"INTERNAL_ERROR - {error}"[:200]))
            self.end(out)

    def write(self, method: m.Method) -> None:
        state = self.state
        self.leave(state.number, state.session.send(method))
        state.has_sent = True

    def end(self, out: Outbox) -> None:
        """Nothing more is read from the socket, and the broker hears that the client is gone."""
        state = self.state
        state.is_over = True
        self.leave(state.number, b"")
        for name in (HANDSHAKE, CLOSING, HEARTBEAT):
            out.cancel(name)
        if state.connection:
            out.close(state.connection)
            state.connection = 0

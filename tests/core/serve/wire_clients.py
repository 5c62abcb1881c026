"""Clients of a run, as bytes: what a step of a recorded session sends, and what the sockets then receive."""

from __future__ import annotations

from typing import Any

from broker_core.conformance.rabbitmq_session import Json, Session
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.permissions import Permission
from broker_core.serve.journal import Began, Journal
from broker_core.serve.run import Run
from broker_core.sim.node import Closed, Opened
from broker_core.wire.acts import Act
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.remote import Accepted, Arrived, HungUp
from broker_core.wire.amqp.sender import encode
from broker_core.wire.open_server import BROKER

SEED, BEGAN_US = 7, 1_700_000_000_000_000


class Turns:
    """A run whose turns a test makes: each act has a turn of its own, a millisecond after the one before. answers: socket ->
    bytes that nobody has taken; ended: sockets that the server has closed."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.run = Run(SEED, BEGAN_US)
        self.journal = journal or Journal(Began(SEED, BEGAN_US))
        self.now_us = 0
        self.answers: dict[int, bytes] = {}
        self.ended: list[int] = []

    def act(self, socket: int, act: Act) -> None:
        self.wait(1_000)
        self.run.act(socket, act)
        self.journal.note(self.now_us, socket, act)
        self.leave()

    def wait(self, time_us: int) -> None:
        self.now_us += time_us
        self.run.advance(self.now_us)
        self.leave()

    def leave(self) -> None:
        answers = list(self.run.outgoing())
        self.journal.answer(self.now_us, [(number, parts) for number, parts, _ in answers])
        self.journal.flush(self.now_us)
        for number, parts, is_over in answers:
            self.answers[number] = self.answers.get(number, b"") + b"".join(parts)
            if is_over:
                self.ended.append(number)

    def taken(self, socket: int) -> bytes:
        return self.answers.pop(socket, b"")


class Client:
    """One socket's client: it speaks methods."""

    def __init__(self, turns: Turns, number: int, cut: int = 0) -> None:
        """cut: bytes come in pieces of this size, 0 for whole."""
        self.turns, self.number, self.cut = turns, number, cut
        self.receiver = Receiver(0)
        turns.act(number, Accepted(BROKER))

    def send(self, *methods: Any) -> list[Any]:
        """Send these in one write. Returns what came back."""
        return self.write(b"".join(encode(method, 131_072) for method in methods))

    def write(self, data: bytes) -> list[Any]:
        size = self.cut or max(1, len(data))
        for at in range(0, len(data), size):
            self.turns.act(self.number, Arrived(data[at : at + size]))
        return self.received()

    def received(self) -> list[Any]:
        return [method for _, method in self.receiver.receive(self.turns.taken(self.number))]

    def open(self, heartbeat: int = 0, name: str = "") -> list[Any]:
        """Up to an open channel 1. name: of the connection, as the client says it."""
        capabilities = {"consumer_cancel_notify": True, "connection.blocked": True}
        properties = {"capabilities": capabilities, **({"connection_name": name} if name else {})}
        return self.write(PROTOCOL_HEADER) + self.send(
            m.ConnectionStartOk(properties), m.ConnectionTuneOk(heartbeat=heartbeat), m.ConnectionOpen(), m.ChannelOpen(1),
        )  # fmt: skip

    def hang_up(self) -> None:
        self.turns.act(self.number, HungUp())


class OverBytes(Session):
    """The clients of a recorded session, each at a socket of a run."""

    def __init__(self, setup: Json, first_body: int) -> None:
        super().__init__(setup, first_body)
        self.turns = Turns()
        state = self.turns.run.broker.state
        state.vhosts.update(self.broker.state.vhosts)
        state.users.update(self.broker.state.users)
        state.users["guest"].permissions |= {name: Permission(".*", ".*", ".*") for name in state.vhosts}
        del state.vhosts["/"]
        self.broker = self.turns.run.broker
        self.reading: dict[int, Receiver] = {}

    def send(self, connection: int, method: Any) -> None:
        if type(method) is Opened:
            self.turns.act(connection, Accepted(BROKER))
            self.turns.act(connection, Arrived(PROTOCOL_HEADER))
            self.reading[connection] = Receiver(0)
        elif type(method) is Closed:
            self.turns.act(connection, HungUp())
            self.turns.ended.remove(connection)
        else:
            self.turns.act(connection, Arrived(encode(method)))

    def send_bytes(self, connection: int, data: bytes) -> None:
        self.turns.act(connection, Arrived(data))

    def sleep(self, time_us: int) -> None:
        self.turns.wait(time_us)

    def take(self) -> list[tuple[int, Any]]:
        """As the recorder did, each close of the server is answered at once."""
        taken: list[tuple[int, Any]] = []
        while self.turns.answers or self.turns.ended:
            answers, ended = dict(self.turns.answers), list(self.turns.ended)
            self.turns.answers.clear()
            self.turns.ended.clear()
            for connection, data in answers.items():
                for _, method in self.reading[connection].receive(data):
                    taken.append((connection, method))
                    if type(method) is m.ChannelClose:
                        self.send(connection, m.ChannelCloseOk(method.channel))
                    elif type(method) is m.ConnectionClose:
                        self.send(connection, m.ConnectionCloseOk())
            taken += [(connection, None) for connection in ended]
        return taken

"""The last events of a run in words, from its journal: what clients sent, what they were answered, which faults struck.

12.004211 s  orders > basic.publish routing_key='orders' body_bytes=12
12.004211 s  fault 1 strikes basic.publish of orders: lose_answer
"""

from __future__ import annotations

from collections import deque
from typing import Any

from broker_core.events import Json, TurningPoint
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.tracing import fields_of, name_of
from broker_core.rabbitmq.values import bare
from broker_core.serve.journal import Came, Full, Left, entries_in
from broker_core.serve.replay import beginning
from broker_core.serve.run import Run
from broker_core.wire.acts import Act, EndFault, SetFault
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.remote import Accepted, Arrived, HungUp
from broker_core.wire.amqp.session import Session

ANSWERS_BYTES_MAX = 4 << 20
"""Of a longer run the story has only what came: to know the answers is to run it again."""
LINE_MAX = 200


def last_events(data: bytes, count: int = 20) -> list[str]:
    """data: a journal's file. Returns at most `count` lines, the last event last. Raises CommandError for bytes that are no
    journal, or one of other rules."""
    return _Story(data, count).lines()


class _Story:
    def __init__(self, data: bytes, count: int) -> None:
        self.data = data
        self.found: deque[str] = deque(maxlen=count)
        self.sessions: dict[int, Session] = {}
        self.receivers: dict[int, Receiver] = {}
        self.names: dict[int, str] = {}
        self.at_us = 0
        self.faults = 0

    def lines(self) -> list[str]:
        entries = entries_in(self.data)
        began = beginning(entries)
        is_short = len(self.data) <= ANSWERS_BYTES_MAX
        run = Run(began.seed, began.began_us, self.hear) if is_short else None
        for entry in entries:
            if not isinstance(entry, Came | Left | Full):
                continue
            if run is not None:
                run.advance(entry.at_us)
            self.at_us = entry.at_us
            match entry:
                case Came(_, socket, act):
                    self.came(socket, act)
                    if run is not None:
                        run.act(socket, act)
                case Left() if run is not None:
                    self.left(run)
                case Full():
                    self.say("the journal is full: nothing later is kept")
        if not is_short:
            self.found.appendleft("(what the server answered is left out: the run is a long one)")
        return list(self.found)

    def say(self, text: str) -> None:
        line = f"{self.at_us / 1_000_000:.6f} s  {text}"
        self.found.append(line if len(line) <= LINE_MAX else line[: LINE_MAX - 1] + "…")

    def name(self, socket: int) -> str:
        return self.names.get(socket, f"socket {socket}")

    def came(self, socket: int, act: Act) -> None:
        match act:
            case Accepted():
                self.say(f"{self.name(socket)} connects")
            case HungUp():
                self.say(f"{self.name(socket)} is gone")
            case Arrived(data):
                for method in self.sessions.setdefault(socket, Session()).receive(data):
                    if isinstance(method, m.ConnectionStartOk):
                        called = bare(method.client_properties.get("connection_name"))
                        self.names[socket] = str(called or self.name(socket))
                    self.say(f"{self.name(socket)} > {_words(method)}")
            case SetFault(fault):
                self.faults += 1
                self.say(f"fault {self.faults} is set: {_pairs(fault.plain())}")
            case EndFault(number):
                self.say(f"fault {number} is released")
            case _:
                self.say(f"order: {name_of(act).rpartition('.')[2]}")

    def left(self, run: Run) -> None:
        for socket, parts, is_over in run.outgoing():
            receiver = self.receivers.setdefault(socket, Receiver(0))
            for _, method in receiver.receive(b"".join(parts)):
                self.say(f"{self.name(socket)} < {_words(method)}")
            if is_over:
                self.say(f"the server closes the socket of {self.name(socket)}")

    def hear(self, told: list[TurningPoint]) -> None:
        """In the middle of an advance: at its own time."""
        for each in told:
            self.at_us = each.at_us
            if each.kind == "serve.fault.struck":
                what, data = each.inputs["do"], each.data
                self.say(f"fault {data['fault']} strikes {data['method']} of {data['connection']}: {what}")
            elif each.kind == "serve.fault.crashes":
                self.say(f"fault {each.data['fault']}: the server crashes")


def _words(method: Any) -> str:
    return f"{name_of(method)} {_pairs(fields_of(method))}".rstrip()


def _pairs(fields: Json) -> str:
    return " ".join(f"{name}={value!r}" for name, value in fields.items() if value not in (0, "", None, {}))

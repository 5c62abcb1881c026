"""The clients of a cluster's life: the node that sends what the life says, and what its producers have open."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.sim.node import Closed


class Ask(msgspec.Struct, frozen=True, tag="life.ask", array_like=True):
    """token: what the answer is known by. to: "" closes the connection to `request`."""

    to: str
    token: int
    request: Any


@dataclass
class ClientState:
    connections: dict[str, int] = field(default_factory=dict)
    waiting: dict[int, deque[int]] = field(default_factory=dict)
    got: list[tuple[int, Any]] = field(default_factory=list)


class Client:
    """Sends what the life says, and knows each answer by its place on the connection. Of a connection that
    broke the answers are None."""

    def __init__(self, state):
        self.state = state

    def receive(self, connection, message, now_us, out):
        state = self.state
        if isinstance(message, Ask):
            if not message.to:
                number = state.connections.pop(message.request, None)
                if number is not None:
                    out.close(number)
                    state.got += [(token, None) for token in state.waiting.pop(number)]
                return
            if message.to not in state.connections:
                number = state.connections[message.to] = out.connect(message.to)
                state.waiting[number] = deque()
            number = state.connections[message.to]
            state.waiting[number].append(message.token)
            out.send(number, message.request)
        elif isinstance(message, Closed):
            state.connections = {
                to: number for to, number in state.connections.items() if number != connection
            }
            state.got += [(token, None) for token in state.waiting.pop(connection)]
        else:
            state.got.append((state.waiting[connection].popleft(), message))

    def wake(self, name, now_us, out):
        """It sets no deadlines."""


@dataclass
class Write:
    """A batch that a producer wants to have written. It is sent again until it is answered."""

    producer: int
    key: tuple[str, int]
    acks: int
    values: tuple[str, ...]
    sequence: int
    is_transactional: bool = False
    token: int = -1
    to: str = ""
    sent_us: int = 0


@dataclass
class Marker:
    """The end of the transaction that a producer has open in a partition, sent again until it is answered."""

    producer: int
    key: tuple[str, int]
    is_commit: bool
    token: int = -1
    to: str = ""
    sent_us: int = 0


@dataclass
class Producer:
    """number < 0: not idempotent. epoch rises when the broker has lost what it knew. is_transactional: each
    batch is a transaction of its own, and the life plays its coordinator; the real one has its own tests."""

    number: int
    acks: int
    epoch: int = 0
    is_transactional: bool = False
    sequences: dict[tuple[str, int], int] = field(default_factory=dict)
    open: dict[tuple[str, int], Write | Marker] = field(default_factory=dict)

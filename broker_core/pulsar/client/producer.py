"""A producer: one connection, every message to the one topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from broker_core.pulsar import commands as c
from broker_core.pulsar.commands import CommandSend
from broker_core.sim.node import Outbox

PRODUCER_ID = 1


class Open(msgspec.Struct, frozen=True, tag="pulsar.producer.open", array_like=True):
    """A person starts the producer."""

    broker: str


@dataclass(slots=True)
class ProducerState:
    connection: int = 0


class Producer:
    def __init__(self, state: ProducerState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case Open(broker):
                self.state.connection = out.connect(broker)
                out.send(self.state.connection, c.CommandProducer(PRODUCER_ID))
            case c.CommandPing():
                out.send(connection, c.CommandPong())

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""

    def send(self, message: int, key: int) -> tuple[int, CommandSend]:
        """The application has a message to send: on which connection, and what. message: its number; key: code of its key, -1 for none."""
        return self.state.connection, CommandSend(PRODUCER_ID, message, key)

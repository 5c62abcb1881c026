"""A publisher: one connection, one channel, every message to one queue through the default exchange."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client import CHANNEL, hello
from broker_core.rabbitmq.methods import BasicPublish
from broker_core.sim.node import Outbox


class Declare(msgspec.Struct, frozen=True, tag="rabbitmq.publisher.declare", array_like=True):
    """A person starts the publisher: connect to `broker` and declare the queue."""

    broker: str


@dataclass(slots=True)
class PublisherState:
    queue: str
    connection: int = 0


class Publisher:
    def __init__(self, state: PublisherState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if type(message) is Declare:
            self.state.connection = out.connect(message.broker)
            for method in (*hello(out.name), m.ChannelOpen(CHANNEL)):
                out.send(self.state.connection, method)
            out.send(self.state.connection, m.QueueDeclare(CHANNEL, self.state.queue))
            out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        out.send(self.state.connection, m.Heartbeat())
        out.deadline(name, now_us + m.HEARTBEAT_SEND_US)

    def publish(self, message: int, key: int) -> tuple[int, BasicPublish]:
        """The application has a message to send: on which connection, and what. message: its number, above
        all earlier ones; key: of no use to the default exchange."""
        state = self.state
        return state.connection, BasicPublish(CHANNEL, "", state.queue, message=message)

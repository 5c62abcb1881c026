"""How many messages a second RabbitMQ's broker takes from publish to ack on one core, with consumers that always have
room: a workload's messages, and messages with content of their own.

Prints a table when run as a script; `make bench` calls `run()`.
"""

import time
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client import hello
from broker_core.rabbitmq.properties import Content
from broker_core.sim.node import Opened
from tests.core.playbook import Played

Figure = tuple[str, float, str, str, str]

MESSAGES = 20_000
REPEATS = 7


class Tags(Played):
    """An outbox that keeps delivery tags alone."""

    def __init__(self) -> None:
        super().__init__("broker")
        self.tags: list[int] = []

    def send(self, connection: int, message: Any) -> None:
        if type(message) is m.BasicDeliver:
            self.tags.append(message.delivery_tag)


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    return [
        ("publish to ack, a workload's messages", _rate(None), "a second", ">= 60,000", "one consumer"),
        (
            "publish to ack, with content of their own",
            _rate(Content(body=b"abc")),
            "a second",
            "-",
            "one consumer",
        ),
    ]


def _rate(content: Content | None) -> float:
    broker, out = Broker(BrokerState()), Tags()
    for connection in (1, 2):
        greeting = (Opened("program"), *hello("program"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
        for method in greeting:
            broker.receive(connection, method, 0, out)
    broker.receive(2, m.BasicConsume(1, "q", "c"), 0, out)
    best = 0.0
    for _ in range(REPEATS):
        began = time.perf_counter()
        for number in range(MESSAGES):
            broker.receive(1, m.BasicPublish(1, "", "q", message=content or number), 0, out)
            broker.receive(2, m.BasicAck(1, out.tags.pop()), 0, out)
        best = max(best, MESSAGES / (time.perf_counter() - began))
    return round(best)


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what:45} {value:>10,.0f} {unit}  {bar:12} {note}")

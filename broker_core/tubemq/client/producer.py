"""A producer: one connection to each broker, each message to the partition that its router names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.sim.node import Outbox
from broker_core.tubemq.partition_key import broker_of
from broker_core.tubemq.requests import SendMessageRequestP2B

NO_KEY = -1


class Connect(msgspec.Struct, frozen=True, tag="tubemq.producer.connect", array_like=True):
    """The producer may publish at these brokers from now on, and at no other. brokers: node name of each broker id."""

    brokers: dict[int, str]


class AddPartitions(msgspec.Struct, frozen=True, tag="tubemq.producer.add_partitions", array_like=True):
    """Its topic has these partitions, too."""

    partitions: list[str]


@dataclass(slots=True)
class ProducerState:
    """connections: broker id -> connection. turn: of the next message without a key. sent: partition -> how
    many messages it was sent."""

    connections: dict[int, int] = field(default_factory=dict)
    turn: int = 0
    sent: dict[str, int] = field(default_factory=dict)


class Producer:
    """partitions: all keys, in the order in which messages without a key go round. router: key code ->
    partition key; the application's own, as TubeMQ leaves it to producers (docs/tubemq/modulo.md)."""

    def __init__(self, state: ProducerState, partitions: Sequence[str], router: Callable[[int], str]) -> None:
        self.state = state
        state.sent = dict.fromkeys(partitions, 0) | state.sent
        self.partitions = partitions
        self.router = router
        self.routes: dict[int, tuple[int, str]] = {}  # key code -> connection, partition

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if type(message) is Connect:
            known = self.state.connections
            self.state.connections = {
                broker_id: known.get(broker_id) or out.connect(name)
                for broker_id, name in message.brokers.items()
            }
            self.routes.clear()
        elif type(message) is AddPartitions:
            for key in message.partitions:
                self.state.sent.setdefault(key, 0)
            self.routes.clear()

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""

    def send(self, message: int, code: int, size: int) -> tuple[int, SendMessageRequestP2B]:
        """The application has a message to send: on which connection, and what. message: its number; code: of
        its key, NO_KEY for none; size: of its data, in bytes."""
        connection, partition = self.route(code)
        self.state.sent[partition] += 1
        return connection, SendMessageRequestP2B(partition, message, size)

    def route(self, code: int) -> tuple[int, str]:
        """The connection and the partition of the next message with this key."""
        if code == NO_KEY:
            return self.in_turn()
        return self.routes.get(code) or self.route_of(code)

    def route_of(self, code: int) -> tuple[int, str]:
        """The route of a key's messages."""
        route = self.routes[code] = self.route_to(self.router(code))
        return route

    def in_turn(self) -> tuple[int, str]:
        """The route of the next message without a key. Moves the turn on."""
        for _ in self.partitions:
            partition = self.partitions[self.state.turn]
            self.state.turn = (self.state.turn + 1) % len(self.partitions)
            if broker_of(partition) in self.state.connections:
                break
        return self.route_to(partition)

    def route_to(self, partition: str) -> tuple[int, str]:
        return self.state.connections[broker_of(partition)], partition

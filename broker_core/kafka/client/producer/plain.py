"""A producer: one connection, each record to the partition that the built-in partitioner names, no batching,
and no answer but a refusal.

Source: Kafka 3.9 clients KafkaProducer, BuiltInPartitioner (`producer/placement.py`). Accumulator, retries
and idempotence belong to the cluster's issue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from broker_core.kafka.producer.placement import Placement
from broker_core.kafka.requests import ProduceRequest
from broker_core.sim.node import Outbox


class Connect(msgspec.Struct, frozen=True, tag="kafka.producer.connect", array_like=True):
    """A person starts the producer."""

    broker: str


@dataclass(slots=True)
class ProducerState:
    placement: Placement
    connection: int = 0


class Producer:
    """partition_of: key code -> partition (`Placement.of_key`); worked out once per key by the owner of the
    keys."""

    def __init__(self, state: ProducerState, partition_of: Mapping[int, int]) -> None:
        self.state = state
        self.partition_of = partition_of

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if type(message) is Connect:
            self.state.connection = out.connect(message.broker)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""

    def send(self, record: int, code: int) -> tuple[int, ProduceRequest]:
        """The application has a record with a key to send: on which connection, and what. record: its number;
        code: of its key."""
        return self.state.connection, ProduceRequest(self.partition_of[code], record)

    def send_keyless(self, record: int, size: int, out: Outbox) -> tuple[int, ProduceRequest]:
        """It has one without a key. size: in bytes."""
        return self.state.connection, ProduceRequest(self.place_keyless(size, out), record)

    def place_keyless(self, size: int, out: Outbox) -> int:
        """The partition of the next record without a key."""
        return self.state.placement.of_keyless(size, out.draw)

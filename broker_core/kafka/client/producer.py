"""A producer: one connection, each record to the partition that the built-in partitioner names, acks=1, no batching.

Source: Kafka 3.9 clients KafkaProducer, BuiltInPartitioner (`producer/partitioner.py`). Accumulator, retries and idempotence belong to the
cluster's issue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.kafka import requests as r
from broker_core.kafka.producer.partitioner import StickyPartitioner
from broker_core.sim.node import Outbox


class Connect(msgspec.Struct, frozen=True, tag="kafka.producer.connect", array_like=True):
    """A person starts the producer."""

    broker: str


@dataclass(slots=True)
class ProducerState:
    """partitions: of the topic. keyless: where records without a key go at the moment."""

    partitions: int
    connection: int = 0
    keyless: StickyPartitioner = field(default_factory=StickyPartitioner)


class Producer:
    """partition_of: key code -> partition, by murmur2 of the key's bytes; computed once per key by the owner of the keys."""

    def __init__(self, state: ProducerState, partition_of: Callable[[int], int]) -> None:
        self.state = state
        self.partition_of = partition_of

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if type(message) is Connect:
            self.state.connection = out.connect(message.broker)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""

    def send(self, record: int, code: int | None, size: int, out: Outbox) -> None:
        """The application has a record to send. record: its number; code: of its key, None for none; size: in bytes."""
        if code is None:
            number = self.state.keyless.place(size, self.state.partitions, lambda: out.draw("kafka.keyless", 1 << 31))
        else:
            number = self.partition_of(code)
        out.send(self.state.connection, r.ProduceRequest(number, record))

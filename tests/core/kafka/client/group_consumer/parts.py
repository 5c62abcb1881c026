"""The parts of a consumer without its program: a core that knows topic t and its coordinator, and what it
sends."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.client.group_consumer.consumer_metadata import Leader
from broker_core.kafka.client.group_consumer.core import ConsumerState as State
from broker_core.kafka.client.group_consumer.core import Core
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.client.group_consumer.subscription import PartitionState
from broker_core.sim.program import Program
from tests.core.playbook import Played

SECOND = 1_000_000
TopicPartition = tuple[str, int]


class Parts:
    """Partition i of topic t is led by broker i % 3 + 1 in leader epoch 0; broker 2 coordinates the group
    g."""

    def __init__(self, partitions: int = 3, **settings: Any) -> None:
        made = {"auto_offset_reset": "earliest"} | settings
        self.state = State(ConsumerSettings("g", "c1", [1], ["t"], **made), Program(100))
        self.core = Core(self.state)
        self.failed: list[tuple[int, list[str]]] = []
        self.ended: list[int] = []
        self.core.failed = lambda broker, whats, now_us, out: self.failed.append((broker, whats))
        self.core.ended = lambda now_us, out: self.ended.append(now_us)
        self.out: Any = Played("c1")
        cluster = self.state.cluster
        cluster.brokers, cluster.is_stale, cluster.asked_us = [1, 2, 3], False, 0
        cluster.leaders["t"] = [Leader(number % 3 + 1, 0) for number in range(partitions)]
        self.state.coordinator.node_id = 2
        self.state.subscribed.topics = ["t"]

    def own(self, *numbers: int) -> None:
        self.state.subscribed.assign([("t", number) for number in numbers])

    def known(self, number: int = 0) -> PartitionState:
        return self.state.subscribed.assigned["t", number]

    def sent(self) -> list[tuple[int, Any]]:
        """What was sent since the last call, as (broker, request); -1: to the coordinator."""
        return [
            (self.state.network.broker_of[connection], message) for connection, message in self.out.take()
        ]

    def requests(self) -> list[Any]:
        return [message for _, message in self.sent()]

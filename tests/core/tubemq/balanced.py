"""Two masters, two brokers, a producer, and consumers whose partitions the active master gives out, in a world."""

from __future__ import annotations

from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.design import Design
from broker_core.sim.program import Pause, Program, Resume
from broker_core.sim.world import World
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client.consumer_object import BaseConsumer
from broker_core.tubemq.client.producer import NO_KEY, Producer, ProducerState
from broker_core.tubemq.client.program_state import Shutdown
from broker_core.tubemq.client.pull_consumer import PullConsumer
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState, StartPull
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState, StepDown, TakeOver
from broker_core.tubemq.message_log import HEADER_BYTES
from tests.core.playbook import Counted

KEYS = [f"{broker}:t:{number}" for broker in (1, 2) for number in range(3)]
BROKERS = {1: "b1", 2: "b2"}
MASTERS = ["m1", "m2"]
SIZE = 100


def design(traffic: Counted) -> Design:
    return Design(
        {
            "master": (MasterState, Master),
            "broker": (BrokerState, Broker),
            "consumer": (PullConsumerState, lambda state: PullConsumer(state, traffic)),
            "producer": (
                ProducerState,
                lambda state: Producer(state, KEYS, lambda code: KEYS[code % len(KEYS)]),
            ),
        },
        r.Request | StartPull | Shutdown | Pause | Resume | TakeOver | StepDown | producers.Connect,
        jitter_us=200,
    )


class Cluster:
    def __init__(self, seed: int = 7) -> None:
        self.traffic = Counted()
        self.world = World("tube", design(self.traffic), seed)
        for name in MASTERS:
            self.world.start(
                name, "master", MasterState(configured(["t#1:1:3:1,2:1:3:1"]), is_standby=name == "m2")
            )
        for number, name in BROKERS.items():
            own = {key: Partition() for key in KEYS if key.startswith(f"{number}:")}
            self.world.start(name, "broker", BrokerState(number, own, 4 * (HEADER_BYTES + SIZE)))
        self.world.start("producer", "producer", ProducerState())
        self.world.order("producer", producers.Connect(BROKERS))
        self.sent = 0

    def join(self, client_id: str, **given: Any) -> None:
        program, client = Program(10 * MILLISECOND_US), BaseConsumer(client_id, "g")
        self.world.start(client_id, "consumer", PullConsumerState(client, program, ["t"], **given))
        self.world.order(client_id, StartPull(MASTERS, BROKERS, 300 * MILLISECOND_US))

    def wait(self, seconds: float) -> None:
        self.world.advance(self.world.now_us + int(seconds * SECOND_US))

    def send(self, count: int) -> None:
        slot: Any = self.world.slots["producer"]
        for number in range(self.sent, self.sent + count):
            slot.send(*slot.node.send(number, NO_KEY, SIZE))
        self.sent += count

    def state(self, name: str) -> Any:
        return self.world.slots[name].node.state

    def held(self, client_id: str) -> list[str]:
        return sorted(self.state(client_id).consumer.held)

    def partitions(self) -> dict[str, Partition]:
        return {key: each for name in BROKERS.values() for key, each in self.state(name).partitions.items()}

    def owners(self) -> dict[str, str]:
        return {key: each.groups["g"].owner for key, each in self.partitions().items() if "g" in each.groups}

    def handled(self) -> list[int]:
        return [message for what, message in self.traffic.log if what == "handled"]

    def told(self, kind: str) -> list[Any]:
        return [event for event in self.world.told if event.kind == f"tubemq.{kind}"]

"""Groups on a cluster: consumers find their coordinator, read what was committed, and go on when the
coordinator's broker is gone."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.consumer import GroupConsumer
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.group_consumer.orders import ConsumerOrder, Start
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import ProducePartition, ProduceRequest
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.lab.checkpoint import decode, encode
from broker_core.sim import keeping
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.world import World
from tests.core.kafka.cluster.clusters import Ask, Client, ClientState
from tests.core.playbook import Counted

SECOND = 1_000_000
PARTITIONS = 6


class Lab:
    """A cluster with an offsets topic of 5 partitions, a topic "t" of 6, a client that produces, and
    consumers."""

    def __init__(self, brokers: int = 3, seed: int = 1) -> None:
        self.traffic = Counted()
        self.plan = ClusterPlan(
            brokers, (), (TopicPlan("t", PARTITIONS, brokers), TopicPlan(OFFSETS_TOPIC, 5, brokers))
        )
        self.kinds: dict[str, Any] = {
            "client": (ClientState, Client),
            "consumer": (ConsumerState, lambda state: GroupConsumer(state, self.traffic)),
        }
        self.messages = Ask | ConsumerOrder | Order
        self.told: list[Any] = []
        self.world: World = cluster_world(
            self.plan, seed, kinds=self.kinds, messages=self.messages, listener=self.told.extend
        )
        self.world.start("client", "client", ClientState())
        self.run(1)
        self.count = 0

    def run(self, seconds: float) -> None:
        self.world.advance(self.world.now_us + int(seconds * SECOND))

    def consumer(self, name: str, **settings: Any) -> Any:
        return self.join(self.world, name, **settings)

    def join(self, world: World, name: str, **settings: Any) -> Any:
        settings = {"topics": ["t"], "auto_offset_reset": "earliest", "max_poll_records": 1} | settings
        state = ConsumerState(ConsumerSettings("g", name, [1, 2, 3], **settings), Program(1_000))
        world.start(name, "consumer", state)
        world.order(name, Start())
        return state

    def leader(self, key: tuple[str, int]) -> int:
        for broker in self.plan.broker_ids:
            slot = self.world.slots[broker_node(broker)]
            if slot.condition == "running" and slot.node.state.registrations[key].leader >= 0:
                return int(slot.node.state.registrations[key].leader)
        raise AssertionError("nobody leads")

    def produce(self, count: int) -> None:
        """One record after the other, to each partition in turn."""
        for _ in range(count):
            number = self.count % PARTITIONS
            record = light_batch([self.count], timestamp=self.world.now_us // 1_000)
            request = ProduceRequest(1, 30_000, [ProducePartition("t", number, record)])
            self.world.order("client", Ask(broker_node(self.leader(("t", number))), request))
            self.count += 1
        self.run(0.5)

    @property
    def handled(self) -> list[int]:
        return [number for what, number in self.traffic.log if what == "handled"]

    @property
    def coordinator(self) -> int:
        return self.leader((OFFSETS_TOPIC, coordinator_partition("g", 5)))

    def kinds_told(self) -> list[str]:
        return [event.kind for event in self.told]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_two_members_share_the_partitions_and_read_everything_once(protocol: str) -> None:
    lab = Lab()
    states = [
        lab.consumer(name, group_protocol=protocol, heartbeat_interval_ms=1_000) for name in ("c1", "c2")
    ]
    lab.run(15)
    lab.produce(60)
    lab.run(2)
    assert sorted(number for state in states for _, number in state.owned) == list(range(PARTITIONS))
    assert {len(state.owned) for state in states} == {3}
    assert sorted(lab.handled) == list(range(60))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_one_that_leaves_hands_over_what_it_committed(protocol: str) -> None:
    lab = Lab()
    states = {
        name: lab.consumer(name, group_protocol=protocol, heartbeat_interval_ms=1_000)
        for name in ("c1", "c2")
    }
    lab.run(15)
    lab.produce(60)
    lab.world.order("c1", Leave())
    lab.run(10)
    assert lab.kinds_told().count("kafka.consumer.closed") == 1
    lab.world.exit("c1")
    lab.produce(60)
    lab.run(3)
    assert [number for _, number in states["c2"].owned] == list(range(PARTITIONS))
    assert sorted(lab.handled) == list(range(120)), "nothing is lost, and nothing read twice"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_group_survives_its_coordinator(protocol: str) -> None:
    lab = Lab()
    states = [
        lab.consumer(name, group_protocol=protocol, heartbeat_interval_ms=1_000) for name in ("c1", "c2")
    ]
    lab.run(15)
    lab.produce(60)
    lab.run(6)  # an auto-commit
    before = lab.coordinator
    lab.world.crash(broker_node(before))
    lab.run(90)
    assert lab.coordinator != before
    assert "kafka.group.coordinator_loaded" in lab.kinds_told()
    lab.produce(60)
    lab.run(10)
    assert sorted(number for state in states for _, number in state.owned) == list(range(PARTITIONS))
    assert set(lab.handled) == set(range(120))


def test_a_crashed_member_is_found_dead_by_the_session_timeout() -> None:
    lab = Lab()
    lab.consumer("c1", session_timeout_ms=6_000)
    other = lab.consumer("c2", session_timeout_ms=6_000)
    lab.run(12)
    lab.world.crash("c1")
    lab.run(5)
    assert len(other.owned) == 3
    lab.run(8)
    assert len(other.owned) == PARTITIONS


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("after_s", [0.05, 3, 3.1, 8])
def test_a_world_with_a_group_goes_on_the_same_after_a_restore(protocol: str, after_s: float) -> None:
    """Through the bytes of a checkpoint, as a lab keeps it."""
    lab = Lab()
    for name in ("c1", "c2"):
        lab.consumer(name, group_protocol=protocol)
    lab.run(after_s)
    lab.produce(12)
    lab.run(0.1)
    kept = decode(encode(keeping.keep(lab.world)))
    restored = keeping.restored("kafka", lab.world.design, 1, kept, lambda told: None)
    middle_us = lab.world.now_us + 10 * SECOND
    for world in (lab.world, restored):
        world.advance(middle_us)
        lab.join(
            world, "c3", group_protocol=protocol
        )  # whom a coordinator that has forgotten the topics would give nothing
        world.advance(middle_us + 10 * SECOND)
        verbs.create_partitions(world, "t", PARTITIONS + 1)
        world.advance(middle_us + 20 * SECOND)
    assert sum(len(world.node(name).state.owned) for name in ("c1", "c2", "c3")) >= PARTITIONS
    assert decode(encode(keeping.keep(restored))) == decode(encode(keeping.keep(lab.world)))

"""What the check of a Kafka lane's orders may know of it: its brokers, topics, links and writers, and its
group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from broker_core.kafka.cluster.control_requests import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    ToolRequest,
)
from broker_core.kafka.cluster.foreseen import refusal_of_move, refusal_of_new_topic
from broker_core.kafka.cluster.state import SHUTTING_DOWN
from broker_core.kafka.error_codes import Refused
from broker_core.lab.kafka.group import brokers_of, consumer_state, group_of
from broker_core.lab.kafka.views.broker_verbs import broker_stage, broker_verbs
from broker_core.lab.kafka.views.cluster import topics_of
from broker_core.lab.kafka.views.links import clients_of, cut_links, nodes_of, writers_of
from broker_core.lab.shared.facts import LaneFacts, facts_of_any
from broker_core.lab.shared.lane import Lane


class BrokerFacts(msgspec.Struct, frozen=True):
    """A broker of the cluster."""

    stage: str  # how far its process has come, or why it does nothing
    verbs: list[str]  # what can be done to it


class OwnedPartition(msgspec.Struct, frozen=True, array_like=True):
    """A partition that a consumer's program has been assigned."""

    topic: str
    partition: int
    is_paused: bool


class KafkaFacts(LaneFacts, frozen=True, kw_only=True, tag="kafka"):
    """A Kafka lane, which is a cluster."""

    nodes: list[str]  # brokers, controller and clients
    brokers: dict[int, BrokerFacts]
    topics: dict[str, int]  # people's topics, each with its number of partitions
    own_topic: str  # where the workload's records go
    cuts: dict[str, list[str]]  # "one>other", sorted -> who of the two is not heard
    writers: dict[str, str]  # by name, with their condition
    group_state: str | None  # "" while it has no coordinator
    owned: dict[str, list[OwnedPartition]] | None  # by consumer

    def settled(self) -> Self:
        """A broker that shuts down is down soon, and no order says when."""
        brokers = {number: known for number, known in self.brokers.items() if known.stage != SHUTTING_DOWN}
        return msgspec.structs.replace(self, brokers=brokers, group_state=None, owned=None)

    def broker(self, number: int) -> BrokerFacts | None:
        """None: not known."""
        return self.brokers.get(number)

    def partitions(self, topic: str) -> int:
        """0 where there is no topic of that name."""
        return self.topics.get(topic, 0)

    def cut(self, one: str, other: str) -> Sequence[str]:
        """Who of two is not heard by the other."""
        return self.cuts.get("{}>{}".format(*sorted((one, other))), ())

    def owned_by(self, name: str) -> Mapping[tuple[str, int], bool] | None:
        """The (topic, partition) of a consumer's program, and whether it has paused it; None: not known."""
        if self.owned is None:
            return None
        return {(each.topic, each.partition): each.is_paused for each in self.owned.get(name, ())}

    def refused(self, request: ToolRequest) -> Refused | None:
        """What the controller would say whoever is alive: a topic that is there stays, and so do the brokers."""
        brokers = [int(name.removeprefix("broker-")) for name in self.nodes if name.startswith("broker-")]
        if isinstance(request, CreateTopicsRequest):
            return refusal_of_new_topic(request, self.topics, len(brokers))
        if isinstance(request, AlterPartitionReassignmentsRequest):
            return refusal_of_move(request, brokers)
        return None


def kafka_facts(lane: Lane) -> KafkaFacts:
    world = lane.world
    group = group_of(world, lane.reads.notes.topic)
    return KafkaFacts(
        **facts_of_any(lane),  # type: ignore[arg-type]
        nodes=[*nodes_of(world), *clients_of(world)],
        brokers={
            number: BrokerFacts(broker_stage(slot), broker_verbs(slot))
            for number, slot in brokers_of(world).items()
        },
        topics=topics_of(world),
        own_topic=lane.reads.notes.topic,
        cuts=cut_links(world),
        writers=writers_of(world),
        group_state="" if group.coordinator is None else group.state,
        owned={name: _owned(lane, consumer.incarnation) for name, consumer in lane.consumers.items()},
    )


def _owned(lane: Lane, node: str) -> list[OwnedPartition]:
    slot = lane.world.slots.get(node)
    if slot is None:
        return []
    assigned = consumer_state(slot).subscribed.assigned
    return [OwnedPartition(topic, number, known.is_paused) for (topic, number), known in assigned.items()]

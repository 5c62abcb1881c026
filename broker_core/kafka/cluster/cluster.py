"""A cluster in a world: a controller, 1 to 9 brokers in racks, and topics.

    world = cluster_world(ClusterPlan(broker_count=3, topics=(TopicPlan("flights", 1, 3),)), seed=7)
    world.advance(5_000_000)          by now all are registered and unfenced, and the topics are there

The kinds of `DESIGN_KINDS` and the messages of `MESSAGES` go into a world of one's own together with client
programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import TurningPoint
from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.cluster import lifecycle, tool
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.control_requests import ControlMessage, CreateTopicsRequest
from broker_core.kafka.cluster.controller_node import ControllerNode, ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, TOOL, broker_node
from broker_core.kafka.cluster.requests import ClientMessage
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.cluster.transaction_requests import TransactionMessage
from broker_core.kafka.controller.controller import Controller
from broker_core.kafka.group.messages import GroupMessage
from broker_core.kafka.log.topic_config import AS_THE_BROKERS, TopicConfig
from broker_core.kafka.replication.sessions import BrokerSessions
from broker_core.kafka.txn.records import PARTITION_COUNT, TRANSACTION_STATE_TOPIC
from broker_core.sim.design import Design
from broker_core.sim.node import Node
from broker_core.sim.world import World

BROKERS_MAX = 9
PARTITIONS_MAX = 1000
FIRST_TOPICS_MS = 200
"""Then all brokers are unfenced, so that every replica is in sync from the beginning."""


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """assignments: replicas of each partition, the preferred leader first; (): placed by the controller.
    config: what the topic sets for its own logs."""

    name: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int = 1
    allows_unclean_election: bool = False
    assignments: tuple[tuple[int, ...], ...] = ()
    config: TopicConfig = AS_THE_BROKERS

    def request(self) -> CreateTopicsRequest:
        """What a tool sends to have it made."""
        return CreateTopicsRequest(
            self.name,
            self.partitions,
            self.replication_factor,
            [list(replicas) for replicas in self.assignments],
            self.min_insync_replicas,
            self.allows_unclean_election,
            self.config,
        )


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Brokers are numbered from 1. racks: of each broker in turn; () for none."""

    broker_count: int = 3
    racks: tuple[str, ...] = ()
    topics: tuple[TopicPlan, ...] = ()
    settings: ClusterSettings = field(default_factory=ClusterSettings)

    def check(self) -> None:
        """Raises CommandError at the field that is wrong."""
        if not 1 <= self.broker_count <= BROKERS_MAX:
            raise CommandError("brokers", "must be 1 to {high}", high=BROKERS_MAX)
        if self.racks and len(self.racks) != self.broker_count:
            raise CommandError(
                "racks", "must name {count} racks, one for each broker", count=self.broker_count
            )
        names = [topic.name for topic in self.topics]
        for topic in self.topics:
            check_topic(topic, self.broker_count)
            if names.count(topic.name) > 1:
                raise CommandError("topic", "{name} is named twice", name=topic.name)

    @property
    def broker_ids(self) -> range:
        return range(1, self.broker_count + 1)


def transaction_topic(partitions: int = PARTITION_COUNT, replication_factor: int = 3) -> TopicPlan:
    """The topic of the transaction coordinators' records, with Kafka's defaults: 50 partitions,
    min.insync.replicas 2."""
    return TopicPlan(TRANSACTION_STATE_TOPIC, partitions, replication_factor, min(2, replication_factor))


def check_topic(topic: TopicPlan, broker_count: int) -> None:
    """Raises CommandError at the field that is wrong."""
    if not topic.name:
        raise CommandError("topic", "must have a name")
    if topic.assignments:
        for replicas in topic.assignments:
            for broker in replicas:
                if not 1 <= broker <= broker_count:
                    raise CommandError("assignments", "there is no broker {broker}", broker=broker)
    else:
        if not 1 <= topic.partitions <= PARTITIONS_MAX:
            raise CommandError("partitions", "must be 1 to {high}", high=PARTITIONS_MAX)
        if not 1 <= topic.replication_factor <= broker_count:
            raise CommandError(
                "replication_factor", "must be 1 to {high}, the number of brokers", high=broker_count
            )
    if topic.min_insync_replicas < 1:
        raise CommandError("min_insync_replicas", "must be 1 or more")


KINDS: Mapping[str, tuple[type, Callable[[Any], Node]]] = MappingProxyType(
    {
        "broker": (BrokerState, Broker),
        "controller": (ControllerState, ControllerNode),
        "tool": (tool.ToolState, tool.Tool),
    }
)
MESSAGES = (
    ClientMessage
    | ControlMessage
    | TransactionMessage
    | GroupMessage
    | lifecycle.Start
    | lifecycle.Stop
    | tool.Order
)


def cluster_world(
    plan: ClusterPlan,
    seed: int,
    *,
    name: str = "kafka",
    delay_us: int = 1_000,
    jitter_us: int = 0,
    kinds: Mapping[str, tuple[type, Callable[[Any], Node]]] | None = None,
    messages: Any = None,
    listener: Callable[[list[TurningPoint]], None] | None = None,
    witness: Callable[[TurningPoint], None] | None = None,
) -> World:
    """A world with a cluster that has just been switched on. kinds, messages: of client programs beside it.
    Raises CommandError."""
    plan.check()
    design = Design(
        {**KINDS, **(kinds or {})}, MESSAGES if messages is None else MESSAGES | messages, delay_us, jitter_us
    )
    world = World(name, design, seed, listener, witness)
    begin(world, plan, seed)
    return world


def begin(world: World, plan: ClusterPlan, seed: int) -> None:
    """Start the plan's processes in a world whose design has their kinds; the tool makes the topics as soon
    as brokers are there."""
    settings = plan.settings
    rules = Controller(JavaRandom.seeded(seed), sessions=BrokerSessions(settings.broker_session_timeout_ms))
    world.start(CONTROLLER, "controller", ControllerState(rules, settings))
    for broker in plan.broker_ids:
        rack = plan.racks[broker - 1] if plan.racks else None
        world.start(broker_node(broker), "broker", BrokerState(broker, settings, rack))
        world.order(broker_node(broker), lifecycle.Start())
    world.start(TOOL, "tool", tool.ToolState())
    for topic in plan.topics:
        world.order(TOOL, tool.Order(topic.request(), FIRST_TOPICS_MS))

"""The picture of a Kafka cluster: its brokers, the links between them, each partition with all its copies,
and what is on the wire.

    {"brokers": {"1": ...}, "controller": ..., "links": {"1-2": ...}, "partitions": {"flights-0": {...,
    "copies": {"1": ...}}}, "wire": {...}}

Everything is keyed by id and every value is a number, a word's code or a short list, so that the patch of a
frame names only what moved. A partition's `state` is what monitoring would say of it by what the controller
holds:

    offline            it has no leader
    below_min_isr      the ISR has fewer than min.insync.replicas members: acks=-1 is refused
    under_replicated   fewer are in the ISR than there are replicas; one that a move adds is not asked for before it is over
    healthy            none of these
"""

from __future__ import annotations

from broker_core.events import Json
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.state import BrokerState, TopicPartition
from broker_core.kafka.replication.registration import NO_LEADER, PartitionRegistration
from broker_core.lab.kafka.views.broker_verbs import broker_stage, broker_verbs
from broker_core.lab.kafka.views.copies import copies_view
from broker_core.lab.kafka.views.links import clients_view, links_view
from broker_core.lab.kafka.views.producer import producers_view
from broker_core.lab.kafka.views.wire import wire_view
from broker_core.sim.slot import RUNNING
from broker_core.sim.world import World

HEALTHY, UNDER_REPLICATED, BELOW_MIN_ISR, OFFLINE = "healthy", "under_replicated", "below_min_isr", "offline"
STATES = (HEALTHY, UNDER_REPLICATED, BELOW_MIN_ISR, OFFLINE)

Brokers = dict[int, BrokerState]


def cluster_view(world: World) -> Json:
    """The whole picture, brokers and partitions in their order. Of a world without a cluster: KeyError."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    brokers = brokers_of(world)
    partitions = {
        partition_name(name, number): partition_view(
            (name, number), registration, topic.min_insync_replicas, brokers, world
        )
        for name, topic in controller.rules.topics.items()
        if is_shown(name)
        for number, registration in enumerate(topic.partitions)
    }
    leads: dict[int, int] = {}
    counts = dict.fromkeys(STATES, 0)
    for partition in partitions.values():
        leads[partition["leader"]] = leads.get(partition["leader"], 0) + 1
        counts[partition["state"]] += 1
    return {
        "brokers": {
            str(broker): broker_view(world, controller, state, leads.get(broker, 0))
            for broker, state in brokers.items()
        },
        "controller": {
            "condition": world.slots[CONTROLLER].condition,
            "metadata_offset": controller.end_offset,
        },
        "clients": clients_view(world),
        "links": links_view(world),
        "partitions": partitions,
        "counts": counts,
        "producers": producers_view(world),
        "wire": wire_view(world),
        "delay_us": world.design.delay_us,
        "settings": {
            "truncation": controller.settings.truncation.value,
            "lag_time_max_ms": controller.settings.replica_lag_time_max_ms,
            "lag_messages_max": controller.settings.lag_messages_max,
        },
    }


def brokers_of(world: World) -> Brokers:
    """Brokers by id, those that crashed too: their disks are there."""
    states = [slot.node.state for slot in world.slots.values() if isinstance(slot.node.state, BrokerState)]
    return {state.broker_id: state for state in sorted(states, key=lambda state: state.broker_id)}


def topics_of(world: World) -> dict[str, int]:
    """People's topics, as the controller has them, each with its number of partitions."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    return {name: len(topic.partitions) for name, topic in controller.rules.topics.items() if is_shown(name)}


def is_shown(topic: str) -> bool:
    """Not Kafka's own topics, __consumer_offsets and __transaction_state: they have fifty partitions each."""
    return not topic.startswith("__")


def has_topic(world: World, name: str) -> bool:
    """Also of Kafka's own."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    return name in controller.rules.topics


def partition_name(topic: str, number: int) -> str:
    """As Kafka names its folder.

    >>> partition_name("flights", 0)
    'flights-0'
    """
    return f"{topic}-{number}"


def broker_view(world: World, controller: ControllerState, state: BrokerState, leads: int) -> Json:
    """One broker: as its process is (`condition`, `stage`), and as the controller has it (`is_fenced`).

    leads: how many partitions, by the controller. skew_ms: how far its clock is ahead.
    """
    slot = world.slots[broker_node(state.broker_id)]
    known = controller.rules.brokers.get(state.broker_id)
    return {
        "rack": state.rack,
        "condition": slot.condition,
        "stage": broker_stage(slot),
        "is_fenced": known is None or known.is_fenced,
        "is_leaving": known is not None and known.is_in_controlled_shutdown,
        "epoch": state.broker_epoch,
        "leads": leads,
        "metadata_behind": max(0, controller.end_offset - state.metadata_offset),
        "skew_ms": state.skew_ms,
        "verbs": broker_verbs(slot),
        "disk": "lost" if slot.disk.is_lost else "slow" if slot.disk.write_us else "ok",
    }


def partition_view(
    key: TopicPartition, registration: PartitionRegistration, min_isr: int, brokers: Brokers, world: World
) -> Json:
    """One partition, as the controller has it, with its copies as they are on the brokers.

    high_watermark, end: of the leader's log, while its process is there; else None. min_isr: never more than
    there are replicas.
    """
    leader = brokers.get(registration.leader)
    is_led = leader is not None and world.slots[broker_node(registration.leader)].condition == RUNNING
    log = leader.disk.logs.get(key) if leader is not None and is_led else None
    needed = min(min_isr, len(registration.replicas))
    return {
        "leader": registration.leader,
        "leader_epoch": registration.leader_epoch,
        "partition_epoch": registration.partition_epoch,
        "replicas": list(registration.replicas),
        "isr": list(registration.isr),
        "adding": list(registration.adding),
        "removing": list(registration.removing),
        "min_isr": needed,
        "state": state_of(registration, needed),
        "high_watermark": None if log is None else log.high_watermark,
        "end": None if log is None else log.log_end_offset,
        "copies": copies_view(key, registration, brokers, None if log is None else log.log_end_offset, world),
    }


def state_of(registration: PartitionRegistration, min_isr: int) -> str:
    """The worst of the four that holds.

    >>> state_of(PartitionRegistration((1, 2, 3), (1, 2), 1), 2)
    'under_replicated'
    """
    if registration.leader == NO_LEADER:
        return OFFLINE
    if len(registration.isr) < min_isr:
        return BELOW_MIN_ISR
    replication_factor = len(registration.replicas) - len(
        registration.adding
    )  # Partition.isUnderReplicated, OngoingReassignmentState
    return UNDER_REPLICATED if len(registration.isr) < replication_factor else HEALTHY

"""Metadata: who leads what, as far as this broker has read the metadata log.

Source: Kafka 3.9 core KafkaApis.handleTopicMetadataRequest, KRaftMetadataCache.
"""

from __future__ import annotations

from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.requests import (
    MetadataBroker,
    MetadataPartition,
    MetadataRequest,
    MetadataResponse,
    MetadataTopic,
)
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.brokers import alive_epoch
from broker_core.kafka.replication.registration import NO_LEADER, PartitionRegistration
from broker_core.sim.node import Outbox


def metadata(host: Host, connection: int, request: MetadataRequest, now_us: int, out: Outbox) -> None:
    """Answer for some topics, or for all."""
    state = host.state
    brokers = [
        MetadataBroker(broker, known.rack)
        for broker, known in sorted(state.brokers.items())
        if not known.is_fenced
    ]
    names = list(state.topics) if request.topics is None else request.topics
    controller = brokers[0].node_id if brokers else -1
    out.send(connection, MetadataResponse(brokers, controller, [_topic(state, name) for name in names]))


# --- inside


def _topic(state: BrokerState, name: str) -> MetadataTopic:
    if name not in state.topics:
        return MetadataTopic(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    parts = [
        _partition(state, number, known)
        for (topic, number), known in sorted(state.registrations.items())
        if topic == name
    ]
    return MetadataTopic(name, 0, parts)


def _partition(state: BrokerState, number: int, known: PartitionRegistration) -> MetadataPartition:
    is_led = known.leader != NO_LEADER and alive_epoch(state.brokers, known.leader) is not None
    offline = [broker for broker in known.replicas if alive_epoch(state.brokers, broker) is None]
    return MetadataPartition(
        number,
        0 if is_led else ErrorCode.LEADER_NOT_AVAILABLE,
        known.leader if is_led else NO_LEADER,
        known.leader_epoch,
        list(known.replicas),
        list(known.isr),
        offline,
    )

"""How a producer learns who leads each partition: it asks any broker, after an error that says that it is
wrong, and now and then anyway.

Source: Kafka 3.9 clients Metadata, MetadataCache, NetworkClient.DefaultMetadataUpdater; KIP-580 (back-off
while answers bring nothing new).
"""

from __future__ import annotations

from broker_core.kafka.client.producer import network
from broker_core.kafka.client.producer.settings import JITTER, backoff_us
from broker_core.kafka.client.producer.state import Flight, ProducerState
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Outbox


def refresh(state: ProducerState, now_us: int, out: Outbox) -> None:
    """Ask, if it is wanted or the metadata is old, and no question is on its way or was just answered."""
    metadata = state.metadata
    is_old = now_us - metadata.refreshed_us >= state.settings.metadata_max_age_us
    if metadata.is_asked or not (metadata.is_wanted or is_old) or now_us < metadata.allowed_us:
        return
    broker = network.least_loaded(state, now_us, out)
    if broker is None or network.usable(state, broker, now_us, out) is None:
        return
    metadata.is_asked = True
    network.send(state, broker, r.MetadataRequest(list(state.topics)), Flight("metadata", now_us), out)


def learned(state: ProducerState, response: r.MetadataResponse, now_us: int, out: Outbox) -> None:
    """An answer came. A leader epoch that is lower than one seen before is of a broker that is behind: what
    was known stays."""
    metadata = state.metadata
    metadata.is_asked = metadata.is_wanted = False
    is_news = False
    if response.brokers:
        metadata.brokers = [broker.node_id for broker in response.brokers]
    for topic in response.topics:
        if topic.error_code != ErrorCode.NONE:
            metadata.is_wanted = True
            continue
        is_news = is_news or metadata.counts.get(topic.name) != len(topic.partitions)
        metadata.counts[topic.name] = len(topic.partitions)
        for partition in topic.partitions:
            if metadata.learn_leader(
                (topic.name, partition.partition_index), partition.leader_id, partition.leader_epoch
            ):
                is_news = True
            if partition.error_code != ErrorCode.NONE:
                metadata.is_wanted = True
    _wait(state, now_us, out, is_news)


def failed(state: ProducerState, now_us: int, out: Outbox) -> None:
    """No answer came."""
    state.metadata.is_asked, state.metadata.is_wanted = False, True
    _wait(state, now_us, out, False)


def _wait(state: ProducerState, now_us: int, out: Outbox, is_news: bool) -> None:
    metadata, settings = state.metadata, state.settings
    metadata.unchanged = 0 if is_news else metadata.unchanged + 1
    wait = backoff_us(
        settings.retry_backoff_us,
        settings.retry_backoff_max_us,
        max(0, metadata.unchanged - 1),
        out.draw(network.BACKOFF_STREAM, JITTER),
    )
    metadata.refreshed_us, metadata.allowed_us = now_us, now_us + wait

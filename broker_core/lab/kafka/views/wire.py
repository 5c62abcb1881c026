"""Each message that is on its way in a Kafka cluster, with the numbers that it carries.

    wire   {"412": {"kind": "fetch", "from": "broker-2", "to": "broker-1", "due_us": .., "delay_us": .., "parts": [["flights", 0, 7, 3]]}}

A message that is held (its link is cut, its receiver is paused) has no `due_us`. Heartbeats and metadata are
on the wire, too, without parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from broker_core.events import Json
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.state import BrokerState
from broker_core.lab.kafka.views.links import client_name
from broker_core.sim.network import DEAF, GONE, Link
from broker_core.sim.world import World

Parts = list[list[Any]]
SHOWN_MAX = 200
"""Messages on the wire in one view: more dots than that are a cloud."""


def wire_view(world: World) -> Json:
    """Messages between brokers, controller and clients that can be shown, by their number in the world, the
    first sent first."""
    due: dict[int, list[tuple[int, int]]] = {}
    for at_us, made, target, _ in world.heap:
        if type(target) is Link:
            due.setdefault(target.number, []).append((made, at_us))
    views: dict[int, Json] = {}
    for link in world.links.values():
        ends = _ends(world, link)
        if ends is None or not link.queue or link.trouble & (DEAF | GONE):
            continue
        tickets = sorted(due.get(link.number, ()))
        held = len(link.queue) - len(tickets)
        for place, (message, _) in enumerate(link.queue):
            told = TOLD.get(type(message))
            if told is None:
                continue
            kind, parts = told[0], told[1](message)
            is_held = place < held
            number = -1_000 * link.number - place if is_held else tickets[place - held][0]
            views[number] = {
                "kind": kind,
                "from": ends[0],
                "to": ends[1],
                "due_us": None if is_held else tickets[place - held][1],
                "delay_us": link.delay_us,
                "parts": parts,
            }
    return {str(number): views[number] for number in sorted(views)[:SHOWN_MAX]}


def _ends(world: World, link: Link) -> tuple[str, str] | None:
    """Sender and receiver, if one of them is of the cluster itself."""
    sender, receiver = world.by_number.get(link.sender), world.by_number.get(link.receiver)
    if sender is None or receiver is None:
        return None
    is_cluster = any(isinstance(end.node.state, (BrokerState, ControllerState)) for end in (sender, receiver))
    return (client_name(sender.name), client_name(receiver.name)) if is_cluster else None


# --- what a message says: (topic, partition, numbers of that kind) of each of its partitions


def _produce(message: r.ProduceRequest) -> Parts:
    """Records, base sequence (-1: without), acks."""
    return [
        [
            part.topic,
            part.index,
            part.records.header.record_count,
            part.records.header.base_sequence,
            message.acks,
        ]
        for part in message.partitions
    ]


def _produced(message: r.ProduceResponse) -> Parts:
    """Base offset, error code."""
    return [[part.topic, part.index, part.base_offset, part.error_code] for part in message.partitions]


def _fetch(message: r.FetchRequest) -> Parts:
    """Fetch offset, last fetched epoch."""
    return [
        [part.topic, part.partition, part.fetch_offset, part.last_fetched_epoch]
        for part in message.partitions
    ]


def _fetched(message: r.FetchResponse) -> Parts:
    """First offset and count of its records, high watermark, error code, diverging epoch and its end (-1, -1:
    none)."""
    return [
        [
            part.topic,
            part.partition,
            part.records[0].header.base_offset if part.records else -1,
            sum(batch.header.record_count for batch in part.records),
            part.high_watermark,
            part.error_code,
            *(part.diverging or (-1, -1)),
        ]
        for part in message.partitions
    ]


def _epochs(message: r.OffsetsForLeaderEpochRequest) -> Parts:
    """The epoch that is asked for."""
    return [[part.topic, part.partition, part.leader_epoch] for part in message.partitions]


def _epoch_ends(message: r.OffsetsForLeaderEpochResponse) -> Parts:
    """An epoch and where it ends."""
    return [[part.topic, part.partition, part.leader_epoch, part.end_offset] for part in message.partitions]


def _alter(message: c.AlterPartitionRequest) -> Parts:
    """The ISR that is asked for."""
    return [[message.topic, message.partition, [broker for broker, _ in message.isr]]]


def _altered(message: c.AlterPartitionResponse) -> Parts:
    """The ISR that holds, error code."""
    return [[message.topic, message.partition, list(message.isr), message.error_code]]


def _nothing(message: Any) -> Parts:
    return []


TOLD: Mapping[type, tuple[str, Callable[[Any], Parts]]] = MappingProxyType(
    {
        r.ProduceRequest: ("produce", _produce),
        r.ProduceResponse: ("produced", _produced),
        r.FetchRequest: ("fetch", _fetch),
        r.FetchResponse: ("fetched", _fetched),
        r.OffsetsForLeaderEpochRequest: ("epochs", _epochs),
        r.OffsetsForLeaderEpochResponse: ("epoch_ends", _epoch_ends),
        c.AlterPartitionRequest: ("alter_partition", _alter),
        c.AlterPartitionResponse: ("altered", _altered),
        c.BrokerHeartbeatRequest: ("heartbeat", _nothing),
        c.BrokerHeartbeatResponse: ("heartbeat_answer", _nothing),
        c.MetadataDelta: ("metadata", _nothing),
        c.BrokerRegistrationRequest: ("registration", _nothing),
        c.BrokerRegistrationResponse: ("registered", _nothing),
    }
)
"""Kinds of messages that are drawn, and what each says."""

"""How large the lanes of a scenario will be, and how large living ones are (`size.py` says what that
costs)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from broker_core.events import Json
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.lab.kafka.settings import plan_of
from broker_core.lab.kafka.views.links import writers_of
from broker_core.lab.limits import Limits
from broker_core.lab.pulsar.lane import PARTITIONS
from broker_core.lab.pulsar.options import TYPE_OF
from broker_core.lab.rabbitmq.options import BEGAN
from broker_core.lab.shared.lane import Lane
from broker_core.lab.size import LaneSize, check_parts, keys_parts
from broker_core.lab.tubemq.reading import TubeMqReading
from broker_core.pulsar.selectors.consistent_hash import POINTS
from broker_core.rabbitmq.broker_base import BrokerState


def size_of(model: str, algorithm: str, options: Json, consumers: int) -> LaneSize:
    """A lane's at its beginning. options: as the scenario's check gave them."""
    match model:
        case "pulsar":
            readers = _readers(options, "subscriptions")
            partitions, points = 1, options.get("points", POINTS)
            if algorithm in TYPE_OF:
                points = 0
                partitions = _subscribed(algorithm, options)
            return LaneSize(
                model, consumers, readers, partitions, points=points, retention=options.get("retention", 0)
            )
        case "tubemq":
            return LaneSize(model, consumers, partitions=options["partitions"], brokers=options["brokers"])
        case "kafka":
            topics = plan_of(options).topics
            readers = _readers(options, "groups")
            return LaneSize(
                model,
                consumers,
                readers,
                sum(topic.partitions for topic in topics if not topic.name.startswith("__")),
                options["brokers"],
                sum(topic.partitions * topic.replication_factor for topic in topics),
            )
    topology = options.get("topology") or {}
    declared = sum(len(topology.get(section, ())) for section in ("exchanges", "queues", "bindings"))
    return LaneSize(model, consumers, declared=declared, publishers=len(topology.get("publishers", ())))


def _subscribed(algorithm: str, options: Json) -> int:
    """Partitions or topics that each consumer subscribes to: under Exclusive and Failover one by one."""
    if algorithm == "shared":
        return 1
    topics: int = options.get("topics", 1)
    if topics > 1 or algorithm == "failover_document":
        return topics
    partitions: int = options.get("partitions", PARTITIONS)
    return max(1, partitions)


def size_of_lane(lane: Lane, algorithm: str | None = None) -> LaneSize:
    """A living lane's, as it is now. algorithm: another one than its own."""
    if lane.model == "rabbitmq":
        return _size_of_server(lane)
    slot = lane.world.slots.get(CONTROLLER)
    if isinstance(lane.reads, TubeMqReading):
        size = size_of(lane.model, algorithm or lane.algorithm, lane.options, len(lane.consumers))
        return replace(size, partitions=len(lane.reads.partition_keys))
    if slot is None:
        return size_of(lane.model, algorithm or lane.algorithm, lane.options, len(lane.consumers))
    state: ControllerState = slot.node.state
    topics = state.rules.topics
    return LaneSize(
        lane.model,
        len(lane.consumers),
        _readers(lane.options, "groups"),
        sum(len(topic.partitions) for name, topic in topics.items() if not name.startswith("__")),
        lane.options["brokers"],
        sum(len(each.replicas) for topic in topics.values() for each in topic.partitions),
        clients=len(writers_of(lane.world)),
    )


def _size_of_server(lane: Lane) -> LaneSize:
    """Its work queue, where it has one, is part of its consumers' size."""
    state: BrokerState = lane.world.slots["broker"].node.state
    topology: Json | None = lane.options.get("topology")
    declared = sum(vhost.declared() for vhost in state.vhosts.values())
    return LaneSize(
        lane.model,
        len(lane.consumers),
        declared=declared if topology or BEGAN.name in lane.options else max(0, declared - 1),
        publishers=len(topology["publishers"]) if topology else 0,
    )


def _readers(options: Json, what: str) -> int:
    """Consumers of other groups or subscriptions."""
    return sum(wanted["consumers"] for wanted in options.get(what, {}).values())


def parts_of_lab(sizes: Collection[LaneSize], keys: int) -> int:
    """What a living lab costs now. keys: of its workload, 0 for an unknown number."""
    return sum(size.parts for size in sizes) + keys_parts(len(sizes), keys)


def check_scenario_size(lanes: Sequence[Any], where: str, consumers: int, keys: int, limits: Limits) -> int:
    """The parts of a lab with these lanes (`LaneSpec`). Raises CommandError at the field that has most to do
    with it, where there are too many."""
    fields = {"workload.keys": keys_parts(len(lanes), keys), "consumers": 0}
    for place, lane in enumerate(lanes):
        for name, parts in size_of(lane.model, lane.algorithm, lane.options, consumers).by_field().items():
            field = "consumers" if name == "consumers" else f"{where}.{place}.{name}"
            fields[field] = fields.get(field, 0) + parts
    total = sum(fields.values())
    check_parts(max(fields, key=lambda field: fields[field]), total, limits)
    return total

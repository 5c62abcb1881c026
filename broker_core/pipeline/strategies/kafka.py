"""A Kafka consumer group: a key's murmur2 chooses the partition, an assignor the member. Kafka's four
assignors and the article's two."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from broker_core.events import Json
from broker_core.kafka.assignors import ASSIGNORS, Subscription
from broker_core.kafka.producer.partitioner import POSITIVE_MASK
from broker_core.lab.kafka.options import CLUSTER_OF_ONE, KAFKA_SETTINGS
from broker_core.pipeline.strategies.base import (
    DEFAULT_TOPIC,
    NOBODY,
    Family,
    RouteTable,
    SlotRule,
    Step,
    Strategy,
    config_file,
)
from broker_core.pipeline.strategies.partitions import PARTITIONS, partition_routes

SESSION_TIMEOUT_MS = next(each.default for each in KAFKA_SETTINGS if each.name == "session_timeout_ms")
"""Of the lane: how long a dead member keeps its partitions."""
_PACKAGE = "org.apache.kafka.clients.consumer"
_CLASSES = MappingProxyType(
    {
        "range": "RangeAssignor",
        "roundrobin": "RoundRobinAssignor",
        "sticky": "StickyAssignor",
        "cooperative-sticky": "CooperativeStickyAssignor",
    }
)


def kafka_routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    return partition_routes(strategy, steps, seed, topic, POSITIVE_MASK)


def _start(strategy: Strategy, members: Sequence[str]) -> RouteTable:
    return assignor_start(strategy.algorithm, strategy, members)


def assignor_start(assignor: str, strategy: Strategy, members: Sequence[str]) -> RouteTable:
    """By the assignor alone: hundreds of counts are tried, and a cluster takes a tenth of a second to form."""
    count, topic = strategy.params["partitions"], DEFAULT_TOPIC
    subscriptions = {name: Subscription((topic,)) for name in members}
    given = ASSIGNORS[assignor].assign(subscriptions, {topic: count})
    return start_table(members, count, {name: [number for _, number in mine] for name, mine in given.items()})


def start_table(members: Sequence[str], count: int, given: Mapping[str, Sequence[int]]) -> RouteTable:
    """The table of a group that has formed at once. count: of partitions; given: of each member."""
    owners = np.full(count, NOBODY, np.int16)
    for name, mine in given.items():
        owners[list(mine)] = members.index(name)
    return RouteTable(
        kind="modulo",
        names=tuple(members),
        live=tuple(members),
        owners=owners,
        bounds=np.array([], np.int64),
        rule=SlotRule(POSITIVE_MASK, count),
        units=tuple(str(partition) for partition in range(count)),
    )


def _config(strategy: Strategy, _: RouteTable) -> list[Json]:
    return [
        config_file(
            "consumer.properties",
            "Kafka 3.9",
            [
                assignor_line(strategy.algorithm),
                f"session.timeout.ms={SESSION_TIMEOUT_MS}",
            ],
        ),
        topic_lines(strategy, "Kafka 3.9"),
    ]


def assignor_line(algorithm: str) -> str:
    """Of a consumer: which assignor its group uses."""
    return f"partition.assignment.strategy={_PACKAGE}.{_CLASSES[algorithm]}"


def topic_lines(strategy: Strategy, versions: str) -> Json:
    """How its topic is made."""
    count = strategy.params["partitions"]
    create = "bin/kafka-topics.sh --bootstrap-server localhost:9092 --create --topic TOPIC"
    return config_file("shell", versions, [f"{create} --partitions {count}"])


def _family(algorithm: str, document: bool) -> Family:
    def lane(given: Mapping[str, int]) -> tuple[str, Json]:
        # Without replicas: they decide nothing of what a study measures, and cost most.
        return algorithm, {**given, **CLUSTER_OF_ONE}

    config = _config if algorithm in _CLASSES else None
    return Family(
        "kafka", algorithm, "murmur2", (PARTITIONS,), lane, kafka_routes, document, not document, config=config,
        drawn="partitions", start=_start,
    )  # fmt: skip


FAMILIES = tuple(_family(name, assignor.document) for name, assignor in ASSIGNORS.items())

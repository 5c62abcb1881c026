"""A Kafka consumer group: a key's murmur2 chooses the partition, an assignor the member. Kafka's four
assignors and the article's two."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from broker_core.events import Json
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.producer.partitioner import POSITIVE_MASK
from broker_core.lab.kafka.options import CLUSTER_OF_ONE
from broker_core.pipeline.strategies.base import Family, RouteTable, Step, Strategy, config_file
from broker_core.pipeline.strategies.partitions import PARTITIONS, partition_routes

_PACKAGE = "org.apache.kafka.clients.consumer"
_CLASSES = MappingProxyType(
    {
        "range": "RangeAssignor",
        "roundrobin": "RoundRobinAssignor",
        "sticky": "StickyAssignor",
        "cooperative-sticky": "CooperativeStickyAssignor",
    }
)


def _routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    return partition_routes(strategy, steps, seed, topic, POSITIVE_MASK)


def _config(strategy: Strategy, _: RouteTable) -> list[Json]:
    return [
        config_file(
            "consumer.properties",
            "Kafka 3.9",
            [f"partition.assignment.strategy={_PACKAGE}.{_CLASSES[strategy.algorithm]}"],
        ),
        config_file(
            "shell",
            "Kafka 3.9",
            [
                (
                    f"bin/kafka-topics.sh --bootstrap-server localhost:9092 --create --topic TOPIC --partitions "
                    f"{strategy.params['partitions']}"
                ),
            ],
        ),
    ]


def _family(algorithm: str, document: bool) -> Family:
    def lane(given: Mapping[str, int]) -> tuple[str, Json]:
        # Without replicas: they decide nothing of what a study measures, and cost most.
        return algorithm, {**given, **CLUSTER_OF_ONE}

    config = _config if algorithm in _CLASSES else None
    return Family(
        "kafka", algorithm, "murmur2", (PARTITIONS,), lane, _routes, document, not document, config=config
    )


FAMILIES = tuple(_family(name, assignor.document) for name, assignor in ASSIGNORS.items())

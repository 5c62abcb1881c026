"""A Kafka consumer group: a key's murmur2 chooses the partition, an assignor the member. Kafka's four assignors and the article's two."""

from collections.abc import Mapping, Sequence

from broker_core.events import Json
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.producer.partitioner import POSITIVE_MASK
from broker_core.pipeline.strategies.base import Family, RouteTable, Step, Strategy
from broker_core.pipeline.strategies.partitions import PARTITIONS, partition_routes


def _routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    return partition_routes(strategy, steps, seed, topic, POSITIVE_MASK)


def _family(algorithm: str, document: bool) -> Family:
    def rig(given: Mapping[str, int]) -> tuple[str, Json]:
        return algorithm, dict(given)

    return Family("kafka", algorithm, "murmur2", (PARTITIONS,), rig, _routes, document, not document)


FAMILIES = tuple(_family(name, assignor.document) for name, assignor in ASSIGNORS.items())

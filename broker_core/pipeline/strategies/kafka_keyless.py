"""Kafka without keys: the producer sticks to a partition for so many bytes, then draws another (KIP-480, KIP-794), so
no key has an owner and order per key is given up. Members share the partitions by Range.

A table says who has which partition. Counted over a workload each partition gets as much as any other: of n batches
over p partitions the usual deviation is the square root of p/n, 3 % for 12 partitions after 400 MB of batches of
32 KB. The timed runs have the producer's own draws, so what waits behind a partition it sticks to is in them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from broker_core.events import Json
from broker_core.kafka.producer.partitioner import StickyPartitioner
from broker_core.lab.kafka.options import CLUSTER_OF_ONE
from broker_core.pipeline.strategies.base import Family, RouteTable, Step, Strategy, config_file
from broker_core.pipeline.strategies.kafka import (
    SESSION_TIMEOUT_MS,
    assignor_line,
    assignor_start,
    kafka_routes,
    topic_lines,
)
from broker_core.pipeline.strategies.partitions import PARTITIONS

ASSIGNOR = "range"


def _lane(given: Mapping[str, int]) -> tuple[str, Json]:
    return ASSIGNOR, {**given, **CLUSTER_OF_ONE}


def _routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    return [replace(table, kind="none") for table in kafka_routes(strategy, steps, seed, topic)]


def _start(strategy: Strategy, members: Sequence[str]) -> RouteTable:
    return assignor_start(ASSIGNOR, strategy, members)


def _config(strategy: Strategy, _: RouteTable) -> list[Json]:
    consumer = [assignor_line(ASSIGNOR), f"session.timeout.ms={SESSION_TIMEOUT_MS}"]
    return [
        config_file(
            "producer (Java)", "Kafka 3.9", ["producer.send(new ProducerRecord<>(TOPIC, value));  // no key"]
        ),
        config_file(
            "producer.properties",
            "Kafka 3.9",
            [f"batch.size={StickyPartitioner().batch_size}", "linger.ms=0"],
        ),
        config_file("consumer.properties", "Kafka 3.9", consumer),
        topic_lines(strategy, "Kafka 3.9"),
    ]


FAMILIES = (
    Family(
        "kafka", "keyless", None, (PARTITIONS,), _lane, _routes, is_default=False, config=_config,
        drawn="partitions", start=_start, sends_keys=False,
    ),
)  # fmt: skip

"""A Kafka group whose coordinator assigns (KIP-848, `group.protocol=consumer`): its uniform and its range
assignor. Members give up and take over one partition after another; nobody waits for all to have joined."""

from collections.abc import Mapping, Sequence

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.settings import CONSUMER
from broker_core.kafka.group.consumer.assignor import GroupSpec, MemberSpec
from broker_core.kafka.group.consumer.target import ASSIGNORS
from broker_core.lab.kafka.options import CLUSTER_OF_ONE
from broker_core.lab.kafka.server_rules import SERVER_RULES
from broker_core.pipeline.strategies.base import DEFAULT_TOPIC, Family, RouteTable, Strategy, config_file
from broker_core.pipeline.strategies.kafka import kafka_routes, start_table, topic_lines
from broker_core.pipeline.strategies.partitions import PARTITIONS


def _start(strategy: Strategy, members: Sequence[str]) -> RouteTable:
    return server_start(SERVER_RULES[strategy.algorithm], strategy, members)


def server_start(assignor: str, strategy: Strategy, members: Sequence[str]) -> RouteTable:
    """By the coordinator's assignor alone, of a group in which nobody has anything yet."""
    count, topic = strategy.params["partitions"], DEFAULT_TOPIC
    spec = GroupSpec({name: MemberSpec(None, (topic,), {}) for name in members}, True, {}, {topic: count})
    given = ASSIGNORS[assignor](spec)
    return start_table(members, count, {name: given.get(name, {}).get(topic, ()) for name in members})


def _config(strategy: Strategy, _: RouteTable) -> list[Json]:
    return [
        config_file(
            "consumer.properties",
            "Kafka 4.x",
            server_lines(strategy.algorithm),
        ),
        topic_lines(strategy, "Kafka 4.x"),
    ]


def server_lines(algorithm: str) -> list[str]:
    """Of a consumer: that its coordinator assigns, and by which of its assignors."""
    return [f"group.protocol={CONSUMER}", f"group.remote.assignor={SERVER_RULES[algorithm]}"]


def _family(algorithm: str) -> Family:
    def lane(given: Mapping[str, int]) -> tuple[str, Json]:
        return algorithm, {**given, **CLUSTER_OF_ONE, "group_protocol": CONSUMER}

    return Family(
        "kafka", algorithm, "murmur2", (PARTITIONS,), lane, kafka_routes, is_default=False, config=_config,
        drawn="partitions", start=_start,
    )  # fmt: skip


FAMILIES = tuple(_family(name) for name in SERVER_RULES)

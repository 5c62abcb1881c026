"""Static membership (KIP-345, `group.instance.id`): each process has a fixed id. One that stops says no goodbye to its
coordinator, so its partitions wait for it: nothing moves if it is back within the session timeout, and until then
nobody reads them. Under another id it is a newcomer, and the old one is given up like a dead member.

The client's own groups with two of its assignors, and a group of the consumer protocol, whose session the broker
sets (`group.consumer.session.timeout.ms`).
"""

from collections.abc import Mapping, Sequence

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.settings import CONSUMER
from broker_core.lab.kafka.options import CLUSTER_OF_ONE, KAFKA_SETTINGS
from broker_core.lab.kafka.server_rules import SERVER_RULES
from broker_core.pipeline.strategies.base import Family, Param, RouteTable, Strategy, config_file, of_each
from broker_core.pipeline.strategies.kafka import (
    assignor_line,
    assignor_start,
    kafka_routes,
    topic_lines,
)
from broker_core.pipeline.strategies.kafka_server import server_lines, server_start
from broker_core.pipeline.strategies.partitions import PARTITIONS

_SESSION = next(each for each in KAFKA_SETTINGS if each.name == "session_timeout_ms")
SESSION = Param("session_s", _SESSION.default // 1_000, _SESSION.low // 1_000, _SESSION.high // 1_000)
"""How long a member may be away, in seconds."""
CLIENT_RULES = ("range", "cooperative-sticky")
BROKER_RULE = "server_uniform"


def _instance_lines(start: RouteTable) -> list[str]:
    return [
        "# one fixed id for each process:",
        *of_each([f"group.instance.id={name}" for name in start.live], "#"),
    ]


def _client_family(algorithm: str) -> Family:
    def lane(given: Mapping[str, int]) -> tuple[str, Json]:
        options = {"partitions": given["partitions"], "session_timeout_ms": given[SESSION.name] * 1_000}
        return algorithm, {**options, **CLUSTER_OF_ONE, "static_members": True}

    def config(strategy: Strategy, start: RouteTable) -> list[Json]:
        lines = [
            assignor_line(algorithm),
            f"session.timeout.ms={strategy.params[SESSION.name] * 1_000}",
            *_instance_lines(start),
        ]
        return [config_file("consumer.properties", "Kafka 3.9", lines), topic_lines(strategy, "Kafka 3.9")]

    def start(strategy: Strategy, members: Sequence[str]) -> RouteTable:
        return assignor_start(algorithm, strategy, members)

    return Family(
        "kafka", f"static_{algorithm}", "murmur2", (PARTITIONS, SESSION), lane, kafka_routes, is_default=False,
        config=config, drawn="partitions", start=start,
    )  # fmt: skip


def _broker_family(algorithm: str) -> Family:
    def lane(given: Mapping[str, int]) -> tuple[str, Json]:
        options = {"partitions": given["partitions"], "session_timeout_ms": given[SESSION.name] * 1_000}
        return algorithm, {**options, **CLUSTER_OF_ONE, "group_protocol": CONSUMER, "static_members": True}

    def config(strategy: Strategy, start: RouteTable) -> list[Json]:
        session = f"group.consumer.session.timeout.ms={strategy.params[SESSION.name] * 1_000}"
        return [
            config_file(
                "consumer.properties", "Kafka 4.x", [*server_lines(algorithm), *_instance_lines(start)]
            ),
            config_file("server.properties", "Kafka 4.x", [session]),
            topic_lines(strategy, "Kafka 4.x"),
        ]

    def start(strategy: Strategy, members: Sequence[str]) -> RouteTable:
        return server_start(SERVER_RULES[algorithm], strategy, members)

    return Family(
        "kafka", f"static_{algorithm}", "murmur2", (PARTITIONS, SERVER_SESSION), lane, kafka_routes,
        is_default=False, config=config, drawn="partitions", start=start,
    )  # fmt: skip


SERVER_SESSION = Param(SESSION.name, 45, 45, 60)
"""Within group.consumer.min.session.timeout.ms and group.consumer.max.session.timeout.ms, as a broker has them."""

FAMILIES = (*(_client_family(name) for name in CLIENT_RULES), _broker_family(BROKER_RULE))

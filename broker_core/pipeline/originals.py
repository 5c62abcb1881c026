"""The lines to paste into the original system so that it does what a strategy of a study does.

Only settings that exist under these names in the versions named; a rule that only a document tells has none. Sources: Pulsar's broker.conf
and KeySharedPolicy, 3.2 and 4.x; Kafka clients 3.9 (ConsumerConfig, partition.assignment.strategy) and kafka-topics.sh; TubeMQ's
ClientBalanceConsumer.start and its master's topic settings, master a6c7a6a670; AMQP 0-9-1 basic.qos and basic.consume.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from broker_core.events import Json
from broker_core.pipeline.strategies import RouteTable, Strategy

_SHOWN_MAX = 8
_KEY_SHARED = "subscriptionKeySharedEnable=true"
_RING = "subscriptionKeySharedUseConsistentHashing"
_POINTS = "subscriptionKeySharedConsistentHashingReplicaPoints"
_KAFKA_PACKAGE = "org.apache.kafka.clients.consumer"
_KAFKA_CLASSES = MappingProxyType({
    "range": "RangeAssignor", "roundrobin": "RoundRobinAssignor", "sticky": "StickyAssignor", "cooperative-sticky": "CooperativeStickyAssignor",
})  # fmt: skip
_RING_VERSIONS = MappingProxyType({
    "consistent_hash": "Pulsar 3.2.1 - 3.2.x", "consistent_hash_3_2_0": "Pulsar 3.2.0", "consistent_hash_current": "Pulsar 4.x",
})  # fmt: skip


def config_lines(strategy: Strategy, start: RouteTable) -> list[Json]:
    """`{"file", "for", "lines"}` for each file of the original; [] where the rule is a document's only.

    file: where the lines belong. for: product and versions that they are true for. start: the strategy's table at the start of the study,
    from which sticky ranges are told.
    """
    write = _WRITERS.get(strategy.model)
    return [] if strategy.document or write is None else write(strategy, start)


def _pulsar(strategy: Strategy, start: RouteTable) -> list[Json]:
    if strategy.algorithm in _RING_VERSIONS:
        lines = [_KEY_SHARED, f"{_RING}=true", f"{_POINTS}={strategy.params['points']}"]
        return [_file("broker.conf", _RING_VERSIONS[strategy.algorithm], lines)]
    if strategy.algorithm == "sticky":
        return [_file("consumer (Java)", "Pulsar 3.2", _sticky_ranges(start))]
    return [_file("broker.conf", "Pulsar 3.2, 4.x", [_KEY_SHARED, f"{_RING}=false"])]


def _sticky_ranges(start: RouteTable) -> list[str]:
    """One subscribe call for each consumer of the start; the ranges hold both ends."""
    ranges: dict[str, list[str]] = {}
    low = start.first_slot
    for bound, owner in zip(start.bounds.tolist(), start.owners.tolist(), strict=True):
        if owner >= 0:
            ranges.setdefault(start.names[owner], []).append(f"Range.of({low}, {bound})")
        low = bound + 1
    lines = ["// subscriptionType(SubscriptionType.Key_Shared), and for each consumer:"]
    lines += [
        f".keySharedPolicy(KeySharedPolicy.stickyHashRange().ranges({', '.join(mine)}))  // {name}"
        for name, mine in list(ranges.items())[:_SHOWN_MAX]
    ]
    return lines


def _kafka(strategy: Strategy, _: RouteTable) -> list[Json]:
    name = _KAFKA_CLASSES[strategy.algorithm]
    return [
        _file("consumer.properties", "Kafka 3.9", [f"partition.assignment.strategy={_KAFKA_PACKAGE}.{name}"]),
        _file("shell", "Kafka 3.9", [
            f"bin/kafka-topics.sh --bootstrap-server localhost:9092 --create --topic TOPIC --partitions {strategy.params['partitions']}",
        ]),
    ]  # fmt: skip


def _tubemq(strategy: Strategy, start: RouteTable) -> list[Json]:
    brokers, count = strategy.params["brokers"], len(start.live)
    each = strategy.params["partitions"] // brokers
    return [
        _file("topic settings of the master", "TubeMQ 1.x", [f"numPartitions={each}  # on each of {brokers} brokers"]),
        _file("consumer (Java)", "TubeMQ 1.x", [
            f"consumer.start(topicAndFilters, {count}, nodeId, result);  // sourceCount {count}, nodeId 0..{count - 1}, one for each process",
        ]),
    ]  # fmt: skip


def _rabbitmq(strategy: Strategy, _: RouteTable) -> list[Json]:
    return [_file("consumer (Java)", "RabbitMQ 3.x, 4.x", [
        f"channel.basicQos({strategy.params['prefetch']});  // 0: no limit", 'channel.basicConsume("QUEUE", false, consumer);',
    ])]  # fmt: skip


def _file(name: str, versions: str, lines: Sequence[str]) -> Json:
    return {"file": name, "for": versions, "lines": list(lines)}


_WRITERS: Mapping[str, Callable[[Strategy, RouteTable], list[Json]]] = MappingProxyType(
    {"pulsar": _pulsar, "kafka": _kafka, "tubemq": _tubemq, "rabbitmq": _rabbitmq}
)

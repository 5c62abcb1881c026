"""TubeMQ's client-side rule, modulo over partition keys; a record finds its partition by the lab's router,
Java hash modulo partitions."""

from collections.abc import Mapping, Sequence

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.hashing.java_hash import MASK
from broker_core.lab.tubemq.options import BROKERS_MAX
from broker_core.pipeline.strategies.base import Family, Param, RouteTable, Step, Strategy, config_file
from broker_core.pipeline.strategies.partitions import PARTITIONS, partition_routes


def _routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    return partition_routes(strategy, steps, seed, topic, MASK)


def _lane(given: Mapping[str, int]) -> tuple[str, Json]:
    return "modulo", dict(given)


def _check(given: Mapping[str, int]) -> None:
    if given["partitions"] % given["brokers"]:
        raise CommandError("partitions", "must be a multiple of the number of brokers")


def _config(strategy: Strategy, start: RouteTable) -> list[Json]:
    brokers, count = strategy.params["brokers"], len(start.live)
    each = strategy.params["partitions"] // brokers
    return [
        config_file(
            "topic settings of the master",
            "TubeMQ 1.x",
            [f"numPartitions={each}  # on each of {brokers} brokers"],
        ),
        config_file(
            "consumer (Java)",
            "TubeMQ 1.x",
            [
                (
                    f"consumer.start(topicAndFilters, {count}, nodeId, result);  // sourceCount {count}, nodeId "
                    f"0..{count - 1}, one for each process"
                ),
            ],
        ),
    ]


FAMILIES = (
    Family(
        "tubemq",
        "modulo",
        "java",
        (PARTITIONS, Param("brokers", 3, 1, BROKERS_MAX)),
        _lane,
        _routes,
        check=_check,
        config=_config,
        drawn="partitions",
    ),
)

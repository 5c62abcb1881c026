"""All that a scenario may set: of the lab, of its workload, and of a lane of each model. `scenario.py` and
`workload/parse.py` check with these, and a form shows them (dashboard/settings_form/)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from broker_core.kafka.cluster import cluster
from broker_core.lab.kafka.options import CLUSTER, KAFKA_SETTINGS, LOG
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pulsar.options import PULSAR_SETTINGS, SUBSCRIBING
from broker_core.lab.rabbitmq.options import QUEUE, RABBITMQ_SETTINGS
from broker_core.lab.setting import TEXT, Setting, number
from broker_core.lab.tubemq.options import TUBEMQ_SETTINGS

PARTITIONS_MAX = cluster.PARTITIONS_MAX
"""Of a topic, in Kafka and TubeMQ."""
NETWORK_DELAY_MAX_US = 1_000_000
SEED_MAX = 2**63 - 1
LAB = "lab"


def consumers(limits: Limits = DEFAULT_LIMITS) -> Setting:
    """How many join each lane at the start."""
    return number("consumers", 0, limits.consumers_max, 3, group=LAB, changed_by="join")


def consumer_rate(limits: Limits = DEFAULT_LIMITS) -> Setting:
    """What each of them takes."""
    return number(
        "consumer_rate", 1, limits.service_per_second_max, 10, "per_second", group=LAB, changed_by="slow"
    )


SEED = number("seed", 0, SEED_MAX, 7, group=LAB)


def network_delay(group: str) -> Setting:
    """One way between two nodes of a lane."""
    return number("network_delay_us", 1, NETWORK_DELAY_MAX_US, 1_000, "us", group=group)


KAFKA_PARTITIONS = number(
    "partitions", 1, PARTITIONS_MAX, 12, group=CLUSTER, changed_by="cluster_add_partitions"
)
TUBEMQ_PARTITIONS = number("partitions", 1, PARTITIONS_MAX, 12, group=CLUSTER, changed_by="tubemq_expand")
LANE_SETTINGS: Mapping[str, tuple[Setting, ...]] = MappingProxyType(
    {
        "pulsar": (*PULSAR_SETTINGS, network_delay(SUBSCRIBING)),
        "kafka": (
            KAFKA_PARTITIONS,
            *KAFKA_SETTINGS,
            Setting("topic", TEXT, group=LOG),
            network_delay(CLUSTER),
        ),
        "tubemq": (
            TUBEMQ_PARTITIONS,
            *TUBEMQ_SETTINGS,
            Setting("topic", TEXT, group=CLUSTER),
            network_delay(CLUSTER),
        ),
        "rabbitmq": (*RABBITMQ_SETTINGS, Setting("topic", TEXT, group=QUEUE), network_delay(QUEUE)),
    }
)
"""Of a lane of this model, beside its id and algorithm."""

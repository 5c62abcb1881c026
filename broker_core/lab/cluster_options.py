"""What a scenario may say of a Kafka lane's cluster. Without `brokers` the lane has one broker and no replicas.

    {"model": "kafka", "brokers": 3, "replication_factor": 3, "min_insync_replicas": 2, "acks": -1, "racks": ["a", "b", "c"]}
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.client.group_consumer.settings import CLASSIC, CONSUMER
from broker_core.kafka.cluster.cluster import BROKERS_MAX, PARTITIONS_MAX
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.lab.commands.fields import LANE_ID, whole

CLUSTER_FIELDS = (
    "brokers", "replication_factor", "min_insync_replicas", "unclean_election", "acks", "idempotence", "truncation", "lag_messages_max",
    "racks", "group_protocol", "offsets_partitions",
)  # fmt: skip
_CHOICES: Mapping[str, tuple[object, ...]] = MappingProxyType({
    "acks": (-1, 0, 1), "truncation": tuple(kind.value for kind in Truncation), "group_protocol": (CLASSIC, CONSUMER),
    "unclean_election": (True, False), "idempotence": (True, False),
})  # fmt: skip


def check_cluster(entry: Json, where: str, partitions: int) -> Json:
    """The options of a lane's cluster; {} for a lane without one. Raises CommandError at the field that is wrong."""
    if "brokers" not in entry:
        for name in CLUSTER_FIELDS:
            if name in entry:
                raise CommandError(f"{where}.{name}", "needs brokers, the number of the cluster's brokers")
        return {}
    brokers = whole(f"{where}.brokers", entry["brokers"], 1, BROKERS_MAX)
    whole(f"{where}.partitions", partitions, 1, PARTITIONS_MAX)
    options: Json = {"brokers": brokers}
    options["replication_factor"] = whole(f"{where}.replication_factor", entry.get("replication_factor", min(3, brokers)), 1, brokers)
    for name, low, high in (("min_insync_replicas", 1, BROKERS_MAX), ("lag_messages_max", 1, 2**31 - 1), ("offsets_partitions", 1, 50)):
        if name in entry:
            options[name] = whole(f"{where}.{name}", entry[name], low, high)
    for name, choices in _CHOICES.items():
        if name in entry:
            if entry[name] not in choices or isinstance(entry[name], bool) != isinstance(choices[0], bool):
                raise CommandError(f"{where}.{name}", "must be one of {choices}", choices=", ".join(str(choice) for choice in choices))
            options[name] = entry[name]
    if options.get("idempotence") and options.get("acks", -1) != -1:
        raise CommandError(f"{where}.acks", "the idempotent producer needs acks=-1")
    if "racks" in entry:
        racks = entry["racks"]
        if not isinstance(racks, list) or len(racks) != brokers or not all(isinstance(rack, str) and LANE_ID.fullmatch(rack) for rack in racks):
            raise CommandError(f"{where}.racks", "must be a list of {count} racks, one for each broker", count=brokers)
        options["racks"] = list(racks)
    return options

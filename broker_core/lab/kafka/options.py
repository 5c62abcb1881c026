"""What a scenario may say of a Kafka lane's cluster. A lane that says nothing runs on three brokers, with
three copies of each partition.

{"model": "kafka", "brokers": 3, "replication_factor": 3, "min_insync_replicas": 2, "acks": -1, "racks": ["a",
"b", "c"]}
{"model": "kafka", "brokers": 1}    a cluster of one: a broker without replicas, and a controller
{"model": "kafka", "cluster": false}    the same, as labs from before the cluster say it (docs/decisions/labs-before-the-cluster.md)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.client.group_consumer.settings import (
    ASYNC,
    AUTO,
    CLASSIC,
    CONSUMER,
    EARLIEST,
    ISOLATION_LEVELS,
    NEVER,
    OFFSET_RESETS,
    SYNC,
)
from broker_core.kafka.client.producer.settings import BATCH_SIZE
from broker_core.kafka.cluster.cluster import BROKERS_MAX
from broker_core.kafka.group.settings import MIGRATION_POLICIES, NEW, OLD
from broker_core.kafka.log.settings import DAY_MS, UNLIMITED
from broker_core.kafka.log.topic_config import COMPACT, DELETE
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.lab.fields import LANE_ID, refuse_unknown, whole
from broker_core.lab.setting import LIST, TABLE, Setting, choice, number
from broker_core.lab.shared.readers import OWN_GROUP

BROKERS = 3
CLUSTER_OF_ONE: Mapping[str, int] = MappingProxyType({"brokers": 1, "replication_factor": 1})
UNIFORM, RANGE = "uniform", "range"
"""The assignors of the server (KIP-848), its default first."""
YEAR_MS = 365 * DAY_MS
CLEANUP_POLICIES = (DELETE, COMPACT, f"{COMPACT},{DELETE}")
MORE_TOPICS_MAX, MORE_PARTITIONS_MAX = 4, 64
GROUPS_MAX = READERS_MAX = 8
CLUSTER, PRODUCER, GROUP, LOG = "cluster", "producer", "group", "log"
"""Where a form has a setting."""
_PER_TOPIC = (
    number("retention_ms", UNLIMITED, YEAR_MS, unit="ms", group=LOG),
    number("retention_bytes", UNLIMITED, 1 << 40, unit="byte", group=LOG),
    number("segment_ms", 1_000, YEAR_MS, unit="ms", group=LOG),
    number("segment_bytes", BATCH_SIZE, 1 << 30, unit="byte", group=LOG),
    number("min_cleanable_dirty_ratio_percent", 0, 100, 50, "percent", group=LOG),
    number("delete_retention_ms", 0, YEAR_MS, unit="ms", group=LOG),
    number("min_compaction_lag_ms", 0, YEAR_MS, 0, "ms", group=LOG),
    number("max_compaction_lag_ms", 1, YEAR_MS, unit="ms", group=LOG),
)
"""Numbers that a topic may set for its own logs (`TopicConfig`). A segment holds at least a full batch of the
lane's producer."""
TOPIC_NUMBERS: Mapping[str, Setting] = MappingProxyType({each.name: each for each in _PER_TOPIC})
TOPIC_SETTINGS = ("cleanup_policy", *TOPIC_NUMBERS)
_OWN_CHECK = (
    number("brokers", 1, BROKERS_MAX, BROKERS, group=CLUSTER),
    number("replication_factor", 1, BROKERS_MAX, group=CLUSTER),
    Setting("racks", LIST, group=CLUSTER),
    Setting("more_topics", TABLE, group=CLUSTER),
    Setting("groups", TABLE, group=GROUP),
)
"""What is checked together with another setting, or is no single value."""
_NUMBERS = (
    *_PER_TOPIC,
    number("retention_check_interval_ms", 5_000, 3_600_000, 15_000, "ms", group=LOG),
    number("min_insync_replicas", 1, BROKERS_MAX, 1, group=CLUSTER),
    number("lag_messages_max", 1, 2**31 - 1, unit="record", group=CLUSTER),
    number("offsets_partitions", 1, 50, 50, group=CLUSTER),
    number("session_timeout_ms", 6_000, 1_800_000, 45_000, "ms", group=GROUP),
    number("heartbeat_interval_ms", 100, 600_000, unit="ms", group=GROUP),
    number("max_poll_interval_ms", 1_000, 3_600_000, 300_000, "ms", group=GROUP),
    number("max_poll_records", 1, 500, 1, "record", group=GROUP),
    number("metadata_max_age_ms", 100, 3_600_000, 300_000, "ms", group=GROUP),
    number("auto_commit_interval_ms", 100, 3_600_000, 5_000, "ms", group=GROUP),
    number("group_max_size", 1, 1_000, group=GROUP),
    number("initial_rebalance_delay_ms", 0, 60_000, 3_000, "ms", group=GROUP),
    number("offsets_retention_minutes", 1, 10_080, 10_080, "minute", group=GROUP),
    number("offsets_retention_check_interval_ms", 1_000, 600_000, 600_000, "ms", group=GROUP),
    number("placement_seed", 0, 2**31 - 1, group=CLUSTER),
)
MORE_TOPICS_MAX, MORE_PARTITIONS_MAX = 4, 64
GROUPS_MAX = READERS_MAX = 8
_CHOICES = (
    choice("acks", (-1, 0, 1), -1, group=PRODUCER, changed_by="cluster_set_acks"),
    choice("truncation", tuple(kind.value for kind in Truncation), Truncation.FETCH.value, group=CLUSTER),
    choice("group_protocol", (CLASSIC, CONSUMER), CLASSIC, group=GROUP, changed_by="group_restart"),
    choice("remote_assignor", (UNIFORM, RANGE), group=GROUP),
    choice("cleanup_policy", CLEANUP_POLICIES, DELETE, group=LOG),
    choice("unclean_election", (True, False), False, group=CLUSTER),
    choice("idempotence", (True, False), group=PRODUCER),
    choice("static_members", (True, False), False, group=GROUP),
    choice("commits", (AUTO, SYNC, ASYNC, NEVER), AUTO, group=GROUP),
    choice("migration_policy", tuple(MIGRATION_POLICIES), next(iter(MIGRATION_POLICIES)), group=GROUP),
    choice("group_coordinator", (NEW, OLD), NEW, group=GROUP),
    choice("isolation_level", tuple(ISOLATION_LEVELS), next(iter(ISOLATION_LEVELS)), group=GROUP),
    choice("auto_offset_reset", OFFSET_RESETS, EARLIEST, group=GROUP),
)
KAFKA_SETTINGS = (*_OWN_CHECK, *_NUMBERS, *_CHOICES)
CLUSTER_FIELDS = ("cluster", *(each.name for each in KAFKA_SETTINGS))


def check_cluster(entry: Json, where: str, topic: str) -> Json:
    """The options of a lane's cluster. Raises CommandError at the field that is wrong."""
    if not isinstance(entry.get("cluster", True), bool):
        raise CommandError(f"{where}.cluster", "must be true or false")
    if not entry.get("cluster", True):
        for name in CLUSTER_FIELDS[1:]:
            if name in entry:
                raise CommandError(f"{where}.{name}", "must be left out where cluster is false")
        return dict(CLUSTER_OF_ONE)
    brokers = whole(f"{where}.brokers", entry.get("brokers", BROKERS), 1, BROKERS_MAX)
    options: Json = {"brokers": brokers}
    options["replication_factor"] = whole(
        f"{where}.replication_factor", entry.get("replication_factor", min(3, brokers)), 1, brokers
    )
    for setting in (*_NUMBERS, *_CHOICES):
        if setting.name in entry:
            options[setting.name] = setting.check(entry[setting.name], f"{where}.{setting.name}")
    check_lags(options, f"{where}.")
    if options.get("idempotence") and options.get("acks", -1) != -1:
        raise CommandError(f"{where}.acks", "the idempotent producer needs acks=-1")
    if "racks" in entry:
        racks = entry["racks"]
        if (
            not isinstance(racks, list)
            or len(racks) != brokers
            or not all(isinstance(rack, str) and LANE_ID.fullmatch(rack) for rack in racks)
        ):
            raise CommandError(
                f"{where}.racks", "must be a list of {count} racks, one for each broker", count=brokers
            )
        options["racks"] = list(racks)
    if options.get("group_coordinator") == OLD and options.get("group_protocol") == CONSUMER:
        raise CommandError(
            f"{where}.group_coordinator",
            "must be new where group_protocol is consumer: the old one knows classic groups alone",
        )
    if "more_topics" in entry:
        options["more_topics"] = _more_topics(entry["more_topics"], f"{where}.more_topics", topic)
    if "groups" in entry:
        options["groups"] = _groups(entry["groups"], f"{where}.groups")
    return options


def check_lags(given: Mapping[str, Any], where: str) -> None:
    """Raises CommandError where a topic's logs could never be compacted in time."""
    low, high = given.get("min_compaction_lag_ms", 0), given.get("max_compaction_lag_ms")
    if high is not None and low > high:
        raise CommandError(
            f"{where}min_compaction_lag_ms",
            "must not be above max.compaction.lag.ms, which is {high}",
            high=high,
        )


def _groups(given: object, where: str) -> dict[str, Json]:
    """Other groups that read the lane's topic, by name, each with its consumers, the records a second that
    one of them takes, and its assignor."""
    if not isinstance(given, dict) or len(given) > GROUPS_MAX:
        raise CommandError(where, "must be an object of at most {high} groups", high=GROUPS_MAX)
    found: dict[str, Json] = {}
    for name, wanted in given.items():
        if not isinstance(name, str) or not LANE_ID.fullmatch(name) or name == OWN_GROUP:
            raise CommandError(
                where, "must be 1 to 32 lower-case letters, digits, _ or -, and not {name}", name=OWN_GROUP
            )
        at = f"{where}.{name}"
        if not isinstance(wanted, dict):
            raise CommandError(at, "must be an object")
        refuse_unknown(wanted, ("consumers", "rate", "assignor"), f"{at}.", at)
        if wanted.get("assignor", "range") not in list(ASSIGNORS):  # may be what no table can look up
            raise CommandError(f"{at}.assignor", "must be one of {choices}", choices=Names(ASSIGNORS))
        found[name] = {
            "consumers": whole(f"{at}.consumers", wanted.get("consumers", 1), 1, READERS_MAX),
            "rate": whole(f"{at}.rate", wanted.get("rate", 100), 1, 100_000),
            "assignor": wanted.get("assignor", "range"),
        }
    return found


def _more_topics(given: object, where: str, own: str) -> list[Json]:
    """Topics that are there from the start beside the lane's own, for members that subscribe to them; no
    records go to them."""
    if not isinstance(given, list) or len(given) > MORE_TOPICS_MAX:
        raise CommandError(
            where,
            "must be a list of up to {high} topics, each with name and partitions",
            high=MORE_TOPICS_MAX,
        )
    topics: list[Json] = []
    for place, topic in enumerate(given):
        at = f"{where}.{place}"
        if not isinstance(topic, dict) or set(topic) != {"name", "partitions"}:
            raise CommandError(at, "must have name and partitions")
        taken = [own, *(other["name"] for other in topics)]
        if (
            not isinstance(topic["name"], str)
            or not LANE_ID.fullmatch(topic["name"])
            or topic["name"] in taken
        ):
            raise CommandError(
                f"{at}.name", "must be 1 to 32 lower-case letters, digits, _ or -, and no other topic's name"
            )
        topics.append(
            {
                "name": topic["name"],
                "partitions": whole(f"{at}.partitions", topic["partitions"], 1, MORE_PARTITIONS_MAX),
            }
        )
    return topics

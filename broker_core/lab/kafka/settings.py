"""What a scenario's options of a Kafka lane on a cluster set: the cluster itself, its producer, its
consumers.

The options and their bounds: `broker_core/lab/kafka/options.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.settings import (
    AUTO,
    EARLIEST,
    ISOLATION_LEVELS,
    READ_UNCOMMITTED,
    ConsumerSettings,
)
from broker_core.kafka.client.producer.settings import BATCH_SIZE, ProducerSettings
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.group.settings import MINUTE_MS, OLD, GroupSettings
from broker_core.kafka.log.topic_config import COMPACT, TopicConfig
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.lab.consumer import Consumer
from broker_core.lab.kafka.group import GROUP_ID
from broker_core.lab.kafka.options import TOPIC_SETTINGS

OF_A_CONSUMER = (
    "session_timeout_ms",
    "heartbeat_interval_ms",
    "max_poll_interval_ms",
    "metadata_max_age_ms",
    "commits",
    "auto_commit_interval_ms",
    "max_poll_records",
    "group_protocol",
    "remote_assignor",
)
"""Options that are settings of every consumer, under the same name."""
SEGMENT_MS, DELETE_RETENTION_MS = 20_000, 60_000
"""Of a lab's topics, where Kafka has 7 days and 1 day: so segments roll and go, and the cleaner runs, while
somebody looks."""
SEGMENTS: Mapping[str, int] = MappingProxyType({"segment_ms": SEGMENT_MS, "segment_bytes": BATCH_SIZE})
"""Of a lab's topic that sets neither; in bytes Kafka has 1 GiB."""
RETENTION_CHECK_INTERVAL_MS = 15_000
"""How often a lab's brokers look for segments to delete, where Kafka has 5 minutes."""
OF_A_RESTART = ("assignors", "group_protocol", "assignor_source")
"""Settings that a consumer may come back with (`Consumer.set_to`), as `topics` and `pattern` of a changed
subscription."""


def consumer_settings(
    options: Json, set_to: Json, consumer: Consumer, brokers: list[int], assignor: str
) -> ConsumerSettings:
    """The settings of a consumer's next life. set_to: what a person changed for the whole lane. assignor: of
    the lane."""
    given: dict[str, Any] = {name: options[name] for name in OF_A_CONSUMER if name in options}
    changed = {**set_to, **consumer.set_to}
    given |= {name: changed[name] for name in (*OF_A_RESTART, "pattern") if name in changed}
    given.setdefault("assignors", [assignor])
    given.setdefault("max_poll_records", 1)
    given.setdefault("commits", AUTO)
    return ConsumerSettings(
        GROUP_ID,
        consumer.name,
        brokers,
        consumer.set_to.get("topics", [options["topic"]]),
        auto_offset_reset=options.get("auto_offset_reset", EARLIEST),
        isolation_level=isolation_level(options),
        group_instance_id=consumer.name if options.get("static_members") else None,
        **given,
    )


def isolation_level(options: Json) -> int:
    """As a request says it."""
    return ISOLATION_LEVELS[options.get("isolation_level", READ_UNCOMMITTED)]


def group_settings(options: Json) -> GroupSettings:
    """Of the coordinators. The session of a group of the consumer protocol is the coordinator's setting, so
    the options set both."""
    found: dict[str, Any] = {}
    if "session_timeout_ms" in options:
        found["consumer_session_timeout_ms"] = options["session_timeout_ms"]
    if "heartbeat_interval_ms" in options:
        found["consumer_heartbeat_interval_ms"] = options["heartbeat_interval_ms"]
    if "initial_rebalance_delay_ms" in options:
        found["initial_rebalance_delay_ms"] = options["initial_rebalance_delay_ms"]
    if "group_max_size" in options:
        found["max_size"] = found["consumer_max_size"] = options["group_max_size"]
    if "migration_policy" in options:
        found["migration_policy"] = options["migration_policy"]
    if options.get("group_coordinator") == OLD:
        found["is_old"] = True
    if "offsets_retention_minutes" in options:
        found["offsets_retention_ms"] = options["offsets_retention_minutes"] * MINUTE_MS
    if "offsets_retention_check_interval_ms" in options:
        found["offsets_retention_check_interval_ms"] = options["offsets_retention_check_interval_ms"]
    return GroupSettings(**found)


def plan_of(options: Json) -> ClusterPlan:
    """The cluster that a lane's options ask for."""
    count = options["brokers"]
    factor = options.get("replication_factor", min(3, count))
    topics = (
        TopicPlan(
            options["topic"],
            options["partitions"],
            factor,
            options.get("min_insync_replicas", 1),
            options.get("unclean_election", False),
            config=topic_config(options),
        ),
        TopicPlan(OFFSETS_TOPIC, options.get("offsets_partitions", 50), min(3, count)),
        *(
            TopicPlan(topic["name"], topic["partitions"], factor, config=topic_config({}))
            for topic in options.get("more_topics", ())
        ),
    )
    truncation = Truncation(options.get("truncation", Truncation.FETCH.value))
    settings = ClusterSettings(
        truncation=truncation,
        lag_messages_max=options.get("lag_messages_max"),
        groups=group_settings(options),
        offsets_segment_ms=SEGMENT_MS,
        offsets_delete_retention_ms=DELETE_RETENTION_MS,
        log_retention_check_interval_ms=options.get(
            "retention_check_interval_ms", RETENTION_CHECK_INTERVAL_MS
        ),
    )
    return ClusterPlan(count, tuple(options.get("racks", ())), topics, settings)


def topic_config(given: Mapping[str, Any]) -> TopicConfig:
    """What a topic sets for its own logs, of a lane's options or a command's."""
    chosen = {name: given[name] for name in TOPIC_SETTINGS if name in given}
    if not chosen.keys() & SEGMENTS.keys():
        chosen = {**SEGMENTS, **chosen}
    if COMPACT in chosen.get("cleanup_policy", ""):
        chosen = {"segment_ms": SEGMENT_MS, "delete_retention_ms": DELETE_RETENTION_MS, **chosen}
    return TopicConfig(**chosen)


def producer_settings(options: Json) -> ProducerSettings:
    """As Kafka sets a producer: idempotent, unless its acks forbid it."""
    acks = options.get("acks", -1)
    given = (
        {"metadata_max_age_us": options["metadata_max_age_ms"] * 1_000}
        if "metadata_max_age_ms" in options
        else {}
    )
    return ProducerSettings(acks=acks, enable_idempotence=options.get("idempotence", acks == -1), **given)

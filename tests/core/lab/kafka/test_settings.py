"""From a lane's options to Kafka's settings: what is not said is Kafka's default, and what a person changed
for one consumer comes first."""

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.group.settings import GroupSettings
from broker_core.lab.kafka.settings import (
    consumer_settings,
    group_settings,
    plan_of,
    producer_settings,
)
from tests.core.lab.small import consumer

BASE = {"topic": "records", "partitions": 6, "brokers": 3}


def settings(
    set_to: dict[str, Any] | None = None, own: dict[str, Any] | None = None, **options: Any
) -> ConsumerSettings:
    one = consumer("c1")
    one.set_to = own or {}
    return consumer_settings({**BASE, **options}, set_to or {}, one, [1, 2], "range")


def test_consumer_of_a_lane_that_says_nothing_takes_a_record_at_a_time_from_the_beginning_under_the_lanes_rule() -> (
    None
):
    plain = settings()
    assert (plain.client_id, plain.topics, plain.bootstrap, plain.assignors) == (
        "c1",
        ["records"],
        [1, 2],
        ["range"],
    )
    assert (plain.max_poll_records, plain.auto_offset_reset, plain.commits, plain.group_instance_id) == (
        1,
        "earliest",
        "auto",
        None,
    )
    assert (plain.session_timeout_ms, plain.heartbeat_interval_ms, plain.max_poll_interval_ms) == (
        45_000,
        3_000,
        300_000,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session_timeout_ms", 7_000),
        ("heartbeat_interval_ms", 500),
        ("max_poll_interval_ms", 9_000),
        ("metadata_max_age_ms", 800),
        ("commits", "sync"),
        ("auto_commit_interval_ms", 900),
        ("max_poll_records", 20),
        ("group_protocol", "consumer"),
        ("remote_assignor", "range"),
    ],
)
def test_option_of_the_lane_is_the_setting_of_that_name(name: str, value: Any) -> None:
    assert getattr(settings(**{name: value}), name) == value


def test_static_member_is_called_by_its_name_in_every_life() -> None:
    assert settings(static_members=True).group_instance_id == "c1"
    assert settings(static_members=False).group_instance_id is None


def test_what_was_changed_for_the_lane_goes_before_its_options_and_for_a_consumer_before_that() -> None:
    changed: dict[str, Any] = {"assignors": ["sticky"], "group_protocol": "consumer"}
    assert settings(changed, group_protocol="classic").group_protocol == "consumer"
    assert settings(changed).assignors == ["sticky"]
    own = settings(changed, {"assignors": ["roundrobin"], "topics": ["other"], "pattern": None})
    assert (own.assignors, own.group_protocol, own.topics, own.pattern) == (
        ["roundrobin"],
        "consumer",
        ["other"],
        None,
    )


def test_topics_are_a_consumers_own_change_and_a_session_is_no_change_of_anybody() -> None:
    assert settings({"topics": ["other"], "session_timeout_ms": 9_000}).topics == ["records"]
    assert settings({"session_timeout_ms": 9_000}).session_timeout_ms == 45_000


def test_coordinator_of_a_lane_that_says_nothing_is_kafkas() -> None:
    assert group_settings(BASE) == GroupSettings()


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("session_timeout_ms", 7_000, {"consumer_session_timeout_ms": 7_000}),
        ("heartbeat_interval_ms", 500, {"consumer_heartbeat_interval_ms": 500}),
        ("initial_rebalance_delay_ms", 0, {"initial_rebalance_delay_ms": 0}),
        ("group_max_size", 4, {"max_size": 4, "consumer_max_size": 4}),
        ("migration_policy", "upgrade", {"migration_policy": "upgrade"}),
        ("group_coordinator", "old", {"is_old": True}),
        ("group_coordinator", "new", {}),
        ("offsets_retention_minutes", 3, {"offsets_retention_ms": 180_000}),
        ("offsets_retention_check_interval_ms", 2_000, {"offsets_retention_check_interval_ms": 2_000}),
    ],
)
def test_each_option_sets_what_it_says_of_the_coordinator_and_nothing_else(
    option: str, value: Any, expected: dict[str, Any]
) -> None:
    assert group_settings({**BASE, option: value}) == GroupSettings(**expected)


@pytest.mark.parametrize(("brokers", "copies"), [(1, 1), (2, 2), (3, 3), (5, 3)])
def test_topics_have_as_many_copies_as_brokers_up_to_three_kafkas_own_too(brokers: int, copies: int) -> None:
    own, offsets = plan_of({**BASE, "brokers": brokers}).topics
    assert (
        own.name,
        own.partitions,
        own.replication_factor,
        own.min_insync_replicas,
        own.allows_unclean_election,
    ) == (
        "records",
        6,
        copies,
        1,
        False,
    )
    assert (offsets.name, offsets.partitions, offsets.replication_factor) == (
        "__consumer_offsets",
        50,
        copies,
    )


def test_cluster_as_a_lanes_options_ask_for_it() -> None:
    plan = plan_of(
        {
            **BASE,
            "replication_factor": 2,
            "min_insync_replicas": 2,
            "unclean_election": True,
            "offsets_partitions": 4,
            "racks": ["a", "b", "a"],
            "more_topics": [{"name": "t", "partitions": 5}],
            "lag_messages_max": 7,
        }
    )
    own, offsets, more = plan.topics
    assert (own.replication_factor, own.min_insync_replicas, own.allows_unclean_election) == (2, 2, True)
    assert (
        offsets.partitions,
        offsets.replication_factor,
        more.name,
        more.partitions,
        more.replication_factor,
    ) == (4, 3, "t", 5, 2)
    assert plan.racks == ("a", "b", "a") and plan.settings.lag_messages_max == 7
    plan.check()


@pytest.mark.parametrize(
    ("options", "acks", "idempotent"),
    [
        ({}, -1, True),
        ({"acks": 1}, 1, False),
        ({"acks": 0}, 0, False),
        ({"acks": -1, "idempotence": False}, -1, False),
    ],
)
def test_producer_is_idempotent_unless_its_acks_forbid_it_or_somebody_said_no(
    options: dict[str, Any], acks: int, idempotent: bool
) -> None:
    made = producer_settings(BASE | options)
    assert (made.acks, made.enable_idempotence) == (acks, idempotent)


def test_producer_asks_for_metadata_as_often_as_the_consumers_and_counts_in_microseconds() -> None:
    assert producer_settings({**BASE, "metadata_max_age_ms": 800}).metadata_max_age_us == 800_000
    assert producer_settings(BASE).metadata_max_age_us == 300_000_000

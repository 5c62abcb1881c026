"""What a scenario may say of a Kafka lane's cluster: bounds, choices, what does not go together, and what a
lane has that says nothing."""

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.kafka.options import CLUSTER_FIELDS, check_cluster

NUMBERS: dict[str, Any] = {
    "min_insync_replicas": (1, 9),
    "lag_messages_max": (1, 2_147_483_647),
    "offsets_partitions": (1, 50),
    "session_timeout_ms": (6_000, 1_800_000),
    "heartbeat_interval_ms": (100, 600_000),
    "max_poll_interval_ms": (1_000, 3_600_000),
    "max_poll_records": (1, 500),
    "metadata_max_age_ms": (100, 3_600_000),
    "auto_commit_interval_ms": (100, 3_600_000),
    "group_max_size": (1, 1_000),
    "initial_rebalance_delay_ms": (0, 60_000),
    "offsets_retention_minutes": (1, 10_080),
    "placement_seed": (0, 2_147_483_647),
}
"""The session's bounds are Kafka's own (group.min.session.timeout.ms, group.max.session.timeout.ms), the
others the lab's."""


def checked(entry: dict[str, Any], topic: str = "records") -> dict[str, Any]:
    return check_cluster(entry, "lanes.1", topic)


def refused(entry: dict[str, Any]) -> tuple[str, str] | None:
    try:
        checked(entry)
    except CommandError as error:
        return error.field.removeprefix("lanes.1."), error.reason
    return None


@pytest.mark.parametrize(("brokers", "factor"), [(None, 3), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_each_partition_has_three_copies_or_as_many_as_there_are_brokers(
    brokers: int | None, factor: int
) -> None:
    options = checked({} if brokers is None else {"brokers": brokers})
    assert options == {"brokers": brokers or 3, "replication_factor": factor}


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({"brokers": 10}, "brokers"),
        ({"brokers": 0}, "brokers"),
        ({"brokers": 2, "replication_factor": 3}, "replication_factor"),
        ({"replication_factor": 0}, "replication_factor"),
    ],
)
def test_copies_are_on_different_brokers(entry: dict[str, Any], field: str) -> None:
    answer = refused(entry)
    assert answer is not None and answer[0] == field


@pytest.mark.parametrize("name", NUMBERS)
def test_number_is_within_its_bounds(name: str) -> None:
    low, high = NUMBERS[name]
    assert [checked({name: value})[name] for value in (low, high)] == [low, high]
    for value in (low - 1, high + 1, float(low), True):
        assert refused({name: value}) == (name, f"must be a whole number from {low} to {high}")


@pytest.mark.parametrize(
    ("name", "choices", "others"),
    [
        ("acks", [-1, 0, 1], [2, "all", True, False, None, 1.0, -1.0]),
        ("group_protocol", ["classic", "consumer"], ["eager", 1, None, []]),
        ("remote_assignor", ["uniform", "range"], ["sticky"]),
        ("group_coordinator", ["new", "old"], [True]),
        ("unclean_election", [True, False], [1, 0, 1.0, "true"]),
        ("idempotence", [True, False], [1, 0]),
        ("static_members", [True, False], [1, 0]),
        ("migration_policy", ["disabled", "upgrade", "downgrade", "bidirectional"], ["on", {}]),
    ],
)
def test_choice_is_one_of_its_own_kind(name: str, choices: list[Any], others: list[Any]) -> None:
    """In Python 1 == 1.0 == True: a setting of one kind is not another's."""
    for choice in choices:
        assert checked({name: choice})[name] is choice
    for other in others:
        assert refused({name: other}) == (name, f"must be one of {', '.join(map(str, choices))}")


@pytest.mark.parametrize("acks", [0, 1])
def test_producer_that_is_idempotent_by_order_needs_all_acks(acks: int) -> None:
    assert refused({"acks": acks, "idempotence": True}) == ("acks", "the idempotent producer needs acks=-1")
    assert (
        refused({"acks": acks, "idempotence": False}) is None
        and refused({"acks": acks}) is None
        and refused({"acks": -1, "idempotence": True}) is None
    )


def test_old_coordinator_knows_classic_groups_alone() -> None:
    assert refused({"group_coordinator": "old", "group_protocol": "classic"}) is None
    answer = refused({"group_coordinator": "old", "group_protocol": "consumer"})
    assert answer is not None and answer[0] == "group_coordinator"


@pytest.mark.parametrize("racks", [["a"], ["a", "b", "c", "d"], "abc", ["a", "b", "C"], ["a", "b", 3], None])
def test_each_broker_has_a_rack_or_none_has(racks: Any) -> None:
    assert refused({"racks": racks}) == ("racks", "must be a list of 3 racks, one for each broker")
    assert checked({"racks": ["a", "b", "a"]})["racks"] == ["a", "b", "a"]


def test_lane_from_before_the_cluster_has_a_cluster_of_one_and_no_settings_of_it() -> None:
    assert checked({"cluster": False}) == checked({"brokers": 1}) == {"brokers": 1, "replication_factor": 1}
    assert refused({"cluster": 0}) == ("cluster", "must be true or false")
    for name in CLUSTER_FIELDS[1:]:
        assert refused({"cluster": False, name: None}) == (name, "must be left out where cluster is false")


@pytest.mark.parametrize(
    ("topics", "field"),
    [
        (3, "more_topics"),
        ([{"name": f"t{number}", "partitions": 1} for number in range(5)], "more_topics"),
        ([{"name": "a"}], "more_topics.0"),
        ([{"name": "a", "partitions": 1, "x": 1}], "more_topics.0"),
        ([{"name": "records", "partitions": 1}], "more_topics.0.name"),
        ([{"name": "a", "partitions": 1}, {"name": "a", "partitions": 1}], "more_topics.1.name"),
        ([{"name": "A", "partitions": 1}], "more_topics.0.name"),
        ([{"name": "a", "partitions": 65}], "more_topics.0.partitions"),
    ],
)
def test_further_topics_have_names_of_their_own(topics: Any, field: str) -> None:
    answer = refused({"more_topics": topics})
    assert answer is not None and answer[0] == field
    assert checked({"more_topics": [{"name": "records", "partitions": 64}]}, topic="own")["more_topics"] == [
        {"name": "records", "partitions": 64}
    ]


@pytest.mark.parametrize(
    ("groups", "field"),
    [
        ([], "groups"),
        ({f"g{number}": {} for number in range(9)}, "groups"),
        ({"lab": {}}, "groups"),
        ({"G": {}}, "groups"),
        ({"a": []}, "groups.a"),
        ({"a": {"type": "x"}}, "groups.a.type"),
        ({"a": {"assignor": "best"}}, "groups.a.assignor"),
        ({"a": {"consumers": 9}}, "groups.a.consumers"),
        ({"a": {"rate": 100_001}}, "groups.a.rate"),
    ],
)
def test_what_is_wrong_with_another_group_is_said_at_its_field(groups: Any, field: str) -> None:
    answer = refused({"groups": groups})
    assert answer is not None and answer[0] == field


def test_another_group_has_one_consumer_with_range_unless_it_says_more() -> None:
    assert checked({"groups": {"audit": {}, "b": {"consumers": 8, "rate": 1, "assignor": "sticky"}}})[
        "groups"
    ] == {
        "audit": {"consumers": 1, "rate": 100, "assignor": "range"},
        "b": {"consumers": 8, "rate": 1, "assignor": "sticky"},
    }

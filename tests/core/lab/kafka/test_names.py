"""Kafka's turning points with the names that people know: what becomes of ids, of times, and which numbers an
even share goes by."""

from types import SimpleNamespace
from typing import Any

import pytest

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.kafka.names import client_of, quota, with_names


def event(kind: str, data: Json, inputs: Json | None = None, rule: str | None = "a.rule") -> TurningPoint:
    return TurningPoint("kafka:1", 5, "kafka", kind, Cause(command=2), rule, inputs or {}, data)


def member(client_id: str, *partitions: int) -> Any:
    return SimpleNamespace(client_id=client_id, assignment=list(partitions))


UUID = "0" * 36
SHARED: Any = SimpleNamespace(
    group=SimpleNamespace(members={"m1": member("c1", 0, 2), "m2": member("c2", 1)})
)


def named_of(told: TurningPoint, partitions: int = 3) -> TurningPoint:
    return with_names(told, SHARED, partitions)


def test_client_becomes_the_consumer_and_the_rest_stays() -> None:
    named = named_of(event("kafka.x", {"client": "c1", "n": 4}))
    assert named.data == {"consumer": "c1", "n": 4}
    assert (named.id, named.at_us, named.rule, named.cause) == ("kafka:1", 5, "a.rule", Cause(command=2))


def test_member_is_named_beside_its_id() -> None:
    assert named_of(event("kafka.x", {"member_id": "m2"})).data == {"member_id": "m2", "consumer": "c2"}


@pytest.mark.parametrize(
    ("member_id", "name"), [(f"c1-{UUID}", "c1"), (f"a-b-{UUID}", "a-b"), ("short", "short"), (UUID, UUID)]
)
def test_member_that_the_coordinator_has_forgotten_is_called_by_what_its_id_begins_with(
    member_id: str, name: str
) -> None:
    """A classic member's id is its client.id, a hyphen and a UUID; a member of the consumer protocol has the
    UUID alone."""
    assert client_of(SHARED, member_id) == name


def test_rebalance_that_waits_for_members_tells_how_often_they_ask() -> None:
    told = event("kafka.group.rebalance_started", {"member_id": f"c1-{UUID}"}, {"rebalance_timeout_ms": 3})
    assert named_of(told).inputs == {"rebalance_timeout_us": 3_000, "heartbeat_interval_us": 3_000_000}
    first = event("kafka.group.rebalance_started", {"member_id": f"c1-{UUID}"})
    assert "heartbeat_interval_us" not in named_of(first).inputs


def test_times_of_a_cluster_are_in_microseconds_as_everywhere_in_a_lab() -> None:
    named = named_of(
        event(
            "kafka.group.rebalance_started", {"member_id": "m1"}, {"rebalance_timeout_ms": 300, "members": 2}
        )
    )
    assert (
        named.inputs == {"rebalance_timeout_us": 300_000, "members": 2, "heartbeat_interval_us": 3_000_000}
        and named.rule == "a.rule"
    )


def test_first_rebalance_of_a_group_tells_its_delay_and_the_rule_that_sets_it() -> None:
    named = named_of(
        event("kafka.group.rebalance_started", {"member_id": "m1"}, {"initial_delay_ms": 3_000, "members": 1})
    )
    assert (named.inputs, named.rule) == ({"delay_us": 3_000_000}, "kafka.group.initial_rebalance_delay")


def test_leader_of_a_generation_is_a_name_too() -> None:
    assert named_of(event("kafka.group.generation_started", {"leader": "m2"})).data["leader"] == "c2"


def test_assignment_is_by_names_with_the_numbers_of_an_even_share() -> None:
    told = named_of(event("kafka.group.assigned", {"generation": 4}, {"x": 1}))
    assert told.data == {"generation": 4, "assignment": {"c1": [0, 2], "c2": [1]}}
    assert told.inputs == {"x": 1, "partitions": 3, "members": 2, "quota": 1, "one_more_for_the_first": 1}


@pytest.mark.parametrize(
    ("partitions", "members", "each", "more"), [(12, 5, 2, 2), (12, 4, 3, 0), (2, 5, 0, 2), (7, 0, 7, 0)]
)
def test_even_share_and_what_is_left_over(partitions: int, members: int, each: int, more: int) -> None:
    assert quota(partitions, dict.fromkeys(map(str, range(members)))) == {
        "partitions": partitions, "members": members, "quota": each, "one_more_for_the_first": more,
    }  # fmt: skip

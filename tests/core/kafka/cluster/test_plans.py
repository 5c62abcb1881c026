"""What a cluster may be made of, and what the controller would refuse: said at its field, or in the
original's words, before anything is done."""

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import (
    BROKERS_MAX,
    PARTITIONS_MAX,
    ClusterPlan,
    TopicPlan,
    cluster_world,
    transaction_topic,
)
from broker_core.kafka.cluster.foreseen import refusal_of, refusal_of_move, refusal_of_new_topic
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.error_codes import ErrorCode
from broker_core.lab.checkpoint import encode
from broker_core.plain import to_plain
from broker_core.sim.world import World

SECOND = 1_000_000


def field_of(plan: ClusterPlan) -> str | None:
    """The field at which a plan is wrong; None: it is not."""
    try:
        plan.check()
    except CommandError as error:
        return error.field
    return None


def with_topic(*more: TopicPlan, brokers: int = 3, **topic: Any) -> ClusterPlan:
    return ClusterPlan(
        brokers, (), (TopicPlan(**{"name": "t", "partitions": 1, "replication_factor": 1, **topic}), *more)
    )


# --- a plan


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        (ClusterPlan(1), None),
        (ClusterPlan(BROKERS_MAX), None),
        (ClusterPlan(0), "brokers"),
        (ClusterPlan(BROKERS_MAX + 1), "brokers"),
        (ClusterPlan(2, ("a", "b")), None),
        (ClusterPlan(2, ("a",)), "racks"),
        (ClusterPlan(2, ("a", "b", "c")), "racks"),
        (with_topic(name=""), "topic"),
        (with_topic(TopicPlan("u", 1, 1)), None),
        (with_topic(TopicPlan("t", 2, 1)), "topic"),
        (with_topic(partitions=PARTITIONS_MAX), None),
        (with_topic(partitions=0), "partitions"),
        (with_topic(partitions=PARTITIONS_MAX + 1), "partitions"),
        (with_topic(replication_factor=3), None),
        (with_topic(replication_factor=0), "replication_factor"),
        (with_topic(replication_factor=4), "replication_factor"),
        (with_topic(replication_factor=2, brokers=1), "replication_factor"),
        (with_topic(min_insync_replicas=1), None),
        (with_topic(min_insync_replicas=0), "min_insync_replicas"),
        (with_topic(min_insync_replicas=7), None),
        (with_topic(assignments=((3, 1),)), None),
        (with_topic(assignments=((0,),)), "assignments"),
        (with_topic(assignments=((1, 4),)), "assignments"),
        (with_topic(assignments=((1,),), partitions=0, replication_factor=9), None),
    ],
)
def test_where_a_plan_is_wrong(plan: ClusterPlan, field: str | None) -> None:
    """A minimum above the replicas is allowed, as the original allows it: it counts as all of them. With
    assignments the numbers are theirs."""
    assert field_of(plan) == field


@pytest.mark.parametrize(("factor", "minimum"), [(1, 1), (2, 2), (3, 2)])
def test_the_transaction_topic_asks_for_two_in_sync_where_there_are_two(factor: int, minimum: int) -> None:
    assert transaction_topic(5, factor).min_insync_replicas == minimum


@pytest.fixture
def world() -> World:
    """Three brokers, of which broker 3 has just been killed and is fenced; t has two partitions."""
    made = cluster_world(ClusterPlan(3, (), (TopicPlan("t", 2, 2, assignments=((1, 2), (2, 1))),)), 1)
    made.advance(2 * SECOND)
    verbs.crash(made, 3)
    made.advance(14 * SECOND)
    return made


def test_a_wrong_plan_makes_no_world() -> None:
    with pytest.raises(CommandError):
        cluster_world(ClusterPlan(2, ("a",)), 1)


# --- foreseen


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (c.CreateTopicsRequest("u", 1, 2), None),
        (c.CreateTopicsRequest("t", 1, 2), ErrorCode.TOPIC_ALREADY_EXISTS),
        (c.CreateTopicsRequest("u", 1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (c.CreateTopicsRequest("u", 0, 1), ErrorCode.INVALID_PARTITIONS),
        (c.CreatePartitionsRequest("t", 3), None),
        (c.CreatePartitionsRequest("t", 2), ErrorCode.INVALID_PARTITIONS),
        (c.CreatePartitionsRequest("t", 3, [[3, 3]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (c.CreatePartitionsRequest("x", 3), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (c.AlterPartitionReassignmentsRequest("t", 0, [2, 3]), None),
        (c.AlterPartitionReassignmentsRequest("t", 0, [2, 4]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (c.AlterPartitionReassignmentsRequest("t", 0, None), ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
        (c.ElectLeadersRequest(0, [("t", 0)]), ErrorCode.ELECTION_NOT_NEEDED),
        (c.ElectLeadersRequest(1, [("t", 0)]), ErrorCode.ELECTION_NOT_NEEDED),
        (c.ElectLeadersRequest(0), None),
    ],
)
def test_what_the_controller_would_refuse_is_known_before_and_nothing_changes_by_asking(
    world: World, request_: c.ToolRequest, error: ErrorCode | None
) -> None:
    rules = world.slots[CONTROLLER].node.state.rules
    before = encode(to_plain(rules))
    foreseen = refusal_of(world, request_)
    assert (None if foreseen is None else foreseen.code) == error
    assert encode(to_plain(rules)) == before


def test_of_several_elections_the_first_that_cannot_be_decides_and_a_possible_one_before_it_was_tried(
    world: World,
) -> None:
    verbs.crash(world, 1)
    world.advance(world.now_us + 14 * SECOND)
    foreseen = refusal_of(world, c.ElectLeadersRequest(0, [("t", 0)]))
    assert foreseen is not None and foreseen.code is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    foreseen = refusal_of(world, c.ElectLeadersRequest(0, [("t", 1), ("t", 0)]))
    assert foreseen is not None and foreseen.code is ErrorCode.ELECTION_NOT_NEEDED, (
        "t-1 is led by 2, its first"
    )


@pytest.mark.parametrize(
    ("name", "factor", "error"),
    [
        ("t", 9, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("u", 4, ErrorCode.INVALID_REPLICATION_FACTOR),
        ("u", 3, None),
    ],
)
def test_the_part_of_a_new_topic_that_does_not_depend_on_who_is_alive(
    name: str, factor: int, error: ErrorCode | None
) -> None:
    foreseen = refusal_of_new_topic(c.CreateTopicsRequest(name, 1, factor), ["t"], 3)
    assert (None if foreseen is None else foreseen.code) == error


@pytest.mark.parametrize(
    ("replicas", "is_refused"), [(None, False), ([1, 2], False), ([], True), ([1, 1], True), ([1, 5], True)]
)
def test_the_part_of_a_move_that_does_not_depend_on_who_is_alive(
    replicas: list[int] | None, is_refused: bool
) -> None:
    foreseen = refusal_of_move(c.AlterPartitionReassignmentsRequest("t", 0, replicas), [1, 2, 3])
    assert (foreseen is not None) is is_refused
    assert foreseen is None or foreseen.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT

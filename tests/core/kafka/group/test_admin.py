"""Describing and listing groups, what a request's version changes, and the broker's settings by their names
in the configuration."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group import versions
from broker_core.kafka.group.codes import (
    GROUP_ID_NOT_FOUND,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    NONE,
    UNKNOWN_MEMBER_ID,
)
from broker_core.kafka.group.settings import GroupSettings
from tests.core.kafka.group.classic.parked import leave, park, static_group
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848, join, stable_group

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
COMMITS = [
    m.CommittedTopic("t", [m.CommittedPartition(0, 1), m.CommittedPartition(2, 1)]),
    m.CommittedTopic("u", [m.CommittedPartition(1, 1)]),
]


def commit(group: str) -> m.OffsetCommitRequest:
    return m.OffsetCommitRequest(group, -1, "", [m.CommittedTopic("t", [m.CommittedPartition(0, 1)])])


@BOTH
def test_listed_group_has_its_type_of_protocol_and_state(is_old: bool) -> None:
    desk, _ = stable_group("a", is_old=is_old)
    desk.send(commit("offsets"))
    desk.send(m.JoinGroupRequest("workers", 10_000, "", "connect", [m.Protocol("x", b"")], 30_000), 3)
    listed = desk.send(m.ListGroupsRequest(), 5).groups
    assert {(one.group_id, one.protocol_type, one.group_state, one.group_type) for one in listed} == {
        ("g", "consumer", "Stable", "classic"),
        ("offsets", "", "Empty", "classic"),
        ("workers", "connect", "PreparingRebalance", "classic"),
    }


@pytest.mark.parametrize(
    ("states", "kinds", "listed"),
    [
        ([], [], ["e", "g"]),
        (["stable"], [], ["g"]),
        ([" Empty "], [], ["e"]),
        (["empty", "STABLE"], [], ["e", "g"]),
        (["Assigning"], [], []),
        ([], ["Consumer"], ["g"]),
        (["Empty"], ["consumer"], []),
        (["Stable"], ["consumer", "classic"], ["g"]),
        ([], ["share"], []),
    ],
)
def test_filters_of_state_and_type_both_must_pass(
    states: list[str], kinds: list[str], listed: list[str]
) -> None:
    desk = Desk()
    desk.send(heartbeat848())
    desk.send(commit("e"))
    assert sorted(one.group_id for one in desk.send(m.ListGroupsRequest(states, kinds), 5).groups) == listed


@BOTH
def test_described_member_has_its_instance_client_and_subscription_while_the_group_is_stable(
    is_old: bool,
) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    (described,) = desk.send(m.DescribeGroupsRequest(["g"]), 5).groups
    assert {
        (member.member_id, member.group_instance_id, member.client_id) for member in described.members
    } == {
        (one, "i", "i"),
        (two, "j", "j"),
    }
    assert all(member.member_metadata == join().protocols[0].metadata for member in described.members)
    park(desk, join(one, instance="i"))
    (described,) = desk.send(m.DescribeGroupsRequest(["g"]), 5).groups
    assert {member.member_metadata for member in described.members} == {b""} and described.protocol_data == ""


@BOTH
def test_empty_group_is_described_without_members_and_each_id_for_itself(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old)
    desk.send(leave(only))
    answer = desk.send(m.DescribeGroupsRequest(["nobody", "g"]), 5)
    assert [
        (one.group_id, one.group_state, one.protocol_type, one.members, one.error_code)
        for one in answer.groups
    ] == [
        ("nobody", "Dead", "", [], NONE),
        ("g", "Empty", "consumer", [], NONE),
    ]


def test_described_consumer_group_shows_what_a_member_has_and_what_it_will_have() -> None:
    desk = Desk(partitions=4)
    one = desk.send(heartbeat848(rack_id="east")).member_id
    two = desk.send(heartbeat848()).member_id
    told = desk.send(m.ConsumerGroupDescribeRequest(["g", "nobody"]), 0).groups
    assert told[1] == m.ConsumerGroupDescribed("nobody", GROUP_ID_NOT_FOUND)
    by_id = {member.member_id: member for member in told[0].members}
    has = {
        member_id: [topic.partitions for topic in member.assignment.topic_partitions]
        for member_id, member in by_id.items()
    }
    will = {
        member_id: [topic.partitions for topic in member.target_assignment.topic_partitions]
        for member_id, member in by_id.items()
    }
    assert has == {one: [[0, 1, 2, 3]], two: []} and sorted(
        numbers for mine in will.values() for numbers in mine[0]
    ) == [0, 1, 2, 3]
    assert (by_id[one].rack_id, by_id[one].member_epoch, by_id[two].member_epoch, told[0].assignor_name) == (
        "east",
        1,
        2,
        "uniform",
    )
    assert {topic.topic_name for topic in by_id[one].assignment.topic_partitions} == {"t"} and TOPIC_ID != "t"


def failed_by(request: Any, code: int, is_old: bool = False) -> Any:
    return versions.error_response(request, code, is_old)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (m.JoinGroupRequest("g", 1, "m", "consumer", []), m.JoinGroupResponse("", 15)),
        (m.SyncGroupRequest("g", 1, "m"), m.SyncGroupResponse(15)),
        (m.HeartbeatRequest("g", 1, "m"), m.HeartbeatResponse(15)),
        (m.LeaveGroupRequest("g", members=[m.MemberIdentity("m")]), m.LeaveGroupResponse(15)),
        (
            m.DeleteGroupsRequest(["g", "h"]),
            m.DeleteGroupsResponse([m.DeletableGroupResult("g", 15), m.DeletableGroupResult("h", 15)]),
        ),
        (m.OffsetDeleteRequest("g", []), m.OffsetDeleteResponse(15)),
        (m.OffsetFetchRequest([]), m.FailedCall(19)),
        (m.WriteTxnMarkers(1, 0, True), m.WriteTxnMarkersResponse(15)),
        (m.PartitionsDeleted([("t", 0)]), m.PartitionsDeletedResponse()),
        (m.ConsumerGroupHeartbeatRequest("g", "m", 1), m.ConsumerGroupHeartbeatResponse(15)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_request_that_failed_as_a_whole_is_answered_in_its_own_shape(request_: Any, answer: Any) -> None:
    """19 is the log's NOT_ENOUGH_REPLICAS, 15 the coordinator's word for it; of a fetch the broker finds the
    place for the code."""
    assert failed_by(request_, 19) == answer


@pytest.mark.parametrize("kind", [m.OffsetCommitRequest, m.TxnOffsetCommitRequest])
def test_failed_commit_tells_every_partition(kind: Any) -> None:
    request = kind("g", 1, "m", COMMITS) if kind is m.OffsetCommitRequest else kind("tx", "g", 1, 0, COMMITS)
    answer = failed_by(request, 7)
    assert [
        (topic.name, [(part.partition_index, part.error_code) for part in topic.partitions])
        for topic in answer.topics
    ] == [
        ("t", [(0, 15), (2, 15)]),
        ("u", [(1, 15)]),
    ]
    assert {part.error_code for topic in failed_by(request, 7, True).topics for part in topic.partitions} == {
        7
    }


def test_list_of_groups_that_fails_names_none_and_carries_the_clients_code() -> None:
    assert failed_by(m.ListGroupsRequest(), 19) == m.ListGroupsResponse(15, [])


@pytest.mark.parametrize(
    ("code", "carried"), [(INVALID_GROUP_ID, "m"), (INVALID_SESSION_TIMEOUT, "m"), (UNKNOWN_MEMBER_ID, "")]
)
def test_join_that_is_refused_before_its_group_is_looked_at_carries_the_id_back(
    code: int, carried: str
) -> None:
    assert failed_by(m.JoinGroupRequest("g", 1, "m", "consumer", []), code).member_id == carried


@pytest.mark.parametrize(
    ("configuration", "field", "value"),
    [
        ({"group.initial.rebalance.delay.ms": "7"}, "initial_rebalance_delay_ms", 7),
        ({"group.min.session.timeout.ms": "7"}, "min_session_timeout_ms", 7),
        ({"group.max.session.timeout.ms": "7"}, "max_session_timeout_ms", 7),
        ({"group.max.size": "7"}, "max_size", 7),
        ({"offset.metadata.max.bytes": "7"}, "offset_metadata_max_bytes", 7),
        ({"offsets.retention.minutes": "7"}, "offsets_retention_ms", 420_000),
        ({"offsets.retention.check.interval.ms": "7"}, "offsets_retention_check_interval_ms", 7),
        ({"offsets.commit.timeout.ms": "7"}, "offsets_commit_timeout_ms", 7),
        ({"group.consumer.max.size": "7"}, "consumer_max_size", 7),
        ({"group.consumer.session.timeout.ms": "7"}, "consumer_session_timeout_ms", 7),
        ({"group.consumer.heartbeat.interval.ms": "7"}, "consumer_heartbeat_interval_ms", 7),
        (
            {"group.consumer.assignors": "org.apache.kafka.coordinator.RangeAssignor, uniform"},
            "consumer_assignors",
            ("range", "uniform"),
        ),
        ({"group.consumer.migration.policy": "BIDIRECTIONAL"}, "migration_policy", "bidirectional"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_setting_is_read_by_its_name_in_the_brokers_configuration(
    configuration: dict[str, str], field: str, value: Any
) -> None:
    changed = GroupSettings.from_configuration(configuration | {"log.retention.ms": "9"})
    assert getattr(changed, field) == value
    default = GroupSettings()
    names = set(GroupSettings.__dataclass_fields__) - {field}
    assert {name: getattr(changed, name) for name in names} == {
        name: getattr(default, name) for name in names
    }


@pytest.mark.parametrize(
    ("policy", "up", "down"),
    [
        ("disabled", False, False),
        ("upgrade", True, False),
        ("downgrade", False, True),
        ("bidirectional", True, True),
    ],
)
def test_policy_says_which_way_a_group_may_change_its_protocol(policy: str, up: bool, down: bool) -> None:
    settings = GroupSettings(migration_policy=policy)
    assert (settings.can_upgrade, settings.can_downgrade) == (up, down)

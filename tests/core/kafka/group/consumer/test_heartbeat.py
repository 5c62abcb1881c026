"""ConsumerGroupHeartbeat: what is refused first, what an answer says, and what the coordinator writes for
it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    FENCED_MEMBER_EPOCH,
    GROUP_ID_NOT_FOUND,
    GROUP_MAX_SIZE_REACHED,
    INVALID_REQUEST,
    NONE,
    NOT_ENOUGH_REPLICAS,
    UNKNOWN_MEMBER_ID,
    UNRELEASED_INSTANCE_ID,
    UNSUPPORTED_ASSIGNOR,
)
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848, stable_group

WHOLE: dict[str, Any] = {
    "rebalance_timeout_ms": 10_000,
    "subscribed_topic_names": ["t"],
    "topic_partitions": [],
}


def beat(
    member_id: str = "", epoch: int = 0, group: str = "g", **fields: Any
) -> m.ConsumerGroupHeartbeatRequest:
    return m.ConsumerGroupHeartbeatRequest(group, member_id, epoch, **fields)


def held(answer: m.ConsumerGroupHeartbeatResponse) -> list[int] | None:
    return (
        None
        if answer.assignment is None
        else [number for topic in answer.assignment.topic_partitions for number in topic.partitions]
    )


def kinds(desk: Desk, since: int = 0) -> list[str]:
    """What was written, in the words of the records; a tombstone ends in +."""
    return [
        record.key.type.removeprefix("ConsumerGroup") + ("+" if record.value is None else "")
        for record in desk.log[since:]
    ]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (beat("", 0, "", **WHOLE), INVALID_REQUEST),
        (beat("", 0, "  ", **WHOLE), INVALID_REQUEST),
        (beat("", 0, instance_id=" ", **WHOLE), INVALID_REQUEST),
        (beat("", 0, rack_id="", **WHOLE), INVALID_REQUEST),
        (beat("", 0, server_assignor="best"), INVALID_REQUEST),
        (beat("", 3), INVALID_REQUEST),
        (beat(" ", -1), INVALID_REQUEST),
        (beat("x", -3), INVALID_REQUEST),
        (beat("x", -2), INVALID_REQUEST),
        (beat("", 0, server_assignor="best", **WHOLE), UNSUPPORTED_ASSIGNOR),
        (beat("x", 3, "other"), GROUP_ID_NOT_FOUND),
        (beat("x", -1, "other"), GROUP_ID_NOT_FOUND),
        (beat("x", -2, "other", instance_id="i"), GROUP_ID_NOT_FOUND),
        (beat("x", 3), UNKNOWN_MEMBER_ID),
        (beat("x", -1), UNKNOWN_MEMBER_ID),
        (beat("x", -1, instance_id="i"), FENCED_INSTANCE_ID),
        (beat("x", -2, instance_id="nobody"), UNKNOWN_MEMBER_ID),
        (beat("x", 3, instance_id="nobody"), UNKNOWN_MEMBER_ID),
        (beat("x", 3, instance_id="i"), FENCED_INSTANCE_ID),
        (beat("", 0, instance_id="i", **WHOLE), UNRELEASED_INSTANCE_ID),
        (beat("ONE", 2, instance_id="i"), FENCED_MEMBER_EPOCH),
        (beat("ONE", 2), FENCED_MEMBER_EPOCH),
    ],
)
def test_first_check_that_fails_decides_and_nothing_changes(
    request_: m.ConsumerGroupHeartbeatRequest, code: int
) -> None:
    desk = Desk()
    one = desk.send(heartbeat848(instance_id="i")).member_id
    request_ = msgspec.structs.replace(request_, member_id=request_.member_id.replace("ONE", one))
    before = (dict(desk.deadlines), list(desk.log), dict(desk.group().members))
    desk.pass_until(1_000)
    answer = desk.send(request_)
    assert (answer.error_code, answer.member_id, answer.member_epoch, answer.assignment) == (
        code,
        None,
        0,
        None,
    )
    assert (desk.deadlines, desk.log, desk.group().members) == before and desk.group("other") is None


def test_member_that_joins_again_with_its_id_and_holds_nothing_is_taken_back() -> None:
    """Epoch 0 of a member that has taken up one epoch only is the one before: it missed its first answer."""
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    again = desk.send(heartbeat848(one))
    assert (again.error_code, again.member_id, again.member_epoch, held(again)) == (
        NONE,
        one,
        1,
        [0, 1, 2, 3, 4, 5],
    )
    assert len(desk.group().members) == 1 and desk.group().epoch == 1


def test_join_writes_what_it_changes_in_the_order_of_the_original() -> None:
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848()).member_id
    assert kinds(desk) == [
        "MemberMetadata",
        "PartitionMetadata",
        "Metadata",
        "TargetAssignmentMember",
        "TargetAssignmentMetadata",
        "CurrentMemberAssignment",
    ]
    metadata, topics, epoch, target, target_epoch, current = (record.value for record in desk.log)
    assert (
        metadata.subscribed_topic_names,
        metadata.rebalance_timeout_ms,
        metadata.client_id,
        metadata.client_host,
    ) == (
        ["t"],
        10_000,
        "c",
        "/127.0.0.1",
    )
    assert [(topic.topic_name, topic.num_partitions, topic.topic_id) for topic in topics.topics] == [
        ("t", 2, TOPIC_ID)
    ]
    assert (epoch.epoch, target_epoch.assignment_epoch) == (1, 1)
    assert target.topic_partitions == current.assigned_partitions == [m.TopicPartitions(TOPIC_ID, [0, 1])]
    assert (current.member_epoch, current.previous_member_epoch, current.state) == (1, 0, 0)
    assert desk.log[0].key.member_id == one


def test_heartbeat_with_nothing_new_writes_nothing_and_restarts_the_session() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    before = len(desk.log)
    desk.pass_until(5_000)
    answer = desk.send(beat(one, 1))
    assert (answer.member_epoch, answer.heartbeat_interval_ms, answer.assignment) == (1, 5_000, None)
    assert len(desk.log) == before and desk.deadlines[f"session-timeout-g-{one}"] == 50_000


@pytest.mark.parametrize(
    "left_out", [None, "rebalance_timeout_ms", "subscribed_topic_names", "topic_partitions"]
)
def test_only_a_heartbeat_that_says_everything_is_told_everything(left_out: str | None) -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    fields = {name: value for name, value in WHOLE.items() if name != left_out}
    assert (held(desk.send(beat(one, 1, **fields))) is not None) is (left_out is None)


def test_what_a_member_leaves_out_stays_as_it_was_and_what_it_says_is_written() -> None:
    desk = Desk()
    one = desk.send(heartbeat848(rack_id="east", server_assignor="range")).member_id
    before = len(desk.log)
    desk.send(beat(one, 1, rebalance_timeout_ms=20_000))
    member = desk.group().members[one]
    assert (member.rack_id, member.server_assignor, member.rebalance_timeout_ms, member.subscribed) == (
        "east",
        "range",
        20_000,
        {"t"},
    )
    assert kinds(desk, before) == ["MemberMetadata"] and desk.group().epoch == 1, (
        "no other partitions follow from that"
    )
    desk.send(beat(one, 1, rack_id="west", server_assignor="uniform"))
    member = desk.group().members[one]
    assert (member.rack_id, member.server_assignor, member.rebalance_timeout_ms) == (
        "west",
        "uniform",
        20_000,
    ) and desk.group().epoch == 1


def test_other_client_or_host_of_the_same_member_is_written() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    before = len(desk.log)
    desk.send(beat(one, 1), client="renamed")
    assert kinds(desk, before) == ["MemberMetadata"] and desk.group().members[one].client_id == "renamed"


def test_other_topics_raise_the_epoch_and_those_that_do_not_exist_give_nothing() -> None:
    desk = Desk(partitions=2)
    one = desk.send(heartbeat848()).member_id
    answer = desk.send(beat(one, 1, subscribed_topic_names=["t", "nowhere"]))
    assert (answer.member_epoch, held(answer)) == (2, None), (
        "a new epoch, the same partitions: they are not told again"
    )
    answer = desk.send(
        beat(
            one, 2, subscribed_topic_names=["nowhere"], topic_partitions=[m.TopicPartitions(TOPIC_ID, [0, 1])]
        )
    )
    assert (answer.member_epoch, held(answer)) == (2, []), "it has to let go first"
    answer = desk.send(beat(one, 2, topic_partitions=[]))
    assert (answer.member_epoch, desk.group().epoch, desk.group().state) == (3, 3, "Stable")
    assert desk.group().topics == {}


def test_same_topics_in_another_order_are_no_change() -> None:
    desk = Desk()
    one = desk.send(beat("", 0, **WHOLE | {"subscribed_topic_names": ["t", "u"]})).member_id
    before = len(desk.log)
    assert (
        desk.send(beat(one, 1, subscribed_topic_names=["u", "t", "u"])).member_epoch == 1
        and len(desk.log) == before
    )


def test_full_group_takes_no_newcomer_and_lets_its_members_speak() -> None:
    desk = Desk(consumer_max_size=1)
    one = desk.send(heartbeat848()).member_id
    before = len(desk.log)
    assert desk.send(heartbeat848()).error_code == GROUP_MAX_SIZE_REACHED
    assert desk.send(beat("x", 5)).error_code == GROUP_MAX_SIZE_REACHED, "room is looked at before the member"
    assert desk.send(beat(one, 1)).error_code == NONE and len(desk.log) == before
    desk.send(beat(one, -1))
    assert desk.send(heartbeat848()).error_code == NONE


def test_lost_answer_is_given_again_only_to_who_holds_a_part_of_what_it_was_given() -> None:
    desk = Desk()
    one, two = desk.send(heartbeat848()).member_id, desk.send(heartbeat848()).member_id
    told = held(desk.send(heartbeat848(one, 1, owned=[0, 1, 2, 3, 4, 5])))
    assert told is not None and desk.send(heartbeat848(one, 1, owned=told)).member_epoch == 2
    gone = next(number for number in range(6) if number not in told)
    assert desk.send(heartbeat848(one, 1, owned=told)).member_epoch == 2, "all of it, once more"
    assert desk.send(heartbeat848(one, 1, owned=told[:1])).member_epoch == 2
    assert desk.send(beat(one, 1, topic_partitions=[])).member_epoch == 2, "nothing is a part of it, too"
    assert desk.send(heartbeat848(one, 1, owned=[gone])).error_code == FENCED_MEMBER_EPOCH
    other = [m.TopicPartitions("AAAAAAAAAAAAAAAAAAAAAQ", [0])]
    assert desk.send(beat(one, 1, topic_partitions=other)).error_code == FENCED_MEMBER_EPOCH
    assert desk.send(heartbeat848(one, 0)).error_code == FENCED_MEMBER_EPOCH, "two epochs behind is too far"
    assert {one, two} == set(desk.group().members), "a fenced epoch removes nobody"


def test_failed_write_takes_everything_back() -> None:
    desk = Desk()
    desk.next_error = NOT_ENOUGH_REPLICAS
    assert desk.send(heartbeat848()).error_code == COORDINATOR_NOT_AVAILABLE
    assert desk.group() is None and desk.log == []
    one = desk.send(heartbeat848()).member_id
    before = (dict(desk.group().members), desk.group().epoch, dict(desk.group().subscriber_counts))
    desk.next_error = NOT_ENOUGH_REPLICAS
    assert desk.send(beat(one, 1, subscribed_topic_names=["t", "u"])).error_code == COORDINATOR_NOT_AVAILABLE
    assert (desk.group().members, desk.group().epoch, desk.group().subscriber_counts) == before
    assert desk.send(beat(one, 1, subscribed_topic_names=["t", "u"])).member_epoch == 2, (
        "and may be said again"
    )


def test_answer_waits_for_the_high_watermark_and_readers_see_the_past_until_then() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    desk.is_held = True
    assert desk.send(heartbeat848()) is None
    (described,) = desk.send(m.ConsumerGroupDescribeRequest(["g"]), 0).groups
    assert ([member.member_id for member in described.members], described.group_epoch) == ([one], 1)
    desk.let_go()
    (described,) = desk.send(m.ConsumerGroupDescribeRequest(["g"]), 0).groups
    assert (len(described.members), described.group_epoch, described.group_state) == (2, 2, "Reconciling")


def test_classic_group_with_members_refuses_and_an_empty_one_makes_way() -> None:
    desk, (only,) = stable_group("a")
    assert desk.send(heartbeat848()).error_code == GROUP_ID_NOT_FOUND
    assert desk.send(beat("x", 4)).error_code == GROUP_ID_NOT_FOUND
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(only)]))
    before = len(desk.log)
    assert desk.send(beat("x", 4)).error_code == GROUP_ID_NOT_FOUND, "only who joins makes a group"
    assert desk.send(heartbeat848()).member_epoch == 1
    assert kinds(desk, before)[:2] == ["GroupMetadata+", "MemberMetadata"]

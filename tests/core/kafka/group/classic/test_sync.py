"""SyncGroup in a classic group: the leader's assignment is written before anybody has it; what is refused
first; what a failed write costs."""

from __future__ import annotations

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_GROUP_ID,
    NONE,
    NOT_COORDINATOR,
    NOT_LEADER_OR_FOLLOWER,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from tests.core.kafka.group.classic.parked import (
    beat,
    completing_group,
    leave,
    park,
    session_of,
    static_group,
)
from tests.core.kafka.group.desk import Desk, join, stable_group, sync

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


def asked(
    member_id: str,
    generation: int = 1,
    kind: str | None = "consumer",
    name: str | None = "range",
    instance: str | None = None,
    group: str = "g",
) -> m.SyncGroupRequest:
    return m.SyncGroupRequest(group, generation, member_id, instance, kind, name)


@BOTH
@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asked("x", 9, None, "sticky", group=""), INCONSISTENT_GROUP_PROTOCOL),
        (asked("x", 9, "consumer", None, group=""), INCONSISTENT_GROUP_PROTOCOL),
        (asked("x", 9, group=""), INVALID_GROUP_ID),
        (asked("x", 9, group="other"), UNKNOWN_MEMBER_ID),
        (asked("x", 9, "connect"), UNKNOWN_MEMBER_ID),
        (asked("x", 9, "connect", instance="i"), FENCED_INSTANCE_ID),
        (asked("x", 9, "connect", instance="nobody"), UNKNOWN_MEMBER_ID),
        (asked("MEMBER", 9, "connect"), ILLEGAL_GENERATION),
        (asked("MEMBER", 0), ILLEGAL_GENERATION),
        (asked("MEMBER", 1, "connect"), INCONSISTENT_GROUP_PROTOCOL),
        (asked("MEMBER", 1, "consumer", "sticky"), INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_first_check_that_fails_decides_and_nothing_changes(
    request_: m.SyncGroupRequest, code: int, is_old: bool
) -> None:
    desk, (member_id,) = static_group("i", synced=False, is_old=is_old)
    request_ = m.SyncGroupRequest(
        request_.group_id,
        request_.generation_id,
        request_.member_id.replace("MEMBER", member_id),
        request_.group_instance_id,
        request_.protocol_type,
        request_.protocol_name,
        [m.MemberAssignment(member_id, b"x")],
    )
    before = dict(desk.deadlines)
    assert desk.send(request_) == m.SyncGroupResponse(code)
    assert (
        desk.deadlines == before
        and desk.group().state == COMPLETING
        and list(desk.group().pending_syncs) == [member_id]
    )


@BOTH
def test_rebalance_in_preparation_is_told_last(is_old: bool) -> None:
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    park(desk, join(leader))
    assert desk.send(asked(follower, 1, "consumer", "sticky")).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert desk.send(asked(follower)).error_code == REBALANCE_IN_PROGRESS


@BOTH
def test_versions_before_5_name_no_protocol_and_are_answered(is_old: bool) -> None:
    desk, (_, follower) = stable_group("a", "b", is_old=is_old)
    answer = desk.send(asked(follower, 1, None, None), 4)
    assert (answer.error_code, answer.assignment) == (NONE, follower.encode())
    assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range"), (
        "what version 4 leaves out when it is written"
    )


@BOTH
def test_nobody_syncs_in_an_empty_group(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old)
    desk.send(leave(only))
    assert desk.group().state == EMPTY and desk.send(asked(only, 2)).error_code == UNKNOWN_MEMBER_ID


@BOTH
def test_followers_wait_for_the_leader_and_everybody_gets_its_part(is_old: bool) -> None:
    desk, (leader, second, third) = completing_group("a", "b", "c", is_old=is_old)
    waiting = park(desk, sync(1, second, {second: b"own idea"}))
    answer = desk.send(sync(1, leader, {leader: b"1", second: b"2", "stranger": b"9"}))
    assert (answer.assignment, desk.answers[waiting].assignment) == (b"1", b"2")
    assert (answer.error_code, answer.protocol_type, answer.protocol_name) == (NONE, "consumer", "range")
    assert desk.group().state == STABLE and list(desk.group().pending_syncs) == [third]
    assert desk.send(sync(1, third)).assignment == b"", "left out by the leader: it has nothing"
    assert desk.group().pending_syncs == {} and "sync-g" not in desk.deadlines


@BOTH
def test_record_of_a_generation_has_every_members_part(is_old: bool) -> None:
    desk, (leader, second) = completing_group("a", "b", is_old=is_old)
    park(desk, sync(1, second))
    desk.pass_until(7_500)
    desk.send(sync(1, leader, {second: b"2"}))
    value = desk.log[-1].value
    assert (value.generation, value.protocol_type, value.protocol, value.leader) == (
        1,
        "consumer",
        "range",
        leader,
    )
    assert {stored.member_id: stored.assignment for stored in value.members} == {leader: b"", second: b"2"}
    assert value.current_state_timestamp == 6_000, "since the sync phase began"
    assert {(stored.rebalance_timeout, stored.session_timeout) for stored in value.members} == {
        (30_000, 10_000)
    }


@BOTH
def test_answered_members_have_a_new_session_and_who_has_not_synced_has_not(is_old: bool) -> None:
    desk, (leader, second, third) = completing_group("a", "b", "c", is_old=is_old)
    park(desk, sync(1, second))
    desk.pass_until(9_000)
    desk.send(sync(1, leader))
    assert [desk.deadlines[session_of(member_id)] for member_id in (leader, second, third)] == [
        19_000,
        19_000,
        16_000,
    ]


@BOTH
def test_who_waits_in_sync_outlives_its_session(is_old: bool) -> None:
    desk, (leader, follower) = completing_group("a", "b", is_old=is_old)
    park(desk, sync(1, follower))
    for at_ms in (12_000, 18_000, 24_000):
        desk.pass_until(at_ms)
        assert desk.send(beat(leader)).error_code == NONE, "the sync phase goes on"
    assert list(desk.group().members) == [leader, follower] and desk.group().state == COMPLETING


@BOTH
@pytest.mark.parametrize("who", [0, 1], ids=["leader", "follower"])
def test_sync_phase_that_is_over_removes_who_has_not_synced_static_or_not(who: int, is_old: bool) -> None:
    desk, ids = static_group("i", "j", synced=False, is_old=is_old)
    stays, goes = ids[1 - who], ids[who]
    if who == 1:
        desk.send(sync(1, stays, dict.fromkeys(ids, b"x")))
        assert desk.group().state == STABLE, "the leader was there: only the other one is missing"
    else:
        park(desk, sync(1, stays))
    while desk.now_ms < 35_000:
        desk.pass_until(desk.now_ms + 1_000)
        desk.send(beat(goes, instance="ij"[who])), desk.send(beat(stays, instance="ij"[1 - who]))
    assert list(desk.group().members) == ids
    desk.pass_until(36_000)
    assert list(desk.group().members) == [stays] and desk.group().state == PREPARING
    assert ("kafka.group.member_removed", "kafka.group.sync_timeout") in desk.told and session_of(
        goes
    ) not in desk.deadlines


@BOTH
def test_stable_sync_gives_what_is_stored_and_ends_the_sync_timer_with_the_last_one(is_old: bool) -> None:
    desk, (leader, second, third) = completing_group("a", "b", "c", is_old=is_old)
    desk.send(sync(1, leader, {second: b"2", third: b"3"}))
    assert "sync-g" in desk.deadlines
    assert desk.send(sync(1, second)).assignment == b"2" and "sync-g" in desk.deadlines
    assert desk.send(sync(1, second, {second: b"other"})).assignment == b"2"
    assert desk.send(sync(1, third)).assignment == b"3" and "sync-g" not in desk.deadlines


@BOTH
def test_failed_write_tells_everybody_who_waits_and_begins_a_rebalance(is_old: bool) -> None:
    desk, (leader, follower) = completing_group("a", "b", is_old=is_old)
    waiting = park(desk, sync(1, follower))
    desk.next_error = NOT_LEADER_OR_FOLLOWER
    answer = desk.send(sync(1, leader, {leader: b"1", follower: b"2"}))
    assert [answer.error_code, desk.answers[waiting].error_code] == [
        NOT_COORDINATOR
    ] * 2 and answer.assignment == b""
    assert (desk.group().state, desk.group().generation) == (PREPARING, 1)
    assert [member.assignment for member in desk.group().members.values()] == [b"", b""]
    assert desk.told[-1] == ("kafka.group.rebalance_started", "kafka.group.append_failed")
    assert "sync-g" not in desk.deadlines and desk.deadlines["join-g"] == desk.now_ms + 30_000


def test_write_that_is_not_confirmed_in_time_fails_and_its_record_stays_in_the_log() -> None:
    desk, (leader,) = completing_group("a")
    desk.is_held = True
    ticket = park(desk, sync(1, leader, {leader: b"1"}))
    assert desk.send(join(leader)).generation_id == 1, "the group is still completing"
    desk.pass_until(desk.now_ms + 4_999)
    assert desk.group().state == COMPLETING and ticket not in desk.answers
    desk.pass_until(desk.now_ms + 1)
    assert desk.answers[ticket].error_code == COORDINATOR_NOT_AVAILABLE and desk.group().state == PREPARING
    desk.let_go()
    desk.fail_over()
    assert (desk.group().state, desk.group().members[leader].assignment) == (STABLE, b"1"), (
        "a successor finds it"
    )


@BOTH
def test_assigned_is_told_by_the_chosen_protocol_and_the_group_is_described_with_it(is_old: bool) -> None:
    desk, (leader,) = stable_group("a", is_old=is_old)
    assert desk.told[-1] == ("kafka.group.assigned", "kafka.assignor.range")
    (described,) = desk.send(m.DescribeGroupsRequest(["g"]), 5).groups
    assert (described.group_state, described.protocol_type, described.protocol_data) == (
        STABLE,
        "consumer",
        "range",
    )
    (member,) = described.members
    assert (member.member_id, member.member_assignment, member.client_id, member.client_host) == (
        leader,
        leader.encode(),
        "a",
        "/127.0.0.1",
    )
    assert member.member_metadata != b""


@pytest.mark.parametrize(("is_old", "assignment"), [(False, b"x"), (True, b"")], ids=["new", "old"])
def test_group_that_is_not_stable_is_described_without_subscriptions(is_old: bool, assignment: bytes) -> None:
    """The new coordinator still shows the assignment that a member had."""
    desk = Desk(is_old=is_old)
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (leader,) = desk.group().members
    desk.send(sync(1, leader, {leader: b"x"}))
    desk.send(join(), 3, "b")
    (described,) = desk.send(m.DescribeGroupsRequest(["g"]), 5).groups
    assert (described.group_state, described.protocol_data, described.protocol_type) == (
        PREPARING,
        "",
        "consumer",
    )
    assert {member.member_metadata for member in described.members} == {b""}
    assert {member.member_id: member.member_assignment for member in described.members}[leader] == assignment

"""Rules of the classic protocol that are easily got wrong, one playbook each, in both coordinators."""

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_SESSION_TIMEOUT,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from tests.core.kafka.group.desk import Desk, join, stable_group, sync

pytestmark = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


def beat(member_id, generation=1, instance=None):
    return m.HeartbeatRequest("g", generation, member_id, instance)


def commit(member_id, generation):
    return m.OffsetCommitRequest(
        "g", generation, member_id, [m.CommittedTopic("t", [m.CommittedPartition(0, 5)])]
    )


def code(answer):
    return answer.topics[0].partitions[0].error_code


def static_pair(is_old):
    desk = Desk(is_old=is_old)
    for instance in ("i", "j"):
        desk.send(join(instance=instance), 5, instance)
    desk.pass_until(6_000)
    ids = list(desk.group().members)
    for member_id in reversed(ids):
        desk.send(sync(1, member_id, dict.fromkeys(ids, b"x") if member_id == ids[0] else None))
    return desk, ids


def test_static_member_is_known_by_its_id_alone_and_never_under_another_instance(is_old):
    desk, (one, _) = static_pair(is_old)
    assert desk.send(beat(one)).error_code == NONE
    assert desk.send(beat(one, instance="j")).error_code == FENCED_INSTANCE_ID
    assert desk.send(beat(one, instance="nobody")).error_code == UNKNOWN_MEMBER_ID


def test_same_protocols_in_another_order_are_a_change(is_old):
    desk = Desk(is_old=is_old)
    for client in "ab":
        desk.send(join(protocols=("range", "sticky")), 3, client)
    desk.pass_until(6_000)
    leader, follower = desk.group().members
    desk.send(sync(1, follower))
    desk.send(sync(1, leader, {leader: b"x", follower: b"y"}))
    assert desk.send(join(follower, protocols=("range", "sticky"))).generation_id == 1
    assert desk.group().state == STABLE
    assert desk.send(join(follower, protocols=("sticky", "range"))) is None
    assert desk.group().state == PREPARING


def test_rejoin_with_nothing_new_but_timeouts_does_not_store_them(is_old):
    desk, (_, follower) = stable_group("a", "b", is_old=is_old)
    assert desk.send(join(follower, session_ms=20_000, rebalance_ms=50_000)).generation_id == 1
    member = desk.group().members[follower]
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (10_000, 30_000)


def test_heartbeat_while_assignments_are_awaited_hears_nothing_and_does_not_stop_the_sync_timer(is_old):
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    desk.send(join(leader))
    assert desk.send(beat(follower)).error_code == REBALANCE_IN_PROGRESS
    desk.send(join(follower))
    assert desk.group().state == COMPLETING
    deadline = desk.deadlines["sync-g"]
    desk.pass_until(desk.now_ms + 1_000)
    assert desk.send(beat(follower, 2)).error_code == NONE
    assert desk.deadlines["sync-g"] == deadline


def test_wrong_generation_is_told_before_a_missing_assignment(is_old):
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    desk.send(join(leader))
    desk.send(join(follower))
    assert code(desk.send(commit(follower, 1))) == ILLEGAL_GENERATION
    assert code(desk.send(commit("stranger", 1))) == UNKNOWN_MEMBER_ID
    assert code(desk.send(commit(follower, 2))) == REBALANCE_IN_PROGRESS


def test_commit_that_is_taken_restarts_the_session_and_a_refused_one_does_not(is_old):
    desk, (leader, _) = stable_group("a", "b", is_old=is_old)
    timer = f"heartbeat-g-{leader}"
    before = desk.deadlines[timer]
    desk.pass_until(desk.now_ms + 2_000)
    assert code(desk.send(commit(leader, 7))) == ILLEGAL_GENERATION
    assert desk.deadlines[timer] == before
    assert code(desk.send(commit(leader, 1))) == NONE
    assert desk.deadlines[timer] == desk.now_ms + 10_000


def test_empty_group_refuses_a_generation_and_takes_members_of_another_type(is_old):
    desk, (only,) = stable_group("a", is_old=is_old)
    desk.send(m.LeaveGroupRequest("g", only), 2)
    assert desk.group().state == EMPTY
    assert code(desk.send(commit(only, 2))) == UNKNOWN_MEMBER_ID
    worker = m.JoinGroupRequest("g", 10_000, "", "connect", [m.Protocol("compatible", b"")], 30_000)
    assert desk.send(worker, 3, "w") is None
    assert desk.group().protocol_type == "connect"


def test_group_with_members_refuses_another_type_and_protocols_that_not_all_know(is_old):
    desk, _ = stable_group("a", is_old=is_old)
    assert desk.send(join(protocols=("sticky",)), 3).error_code == INCONSISTENT_GROUP_PROTOCOL
    worker = m.JoinGroupRequest("g", 10_000, "", "connect", [m.Protocol("range", b"")], 30_000)
    assert desk.send(worker, 3).error_code == INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    ("session_ms", "is_taken"), [(5_999, False), (6_000, True), (1_800_000, True), (1_800_001, False)]
)
def test_bounds_of_the_session_timeout_belong_to_it(is_old, session_ms, is_taken):
    answer = Desk(is_old=is_old).send(join(session_ms=session_ms), 3)
    assert (answer is None) is is_taken
    assert is_taken or answer.error_code == INVALID_SESSION_TIMEOUT


def test_leaders_assignment_for_a_stranger_is_dropped_and_its_second_one_ignored(is_old):
    desk = Desk(is_old=is_old)
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (leader,) = desk.group().members
    assert desk.send(sync(1, leader, {leader: b"mine", "stranger": b"lost"})).assignment == b"mine"
    assert list(desk.group().members) == [leader]
    assert desk.send(sync(1, leader, {leader: b"other"})).assignment == b"mine"


def test_process_that_was_replaced_is_fenced_even_if_its_id_is_forgotten(is_old):
    desk, (one, other) = static_pair(is_old)
    assert desk.send(beat("forgotten", instance="i")).error_code == FENCED_INSTANCE_ID
    assert desk.send(beat("forgotten")).error_code == UNKNOWN_MEMBER_ID
    assert [
        desk.send(beat(one, instance="i")).error_code,
        desk.send(beat(other, instance="j")).error_code,
    ] == [NONE, NONE]


def test_generation_is_looked_at_after_the_member_and_before_the_state(is_old):
    desk, (leader, _) = stable_group("a", "b", is_old=is_old)
    assert desk.send(beat("stranger", 7)).error_code == UNKNOWN_MEMBER_ID
    desk.send(join(leader))
    assert desk.send(beat(leader, 7)).error_code == ILLEGAL_GENERATION


def test_nobody_can_beat_in_an_empty_group(is_old):
    desk, (only,) = stable_group("a", is_old=is_old)
    desk.send(m.LeaveGroupRequest("g", only), 2)
    assert desk.group().state == EMPTY
    assert desk.send(beat(only, desk.group().generation)).error_code == UNKNOWN_MEMBER_ID


def test_join_phase_waits_for_an_id_that_was_given_out_until_its_session_is_over(is_old):
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    desk.send(join(session_ms=8_000), 9, "late")
    given_at_ms = desk.now_ms
    desk.pass_until(given_at_ms + 1_000)
    desk.send(join(leader)), desk.send(join(follower))
    desk.pass_until(given_at_ms + 7_999)
    assert (desk.group().state, desk.group().generation) == (PREPARING, 1), (
        "both are back, a third was promised a place"
    )
    desk.pass_until(given_at_ms + 8_000)
    assert (desk.group().state, desk.group().generation) == (COMPLETING, 2)
    assert list(desk.group().members) == [leader, follower]


def test_id_that_was_given_out_leaves_an_empty_group_empty(is_old):
    desk = Desk(is_old=is_old)
    desk.send(join(), 9)
    desk.pass_until(10_000)
    assert (desk.group().state, desk.group().generation, desk.group().pending_joins) == (EMPTY, 0, {})


def test_end_of_a_session_ends_the_join_phase_if_only_that_member_was_missing(is_old):
    desk, (leader, _) = stable_group("a", "b", is_old=is_old)
    desk.send(join(leader))
    over_ms = max(deadline for name, deadline in desk.deadlines.items() if name.startswith("heartbeat-"))
    assert over_ms < desk.deadlines["join-g"], "the session is over before the rebalance timeout"
    desk.pass_until(over_ms)
    assert (desk.group().state, desk.group().generation, list(desk.group().members)) == (
        COMPLETING,
        2,
        [leader],
    )


def test_end_of_a_session_in_a_stable_group_begins_a_rebalance(is_old):
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    desk.pass_until(desk.now_ms + 5_000)
    desk.send(beat(leader))
    desk.pass_until(desk.now_ms + 5_000)
    assert (desk.group().state, desk.group().generation, list(desk.group().members)) == (
        PREPARING,
        1,
        [leader],
    )
    assert (
        follower not in desk.group().members and desk.send(beat(leader)).error_code == REBALANCE_IN_PROGRESS
    )

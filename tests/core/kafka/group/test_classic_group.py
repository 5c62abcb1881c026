"""The classic protocol, step by step, beside the recorded answers: what each step is there for."""

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE, TRANSITIONS
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    GROUP_MAX_SIZE_REACHED,
    ILLEGAL_GENERATION,
    MEMBER_ID_REQUIRED,
    NOT_COORDINATOR,
    NOT_ENOUGH_REPLICAS,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from tests.core.kafka.group.desk import Desk, join, stable_group, sync


def test_new_dynamic_member_gets_an_id_first_and_is_parked_when_it_comes_again_with_it():
    desk = Desk()
    first = desk.send(join(), client="a")
    assert (first.error_code, first.member_id) == (MEMBER_ID_REQUIRED, "a-u1")
    assert desk.send(join("a-u1"), client="a") is None
    assert desk.group().state == PREPARING and desk.deadlines["join-g"] == 3_000


def test_an_id_that_nobody_uses_is_forgotten_after_the_session_timeout():
    desk = Desk()
    desk.send(join(session_ms=7_000), client="a")
    desk.pass_until(7_000)
    assert desk.group().pending_joins == {}
    assert desk.send(join("a-u1")).error_code == UNKNOWN_MEMBER_ID


def test_group_is_written_when_it_is_made_and_when_its_leader_has_synced():
    desk, ids = stable_group("a", "b")
    assert [(record.value.generation, len(record.value.members)) for record in desk.log] == [(0, 0), (1, 2)]
    assert desk.group().state == STABLE and desk.group().leader == ids[0]


def test_a_sync_of_a_stable_group_does_not_prolong_the_session():
    desk, (leader, _) = stable_group("a", "b")
    before = desk.deadlines[f"heartbeat-g-{leader}"]
    desk.pass_until(9_000)
    assert desk.send(sync(1, leader)).assignment == leader.encode()
    assert desk.deadlines[f"heartbeat-g-{leader}"] == before


def test_majority_of_first_preferences_chooses_the_protocol_among_those_that_all_offer():
    desk = Desk()
    for client, protocols in (
        ("a", ("sticky", "range")),
        ("b", ("range", "sticky")),
        ("c", ("only-mine", "range", "sticky")),
    ):
        desk.send(join(protocols=protocols), 3, client)
    desk.pass_until(9_000)
    assert desk.group().protocol == "range"


@pytest.mark.parametrize(("version", "tells_leader", "skips"), [(8, False, False), (9, True, True)])
def test_restarted_static_leader_costs_no_rebalance_and_must_not_assign(version, tells_leader, skips):
    desk = Desk()
    desk.send(join(instance="i"), 5, "a")
    desk.pass_until(3_000)
    (old,) = desk.group().members
    desk.send(sync(1, old, {old: b"mine"}))
    restarted = desk.send(join(instance="i"), version, "a")
    assert restarted.generation_id == 1 and restarted.skip_assignment is skips
    assert (restarted.leader == restarted.member_id) is tells_leader
    assert desk.send(sync(1, restarted.member_id)).assignment == b"mine"
    fenced = desk.send(m.HeartbeatRequest("g", 1, old, "i"))
    assert fenced.error_code == FENCED_INSTANCE_ID


def test_static_restart_is_undone_when_the_group_cannot_be_written():
    desk = Desk()
    desk.send(join(instance="i"), 5, "a")
    desk.pass_until(3_000)
    (old,) = desk.group().members
    desk.send(sync(1, old, {old: b"mine"}))
    desk.next_error = NOT_ENOUGH_REPLICAS
    assert desk.send(join(instance="i"), 9, "a").error_code == COORDINATOR_NOT_AVAILABLE
    assert (
        list(desk.group().members) == [old]
        and desk.group().static_members == {"i": old}
        and desk.group().leader == old
    )


def test_who_leaves_together_is_removed_before_the_group_goes_on():
    desk, ids = stable_group("a", "b", "c")
    leaving = [m.MemberIdentity(ids[0]), m.MemberIdentity("nobody"), m.MemberIdentity(ids[1])]
    answer = desk.send(m.LeaveGroupRequest("g", members=leaving), 5)
    assert [member.error_code for member in answer.members] == [0, UNKNOWN_MEMBER_ID, 0]
    assert list(desk.group().members) == [ids[2]] and desk.group().state == PREPARING


def test_sync_timeout_removes_who_has_not_synced_and_the_others_begin_again():
    desk = Desk()
    for client in "ab":
        desk.send(join(session_ms=60_000, rebalance_ms=20_000), 3, client)
    desk.pass_until(6_000)
    leader, follower = desk.group().members
    ticket_sync = desk.send(sync(1, follower))
    assert ticket_sync is None and desk.group().state == COMPLETING
    desk.pass_until(26_000)
    assert list(desk.group().members) == [follower] and desk.group().state == PREPARING
    assert [
        answer.error_code for answer in desk.answers.values() if isinstance(answer, m.SyncGroupResponse)
    ] == [REBALANCE_IN_PROGRESS]
    assert leader not in desk.group().members


def test_full_group_refuses_a_newcomer_and_counts_who_waits_while_a_rebalance_is_prepared():
    desk, ids = stable_group("a", "b", max_size=2)
    assert desk.send(join(), 3, "c").error_code == GROUP_MAX_SIZE_REACHED
    desk.send(join(ids[0], protocols=("range", "sticky")), 9)
    assert desk.group().state == PREPARING
    assert desk.send(join(), 3, "c") is None, "a place of one who has not come back"


def test_generation_and_member_are_checked_in_that_order():
    desk, (leader, _) = stable_group("a", "b")
    assert desk.send(m.HeartbeatRequest("g", 7, "nobody")).error_code == UNKNOWN_MEMBER_ID
    assert desk.send(m.HeartbeatRequest("g", 7, leader)).error_code == ILLEGAL_GENERATION
    assert desk.send(m.HeartbeatRequest("g", 1, leader)).error_code == 0


def test_assignment_waits_for_the_high_watermark_and_a_late_one_throws_the_group_back():
    desk = Desk()
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (leader,) = desk.group().members
    desk.is_held = True
    assert desk.send(sync(1, leader, {leader: b"x"})) is None and desk.group().state == COMPLETING
    desk.pass_until(8_000)
    assert desk.group().state == PREPARING
    assert [answer.error_code for answer in desk.answers.values()][-1] == COORDINATOR_NOT_AVAILABLE
    desk.let_go()
    assert desk.group().state == PREPARING


def test_failover_keeps_what_was_written_and_sends_who_waits_to_the_new_coordinator():
    desk, ids = stable_group("a", "b")
    desk.send(join(), 3, "c")
    assert desk.group().state == PREPARING
    desk.fail_over()
    assert desk.group().state == STABLE and list(desk.group().members) == ids and desk.group().generation == 1
    assert [answer.error_code for answer in desk.answers.values()].count(NOT_COORDINATOR) == 1
    assert desk.send(sync(1, ids[1])).assignment == ids[1].encode()


def test_last_member_that_leaves_empties_the_group_and_its_next_generation_is_written():
    desk, (member,) = stable_group("a")
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(member)]), 5)
    assert (
        desk.group().state == EMPTY
        and desk.log[-1].value.generation == 2
        and desk.log[-1].value.members == []
    )


def test_every_state_of_the_table_is_reached_from_another():
    assert (
        {state for state, _ in TRANSITIONS}
        == set(TRANSITIONS.values())
        == {EMPTY, PREPARING, COMPLETING, STABLE}
    )


def test_member_that_names_a_protocol_twice_fails_the_vote_as_in_the_original():
    desk = Desk()
    desk.send(join(protocols=("range", "range")), 3, "a")
    desk.pass_until(3_000)
    assert desk.group().state == PREPARING and desk.group().generation == 1


def test_timer_of_a_group_that_could_not_be_written_finds_its_empty_namesake():
    desk = Desk()
    desk.next_error = NOT_ENOUGH_REPLICAS
    assert desk.send(join(), 3, "a").error_code == COORDINATOR_NOT_AVAILABLE
    assert desk.group() is None and "join-g" in desk.deadlines
    desk.send(join(), client="b")
    desk.pass_until(3_000)
    assert desk.group().state == EMPTY and len(desk.group().pending_joins) == 1


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_assignment_of_a_rebalance_that_is_overtaken_reaches_nobody(is_confirmed):
    desk = Desk()
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (leader,) = desk.group().members
    desk.is_held = True
    assert desk.send(sync(1, leader, {leader: b"late"})) is None
    assert desk.send(join(), 3, "b") is None
    assert desk.answers[2].error_code == REBALANCE_IN_PROGRESS, (
        "its sync is answered by the newcomer's rebalance"
    )
    if is_confirmed:
        desk.let_go()
    else:
        desk.pass_until(3_000 + desk.settings.offsets_commit_timeout_ms)
    group = desk.group()
    assert (group.state, group.generation, group.members[leader].assignment) == (PREPARING, 1, b"")


def test_assignment_of_an_older_generation_is_not_handed_out_in_the_next():
    desk = Desk()
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (leader,) = desk.group().members
    desk.is_held = True
    desk.send(sync(1, leader, {leader: b"late"}))
    desk.send(join(), 3, "b")
    assert desk.send(join(leader), 3, "a").generation_id == 2 and desk.group().state == COMPLETING
    desk.let_go()
    assert desk.group().state == COMPLETING and desk.group().members[leader].assignment == b""


@pytest.mark.parametrize(("is_old", "ends_ms"), [(False, 6_000), (True, 20_000)], ids=["new", "old"])
def test_end_of_an_id_that_was_given_out_cuts_the_initial_delay_short_in_the_new_coordinator(is_old, ends_ms):
    desk = Desk(initial_rebalance_delay_ms=20_000, is_old=is_old)
    desk.send(join(), 3, "a")
    desk.send(join(session_ms=6_000), 9, "late")
    desk.pass_until(ends_ms - 1)
    assert desk.group().state == PREPARING
    desk.pass_until(ends_ms)
    assert (desk.group().state, desk.group().generation) == (COMPLETING, 1)

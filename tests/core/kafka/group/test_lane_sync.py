"""SyncGroup in the lane's coordinator: who waits for whom, what is refused first, what the end of the sync
phase costs."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.group.states import COMPLETING, EMPTY, PREPARING, STABLE
from tests.core.kafka.group.lane_desk import gathered, stable

A, B, C = 1, 2, 3


@pytest.mark.parametrize(
    ("state", "is_known", "generation", "code"),
    [
        (STABLE, False, 9, r.UNKNOWN_MEMBER_ID),
        (PREPARING, False, 9, r.UNKNOWN_MEMBER_ID),
        (STABLE, True, 9, r.ILLEGAL_GENERATION),
        (PREPARING, True, 9, r.ILLEGAL_GENERATION),
        (PREPARING, True, 0, r.ILLEGAL_GENERATION),
        (PREPARING, True, 1, r.REBALANCE_IN_PROGRESS),
        (STABLE, True, 1, r.NONE),
    ],
)
def test_first_check_that_fails_decides(state: str, is_known: bool, generation: int, code: int) -> None:
    lane, (first, second) = stable(A, B)
    if state == PREPARING:
        lane.join(A, first)
    before = [
        (member.connection, member.awaits_sync, list(member.assignment))
        for member in lane.group.members.values()
    ]
    deadlines = dict(lane.out.deadlines)
    ((connection, answer),) = lane.sync(C, second if is_known else "stranger", generation=generation)
    assert (connection, answer.error_code) == (C, code)
    assert answer.assignment == ([1] if code == r.NONE else [])
    assert lane.out.deadlines == deadlines, "neither a refusal nor a late sync moves a timer"
    if code != r.NONE:
        assert before == [
            (member.connection, member.awaits_sync, list(member.assignment))
            for member in lane.group.members.values()
        ]
    assert lane.group.state == state


def test_leader_that_is_first_answers_those_who_come_later() -> None:
    lane, (first, second) = gathered(A, B)
    assert lane.sync(A, first, {first: [0, 2], second: [1]}) == [(A, r.SyncGroupResponse(r.NONE, [0, 2]))]
    assert lane.group.state == STABLE and "sync:g" not in lane.out.deadlines
    assert lane.sync(B, second) == [(B, r.SyncGroupResponse(r.NONE, [1]))]


def test_who_is_left_out_of_the_assignment_has_nothing_and_a_stranger_in_it_is_passed_over() -> None:
    lane, (first, second) = gathered(A, B)
    lane.sync(B, second)
    answers = lane.sync(A, first, {first: [0], "stranger": [1]})
    assert answers == [(A, r.SyncGroupResponse(r.NONE, [0])), (B, r.SyncGroupResponse(r.NONE, []))]
    assert list(lane.group.members) == [first, second]


def test_what_a_follower_brings_is_not_looked_at() -> None:
    lane, (first, second) = gathered(A, B)
    assert lane.sync(B, second, {second: [0, 1, 2]}) == [] and lane.group.state == COMPLETING
    lane.sync(A, first, {first: [0], second: [1]})
    assert lane.group.members[second].assignment == [1]


def test_answered_members_have_a_new_session_and_who_has_not_synced_keeps_the_old_one() -> None:
    lane, (first, second) = gathered(A, B)
    before = lane.at_s(f"session:g:{second}")
    lane.sync(A, first, {}, now_s=20)
    assert lane.at_s(f"session:g:{first}") == 65 and lane.at_s(f"session:g:{second}") == before


def test_late_sync_is_answered_on_its_own_connection() -> None:
    lane, (first, second) = gathered(A, B)
    lane.sync(A, first, {second: [1]})
    assert (
        lane.sync(C, second) == [(C, r.SyncGroupResponse(r.NONE, [1]))]
        and lane.group.members[second].connection == C
    )


def test_end_of_the_sync_phase_removes_all_who_are_missing_and_begins_again() -> None:
    lane, (first, second, third) = gathered(A, B, C)
    lane.sync(C, third)
    before = len(lane.out.told)
    sent = lane.due("sync:g")
    assert sent == [(C, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []))]
    assert list(lane.group.members) == [third] == [lane.group.leader] and lane.group.state == PREPARING
    assert [(kind, data.get("member_id")) for kind, data in lane.out.told[before:]] == [
        ("kafka.group.member_removed", first),
        ("kafka.group.member_removed", second),
        ("kafka.group.rebalance_started", None),
    ]
    assert lane.out.rules[before:] == ["kafka.group.sync_timeout"] * 3
    assert [name for name in lane.out.deadlines if name.startswith("session")] == [f"session:g:{third}"]
    assert lane.out.deadlines["join:g"] > 300 * SECOND_US


def test_end_of_a_sync_phase_that_is_over_already_changes_nothing() -> None:
    lane, (first, second) = gathered(A, B)
    late = lane.out.deadlines["sync:g"]
    lane.sync(B, second), lane.sync(A, first, {})
    lane.out.deadlines["sync:g"] = late
    assert lane.due("sync:g") == [] and lane.group.state == STABLE and len(lane.group.members) == 2


def test_assigned_is_told_by_the_rule_of_the_groups_assignor() -> None:
    lane, (first, second) = gathered(A, B)
    lane.sync(A, first, {first: [1, 0]})
    assert (lane.out.rules[-1], lane.out.told[-1]) == (
        "kafka.assignor.range",
        ("kafka.group.assigned", {"generation": 1, "assignment": {first: [1, 0], second: []}}),
    )


def test_nobody_syncs_in_an_empty_group() -> None:
    lane, (only,) = stable(A)
    lane.leave(A, only)
    assert lane.group.state == EMPTY
    ((_, answer),) = lane.sync(A, only)
    assert answer.error_code == r.UNKNOWN_MEMBER_ID

"""How members of the lane's coordinator go: silence, leaving, a closed connection; and what each costs those
who stay."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group, Member
from broker_core.kafka.group.leave import forget_pending, hang_up
from broker_core.kafka.group.states import COMPLETING, EMPTY, PREPARING, STABLE
from tests.core.kafka.group.lane_desk import READS_T, Lane, gathered, stable

A, B, C = 1, 2, 3


@pytest.mark.parametrize(
    ("phase", "is_known", "generation", "code"),
    [
        (STABLE, False, 9, r.UNKNOWN_MEMBER_ID),
        (STABLE, True, 0, r.ILLEGAL_GENERATION),
        (STABLE, True, 2, r.ILLEGAL_GENERATION),
        (STABLE, True, 1, r.NONE),
        (PREPARING, False, 1, r.UNKNOWN_MEMBER_ID),
        (PREPARING, True, 2, r.ILLEGAL_GENERATION),
        (PREPARING, True, 1, r.REBALANCE_IN_PROGRESS),
        (COMPLETING, True, 1, r.NONE),
    ],
)
def test_heartbeat_is_refused_for_member_then_generation_and_only_a_good_one_restarts_the_session(
    phase: str, is_known: bool, generation: int, code: int
) -> None:
    lane, (first, second) = gathered(A, B) if phase == COMPLETING else stable(A, B)
    if phase == PREPARING:
        lane.join(A, first)
    before = lane.at_s(f"session:g:{second}")
    assert lane.beat(B, second if is_known else "stranger", generation, now_s=30) == code
    is_taken = code in (r.NONE, r.REBALANCE_IN_PROGRESS)
    assert lane.at_s(f"session:g:{second}") == (75 if is_taken else before)
    assert lane.group.state == phase


def test_only_the_answer_that_tells_of_a_rebalance_follows_from_it() -> None:
    lane, (first, second) = stable(A, B)
    lane.out.blamed.clear()
    lane.beat(B, second)
    assert lane.out.blamed == []
    lane.join(A, first)
    lane.beat(B, second)
    assert lane.out.blamed == [lane.group.cause]


def test_id_that_was_never_used_is_forgotten_without_a_word() -> None:
    lane, (only,) = stable(A)
    ((_, pending),) = lane.join(B)
    told = len(lane.out.told)
    assert lane.due(f"session:g:{pending.member_id}") == []
    assert lane.group.pending == {} and lane.group.state == STABLE and len(lane.out.told) == told
    assert list(lane.group.members) == [only]


def test_member_that_waits_in_join_is_not_silent_but_a_new_one_has_five_minutes() -> None:
    lane, (first, second) = stable(A, B)
    newcomer = lane.enter(C)
    lane.join(A, first)
    assert lane.due(f"session:g:{first}") == [] and first in lane.group.members
    assert lane.at_s(f"session:g:{newcomer}") == 300
    lane.due(f"session:g:{newcomer}")
    assert (
        newcomer not in lane.group.members and lane.group.state == PREPARING and second in lane.group.members
    )


def test_silence_of_who_was_missing_ends_the_join_phase() -> None:
    lane, (first, second) = stable(A, B)
    lane.join(A, first)
    ((connection, answer),) = lane.due(f"session:g:{second}")
    assert isinstance(answer, r.JoinGroupResponse) and (connection, answer.generation_id) == (A, 2)


def test_silence_is_blamed_on_the_members_connection_and_says_what_it_held() -> None:
    lane, (_, second) = stable(A, B)
    before, blamed = len(lane.out.told), len(lane.out.blamed)
    lane.due(f"session:g:{second}")
    assert lane.out.blamed[blamed] == B
    assert lane.out.told[before] == ("kafka.group.member_expired", {"member_id": second, "partitions": [1]})
    assert lane.out.rules[before:] == ["kafka.group.session_timeout", "kafka.group.session_timeout"]


def test_silence_while_assignments_are_awaited_begins_the_rebalance_again() -> None:
    lane, (first, second) = gathered(A, B)
    lane.sync(B, second)
    sent = lane.due(f"session:g:{first}")
    assert sent == [(B, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []))]
    assert lane.group.state == PREPARING and lane.group.leader == second


def test_last_member_that_is_silent_empties_the_group() -> None:
    lane, (only,) = stable(A)
    lane.due(f"session:g:{only}")
    assert (lane.group.state, lane.group.generation, lane.group.leader, lane.group.members) == (
        EMPTY,
        2,
        None,
        {},
    )
    assert "join:g" not in lane.out.deadlines


def test_leave_is_answered_before_those_who_stay() -> None:
    lane, (first, second) = stable(A, B)
    lane.join(A, first)
    sent = lane.leave(B, second)
    assert [connection for connection, _ in sent] == [B, A]
    assert isinstance(sent[0][1], r.LeaveGroupResponse) and f"session:g:{second}" not in lane.out.deadlines


def test_id_that_was_given_out_may_leave_and_ends_what_waited_for_it() -> None:
    lane, (first,) = stable(A)
    ((_, pending),) = lane.join(B)
    assert lane.join(A, first) == [], "the join phase waits for it"
    sent = lane.leave(B, pending.member_id)
    assert [connection for connection, _ in sent] == [B, A] and lane.group.generation == 2
    assert f"session:g:{pending.member_id}" not in lane.out.deadlines
    assert lane.leave(B, pending.member_id) == [(B, r.LeaveGroupResponse(r.UNKNOWN_MEMBER_ID))]


def test_leaving_says_so_before_the_rebalance_that_follows() -> None:
    lane, (_, second) = stable(A, B)
    before = len(lane.out.told)
    lane.leave(B, second)
    assert [kind for kind, _ in lane.out.told[before:]] == [
        "kafka.group.member_left",
        "kafka.group.rebalance_started",
    ]
    assert lane.out.rules[before:] == [None, "kafka.group.leave"] and lane.out.told[-1][1] == {
        "members": 1,
        "generation": 1,
    }


def test_answers_to_a_closed_connection_are_lost_and_the_member_stays() -> None:
    lane, (first, second) = stable(A, B)
    lane.join(A, first)
    hang_up(lane.group, A)
    assert lane.group.members[first].connection == 0 and lane.group.members[second].connection == B
    ((connection, answer),) = lane.join(B, second)
    assert connection == B and answer.generation_id == 2 and first in lane.group.members


def test_connection_that_closes_takes_along_the_ids_that_were_given_on_it_and_no_others() -> None:
    lane = Lane()
    ((_, one),), ((_, two),), ((_, other),) = lane.join(A), lane.join(A), lane.join(B)
    forget_pending(lane.group, A, 0, lane.out)
    assert list(lane.group.pending) == [other.member_id]
    assert {f"session:g:{gone.member_id}" for gone in (one, two)}.isdisjoint(lane.out.deadlines)


def test_session_counts_from_the_last_heartbeat() -> None:
    lane, (only,) = stable(A)
    for now_s in (10, 20, 30):
        lane.beat(A, only, now_s=now_s)
    assert lane.out.deadlines[f"session:g:{only}"] == (30 + 45) * SECOND_US


def test_who_leads_after_the_leader_goes_by_javas_map_and_not_by_the_order_of_joining() -> None:
    """Slots of 16: `b` 2, `c` 3, `a` 1. A leader that stays is not replaced by whoever goes."""
    group = Group("g")
    for name in ("z", "c", "b", "a"):
        group.add(Member(name, 1, 1, 1, READS_T))
    group.drop("c")
    assert group.leader == "z"
    gone = group.drop("z")
    assert (gone.member_id, group.leader) == ("z", "a")
    assert group.rebalance_timeout_us() == 1 and Group("h").rebalance_timeout_us() == 0

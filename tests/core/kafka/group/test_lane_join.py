"""JoinGroup in the lane's coordinator: the first three seconds, who is parked, who is answered at once.
Facts: docs/kafka/facts.md, Joining."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import Subscription
from broker_core.kafka.group.states import COMPLETING, EMPTY, PREPARING
from tests.core.kafka.group.lane_desk import READS_T, Lane, gathered, stable

A, B, C = 1, 2, 3
OTHER = Subscription(("t", "u"))


def test_id_that_is_given_out_begins_with_the_clients_name_and_holds_a_place_for_the_session_timeout() -> (
    None
):
    lane = Lane()
    ((connection, answer),) = lane.join(A, now_s=5, session_us=20 * SECOND_US)
    assert connection == A and answer.error_code == r.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("c1-") and answer.generation_id == r.NO_GENERATION
    assert lane.group.pending == {answer.member_id: A} and lane.group.members == {}
    assert lane.at_s(f"session:g:{answer.member_id}") == 25
    assert lane.group.state == EMPTY, "an id alone begins nothing"


def test_two_newcomers_of_one_name_have_ids_of_their_own() -> None:
    lane = Lane()
    first, second = (lane.join(A)[0][1].member_id for _ in range(2))
    assert first != second and list(lane.group.pending) == [first, second]


def test_id_is_used_once() -> None:
    lane = Lane()
    member_id = lane.enter(A)
    assert lane.group.pending == {} and list(lane.group.members) == [member_id]
    ((_, answer),) = lane.join(B, "c1-made-up")
    assert (answer.error_code, answer.member_id) == (r.UNKNOWN_MEMBER_ID, "c1-made-up")
    assert list(lane.group.members) == [member_id]


def test_new_member_has_five_minutes_for_its_first_answer_and_then_its_own_session() -> None:
    lane = Lane()
    member_id = lane.enter(A, session_us=10 * SECOND_US)
    assert lane.at_s(f"session:g:{member_id}") == 300
    lane.due("join:g")
    assert lane.at_s(f"session:g:{member_id}") == 3 + 10


@pytest.mark.parametrize(
    ("rebalance_s", "ends_s"), [(1, [3]), (3, [3]), (4, [3, 4]), (6, [3, 6]), (8, [3, 6, 8])], ids=str
)
def test_initial_delay_is_prolonged_while_somebody_new_comes_up_to_the_rebalance_timeout(
    rebalance_s: int, ends_s: list[int]
) -> None:
    """Somebody new in every stretch of it: only the largest rebalance timeout ends it."""
    lane = Lane()
    lane.enter(A, rebalance_us=rebalance_s * SECOND_US)
    seen = []
    for connection in range(10, 20):
        if "join:g" not in lane.out.deadlines:
            break
        seen.append(lane.at_s("join:g"))
        lane.enter(connection, rebalance_us=rebalance_s * SECOND_US)
        lane.due("join:g")
    assert seen == ends_s and lane.group.state == COMPLETING


def test_initial_delay_is_not_prolonged_for_the_member_that_began_it() -> None:
    lane = Lane()
    lane.enter(A)
    answers = lane.due("join:g")
    assert [connection for connection, _ in answers] == [A] and lane.group.generation == 1


def test_who_comes_again_in_the_initial_delay_is_no_newcomer() -> None:
    lane = Lane()
    member_id = lane.enter(A)
    assert lane.join(A, member_id) == []
    lane.due("join:g")
    assert (lane.group.state, lane.group.generation) == (COMPLETING, 1)


def test_end_of_the_join_phase_answers_in_the_order_of_joining_and_lists_members_for_the_leader_alone() -> (
    None
):
    lane = Lane()
    ids = [lane.enter(connection) for connection in (C, A, B)]
    lane.due("join:g")
    answers = lane.due("join:g")
    assert [connection for connection, _ in answers] == [C, A, B]
    told = [answer for _, answer in answers]
    assert all(
        isinstance(answer, r.JoinGroupResponse) and answer.leader == ids[0] and answer.protocol == "range"
        for answer in told
    )
    assert [getattr(answer, "members", None) for answer in told] == [
        [(known, READS_T) for known in ids],
        [],
        [],
    ]
    assert lane.at_s("sync:g") == 6 + 300 and "join:g" not in lane.out.deadlines


def test_sync_phase_and_later_join_phases_last_the_largest_rebalance_timeout() -> None:
    lane = Lane()
    lane.enter(A, rebalance_us=20 * SECOND_US), lane.enter(B, rebalance_us=50 * SECOND_US)
    while "join:g" in lane.out.deadlines:
        lane.due("join:g")
    assert lane.at_s("sync:g") == 6 + 50
    first, second = lane.group.members
    lane.sync(B, second), lane.sync(A, first, {})
    lane.join(A, first, now_s=100, rebalance_us=20 * SECOND_US)
    assert lane.at_s("join:g") == 150 and "sync:g" not in lane.out.deadlines


def test_member_that_is_missing_at_the_end_loses_its_place_and_its_timer() -> None:
    lane, (first, second) = stable(A, B)
    lane.join(A, first, now_s=10)
    lane.out.told.clear()
    ((connection, answer),) = lane.due("join:g")
    assert isinstance(answer, r.JoinGroupResponse)
    assert (connection, answer.generation_id, [known for known, _ in answer.members]) == (A, 2, [first])
    assert f"session:g:{second}" not in lane.out.deadlines
    assert lane.out.told[0] == ("kafka.group.member_removed", {"member_id": second})


def test_missing_leader_is_followed_by_one_that_is_there() -> None:
    lane, (first, second) = stable(A, B)
    lane.join(B, second, subscription=OTHER)
    ((_, answer),) = lane.due("join:g")
    assert (
        isinstance(answer, r.JoinGroupResponse)
        and answer.leader == second == lane.group.leader
        and first not in lane.group.members
    )


@pytest.mark.parametrize(
    ("subscription", "protocol"), [(OTHER, "range"), (READS_T, "roundrobin")], ids=["topics", "assignor"]
)
def test_follower_that_asks_for_something_else_rebalances_a_stable_group(
    subscription: Subscription, protocol: str
) -> None:
    lane, (first, second) = stable(A, B)
    assert lane.join(B, second, subscription=subscription, protocol=protocol) == []
    assert lane.group.state == PREPARING and lane.group.members[second].subscription == subscription
    answers = dict(lane.join(A, first, protocol=protocol))
    assert (
        answers[A].members == [(first, READS_T), (second, subscription)] and answers[B].protocol == protocol
    )


def test_rejoin_brings_new_timeouts_only_where_it_begins_a_rebalance() -> None:
    lane, (first, second) = stable(A, B)
    ((_, answer),) = lane.join(B, second, session_us=7 * SECOND_US)
    assert answer.generation_id == 1 and lane.group.members[second].session_timeout_us == 45 * SECOND_US
    lane.join(A, first, session_us=7 * SECOND_US, rebalance_us=9 * SECOND_US)
    leader = lane.group.members[first]
    assert (leader.session_timeout_us, leader.rebalance_timeout_us) == (7 * SECOND_US, 9 * SECOND_US)


def test_who_asks_again_before_the_leader_has_synced_is_told_the_same_once_more() -> None:
    lane, (first, second) = gathered(A, B)
    ((_, to_leader),) = lane.join(A, first)
    ((_, to_other),) = lane.join(B, second)
    assert (to_leader.generation_id, len(to_leader.members), to_other.members) == (1, 2, [])
    assert lane.group.state == COMPLETING
    assert lane.join(B, second, subscription=OTHER) == [] and lane.group.state == PREPARING


def test_answer_goes_to_the_connection_of_the_last_join() -> None:
    lane, (first, second) = stable(A, B)
    lane.join(A, first)
    assert sorted(connection for connection, _ in lane.join(C, second)) == [A, C]


def test_rebalance_ends_the_wait_of_who_is_in_sync_and_takes_the_assignments_back() -> None:
    lane, (first, second) = gathered(A, B)
    assert lane.sync(B, second) == []
    lane.group.members[first].assignment = [4]
    ((_, pending),) = lane.join(C)
    answers = lane.join(C, pending.member_id)
    assert answers == [(B, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []))]
    assert [member.assignment for member in lane.group.members.values()] == [[], [], []]
    assert not lane.group.members[second].awaits_sync


def test_rebalance_of_a_stable_group_leaves_the_assignments_where_they_are() -> None:
    lane, (first, _) = stable(A, B)
    lane.join(A, first)
    assert lane.group.state == PREPARING and [
        member.assignment for member in lane.group.members.values()
    ] == [[0], [1]]


def test_turning_points_say_what_began_the_rebalance_and_what_it_led_to() -> None:
    lane = Lane()
    lane.enter(A)
    lane.due("join:g")
    assert list(zip([kind for kind, _ in lane.out.told], lane.out.rules, strict=True)) == [
        ("kafka.group.member_joined", None),
        ("kafka.group.rebalance_started", "kafka.group.initial_rebalance_delay"),
        ("kafka.group.generation_started", "kafka.group.all_members_joined"),
    ]
    assert lane.out.told[1][1] == {"members": 1, "generation": 0}
    (member_id,) = lane.group.members
    assert lane.out.told[2][1] == {"generation": 1, "leader": member_id}
    lane.sync(A, member_id, {})
    lane.join(A, member_id), lane.join(B)
    assert (
        lane.out.rules[-1] == "kafka.group.all_members_joined" and lane.out.rules[-2] == "kafka.group.rejoin"
    )
    assert lane.group.state == COMPLETING


def test_each_turning_point_of_a_group_follows_from_the_one_before() -> None:
    lane = Lane()
    lane.enter(A)
    assert lane.group.cause.event == "test:2", "the rebalance that its join began"
    lane.due("join:g")
    assert lane.out.blamed[-1] != lane.group.cause and lane.group.cause.event == "test:3"
    assert [getattr(cause, "event", None) for cause in lane.out.blamed] == ["test:2", "test:2"]


def test_group_that_is_refilled_waits_again_before_its_next_generation() -> None:
    lane, (only,) = stable(A)
    lane.leave(A, only)
    assert (lane.group.state, lane.group.generation) == (EMPTY, 2)
    newcomer = lane.enter(B, now_s=60)
    assert lane.at_s("join:g") == 63 and lane.group.leader == newcomer
    lane.due("join:g")
    assert (lane.group.state, lane.group.generation) == (COMPLETING, 3)

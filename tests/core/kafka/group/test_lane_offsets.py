"""OffsetCommit and OffsetFetch in the lane's coordinator. Facts: docs/kafka/facts.md, Heartbeats, leaving,
offsets."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group
from broker_core.kafka.group.offsets import offset_commit, offset_fetch
from broker_core.kafka.group.states import COMPLETING, EMPTY, PREPARING, STABLE
from tests.core.kafka.group.lane_desk import Lane, gathered, stable

A, B = 1, 2


def commit(lane: Lane, member_id: str, generation: int, offsets: dict[int, int], now_s: int = 0) -> int:
    offset_commit(
        lane.group, A, r.OffsetCommitRequest("g", generation, member_id, offsets), now_s * SECOND_US, lane.out
    )
    ((connection, answer),) = lane.out.take()
    assert connection == A
    return int(answer.error_code)


def fetch(lane: Lane, *partitions: int) -> dict[int, int]:
    offset_fetch(lane.group, B, r.OffsetFetchRequest("g", list(partitions)), 0, lane.out)
    ((connection, answer),) = lane.out.take()
    assert connection == B
    return dict(answer.offsets)


@pytest.mark.parametrize(
    ("phase", "is_known", "generation", "code"),
    [
        (STABLE, False, 9, r.UNKNOWN_MEMBER_ID),
        (STABLE, False, -1, r.UNKNOWN_MEMBER_ID),
        (STABLE, True, -1, r.ILLEGAL_GENERATION),
        (STABLE, True, 2, r.ILLEGAL_GENERATION),
        (STABLE, True, 1, r.NONE),
        (PREPARING, True, 1, r.NONE),
        (PREPARING, True, 0, r.ILLEGAL_GENERATION),
        (COMPLETING, True, 0, r.ILLEGAL_GENERATION),
        (COMPLETING, True, 1, r.REBALANCE_IN_PROGRESS),
        (COMPLETING, False, 1, r.UNKNOWN_MEMBER_ID),
    ],
)
def test_first_check_that_fails_decides_and_a_refused_commit_leaves_offsets_and_session_alone(
    phase: str, is_known: bool, generation: int, code: int
) -> None:
    lane, (first, second) = gathered(A, B) if phase == COMPLETING else stable(A, B)
    if phase == PREPARING:
        lane.join(A, first)
    lane.group.offsets = {0: 3}
    before = lane.at_s(f"session:g:{second}")
    assert commit(lane, second if is_known else "stranger", generation, {0: 7}, now_s=30) == code
    assert fetch(lane, 0) == {0: 7 if code == r.NONE else 3}
    assert lane.at_s(f"session:g:{second}") == (75 if code == r.NONE else before)


def test_simple_consumer_commits_to_a_group_without_members_and_sets_no_timer() -> None:
    lane = Lane()
    assert commit(lane, "", -1, {0: 5, 2: 1}) == r.NONE
    assert fetch(lane, 0, 1, 2) == {0: 5, 1: -1, 2: 1} and lane.out.deadlines == {}
    assert (lane.group.state, lane.group.members) == (EMPTY, {})
    assert commit(lane, "", 0, {0: 9}) == r.UNKNOWN_MEMBER_ID and fetch(lane, 0) == {0: 5}


def test_simple_consumer_may_commit_again_once_all_members_have_left() -> None:
    lane, (only,) = stable(A)
    assert commit(lane, only, 1, {0: 4}) == r.NONE
    lane.leave(A, only)
    assert fetch(lane, 0) == {0: 4}, "the group keeps its offsets"
    assert commit(lane, "", -1, {0: 2}) == r.NONE and fetch(lane, 0) == {0: 2}, "back is allowed"


def test_commit_touches_the_partitions_it_names_alone() -> None:
    lane, (only,) = stable(A)
    commit(lane, only, 1, {0: 4, 1: 8})
    commit(lane, only, 1, {1: 9})
    assert fetch(lane, 1, 0) == {1: 9, 0: 4}


def test_fetch_asks_for_no_membership_and_answers_the_partitions_it_was_asked_for() -> None:
    lane = Lane(Group("g", offsets={3: 30, 1: 10}))
    assert list(fetch(lane, 1, 3, 1)) == [1, 3] and fetch(lane) == {}

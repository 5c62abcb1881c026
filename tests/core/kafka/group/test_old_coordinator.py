"""The switch to 3.9's old coordinator: where its answers part from the new one's."""

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    GROUP_ID_NOT_FOUND,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_COMMIT_OFFSET_SIZE,
    MESSAGE_TOO_LARGE,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
)
from tests.core.kafka.group.desk import Desk, join, stable_group, sync

BOTH = pytest.mark.parametrize("is_old", [False, True])


def commit(generation, topics=((0, 1),)):
    partitions = [m.CommittedPartition(number, offset) for number, offset in topics]
    return m.OffsetCommitRequest("g", generation, "", [m.CommittedTopic("t", partitions)])


def code(answer):
    return answer.topics[0].partitions[0].error_code


@BOTH
def test_sync_of_a_stable_group_prolongs_the_session_only_in_the_old_one(is_old):
    desk, (_, follower) = stable_group("a", "b", is_old=is_old)
    desk.pass_until(9_000)
    desk.send(sync(1, follower))
    assert desk.deadlines[f"heartbeat-g-{follower}"] == (19_000 if is_old else 16_000)


@BOTH
def test_group_without_generation_is_written_only_by_the_new_one(is_old):
    desk = Desk(is_old=is_old)
    desk.send(join())
    assert len(desk.log) == (0 if is_old else 1)
    desk.fail_over()
    assert (desk.group() is None) is is_old


@BOTH
def test_refilled_group_is_given_more_time_only_by_the_new_one(is_old):
    desk, (member,) = stable_group("a", is_old=is_old)
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(member)]), 5)
    desk.send(join(), 3, "b")
    desk.send(join(), 3, "c")
    desk.pass_until(6_000)
    assert desk.group().state == (COMPLETING if is_old else PREPARING)


@BOTH
def test_who_leaves_second_may_still_lead_in_the_old_one(is_old):
    desk, (leader, other) = stable_group("a", "b", is_old=is_old)
    assert desk.send(join(other, protocols=("range", "sticky")), 9) is None
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(leader), m.MemberIdentity(other)]), 5)
    rejoin = [answer for answer in desk.answers.values() if isinstance(answer, m.JoinGroupResponse)][-1]
    assert rejoin.error_code == (0 if is_old else UNKNOWN_MEMBER_ID)
    assert (desk.group().state, desk.group().generation) == (EMPTY, 3 if is_old else 2)


@BOTH
def test_pending_id_that_leaves_starts_a_rebalance_only_in_the_new_one(is_old):
    desk, _ = stable_group("a", is_old=is_old)
    pending = desk.send(join(), client="b").member_id
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(pending)]), 5)
    assert desk.group().state == (STABLE if is_old else PREPARING)


@BOTH
def test_unknown_group_and_unchosen_protocol_are_refused_with_other_codes(is_old):
    desk = Desk(is_old=is_old)
    assert code(desk.send(commit(3))) == (ILLEGAL_GENERATION if is_old else GROUP_ID_NOT_FOUND)
    desk.send(join(), 3, "a")
    (member,) = desk.group().members
    assert desk.send(sync(0, member)).error_code == (
        INCONSISTENT_GROUP_PROTOCOL if is_old else REBALANCE_IN_PROGRESS
    )


@BOTH
def test_partition_that_is_named_twice_is_written_once_by_the_old_one(is_old):
    desk = Desk(is_old=is_old)
    answer = desk.send(commit(-1, topics=((0, 1), (0, 2))))
    assert len(answer.topics[0].partitions) == len(desk.log) == (1 if is_old else 2)
    assert desk.log[-1].value.offset == 2


@BOTH
def test_last_offset_takes_an_empty_group_along_only_in_the_old_one(is_old):
    desk = Desk(is_old=is_old)
    desk.send(commit(-1))
    desk.send(m.OffsetDeleteRequest("g", [m.DeletedTopic("t", [m.DeletedPartition(0)])]))
    assert (desk.group() is None) is is_old


@BOTH
def test_failed_append_is_told_with_other_codes(is_old):
    desk = Desk(is_old=is_old)
    desk.next_error = MESSAGE_TOO_LARGE
    assert code(desk.send(commit(-1))) == (INVALID_COMMIT_OFFSET_SIZE if is_old else UNKNOWN_SERVER_ERROR)
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (member,) = desk.group().members
    desk.next_error = REQUEST_TIMED_OUT
    answer = desk.send(sync(1, member, {member: b"x"}))
    assert answer.error_code == (REBALANCE_IN_PROGRESS if is_old else COORDINATOR_NOT_AVAILABLE)


@BOTH
def test_tombstone_of_an_expired_offset_leaves_an_open_transaction_alone_only_in_the_old_one(is_old):
    desk = Desk(is_old=is_old, offsets_retention_ms=1_000, offsets_retention_check_interval_ms=1_000)
    desk.send(commit(-1))
    desk.send(
        m.TxnOffsetCommitRequest("tx", "g", 100, 0, [m.CommittedTopic("t", [m.CommittedPartition(0, 5)])])
    )
    desk.pass_until(1_000)
    assert len(desk.log) == (3 if is_old else 2), "an open transaction holds the offset in the new one"
    desk.send(m.WriteTxnMarkers(100, 0, True))
    asked = m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])])
    assert desk.send(asked).groups[0].topics[0].partitions[0].committed_offset == 5


@BOTH
def test_group_that_a_commit_made_is_listed_before_it_is_confirmed_by_the_old_one_alone(is_old):
    """It adds the group to its cache before it appends (GroupCoordinator.scala, handleCommitOffsets); the
    offset waits in both."""
    desk = Desk(is_old=is_old)
    desk.is_held = True
    assert desk.send(commit(-1)) is None
    assert [group.group_id for group in desk.send(m.ListGroupsRequest(), 5).groups] == (
        ["g"] if is_old else []
    )
    assert desk.send(m.DescribeGroupsRequest(["g"]), 5).groups[0].group_state == (EMPTY if is_old else DEAD)
    asked = m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])])
    assert desk.send(asked).groups[0].topics[0].partitions[0].committed_offset == -1
    desk.let_go()
    assert [group.group_id for group in desk.send(m.ListGroupsRequest(), 5).groups] == ["g"]
    assert desk.send(asked).groups[0].topics[0].partitions[0].committed_offset == 1

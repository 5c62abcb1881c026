"""Rules of KIP-848's heartbeat that are easily got wrong, one playbook each."""

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    FENCED_MEMBER_EPOCH,
    GROUP_ID_NOT_FOUND,
    INVALID_REQUEST,
    UNKNOWN_MEMBER_ID,
    UNSUPPORTED_ASSIGNOR,
)
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848


def leave(member_id, epoch=-1, instance=None):
    return m.ConsumerGroupHeartbeatRequest("g", member_id, epoch, instance_id=instance)


def two_members(rebalance_ms=10_000):
    """One owner of six partitions that was told to give three up, and the newcomer that waits for them."""
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    two = desk.send(heartbeat848()).member_id
    told = desk.send(heartbeat848(one, 1))
    return desk, one, two, told.assignment.topic_partitions[0].partitions


@pytest.mark.parametrize(
    "fields",
    [
        {"rebalance_timeout_ms": -1},
        {"subscribed_topic_names": []},
        {"subscribed_topic_names": None},
        {"topic_partitions": None},
        {"topic_partitions": [m.TopicPartitions(TOPIC_ID, [0])]},
    ],
)
def test_a_join_says_everything_and_owns_nothing(fields):
    whole = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": ["t"], "topic_partitions": []}
    desk = Desk()
    assert (
        desk.send(m.ConsumerGroupHeartbeatRequest("g", "", 0, **whole | fields)).error_code == INVALID_REQUEST
    )
    assert desk.group() is None and not desk.log


def test_stranger_assignor_and_group_that_are_unknown_have_codes_of_their_own():
    desk = Desk()
    assert desk.send(heartbeat848("x", 3)).error_code == GROUP_ID_NOT_FOUND
    assert desk.send(heartbeat848(server_assignor="best")).error_code == UNSUPPORTED_ASSIGNOR
    desk.send(heartbeat848())
    assert desk.send(heartbeat848("x", 3)).error_code == UNKNOWN_MEMBER_ID


def test_owner_keeps_its_epoch_and_the_newcomer_gets_nothing_until_all_is_given_up():
    desk, one, two, kept = two_members()
    assert len(kept) == 3 and desk.group().members[one].epoch == 1
    gone = [p for p in range(6) if p not in kept]
    desk.send(heartbeat848(one, 1, [*kept, gone[0]]))
    assert desk.group().members[one].epoch == 1, "a part of it changes nothing"
    assert desk.send(heartbeat848(two, 2)).assignment is None
    assert desk.send(heartbeat848(one, 1, kept)).member_epoch == 2
    assert desk.send(heartbeat848(two, 2)).assignment.topic_partitions[0].partitions == gone


def test_rebalance_timer_is_moved_by_nothing_that_the_member_says():
    desk, one, _, kept = two_members()
    timer = f"rebalance-timeout-g-{one}"
    deadline = desk.deadlines[timer]
    desk.pass_until(4_000)
    desk.send(heartbeat848(one, 1))
    desk.send(m.ConsumerGroupHeartbeatRequest("g", one, 1, rebalance_timeout_ms=99_000))
    desk.send(heartbeat848(one, 1, [*kept, next(p for p in range(6) if p not in kept)]))
    assert desk.deadlines[timer] == deadline == 10_000
    desk.fail_over()
    assert desk.deadlines[timer] > deadline, "another broker begins to count"


def test_fenced_epoch_removes_nobody():
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    assert desk.send(heartbeat848(one, 2)).error_code == FENCED_MEMBER_EPOCH
    assert one in desk.group().members
    assert desk.send(heartbeat848(one, 1)).error_code == 0


def test_a_leave_computes_no_target_and_the_next_heartbeat_does():
    desk, one, two, _ = two_members()
    before = len(desk.log)
    desk.send(leave(two))
    written = [type(record.key).__name__ for record in desk.log[before:]]
    assert not any("TargetAssignmentMetadata" in name for name in written)
    assert desk.group().epoch == 3 and desk.group().assignment_epoch == 2
    desk.send(heartbeat848(one, 1))
    assert desk.group().assignment_epoch == 3


def test_leave_for_a_while_does_not_restart_the_session():
    desk = Desk()
    one = desk.send(heartbeat848(instance_id="i")).member_id
    deadline = desk.deadlines[f"session-timeout-g-{one}"]
    desk.pass_until(20_000)
    desk.send(leave(one, -2, "i"))
    assert desk.deadlines[f"session-timeout-g-{one}"] == deadline
    desk.pass_until(deadline)
    assert not desk.group().members


def test_known_instance_under_another_id_is_fenced_and_unknown_instance_is_unknown():
    desk = Desk()
    one = desk.send(heartbeat848(instance_id="i")).member_id
    assert desk.send(heartbeat848("other", 1, instance_id="i")).error_code == FENCED_INSTANCE_ID
    assert desk.send(heartbeat848(one, 1, instance_id="j")).error_code == UNKNOWN_MEMBER_ID

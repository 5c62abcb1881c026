"""Rules of the expiry of offsets, one playbook each; what both coordinators do alike is held in both."""

import pytest

from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import COMPLETING, PREPARING, STABLE
from broker_core.kafka.group.codes import NONE
from broker_core.kafka.group.consumer.group import ConsumerGroup
from tests.core.kafka.group.desk import Desk, heartbeat848, join, sync

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
SHORT = {"offsets_retention_ms": 5_000, "offsets_retention_check_interval_ms": 1_000}


def commit(topic="t", member_id="", generation=-1):
    return m.OffsetCommitRequest(
        "g", generation, member_id, [m.CommittedTopic(topic, [m.CommittedPartition(0, 7)])]
    )


def transactional(producer=100, topic="t"):
    return m.TxnOffsetCommitRequest(
        "tx", "g", producer, 0, [m.CommittedTopic(topic, [m.CommittedPartition(0, 9)])]
    )


def committed(desk, *topics):
    asked = [m.FetchedTopic(topic, [0]) for topic in topics]
    answer = desk.send(m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=asked)]))
    return [topic.partitions[0].committed_offset for topic in answer.groups[0].topics]


def two_readers(is_old, offered=None, protocol_type="consumer"):
    """Two members in a Stable group with an offset of `t`, which they read, and one of `u`, which nobody
    reads; committed at 6 s."""
    desk = Desk(is_old=is_old, **SHORT)
    metadata = write_subscription(SubscriptionData(("t",)), 0) if offered is None else offered
    for client in "ab":
        desk.send(
            m.JoinGroupRequest("g", 1_000_000, "", protocol_type, [m.Protocol("range", metadata)], 30_000),
            3,
            client,
        )
    desk.pass_until(6_000)
    leader, follower = desk.group().members
    for member_id in (follower, leader):
        desk.send(
            m.SyncGroupRequest(
                "g",
                1,
                member_id,
                assignments=[m.MemberAssignment(leader, b"x"), m.MemberAssignment(follower, b"y")],
            ),
            3,
        )
    assert desk.group().state == STABLE
    for topic in "tu":
        assert desk.send(commit(topic, leader, 1)).topics[0].partitions[0].error_code == NONE
    return desk, leader, follower


@BOTH
def test_stable_consumers_lose_offsets_of_topics_that_nobody_reads_and_no_other(is_old):
    desk, *_ = two_readers(is_old)
    desk.pass_until(10_999)
    assert committed(desk, "t", "u") == [7, 7]
    desk.pass_until(60_000)
    assert committed(desk, "t", "u") == [7, -1]
    assert desk.group().state == STABLE


@BOTH
def test_nothing_expires_while_a_rebalance_is_under_way(is_old):
    desk, leader, follower = two_readers(is_old)
    desk.send(join(leader, session_ms=1_000_000))
    assert desk.group().state == PREPARING
    desk.pass_until(30_000)
    assert committed(desk, "u") == [7]
    desk.send(join(follower, session_ms=1_000_000))
    assert desk.group().state == COMPLETING
    desk.pass_until(40_000)
    assert committed(desk, "u") == [7]
    desk.send(sync(2, follower))
    desk.send(sync(2, leader, {leader: b"x", follower: b"y"}))
    desk.pass_until(41_000)
    assert committed(desk, "t", "u") == [7, -1], "the first look at the Stable group"


@BOTH
@pytest.mark.parametrize(
    ("protocol_type", "metadata"), [("connect", b"anything"), ("consumer", b"")], ids=["connect", "cut off"]
)
def test_nothing_of_a_stable_group_expires_whose_topics_cannot_be_told(is_old, protocol_type, metadata):
    desk, *_ = two_readers(is_old, metadata, protocol_type)
    assert desk.group().subscribed_topics is None
    desk.pass_until(60_000)
    assert committed(desk, "t", "u") == [7, 7]


@BOTH
def test_a_transaction_that_is_over_does_not_keep_the_group(is_old):
    desk = Desk(is_old=is_old, **SHORT)
    desk.send(transactional(), 3)
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert committed(desk, "t") == [9]
    desk.pass_until(10_000)
    assert committed(desk, "t") == [-1] and desk.group() is None
    assert desk.coordinator.state.offsets.by_group == {}, "nothing is kept of a group that is gone"


@pytest.mark.parametrize(("is_old", "left"), [(False, [7, -1]), (True, [-1, -1])], ids=["new", "old"])
def test_an_open_transaction_holds_its_partition_in_the_new_coordinator_and_the_group_in_both(is_old, left):
    desk = Desk(is_old=is_old, **SHORT)
    for topic in "tu":
        desk.send(commit(topic))
    desk.send(transactional(), 3)
    desk.pass_until(20_000)
    assert committed(desk, "t", "u") == left and desk.group() is not None
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert committed(desk, "t") == [9]


@pytest.mark.parametrize(("is_old", "tombstones"), [(False, 1), (True, 0)], ids=["new", "old"])
def test_deleted_topic_takes_along_what_only_an_open_transaction_holds(is_old, tombstones):
    desk = Desk(is_old=is_old)
    desk.send(transactional(), 3)
    before = len(desk.log)
    desk.send(m.PartitionsDeleted([("t", 0)]))
    assert [record.value for record in desk.log[before:]] == [None] * tombstones
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert committed(desk, "t") == [-1]


def test_empty_group_changes_its_kind_and_keeps_its_offsets():
    desk = Desk()
    desk.send(commit())
    assert isinstance(desk.group(), ClassicGroup)
    before = len(desk.log)
    member = desk.send(heartbeat848()).member_id
    assert isinstance(desk.group(), ConsumerGroup) and committed(desk, "t") == [7]
    assert (type(desk.log[before].key).__name__, desk.log[before].value) == ("GroupMetadataKey", None), (
        "the other kind ends first"
    )
    desk.send(m.ConsumerGroupHeartbeatRequest("g", member, -1))
    before = len(desk.log)
    desk.send(join(), 3, "a")
    assert isinstance(desk.group(), ClassicGroup) and committed(desk, "t") == [7]
    *ended, begun = desk.log[before:]
    assert [(type(record.key).__name__, record.value) for record in ended] == [
        ("ConsumerGroupTargetAssignmentMetadataKey", None),
        ("ConsumerGroupPartitionMetadataKey", None),
        ("ConsumerGroupMetadataKey", None),
    ]
    assert (type(begun.key).__name__, begun.value.generation) == ("GroupMetadataKey", 0)
    desk.fail_over()
    assert isinstance(desk.group(), ClassicGroup) and committed(desk, "t") == [7]

"""Committed offsets: who may commit, what a reader sees, transactions, expiry."""

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import (
    GROUP_SUBSCRIBED_TO_TOPIC,
    OFFSET_METADATA_TOO_LARGE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
    UNSTABLE_OFFSET_COMMIT,
)
from tests.core.kafka.group.desk import Desk, join, stable_group


def commit(offset, member_id="", generation=-1, topic="t", metadata=""):
    return m.OffsetCommitRequest(
        "g", generation, member_id, [m.CommittedTopic(topic, [m.CommittedPartition(0, offset, -1, metadata)])]
    )


def transactional(offset, producer):
    return m.TxnOffsetCommitRequest(
        "tx", "g", producer, 0, [m.CommittedTopic("t", [m.CommittedPartition(0, offset)])]
    )


def fetched(desk, is_stable=False):
    request = m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])], is_stable)
    answer = desk.send(request)
    return None if answer is None else answer.groups[0].topics[0].partitions[0]


def code(answer):
    return answer.topics[0].partitions[0].error_code


def test_simple_consumer_commits_without_joining_and_finds_its_offset_after_a_failover():
    desk = Desk()
    assert code(desk.send(commit(7))) == 0
    desk.fail_over()
    assert fetched(desk).committed_offset == 7
    assert desk.group().protocol_type is None


def test_member_may_commit_until_the_next_generation_is_there_and_not_before_it_is_assigned():
    desk, (leader, follower) = stable_group("a", "b")
    assert code(desk.send(commit(1, follower, 1))) == 0
    desk.send(join(leader), 9)
    assert code(desk.send(commit(2, follower, 1))) == 0, "the old generation hands over"
    desk.send(join(follower), 9)
    assert code(desk.send(commit(3, follower, 2))) == REBALANCE_IN_PROGRESS
    assert code(desk.send(commit(4))) == UNKNOWN_MEMBER_ID
    assert fetched(desk).committed_offset == 2


def test_reader_sees_what_the_high_watermark_has_passed_and_a_stable_fetch_waits_for_it():
    desk = Desk()
    desk.send(commit(1))
    desk.is_held = True
    assert desk.send(commit(2)) is None
    assert fetched(desk).committed_offset == 1
    assert fetched(desk, is_stable=True) is None
    desk.let_go()
    assert desk.answers[4].groups[0].topics[0].partitions[0].committed_offset == 2
    assert fetched(desk).committed_offset == 2


def test_too_long_metadata_is_counted_in_utf16_units_and_refused_for_its_partition():
    desk = Desk(offset_metadata_max_bytes=2)
    assert code(desk.send(commit(1, metadata="ab"))) == 0
    assert code(desk.send(commit(2, metadata="a\N{GRINNING FACE}"))) == OFFSET_METADATA_TOO_LARGE


def test_transactional_commit_counts_when_it_is_committed_and_never_over_a_newer_plain_one():
    desk = Desk()
    desk.send(commit(1))
    desk.send(transactional(5, producer=100))
    assert fetched(desk, is_stable=True).error_code == UNSTABLE_OFFSET_COMMIT
    assert fetched(desk).committed_offset == 1
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert fetched(desk, is_stable=True).committed_offset == 5
    desk.send(transactional(6, producer=100))
    desk.send(commit(9))
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert fetched(desk).committed_offset == 9


def test_aborted_transaction_leaves_nothing():
    desk = Desk()
    desk.send(transactional(5, producer=100))
    desk.send(m.WriteTxnMarkers(100, 0, False))
    assert fetched(desk, is_stable=True).committed_offset == -1


def test_offsets_of_an_empty_group_expire_from_when_it_became_empty_and_take_it_along():
    desk, (member,) = stable_group(
        "a", offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000
    )
    desk.send(commit(1, member, 1))
    desk.pass_until(9_000)
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(member)]), 5)
    desk.pass_until(68_999)
    assert fetched(desk).committed_offset == 1
    desk.pass_until(69_000)
    assert fetched(desk).committed_offset == -1 and desk.group() is None
    assert [record.value for record in desk.log[-2:]] == [None, None]


def test_offset_of_a_topic_that_members_read_is_not_deleted():
    desk, (member,) = stable_group("a")
    desk.send(commit(1, member, 1)), desk.send(commit(1, member, 1, topic="u"))
    asked = [m.DeletedTopic(topic, [m.DeletedPartition(0)]) for topic in ("t", "u")]
    answer = desk.send(m.OffsetDeleteRequest("g", asked))
    assert [topic.partitions[0].error_code for topic in answer.topics] == [GROUP_SUBSCRIBED_TO_TOPIC, 0]

"""Rules of committed offsets and of the administrator's requests, one playbook each; what both coordinators
do alike is held in both."""

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, NONE, UNSTABLE_OFFSET_COMMIT
from tests.core.kafka.group.desk import Desk, heartbeat848, join, stable_group

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


def commit(offset, group="g", member_id="", generation=-1, metadata="", retention_ms=-1):
    topics = [m.CommittedTopic("t", [m.CommittedPartition(0, offset, 3, metadata)])]
    return m.OffsetCommitRequest(group, generation, member_id, topics, None, retention_ms)


def fetched(desk, is_stable=False):
    request = m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])], is_stable)
    return desk.send(request).groups[0].topics[0].partitions[0]


@BOTH
def test_what_nobody_committed_is_minus_one_without_an_error(is_old):
    partition = fetched(Desk(is_old=is_old))
    assert (
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.metadata,
        partition.error_code,
    ) == (-1, -1, "", NONE)


@BOTH
def test_a_commit_may_go_back_and_below_zero_and_stores_no_metadata_as_empty(is_old):
    desk = Desk(is_old=is_old)
    for offset in (9, 2, -5):
        desk.send(commit(offset, metadata=None))
        assert (fetched(desk).committed_offset, fetched(desk).metadata) == (offset, "")


@BOTH
def test_retention_of_its_own_is_written_in_the_schema_that_has_it_and_loses_the_leader_epoch(is_old):
    desk = Desk(is_old=is_old, offsets_retention_check_interval_ms=1_000)
    desk.send(commit(1), 4)
    desk.send(commit(2, retention_ms=5_000), 4)
    plain, own = (record for record in desk.log if type(record.key).__name__ == "OffsetCommitKey")
    assert (plain.value.version, own.value.version) == (3, 1)
    desk.fail_over()
    assert fetched(desk).committed_leader_epoch == -1
    desk.pass_until(4_999)
    assert fetched(desk).committed_offset == 2
    desk.pass_until(6_000)
    assert fetched(desk).committed_offset == -1


@BOTH
def test_stable_fetch_tells_of_an_open_transaction_and_not_of_one_that_ended(is_old):
    desk = Desk(is_old=is_old)
    desk.send(
        m.TxnOffsetCommitRequest("tx", "g", 7, 0, [m.CommittedTopic("t", [m.CommittedPartition(0, 5)])]), 3
    )
    assert (fetched(desk, True).error_code, fetched(desk, True).committed_offset) == (
        UNSTABLE_OFFSET_COMMIT,
        -1,
    )
    assert fetched(desk).error_code == NONE
    desk.send(m.WriteTxnMarkers(7, 0, False))
    assert (fetched(desk, True).error_code, fetched(desk, True).committed_offset) == (NONE, -1)


@BOTH
def test_groups_are_deleted_when_they_are_empty_and_each_is_answered_for_itself(is_old):
    desk, _ = stable_group("a", is_old=is_old)
    desk.send(commit(1, "offsets-only"))
    answer = desk.send(m.DeleteGroupsRequest(["g", "offsets-only", "unknown"]), 2)
    assert {result.group_id: result.error_code for result in answer.results} == {
        "g": NON_EMPTY_GROUP, "offsets-only": NONE, "unknown": GROUP_ID_NOT_FOUND,
    }  # fmt: skip
    assert desk.group("offsets-only") is None and desk.group() is not None


@BOTH
def test_unknown_group_is_described_as_dead_without_an_error(is_old):
    (described,) = Desk(is_old=is_old).send(m.DescribeGroupsRequest(["nobody"]), 5).groups
    assert (described.error_code, described.group_state, described.members) == (NONE, "Dead", [])


@BOTH
@pytest.mark.parametrize(
    ("states", "expected"), [([], ["e", "g"]), (["sTABLE"], ["g"]), (["EMPTY"], ["e"]), (["Dead"], [])]
)
def test_list_filters_by_state_whatever_its_case(is_old, states, expected):
    desk, _ = stable_group("a", is_old=is_old)
    desk.send(commit(1, "e"))
    assert sorted(group.group_id for group in desk.send(m.ListGroupsRequest(states), 5).groups) == expected


def test_list_filters_by_type_whatever_its_case_and_describe_keeps_the_protocols_apart():
    desk = Desk()
    desk.send(heartbeat848())
    desk.send(commit(1, "e"))
    listed = {
        kind: [group.group_id for group in desk.send(m.ListGroupsRequest([], [kind]), 5).groups]
        for kind in ("CONSUMER", "classic")
    }
    assert listed == {"CONSUMER": ["g"], "classic": ["e"]}
    assert desk.send(m.DescribeGroupsRequest(["g"]), 5).groups[0].group_state == "Dead"
    assert desk.send(m.ConsumerGroupDescribeRequest(["e"]), 0).groups[0].error_code == GROUP_ID_NOT_FOUND


@BOTH
def test_failover_forgets_ids_that_wait_and_starts_all_sessions_anew(is_old):
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    pending = desk.send(join(), 9, "c").member_id
    desk.pass_until(desk.now_ms + 3_000)
    desk.fail_over()
    assert pending not in desk.group().pending_joins
    assert {desk.deadlines[f"heartbeat-g-{member}"] for member in (leader, follower)} == {
        desk.now_ms + 10_000
    }
    assert [desk.group().members[member].rebalance_timeout_ms for member in (leader, follower)] == [
        30_000,
        30_000,
    ]


def test_partitions_of_a_deleted_topic_lose_their_offsets_in_every_group():
    desk = Desk()
    desk.send(commit(1)), desk.send(commit(2, "h"))
    desk.send(m.PartitionsDeleted([("t", 0)]))
    assert fetched(desk).committed_offset == -1
    assert [record.value for record in desk.log[-2:]] == [None, None]

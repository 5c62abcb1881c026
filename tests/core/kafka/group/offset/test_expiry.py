"""The look for expired offsets: how often, from when the retention counts in each state, what goes along, and
what a failed write costs."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import NONE, NOT_ENOUGH_REPLICAS
from tests.core.kafka.group.classic.parked import leave
from tests.core.kafka.group.desk import Desk, heartbeat848, join, stable_group

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
SHORT: dict[str, Any] = {"offsets_retention_ms": 10_000, "offsets_retention_check_interval_ms": 1_000}


def commit(
    desk: Desk,
    *numbers: int,
    topic: str = "t",
    member_id: str = "",
    generation: int = -1,
    version: int = 9,
    retention_ms: int = -1,
) -> None:
    topics = [m.CommittedTopic(topic, [m.CommittedPartition(number, 7) for number in numbers])]
    answer = desk.send(m.OffsetCommitRequest("g", generation, member_id, topics, None, retention_ms), version)
    assert {part.error_code for part in answer.topics[0].partitions} == {NONE}


def there(desk: Desk) -> list[tuple[str, int]]:
    return [place[1:] for place in desk.coordinator.state.offsets.visible.present]


@BOTH
def test_looks_come_at_the_interval_from_loading_on(is_old: bool) -> None:
    desk = Desk(is_old=is_old, offsets_retention_ms=1, offsets_retention_check_interval_ms=4_000)
    commit(desk, 0)
    desk.pass_until(3_999)
    assert there(desk) == [("t", 0)] and desk.deadlines["expire-group-metadata"] == 4_000
    desk.pass_until(4_000)
    assert there(desk) == [] and desk.deadlines["expire-group-metadata"] == 8_000
    desk.pass_until(6_000)
    desk.fail_over()
    assert desk.deadlines["expire-group-metadata"] == 10_000, "a successor begins to count"


@BOTH
def test_simple_consumers_offsets_go_one_by_one_from_their_commits_and_the_group_with_the_last(
    is_old: bool,
) -> None:
    desk = Desk(is_old=is_old, **SHORT)
    commit(desk, 0)
    desk.pass_until(5_500)
    commit(desk, 1)
    desk.pass_until(10_000)
    assert there(desk) == [("t", 1)] and desk.group() is not None
    desk.pass_until(15_999)
    assert there(desk) == [("t", 1)], "the look at 15 s was half a second too early"
    before = len(desk.log)
    desk.pass_until(16_000)
    assert there(desk) == [] and desk.group() is None
    assert [record.key.type for record in desk.log[before:]] == (
        ["OffsetCommit"] if is_old else ["OffsetCommit", "GroupMetadata"]
    )


@BOTH
def test_empty_group_keeps_old_commits_until_it_was_empty_for_the_retention(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old, **SHORT)
    commit(desk, 0, member_id=only, generation=1)
    for second in range(4, 30):
        desk.pass_until(second * 1_000)
        desk.send(m.HeartbeatRequest("g", 1, only))
    assert there(desk) == [("t", 0)], "it reads the topic"
    desk.send(leave(only))
    desk.pass_until(38_000)
    assert there(desk) == [("t", 0)]
    desk.pass_until(39_000)
    assert there(desk) == [] and desk.group() is None


@BOTH
def test_commit_to_an_empty_group_does_not_prolong_it(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old, **SHORT)
    commit(desk, 0, member_id=only, generation=1)
    desk.send(leave(only))
    left_ms = desk.now_ms
    desk.pass_until(left_ms + 9_000)
    commit(desk, 1)
    desk.pass_until(left_ms + 10_000)
    assert there(desk) == [], "the retention counts from when the group became Empty"


@BOTH
def test_own_retention_of_an_old_request_counts_in_every_state_in_which_offsets_expire(is_old: bool) -> None:
    desk = Desk(is_old=is_old, **SHORT)
    commit(desk, 0, version=4, retention_ms=3_000)
    commit(desk, 1, version=4, retention_ms=60_000)
    desk.pass_until(3_000)
    assert there(desk) == [("t", 1)]
    desk.pass_until(59_999)
    assert there(desk) == [("t", 1)]
    desk.pass_until(60_000)
    assert there(desk) == []


@BOTH
def test_newly_subscribed_topic_keeps_what_was_about_to_expire(is_old: bool) -> None:
    desk = Desk(is_old=is_old, **SHORT)
    commit(desk, 0)
    commit(desk, 0, topic="u")
    desk.pass_until(9_500)
    desk.send(join(), 3, "a")
    desk.pass_until(12_400)
    assert len(there(desk)) == 2, "a rebalance is under way"
    desk.pass_until(13_500)
    (only,) = desk.group().members
    desk.send(m.SyncGroupRequest("g", 1, only, None, "consumer", "range", [m.MemberAssignment(only, b"x")]))
    desk.pass_until(14_000)
    assert there(desk) == [("t", 0)]


@BOTH
def test_empty_group_without_offsets_goes_at_the_next_look(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old, **SHORT)
    desk.pass_until(5_000)
    assert desk.group() is not None, "it has a member"
    desk.send(leave(only))
    desk.pass_until(6_000)
    assert desk.group() is None and (desk.log[-1].key.type, desk.log[-1].value) == ("GroupMetadata", None)


def test_consumer_protocol_counts_from_the_commit_also_when_the_group_is_empty() -> None:
    desk = Desk(**SHORT)
    one = desk.send(heartbeat848()).member_id
    for topic in "tu":
        commit(desk, 0, topic=topic, member_id=one, generation=1)
    desk.pass_until(10_000)
    assert there(desk) == [("t", 0)], "what it reads stays"
    desk.send(m.ConsumerGroupHeartbeatRequest("g", one, -1))
    before = len(desk.log)
    desk.pass_until(11_000)
    assert there(desk) == [] and desk.group() is None
    kinds = [record.key.type for record in desk.log[before:]]
    assert (
        kinds[0] == "OffsetCommit"
        and kinds[-1] == "ConsumerGroupMetadata"
        and {record.value for record in desk.log[before:]} == {None}
    )


def test_open_transaction_keeps_its_partition_and_with_it_the_group() -> None:
    desk = Desk(**SHORT)
    commit(desk, 0, 1)
    desk.send(
        m.TxnOffsetCommitRequest("tx", "g", 100, 0, [m.CommittedTopic("t", [m.CommittedPartition(0, 9)])])
    )
    desk.pass_until(20_000)
    assert there(desk) == [("t", 0)] and desk.group() is not None
    desk.send(m.WriteTxnMarkers(100, 0, False))
    desk.pass_until(21_000)
    assert there(desk) == [] and desk.group() is None


def test_group_with_nothing_but_an_open_transaction_goes_as_in_the_original() -> None:
    """docs/kafka/groups.md: kept as it is. What the transaction commits later is stored, and cannot be
    fetched, it: there is no group."""
    desk = Desk(**SHORT)
    desk.send(
        m.TxnOffsetCommitRequest("tx", "g", 100, 0, [m.CommittedTopic("t", [m.CommittedPartition(0, 9)])])
    )
    desk.pass_until(1_000)
    assert desk.group() is None and (desk.log[-1].key.type, desk.log[-1].value) == ("GroupMetadata", None)
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert there(desk) == [("t", 0)]
    for is_stable in (False, True):
        asked = m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])], is_stable)
        assert desk.send(asked).groups[0].topics[0].partitions[0] == m.FetchedPartition(0)


def test_look_whose_tombstones_are_refused_is_repeated_half_a_second_later() -> None:
    desk = Desk(offsets_retention_ms=10_000, offsets_retention_check_interval_ms=5_000)
    commit(desk, 0)
    desk.pass_until(9_999)
    desk.next_error = NOT_ENOUGH_REPLICAS
    desk.pass_until(10_000)
    assert (
        there(desk) == [("t", 0)]
        and desk.group() is not None
        and desk.deadlines["expire-group-metadata"] == 10_500
    )
    desk.pass_until(10_500)
    assert there(desk) == [] and desk.group() is None and desk.deadlines["expire-group-metadata"] == 15_500


def test_readers_see_an_expired_offset_until_its_tombstone_is_confirmed() -> None:
    desk = Desk(**SHORT)
    commit(desk, 0)
    desk.is_held = True
    desk.pass_until(10_000)
    asked = m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])])
    assert there(desk) == [] and desk.send(asked).groups[0].topics[0].partitions[0].committed_offset == 7
    desk.let_go()
    assert desk.send(asked).groups[0].topics[0].partitions[0].committed_offset == -1

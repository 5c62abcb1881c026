"""OffsetFetch, OffsetDelete and deleted topics: what a reader is shown, what goes and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import EMPTY
from broker_core.kafka.group.codes import (
    GROUP_ID_NOT_FOUND,
    GROUP_SUBSCRIBED_TO_TOPIC,
    INVALID_GROUP_ID,
    NON_EMPTY_GROUP,
    NONE,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    UNSTABLE_OFFSET_COMMIT,
)
from tests.core.kafka.group.classic.parked import leave, park
from tests.core.kafka.group.desk import Desk, heartbeat848, join, stable_group

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


def commit(
    desk: Desk,
    *places: tuple[str, int, int],
    group: str = "g",
    member_id: str = "",
    generation: int = -1,
    version: int = 9,
) -> None:
    topics = [
        m.CommittedTopic(topic, [m.CommittedPartition(number, offset, 3, "m")])
        for topic, number, offset in places
    ]
    answer = desk.send(m.OffsetCommitRequest(group, generation, member_id, topics), version)
    assert answer is None or {part.error_code for topic in answer.topics for part in topic.partitions} == {
        NONE
    }


def hold(desk: Desk, *places: tuple[str, int, int], group: str = "g", producer: int = 100) -> None:
    """Commit in a transaction that stays open."""
    topics = [
        m.CommittedTopic(topic, [m.CommittedPartition(number, offset)]) for topic, number, offset in places
    ]
    desk.send(m.TxnOffsetCommitRequest("tx", group, producer, 0, topics))


def fetch(
    desk: Desk, *topics: tuple[str, list[int]], group: str = "g", is_stable: bool = False, **member: Any
) -> m.OffsetFetchGroupResult:
    asked = [m.FetchedTopic(name, numbers) for name, numbers in topics] if topics else None
    answer = desk.send(m.OffsetFetchRequest([m.OffsetFetchGroup(group, topics=asked, **member)], is_stable))
    result: m.OffsetFetchGroupResult = answer.groups[0]
    return result


def shown(result: m.OffsetFetchGroupResult) -> dict[str, dict[int, int]]:
    return {
        topic.name: {part.partition_index: part.committed_offset for part in topic.partitions}
        for topic in result.topics
    }


def delete(desk: Desk, *places: tuple[str, list[int]], group: str = "g") -> m.OffsetDeleteResponse:
    asked = [
        m.DeletedTopic(topic, [m.DeletedPartition(number) for number in numbers]) for topic, numbers in places
    ]
    answer: m.OffsetDeleteResponse = desk.send(m.OffsetDeleteRequest(group, asked))
    return answer


def codes(answer: m.OffsetDeleteResponse) -> list[int]:
    return [part.error_code for topic in answer.topics for part in topic.partitions]


@BOTH
@pytest.mark.parametrize("is_stable", [False, True], ids=["plain", "stable"])
def test_all_offsets_of_a_group_come_by_topic_and_those_of_others_do_not(
    is_stable: bool, is_old: bool
) -> None:
    desk = Desk(is_old=is_old)
    commit(desk, ("t", 0, 5), ("u", 1, 6), ("t", 2, 7))
    commit(desk, ("t", 1, 9), group="other")
    assert shown(fetch(desk, is_stable=is_stable)) == {"t": {0: 5, 2: 7}, "u": {1: 6}}
    assert shown(fetch(desk, ("t", [1, 0]), ("v", [0]), is_stable=is_stable)) == {
        "t": {1: -1, 0: 5},
        "v": {0: -1},
    }


@BOTH
@pytest.mark.parametrize("is_stable", [False, True], ids=["plain", "stable"])
def test_unknown_group_has_no_offsets_and_no_error(is_stable: bool, is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    assert fetch(desk, is_stable=is_stable) == m.OffsetFetchGroupResult("g")
    (part,) = fetch(desk, ("t", [3]), is_stable=is_stable).topics[0].partitions
    assert part == m.FetchedPartition(3) and desk.group() is None


@BOTH
def test_fetched_offset_has_its_epoch_and_metadata(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    commit(desk, ("t", 0, 5))
    (part,) = fetch(desk, ("t", [0])).topics[0].partitions
    assert (part.committed_offset, part.committed_leader_epoch, part.metadata, part.error_code) == (
        5,
        3,
        "m",
        NONE,
    )


@pytest.mark.parametrize(("is_old", "numbers"), [(False, [0, 1, 0]), (True, [0, 1])], ids=["new", "old"])
def test_partition_that_is_asked_for_twice_is_answered_once_by_the_old_coordinator(
    is_old: bool, numbers: list[int]
) -> None:
    desk = Desk(is_old=is_old)
    commit(desk, ("t", 0, 5))
    result = fetch(desk, ("t", [0, 1]), ("t", [0]))
    assert [part.partition_index for topic in result.topics for part in topic.partitions] == numbers


@BOTH
def test_stable_fetch_tells_of_a_transaction_for_its_partition_alone_and_hides_the_offset(
    is_old: bool,
) -> None:
    desk = Desk(is_old=is_old)
    commit(desk, ("t", 0, 5), ("t", 1, 6))
    hold(desk, ("t", 0, 9))
    first, second = fetch(desk, ("t", [0, 1]), is_stable=True).topics[0].partitions
    assert first == m.FetchedPartition(0, error_code=UNSTABLE_OFFSET_COMMIT)
    assert (second.committed_offset, second.error_code) == (6, NONE)
    assert shown(fetch(desk, ("t", [0]))) == {"t": {0: 5}}, "who does not ask for stability reads on"


@pytest.mark.parametrize(
    ("member", "code"),
    [
        ({}, NONE),
        ({"member_id": "ONE", "member_epoch": 1}, NONE),
        ({"member_id": "ONE", "member_epoch": 0}, STALE_MEMBER_EPOCH),
        ({"member_id": "nobody", "member_epoch": 1}, UNKNOWN_MEMBER_ID),
        ({"member_epoch": 1}, UNKNOWN_MEMBER_ID),
    ],
    ids=["nobody named", "member", "other epoch", "stranger", "no id"],
)
@pytest.mark.parametrize("is_stable", [False, True], ids=["plain", "stable"])
def test_member_of_the_consumer_protocol_is_checked_where_one_is_named(
    member: dict[str, Any], code: int, is_stable: bool
) -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    commit(desk, ("t", 0, 5), member_id=one, generation=1)
    named = {name: one if value == "ONE" else value for name, value in member.items()}
    answer = desk.send(
        m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])], **named)], is_stable)
    )
    if code == NONE:
        assert shown(answer.groups[0]) == {"t": {0: 5}}
    else:
        assert answer == m.FailedCall(code)


def test_all_offsets_are_those_below_the_high_watermark_also_while_they_are_deleted() -> None:
    desk = Desk()
    commit(desk, ("t", 0, 5))
    desk.is_held = True
    commit(desk, ("t", 1, 6))
    assert shown(fetch(desk)) == {"t": {0: 5}} and shown(fetch(desk, ("t", [0, 1]))) == {"t": {0: 5, 1: -1}}
    assert desk.send(m.OffsetDeleteRequest("g", [m.DeletedTopic("t", [m.DeletedPartition(0)])])) is None
    assert shown(fetch(desk)) == {"t": {0: 5}}
    desk.let_go()
    assert shown(fetch(desk)) == {"t": {1: 6}}


@pytest.mark.parametrize("asked", [None, [m.FetchedTopic("t", [0, 1])]], ids=["all", "named"])
def test_stable_fetch_tells_what_earlier_writes_wrote_once_they_are_confirmed(
    asked: list[m.FetchedTopic] | None,
) -> None:
    desk = Desk()
    desk.is_held = True
    commit(desk, ("t", 0, 5))
    ticket = park(desk, m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=asked)], True))
    commit(desk, ("t", 0, 6))
    desk.let_go()
    assert shown(desk.answers[ticket].groups[0]) == {"t": {0: 5} if asked is None else {0: 5, 1: -1}}, (
        "as it was when it was asked"
    )


def test_group_that_is_deleted_is_there_for_readers_until_that_is_confirmed() -> None:
    desk = Desk()
    commit(desk, ("t", 0, 5))
    desk.is_held = True
    ticket = park(desk, m.DeleteGroupsRequest(["g"]), 2)
    assert desk.group() is None and shown(fetch(desk, ("t", [0]))) == {"t": {0: 5}}
    assert [listed.group_id for listed in desk.send(m.ListGroupsRequest(), 5).groups] == ["g"]
    desk.let_go()
    assert desk.answers[ticket].results[0].error_code == NONE and shown(fetch(desk, ("t", [0]))) == {
        "t": {0: -1}
    }
    assert desk.send(m.ListGroupsRequest(), 5).groups == []


@BOTH
def test_delete_is_refused_for_an_unknown_group_and_for_members_that_are_no_consumers(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    assert delete(desk, ("t", [0]), group="").error_code == INVALID_GROUP_ID
    assert delete(desk, ("t", [0])) == m.OffsetDeleteResponse(GROUP_ID_NOT_FOUND)
    commit(desk, ("t", 0, 5))
    desk.send(m.JoinGroupRequest("g", 10_000, "", "connect", [m.Protocol("x", b"")], 30_000), 3)
    before = len(desk.log)
    assert delete(desk, ("t", [0])) == m.OffsetDeleteResponse(NON_EMPTY_GROUP) and len(desk.log) == before


@BOTH
def test_only_topics_that_nobody_reads_lose_their_offsets_and_what_is_not_there_is_no_error(
    is_old: bool,
) -> None:
    desk, (only,) = stable_group("a", is_old=is_old)
    commit(desk, ("t", 0, 5), ("u", 0, 6), member_id=only, generation=1)
    before = len(desk.log)
    answer = delete(desk, ("t", [0, 1]), ("u", [0, 7]))
    assert codes(answer) == [GROUP_SUBSCRIBED_TO_TOPIC, GROUP_SUBSCRIBED_TO_TOPIC, NONE, NONE]
    assert [(record.key.topic, record.key.partition, record.value) for record in desk.log[before:]] == [
        ("u", 0, None)
    ]
    assert shown(fetch(desk)) == {"t": {0: 5}}


@BOTH
def test_all_topics_of_an_empty_group_may_go(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old)
    commit(desk, ("t", 0, 5), ("u", 0, 6), member_id=only, generation=1)
    desk.send(leave(only))
    assert codes(delete(desk, ("t", [0]))) == [NONE] and shown(fetch(desk)) == {"u": {0: 6}}
    assert desk.group().state == EMPTY


def test_readers_of_a_group_of_the_consumer_protocol_keep_their_offsets() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    commit(desk, ("t", 0, 5), ("u", 0, 6), member_id=one, generation=1)
    assert codes(delete(desk, ("t", [0]), ("u", [0]))) == [GROUP_SUBSCRIBED_TO_TOPIC, NONE]
    desk.send(m.ConsumerGroupHeartbeatRequest("g", one, -1))
    assert codes(delete(desk, ("t", [0]))) == [NONE] and shown(fetch(desk)) == {}


@pytest.mark.parametrize(("is_old", "tombstones"), [(False, 1), (True, 0)], ids=["new", "old"])
def test_what_only_a_transaction_holds_goes_with_a_tombstone_in_the_new_coordinator(
    is_old: bool, tombstones: int
) -> None:
    desk = Desk(is_old=is_old)
    hold(desk, ("t", 0, 9), ("t", 1, 9))
    before = len(desk.log)
    assert codes(delete(desk, ("t", [0]))) == [NONE]
    assert [record.value for record in desk.log[before:]] == [None] * tombstones
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert shown(fetch(desk)) == {"t": {1: 9}}


@BOTH
def test_deleted_topic_goes_from_every_group_and_other_partitions_stay(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    commit(desk, ("t", 0, 5), ("t", 1, 6), ("u", 0, 7))
    commit(desk, ("t", 0, 8), ("u", 0, 9), group="other")
    desk.send(m.PartitionsDeleted([("t", 0), ("v", 0)]))
    assert shown(fetch(desk)) == {"t": {1: 6}, "u": {0: 7}} and shown(fetch(desk, group="other")) == {
        "u": {0: 9}
    }
    desk.fail_over()
    assert shown(fetch(desk)) == {"t": {1: 6}, "u": {0: 7}}


@BOTH
def test_deleting_a_group_takes_open_transactions_along(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    commit(desk, ("t", 0, 5))
    hold(desk, ("t", 0, 9), ("t", 1, 9))
    assert desk.send(m.DeleteGroupsRequest(["g"]), 2).results == [m.DeletableGroupResult("g", NONE)]
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert desk.group() is None and shown(fetch(desk, ("t", [0, 1]))) == {"t": {0: -1, 1: -1}}


@BOTH
def test_member_that_waits_in_a_rebalance_keeps_the_group_from_being_deleted(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    park(desk, join(), 3)
    assert desk.send(m.DeleteGroupsRequest(["g"]), 2).results == [
        m.DeletableGroupResult("g", NON_EMPTY_GROUP)
    ]
    assert desk.group() is not None

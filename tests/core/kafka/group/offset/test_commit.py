"""OffsetCommit and TxnOffsetCommit: who may, what is refused first, and what is written."""

from __future__ import annotations

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    GROUP_ID_NOT_FOUND,
    ILLEGAL_GENERATION,
    INVALID_GROUP_ID,
    NONE,
    OFFSET_METADATA_TOO_LARGE,
    REBALANCE_IN_PROGRESS,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    UNSUPPORTED_VERSION,
)
from tests.core.kafka.group.classic.parked import leave, park, session_of, static_group
from tests.core.kafka.group.desk import Desk, heartbeat848, join, stable_group

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


def topics(*offsets: tuple[int, int], metadata: str | None = "") -> list[m.CommittedTopic]:
    return [
        m.CommittedTopic(
            "t", [m.CommittedPartition(number, offset, 3, metadata) for number, offset in offsets]
        )
    ]


def commit(member_id: str = "", generation: int = -1, instance: str | None = None) -> m.OffsetCommitRequest:
    return m.OffsetCommitRequest("g", generation, member_id, topics((0, 7)), instance)


def transactional(
    member_id: str = "", generation: int = -1, instance: str | None = None, group: str = "g"
) -> m.TxnOffsetCommitRequest:
    return m.TxnOffsetCommitRequest("tx", group, 100, 5, topics((0, 7)), generation, member_id, instance)


def code(answer: m.OffsetCommitResponse | m.TxnOffsetCommitResponse) -> int:
    return answer.topics[0].partitions[0].error_code


def in_state(state: str, is_old: bool) -> tuple[Desk, list[str]]:
    """Static members `i`, who leads, and `j`, in generation 1; 2 where both have left."""
    desk, ids = static_group("i", "j", synced=state != COMPLETING, is_old=is_old)
    if state == PREPARING:
        park(desk, join(ids[1], instance="j", protocols=("range", "sticky")))
    if state == EMPTY:
        desk.send(leave(*ids))
    assert desk.group().state == state
    return desk, ids


CASES = [
    # state, member, generation, instance -> code of a plain commit, of a transactional one
    (STABLE, "nobody", 9, None, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
    (STABLE, "nobody", 9, "i", FENCED_INSTANCE_ID, FENCED_INSTANCE_ID),
    (STABLE, "TWO", 1, "i", FENCED_INSTANCE_ID, FENCED_INSTANCE_ID),
    (STABLE, "ONE", 1, "k", UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
    (STABLE, "ONE", 0, None, ILLEGAL_GENERATION, ILLEGAL_GENERATION),
    (STABLE, "ONE", -1, None, ILLEGAL_GENERATION, ILLEGAL_GENERATION),
    (STABLE, "ONE", 1, "i", NONE, NONE),
    (STABLE, "", -1, None, UNKNOWN_MEMBER_ID, NONE),
    (STABLE, "", 1, None, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
    (PREPARING, "ONE", 1, None, NONE, NONE),
    (PREPARING, "", -1, None, UNKNOWN_MEMBER_ID, NONE),
    (COMPLETING, "nobody", 1, None, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
    (COMPLETING, "ONE", 0, None, ILLEGAL_GENERATION, ILLEGAL_GENERATION),
    (COMPLETING, "ONE", 1, None, REBALANCE_IN_PROGRESS, NONE),
    (EMPTY, "", -1, None, NONE, NONE),
    (EMPTY, "nobody", -1, None, NONE, NONE),
    (EMPTY, "", 2, None, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
    (EMPTY, "ONE", 2, None, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
]


@BOTH
@pytest.mark.parametrize("is_transactional", [False, True], ids=["plain", "transactional"])
@pytest.mark.parametrize(("state", "who", "generation", "instance", "plain", "in_transaction"), CASES)
def test_first_check_that_fails_decides_and_a_refusal_writes_nothing(
    state: str,
    who: str,
    generation: int,
    instance: str | None,
    plain: int,
    in_transaction: int,
    is_transactional: bool,
    is_old: bool,
) -> None:
    desk, (one, two) = in_state(state, is_old)
    member_id = {"ONE": one, "TWO": two}.get(who, who)
    expected = in_transaction if is_transactional else plain
    before, deadlines = len(desk.log), dict(desk.deadlines)
    desk.pass_until(desk.now_ms + 500)
    answer = desk.send((transactional if is_transactional else commit)(member_id, generation, instance))
    assert code(answer) == expected and desk.group().state == state
    assert len(desk.log) == before + (expected == NONE)
    # A member that is heard of by a commit lives; a transaction is the producer's, and tells nothing of the
    # member.
    is_heard = expected == NONE and not is_transactional and state in (STABLE, PREPARING)
    assert desk.deadlines == (deadlines | {session_of(one): desk.now_ms + 10_000} if is_heard else deadlines)


@pytest.mark.parametrize(
    ("version", "is_old", "expected"),
    [(9, False, GROUP_ID_NOT_FOUND), (8, False, ILLEGAL_GENERATION), (9, True, ILLEGAL_GENERATION)],
)
def test_unknown_group_with_a_generation_is_told_by_the_version(
    version: int, is_old: bool, expected: int
) -> None:
    desk = Desk(is_old=is_old)
    assert code(desk.send(commit("m", 3), version)) == expected
    assert desk.group() is None and desk.log == []


@pytest.mark.parametrize(
    ("is_old", "expected"), [(False, ILLEGAL_GENERATION), (True, UNKNOWN_MEMBER_ID)], ids=["new", "old"]
)
def test_transaction_for_an_unknown_group_with_a_generation(is_old: bool, expected: int) -> None:
    """docs/kafka/groups.md: the old coordinator leaves an Empty group behind."""
    desk = Desk(is_old=is_old)
    assert code(desk.send(transactional("m", 3))) == expected
    assert (desk.group() is not None) is is_old and desk.log == []


@BOTH
def test_group_needs_a_name_for_a_transaction_and_has_none_for_old_simple_consumers(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    assert code(desk.send(transactional(group=""))) == INVALID_GROUP_ID
    assert code(desk.send(m.OffsetCommitRequest("", -1, "", topics((0, 4))))) == NONE
    assert desk.group("") is not None


@BOTH
def test_each_partition_is_written_and_answered_for_itself(is_old: bool) -> None:
    desk = Desk(is_old=is_old, offset_metadata_max_bytes=3)
    asked = [
        m.CommittedTopic(
            "t",
            [
                m.CommittedPartition(0, 5, 1, "abc"),
                m.CommittedPartition(1, 6, 2, "abcd"),
                m.CommittedPartition(2, 7),
            ],
        ),
        m.CommittedTopic("u", [m.CommittedPartition(0, 8, -1, None)]),
    ]
    desk.pass_until(1_234)
    answer = desk.send(m.OffsetCommitRequest("g", -1, "", asked))
    assert [
        (topic.name, [(part.partition_index, part.error_code) for part in topic.partitions])
        for topic in answer.topics
    ] == [
        ("t", [(0, NONE), (1, OFFSET_METADATA_TOO_LARGE), (2, NONE)]),
        ("u", [(0, NONE)]),
    ]
    assert [
        (
            record.key.topic,
            record.key.partition,
            record.value.offset,
            record.value.leader_epoch,
            record.value.metadata,
        )
        for record in desk.log
    ] == [("t", 0, 5, 1, "abc"), ("t", 2, 7, -1, ""), ("u", 0, 8, -1, "")]
    assert {(record.key.group, record.value.commit_timestamp, record.producer_id) for record in desk.log} == {
        ("g", 1_234, -1)
    }


@BOTH
def test_transactional_record_names_its_producer(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    desk.send(transactional())
    assert [(record.producer_id, record.producer_epoch, record.value.offset) for record in desk.log] == [
        (100, 5, 7)
    ]
    assert desk.send(m.WriteTxnMarkers(100, 5, True)).error_code == NONE
    assert (desk.log[-1].producer_id, desk.log[-1].producer_epoch, desk.log[-1].commit) == (100, 5, True)


@BOTH
def test_commit_without_partitions_is_answered_and_writes_nothing(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    assert desk.send(m.OffsetCommitRequest("g", -1, "", [])).topics == []
    assert desk.log == []


@pytest.mark.parametrize(
    ("who", "epoch", "version", "plain", "in_transaction"),
    [
        ("nobody", 1, 9, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
        ("", -1, 9, UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID),
        ("ONE", 1, 8, UNSUPPORTED_VERSION, NONE),
        ("ONE", 0, 9, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION),
        ("ONE", 2, 9, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION),
        ("ONE", 1, 9, NONE, NONE),
    ],
)
def test_in_a_group_of_the_consumer_protocol_the_epoch_counts(
    who: str, epoch: int, version: int, plain: int, in_transaction: int
) -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    member_id = who.replace("ONE", one)
    before = dict(desk.deadlines)
    desk.pass_until(1_000)
    assert code(desk.send(commit(member_id, epoch), version)) == plain
    assert code(desk.send(transactional(member_id, epoch), version)) == in_transaction
    assert desk.deadlines == before, "a commit is no heartbeat there"


def test_commit_waits_for_the_high_watermark_and_is_told_when_that_is_late() -> None:
    desk, (one,) = stable_group("a")
    desk.is_held = True
    ticket = park(desk, commit(one, 1))
    assert desk.deadlines[session_of(one)] == desk.now_ms + 10_000, "it was heard of at once"
    desk.pass_until(desk.now_ms + 5_000)
    assert code(desk.answers[ticket]) == 15
    desk.let_go()
    fetched = desk.send(m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])]))
    assert fetched.groups[0].topics[0].partitions[0].committed_offset == 7, (
        "though it counts once it is confirmed"
    )

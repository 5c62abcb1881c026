"""When the target assignment of a KIP-848 group is computed, by which assignor, and what of it is written."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import Topic, TopicsImage
from tests.core.kafka.group.desk import TOPIC_ID, Desk

OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def written(desk: Desk, since: int = 0) -> list[str]:
    return [record.key.type.removeprefix("ConsumerGroup") for record in desk.log[since:]]


def enter(desk: Desk, *topics: str, **fields: Any) -> str:
    names = list(topics) or ["t"]
    request = m.ConsumerGroupHeartbeatRequest(
        "g", "", 0, rebalance_timeout_ms=10_000, subscribed_topic_names=names, topic_partitions=[], **fields
    )
    return str(desk.send(request).member_id)


def beat(desk: Desk, member_id: str, **fields: Any) -> m.ConsumerGroupHeartbeatResponse:
    """A heartbeat of a member that holds what it was given last and says so."""
    member = desk.group().members[member_id]
    held = [m.TopicPartitions(topic_id, sorted(numbers)) for topic_id, numbers in member.assigned.items()]
    answer: m.ConsumerGroupHeartbeatResponse = desk.send(
        m.ConsumerGroupHeartbeatRequest("g", member_id, member.epoch, topic_partitions=held, **fields)
    )
    return answer


def target(desk: Desk) -> dict[str, dict[str, tuple[int, ...]]]:
    return dict(desk.group().target)


def with_topics(desk: Desk, **counts: int) -> None:
    desk.topics = TopicsImage.of(
        [Topic(name, TOPIC_ID if name == "t" else OTHER_ID, count) for name, count in counts.items()]
    )
    desk.coordinator.topics_changed(desk.topics, list(counts))


def settled(*clients: str, partitions: int = 6, **settings: Any) -> tuple[Desk, list[str]]:
    """A Stable group of so many members, all of whom read `t`."""
    desk = Desk(partitions, **settings)
    ids = [enter(desk) for _ in clients]
    for _ in range(3):
        for member_id in ids:
            beat(desk, member_id)
    assert desk.group().state == "Stable"
    return desk, ids


def test_newcomer_writes_its_own_part_and_those_that_change_and_then_the_epoch() -> None:
    desk, ids = settled("a", "b")
    before = len(desk.log)
    newcomer = enter(desk)
    assert written(desk, before) == [
        "MemberMetadata",
        "Metadata",
        *["TargetAssignmentMember"] * 3,
        "TargetAssignmentMetadata",
        "CurrentMemberAssignment",
    ]
    parts = {
        record.key.member_id
        for record in desk.log[before:]
        if record.key.type.endswith("TargetAssignmentMember")
    }
    assert parts == {*ids, newcomer}
    assert sorted(len(mine[TOPIC_ID]) for mine in target(desk).values()) == [2, 2, 2]


def test_newcomer_that_reads_the_same_is_shared_with_as_an_equal() -> None:
    """Among equals the owner keeps its first numbers; evening out unequal readers would move just those."""
    desk = Desk(6)
    one, two = enter(desk), enter(desk)
    assert target(desk) == {one: {TOPIC_ID: (0, 1, 2)}, two: {TOPIC_ID: (3, 4, 5)}}


def test_part_that_stays_the_same_is_not_written_again() -> None:
    desk, (one, two) = settled("a", "b")
    with_topics(desk, t=7)
    before = len(desk.log)
    beat(desk, one)
    parts = [
        record.key.member_id
        for record in desk.log[before:]
        if record.key.type.endswith("TargetAssignmentMember")
    ]
    assert len(parts) == 1, "the seventh partition is one member's"
    assert written(desk, before)[:2] == ["PartitionMetadata", "Metadata"] and (
        desk.group().epoch,
        desk.group().assignment_epoch,
    ) == (3, 3)
    assert sum(len(mine[TOPIC_ID]) for mine in target(desk).values()) == 7 and {one, two} == set(target(desk))


def test_topics_are_looked_at_by_the_next_heartbeat_of_anybody_and_only_if_they_changed_for_the_group() -> (
    None
):
    desk, (one, two) = settled("a", "b")
    before = len(desk.log)
    with_topics(desk, t=6, elsewhere=3)
    beat(desk, one)
    assert len(desk.log) == before, "its own topics are as they were"
    desk.topics = TopicsImage.of([Topic("t", TOPIC_ID, 8)])
    desk.coordinator.topics_changed(desk.topics, ["elsewhere"])
    beat(desk, one)
    assert len(desk.log) == before, "nobody told that `t` changed"
    desk.coordinator.topics_changed(desk.topics, ["t"])
    beat(desk, two)
    assert desk.group().epoch == 3


def test_deleted_topic_is_taken_from_its_readers() -> None:
    desk, (one, two) = settled("a", "b")
    desk.topics = TopicsImage.of([])
    desk.coordinator.topics_changed(desk.topics, ["t"])
    beat(desk, one)
    assert target(desk) == {one: {}, two: {}} and desk.group().topics == {} and desk.group().epoch == 3
    for _ in range(2):
        for member_id in (one, two):
            beat(desk, member_id)
    assert desk.group().state == "Stable" and desk.group().owner_epochs == {}


def test_lost_write_of_a_look_at_the_topics_is_made_good_by_the_next_heartbeat() -> None:
    desk, (one, _) = settled("a", "b")
    with_topics(desk, t=8)
    desk.next_error = 19
    assert beat(desk, one).error_code == 15
    assert desk.group().epoch == 2
    beat(desk, one)
    assert desk.group().epoch == 3 and sum(len(mine[TOPIC_ID]) for mine in target(desk).values()) == 8


@pytest.mark.parametrize(
    ("asked", "assignors", "rule"),
    [
        ([None, None], ("uniform", "range"), "uniform"),
        ([None, None], ("range", "uniform"), "range"),
        (["range", None], ("uniform", "range"), "range"),
        (["range", "uniform", "uniform"], ("range", "uniform"), "uniform"),
        (["uniform", "range", "range"], ("uniform", "range"), "range"),
    ],
)
def test_assignor_is_the_one_most_members_ask_for_or_the_first_of_the_broker(
    asked: list[str | None], assignors: tuple[str, ...], rule: str
) -> None:
    desk = Desk(consumer_assignors=assignors)
    for name in asked:
        enter(desk, server_assignor=name)
    assert [told for kind, told in desk.told if kind == "kafka.group.target_assigned"][
        -1
    ] == f"kafka.assignor.{rule}"
    (described,) = desk.send(m.ConsumerGroupDescribeRequest(["g"]), 0).groups
    assert described.assignor_name == rule


def test_who_asks_for_another_assignor_changes_the_next_target_and_not_this_one() -> None:
    desk, (one, _) = settled("a", "b")
    before = len(desk.told)
    beat(desk, one, server_assignor="range")
    assert "kafka.group.target_assigned" not in {kind for kind, _ in desk.told[before:]}
    enter(desk)
    assert desk.told[-1] == ("kafka.group.target_assigned", "kafka.assignor.range")


@pytest.mark.parametrize(("assignor", "shares"), [("uniform", [1, 1]), ("range", [0, 2])])
def test_two_topics_of_one_partition_show_which_assignor_it_was(assignor: str, shares: list[int]) -> None:
    desk = Desk(consumer_assignors=(assignor,))
    with_topics(desk, t=1, u=1)
    for _ in range(2):
        enter(desk, "t", "u")
    assert sorted(sum(map(len, mine.values())) for mine in target(desk).values()) == shares


def test_unequal_readers_get_what_they_read() -> None:
    desk = Desk()
    with_topics(desk, t=2, u=2)
    both, one = enter(desk, "t", "u"), enter(desk, "u")
    assert target(desk)[both][TOPIC_ID] == (0, 1) and target(desk)[one] == {OTHER_ID: (0, 1)}
    assert set(target(desk)[both]) == {TOPIC_ID}


def test_racks_of_the_topics_are_written_and_a_move_of_a_replica_raises_the_epoch() -> None:
    desk = Desk()
    desk.topics = TopicsImage.of([Topic("t", TOPIC_ID, 1, (("east", "west"),))])
    desk.coordinator.topics_changed(desk.topics, ["t"])
    one = enter(desk)
    (topic,) = next(
        record.value for record in desk.log if record.key.type == "ConsumerGroupPartitionMetadata"
    ).topics
    assert [(part.partition, sorted(part.racks)) for part in topic.partition_metadata] == [
        (0, ["east", "west"])
    ]
    desk.topics = TopicsImage.of([Topic("t", TOPIC_ID, 1, (("east", "north"),))])
    desk.coordinator.topics_changed(desk.topics, ["t"])
    assert beat(desk, one).member_epoch == 2


def test_three_members_settle_within_two_rounds_of_heartbeats() -> None:
    desk, ids = settled("a", "b", partitions=9)
    newcomer = enter(desk)
    for member_id in ids:
        beat(desk, member_id)
    assert {desk.group().members[member_id].epoch for member_id in ids} == {2}, "told to let go"
    for member_id in ids:
        assert beat(desk, member_id).member_epoch == 3
    answer = beat(desk, newcomer)
    assert answer.assignment is not None and [
        len(topic.partitions) for topic in answer.assignment.topic_partitions
    ] == [3]
    assert desk.group().state == "Stable"

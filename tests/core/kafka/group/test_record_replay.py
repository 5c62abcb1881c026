"""Records of the offsets topic applied to a coordinator's state: whole logs, compacted ones, and records of
what is not there.

A compacted log may have a record before the one that its group began with, and tombstones of what is gone
(KAFKA-19862).
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.kafka.group import messages as m
from broker_core.kafka.group import records as r
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import STABLE, UNKNOWN, UNREVOKED_PARTITIONS
from tests.core.kafka.group.classic.parked import leave
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848, stable_group

MEMBER = r.ConsumerGroupMemberMetadataValue("i", "east", "c", "/h", ["t", "u"], "", 9_000, "range", None)
PARTITIONS = [m.TopicPartitions(TOPIC_ID, [0, 1])]


def holding(
    epoch: int, *numbers: int, state: int = STABLE, revoking: Sequence[int] = ()
) -> r.ConsumerGroupCurrentMemberAssignmentValue:
    assigned = [m.TopicPartitions(TOPIC_ID, list(numbers))] if numbers else []
    return r.ConsumerGroupCurrentMemberAssignmentValue(
        epoch, epoch - 1, state, assigned, [m.TopicPartitions(TOPIC_ID, list(revoking))] if revoking else []
    )


def loaded(*records: r.LogRecord, is_old: bool = False) -> Desk:
    """A coordinator that has taken over a log of these records."""
    desk = Desk(is_old=is_old)
    desk.log = list(records)
    desk.fail_over()
    return desk


METADATA, SUBSCRIBED = r.ConsumerGroupMetadataKey("g"), r.ConsumerGroupMemberMetadataKey("g", "m")
TARGET, TARGET_EPOCH = (
    r.ConsumerGroupTargetAssignmentMemberKey("g", "m"),
    r.ConsumerGroupTargetAssignmentMetadataKey("g"),
)
CURRENT, TOPICS = (
    r.ConsumerGroupCurrentMemberAssignmentKey("g", "m"),
    r.ConsumerGroupPartitionMetadataKey("g"),
)
OFFSET, GROUP = r.OffsetCommitKey("g", "t", 0), r.GroupMetadataKey("g")


def test_group_of_the_consumer_protocol_is_what_its_records_say() -> None:
    desk = loaded(
        r.Record(SUBSCRIBED, MEMBER),
        r.Record(TOPICS, r.ConsumerGroupPartitionMetadataValue([r.StoredTopic(TOPIC_ID, "t", 6, [])])),
        r.Record(METADATA, r.ConsumerGroupMetadataValue(4)),
        r.Record(TARGET, r.ConsumerGroupTargetAssignmentMemberValue(PARTITIONS)),
        r.Record(TARGET_EPOCH, r.ConsumerGroupTargetAssignmentMetadataValue(4)),
        r.Record(CURRENT, holding(4, 0, state=UNREVOKED_PARTITIONS, revoking=[1])),
    )
    group = desk.group()
    assert (group.epoch, group.assignment_epoch, group.target, list(group.topics)) == (
        4,
        4,
        {"m": {TOPIC_ID: (0, 1)}},
        ["t"],
    )
    member = group.members["m"]
    assert (member.instance_id, member.rack_id, member.subscribed, member.server_assignor) == (
        "i",
        "east",
        {"t", "u"},
        "range",
    )
    assert (member.epoch, member.previous_epoch, member.assigned, member.revoking) == (
        4,
        3,
        {TOPIC_ID: {0}},
        {TOPIC_ID: {1}},
    )
    assert group.owner_epochs == {(TOPIC_ID, 0): 4, (TOPIC_ID, 1): 4} and group.static_members == {"i": "m"}
    assert (
        desk.deadlines["rebalance-timeout-g-m"] == 9_000 and desk.deadlines["session-timeout-g-m"] == 45_000
    )


@pytest.mark.parametrize(
    "record",
    [
        r.Record(SUBSCRIBED, MEMBER),
        r.Record(METADATA, r.ConsumerGroupMetadataValue(4)),
        r.Record(CURRENT, holding(4, 0)),
        r.Record(TARGET, r.ConsumerGroupTargetAssignmentMemberValue(PARTITIONS)),
        r.Record(TOPICS, r.ConsumerGroupPartitionMetadataValue([])),
        r.Record(TARGET_EPOCH, r.ConsumerGroupTargetAssignmentMetadataValue(4)),
    ],
    ids=lambda record: record.key.type.removeprefix("ConsumerGroup"),
)
def test_any_value_may_be_the_first_of_its_group_and_a_tombstone_of_nothing_is_nothing(
    record: r.Record,
) -> None:
    assert isinstance(loaded(record).group(), ConsumerGroup)
    assert loaded(r.Record(record.key, None)).group() is None
    classic = r.Record(GROUP, r.GroupMetadataValue("consumer", 1, None, None, 5, []))
    assert isinstance(loaded(classic, r.Record(record.key, None)).group(), ClassicGroup)


def test_assignment_before_its_members_subscription_and_the_other_way_give_the_same_member() -> None:
    one, two = r.Record(SUBSCRIBED, MEMBER), r.Record(CURRENT, holding(4, 0))
    assert loaded(one, two).group().members == loaded(two, one).group().members


def test_tombstone_of_a_current_assignment_lets_go_of_everything_before_the_member_is_gone() -> None:
    desk = loaded(
        r.Record(SUBSCRIBED, MEMBER), r.Record(CURRENT, holding(4, 0, revoking=[1])), r.Record(CURRENT, None)
    )
    member = desk.group().members["m"]
    assert (member.epoch, member.previous_epoch, member.assigned, member.revoking) == (
        -1,
        -1,
        {},
        {},
    ) and desk.group().owner_epochs == {}
    assert (
        loaded(r.Record(SUBSCRIBED, MEMBER), r.Record(CURRENT, None), r.Record(SUBSCRIBED, None))
        .group()
        .members
        == {}
    )


def test_state_of_a_newer_broker_is_unknown() -> None:
    assert loaded(r.Record(CURRENT, holding(4, state=9))).group().members["m"].state == UNKNOWN


def test_numbers_of_a_target_stand_in_the_order_of_the_originals_set() -> None:
    """A set for six numbers has 16 slots: 17 comes with 1."""
    value = r.ConsumerGroupTargetAssignmentMemberValue([m.TopicPartitions(TOPIC_ID, [17, 3, 2, 1])])
    assert loaded(r.Record(TARGET, value)).group().target["m"] == {TOPIC_ID: (17, 1, 2, 3)}


def test_two_owners_of_one_partition_are_our_own_mistake() -> None:
    with pytest.raises(InvariantError, match="two owners"):
        loaded(
            r.Record(CURRENT, holding(4, 0)),
            r.Record(r.ConsumerGroupCurrentMemberAssignmentKey("g", "n"), holding(4, 0)),
        )


def test_classic_group_with_members_takes_no_records_of_the_other_protocol() -> None:
    stored = r.StoredMember("a", None, "c", "/h", 9_000, 9_000, b"", b"")
    classic = r.Record(GROUP, r.GroupMetadataValue("consumer", 1, "range", "a", 5, [stored]))
    with pytest.raises(InvariantError, match="classic group g"):
        loaded(classic, r.Record(SUBSCRIBED, MEMBER))


@pytest.mark.parametrize("is_commit_first", [True, False])
def test_group_of_a_commit_becomes_what_its_own_records_say(is_commit_first: bool) -> None:
    commit = r.Record(OFFSET, r.OffsetCommitValue(7, -1, "", 5))
    own = r.Record(METADATA, r.ConsumerGroupMetadataValue(3))
    desk = loaded(*((commit, own) if is_commit_first else (own, commit)))
    assert isinstance(desk.group(), ConsumerGroup) and desk.group().epoch == 3
    assert desk.coordinator.state.offsets.visible.present["g", "t", 0].offset == 7


def test_later_record_of_a_classic_group_replaces_the_earlier_and_its_tombstone_ends_it() -> None:
    first, second = (
        r.Record(GROUP, r.GroupMetadataValue("consumer", number, None, None, 5, [])) for number in (1, 2)
    )
    assert loaded(first, second).group().generation == 2
    assert loaded(first, r.Record(GROUP, None)).group() is None
    assert loaded(first, r.Record(METADATA, None)).group().generation == 1, (
        "the tombstone of the other kind is not about it"
    )


@pytest.mark.parametrize("is_committed", [True, False])
def test_transaction_that_ended_counts_and_an_open_one_is_still_open(is_committed: bool) -> None:
    value = r.OffsetCommitValue(7, -1, "", 5)
    desk = loaded(
        r.Record(OFFSET, value, 100, 0),
        r.EndOfTransaction(100, 0, is_committed),
        r.Record(r.OffsetCommitKey("g", "t", 1), value, 100, 0),
    )
    store = desk.coordinator.state.offsets
    assert ([place[2] for place in store.visible.present], store.is_pending(("g", "t", 1))) == (
        [0] if is_committed else [],
        True,
    )
    assert desk.group() is not None


@pytest.mark.parametrize(
    ("records", "is_there"),
    [
        ([r.Record(GROUP, r.GroupMetadataValue("consumer", 0, None, None, 5, []))], False),
        ([r.Record(GROUP, r.GroupMetadataValue("consumer", 1, None, None, 5, []))], True),
        ([r.Record(OFFSET, r.OffsetCommitValue(7, -1, "", 5))], True),
        ([r.Record(OFFSET, r.OffsetCommitValue(7, -1, "", 5)), r.Record(OFFSET, None)], False),
        ([r.Record(OFFSET, r.OffsetCommitValue(7, -1, "", 5), 100, 0)], True),
    ],
    ids=["no generation", "generation", "offset", "deleted offset", "open transaction"],
)
def test_old_coordinator_has_a_group_if_something_of_it_is_left(
    records: list[r.LogRecord], is_there: bool
) -> None:
    assert (loaded(*records, is_old=True).group() is not None) is is_there
    assert loaded(*records).group() is not None, "the new one has what its record says"


def test_loaded_members_have_their_timers_and_no_request_waits() -> None:
    desk, ids = stable_group("a", "b")
    desk.pass_until(9_000)
    desk.fail_over()
    group = desk.group()
    assert {
        name: at_ms for name, at_ms in desk.deadlines.items() if name.startswith("heartbeat")
    } == dict.fromkeys((f"heartbeat-g-{member_id}" for member_id in ids), 19_000)
    assert (group.waiting_count, group.pending_syncs, group.protocol, group.leader) == (
        0,
        {},
        "range",
        ids[0],
    )
    assert [member.assignment for member in group.members.values()] == [
        member_id.encode() for member_id in ids
    ]
    desk.send(leave(*ids))
    assert desk.group().generation == 2


ACT = st.tuples(st.sampled_from(["join", "beat", "leave", "time", "move"]), st.integers(0, 2))


@settings(max_examples=30, deadline=None)
@given(st.lists(ACT, max_size=14))
def test_law_a_compacted_log_gives_the_same_group(acts: list[tuple[str, int]]) -> None:
    """Compaction keeps the last record of each key, in its place, and a tombstone for a while."""
    desk = Desk()
    for act, place in acts:
        members = list(desk.group().members.values()) if desk.group() is not None else []
        if act == "join":
            desk.send(heartbeat848())
        elif act == "time":
            desk.pass_until(desk.now_ms + 12_000)
        elif place < len(members):
            one = members[place]
            held = [
                m.TopicPartitions(topic_id, sorted(numbers)) for topic_id, numbers in one.assigned.items()
            ]
            desk.send(
                m.ConsumerGroupHeartbeatRequest(
                    "g", one.member_id, -1 if act == "leave" else one.epoch, topic_partitions=held
                )
            )
    last = {record.key: number for number, record in enumerate(desk.log)}
    kept = [record for number, record in enumerate(desk.log) if last[record.key] == number]
    for compacted in (kept, [record for record in kept if record.value is not None]):
        again = loaded(*compacted).group()
        if desk.group() is None or again is None:
            assert (again is None) == (desk.group() is None)
            continue
        assert (again.members, again.target, again.owner_epochs) == (
            desk.group().members,
            desk.group().target,
            desk.group().owner_epochs,
        )
        assert (again.epoch, again.assignment_epoch, again.topics) == (
            desk.group().epoch,
            desk.group().assignment_epoch,
            desk.group().topics,
        )
        assert (again.subscriber_counts, again.targeted) == (
            desk.group().subscriber_counts,
            desk.group().targeted,
        )

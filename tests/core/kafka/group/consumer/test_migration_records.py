"""What an upgrade and a downgrade of a group write, whom they answer, and what they refuse (KIP-848's online
migration)."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    read_assignment,
    write_assignment,
    write_subscription,
)
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    GROUP_ID_NOT_FOUND,
    NONE,
    NOT_ENOUGH_REPLICAS,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_SERVER_ERROR,
)
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.topics import TopicsImage
from tests.core.kafka.group.classic.parked import park
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848, join, sync


def kinds(desk: Desk, since: int) -> list[str]:
    """What was written; a tombstone ends in +."""
    return [
        record.key.type.removeprefix("ConsumerGroup") + ("+" if record.value is None else "")
        for record in desk.log[since:]
    ]


def classic_group(
    *clients: str, assignments: list[bytes] | None = None, partitions: int | None = None, **settings: Any
) -> tuple[Desk, list[str]]:
    """A Stable classic group of which every member has one partition, or what the test gives it."""
    desk = Desk(partitions=partitions or len(clients), **{"migration_policy": "bidirectional"} | settings)
    for client in clients:
        desk.send(join(), 3, client)
    desk.pass_until(6_000 if len(clients) > 1 else 3_000)
    ids = list(desk.group().members)
    given = assignments or [write_assignment([("t", place)]) for place in range(len(ids))]
    for member_id in reversed(ids):
        desk.send(sync(1, member_id, dict(zip(ids, given, strict=True)) if member_id == ids[0] else None))
    return desk, ids


def test_upgrade_ends_the_classic_group_and_writes_every_member_before_the_newcomer() -> None:
    desk, ids = classic_group("a", "b")
    before = len(desk.log)
    newcomer = desk.send(heartbeat848())
    # First what the group was, as of its generation; then what the newcomer changes.
    assert kinds(desk, before)[:10] == [
        "GroupMetadata+",
        "MemberMetadata",
        "MemberMetadata",
        "Metadata",
        "TargetAssignmentMember",
        "TargetAssignmentMember",
        "TargetAssignmentMetadata",
        "CurrentMemberAssignment",
        "CurrentMemberAssignment",
        "MemberMetadata",
    ]
    assert (
        desk.log[before + 3].value.epoch == desk.log[before + 6].value.assignment_epoch == 1
        and desk.log[before + 9].key.member_id == newcomer.member_id
    )
    written = desk.log[before + 1].value
    assert (written.rebalance_timeout_ms, written.subscribed_topic_names, written.server_assignor) == (
        30_000,
        ["t"],
        None,
    )
    assert written.classic_member_metadata.session_timeout_ms == 10_000
    assert [protocol.name for protocol in written.classic_member_metadata.supported_protocols] == ["range"]
    current = {record.key.member_id: record.value for record in desk.log[before + 7 : before + 9]}
    assert {member_id: value.assigned_partitions for member_id, value in current.items()} == {
        ids[0]: [m.TopicPartitions(TOPIC_ID, [0])], ids[1]: [m.TopicPartitions(TOPIC_ID, [1])],
    }  # fmt: skip
    assert {(value.member_epoch, value.previous_member_epoch, value.state) for value in current.values()} == {
        (1, 1, 0)
    }


def test_upgraded_members_keep_their_own_sessions() -> None:
    desk, ids = classic_group("a", "b")
    desk.pass_until(9_000)
    newcomer = desk.send(heartbeat848()).member_id
    assert {name: at_ms for name, at_ms in desk.deadlines.items() if name.startswith("session")} == {
        **{f"session-timeout-g-{member_id}": 19_000 for member_id in ids},
        f"session-timeout-g-{newcomer}": 54_000,
    }
    assert ("kafka.group.upgraded", None) in desk.told


def test_classic_member_that_must_let_go_has_its_sync_timer_and_no_rebalance_timer() -> None:
    desk, (only,) = classic_group("a", assignments=[write_assignment([("t", 0), ("t", 1)])], partitions=2)
    desk.send(heartbeat848())
    owns = write_subscription(SubscriptionData(("t",), owned=(("t", 0), ("t", 1))))
    answer = desk.send(m.JoinGroupRequest("g", 10_000, only, "consumer", [m.Protocol("range", owns)], 30_000))
    assert answer.error_code == NONE and desk.group().members[only].revoking != {}
    assert desk.deadlines[f"sync-g-{only}"] == desk.now_ms + 30_000
    assert not any(name.startswith("rebalance-timeout") for name in desk.deadlines)


def test_who_waits_in_join_is_sent_to_join_again() -> None:
    desk, (one, _) = classic_group("a", "b")
    waiting = park(desk, join(one))
    assert desk.send(heartbeat848()).error_code == NONE
    answer = desk.answers[waiting]
    assert (answer.error_code, answer.member_id) == (
        REBALANCE_IN_PROGRESS,
        one,
    ) and one in desk.group().members


def test_who_waits_in_sync_is_sent_to_join_again() -> None:
    desk, (one, two) = classic_group("a", "b")
    park(desk, join(one))
    desk.send(join(two))
    waiting = park(desk, sync(2, two))
    assert desk.send(heartbeat848()).error_code == NONE
    assert desk.answers[waiting].error_code == REBALANCE_IN_PROGRESS and desk.group().members[two].epoch == 2


@pytest.mark.parametrize(
    ("assignment", "code"),
    [
        (b"", GROUP_ID_NOT_FOUND),
        (b"\x00", GROUP_ID_NOT_FOUND),
        (bytes.fromhex("0000000000017fff"), UNKNOWN_SERVER_ERROR),
    ],
)
def test_assignment_that_is_none_of_the_consumer_protocol_keeps_the_group_classic(
    assignment: bytes, code: int
) -> None:
    desk, (only,) = classic_group("a", assignments=[assignment])
    before = len(desk.log)
    assert desk.send(heartbeat848()).error_code == code
    assert isinstance(desk.group(), ClassicGroup) and len(desk.log) == before
    assert desk.send(m.HeartbeatRequest("g", 1, only)).error_code == NONE


def test_partitions_of_a_topic_that_is_gone_are_left_behind() -> None:
    desk, (only,) = classic_group("a", assignments=[write_assignment([("t", 0), ("gone", 4)])])
    desk.send(heartbeat848())
    assert desk.group().members[only].assigned == {TOPIC_ID: {0}}


def test_group_of_others_than_consumers_is_not_upgraded() -> None:
    desk = Desk(migration_policy="bidirectional")
    park(desk, m.JoinGroupRequest("g", 10_000, "", "connect", [m.Protocol("x", b"")], 30_000), 3)
    assert desk.send(heartbeat848()).error_code == GROUP_ID_NOT_FOUND


def test_upgrade_that_cannot_be_written_leaves_the_classic_group() -> None:
    desk, ids = classic_group("a", "b")
    desk.next_error = NOT_ENOUGH_REPLICAS
    assert desk.send(heartbeat848()).error_code == COORDINATOR_NOT_AVAILABLE
    group = desk.group()
    assert isinstance(group, ClassicGroup) and list(group.members) == ids and group.state == "Stable"


def test_downgrade_ends_every_record_of_the_group_and_writes_it_as_a_stable_classic_one() -> None:
    desk, ids = classic_group("a", "b")
    newcomer = desk.send(heartbeat848()).member_id
    before, told = len(desk.log), len(desk.told)
    answer = desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer, -1))
    assert (answer.error_code, answer.member_epoch) == (NONE, -1)
    assert kinds(desk, before) == [
        *["CurrentMemberAssignment+"] * 3,
        *["TargetAssignmentMember+"] * 3,
        "TargetAssignmentMetadata+",
        *["MemberMetadata+"] * 3,
        "PartitionMetadata+",
        "Metadata+",
        "GroupMetadata",
    ]
    value = desk.log[-1].value
    assert (value.generation, value.protocol, value.protocol_type) == (2, "range", "consumer")
    assert sorted(stored.member_id for stored in value.members) == sorted(ids) and value.leader in ids
    assert {(stored.session_timeout, stored.rebalance_timeout) for stored in value.members} == {
        (10_000, 30_000)
    }
    assert ("kafka.group.rebalance_started", "kafka.group.downgraded") in desk.told[told:]
    desk.fail_over()
    assert isinstance(desk.group(), ClassicGroup) and desk.group().state == "Stable", (
        "a successor has the record: Stable, to be rebalanced by nobody"
    )


def test_downgraded_members_have_the_target_that_was_theirs_in_the_version_they_speak() -> None:
    desk, ids = classic_group("a", "b")
    newcomer = desk.send(heartbeat848()).member_id
    target = {member_id: desk.group().target[member_id] for member_id in ids}
    desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer, -1))
    for stored in desk.log[-1].value.members:
        assert stored.assignment[:2] == b"\x00\x00", "they subscribed in version 0"
        assert {number for _, number in read_assignment(stored.assignment).partitions} == set(
            target[stored.member_id].get(TOPIC_ID, ())
        )


def test_classic_member_that_comes_again_must_still_agree_with_the_others() -> None:
    desk, (only,) = classic_group("a")
    newcomer = desk.send(heartbeat848()).member_id
    metadata = write_subscription(SubscriptionData(("t",)), 1)
    offered, narrowed = (
        [m.Protocol("mine", metadata), m.Protocol("range", metadata)],
        [m.Protocol("mine", metadata)],
    )
    desk.send(m.JoinGroupRequest("g", 10_000, "", "consumer", offered, 30_000, "i"))
    static = desk.group().static_members["i"]
    assert (
        desk.send(m.JoinGroupRequest("g", 10_000, static, "consumer", narrowed, 30_000, "i")).error_code == 23
    ), "a rejoin must agree"
    assert only in desk.group().members and newcomer in desk.group().members


@pytest.mark.parametrize("end", ["session", "leave"])
def test_downgrade_follows_from_a_time_out_as_from_a_leave(end: str) -> None:
    desk, ids = classic_group("a", consumer_session_timeout_ms=4_000)
    newcomer = desk.send(heartbeat848()).member_id
    if end == "leave":
        desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer, -1))
    else:
        desk.pass_until(desk.now_ms + 4_000)
    assert isinstance(desk.group(), ClassicGroup) and list(desk.group().members) == ids


@pytest.mark.parametrize(("size", "kind"), [(2, ClassicGroup), (1, ConsumerGroup)])
def test_classic_group_that_would_be_too_large_is_not_made(size: int, kind: type) -> None:
    desk, _ = classic_group("a", "b")
    newcomer = desk.send(heartbeat848()).member_id
    desk.coordinator.settings = type(desk.settings)(migration_policy="bidirectional", max_size=size)
    desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer, -1))
    assert isinstance(desk.group(), kind) and newcomer not in desk.group().members


def test_topic_that_is_gone_is_left_out_of_a_downgraded_assignment() -> None:
    desk, _ = classic_group("a")
    newcomer = desk.send(heartbeat848()).member_id
    desk.topics = TopicsImage.of([])
    desk.coordinator.topics_changed(desk.topics, ["t"])
    desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer, -1))
    assert [read_assignment(stored.assignment).partitions for stored in desk.log[-1].value.members] == [()]

"""Online migration: a classic group becomes one of the consumer protocol with its first such member, its
classic members go on with their requests, and with the last such member it becomes a classic one again.
Facts: docs/kafka/groups.md; Kafka 3.9 GroupMetadataManager."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    read_assignment,
    write_assignment,
    write_subscription,
)
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    GROUP_ID_NOT_FOUND,
    GROUP_MAX_SIZE_REACHED,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    MEMBER_ID_REQUIRED,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
)
from broker_core.kafka.group.consumer.group import ConsumerGroup
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848, join, sync

PARTITIONS = 4


def classic_join(
    member_id: str = "", owned: tuple[int, ...] = (), instance: str | None = None
) -> m.JoinGroupRequest:
    """As a client of today joins: with what it owns."""
    metadata = write_subscription(SubscriptionData(("t",), owned=tuple(("t", number) for number in owned)))
    return m.JoinGroupRequest(
        "g", 10_000, member_id, "consumer", [m.Protocol("range", metadata)], 30_000, instance
    )


def upgraded(*clients: str, policy: str = "bidirectional", **more: Any) -> tuple[Desk, list[str], Any]:
    """A classic group of these clients with 4 partitions shared out, and the answer to a new member of the
    consumer protocol."""
    desk = Desk(partitions=PARTITIONS, migration_policy=policy, **more)
    for client in clients:
        desk.send(join(), 3, client)
    desk.pass_until(6_000 if len(clients) > 1 else 3_000)
    ids = list(desk.group().members)
    shares = {
        known: [("t", number) for number in range(PARTITIONS) if number % len(ids) == place]
        for place, known in enumerate(ids)
    }
    for member_id in reversed(ids):
        given_to = (
            {known: write_assignment(share) for known, share in shares.items()}
            if member_id == ids[0]
            else None
        )
        assert desk.send(sync(1, member_id, given_to)) is None or member_id == ids[0]
    return desk, ids, desk.send(heartbeat848())


def beat(desk: Desk, member_id: str, generation: int, instance: str | None = None) -> int:
    code: int = desk.send(m.HeartbeatRequest("g", generation, member_id, instance)).error_code
    return code


def share_of(answer: m.SyncGroupResponse) -> list[int]:
    return sorted(number for _, number in read_assignment(answer.assignment).partitions)


def come_again(desk: Desk, member_id: str, owned: tuple[int, ...]) -> tuple[int, list[int]]:
    """A classic member joins and syncs: its generation and what it may hold."""
    joined = desk.send(classic_join(member_id, owned))
    assert joined.error_code == NONE and joined.leader == "" and joined.members == [], (
        "nobody leads: the coordinator assigns"
    )
    synced = desk.send(sync(joined.generation_id, member_id))
    assert synced.error_code == NONE
    return joined.generation_id, share_of(synced)


def test_members_keep_what_they_had_and_learn_by_heartbeat_that_there_is_something_to_fetch():
    desk, ids, newcomer = upgraded("a", "b")
    group = desk.group()
    assert isinstance(group, ConsumerGroup) and newcomer.error_code == NONE
    assert (group.epoch, newcomer.member_epoch) == (2, 2), "the generation goes on as the epoch"
    assert newcomer.assignment.topic_partitions == [], "all partitions still have their owners"
    assert [beat(desk, member_id, 1) for member_id in ids] == [REBALANCE_IN_PROGRESS, REBALANCE_IN_PROGRESS]


def test_partitions_move_one_owner_at_a_time():
    desk, ids, newcomer = upgraded("a", "b")
    kept = {}
    for place, member_id in enumerate(ids):
        had = tuple(range(place, PARTITIONS, 2))
        generation, share = come_again(desk, member_id, had)
        if set(share) != set(had):  # told to let go: it joins again without
            assert generation == 1, "its epoch stays until it has let go"
            generation, share = come_again(desk, member_id, tuple(share))
        assert generation == 2
        kept[member_id] = share
    taken = desk.send(heartbeat848(newcomer.member_id, 2))
    gained = [number for topic in taken.assignment.topic_partitions for number in topic.partitions]
    assert sorted(gained + [number for share in kept.values() for number in share]) == list(range(PARTITIONS))
    assert len(gained) == 1 and desk.group().state == "Stable"
    assert [beat(desk, member_id, 2) for member_id in ids] == [NONE, NONE]


def test_a_sync_is_refused_in_this_order():
    desk, (member_id,), _ = upgraded("a")
    assert desk.send(sync(1, "nobody")).error_code == UNKNOWN_MEMBER_ID
    assert desk.send(sync(7, member_id)).error_code == ILLEGAL_GENERATION
    other = m.SyncGroupRequest("g", 1, member_id, None, "consumer", "sticky")
    assert desk.send(other).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert desk.send(sync(1, member_id)).error_code == REBALANCE_IN_PROGRESS, (
        "there is a newer epoch: join first"
    )


def test_a_member_of_the_consumer_protocol_cannot_speak_the_classic_one():
    desk, _, newcomer = upgraded("a")
    assert beat(desk, newcomer.member_id, 2) == UNKNOWN_MEMBER_ID
    assert desk.send(sync(2, newcomer.member_id)).error_code == UNKNOWN_MEMBER_ID
    left = desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(newcomer.member_id)]))
    assert [one.error_code for one in left.members] == [
        UNKNOWN_MEMBER_ID
    ] and newcomer.member_id in desk.group().members


def test_a_heartbeat_of_another_generation_is_refused():
    desk, (member_id,), _ = upgraded("a")
    assert beat(desk, member_id, 5) == ILLEGAL_GENERATION and beat(desk, "nobody", 1) == UNKNOWN_MEMBER_ID


def test_who_was_told_to_join_and_does_not_is_gone_after_its_rebalance_timeout_counted_from_the_first_time():
    desk, (member_id,), newcomer = upgraded("a")
    told_at = desk.now_ms
    while desk.now_ms < told_at + 29_000:
        assert beat(desk, member_id, 1) == REBALANCE_IN_PROGRESS
        desk.send(heartbeat848(newcomer.member_id, 2))
        desk.pass_until(desk.now_ms + 1_000)
    assert member_id in desk.group().members
    desk.pass_until(told_at + 30_000)
    assert list(desk.group().members) == [newcomer.member_id]
    assert "kafka.group.rebalance_timeout" in {rule for _, rule in desk.told}


def test_who_joins_in_time_is_not_given_up_at_the_time_it_had_to():
    desk, (member_id,), newcomer = upgraded("a")
    assert beat(desk, member_id, 1) == REBALANCE_IN_PROGRESS
    generation, share = come_again(desk, member_id, (0, 1, 2, 3))
    generation, _ = come_again(desk, member_id, tuple(share))
    for _ in range(8):
        desk.pass_until(desk.now_ms + 5_000)
        assert beat(desk, member_id, generation) == NONE
        desk.send(heartbeat848(newcomer.member_id, 2))


def test_a_classic_newcomer_hears_when_what_it_waits_for_is_free():
    desk, (first,), _ = upgraded("a")
    joined = desk.send(classic_join(instance="i"))
    assert share_of(desk.send(sync(joined.generation_id, joined.member_id))) == [], (
        "its partitions still have their owner"
    )
    assert beat(desk, joined.member_id, joined.generation_id) == NONE
    _, share = come_again(desk, first, (0, 1, 2, 3))
    come_again(desk, first, tuple(share))
    assert beat(desk, joined.member_id, joined.generation_id) == REBALANCE_IN_PROGRESS, (
        "in the epoch that it has: there is something to fetch"
    )
    assert len(come_again(desk, joined.member_id, ())[1]) == 1


def test_who_joins_and_does_not_sync_is_gone_after_its_rebalance_timeout():
    desk, (member_id,), newcomer = upgraded("a")
    joined = desk.send(classic_join(member_id, (0, 1, 2, 3)))
    assert joined.error_code == NONE
    started = desk.now_ms
    while desk.now_ms < started + 28_000:
        desk.pass_until(desk.now_ms + 4_000)
        beat(desk, member_id, joined.generation_id)
        desk.send(heartbeat848(newcomer.member_id, 2))
    assert member_id in desk.group().members
    desk.pass_until(started + 30_000)
    assert member_id not in desk.group().members and "kafka.group.sync_timeout" in {
        rule for _, rule in desk.told
    }


def test_its_own_session_timeout_counts_not_the_groups():
    desk, (member_id,), newcomer = upgraded("a")
    at = desk.now_ms
    desk.pass_until(at + 9_999)
    assert member_id in desk.group().members
    desk.pass_until(at + 10_000)
    assert list(desk.group().members) == [newcomer.member_id]


@pytest.mark.parametrize(
    ("version", "instance", "code"), [(4, None, MEMBER_ID_REQUIRED), (3, None, NONE), (9, "i", NONE)]
)
def test_a_new_classic_member_needs_an_id_first_unless_it_is_static_or_old(version, instance, code):
    desk, _, _ = upgraded("a")
    answer = desk.send(classic_join(instance=instance), version)
    assert answer.error_code == code and answer.member_id
    if code == MEMBER_ID_REQUIRED:
        assert answer.member_id not in desk.group().members
        assert desk.send(classic_join(answer.member_id), version).error_code == NONE
        assert answer.member_id in desk.group().members


def test_a_static_classic_member_is_replaced_by_its_next_process_and_the_old_one_is_fenced():
    desk, _, _ = upgraded("a")
    first = desk.send(classic_join(instance="i"))
    again = desk.send(classic_join(instance="i"))
    assert again.error_code == NONE and again.member_id != first.member_id
    assert first.member_id not in desk.group().members
    assert beat(desk, first.member_id, first.generation_id, "i") == FENCED_INSTANCE_ID
    assert beat(desk, again.member_id, again.generation_id, "other") == UNKNOWN_MEMBER_ID


def test_protocols_that_the_group_cannot_use_are_refused():
    desk, (member_id,), _ = upgraded("a")
    other_type = m.JoinGroupRequest("g", 10_000, member_id, "connect", [m.Protocol("range", b"")], 30_000)
    other_name = m.JoinGroupRequest(
        "g",
        10_000,
        "x",
        "consumer",
        [m.Protocol("mine", write_subscription(SubscriptionData(("t",))))],
        30_000,
    )
    no_bytes = m.JoinGroupRequest("g", 10_000, member_id, "consumer", [m.Protocol("range", b"\x00")], 30_000)
    before = desk.group().members
    assert desk.send(other_type).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert desk.send(other_name).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert desk.send(no_bytes).error_code == UNKNOWN_SERVER_ERROR
    assert desk.group().members == before


def test_a_full_group_takes_nobody_more():
    desk, (member_id,), _ = upgraded("a", consumer_max_size=2)
    assert desk.send(classic_join(), 3).error_code == GROUP_MAX_SIZE_REACHED
    assert desk.send(classic_join(member_id, (0, 1, 2, 3))).error_code == NONE, "who is in may come again"


def test_a_group_larger_than_the_other_protocol_allows_is_not_converted():
    desk, ids, answer = upgraded("a", "b", consumer_max_size=1)
    assert answer.error_code == GROUP_ID_NOT_FOUND
    assert isinstance(desk.group(), ClassicGroup) and list(desk.group().members) == ids


def test_several_leave_at_once_each_with_its_own_code():
    desk, (one, two), _ = upgraded("a", "b")
    static = desk.send(classic_join(instance="i"))
    leaving = [
        m.MemberIdentity("nobody"),
        m.MemberIdentity(one),
        m.MemberIdentity("", "i"),
        m.MemberIdentity(two, "i"),
        m.MemberIdentity("", "k"),
    ]
    answer = desk.send(m.LeaveGroupRequest("g", members=leaving))
    assert [each.error_code for each in answer.members] == [
        UNKNOWN_MEMBER_ID,
        NONE,
        NONE,
        FENCED_INSTANCE_ID,
        UNKNOWN_MEMBER_ID,
    ]
    assert [each.member_id for each in answer.members][2] == static.member_id
    assert (
        one not in desk.group().members
        and static.member_id not in desk.group().members
        and two in desk.group().members
    )


def test_one_member_named_twice_fails_the_whole_request():
    desk, (one, _), _ = upgraded("a", "b")
    answer = desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(one), m.MemberIdentity(one)]))
    assert [each.error_code for each in answer.members] == [
        UNKNOWN_MEMBER_ID
    ] * 2 and one in desk.group().members


def test_the_last_member_of_the_new_protocol_leaves_a_classic_group_that_rebalances():
    desk, ids, newcomer = upgraded("a", "b")
    for place, member_id in enumerate(ids):
        come_again(desk, member_id, tuple(range(place, PARTITIONS, 2)))
    desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer.member_id, -1))
    group = desk.group()
    assert (
        isinstance(group, ClassicGroup) and group.state == "PreparingRebalance" and list(group.members) == ids
    )
    epoch = group.generation
    assert [beat(desk, member_id, epoch) for member_id in ids] == [REBALANCE_IN_PROGRESS] * 2
    desk.send(classic_join(ids[0], (0, 2)))
    answer = desk.send(classic_join(ids[1], (1,)))
    assert answer.error_code == NONE and answer.generation_id == epoch + 1 and answer.leader in ids


@pytest.mark.parametrize(
    ("policy", "kind"),
    [("bidirectional", ClassicGroup), ("upgrade", ConsumerGroup), ("downgrade", ConsumerGroup)],
)
def test_the_policy_says_which_way_a_group_may_go(policy, kind):
    desk, _, newcomer = upgraded("a", policy=policy)
    if policy == "downgrade":
        assert newcomer.error_code == GROUP_ID_NOT_FOUND and isinstance(desk.group(), ClassicGroup)
        return
    desk.send(m.ConsumerGroupHeartbeatRequest("g", newcomer.member_id, -1))
    assert isinstance(desk.group(), kind)


def test_another_broker_takes_the_mixed_group_over_with_its_timers():
    desk, (member_id,), newcomer = upgraded("a")
    before = desk.group()
    desk.fail_over()
    after = desk.group()
    assert (
        after is not before
        and after.members == before.members
        and (after.epoch, after.assignment_epoch) == (2, 2)
    )
    assert after.members[member_id].classic == before.members[member_id].classic
    assert beat(desk, member_id, 1) == REBALANCE_IN_PROGRESS
    generation, share = come_again(desk, member_id, (0, 1, 2, 3))
    assert (generation, len(share)) == (1, 2), "told to give up half, in the epoch it had"
    assert come_again(desk, member_id, tuple(share))[0] == 2
    assert desk.send(heartbeat848(newcomer.member_id, 2)).assignment.topic_partitions[0].topic_id == TOPIC_ID


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "new", "leave a", "leave new", "time"]), max_size=14))
def test_law_no_partition_has_two_owners_whoever_speaks_which_protocol(acts):
    """Each client holds what it was last told it may; it lets go as soon as it is told to."""
    desk, ids, newcomer = upgraded("a", "b")
    held: dict[str, set[int]] = {
        member_id: set(range(place, PARTITIONS, 2)) for place, member_id in enumerate(ids)
    } | {newcomer.member_id: set()}
    epochs = dict.fromkeys(ids, 1) | {newcomer.member_id: newcomer.member_epoch}
    by_name = {"a": ids[0], "b": ids[1], "new": newcomer.member_id}
    for act in acts:
        verb, _, name = act.rpartition(" ")
        member_id = by_name.get(name, "")
        if act == "time":
            desk.pass_until(desk.now_ms + 100)
        elif member_id not in held or not isinstance(desk.group(), ConsumerGroup):
            continue
        elif verb == "leave":
            classic = m.LeaveGroupRequest("g", members=[m.MemberIdentity(member_id)])
            desk.send(m.ConsumerGroupHeartbeatRequest("g", member_id, -1) if name == "new" else classic)
            del held[member_id]
        elif name == "new":
            answer = desk.send(heartbeat848(member_id, epochs[member_id], owned=sorted(held[member_id])))
            assert answer.error_code == NONE
            epochs[member_id] = answer.member_epoch
            if answer.assignment is not None:
                held[member_id] = {
                    number for topic in answer.assignment.topic_partitions for number in topic.partitions
                }
        elif beat(desk, member_id, epochs[member_id]) == REBALANCE_IN_PROGRESS:
            epochs[member_id], share = come_again(desk, member_id, tuple(sorted(held[member_id])))
            held[member_id] = set(share)
        owned = [number for mine in held.values() for number in mine]
        assert len(owned) == len(set(owned)), (act, held)

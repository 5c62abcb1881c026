"""How members of a KIP-848 group go: they leave, for good or for a while, or their time is over; and what
their places become."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    FENCED_MEMBER_EPOCH,
    NONE,
    NOT_ENOUGH_REPLICAS,
    UNKNOWN_MEMBER_ID,
    UNRELEASED_INSTANCE_ID,
)
from tests.core.kafka.group.desk import TOPIC_ID, Desk, heartbeat848


def beat(
    member_id: str, epoch: int, instance: str | None = None, **fields: Any
) -> m.ConsumerGroupHeartbeatRequest:
    return m.ConsumerGroupHeartbeatRequest("g", member_id, epoch, instance_id=instance, **fields)


def written(desk: Desk, since: int) -> list[tuple[str, bool]]:
    """(kind, whether it is a tombstone)."""
    return [
        (record.key.type.removeprefix("ConsumerGroup"), record.value is None) for record in desk.log[since:]
    ]


def timers(desk: Desk, member_id: str) -> list[str]:
    return [name for name in desk.deadlines if name.endswith(member_id)]


def held(answer: m.ConsumerGroupHeartbeatResponse) -> list[int]:
    assert answer.assignment is not None
    return [number for topic in answer.assignment.topic_partitions for number in topic.partitions]


def owner_and_newcomer(**settings: Any) -> tuple[Desk, str, str, list[int]]:
    """An owner of all six partitions that was told to let three go, the newcomer that waits, and what the
    owner may keep."""
    desk = Desk(**settings)
    one, two = desk.send(heartbeat848()).member_id, desk.send(heartbeat848()).member_id
    return desk, one, two, held(desk.send(heartbeat848(one, 1)))


def test_leave_removes_the_member_with_all_its_timers_and_raises_the_epoch() -> None:
    desk, one, two, _ = owner_and_newcomer()
    assert len(timers(desk, one)) == 2
    before = len(desk.log)
    answer = desk.send(beat(one, -1))
    assert (answer.error_code, answer.member_id, answer.member_epoch, answer.assignment) == (
        NONE,
        one,
        -1,
        None,
    )
    assert written(desk, before) == [
        ("CurrentMemberAssignment", True),
        ("TargetAssignmentMember", True),
        ("MemberMetadata", True),
        ("Metadata", False),
    ]
    assert timers(desk, one) == [] and list(desk.group().members) == [two] and desk.group().epoch == 3
    assert desk.group().owner_epochs == {} and desk.group().state == "Assigning"


def test_last_member_leaves_an_empty_group_without_topics_behind() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    before = len(desk.log)
    desk.send(beat(one, -1))
    assert written(desk, before)[3:] == [("PartitionMetadata", False), ("Metadata", False)]
    assert (desk.group().state, desk.group().epoch, desk.group().topics, desk.group().subscriber_counts) == (
        "Empty",
        2,
        {},
        {},
    )
    again = desk.send(heartbeat848())
    assert (again.member_epoch, held(again)) == (3, [0, 1, 2, 3, 4, 5]), "the epochs go on"


def test_leave_says_so_once_and_a_second_one_is_unknown() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    desk.send(beat(one, -1))
    assert desk.told[-1] == ("kafka.group.member_left", None)
    assert desk.send(beat(one, -1)).error_code == UNKNOWN_MEMBER_ID


def test_session_counts_from_the_last_heartbeat_and_its_end_removes_the_member() -> None:
    desk = Desk(consumer_session_timeout_ms=20_000)
    one = desk.send(heartbeat848()).member_id
    desk.pass_until(15_000)
    desk.send(beat(one, 1))
    desk.pass_until(34_999)
    assert one in desk.group().members
    desk.pass_until(35_000)
    assert desk.group().members == {} and desk.told[-1] == (
        "kafka.group.member_expired",
        "kafka.group.session_timeout",
    )
    assert timers(desk, one) == [] and desk.group().epoch == 2


def test_refused_heartbeat_does_not_prolong_the_session() -> None:
    desk = Desk(consumer_session_timeout_ms=20_000)
    one = desk.send(heartbeat848()).member_id
    desk.pass_until(15_000)
    assert desk.send(beat(one, 9)).error_code == FENCED_MEMBER_EPOCH
    assert desk.deadlines[f"session-timeout-g-{one}"] == 20_000


def test_end_of_a_session_that_cannot_be_written_is_tried_again_half_a_second_later() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    desk.next_error = NOT_ENOUGH_REPLICAS
    desk.pass_until(45_000)
    assert one in desk.group().members and desk.deadlines[f"session-timeout-g-{one}"] == 45_500
    desk.pass_until(45_500)
    assert (
        desk.group().members == {}
        and len([kind for kind, _ in desk.told if kind == "kafka.group.member_expired"]) == 2
    )


def test_end_of_a_rebalance_timeout_that_cannot_be_written_is_tried_again_half_a_second_later() -> None:
    desk, one, two, _ = owner_and_newcomer()
    desk.next_error = NOT_ENOUGH_REPLICAS
    desk.pass_until(10_000)
    assert one in desk.group().members and desk.deadlines[f"rebalance-timeout-g-{one}"] == 10_500
    desk.pass_until(10_500)
    assert list(desk.group().members) == [two]


def test_rebalance_timer_begins_when_a_member_is_told_to_let_go_and_ends_when_it_has() -> None:
    desk, one, _, kept = owner_and_newcomer()
    assert desk.deadlines[f"rebalance-timeout-g-{one}"] == 10_000
    desk.pass_until(9_999)
    desk.send(heartbeat848(one, 1, owned=kept))
    assert f"rebalance-timeout-g-{one}" not in desk.deadlines
    desk.pass_until(20_000)
    assert one in desk.group().members


def test_member_that_waits_for_others_has_no_rebalance_timer() -> None:
    desk, _, two, _ = owner_and_newcomer()
    assert timers(desk, two) == [f"session-timeout-g-{two}"]


def test_rebalance_timer_of_an_epoch_that_is_over_removes_nobody() -> None:
    desk, one, _, kept = owner_and_newcomer()
    timer = desk.coordinator.state.timers[f"rebalance-timeout-g-{one}"]
    desk.send(heartbeat848(one, 1, owned=kept))
    desk.coordinator.state.timers[f"rebalance-timeout-g-{one}"] = timer
    desk.coordinator.wake(f"rebalance-timeout-g-{one}", desk.now_ms, desk)
    assert (
        one in desk.group().members
        and ("kafka.group.member_expired", "kafka.group.rebalance_timeout") not in desk.told
    )


@pytest.mark.parametrize("name", ["session-timeout", "rebalance-timeout"])
def test_timers_of_a_member_or_a_group_that_is_gone_do_nothing(name: str) -> None:
    desk, one, two, _ = owner_and_newcomer()
    timer = desk.coordinator.state.timers[f"{name}-g-{one}"]
    desk.send(beat(one, -1))
    for gone in (None, "group"):
        if gone is not None:
            desk.send(beat(two, -1)), desk.send(m.DeleteGroupsRequest(["g"]))
            assert desk.group() is None
        before = len(desk.log), len(desk.told)
        desk.coordinator.state.timers[f"{name}-g-{one}"] = timer
        desk.coordinator.wake(f"{name}-g-{one}", desk.now_ms, desk)
        assert (
            len(desk.log),
            len(desk.told),
        ) == before and f"{name}-g-{one}" not in desk.coordinator.state.timers


def test_failover_starts_sessions_anew_and_the_rebalance_timer_of_who_still_has_to_let_go() -> None:
    desk, one, two, _ = owner_and_newcomer(consumer_session_timeout_ms=20_000)
    desk.pass_until(8_000)
    desk.fail_over()
    assert {name: at_ms for name, at_ms in desk.deadlines.items() if "timeout" in name} == {
        f"session-timeout-g-{one}": 28_000,
        f"session-timeout-g-{two}": 28_000,
        f"rebalance-timeout-g-{one}": 18_000,
    }


def test_leave_for_a_while_keeps_the_place_and_lets_go_of_what_was_to_be_let_go() -> None:
    desk = Desk()
    one = desk.send(heartbeat848(instance_id="i")).member_id
    desk.send(heartbeat848())
    kept = held(desk.send(heartbeat848(one, 1, instance_id="i")))
    before = len(desk.log)
    answer = desk.send(beat(one, -2, "i"))
    assert (answer.member_id, answer.member_epoch, answer.assignment) == (one, -2, None)
    assert written(desk, before) == [("CurrentMemberAssignment", False)] and desk.group().epoch == 2
    member = desk.group().members[one]
    assert (member.epoch, member.assigned, member.revoking) == (-2, {TOPIC_ID: frozenset(kept)}, {})


def test_who_left_for_a_while_is_fenced_under_its_old_id_and_replaced_by_a_new_process() -> None:
    desk = Desk()
    one = desk.send(heartbeat848(instance_id="i", rack_id="east")).member_id
    assert desk.send(heartbeat848(instance_id="i", rack_id="east")).error_code == UNRELEASED_INSTANCE_ID
    desk.send(beat(one, -2, "i"))
    assert desk.send(beat(one, 1, "i")).error_code == FENCED_MEMBER_EPOCH
    before = len(desk.log)
    back = desk.send(heartbeat848(instance_id="i"))
    assert (back.member_epoch, held(back)) == (1, [0, 1, 2, 3, 4, 5]) and back.member_id != one
    assert written(desk, before)[:3] == [
        ("CurrentMemberAssignment", True),
        ("TargetAssignmentMember", True),
        ("MemberMetadata", True),
    ]
    assert desk.group().members[back.member_id].rack_id == "east" and desk.group().static_members == {
        "i": back.member_id
    }
    assert desk.group().epoch == 1 and list(desk.group().target) == [back.member_id]
    assert desk.send(beat(one, 1, "i")).error_code == FENCED_INSTANCE_ID
    assert desk.send(beat(one, -1, "i")).error_code == FENCED_INSTANCE_ID


def test_new_process_that_reads_other_topics_raises_the_epoch_and_is_shared_with_instead_of_the_old_one() -> (
    None
):
    desk = Desk()
    one, two = desk.send(heartbeat848(instance_id="i")).member_id, desk.send(heartbeat848()).member_id
    desk.send(beat(one, -2, "i"))
    back = desk.send(
        beat("", 0, "i", rebalance_timeout_ms=10_000, subscribed_topic_names=["t", "u"], topic_partitions=[])
    )
    assert (back.error_code, desk.group().epoch) == (NONE, 3) and set(desk.group().members) == {
        two,
        back.member_id,
    }
    shares = {member_id: len(numbers.get(TOPIC_ID, ())) for member_id, numbers in desk.group().target.items()}
    assert shares == {two: 3, back.member_id: 3}


def test_place_of_who_left_for_a_while_ends_with_its_session_counted_from_before() -> None:
    desk = Desk(consumer_session_timeout_ms=20_000)
    one = desk.send(heartbeat848(instance_id="i")).member_id
    desk.pass_until(12_000)
    desk.send(beat(one, -2, "i"))
    desk.pass_until(19_999)
    assert one in desk.group().members
    desk.pass_until(20_000)
    assert (desk.group().members, desk.group().static_members, desk.group().epoch) == ({}, {}, 2)
    assert desk.send(heartbeat848(instance_id="i")).member_epoch == 3


def test_static_member_that_leaves_for_good_gives_its_place_up() -> None:
    desk = Desk()
    one = desk.send(heartbeat848(instance_id="i")).member_id
    assert desk.send(beat(one, -1, "i")).member_epoch == -1
    assert desk.group().static_members == {} and desk.send(heartbeat848(instance_id="i")).member_epoch == 3

"""The frame of a coordinator: what an answer waits for, what a late or failed write undoes, what another
broker takes over."""

from __future__ import annotations

import pytest

from broker_core.errors import InvariantError
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    NONE,
    NOT_COORDINATOR,
    NOT_ENOUGH_REPLICAS,
    REBALANCE_IN_PROGRESS,
)
from tests.core.kafka.group.classic.parked import beat, completing_group, leave, park
from tests.core.kafka.group.desk import Desk, heartbeat848, join, stable_group, sync

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


def commit(offset: int, group: str = "g") -> m.OffsetCommitRequest:
    return m.OffsetCommitRequest(group, -1, "", [m.CommittedTopic("t", [m.CommittedPartition(0, offset)])])


def fetch(is_stable: bool = False) -> m.OffsetFetchRequest:
    return m.OffsetFetchRequest([m.OffsetFetchGroup("g", topics=[m.FetchedTopic("t", [0])])], is_stable)


def code(answer: m.OffsetCommitResponse) -> int:
    return answer.topics[0].partitions[0].error_code


def offset(answer: m.OffsetFetchResponse) -> int:
    return answer.groups[0].topics[0].partitions[0].committed_offset


def confirm(desk: Desk, up_to: int) -> None:
    desk.coordinator.high_watermark_moved(up_to, desk.now_ms, desk)


def test_answers_come_in_the_order_of_the_log_each_when_its_own_end_is_confirmed() -> None:
    desk = Desk()
    desk.is_held = True
    tickets = [park(desk, commit(number)) for number in (1, 2, 3)]
    confirm(desk, 0)
    assert not any(ticket in desk.answers for ticket in tickets)
    confirm(desk, 2)
    assert [ticket in desk.answers for ticket in tickets] == [True, True, False]
    assert offset(desk.send(fetch())) == 2
    confirm(desk, 3)
    assert [code(desk.answers[ticket]) for ticket in tickets] == [
        NONE
    ] * 3 and desk.coordinator.state.waiting == []
    assert not any(name.startswith("operation") for name in desk.deadlines)


def test_high_watermark_never_goes_back() -> None:
    desk = Desk()
    desk.is_held = True
    ticket = park(desk, commit(1))
    confirm(desk, 1)
    confirm(desk, 0)
    assert (
        ticket in desk.answers
        and desk.coordinator.state.high_watermark == 1
        and offset(desk.send(fetch())) == 1
    )


def test_writer_that_writes_nothing_waits_for_earlier_writes_too() -> None:
    """Else its answer could tell of a state that a successor does not know."""
    desk, (leader,) = stable_group("a")
    desk.is_held = True
    first = park(desk, commit(1, "other"))
    second = park(desk, beat(leader))
    stable_fetch = park(desk, fetch(True))
    assert desk.send(m.DescribeGroupsRequest(["g"]), 5).groups[0].group_state == STABLE, (
        "a reader does not wait"
    )
    desk.let_go()
    assert (
        desk.answers[second] == m.HeartbeatResponse(NONE)
        and first in desk.answers
        and stable_fetch in desk.answers
    )


def test_refusal_waits_for_nothing() -> None:
    desk, _ = stable_group("a")
    desk.is_held = True
    park(desk, commit(1, "other"))
    assert desk.send(beat("stranger")).error_code == 25


def test_each_operation_has_its_own_time_and_the_others_wait_on() -> None:
    desk = Desk(offsets_commit_timeout_ms=4_000)
    desk.is_held = True
    first = park(desk, commit(1))
    desk.pass_until(3_000)
    second = park(desk, commit(2))
    desk.pass_until(4_000)
    assert code(desk.answers[first]) == COORDINATOR_NOT_AVAILABLE and second not in desk.answers
    desk.let_go()
    assert code(desk.answers[second]) == NONE and offset(desk.send(fetch())) == 2


def test_operation_that_nothing_waits_for_is_our_own_mistake() -> None:
    desk = Desk()
    desk.is_held = True
    park(desk, commit(1))
    desk.coordinator.state.waiting.clear()
    with pytest.raises(InvariantError, match="operation-timeout-1"):
        desk.pass_until(5_000)


def test_timer_that_was_cancelled_or_never_set_does_nothing() -> None:
    desk, (leader,) = stable_group("a")
    before = len(desk.log), dict(desk.deadlines)
    desk.coordinator.wake("sync-g", desk.now_ms, desk)
    desk.coordinator.wake("nothing", desk.now_ms, desk)
    assert (len(desk.log), desk.deadlines) == before and list(desk.group().members) == [leader]


def test_failed_write_undoes_the_group_that_it_made_and_leaves_the_others() -> None:
    desk = Desk()
    desk.send(commit(1, "other"))
    desk.next_error = NOT_ENOUGH_REPLICAS
    assert code(desk.send(commit(1))) == COORDINATOR_NOT_AVAILABLE
    assert desk.group() is None and desk.group("other") is not None and len(desk.log) == 1
    assert code(desk.send(commit(1))) == NONE


@BOTH
def test_unload_sends_everybody_who_waits_to_the_next_coordinator_and_stops_all_timers(is_old: bool) -> None:
    desk, (leader, follower) = completing_group("a", "b", is_old=is_old)
    in_sync = park(desk, sync(1, follower))
    desk.send(m.JoinGroupRequest("h", 10_000, "", "consumer", [m.Protocol("range", b"")], 30_000), 3)
    in_join = max(desk.coordinator.state.unanswered)
    desk.is_held = True
    written = park(desk, commit(1, "other"))
    desk.coordinator.unload(desk.now_ms, desk)
    assert desk.answers[in_sync] == m.SyncGroupResponse(NOT_COORDINATOR)
    assert desk.answers[in_join].error_code == NOT_COORDINATOR and desk.answers[in_join].member_id != ""
    assert code(desk.answers[written]) == NOT_COORDINATOR
    assert (
        desk.deadlines == {}
        and desk.coordinator.state.timers == {}
        and desk.coordinator.state.unanswered == set()
    )
    assert leader in desk.group().members


@pytest.mark.parametrize("state", [PREPARING, COMPLETING])
def test_rebalance_that_was_under_way_is_lost_with_its_coordinator(state: str) -> None:
    desk, (leader, follower) = stable_group("a", "b")
    park(desk, join(leader))
    if state == COMPLETING:
        desk.send(join(follower))
    assert desk.group().state == state
    desk.fail_over()
    assert (desk.group().state, desk.group().generation, desk.group().waiting_count) == (STABLE, 1, 0)
    expected = [22, 22] if state == COMPLETING else [NONE, NONE]
    generation = 2 if state == COMPLETING else 1
    assert [desk.send(beat(member_id, generation)).error_code for member_id in (leader, follower)] == expected
    assert "join-g" not in desk.deadlines and "sync-g" not in desk.deadlines


def test_successor_reads_what_was_appended_though_nobody_was_told() -> None:
    desk = Desk()
    desk.is_held = True
    ticket = park(desk, commit(7))
    desk.fail_over()
    assert code(desk.answers[ticket]) == NOT_COORDINATOR and offset(desk.send(fetch())) == 7


def test_what_is_written_after_a_take_over_is_later_than_all_that_was_loaded() -> None:
    """A transaction's commit never overwrites a later plain one, so each record's place in the log must
    continue where the log ended."""
    desk = Desk()
    for number in range(5):
        desk.send(commit(number))
    desk.fail_over()
    assert (desk.coordinator.state.end_offset, desk.coordinator.state.high_watermark) == (5, 5)
    desk.send(
        m.TxnOffsetCommitRequest("tx", "g", 100, 0, [m.CommittedTopic("t", [m.CommittedPartition(0, 70)])])
    )
    desk.send(m.WriteTxnMarkers(100, 0, True))
    assert offset(desk.send(fetch())) == 70


def test_leaders_assignment_that_waits_fails_with_its_coordinator_and_its_group_says_so() -> None:
    desk, (leader, follower) = completing_group("a", "b")
    in_sync = park(desk, sync(1, follower))
    desk.is_held = True
    led = park(desk, sync(1, leader, {leader: b"1", follower: b"2"}))
    desk.coordinator.unload(desk.now_ms, desk)
    assert {desk.answers[ticket].error_code for ticket in (in_sync, led)} == {NOT_COORDINATOR}
    assert desk.group().state == PREPARING


def test_topics_that_changed_touch_the_groups_that_read_them_alone() -> None:
    desk = Desk()
    one = desk.send(heartbeat848()).member_id
    group = desk.group()
    refresh = group.refresh_at_ms, group.refresh_epoch
    desk.coordinator.topics_changed(desk.topics, ["u"])
    assert (group.refresh_at_ms, group.refresh_epoch) == refresh
    desk.coordinator.topics_changed(desk.topics, ["u", "t"])
    assert group.needs_refresh(desk.now_ms)
    assert desk.send(heartbeat848(one, 1)).member_epoch == 1 and not desk.group().needs_refresh(desk.now_ms)


def test_leave_of_several_in_one_request_is_one_rebalance() -> None:
    desk, (one, two, three) = stable_group("a", "b", "c")
    before = len([kind for kind, _ in desk.told if kind == "kafka.group.rebalance_started"])
    desk.send(leave(one, two))
    assert len([kind for kind, _ in desk.told if kind == "kafka.group.rebalance_started"]) == before + 1
    assert desk.send(beat(three)).error_code == REBALANCE_IN_PROGRESS

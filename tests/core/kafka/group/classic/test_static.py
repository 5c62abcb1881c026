"""A static member restarts in a classic group: what it costs in each state of the group, and what becomes of
the process before it."""

from __future__ import annotations

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    INCONSISTENT_GROUP_PROTOCOL,
    NONE,
    NOT_COORDINATOR,
    NOT_ENOUGH_REPLICAS,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    UNKNOWN_MEMBER_ID,
)
from tests.core.kafka.group.classic.parked import beat, leave, park, session_of, static_group
from tests.core.kafka.group.desk import Desk, join, sync

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


@BOTH
@pytest.mark.parametrize(
    ("place", "version"),
    [(0, 8), (0, 9), (1, 8), (1, 9)],
    ids=["leader 8", "leader 9", "follower 8", "follower 9"],
)
def test_restart_in_a_stable_group_costs_nothing_and_an_old_client_is_not_made_to_assign(
    place: int, version: int, is_old: bool
) -> None:
    desk, ids = static_group("i", "j", is_old=is_old)
    before = len(desk.log)
    answer = desk.send(join(instance="ij"[place]), version, "again")
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (NONE, 1, "range")
    assert answer.member_id not in ids and answer.member_id.startswith(f"{'ij'[place]}-")
    if version == 9:
        assert answer.leader == (answer.member_id if place == 0 else ids[0])
        assert answer.skip_assignment is (place == 0) and len(answer.members) == (2 if place == 0 else 0)
    else:
        assert (answer.leader, answer.skip_assignment, answer.members) == (ids[0], False, [])
    assert desk.group().state == STABLE and desk.group().leader == (
        answer.member_id if place == 0 else ids[0]
    )
    assert len(desk.log) == before + 1, "the group is written with the new id"
    assert answer.member_id in {stored.member_id for stored in desk.log[-1].value.members}
    assert desk.send(sync(1, answer.member_id)).assignment == ids[place].encode()


@BOTH
def test_new_process_has_the_place_and_the_old_one_is_fenced_wherever_it_speaks(is_old: bool) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    again = desk.send(join(instance="i")).member_id
    assert list(desk.group().members) == [two, again] and desk.group().static_members == {
        "i": again,
        "j": two,
    }
    told = [
        desk.send(beat(one, instance="i")).error_code,
        desk.send(m.SyncGroupRequest("g", 1, one, "i", "consumer", "range")).error_code,
        desk.send(join(one, instance="i")).error_code,
        desk.send(leave((one, "i"))).members[0].error_code,
        desk.send(
            m.OffsetCommitRequest("g", 1, one, [m.CommittedTopic("t", [m.CommittedPartition(0, 1)])], "i")
        )
        .topics[0]
        .partitions[0]
        .error_code,
    ]
    assert told == [FENCED_INSTANCE_ID] * 5
    assert desk.send(beat(one)).error_code == UNKNOWN_MEMBER_ID, (
        "who does not name its instance is only unknown"
    )
    assert desk.send(beat(again, instance="i")).error_code == NONE


@BOTH
def test_restart_begins_a_session_and_brings_new_timeouts(is_old: bool) -> None:
    desk, _ = static_group("i", "j", is_old=is_old)
    desk.pass_until(9_000)
    again = desk.send(join(instance="j", session_ms=20_000, rebalance_ms=50_000)).member_id
    member = desk.group().members[again]
    assert (member.session_timeout_ms, member.rebalance_timeout_ms, member.instance_id) == (
        20_000,
        50_000,
        "j",
    )
    assert desk.deadlines[session_of(again)] == 9_000 + 10_000, (
        "the session that runs is still the one that was agreed on"
    )
    desk.send(beat(again, instance="j"))
    assert desk.deadlines[session_of(again)] == 9_000 + 20_000


@BOTH
def test_session_of_the_process_before_ends_without_a_trace(is_old: bool) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    desk.pass_until(10_000)
    again = desk.send(join(instance="i")).member_id
    desk.pass_until(15_000)
    desk.send(beat(again, instance="i")), desk.send(beat(two, instance="j"))
    desk.pass_until(20_000)
    assert (
        desk.group().state == STABLE
        and again in desk.group().members
        and session_of(one) not in desk.deadlines
    )


@BOTH
def test_restart_that_changes_the_chosen_protocol_rebalances(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    for instance in "ij":
        desk.send(join(instance=instance, protocols=("range", "sticky")), 5)
    desk.pass_until(6_000)
    one, two = (desk.group().static_members[instance] for instance in "ij")
    desk.send(sync(1, two)), desk.send(sync(1, one, {}))
    told = desk.send(join(instance="j", protocols=("range", "sticky", "mine")))
    assert told.generation_id == 1 and desk.group().state == STABLE, (
        "an additional offer that changes no vote"
    )
    ticket = park(desk, join(instance="j", protocols=("sticky",)))
    assert (
        desk.group().state == PREPARING
        and desk.send(beat(one, instance="i")).error_code == REBALANCE_IN_PROGRESS
    )
    desk.send(join(one, instance="i", protocols=("range", "sticky")))
    assert desk.answers[ticket].protocol_name == "sticky" and desk.group().generation == 2


@BOTH
def test_restart_without_a_common_protocol_is_refused_and_the_old_process_stays(is_old: bool) -> None:
    desk, ids = static_group("i", "j", is_old=is_old)
    assert desk.send(join(instance="i", protocols=("mine",))).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert list(desk.group().members) == ids and desk.send(beat(ids[0], instance="i")).error_code == NONE


@BOTH
def test_restart_while_a_rebalance_is_prepared_fences_the_join_that_waits(is_old: bool) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    waits = park(desk, join(one, instance="i"))
    again = park(desk, join(instance="i"))
    assert (desk.answers[waits].error_code, desk.answers[waits].member_id) == (FENCED_INSTANCE_ID, one)
    assert desk.group().waiting_count == 1 and desk.group().state == PREPARING
    desk.send(join(two, instance="j"))
    assert (
        desk.answers[again].generation_id == 2 and desk.answers[again].leader == desk.answers[again].member_id
    )


@BOTH
def test_restart_of_the_one_that_was_missing_ends_the_join_phase(is_old: bool) -> None:
    desk, (one, _) = static_group("i", "j", is_old=is_old)
    waits = park(desk, join(one, instance="i"))
    answer = desk.send(join(instance="j"))
    assert (answer.generation_id, desk.answers[waits].generation_id) == (2, 2)


@BOTH
def test_restart_while_assignments_are_awaited_begins_again_and_fences_the_sync_that_waits(
    is_old: bool,
) -> None:
    desk, (one, two) = static_group("i", "j", synced=False, is_old=is_old)
    waits = park(desk, sync(1, two))
    again = park(desk, join(instance="j"))
    assert desk.answers[waits].error_code == FENCED_INSTANCE_ID and desk.group().state == PREPARING
    assert desk.send(sync(1, one)).error_code == REBALANCE_IN_PROGRESS
    desk.send(join(one, instance="i"))
    assert desk.answers[again].generation_id == 2 and two not in desk.group().members


@BOTH
def test_restart_in_the_initial_delay_takes_the_place_and_waits_on(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    first = park(desk, join(instance="i"), 5)
    second = park(desk, join(instance="i"), 5)
    assert desk.answers[first].error_code == FENCED_INSTANCE_ID and len(desk.group().members) == 1
    desk.pass_until(3_000)
    assert desk.answers[second].generation_id == 1 and desk.answers[second].error_code == NONE


@pytest.mark.parametrize(
    ("error", "is_old", "code"),
    [
        (NOT_ENOUGH_REPLICAS, False, COORDINATOR_NOT_AVAILABLE),
        (NOT_ENOUGH_REPLICAS, True, COORDINATOR_NOT_AVAILABLE),
        (REQUEST_TIMED_OUT, False, COORDINATOR_NOT_AVAILABLE),
        (REQUEST_TIMED_OUT, True, REBALANCE_IN_PROGRESS),
    ],
)
def test_restart_that_cannot_be_written_is_taken_back_with_protocols_and_timeouts(
    error: int, is_old: bool, code: int
) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    before = desk.group().members[one].protocols
    desk.pass_until(8_000)
    desk.next_error = error
    answer = desk.send(
        join(instance="i", session_ms=20_000, rebalance_ms=50_000, protocols=("range", "sticky"))
    )
    assert (answer.error_code, answer.member_id, answer.generation_id, answer.leader) == (code, "", 1, one)
    assert (
        desk.group().static_members == {"i": one, "j": two}
        and desk.group().leader == one
        and set(desk.group().members) == {one, two}
    )
    member = desk.group().members[one]
    assert (member.session_timeout_ms, member.rebalance_timeout_ms, member.protocols) == (
        10_000,
        30_000,
        before,
    )
    assert (
        member.awaits_join is None
        and desk.group().waiting_count == 0
        and desk.group().offered_counts == {"range": 2, "sticky": 0}
    )
    assert desk.deadlines[session_of(one)] == 18_000
    assert desk.send(sync(1, one)).assignment == one.encode(), "and goes on with its assignment"


def test_restart_is_answered_when_its_record_is_below_the_high_watermark() -> None:
    desk, _ = static_group("i")
    desk.is_held = True
    ticket = park(desk, join(instance="i"))
    assert desk.group().waiting_count == 1
    desk.let_go()
    answer = desk.answers[ticket]
    assert (
        answer.error_code == NONE
        and desk.group().static_members == {"i": answer.member_id}
        and desk.group().waiting_count == 0
    )


def test_restart_that_waits_is_sent_to_the_next_coordinator_which_knows_the_new_id() -> None:
    desk, (one,) = static_group("i")
    desk.is_held = True
    ticket = park(desk, join(instance="i"))
    desk.fail_over()
    assert desk.answers[ticket].error_code == NOT_COORDINATOR
    (member_id,) = desk.group().members
    assert (
        member_id != one
        and desk.group().static_members == {"i": member_id}
        and desk.group().members[member_id].assignment == one.encode()
    )


@BOTH
def test_static_member_that_stays_away_is_removed_at_the_end_of_its_session(is_old: bool) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    desk.pass_until(10_000)
    desk.send(beat(two, instance="j"))
    desk.pass_until(16_000)
    assert desk.group().static_members == {"j": two} and desk.group().state == PREPARING
    ticket = park(desk, join(instance="i"))
    assert next(iter(desk.group().members)) == two and one not in desk.group().members
    desk.send(join(two, instance="j"))
    assert desk.answers[ticket].generation_id == 2 and desk.group().state == COMPLETING


@BOTH
def test_static_member_of_an_empty_group_is_a_new_one(is_old: bool) -> None:
    desk, (one,) = static_group("i", is_old=is_old)
    desk.send(leave((one, "i")))
    assert desk.group().state == EMPTY
    ticket = park(desk, join(instance="i"))
    desk.pass_until(desk.now_ms + 3_000)
    assert desk.answers[ticket].generation_id == 3 and desk.answers[ticket].member_id != one

"""Heartbeats and sessions of a classic group: who is refused, what restarts a session, and what its end costs
in each state."""

from __future__ import annotations

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    INVALID_GROUP_ID,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from tests.core.kafka.group.classic.parked import beat, completing_group, park, session_of, static_group
from tests.core.kafka.group.desk import Desk, join, stable_group, sync

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


@BOTH
@pytest.mark.parametrize("state", [STABLE, PREPARING, COMPLETING])
@pytest.mark.parametrize(
    ("who", "generation", "instance", "code"),
    [
        ("nobody", 9, None, UNKNOWN_MEMBER_ID),
        ("nobody", 9, "i", FENCED_INSTANCE_ID),
        ("two", 9, "i", FENCED_INSTANCE_ID),
        ("one", 9, "k", UNKNOWN_MEMBER_ID),
        ("one", 9, "i", ILLEGAL_GENERATION),
        ("one", 0, None, ILLEGAL_GENERATION),
        ("one", 1, "i", None),
    ],
)
def test_first_check_that_fails_decides_and_only_a_good_one_restarts_the_session(
    who: str, generation: int, instance: str | None, code: int | None, state: str, is_old: bool
) -> None:
    desk, (one, two) = static_group("i", "j", synced=state != COMPLETING, is_old=is_old)
    if state == PREPARING:
        park(desk, join(two, instance="j", protocols=("range", "sticky")))
    before = dict(desk.deadlines)
    desk.pass_until(desk.now_ms + 1_000)
    answer = desk.send(beat({"one": one, "two": two}.get(who, who), generation, instance))
    assert answer == m.HeartbeatResponse(
        code if code is not None else REBALANCE_IN_PROGRESS if state == PREPARING else NONE
    )
    assert desk.group().state == state
    if code is None:
        assert desk.deadlines == before | {session_of(one): desk.now_ms + 10_000}
    else:
        assert desk.deadlines == before


@BOTH
def test_group_without_a_name_or_that_is_not_there_is_refused(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    assert desk.send(m.HeartbeatRequest("", 1, "x")).error_code == INVALID_GROUP_ID
    assert desk.send(m.HeartbeatRequest("g", 1, "x")).error_code == UNKNOWN_MEMBER_ID and desk.group() is None


@pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
def test_heartbeat_of_one_whose_join_waits_is_answered_and_its_timer_is_the_new_coordinators_affair(
    is_old: bool,
) -> None:
    """Who waits for the coordinator is not silent: the old one stops its timer, the new one passes over the
    end of it."""
    desk, (one, two) = stable_group("a", "b", is_old=is_old)
    park(desk, join(one))
    assert desk.send(beat(one)).error_code == REBALANCE_IN_PROGRESS
    assert (session_of(one) in desk.deadlines) is not is_old
    desk.pass_until(desk.now_ms + 9_000)
    desk.send(beat(two))
    desk.pass_until(desk.now_ms + 5_000)
    assert one in desk.group().members and desk.group().state == PREPARING


@BOTH
@pytest.mark.parametrize("place", [0, 1], ids=["leader", "follower"])
def test_silence_in_the_sync_phase_sends_those_who_wait_back_to_join(place: int, is_old: bool) -> None:
    desk, ids = completing_group("a", "b", "c", is_old=is_old)
    gone, stays = ids[place], [member_id for number, member_id in enumerate(ids) if number != place]
    waiting = park(desk, sync(1, stays[-1]))
    desk.pass_until(12_000)
    desk.send(beat(stays[0]))
    desk.pass_until(16_000)
    assert gone not in desk.group().members and sorted(desk.group().members) == sorted(stays)
    assert desk.answers[waiting].error_code == REBALANCE_IN_PROGRESS and desk.group().state == PREPARING
    assert desk.group().leader in stays
    expired, began = [told for told in desk.told if told[0].endswith(("expired", "rebalance_started"))][-2:]
    assert expired == ("kafka.group.member_expired", "kafka.group.session_timeout")
    assert began == ("kafka.group.rebalance_started", "kafka.group.session_timeout")


@BOTH
def test_whole_group_falls_silent_one_after_the_other(is_old: bool) -> None:
    desk, _ = stable_group("a", "b", "c", is_old=is_old)
    desk.pass_until(60_000)
    assert (desk.group().state, desk.group().generation, desk.group().members) == (EMPTY, 2, {})
    assert [kind for kind, _ in desk.told].count("kafka.group.member_expired") == 3
    assert desk.log[-1].value.members == [] and desk.group().state_since_ms == 16_000


@BOTH
def test_last_one_that_is_missing_falls_silent_and_the_others_go_on_without_it(is_old: bool) -> None:
    desk, (one, two, three) = stable_group("a", "b", "c", is_old=is_old)
    tickets = [park(desk, join(one)), park(desk, join(two))]
    at_ms = desk.deadlines[session_of(three)]
    desk.pass_until(at_ms - 1)
    assert not any(ticket in desk.answers for ticket in tickets)
    desk.pass_until(at_ms)
    assert {desk.answers[ticket].generation_id for ticket in tickets} == {2}


@BOTH
def test_answer_to_a_join_begins_the_session_anew(is_old: bool) -> None:
    desk, (one, two) = stable_group("a", "b", is_old=is_old)
    desk.pass_until(10_000)
    park(desk, join(one))
    desk.pass_until(15_000)
    desk.send(join(two))
    assert [desk.deadlines[session_of(member_id)] for member_id in (one, two)] == [25_000, 25_000]


@BOTH
def test_rejoin_that_is_answered_at_once_does_not_restart_the_session(is_old: bool) -> None:
    desk, (_, follower) = stable_group("a", "b", is_old=is_old)
    desk.pass_until(9_000)
    assert desk.send(join(follower)).generation_id == 1
    assert desk.deadlines[session_of(follower)] == 16_000


@BOTH
def test_id_that_was_given_out_is_forgotten_alone(is_old: bool) -> None:
    desk, ids = stable_group("a", is_old=is_old)
    for client, session_ms in (("x", 7_000), ("y", 9_000)):
        desk.send(join(session_ms=session_ms), 9, client)
    first, second = desk.group().pending_joins
    begun_ms = desk.now_ms
    desk.pass_until(begun_ms + 7_000)
    assert list(desk.group().pending_joins) == [second] and session_of(first) not in desk.deadlines
    assert desk.group().state == STABLE and list(desk.group().members) == ids
    assert ("kafka.group.member_expired", "kafka.group.session_timeout") not in desk.told


@BOTH
def test_session_timer_of_a_member_that_was_removed_by_another_rule_does_nothing(is_old: bool) -> None:
    desk, (one, two) = stable_group("a", "b", is_old=is_old)
    timer = desk.coordinator.state.timers[session_of(two)]
    desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(two)]))
    told = len(desk.told)
    desk.coordinator.state.timers[session_of(two)] = timer
    desk.coordinator.wake(session_of(two), desk.now_ms, desk)
    assert list(desk.group().members) == [one] and len(desk.told) == told

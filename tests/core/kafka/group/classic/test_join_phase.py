"""How a join phase of a classic group begins and ends: the initial delay, the rebalance timeout, static
members that did not come back."""

from __future__ import annotations

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS, UNKNOWN_MEMBER_ID
from tests.core.kafka.group.classic.parked import (
    beat,
    completing_group,
    leave,
    park,
    session_of,
    static_group,
)
from tests.core.kafka.group.desk import Desk, join, stable_group, sync

BOTH = pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])


@BOTH
@pytest.mark.parametrize(
    ("rebalance_ms", "ends_ms"),
    [
        (1_000, [3_000]),
        (3_000, [3_000]),
        (4_000, [3_000, 4_000]),
        (9_000, [3_000, 6_000, 9_000]),
        (10_000, [3_000, 6_000, 9_000, 10_000]),
    ],
)
def test_initial_delay_is_prolonged_by_newcomers_up_to_the_rebalance_timeout(
    rebalance_ms: int, ends_ms: list[int], is_old: bool
) -> None:
    desk = Desk(is_old=is_old)
    desk.send(join(rebalance_ms=rebalance_ms), 3, "a")
    seen = []
    while desk.group().state == PREPARING:
        seen.append(desk.deadlines["join-g"])
        desk.send(join(rebalance_ms=rebalance_ms), 3, "more")
        desk.pass_until(seen[-1])
    assert seen == ends_ms


@BOTH
def test_initial_delay_is_not_prolonged_by_who_began_it_nor_by_who_comes_again(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    park(desk, join(instance="i"), 5)
    (member_id,) = desk.group().members
    park(desk, join(member_id, instance="i"))
    desk.pass_until(3_000)
    assert (desk.group().state, desk.group().generation) == (COMPLETING, 1)


@BOTH
def test_longest_rebalance_timeout_of_the_first_members_is_looked_at_when_the_first_one_joins(
    is_old: bool,
) -> None:
    """What is left of the delay is reckoned once: later members with more patience do not prolong it."""
    desk = Desk(is_old=is_old)
    desk.send(join(rebalance_ms=4_000), 3, "a")
    desk.send(join(rebalance_ms=60_000), 3, "b")
    desk.pass_until(3_000)
    assert desk.deadlines["join-g"] == 4_000
    desk.send(join(rebalance_ms=60_000), 3, "c")
    desk.pass_until(4_000)
    assert desk.group().state == COMPLETING and len(desk.group().members) == 3


@BOTH
def test_delay_of_zero_ends_in_the_same_millisecond(is_old: bool) -> None:
    desk = Desk(is_old=is_old, initial_rebalance_delay_ms=0)
    park(desk, join(), 3, "a")
    desk.pass_until(0)
    assert (desk.group().state, desk.group().generation) == (COMPLETING, 1)


@BOTH
def test_all_who_wait_in_the_initial_delay_may_leave_and_the_group_is_empty_at_its_end(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    ticket = park(desk, join(), 3, "a")
    (only,) = desk.group().members
    desk.send(leave(only))
    assert desk.answers[ticket].error_code == UNKNOWN_MEMBER_ID
    assert (desk.group().state, desk.group().leader) == (PREPARING, None)
    desk.pass_until(3_000)
    assert (desk.group().state, desk.group().generation, desk.group().protocol) == (EMPTY, 1, None)
    assert desk.log[-1].value.members == [] and desk.log[-1].value.generation == 1


@BOTH
def test_end_of_the_rebalance_timeout_removes_who_is_missing_and_answers_who_is_there(is_old: bool) -> None:
    desk, (one, two, three) = stable_group("a", "b", "c", is_old=is_old)
    tickets = [park(desk, join(one, session_ms=60_000)), park(desk, join(two, session_ms=60_000))]
    started_ms = desk.now_ms
    while desk.now_ms < started_ms + 28_000:
        desk.pass_until(desk.now_ms + 4_000)
        assert desk.send(beat(three)).error_code == REBALANCE_IN_PROGRESS
    desk.pass_until(started_ms + 29_999)
    assert desk.group().state == PREPARING
    desk.pass_until(started_ms + 30_000)
    assert [desk.answers[ticket].generation_id for ticket in tickets] == [2, 2]
    assert (
        three not in desk.group().members
        and session_of(three) not in desk.deadlines
        and "join-g" not in desk.deadlines
    )
    assert ("kafka.group.member_removed", "kafka.group.rebalance_timeout") in desk.told


@BOTH
def test_static_member_that_is_missing_keeps_its_place_and_is_told_of_nothing(is_old: bool) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    park(desk, join(one, session_ms=60_000, instance="i"))
    while desk.group().state == PREPARING:
        desk.pass_until(desk.now_ms + 5_000)
        desk.send(beat(two, instance="j"))
    assert desk.group().generation == 2 and list(desk.group().members) == [one, two]
    assert desk.group().members[two].assignment == two.encode(), "what it had before"
    assert list(desk.group().pending_syncs) == [one, two], "it must sync like everybody"


@BOTH
def test_join_phase_without_anybody_begins_again_while_static_members_have_their_sessions(
    is_old: bool,
) -> None:
    desk = Desk(is_old=is_old)
    for instance in ("i", "j"):
        desk.send(join(instance=instance), 5, instance)
    desk.send(join(), 3, "d")
    desk.pass_until(6_000)
    one, two, dynamic = desk.group().members
    (
        desk.send(sync(1, two)),
        desk.send(sync(1, dynamic)),
        desk.send(sync(1, one, dict.fromkeys(desk.group().members, b"x"))),
    )
    desk.send(leave(dynamic))
    for second in range(7, 50):
        desk.pass_until(second * 1_000)
        desk.send(beat(one, instance="i")), desk.send(beat(two, instance="j"))
    assert (desk.group().state, desk.group().generation, desk.group().leader) == (PREPARING, 1, one), (
        "nobody to lead: it waits again"
    )
    assert desk.deadlines["join-g"] == 66_000 and list(desk.group().members) == [one, two]
    desk.pass_until(59_000)
    assert (desk.group().state, desk.group().members, desk.group().generation) == (EMPTY, {}, 2), (
        "the sessions decide"
    )


@BOTH
def test_leader_that_is_missing_and_static_stays_a_member_and_another_leads(is_old: bool) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    ticket = park(desk, join(two, instance="j", session_ms=60_000, protocols=("range", "sticky")))
    while desk.group().state == PREPARING:
        desk.send(beat(one, instance="i"))
        desk.pass_until(desk.now_ms + 5_000)
    answer = desk.answers[ticket]
    assert answer.leader == two == desk.group().leader and {
        each.group_instance_id for each in answer.members
    } == {"i", "j"}
    assert one in desk.group().members


@BOTH
def test_known_member_that_waits_outlives_its_session_and_the_others_do_not(is_old: bool) -> None:
    desk, (one, two) = stable_group("a", "b", is_old=is_old)
    park(desk, join(one, session_ms=6_000))
    desk.pass_until(desk.now_ms + 5_999)
    desk.send(beat(two))
    desk.pass_until(desk.now_ms + 9_999)
    assert desk.group().state == PREPARING and list(desk.group().members) == [one, two]
    assert (session_of(one) in desk.deadlines) is False, (
        "the old one lets none run, that of the new one is over"
    )
    desk.pass_until(desk.now_ms + 1)
    assert list(desk.group().members) == [one] and desk.group().state == COMPLETING


@BOTH
def test_newcomers_id_holds_up_a_later_join_phase_until_it_comes_again_with_it(is_old: bool) -> None:
    desk, (one,) = stable_group("a", is_old=is_old)
    answer = desk.send(join(), 9, "b")
    assert answer.error_code == MEMBER_ID_REQUIRED and desk.group().state == STABLE
    waiting = park(desk, join(one))
    assert desk.group().state == PREPARING
    told = desk.send(join(answer.member_id), 9, "b")
    assert (told.generation_id, desk.answers[waiting].generation_id) == (
        2,
        2,
    ) and desk.group().pending_joins == {}


@BOTH
def test_end_of_the_rebalance_timeout_does_not_wait_for_an_id_that_was_given_out(is_old: bool) -> None:
    desk, (one,) = stable_group("a", is_old=is_old)
    desk.send(join(session_ms=1_000_000), 9, "b")
    ticket = park(desk, join(one, rebalance_ms=7_000))
    desk.pass_until(desk.now_ms + 7_000)
    assert desk.answers[ticket].generation_id == 2 and len(desk.group().pending_joins) == 1


@BOTH
def test_sync_phase_lasts_the_longest_rebalance_timeout_of_who_is_there(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    desk.send(join(rebalance_ms=20_000), 3, "a"), desk.send(join(rebalance_ms=50_000), 3, "b")
    desk.pass_until(6_000)
    assert desk.deadlines["sync-g"] == 56_000


@BOTH
def test_sync_timer_of_an_older_generation_removes_nobody(is_old: bool) -> None:
    desk, (one, two) = completing_group("a", "b", is_old=is_old)
    timer = desk.coordinator.state.timers["sync-g"]
    park(desk, join(one, protocols=("range", "sticky")))
    desk.send(join(two, protocols=("range", "sticky")))
    assert desk.group().generation == 2
    desk.coordinator.state.timers["sync-g"] = timer
    desk.pass_until(desk.now_ms)
    desk.coordinator.wake("sync-g", desk.now_ms, desk)
    assert list(desk.group().members) == [one, two] and desk.group().state == COMPLETING


@BOTH
@pytest.mark.parametrize("phase", ["initial delay", "join", "sync"])
def test_timers_of_a_group_that_is_gone_do_nothing(phase: str, is_old: bool) -> None:
    desk, ids = (completing_group if phase == "sync" else stable_group)("a", "b", is_old=is_old)
    if phase == "join":
        park(desk, join(ids[0]))
    if phase == "initial delay":
        desk.send(leave(*ids))
        park(desk, join(), 3)
    desk.coordinator.state.groups.remove("g")
    told = len(desk.told)
    desk.pass_until(400_000)
    assert (
        desk.group() is None and len(desk.told) == told and set(desk.deadlines) == {"expire-group-metadata"}
    )


def test_group_that_is_larger_than_a_new_limit_rebalances_when_it_is_loaded() -> None:
    desk, ids = stable_group("a", "b", "c")
    for size, state in ((3, STABLE), (2, PREPARING)):
        desk.settings = type(desk.settings)(max_size=size)
        desk.fail_over()
        assert desk.group().state == state and len(desk.group().members) == 3
    assert ("kafka.group.rebalance_started", "kafka.group.max_size") in desk.told
    assert [desk.send(join(member_id)) is None for member_id in ids[:2]] == [True, True]
    assert desk.send(join(ids[2])) == m.JoinGroupResponse("", 81), "the third finds no place"
    assert ids[2] not in desk.group().members

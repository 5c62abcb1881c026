"""LeaveGroup in a classic group: each member has its own code, those who stay share again once, and who
waited hears of it."""

from __future__ import annotations

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    FENCED_INSTANCE_ID,
    INVALID_GROUP_ID,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
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


def codes(answer: m.LeaveGroupResponse) -> list[int]:
    return [member.error_code for member in answer.members]


@BOTH
def test_each_member_has_its_own_code_and_a_refused_one_costs_nothing(is_old: bool) -> None:
    desk, (one, _) = static_group("i", "j", is_old=is_old)
    before = (dict(desk.deadlines), list(desk.log))
    answer = desk.send(leave("nobody", (one, "j"), ("nobody", "i"), (one, "k"), ("", "k"), ("", None)))
    assert codes(answer) == [
        UNKNOWN_MEMBER_ID,
        FENCED_INSTANCE_ID,
        FENCED_INSTANCE_ID,
        UNKNOWN_MEMBER_ID,
        UNKNOWN_MEMBER_ID,
        UNKNOWN_MEMBER_ID,
    ]
    assert answer.error_code == NONE and [member.member_id for member in answer.members] == [
        "nobody",
        one,
        "nobody",
        one,
        "",
        "",
    ]
    assert desk.group().state == STABLE and (desk.deadlines, desk.log) == before


@BOTH
@pytest.mark.parametrize(
    "named", [("MEMBER", "i"), ("MEMBER", None), ("", "i")], ids=["both", "id", "instance"]
)
def test_static_member_leaves_by_its_id_its_instance_or_both(
    named: tuple[str, str | None], is_old: bool
) -> None:
    desk, (one, two) = static_group("i", "j", is_old=is_old)
    answer = desk.send(leave((named[0].replace("MEMBER", one), named[1])))
    assert codes(answer) == [NONE] and answer.members[0].group_instance_id == named[1]
    assert desk.group().static_members == {"j": two} and session_of(one) not in desk.deadlines
    assert desk.group().state == PREPARING and desk.group().leader == two


@BOTH
@pytest.mark.parametrize("version", [2, 3])
def test_before_version_3_the_answer_has_the_one_members_code(version: int, is_old: bool) -> None:
    desk, (one, _) = stable_group("a", "b", is_old=is_old)
    asked = m.LeaveGroupRequest("g", one) if version < 3 else leave(one)
    assert desk.send(asked, version) == (
        m.LeaveGroupResponse() if version < 3 else m.LeaveGroupResponse(0, [m.MemberResponse(one, None)])
    )
    again = desk.send(asked, version)
    assert (again.error_code, codes(again)) == (
        (UNKNOWN_MEMBER_ID, []) if version < 3 else (NONE, [UNKNOWN_MEMBER_ID])
    )


@BOTH
def test_unknown_group_refuses_every_member_by_itself(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    assert codes(desk.send(leave("a", ("b", "i")))) == [UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID]
    assert desk.send(m.LeaveGroupRequest("", members=[m.MemberIdentity("a")])).error_code == INVALID_GROUP_ID
    assert desk.group() is None and desk.log == []


@BOTH
def test_who_waits_in_join_is_told_that_it_is_not_known(is_old: bool) -> None:
    desk, (one, two, three) = stable_group("a", "b", "c", is_old=is_old)
    ticket = park(desk, join(one))
    assert codes(desk.send(leave(one))) == [NONE]
    assert (desk.answers[ticket].error_code, desk.answers[ticket].member_id) == (UNKNOWN_MEMBER_ID, "")
    assert (
        desk.group().waiting_count == 0
        and desk.group().state == PREPARING
        and list(desk.group().members) == [two, three]
    )


@BOTH
def test_parked_sync_of_one_who_leaves_is_never_answered_and_the_others_join_again(is_old: bool) -> None:
    desk, (leader, second, third) = completing_group("a", "b", "c", is_old=is_old)
    gone, stays = park(desk, sync(1, second)), park(desk, sync(1, third))
    desk.send(leave(second))
    assert gone not in desk.answers and desk.answers[stays].error_code == REBALANCE_IN_PROGRESS
    assert desk.group().state == PREPARING and list(desk.group().members) == [leader, third]
    assert "sync-g" not in desk.deadlines and desk.deadlines["join-g"] == desk.now_ms + 30_000


@BOTH
def test_leave_of_the_last_one_missing_ends_the_join_phase(is_old: bool) -> None:
    desk, (one, two) = stable_group("a", "b", is_old=is_old)
    ticket = park(desk, join(one))
    desk.send(leave(two))
    assert desk.answers[ticket].generation_id == 2 and desk.group().state == COMPLETING


@BOTH
def test_leave_in_the_initial_delay_does_not_cut_it_short(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    park(desk, join(), 3, "a"), park(desk, join(), 3, "b")
    _, two = desk.group().members
    desk.send(leave(two))
    assert desk.group().state == PREPARING and desk.deadlines["join-g"] == 3_000


@BOTH
def test_last_member_empties_the_group_in_one_step_and_the_log_says_since_when(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old)
    desk.pass_until(8_000)
    desk.send(leave(only))
    value = desk.log[-1].value
    assert (value.generation, value.members, value.protocol, value.leader, value.current_state_timestamp) == (
        2,
        [],
        None,
        None,
        8_000,
    )
    assert (desk.group().state, desk.group().protocol_type) == (EMPTY, "consumer"), (
        "its offsets still belong to consumers"
    )
    assert [name for name in desk.deadlines if name != "expire-group-metadata"] == []


@BOTH
def test_all_leave_at_once(is_old: bool) -> None:
    desk, ids = stable_group("a", "b", "c", is_old=is_old)
    assert codes(desk.send(leave(*ids))) == [NONE] * 3
    assert (desk.group().state, desk.group().members, desk.group().waiting_count) == (EMPTY, {}, 0)
    assert desk.group().offered_counts == {"range": 0} and desk.log[-1].value.members == []


@BOTH
def test_id_that_was_given_out_leaves_and_its_timer_goes_with_it_in_the_new_coordinator(is_old: bool) -> None:
    desk, (one,) = stable_group("a", is_old=is_old)
    pending = desk.send(join(), 9, "late").member_id
    assert codes(desk.send(leave(pending))) == [NONE] and desk.group().pending_joins == {}
    assert (session_of(pending) in desk.deadlines) is is_old
    assert codes(desk.send(leave(pending))) == [UNKNOWN_MEMBER_ID]
    assert list(desk.group().members) == [one]


@BOTH
def test_id_that_was_given_out_ends_what_waited_for_it(is_old: bool) -> None:
    desk, (one,) = stable_group("a", is_old=is_old)
    pending = desk.send(join(), 9, "late").member_id
    ticket = park(desk, join(one))
    desk.send(leave(pending))
    assert desk.answers[ticket].generation_id == 2


@BOTH
def test_leader_is_followed_in_the_order_of_the_map_and_the_members_learn_it_with_their_join(
    is_old: bool,
) -> None:
    desk, (leader, two, three) = stable_group("a", "b", "c", is_old=is_old)
    desk.send(leave(leader))
    follows = desk.group().order_of_ids()[0]
    assert desk.group().leader == follows
    assert [desk.send(beat(member_id)).error_code for member_id in (two, three)] == [
        REBALANCE_IN_PROGRESS
    ] * 2
    first = park(desk, join(two))
    second = desk.send(join(three))
    assert {desk.answers[first].leader, second.leader} == {follows}
    assert sorted([len(desk.answers[first].members), len(second.members)]) == [0, 2]


@BOTH
def test_what_is_told_of_a_leave_comes_before_the_rebalance(is_old: bool) -> None:
    desk, (_, two) = stable_group("a", "b", is_old=is_old)
    before = len(desk.told)
    desk.send(leave(two))
    assert desk.told[before:] == [
        ("kafka.group.member_left", None),
        ("kafka.group.rebalance_started", "kafka.group.leave"),
    ]

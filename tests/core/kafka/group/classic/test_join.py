"""JoinGroup in a classic group: what is refused first, what a refusal leaves unchanged, and who gets what
at the end of a join phase."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    GROUP_MAX_SIZE_REACHED,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    MEMBER_ID_REQUIRED,
    NONE,
    NOT_ENOUGH_REPLICAS,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
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
METADATA = write_subscription(SubscriptionData(("t",)), 0)


def asked(
    member_id: str = "",
    kind: str = "consumer",
    name: str = "range",
    session_ms: int = 10_000,
    group: str = "g",
    **more: Any,
) -> m.JoinGroupRequest:
    return m.JoinGroupRequest(
        group, session_ms, member_id, kind, [m.Protocol(name, METADATA)], 30_000, **more
    )


@BOTH
@pytest.mark.parametrize(
    ("request_", "code", "carried"),
    [
        (asked("x", group="", session_ms=1), INVALID_GROUP_ID, "x"),
        (asked("x", session_ms=1, kind="connect"), INVALID_SESSION_TIMEOUT, "x"),
        (asked("x", name="sticky"), INCONSISTENT_GROUP_PROTOCOL, "x"),
        (asked("", kind="connect"), INCONSISTENT_GROUP_PROTOCOL, ""),
        (asked("x"), UNKNOWN_MEMBER_ID, "x"),
        (asked("x", group_instance_id="nobody"), UNKNOWN_MEMBER_ID, "x"),
        (asked("x", group_instance_id="i"), FENCED_INSTANCE_ID, "x"),
    ],
    ids=["group id", "session", "protocol before member", "type", "member", "instance", "fenced"],
)
def test_first_check_that_fails_decides_and_nothing_changes(
    request_: m.JoinGroupRequest, code: int, carried: str, is_old: bool
) -> None:
    desk, ids = static_group("i", is_old=is_old)
    before = (
        dict(desk.deadlines),
        list(desk.log),
        desk.group().state,
        list(desk.group().members),
        desk.group().waiting_count,
    )
    answer = desk.send(request_)
    assert (answer.error_code, answer.member_id, answer.generation_id, answer.members) == (
        code,
        carried,
        -1,
        [],
    )
    assert before == (desk.deadlines, desk.log, desk.group().state, ids, desk.group().waiting_count)


@BOTH
def test_id_of_a_group_that_is_not_there_is_unknown_and_makes_no_group(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    answer = desk.send(asked("made-up"))
    assert (answer.error_code, answer.member_id) == (UNKNOWN_MEMBER_ID, "made-up")
    assert desk.group() is None and desk.log == []


@BOTH
def test_id_of_an_empty_group_is_unknown(is_old: bool) -> None:
    desk, (only,) = stable_group("a", is_old=is_old)
    desk.send(leave(only))
    assert desk.send(asked(only)).error_code == UNKNOWN_MEMBER_ID
    assert desk.group().state == EMPTY and desk.group().members == {}


@BOTH
def test_group_of_a_request_that_is_refused_is_there_from_then_on_and_empty(is_old: bool) -> None:
    """A join without protocols makes the group before it is refused; the new coordinator writes it."""
    desk = Desk(is_old=is_old)
    answer = desk.send(m.JoinGroupRequest("g", 10_000, "", "consumer", [], 30_000))
    assert (answer.error_code, answer.member_id) == (INCONSISTENT_GROUP_PROTOCOL, "")
    assert (desk.group().state, desk.group().members, len(desk.log)) == (EMPTY, {}, 0 if is_old else 1)


@pytest.mark.parametrize(
    ("version", "instance", "begins"),
    [(4, None, "a-"), (9, None, "a-"), (3, None, "a-"), (5, "web-1", "web-1-")],
)
def test_id_begins_with_the_client_or_the_instance(version: int, instance: str | None, begins: str) -> None:
    desk = Desk()
    answer = desk.send(asked(group_instance_id=instance), version, "a")
    (member_id,) = [answer.member_id] if answer else list(desk.group().members)
    assert member_id.startswith(begins)
    assert (answer is not None) is (version >= 4 and instance is None), (
        "who is old or static is parked at once"
    )


@BOTH
def test_id_that_was_given_to_a_dynamic_member_cannot_become_a_static_one(is_old: bool) -> None:
    desk = Desk(is_old=is_old)
    member_id = desk.send(asked()).member_id
    answer = desk.send(asked(member_id, group_instance_id="i"))
    assert answer.error_code == UNKNOWN_SERVER_ERROR
    assert list(desk.group().pending_joins) == [member_id] and desk.group().members == {}


@BOTH
def test_new_member_has_five_minutes_whatever_its_session_and_its_session_begins_with_its_answer(
    is_old: bool,
) -> None:
    desk = Desk(is_old=is_old, new_member_join_timeout_ms=70_000, initial_rebalance_delay_ms=20_000)
    desk.send(join(session_ms=6_000), 3, "a")
    (member_id,) = desk.group().members
    assert desk.deadlines[session_of(member_id)] == 70_000
    desk.pass_until(20_000)
    assert desk.deadlines[session_of(member_id)] == 26_000


@BOTH
def test_new_member_that_waits_longer_than_that_is_let_go_with_an_answer(is_old: bool) -> None:
    desk, (first,) = stable_group("a", is_old=is_old, new_member_join_timeout_ms=5_000)
    ticket = park(desk, join(), 3, "b")
    newcomer = next(known for known in desk.group().members if known != first)
    desk.send(beat(first))
    desk.pass_until(desk.now_ms + 5_000)
    assert (desk.answers[ticket].member_id, desk.answers[ticket].error_code) == ("", UNKNOWN_MEMBER_ID)
    assert list(desk.group().members) == [first] and newcomer not in desk.group().members


@BOTH
def test_members_are_listed_for_the_leader_alone_and_everybody_learns_who_leads(is_old: bool) -> None:
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    tickets = [park(desk, join(leader))]
    answer = desk.send(join(follower))
    to_leader = desk.answers[tickets[0]]
    assert [each.member_id for each in to_leader.members] == [
        each.member_id for each in desk.group().in_order()
    ]
    assert all(each.metadata == METADATA for each in to_leader.members) and answer.members == []
    assert (to_leader.leader, answer.leader, answer.generation_id, answer.protocol_name) == (
        leader,
        leader,
        2,
        "range",
    )
    assert (answer.protocol_type, answer.error_code, answer.skip_assignment) == ("consumer", NONE, False)


@BOTH
def test_rejoin_in_the_sync_phase_is_answered_again_unless_something_changed(is_old: bool) -> None:
    desk, (leader, follower) = completing_group("a", "b", is_old=is_old)
    assert len(desk.send(join(leader)).members) == 2 and desk.send(join(follower)).members == []
    assert desk.group().state == COMPLETING
    waiting = park(desk, sync(1, follower))
    park(desk, join(follower, protocols=("range", "sticky")))
    assert desk.group().state == PREPARING and desk.answers[waiting].error_code == 27


@BOTH
def test_leader_that_comes_again_rebalances_a_stable_group_and_a_follower_is_told_of_the_present_one(
    is_old: bool,
) -> None:
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    told = desk.send(join(follower))
    assert (told.generation_id, told.leader, told.members, desk.group().state) == (1, leader, [], STABLE)
    park(desk, join(leader))
    assert desk.group().state == PREPARING


@BOTH
def test_second_join_of_a_waiting_member_takes_the_place_of_the_first_and_counts_once(is_old: bool) -> None:
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old)
    first = park(desk, join(leader))
    second = park(desk, join(leader, protocols=("range", "sticky")))
    assert desk.group().waiting_count == 1
    desk.send(join(follower))
    assert second in desk.answers and first not in desk.answers, (
        "as in the original, the first is never answered"
    )


@BOTH
@pytest.mark.parametrize("version", [3, 9])
def test_full_group_refuses_before_it_gives_an_id(version: int, is_old: bool) -> None:
    desk, ids = stable_group("a", "b", is_old=is_old, max_size=2)
    answer = desk.send(join(), version, "c")
    assert (answer.error_code, answer.member_id) == (GROUP_MAX_SIZE_REACHED, "")
    assert list(desk.group().members) == ids and desk.group().pending_joins == {}


@pytest.mark.parametrize(("is_old", "state"), [(False, PREPARING), (True, COMPLETING)], ids=["new", "old"])
def test_id_that_finds_the_group_full_is_lost_and_ends_the_join_phase_in_the_old_coordinator_alone(
    is_old: bool, state: str
) -> None:
    """docs/kafka/groups.md: a newcomer that is refused a place may end the join phase. In the new one it
    lasts the rebalance timeout."""
    desk, (leader,) = stable_group("a", is_old=is_old, max_size=2)
    pending = desk.send(join(session_ms=60_000), 9, "late").member_id
    park(desk, join(), 3, "b")
    waiting = park(desk, join(leader))
    answer = desk.send(join(pending))
    assert (answer.error_code, answer.member_id) == (GROUP_MAX_SIZE_REACHED, "")
    assert (
        desk.group().pending_joins == {}
        and desk.group().state == state
        and (waiting in desk.answers) is is_old
    )
    desk.pass_until(desk.now_ms + 30_000)
    assert desk.answers[waiting].generation_id == 2


@BOTH
def test_member_that_is_in_comes_again_however_full_the_group_is(is_old: bool) -> None:
    desk, (leader, follower) = stable_group("a", "b", is_old=is_old, max_size=2)
    ticket = park(desk, join(leader))
    assert desk.send(join(follower)).error_code == NONE and desk.answers[ticket].generation_id == 2


def test_first_record_of_a_group_that_fails_is_told_and_takes_the_group_back() -> None:
    desk = Desk()
    desk.next_error = NOT_ENOUGH_REPLICAS
    answer = desk.send(join(), 9, "a")
    assert answer.error_code == MEMBER_ID_REQUIRED, "it had its answer before the record was written"
    assert desk.group() is None and desk.log == []
    desk.next_error = NOT_ENOUGH_REPLICAS
    answer = desk.send(join(instance="i"), 9, "a")
    assert (answer.error_code, answer.member_id) == (COORDINATOR_NOT_AVAILABLE, "")


@pytest.mark.parametrize(("version", "name"), [(6, ""), (7, None)])
def test_refusal_names_no_protocol_as_its_version_writes_that(version: int, name: str | None) -> None:
    assert Desk().send(asked("x"), version).protocol_name == name


def test_version_0_has_one_timeout_for_both() -> None:
    desk = Desk()
    desk.send(join(session_ms=8_000, rebalance_ms=-1), 0, "a")
    (member,) = desk.group().members.values()
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (8_000, 8_000)

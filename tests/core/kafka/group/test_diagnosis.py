"""Why is my group stuck: each case names its member and its timer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.kafka.group.classic.states import COMPLETING, PREPARING, STABLE
from broker_core.kafka.group.diagnosis import (
    FROZEN,
    GHOST,
    GONE,
    SILENT,
    Finding,
    GroupFacts,
    MemberFacts,
    PartitionFacts,
    diagnose,
)

PARTS = [PartitionFacts(0, "c1", 1, 4), PartitionFacts(1, "c2", 2, 0)]
C1 = MemberFacts("c1", partitions=(0,), session_us=45, is_leader=True)


def codes(group: GroupFacts) -> list[str]:
    return [finding.code for finding in diagnose(group)]


def test_a_healthy_group_has_no_findings() -> None:
    assert diagnose(GroupFacts(STABLE, 1, [C1, MemberFacts("c2", partitions=(1,))], PARTS)) == []


def test_nobody_coordinates_and_nobody_is_there() -> None:
    assert codes(GroupFacts("Empty", None, (), PARTS)) == ["no_coordinator"]
    assert codes(GroupFacts("Empty", None, (), [*PARTS, PartitionFacts(2, "c1", None, 0)])) == [
        "no_coordinator",
        "no_leader",
    ]
    assert diagnose(GroupFacts("Empty", 2, (), PARTS)) == [Finding("no_members", partitions=(0, 1), count=4)]


@pytest.mark.parametrize(
    ("member", "code", "timer", "ends_us"),
    [
        (MemberFacts("c2", SILENT, partitions=(1,), session_us=9), "silent_owner", "session.timeout.ms", 9),
        (MemberFacts("c2", FROZEN, partitions=(1,), session_us=9), "frozen_owner", "session.timeout.ms", 9),
        (MemberFacts("c2", GONE, partitions=(1,), session_us=9), "gone_owner", "session.timeout.ms", 9),
        (MemberFacts("c2", GHOST, partitions=(1,), session_us=9), "ghost_owner", "session.timeout.ms", 9),
        (
            MemberFacts("c2", is_stuck=True, partitions=(1,), session_us=9, poll_us=30),
            "stuck_owner",
            "max.poll.interval.ms",
            30,
        ),
    ],
)
def test_who_holds_partitions_and_does_not_read(member, code, timer, ends_us):
    assert diagnose(GroupFacts(STABLE, 1, [C1, member], PARTS)) == [Finding(code, "c2", timer, ends_us, (1,))]


@pytest.mark.parametrize(("member", "code", "timer", "ends_us"), [
    (MemberFacts("c2", SILENT, session_us=9), "silent_waits", "session.timeout.ms", 9),
    (MemberFacts("c2", SILENT, session_us=99), "silent_waits", "max.poll.interval.ms", 60),
    (MemberFacts("c2", FROZEN, session_us=9), "frozen_waits", "session.timeout.ms", 9),
    (MemberFacts("c2", GONE, session_us=9), "gone_waits", "session.timeout.ms", 9),
    (MemberFacts("c2", is_stuck=True, poll_us=50, session_us=9), "join_waits", "max.poll.interval.ms", 50),
    (MemberFacts("c2", session_us=9), "join_waits", "max.poll.interval.ms", 60),
])  # fmt: skip
def test_the_join_phase_waits_for_one_until_the_first_timer_that_ends_it(member, code, timer, ends_us):
    joined = MemberFacts("c1", has_joined=True)
    found = diagnose(GroupFacts(PREPARING, 1, [joined, member], PARTS, join_us=60))
    assert found == [Finding(code, "c2", timer, ends_us)]


def test_the_sync_phase_waits_for_the_leader_alone() -> None:
    leader = MemberFacts("c1", SILENT, is_leader=True, has_synced=False, session_us=9)
    found = diagnose(
        GroupFacts(COMPLETING, 1, [leader, MemberFacts("c2", has_synced=False)], PARTS, sync_us=60)
    )
    assert found == [Finding("sync_waits", "c1", "session.timeout.ms", 9)]


def test_the_first_members_are_gathered() -> None:
    found = diagnose(
        GroupFacts(PREPARING, 1, [MemberFacts("c1", has_joined=True)], PARTS, join_us=3, is_first=True)
    )
    assert found == [Finding("gathering", timer="group.initial.rebalance.delay.ms", ends_us=3, count=1)]


@pytest.mark.parametrize(
    ("code", "parts"),
    [("revoke_unheard", {"surplus": (1,), "partitions": (1,)}), ("free_unheard", {"free": (1,)})],
)
def test_a_member_of_kip_848_hears_with_its_next_heartbeat_what_it_has_to_give_up_and_may_take(code, parts):
    member = MemberFacts("c2", beat_us=5, session_us=9, **parts)
    found = diagnose(GroupFacts("Reconciling", 1, [C1, member], PARTS))
    assert found == [Finding(code, "c2", "group.consumer.heartbeat.interval.ms", 5, (1,))]


def test_a_group_of_kip_848_is_assigned_again_with_the_first_heartbeat() -> None:
    members = [MemberFacts("c1", beat_us=8), MemberFacts("c2", beat_us=5)]
    found = diagnose(
        GroupFacts("Assigning", 1, [*members, MemberFacts("c3", SILENT, beat_us=1)], (), is_unassigned=True)
    )[:1]
    assert found == [Finding("assign_waits", "c2", "group.consumer.heartbeat.interval.ms", 5)]


def test_a_former_life_that_is_still_a_member_is_not_its_new_one() -> None:
    ghost = MemberFacts("c2", GHOST, session_us=9)
    assert diagnose(GroupFacts(PREPARING, 1, [ghost], PARTS, join_us=60)) == [
        Finding("ghost_waits", "c2", "session.timeout.ms", 9)
    ]


def test_a_member_of_kip_848_that_does_not_give_up_has_the_rebalance_timer() -> None:
    slow = MemberFacts("c1", is_stuck=True, partitions=(0,), revokes=(0,), poll_us=70, rebalance_us=60)
    assert diagnose(GroupFacts("Reconciling", 1, [slow], PARTS))[0] == Finding(
        "revoke_waits", "c1", "max.poll.interval.ms", 60, (0,)
    )


def test_who_has_not_heard_yet_what_it_may_read_is_no_surplus_member() -> None:
    members = [C1, MemberFacts("c2", free=(1,)), MemberFacts("c3")]
    found = diagnose(GroupFacts("Reconciling", 1, members, PARTS[:2]))
    assert [finding.count for finding in found if finding.code == "more_members_than_partitions"] == [1]


def test_the_session_of_a_member_of_kip_848_is_the_brokers_setting() -> None:
    setting = "group.consumer.session.timeout.ms"
    dead = MemberFacts(
        "c1", process=SILENT, partitions=(0,), revokes=(0,), session=setting, session_us=50, rebalance_us=60
    )
    assert {finding.timer for finding in diagnose(GroupFacts("Reconciling", 1, [dead], PARTS))} == {setting}


def test_a_dead_member_keeps_what_it_is_to_have_and_had_not_heard_of() -> None:
    dead = MemberFacts("c1", process=SILENT, free=(2, 1), partitions=(0,), session_us=50)
    assert diagnose(GroupFacts("Reconciling", 1, [dead], PARTS)) == [
        Finding("silent_owner", "c1", "session.timeout.ms", 50, (0, 1, 2))
    ]
    nothing_had = MemberFacts("c1", process=SILENT, free=(1,), session_us=50)
    assert codes(GroupFacts("Reconciling", 1, [nothing_had], PARTS)) == ["silent_owner"]


def test_slow_members_lost_leaders_and_surplus_members_are_named() -> None:
    late = [
        PartitionFacts(0, "c1", None, 40, "warning", "falling", is_left_behind=True),
        PartitionFacts(1, "c2", 2, 0),
    ]
    members = [C1, MemberFacts("c2", partitions=(1,)), MemberFacts("c3")]
    assert diagnose(GroupFacts(STABLE, 1, members, late)) == [
        Finding("no_leader", partitions=(0,)), Finding("slow_owner", "c1", partitions=(0,), count=40),
        Finding("more_members_than_partitions", count=1),
    ]  # fmt: skip
    assert codes(GroupFacts(STABLE, 1, [MemberFacts("c1", is_subscribed=False)], PARTS)) == [
        "nobody_subscribed"
    ]


def test_a_member_that_has_few_records_in_hand_at_each_commit_keeps_up() -> None:
    in_hand = PartitionFacts(0, "c1", 1, 1, "warning", "falling")
    assert codes(GroupFacts(STABLE, 1, [C1], [in_hand])) == []
    assert codes(GroupFacts(STABLE, 1, [C1], [replace(in_hand, is_left_behind=True)])) == ["slow_owner"]
    assert codes(GroupFacts(STABLE, 1, [C1], [replace(in_hand, status="ok", is_left_behind=True)])) == []


def test_who_has_not_heard_of_the_rebalance_hears_with_its_next_heartbeat_and_joins_then() -> None:
    joined, unheard = (
        MemberFacts("c1", has_joined=True),
        MemberFacts("c2", has_heard=False, beat="heartbeat.interval.ms", beat_us=3, partitions=(1,)),
    )
    found = diagnose(GroupFacts(PREPARING, 1, [joined, unheard], PARTS, join_us=60))
    assert found == [Finding("join_unheard", "c2", "heartbeat.interval.ms", 3, (1,))]
    stuck = MemberFacts("c2", is_stuck=True, has_heard=False, beat_us=3, poll_us=50)
    assert codes(GroupFacts(PREPARING, 1, [joined, stuck], PARTS, join_us=60)) == ["join_waits"], (
        "hearing does not help it"
    )


def test_who_holds_something_and_does_nothing_comes_before_those_who_hear_with_their_next_heartbeat_the_longest_first() -> (
    None
):
    busy = [
        MemberFacts(name, beat_us=5, surplus=(number,), partitions=(number,))
        for number, name in enumerate(("c1", "c2"))
    ]
    dead = [
        MemberFacts("c3", SILENT, partitions=(2,), session_us=30),
        MemberFacts("c4", SILENT, partitions=(3,), session_us=40),
    ]
    parts = [*PARTS, PartitionFacts(2, "c3", 1, 0), PartitionFacts(3, "c4", None, 0)]
    found = diagnose(GroupFacts("Reconciling", 1, [*busy, *dead], parts))
    assert [(each.code, each.member) for each in found] == [
        ("silent_owner", "c4"),
        ("silent_owner", "c3"),
        ("no_leader", None),
        ("revoke_unheard", "c1"),
        ("revoke_unheard", "c2"),
    ]
    joining = [
        MemberFacts("c1", has_heard=False, beat_us=3),
        MemberFacts("c2", SILENT, session_us=20),
        MemberFacts("c3", has_joined=True),
    ]
    assert codes(GroupFacts(PREPARING, 1, joining, PARTS, join_us=60)) == ["silent_waits", "join_unheard"]


def test_new_partitions_wait_for_the_leaders_metadata() -> None:
    parts = [*PARTS, PartitionFacts(2, None, 1, 0)]
    found = diagnose(
        GroupFacts(STABLE, 1, [C1, MemberFacts("c2", partitions=(1,))], parts, known=2, metadata_us=70)
    )
    assert found == [Finding("new_partitions", "c1", "metadata.max.age.ms", 70, (2,))]
    by_server = GroupFacts(
        STABLE, 1, [MemberFacts("c1", partitions=(0, 1), beat_us=4)], parts, is_server_assigned=True
    )
    assert diagnose(by_server) == [Finding("assign_waits", "c1", "group.consumer.heartbeat.interval.ms", 4)]


@pytest.mark.parametrize(("lets_go", "code"), [(True, "second_waits"), (False, "left_out")])
def test_partitions_of_nobody_come_in_a_second_rebalance_or_were_left_out(lets_go, code):
    members = [C1, MemberFacts("c2", lets_go=lets_go)]
    assert diagnose(GroupFacts(STABLE, 1, members, PARTS, known=2))[0] == Finding(code, partitions=(1,))
    assert codes(GroupFacts(COMPLETING, 1, members, PARTS, known=2)) == []


def test_a_static_member_that_does_not_poll_and_has_stopped_beating_keeps_its_place_for_a_session() -> None:
    member = MemberFacts("c2", is_stuck=True, is_overdue=True, partitions=(1,), poll_us=2, session_us=9)
    assert diagnose(GroupFacts(STABLE, 1, [C1, member], PARTS)) == [
        Finding("overdue_owner", "c2", "session.timeout.ms", 9, (1,))
    ]
    assert diagnose(GroupFacts(PREPARING, 1, [member], PARTS, join_us=60)) == [
        Finding("join_waits", "c2", "session.timeout.ms", 9, (1,))
    ]


def test_ids_that_nobody_uses_hold_a_join_phase_up() -> None:
    found = diagnose(
        GroupFacts(
            PREPARING, 1, [MemberFacts("c1", has_joined=True)], PARTS, join_us=60, pending=2, pending_us=9
        )
    )
    assert found == [Finding("pending_waits", timer="session.timeout.ms", ends_us=9, count=2)]


def test_who_reads_another_topic_has_something_to_do() -> None:
    members = [C1, MemberFacts("c2", partitions=(1,)), MemberFacts("c3", reads_others=True)]
    assert diagnose(GroupFacts(STABLE, 1, members, PARTS)) == []


def test_a_classic_member_of_a_group_of_kip_848_beats_at_its_own_interval() -> None:
    member = MemberFacts("c2", beat="heartbeat.interval.ms", beat_us=5, session_us=9, free=(1,))
    assert diagnose(GroupFacts("Reconciling", 1, [C1, member], PARTS))[0].timer == "heartbeat.interval.ms"


def test_what_has_no_leader_ends_with_the_last_session_or_with_none_in_sight() -> None:
    first, second = (
        PartitionFacts(0, None, None, 0, takeover_us=5),
        PartitionFacts(1, None, None, 0, takeover_us=7),
    )
    assert diagnose(GroupFacts(STABLE, None, [C1], [first, second], takeover_us=4)) == [
        Finding("no_coordinator", None, "broker.session.timeout.ms", 4, (0, 1)),
        Finding("no_leader", None, "broker.session.timeout.ms", 7, (0, 1)),
    ]
    for_ever = replace(second, takeover_us=None)
    assert [
        (each.timer, each.ends_us) for each in diagnose(GroupFacts(STABLE, None, [C1], [first, for_ever]))
    ] == [(None, None)] * 2


def test_a_member_that_lives_and_does_not_read_what_it_has_is_named() -> None:
    unread = [replace(part, is_read=False) for part in PARTS]
    assert diagnose(GroupFacts(STABLE, 1, [replace(C1, partitions=(0, 1))], unread)) == [
        Finding("taking_owner", "c1", partitions=(0, 1))
    ]
    closing = replace(C1, partitions=(0, 1), is_closing=True)
    assert diagnose(GroupFacts(STABLE, 1, [closing], [unread[0], PARTS[1]])) == [
        Finding("closing_owner", "c1", partitions=(0,))
    ]
    assert codes(
        GroupFacts(STABLE, 1, [replace(C1, partitions=(0, 1))], [replace(unread[0], leader=None), PARTS[1]])
    ) == ["no_leader"]


def test_who_only_hears_of_the_new_epoch_is_named_with_its_heartbeat() -> None:
    late = replace(C1, partitions=(0, 1), is_behind=True, beat_us=7)
    assert diagnose(GroupFacts("Reconciling", 1, [late], PARTS, is_server_assigned=True)) == [
        Finding("epoch_unheard", "c1", late.beat, 7)
    ]

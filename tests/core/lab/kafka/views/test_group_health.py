"""The health of a lane's group: figures that agree with the picture, and findings that name the member and
the timer at the right moment."""

from __future__ import annotations

import pytest

from broker_core.lab.kafka.views.group_health import is_left_behind
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.kafka.test_group_commands import LANE, SECOND, lab_of, lane_of, order

pytestmark = pytest.mark.slow


def health(lab):
    return lane_of(lab)["group_health"]


def test_the_lag_is_from_the_commit_to_the_high_watermark():
    lab = lab_of()
    view = lane_of(lab)
    for number, part in view["group_health"]["partitions"].items():
        shown = view["picture"]["partitions"][number]
        assert part["lag"] == shown["high_watermark"] - shown["committed"]
        assert (part["lag_us"] > 0) == (part["lag"] > 0)
    assert view["group_health"]["lag"] == sum(
        part["lag"] for part in view["group_health"]["partitions"].values()
    )
    assert view["group_health"]["findings"] == [] and view["group_health"]["status"] == "ok"


def test_the_lag_in_time_is_the_age_of_the_first_record_that_is_not_committed():
    lab = lab_of()
    order(lab, "group_freeze", 4, consumer="c2")
    before = health(lab)["partitions"]
    lab.advance_to(lab.now_us + SECOND)
    after = health(lab)["partitions"]
    held = [number for number in before if lane_of(lab)["picture"]["partitions"][number]["stopped"]]
    assert held and all(after[number]["lag_us"] - before[number]["lag_us"] == SECOND for number in held)
    assert all(4 * SECOND < after[number]["lag_us"] < 11 * SECOND for number in held), (
        "auto-commit is up to 5 s old"
    )


@pytest.mark.parametrize(("kind", "code", "timer"), [
    ("group_freeze", "frozen_owner", "session.timeout.ms"), ("crash", "silent_owner", "session.timeout.ms"),
    ("group_stick", "stuck_owner", "max.poll.interval.ms"),
])  # fmt: skip
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_member_and_the_timer_are_named_and_the_timer_is_right(kind, code, timer, protocol):
    lab = lab_of(group_protocol=protocol)
    order(lab, kind, 2, consumer="c2")
    finding = health(lab)["findings"][0]
    named = f"group.consumer.{timer}" if protocol == "consumer" and timer == "session.timeout.ms" else timer
    assert (finding["code"], finding["member"], finding["timer"], len(finding["partitions"])) == (
        code,
        "c2",
        named,
        2,
    )
    told = lab.advance_to(finding["ends_us"] + 200_000)
    ended = {
        "session.timeout.ms": "kafka.group.member_expired",
        "max.poll.interval.ms": "kafka.consumer.poll_timeout",
    }[timer]
    assert [
        abs(event["at_us"] - finding["ends_us"]) < 200_000 for event in told if event["kind"] == ended
    ] == [True]


def test_a_rebalance_that_waits_for_a_silent_member_says_so():
    lab = lab_of()
    order(lab, "crash", 0.5, consumer="c2")
    order(lab, "join", 4)
    codes = {finding["code"]: finding for finding in health(lab)["findings"]}
    assert codes["silent_waits"]["member"] == "c2" and codes["silent_waits"]["timer"] == "session.timeout.ms"


def test_a_consumer_that_is_too_slow_is_a_warning_with_its_rule():
    lab = lab_of()
    order(lab, "slow", 45, consumer="c2", args={"rate": 1})
    seen = health(lab)
    mine = [
        part
        for number, part in seen["partitions"].items()
        if lane_of(lab)["picture"]["partitions"][number]["owner"] == "c2"
    ]
    assert {"falling"} <= {part["rule"] for part in mine} and seen["status"] == "warning"
    assert any(finding["code"] == "slow_owner" and finding["member"] == "c2" for finding in seen["findings"])


@pytest.mark.parametrize(("rule", "age", "since", "expected"), [
    ("falling", 8, 0, False), ("falling", 9, 0, True), ("falling", None, 0, False), ("falling", 9, 16, False),
    ("stopped", 9, 16, False), ("stalled", 0, 15, True),
])  # fmt: skip
def test_an_owner_does_not_keep_up_by_what_it_leaves_behind_and_not_by_the_status_alone(
    rule, age, since, expected
):
    assert (
        is_left_behind(
            {"rule": rule, "commits": [[10, 1, 1], [15, 2, 1], [17, 3, 1]], "lag_us": age}, since, 23
        )
        is expected
    )


def test_an_owner_that_commits_by_the_clock_after_the_commits_of_rebalances_is_not_late():
    part = {
        "rule": "stopped",
        "commits": [[10 * SECOND, 1, 1], [11 * SECOND, 2, 1], [12 * SECOND, 3, 1]],
        "lag_us": 30,
    }
    assert [is_left_behind(part, 0, second * SECOND) for second in (16, 22, 23)] == [False, False, True]


def test_a_new_owner_that_has_not_committed_for_as_long_as_the_window_does_not_keep_up():
    part = {"rule": "stopped", "commits": [[10, 1, 1], [15, 2, 1], [17, 3, 1]], "lag_us": 30}
    assert [is_left_behind(part, 20, now_us) for now_us in (27, 28)] == [False, True]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_who_takes_a_dead_members_partitions_is_not_called_slow(protocol):
    lab = lab_of(group_protocol=protocol, seconds=30)
    order(lab, "crash", consumer="c2")
    statuses = set()
    for _ in range(300):
        lab.advance_to(lab.now_us + SECOND // 5)
        assert "slow_owner" not in found(lab), lab.now_us
        statuses.add(health(lab)["status"])
    assert "error" in statuses


def test_members_that_keep_up_with_a_slow_producer_hold_nothing_up():
    lab = Lab(scenario_from_json({"lanes": [LANE], "consumers": 3, "workload": {"rate": 6}}))
    statuses = set()
    for _ in range(60):
        lab.advance_to(lab.now_us + SECOND)
        statuses.add(health(lab)["status"])
        assert "slow_owner" not in found(lab)
    assert statuses == {"ok", "warning"}, "by the number of records alone it would have come and gone"


def test_a_group_without_members_or_a_coordinator():
    lab = lab_of()
    for name in ("c1", "c2", "c3"):
        order(lab, "leave", 1, consumer=name)
    lab.advance_to(lab.now_us + 3 * SECOND)
    assert health(lab)["findings"][0]["code"] == "no_members"


def test_a_member_that_came_back_after_a_crash_waits_for_its_former_life():
    lab = lab_of()
    order(lab, "crash", 0.5, consumer="c2")
    order(lab, "rejoin", 4, consumer="c2")
    finding = health(lab)["findings"][0]
    assert (finding["code"], finding["member"], finding["timer"]) == (
        "ghost_waits",
        "c2",
        "session.timeout.ms",
    )


def test_while_a_group_of_kip_848_reconciles_somebody_is_named_with_the_heartbeat_that_goes_on():
    lab = lab_of(group_protocol="consumer")
    order(lab, "join", 0.1)
    heard = []
    while lane_of(lab)["group"]["state"] == "Reconciling":
        found = health(lab)["findings"]
        assert found and lab.now_us < 30 * SECOND
        heard += [each["code"] for each in found]
        assert all(
            lab.now_us < each["ends_us"] <= lab.now_us + 5 * SECOND
            for each in found
            if each["code"].endswith("unheard")
        )
        lab.advance_to(lab.now_us + SECOND // 10)
    # One gives a partition up, two keep what they have.
    assert (
        list(dict.fromkeys(heard)) == ["revoke_unheard", "epoch_unheard", "free_unheard"]
        and health(lab)["findings"] == []
    )


def test_after_a_leave_a_group_of_kip_848_waits_for_a_heartbeat_to_assign_again():
    lab = lab_of(group_protocol="consumer")
    order(lab, "leave", 0.1, consumer="c2")
    assert lane_of(lab)["group"]["state"] == "Assigning"
    finding = health(lab)["findings"][0]
    assert finding["code"] == "assign_waits" and lab.now_us < finding["ends_us"] < lab.now_us + 5 * SECOND
    lab.advance_to(finding["ends_us"] + SECOND // 20)
    assert lane_of(lab)["group"]["state"] != "Assigning"


def test_a_leader_whose_assignor_failed_is_dead_to_the_group():
    lab = lab_of(static_members=True, session_timeout_ms=6_000)
    for seconds in (
        10,
        9,
    ):  # at first the static members' names stand in the group with another strategy, and are refused
        order(
            lab,
            "group_assignor",
            seconds,
            args={"source": "def assign(members, partitions):\n    return 1\n"},
        )
    finding = health(lab)["findings"][0]
    assert (finding["code"], finding["timer"]) == ("sync_waits", "session.timeout.ms")
    leader = lane_of(lab)["group"]["members"][finding["member"] + "~3"]
    assert (leader["phase"], leader["failed"]) == ("failed", "")


def test_the_other_topics_that_members_read_have_their_partitions_and_lag():
    lab = lab_of(more_topics=[{"name": "audit", "partitions": 4}, {"name": "unread", "partitions": 2}])
    assert lane_of(lab)["group_topics"] == {}
    order(lab, "group_subscribe", 12, consumer="c3", args={"topics": ["audit"]})
    topics = lane_of(lab)["group_topics"]
    assert (
        list(topics) == ["audit"]
        and topics["audit"]["members"]["c3"]["owned"]
        == [0, 1, 2, 3]
        == topics["audit"]["members"]["c3"]["assigned"]
    )
    assert topics["audit"]["members"]["c1"]["owned"] == []
    for part in topics["audit"]["partitions"].values():
        assert (part["owner"], part["given"], part["lag"], part["lag_us"]) == ("c3", "c3", 0, 0)
    owned = health(lab)["owned"]
    assert sum(len(rows) for rows in owned.values()) == 4 + len(lane_of(lab)["group"]["partitions"])


def test_a_static_member_that_starts_is_one_member_before_it_knows_its_id():
    lab = lab_of(seconds=1, static_members=True)
    members = lane_of(lab)["group"]["members"]
    assert [
        (name, each["consumer"], each["awaits"], each["condition"]) for name, each in members.items()
    ] == [(name, name, "join", "running") for name in members] and len(members) == 3


def found(lab):
    return {finding["code"]: finding for finding in health(lab)["findings"]}


def test_who_has_not_heard_of_a_rebalance_is_told_with_its_next_heartbeat():
    lab = lab_of()
    order(lab, "join", 0.2)
    unheard = found(lab)["join_unheard"]
    assert unheard["timer"] == "heartbeat.interval.ms" and 0 < unheard["ends_us"] - lab.now_us <= 3.5 * SECOND
    lab.advance_to(unheard["ends_us"] + SECOND // 2)
    member = lane_of(lab)["group"]["members"][unheard["member"]]
    assert member["awaits"] == "join" or lane_of(lab)["group"]["state"] == "Stable"


def test_new_partitions_are_nobodys_until_the_leader_sees_them():
    lab = lab_of(metadata_max_age_ms=10_000)
    topic, count = lane_of(lab)["group"]["topic"], len(lane_of(lab)["group"]["partitions"])
    order(lab, "cluster_add_partitions", 0.1, args={"topic": topic, "count": count + 2})
    new, leader = (
        found(lab)["new_partitions"],
        [key for key, member in lane_of(lab)["group"]["members"].items() if member["is_leader"]],
    )
    assert ([new["member"]], new["timer"], new["partitions"]) == (
        leader,
        "metadata.max.age.ms",
        [count, count + 1],
    )
    lab.advance_to(new["ends_us"] + 4 * SECOND)
    assert "new_partitions" not in found(lab) and all(
        part["owner"] for part in lane_of(lab)["group"]["partitions"].values()
    )


@pytest.mark.parametrize(
    ("protocol", "timer"),
    [("classic", "session.timeout.ms"), ("consumer", "group.consumer.session.timeout.ms")],
)
def test_a_static_member_whose_poll_is_overdue_is_one_member_that_has_stopped_beating(protocol, timer):
    lab = lab_of(
        static_members=True, max_poll_interval_ms=6_000, session_timeout_ms=6_000, group_protocol=protocol
    )
    order(lab, "group_stick", 8.5, consumer="c2")
    overdue = found(lab)["overdue_owner"]
    assert (overdue["member"], overdue["timer"]) == ("c2", timer) and overdue["ends_us"] > lab.now_us
    assert [member["consumer"] for member in lane_of(lab)["group"]["members"].values()].count("c2") == 1


def test_of_two_that_claim_a_partition_the_member_reads_it_and_not_who_was_put_out():
    lab = lab_of(max_poll_interval_ms=6_000)
    order(lab, "group_stick", 12, consumer="c2")
    group = lane_of(lab)["group"]
    assert group["members"]["c2"]["member_id"] is None and group["members"]["c2"]["owned"]
    assert "poll:c2" not in group["timers"], "that timer is over"
    assert "c2" not in {part["owner"] for part in group["partitions"].values()}


@pytest.mark.parametrize(("kind", "search"), [("cluster_crash", True), ("cluster_pause", False)])
def test_a_program_looks_for_another_coordinator_only_when_it_knows_that_its_own_is_gone(kind, search):
    lab = lab_of()
    order(lab, kind, 0.3, args={"broker": lane_of(lab)["group"]["coordinator"]})
    group = lane_of(lab)["group"]
    assert (
        group["coordinator"] is None
        and any(member["is_searching"] for member in group["members"].values()) == search
    )


@pytest.mark.parametrize("kind", ["cluster_crash", "cluster_pause"])
def test_without_a_coordinator_the_session_is_named_after_which_another_one_takes_over(kind):
    lab = lab_of()
    order(lab, kind, 0.1, args={"broker": lane_of(lab)["group"]["coordinator"]})
    first, second = found(lab)["no_coordinator"], found(lab)["no_leader"]
    assert (first["timer"], first["member"]) == ("broker.session.timeout.ms", None) and first[
        "ends_us"
    ] == second["ends_us"]
    assert lab.now_us < first["ends_us"] <= lab.now_us + 9 * SECOND
    lab.advance_to(first["ends_us"] - 1_000)
    assert lane_of(lab)["group"]["coordinator"] is None
    lab.advance_to(first["ends_us"] + SECOND // 10)
    assert lane_of(lab)["group"]["coordinator"] is not None and not {"no_coordinator", "no_leader"} & set(
        found(lab)
    )


def test_without_anybody_to_take_over_no_timer_ends_it():
    lab = lab_of()
    for broker in (1, 2, 3):
        order(lab, "cluster_crash", 0.1, args={"broker": broker})
    assert {(each["timer"], each["ends_us"]) for each in health(lab)["findings"]} == {(None, None)}


@pytest.mark.parametrize(
    ("protocol", "algorithm", "kind"),
    [
        ("classic", "cooperative-sticky", "group_restart"),
        ("classic", "range", "leave"),
        ("consumer", "range", "leave"),
        ("consumer", "range", "crash"),
    ],
)
def test_whenever_nobody_reads_a_partition_somebody_is_named(protocol, algorithm, kind):
    lab = lab_of(group_protocol=protocol, algorithm=algorithm)
    order(lab, kind, consumer="c2")
    named = set()
    for _ in range(60):
        if any(part["owner"] is None for part in lane_of(lab)["group"]["partitions"].values()):
            assert found(lab), lab.now_us
            named |= set(found(lab))
        lab.advance_to(lab.now_us + SECOND // 20)
    assert kind == "crash" or "closing_owner" in named

"""What members and coordinator say to each other, as it is overheard: each message once, with its times in
order, whatever breaks."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from broker_core.kafka.group import messages as m
from broker_core.lab.kafka.group_traffic import (
    QUIET_KEPT,
    TOLD_KEPT,
    Exchange,
    GroupTraffic,
    exchange_view,
)
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

pytestmark = pytest.mark.slow

SECOND = 1_000_000


def lab_of(protocol: str = "classic", consumers: int = 3) -> Lab:
    lane = {"model": "kafka", "brokers": 3, "group_protocol": protocol, "offsets_partitions": 5}
    return Lab(scenario_from_json({"lanes": [lane], "consumers": consumers}))


def order(lab: Lab, kind: str, consumer: str | None = None, **args: object) -> None:
    position = lab.position + 1
    lab.submit(
        {
            "command_id": f"x{position}",
            "kind": kind,
            "lane": "kafka",
            "consumer": consumer,
            "args": args,
            "position": position,
        }
    )


def traffic(lab: Lab) -> GroupTraffic:
    found: GroupTraffic = lab.lanes["kafka"].reads.notes.traffic  # type: ignore[attr-defined]
    return found


LIFE = (
    (12, "join", None),
    (6, "leave", "c1"),
    (6, "crash", "c2"),
    (50, "join", None),
    (6, "coordinator", None),
    (20, "leave", "c3"),
)


def life(protocol: str) -> Iterator[Lab]:
    """Members come, go, die, and the coordinator dies, too."""
    lab = lab_of(protocol)
    for seconds, kind, name in LIFE:
        lab.advance_to(lab.now_us + seconds * SECOND)
        if kind == "coordinator":
            order(lab, "cluster_crash", broker=lab.view()["lanes"]["kafka"]["group"]["coordinator"])
        else:
            order(lab, kind, name)
        for _ in range(8):
            lab.advance_to(lab.now_us + 700)
            yield lab
    lab.advance_to(lab.now_us + 30 * SECOND)
    yield lab


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_times_of_a_message_are_in_order_and_none_is_answered_twice(protocol: str) -> None:
    for lab in life(protocol):
        for one in traffic(lab).exchanges.values():
            times = [
                at for at in (one.sent_us, one.arrived_us, one.answered_us, one.received_us) if at is not None
            ]
            assert times == sorted(times) and times[-1] <= lab.now_us
            assert one.received_us is None or one.lost_us is None
            assert one.answered_us is None or one.arrived_us is not None
            assert one.received_us is None or one.answer
        assert all(
            traffic(lab).exchanges[number].is_open
            for numbers in traffic(lab).under_way.values()
            for number in numbers
        )


def test_a_rebalance_is_told_whole() -> None:
    lab = lab_of()
    lab.advance_to(12 * SECOND)
    seen = traffic(lab).made
    order(lab, "join")
    lab.advance_to(20 * SECOND)
    told = [one for number, one in traffic(lab).exchanges.items() if number > seen and not one.is_quiet]
    of_c4 = [(one.kind, one.code) for one in told if one.member == "c4"]
    assert of_c4 == [("find", 0), ("join", 79), ("join", 0), ("sync", 0), ("offsets", 0)]
    assert sum(one.kind == "heartbeat" and one.code == 27 for one in told) == 3
    joins = [one for one in told if one.kind == "join" and one.code == 0]
    assert (
        len(joins) == 4 and len({one.answered_us for one in joins}) == 1
    )  # all parked, answered at one moment
    assert sorted(one.note for one in joins) == [
        "generation 2",
        "generation 2",
        "generation 2",
        "generation 2 leader",
    ]
    syncs = [one.note for one in told if one.kind == "sync"]
    assert sorted(syncs) == ["flights 0-2", "flights 3-5", "flights 6-8", "flights 9-11"]


def test_a_message_to_a_dead_coordinator_is_lost_and_an_answer_to_a_dead_member_is_never_received() -> None:
    lab = lab_of()
    lab.advance_to(12 * SECOND)
    order(lab, "join")
    lab.advance_to(lab.now_us + 30_000)
    order(lab, "crash", "c4")
    lab.advance_to(lab.now_us + 70 * SECOND)
    parked = next(
        one
        for one in traffic(lab).exchanges.values()
        if one.member == "c4" and one.kind == "join" and one.note
    )
    assert parked.answered_us is not None and parked.received_us is None
    order(lab, "join")
    lab.advance_to(lab.now_us + 30_000)
    waiting = next(
        one
        for one in traffic(lab).exchanges.values()
        if one.member == "c5" and one.kind == "join" and one.is_open
    )
    order(lab, "cluster_crash", broker=parked.broker)
    lab.advance_to(lab.now_us + SECOND)
    assert waiting.lost_us is not None and waiting.answered_us is None


def test_heartbeats_never_push_a_rebalance_out() -> None:
    lab = lab_of(consumers=8)
    lab.advance_to(120 * SECOND)
    kept = traffic(lab).exchanges.values()
    quiet = [one for one in kept if one.is_quiet]
    assert len(quiet) >= QUIET_KEPT and len(kept) == QUIET_KEPT + TOLD_KEPT
    assert sum(one.kind == "join" for one in kept) == 16  # each twice


def test_of_many_that_wait_for_the_coordinator_none_is_left_out_or_taken_for_a_tool() -> None:
    lab = lab_of(consumers=130)
    lab.advance_to(2 * SECOND)
    waiting = [
        one for one in traffic(lab).exchanges.values() if one.kind == "join" and one.answered_us is None
    ]
    assert {one.member for one in waiting} == {f"c{number}" for number in range(1, 131)}
    assert all(one.arrived_us is not None for one in waiting)
    lab.advance_to(20 * SECOND)
    assert all(one.member != "tool" for one in traffic(lab).exchanges.values())
    assert len(traffic(lab).exchanges) == QUIET_KEPT + TOLD_KEPT


def test_a_lab_that_was_restored_goes_on_listening() -> None:
    scenario = scenario_from_json({"lanes": [{"model": "kafka", "brokers": 3, "offsets_partitions": 5}]})
    lab = Lab(scenario)
    lab.advance_to(12 * SECOND)
    order(lab, "join")
    lab.advance_to(lab.now_us + 2_500)
    back = Lab.restore(scenario, lab.checkpoint())
    for one in (lab, back):
        one.advance_to(20 * SECOND)
    assert traffic(back) == traffic(lab) and lab.view() == back.view()


def test_what_no_member_sent_is_a_tools() -> None:
    heard = GroupTraffic()
    heard.arrived(2, 9, m.LeaveGroupRequest("g", members=[m.MemberIdentity("x")]), 5, dict)
    heard.answered(9, m.LeaveGroupResponse(0, [m.MemberResponse("x", None, 25)]), 7, dict)
    (one,) = heard.exchanges.values()
    assert isinstance(one, Exchange)
    assert (one.member, one.broker, one.arrived_us, one.answered_us, one.code, heard.under_way) == (
        "tool",
        2,
        5,
        7,
        25,
        {},
    )


def test_the_error_of_an_answer_has_its_name_though_a_commit_has_a_code_for_each_partition() -> None:
    one = Exchange("commit", "c2", 1, 0, [], code=25)
    assert (
        exchange_view(one)["error"] == "UNKNOWN_MEMBER_ID"
        and exchange_view(replace(one, code=0))["error"] == ""
    )

"""The Kafka lane on one broker, as studies and labs from before the cluster run it: what it says, shows and
charges at each moment of a change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.hero import hero_view
from tests.examples import examples

SECOND = 1_000_000
ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky", "range_global", "round_robin_hashed")


def lab_of(algorithm="range", consumers=3, rate=40, keyless=0, **options) -> Lab:
    lane = {"model": "kafka", "brokers": 1, "algorithm": algorithm, **options}
    workload = (
        {"kind": "uniform", "keys": 50, "rate": rate} if not keyless else {"kind": "flights", "rate": rate}
    )
    return Lab(scenario_from_json({"lanes": [lane], "consumers": consumers, "workload": workload}))


def order(lab, kind, consumer=None, **args):
    return lab.submit(
        {
            "command_id": f"x{lab.position + 1}",
            "kind": kind,
            "lane": args.pop("lane", "all"),
            "consumer": consumer,
            "args": args,
        }
    )


def lane_of(lab):
    return lab.lanes["kafka"]


def view_of(lab):
    return lab.view()["lanes"]["kafka"]


def code_of(lab):
    return view_of(lab)["sentence"]["code"]


def advance(lab, seconds):
    return lab.advance_to(lab.now_us + int(seconds * SECOND))


acts = st.tuples(
    st.integers(0, 60 * SECOND),
    st.sampled_from(("join", "join", "leave", "crash", "rejoin", "pause", "resume", "slow", "set_algorithm")),
    st.integers(1, 6),
)
lives = st.lists(acts, max_size=8).map(sorted)


def carry_out(lab, kind, number):
    try:
        if kind == "set_algorithm":
            return order(lab, kind, lane="kafka", algorithm=ASSIGNORS[number % 4])
        return order(lab, kind, None if kind == "join" else f"c{number}")
    except CommandError:
        return []


@given(lives, st.sampled_from(ASSIGNORS))
@examples(5, new=40)
def test_every_record_is_read_and_every_partition_has_one_reader_when_things_have_calmed_down(
    life, algorithm
):
    lab = lab_of(algorithm)
    for at_us, kind, number in life:
        lab.advance_to(at_us)
        carry_out(lab, kind, number)
        lane_of(lab).reads.check()
    for name, consumer in list(lane_of(lab).consumers.items()):
        carry_out(lab, "leave" if consumer.state in ("crashed", "gone") else "resume", int(name[1:]))
    for _ in range(3):
        order(lab, "join")
    advance(
        lab, 120
    )  # a program that came back may have left a silent member behind, which the group waits for
    lane, view = lane_of(lab), view_of(lab)
    assert lane.reads.is_settled() and lane.reads.stuck()[0] == 0 and lane.reads.dark_units() == (0, 12)
    assert not any(partition["stopped"] for partition in view["picture"]["partitions"].values())
    assert sum(partition["end"] for partition in view["picture"]["partitions"].values()) in range(
        lab.record_count - lane.first_record - 2, lab.record_count - lane.first_record + 1)  # fmt: skip
    lane.reads.check()


def test_newcomer_starts_a_rebalance_whose_chain_leads_back_to_the_order():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    assert order(lab, "join") == []
    assert (
        view_of(lab)["sentence"]["code"] == "kafka.announced"
        and view_of(lab)["consumers"]["c4"]["state"] == "waiting"
    )
    events = {event["id"]: event for event in advance(lab, 8)}
    kinds = [event["kind"] for event in events.values()]
    assert (
        kinds[:2] == ["kafka.group.member_joined", "kafka.group.rebalance_started"]
        and kinds[-1] == "kafka.group.partitions_resumed"
    )
    for event in events.values():
        while event["cause"] and "event" in event["cause"]:
            event = events[event["cause"]["event"]]
        assert event["cause"] == {"command": 1}


@pytest.mark.parametrize("algorithm", ["range", "cooperative-sticky"])
def test_sentence_picture_and_bill_go_through_a_rebalance_together(algorithm):
    lab = lab_of(algorithm)
    lab.advance_to(20 * SECOND)
    order(lab, "join")
    codes, paused = [], 0
    while lab.now_us < 30 * SECOND:
        lab.advance_to(lab.now_us + SECOND // 100)
        view = view_of(lab)
        hatched = sum(partition["stopped"] for partition in view["picture"]["partitions"].values())
        paused = max(paused, hatched)
        assert view["sentence"]["params"].get("paused", hatched) == hatched
        assert (hatched == 0) <= (view["sentence"]["code"] not in ("kafka.rebalancing", "kafka.cooperating"))
        if codes[-1:] != [view["sentence"]["code"]]:
            codes.append(view["sentence"]["code"])
    view = view_of(lab)
    if algorithm == "range":
        assert (
            codes == ["kafka.announced", "kafka.rebalancing", "kafka.rebalanced"]
            and view["sentence"]["params"]["stopped"] == 12
        )
        assert view["bill"]["pause_us"] < 3_200_000
    else:
        assert (
            codes[0] == "kafka.cooperating_unpaused"
            and "kafka.cooperating" in codes
            and codes[-1] == "kafka.cooperative"
            and paused == 3
        )
        assert view["bill"]["pause_us"] > 2_900_000
    moved = sum(
        partition["before"] != partition["owner"] for partition in view["picture"]["partitions"].values()
    )
    assert (
        view["bill"]["settled"]
        and view["bill"]["partitions_moved"] == moved
        and view["bill"]["redelivered"] == 0
    )
    assert view["sentence"]["params"]["stopped"] >= paused  # looked at every 10 ms
    assert hero_view(lane_of(lab)) == {"code": "moved", "part": view["bill"]["keys_moved"], "whole": 50}


def test_owner_stays_in_the_picture_until_somebody_else_is_assigned_the_partition():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    before = lane_of(lab).reads.units()
    order(lab, "join")
    while code_of(lab) != "kafka.rebalancing":
        advance(lab, 0.01)
    assert lane_of(lab).reads.units() == before and lane_of(lab).ledger.bill.keys_moved == 0


def test_silent_member_is_found_at_the_moment_that_its_row_counts_down_to_and_its_uncommitted_records_are_read_again():
    lab = lab_of()
    lab.advance_to(43 * SECOND)
    held = lane_of(lab).reads.held(lane_of(lab).consumers["c2"])
    order(lab, "crash", "c2")
    consumer, lane = lane_of(lab).consumers["c2"], lane_of(lab)
    assert code_of(lab) == "kafka.crash_pending" and lane.reads.stuck()[0] > 0
    assert view_of(lab)["sentence"]["params"]["deadline_us"] == consumer.deadline_us
    dark_units = sum(
        partition["owner"] == "c2" for partition in view_of(lab)["picture"]["partitions"].values()
    )
    assert lane.reads.dark_units()[0] == dark_units == 4
    deadline_us = consumer.deadline_us
    lab.advance_to(deadline_us - 1)
    assert consumer.state == "crashed" and lane.ledger.bill.keys_moved == 0 and lane.reads.is_settled()
    events = lab.advance_to(deadline_us + 10 * SECOND)
    expired = next(event for event in events if event["kind"] == "kafka.group.member_expired")
    assert (expired["at_us"], expired["cause"], expired["data"]["consumer"]) == (
        deadline_us,
        {"command": 1},
        "c2",
    )
    assert expired["data"]["read_again"] == held and expired["data"]["partitions"] == 4
    view = view_of(lab)
    assert consumer.state == "gone" and view["sentence"]["code"] == "kafka.crash_noticed"
    assert (
        view["bill"]["kind"] == "crash"
        and view["bill"]["partitions_moved"] == 4
        and view["bill"]["pause_us"] > 40 * SECOND
    )
    lab.advance_to(deadline_us + 120 * SECOND)
    assert lane.reads.redelivered() == held and view_of(lab)["sentence"]["params"]["redelivered"] == held
    hero = hero_view(lane)
    assert (hero["code"], hero["since_us"]) == ("dark", 43 * SECOND) and hero["until_us"] is not None
    assert (
        lane.why[0]["kind"] == "kafka.member.crashed"
        and lane.why[1]["kind"] == "kafka.group.partitions_paused"
    )


def test_program_that_comes_back_waits_for_its_former_session():
    lab = lab_of()
    lab.advance_to(40 * SECOND)
    order(lab, "crash", "c1")
    lab.advance_to(42 * SECOND)
    order(lab, "rejoin", "c1")
    lab.advance_to(60 * SECOND)
    assert code_of(lab) == "kafka.held_up" and view_of(lab)["sentence"]["params"]["silent"] == "c1"
    assert view_of(lab)["consumers"]["c1"]["state"] == "waiting"
    lab.advance_to(100 * SECOND)
    assert code_of(lab) == "kafka.ghost_noticed" and view_of(lab)["consumers"]["c1"]["state"] == "live"
    assert lane_of(lab).reads.stuck()[0] == 0


def test_dead_leader_holds_up_the_group_in_its_second_phase_too():
    (leader,) = {
        event["data"]["leader"]
        for event in advance(lab_of(), 10)
        if event["kind"] == "kafka.group.generation_started"
    }
    lab = lab_of()
    lab.advance_to(1 * SECOND)
    order(lab, "crash", leader)
    assert view_of(lab)["sentence"] == {
        "code": "kafka.crash_joining",
        "params": {"consumer": leader, "partitions": 0, "deadline_us": None},
    }
    lab.advance_to(10 * SECOND)
    assert code_of(lab) == "kafka.leader_silent_first"
    assert lane_of(lab).consumers[leader].deadline_us in range(51 * SECOND - 5_000, 51 * SECOND + 5_000)
    lab.advance_to(60 * SECOND)
    assert lane_of(lab).reads.stuck()[0] == 0 and lane_of(lab).consumers[leader].state == "gone"


def test_person_who_removes_a_silent_program_removes_its_member_at_the_coordinator():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    order(lab, "leave", "c1")
    events = advance(lab, 10)
    left = next(event for event in events if event["kind"] == "kafka.group.member_left")
    assert left["data"]["consumer"] == "c1" and left["cause"] == {"command": 2}
    assert (
        left["at_us"] < 20 * SECOND + 10_000
        and lane_of(lab).reads.stuck()[0] == 0
        and "c1" not in lane_of(lab).world.slots
    )


def test_leaver_commits_so_that_nothing_is_read_again_but_the_record_in_its_hand():
    lab = lab_of()
    lab.advance_to(43 * SECOND)
    order(lab, "leave", "c2")
    assert code_of(lab) == "kafka.rebalancing" and lane_of(lab).reads.dark_units()[0] == 4
    advance(lab, 30)
    assert (
        lane_of(lab).reads.redelivered() <= 1
        and code_of(lab) == "kafka.rebalanced"
        and lane_of(lab).ledger.bill.partitions_moved > 0
    )


def test_who_leaves_before_its_first_join_is_answered_leaves_no_ghost():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    for _ in range(3):
        order(lab, "leave", "c1")
        order(lab, "join", "c1")
        advance(lab, 0.1)
    order(lab, "leave", "c1")
    advance(lab, 10)
    assert lane_of(lab).reads.is_settled() and set(lane_of(lab).reads.units().values()) == {"c2", "c3"}


def test_group_that_all_have_left_waits_for_its_first_members_again():
    lab = lab_of(consumers=2)
    lab.advance_to(20 * SECOND)
    order(lab, "leave", "c1")
    order(lab, "leave", "c2")
    advance(lab, 5)
    assert (
        code_of(lab) == "kafka.empty"
        and lane_of(lab).reads.dark_units() == (12, 12)
        and lane_of(lab).reads.is_settled()
    )
    assert hero_view(lane_of(lab))["code"] == "empty" and set(lane_of(lab).reads.units().values()) == {None}
    assert view_of(lab)["bill"]["pause_us"] == 5 * SECOND
    order(lab, "join")
    assert code_of(lab) == "kafka.first"
    advance(lab, 10)
    assert (
        code_of(lab) == "kafka.formed"
        and lane_of(lab).reads.stuck()[0] == 0
        and lane_of(lab).reads.redelivered() <= 2
    )


def test_group_whose_members_are_all_silent_ends_empty():
    lab = lab_of(consumers=2)
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    order(lab, "crash", "c2")
    assert lane_of(lab).reads.dark_units() == (12, 12)
    lab.advance_to(80 * SECOND)
    assert code_of(lab) == "kafka.crash_noticed_last" and view_of(lab)["picture"]["state"] == "Empty"
    assert lane_of(lab).reads.is_settled() and hero_view(lane_of(lab))["code"] == "empty"


def test_lane_that_begins_without_consumers_is_dark_and_at_rest():
    lab = lab_of(consumers=0)
    lab.advance_to(10 * SECOND)
    view = view_of(lab)
    assert (
        lane_of(lab).reads.is_settled()
        and view["tally"]["dark_us"] == 10 * SECOND
        and view["picture"]["state"] == "Empty"
    )
    order(lab, "join", count=2)
    advance(lab, 10)
    assert (
        code_of(lab) == "kafka.formed"
        and view_of(lab)["bill"]["partitions_moved"] == 12
        and view_of(lab)["bill"]["pause_us"] == 0
    )


def test_changes_that_fall_together_share_one_bill():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "join", count=2)
    advance(lab, 0.5)
    order(lab, "leave", "c1")
    advance(lab, 20)
    bill = lane_of(lab).ledger.bill
    assert (bill.position, bill.kind, bill.settled) == (2, "leave", True)
    moved = sum(bill.units_before[unit] != owner for unit, owner in lane_of(lab).reads.units().items())
    assert bill.partitions_moved == moved and set(bill.units_before.values()) == {"c1", "c2", "c3"}


def test_more_members_than_partitions_leave_some_without_one():
    lab = lab_of("sticky", consumers=15)
    lab.advance_to(20 * SECOND)
    assert view_of(lab)["idle"] == {"count": 3, "of": 15, "partitions": 12}
    idle = next(name for name in lane_of(lab).consumers if name not in lane_of(lab).reads.units().values())
    order(lab, "crash", idle)
    assert lane_of(lab).reads.dark_units()[0] == 0 and view_of(lab)["sentence"]["params"]["partitions"] == 0


@pytest.mark.parametrize("algorithm", ["sticky", "cooperative-sticky"])
def test_sticky_members_keep_what_they_can(algorithm):
    lab = lab_of(algorithm)
    lab.advance_to(20 * SECOND)
    for kind, name, moves in (("join", None, 3), ("leave", "c2", 3), ("join", None, 3)):
        order(lab, kind, name)
        advance(lab, 20)
        assert lane_of(lab).ledger.bill.settled and lane_of(lab).ledger.bill.partitions_moved == moves


def test_switch_of_the_assignor_goes_through_the_same_history():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "join")
    lab.advance_to(40 * SECOND)
    order(lab, "set_algorithm", lane="kafka", algorithm="cooperative-sticky")
    view = view_of(lab)
    assert view["algorithm"] == "cooperative-sticky" and view["sentence"]["code"] == "kafka.cooperative"
    assert (
        view["hero"]["code"] == "moved"
        and sum(view["picture"]["partitions"][str(n)]["owner"] == "c4" for n in range(12)) == 3
    )
    assert lane_of(lab).why[-1]["kind"] == "kafka.algorithm_switched"
    advance(lab, 20)
    lane_of(lab).reads.check()


def test_slow_and_paused_programs_stay_members_and_their_records_wait():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "pause", "c2")
    lab.advance_to(120 * SECOND)
    view = view_of(lab)
    assert view["sentence"]["code"] == "kafka.paused" and view["consumers"]["c2"]["state"] == "paused"
    assert view["picture"]["state"] == "Stable" and lane_of(lab).reads.dark_units()[0] == 0
    assert (
        view["hero"]["code"] == "waits"
        and view["hero"]["part"] == lane_of(lab).reads.waiting_for(lane_of(lab).consumers["c2"]) > 500
    )
    order(lab, "resume", "c2")
    advance(lab, 10)
    assert view_of(lab)["consumers"]["c2"]["rate"] == 10.0


def test_lag_is_what_arrived_and_is_not_done():
    lab = lab_of(rate=20)
    finished = 0
    for second in range(1, 60):
        lab.advance_to(second * SECOND)
        lane = lane_of(lab)
        finished += sum(consumer.acked_between(second - 1, second) for consumer in lane.consumers.values())
        assert lane.reads.lag() == lab.record_count - finished


def test_log_keeps_a_few_segments_of_what_is_read():
    lab = lab_of(rate=20)
    lab.advance_to(300 * SECOND)
    logs = lane_of(lab).reads.look().logs
    assert sum(log.end for log in logs) >= 5_900
    # Three closed segments of 20 s, the active one, and what is not read so far.
    assert 20 * 60 <= sum(log.end - log.start for log in logs) < 20 * 85


def test_restart_of_the_count_reads_on_from_the_first_record_of_the_new_log():
    lab = lab_of(rate=2_000, consumers=4)
    lab.advance_to(20 * SECOND)
    order(lab, "set_algorithm", lane="kafka", algorithm="sticky")
    lane = lane_of(lab)
    assert lane.first_record == 20_000 and sum(log.end for log in lane.reads.look().logs) in range(
        19_990, 20_001
    )
    advance(lab, 5)
    lane.reads.check()

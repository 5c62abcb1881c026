"""The TubeMQ lane on its world: what it says, shows and counts of each change."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.tubemq.assignment import owned_by
from tests.core.lab.tubemq.tubemq_lab import SECOND, at, kinds, lab_of, lane_of, order, seen


def test_restored_lane_reads_on_where_messages_wait_and_where_none_do():
    def later(lab):
        return [at(lab, 200), lab.checkpoint()]

    scenario = scenario_from_json(
        {"lanes": [{"model": "tubemq"}], "workload": {"kind": "zipf", "keys": 30, "rate": 60}}
    )
    lab = Lab(scenario)
    at(lab, 40, "crash", "c1")
    for second in (90, 100):
        at(lab, second)
        other = Lab.restore(scenario, lab.checkpoint())
        for one in (lab, other):
            order(one, "join")
        assert later(other) == later(Lab.restore(scenario, lab.checkpoint()))
    assert later(lab)[1] == later(other)[1]


# -- join, leave, pace ---------------------------------------------------------------------------------------


def test_newcomer_restarts_everybody_and_every_cause_is_named_up_to_the_click():
    lab = lab_of()
    events = at(lab, 20, "join") + at(lab, 30)
    first = next(place for place, event in enumerate(events) if event["kind"] == "tubemq.group.restarting")
    told = events[first:]
    assert (
        kinds(told)[:4] == ["group.restarting", *["client.stopped"] * 3]
        and kinds(told)[-1] == "group.partitions_resumed"
    )
    assert sorted(kinds(told)[4:-1]) == ["client.connected"] * 4 + ["client.started"] * 4
    by_id = {event["id"]: event for event in told}
    for event in told:
        while "event" in event["cause"]:
            event = by_id[event["cause"]["event"]]
        assert event["cause"] == {"command": 1}
    keys = list(seen(lab)["picture"]["partitions"])
    assert {
        event["data"]["consumer"]: event["data"]["partitions"]
        for event in told
        if event["kind"] == "tubemq.client.connected"
    } == {f"c{node_id + 1}": owned_by(keys, 4, node_id) for node_id in range(4)}


def test_restart_is_told_shown_and_billed_while_it_lasts_and_when_it_is_over():
    lab = lab_of()
    at(lab, 20, "join")
    view = seen(lab)
    assert view["sentence"] == {"code": "tubemq.restarting", "params": {"from_count": 3, "to_count": 4}}
    assert {consumer["state"] for consumer in view["consumers"].values()} == {"waiting"} and view["hero"][
        "code"
    ] == "moving"
    assert all(part["stopped"] for part in view["picture"]["partitions"].values()) and lane_of(
        lab
    ).reads.dark_units() == (12, 12)
    at(lab, 20.25)
    assert {part["owner"] for part in seen(lab)["picture"]["partitions"].values()} == {
        None
    }  # released after 200 ms, and told the brokers
    at(lab, 40)
    view = seen(lab)
    assert (
        view["sentence"]["code"] == "tubemq.restarted"
        and view["hero"]["code"] == "moved"
        and view["bill"]["settled"]
    )
    assert (view["bill"]["partitions_moved"], view["sentence"]["params"]["partitions_moved"]) == (10, 10)
    # The last process takes at most 2.2 s to start, and the network a few milliseconds for each partition.
    assert SECOND < view["bill"]["pause_us"] < 2_300_000
    assert view["bill"]["redelivered"] <= 3 * 4  # of each client one batch, of a few messages at this rate
    assert view["tally"]["dark_partition_us"] > 0 and lane_of(lab).reads.dark_units() == (0, 12)
    picture = view["picture"]
    assert all(
        part["owner"] == part["assigned"] and not part["stopped"] for part in picture["partitions"].values()
    )
    assert {name: (client["node_id"], client["state"]) for name, client in picture["clients"].items()} == {
        f"c{number}": (number - 1, "started") for number in range(1, 5)}  # fmt: skip
    assert all(
        0 < client["next_tick_us"] - lab.now_us <= client["tick_period_us"]
        for client in picture["clients"].values()
    )


def test_leaver_stops_and_the_others_share_what_it_had():
    lab = lab_of()
    at(lab, 20, "leave", "c2")
    at(lab, 40)
    view = seen(lab)
    assert view["sentence"]["params"]["from_count"] == 3 and view["sentence"]["params"]["to_count"] == 2
    assert {part["owner"] for part in view["picture"]["partitions"].values()} == {"c1", "c3"}
    assert {part["before"] for part in view["picture"]["partitions"].values()} == {"c1", "c2", "c3"}


def test_last_one_to_leave_leaves_all_partitions_to_nobody_until_somebody_comes():
    lab = lab_of(consumers=1)
    at(lab, 20, "leave", "c1")
    assert seen(lab)["sentence"] == {"code": "tubemq.empty", "params": {"partitions": 12}}
    at(lab, 30)
    view = seen(lab)
    assert (view["hero"]["code"], view["hero"]["since_us"]) == ("empty", 20 * SECOND) and view["bill"][
        "settled"
    ]
    at(lab, 40, "join")
    assert seen(lab)["sentence"]["code"] == "tubemq.starting"
    at(lab, 60)
    view = seen(lab)
    assert view["sentence"]["code"] == "tubemq.first" and view["bill"]["pause_us"] > 20 * SECOND


def test_lane_that_begins_without_anybody_is_dark_and_has_no_pause():
    lab = lab_of(consumers=0)
    at(lab, 10)
    view = seen(lab)
    assert (
        view["hero"]["code"] == "empty" and view["tally"]["dark_us"] == 10 * SECOND and view["bill"] is None
    )
    at(lab, 20, "join", count=2)
    at(lab, 40)
    assert seen(lab)["sentence"]["code"] == "tubemq.first" and seen(lab)["bill"]["pause_us"] == 0


def test_changes_that_fall_together_are_told_from_the_count_before_the_first_of_them():
    lab = lab_of()
    at(lab, 20, "join", count=10)
    at(lab, 20.5, "join")
    assert seen(lab)["sentence"]["params"] == {"from_count": 13, "to_count": 14}
    at(lab, 20.5, "leave", "c1")
    at(lab, 40)
    view = seen(lab)
    assert view["sentence"]["code"] == "tubemq.restarted"
    assert (view["sentence"]["params"]["from_count"], view["sentence"]["params"]["to_count"]) == (3, 13)
    assert {part["before"] for part in view["picture"]["partitions"].values()} == {"c1", "c2", "c3"}
    at(lab, 50, "join")
    at(lab, 70)
    assert seen(lab)["sentence"]["params"]["from_count"] == 13


def test_change_before_the_first_consumers_have_started_counts_from_nothing():
    lab = lab_of()
    at(lab, 0.6, "join")
    at(lab, 20)
    assert (
        seen(lab)["sentence"]["code"] == "tubemq.first" and seen(lab)["sentence"]["params"]["to_count"] == 4
    )


@pytest.mark.parametrize("after_us", [0, 1_000, 250_000, 700_000, 1_500_000, 1_501_500, 2_200_000])
def test_restarts_that_overtake_one_another_leave_no_dead_client_behind(after_us):
    lab = lab_of(consumers=6)
    at(lab, 20, "join")
    for number in range(4):
        lab.advance_to(20 * SECOND + (number + 1) * after_us)
        order(lab, "leave" if number % 2 else "join", "c2" if number == 1 else "c3" if number == 3 else None)
    events = at(lab, 40)
    assert "tubemq.client.refused" not in [event["kind"] for event in events] and seen(lab)["bill"]["settled"]


def test_paused_program_stays_paused_through_a_restart_and_waits_for_its_partitions():
    lab = lab_of()
    at(lab, 20, "pause", "c2")
    assert seen(lab)["sentence"]["code"] == "tubemq.paused"
    at(lab, 22, "join")
    at(lab, 30)
    done = sum(lane_of(lab).consumers["c2"].acked.values())
    at(lab, 34)
    view = seen(lab)
    assert (
        view["consumers"]["c2"]["state"] == "paused"
        and sum(lane_of(lab).consumers["c2"].acked.values()) <= done
    )
    assert lane_of(lab).reads.waiting_for(lane_of(lab).consumers["c2"]) > 0 and lane_of(
        lab
    ).reads.dark_units() == (0, 12)
    order(lab, "resume", "c2")
    at(lab, 38)
    assert lane_of(lab).consumers["c2"].acked_between(34, 38) > 10


# -- figures -------------------------------------------------------------------------------------------------


def test_more_clients_than_partitions_leave_some_without_one():
    lab = lab_of(consumers=34)
    at(lab, 30)
    assert seen(lab)["idle"] == {"count": 25, "of": 34, "partitions": 12}


def test_each_message_is_done_once_in_the_order_of_its_key_and_lag_is_what_is_left():
    lab = lab_of(rate=25)
    for second in range(1, 61):
        at(lab, second)
        view, lane = seen(lab), lane_of(lab)
        finished = sum(lane.world.slots[f"c{number}"].node.state.program.finished for number in (1, 2, 3))
        assert finished + view["lag"] == lab.record_count
        # The picture has what the brokers know: a message may be on its way to them, and of each client a
        # batch is not confirmed.
        assert (
            abs(view["lag"] - sum(part["lag"] for part in view["picture"]["partitions"].values()))
            <= 1 + 3 * 10
        )
    assert view["tally"]["out_of_order"] == 0 and view["tally"]["redelivered"] == 0
    assert sum(lane.reads.weights().values()) == lab.record_count


def test_fast_programs_read_many_messages_at_once_and_keep_up_in_spite_of_the_network():
    workload = {"kind": "uniform", "keys": 500, "rate": 500}
    lab = Lab(
        scenario_from_json(
            {"lanes": [{"model": "tubemq"}], "consumers": 6, "consumer_rate": 200, "workload": workload}
        )
    )
    lags = []
    for second in range(20, 40):
        at(lab, second)
        lags.append(lane_of(lab).reads.lag())
        programs = [lane_of(lab).world.slots[f"c{number}"].node.state.program for number in range(1, 7)]
        assert sum(program.finished for program in programs) + lags[-1] == lab.record_count
    assert max(lags) < 300 and lane_of(lab).reads.redelivered() == 0
    at(lab, 40, "pause", "c1")
    at(lab, 42, "resume", "c1")
    at(lab, 42.5, "leave", "c2")  # c1 has a backlog now
    held = seen(lab)["bill"]["redelivered"]
    at(lab, 60)
    # What it had read and not confirmed is read again, which is at most what it handles in a second.
    assert held == 0 and 0 < seen(lab)["bill"]["redelivered"] <= 5 * 200


def test_slow_network_adds_its_delay_to_a_restart_and_changes_nothing_else():
    lab = lab_of(network_delay_us=200_000)
    at(lab, 20, "join")
    at(lab, 40)
    view = seen(lab)
    assert (
        view["bill"]["settled"]
        and view["bill"]["partitions_moved"] == 10
        and 2_300_000 < view["bill"]["pause_us"] < 6 * SECOND
    )
    at(lab, 50, "crash", "c2")
    deadline_us = lane_of(lab).consumers["c2"].deadline_us
    last_us = max(event["at_us"] for event in at(lab, 90) if event["kind"].endswith("timed_out"))
    assert last_us == deadline_us, "a read that was on its way when it crashed counts as a sign of life"


def test_what_is_sent_over_a_cut_link_does_not_arrive_while_nobody_looks():
    lab = lab_of()
    at(lab, 10)
    lane, broker = lane_of(lab), "tubemq:broker-1"
    world = lane.world
    world.cut(world.connection("tubemq:producer", broker), "tubemq:producer")
    ends = [partition.end for partition in world.node(broker).state.partitions.values()]
    at(lab, 30)
    assert [partition.end for partition in world.node(broker).state.partitions.values()] == ends
    world.heal(world.connection("tubemq:producer", broker))
    at(lab, 31)
    assert sum(partition.end for partition in lane.reads.partitions().values()) == lab.record_count - 1, (
        "one is on its way"
    )

"""The TubeMQ lane on its world: what it says, shows and counts of each change."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import owned_by

SECOND = 1_000_000


def lab_of(consumers=3, keys=50, rate=20, **options) -> Lab:
    lanes = [{"model": "tubemq", "topic": "flights", **options}]
    return Lab(
        scenario_from_json(
            {
                "rigs": lanes,
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": keys, "rate": rate},
            }
        )
    )


def order(lab, kind, consumer=None, **args):
    return lab.submit(
        {"command_id": f"x{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )


def lane_of(lab):
    return lab.lanes["tubemq"]


def at(lab, second, kind=None, consumer=None, **args):
    """Whatever happens until then, with what is ordered at that time."""
    events = lab.advance_to(int(second * SECOND))
    return events + order(lab, kind, consumer, **args) if kind else events


def seen(lab):
    return lab.view()["rigs"]["tubemq"]


def kinds(events):
    return [event["kind"].removeprefix("tubemq.") for event in events]


def test_restored_lane_reads_on_where_messages_wait_and_where_none_do():
    def later(lab):
        return [at(lab, 200), lab.checkpoint()]

    scenario = scenario_from_json(
        {"rigs": [{"model": "tubemq"}], "workload": {"kind": "zipf", "keys": 30, "rate": 60}}
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
    assert SECOND < view["bill"]["pause_us"] < 2_300_000 and view["bill"]["redelivered"] <= 3
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


# -- crash and rejoin ----------------------------------------------------------------------------------------


def test_dead_clients_partitions_wait_until_its_process_comes_back():
    lab = lab_of()
    (crashed,) = [event for event in at(lab, 20, "crash", "c1") if event["kind"] == "tubemq.client.crashed"]
    own, deadline_us = crashed["data"]["partitions"], crashed["data"]["deadline_us"]
    view = seen(lab)
    assert view["sentence"]["code"] == "tubemq.crash_pending" and view["sentence"]["params"][
        "partitions"
    ] == len(own)
    assert (
        view["consumers"]["c1"]["deadline_us"] == deadline_us
        and view["consumers"]["c1"]["state"] == "crashed"
    )
    assert {key for key, part in view["picture"]["partitions"].items() if part["stopped"]} == set(own)
    assert {view["picture"]["partitions"][key]["owner"] for key in own} == {"c1"}
    noticed = [event for event in at(lab, 60) if event["kind"].endswith("timed_out")]
    assert sorted(kinds(noticed)) == ["broker.registration_timed_out"] * len(own) + [
        "master.consumer_timed_out"
    ]
    assert {event["cause"]["command"] for event in noticed} == {1}
    # What it had sent before it fell silent arrives a millisecond later, and counts from there.
    assert deadline_us <= max(event["at_us"] for event in noticed) <= deadline_us + 1_100
    view = seen(lab)
    assert view["sentence"] == {
        "code": "tubemq.crash_noticed",
        "params": {"consumer": "c1", "partitions": len(own)},
    }
    assert view["why"][0]["kind"] == "tubemq.client.crashed" and len(view["why"]) == 2 + len(own)
    assert {view["picture"]["partitions"][key]["owner"] for key in own} == {None}
    gone = view["picture"]["clients"]["c1"]
    assert (gone["node_id"], gone["state"], gone["next_tick_us"]) == (0, "gone", None)
    assert (view["hero"]["code"], view["hero"]["since_us"], view["hero"]["until_us"]) == (
        "dark",
        20 * SECOND,
        None,
    )
    at(lab, 70, "rejoin", "c1")
    assert seen(lab)["sentence"] == {"code": "tubemq.rejoining", "params": {"consumer": "c1", "node_id": 0}}
    at(lab, 80)
    view = seen(lab)
    assert view["sentence"]["code"] == "tubemq.rejoined" and view["bill"]["partitions_moved"] == 0
    assert view["bill"]["pause_us"] > 50 * SECOND and view["picture"]["clients"]["c1"]["state"] == "started"


def test_process_that_comes_back_early_finds_its_node_id_taken_by_its_dead_client():
    lab = lab_of(consumers=2)
    at(lab, 20, "crash", "c1")
    at(lab, 22, "rejoin", "c1")
    at(lab, 26)
    view = seen(lab)
    assert view["sentence"] == {
        "code": "tubemq.node_taken",
        "params": {"consumer": "c1", "code": 430, "holder": "c1"},
    }
    assert (view["consumers"]["c1"]["state"], view["picture"]["clients"]["c1"]["state"]) == (
        "waiting",
        "refused",
    )
    said = set()
    for second in range(27, 75):
        at(lab, second)
        said.add(seen(lab)["sentence"]["code"])
    view = seen(lab)
    assert view["bill"]["settled"] and said <= {
        "tubemq.node_taken",
        "tubemq.occupied",
        "tubemq.ghost_noticed",
        "tubemq.rejoined",
    }
    assert {part["owner"] for part in view["picture"]["partitions"].values()} == {"c1", "c2"} and lane_of(
        lab
    ).reads.dark_units() == (0, 12)


def test_refusal_whose_reason_is_gone_when_it_arrives_names_nobody():
    lab = lab_of()
    at(lab, 20)
    lane = lane_of(lab)
    lane.narrator.say_refused(lane, "c2", r.NODE_ID_TAKEN, 0)
    assert lane.sentence == {
        "code": "tubemq.node_taken",
        "params": {"consumer": "c2", "code": 430, "holder": "c1"},
    }
    lane.narrator.say_refused(lane, "c2", r.NODE_ID_TAKEN, 7)  # the master has given its holder up meanwhile
    assert lane.sentence == {"code": "tubemq.refused", "params": {"consumer": "c2", "code": 430}}


def test_partitions_whose_brokers_believe_longer_in_the_dead_client_than_the_master_are_occupied():
    lab = lab_of(consumers=1)
    started_us = next(event["at_us"] for event in at(lab, 10) if event["kind"] == "tubemq.client.started")
    # It falls silent 12 s after its last heartbeat, so the master gives it up 12 s before the brokers, from
    # which it has read until now.
    silent_s = started_us / SECOND + 25
    at(lab, silent_s, "crash", "c1")
    at(lab, silent_s + 2, "rejoin", "c1")
    refused = [event for event in at(lab, silent_s + 25) if event["kind"] == "tubemq.client.refused"]
    assert [event["data"]["code"] for event in refused] == [430, 410]
    assert seen(lab)["sentence"] == {"code": "tubemq.occupied", "params": {"consumer": "c1", "code": 410}}
    at(lab, silent_s + 60)
    assert seen(lab)["bill"]["settled"] and lane_of(lab).reads.dark_units() == (0, 12)
    assert (
        seen(lab)["sentence"]["code"] == "tubemq.ghost_noticed"
        and 30 * SECOND < seen(lab)["bill"]["pause_us"] < 45 * SECOND
    )


def test_newcomer_is_refused_while_the_master_still_counts_a_dead_client():
    lab = lab_of()
    at(lab, 20, "crash", "c1")
    at(lab, 21, "join")
    at(lab, 25)
    view = seen(lab)
    assert (
        view["sentence"]["code"] == "tubemq.node_taken"
    )  # three again: the count is the same, and node id 0 is the dead one's
    order(lab, "join")
    at(lab, 30)
    assert seen(lab)["sentence"] == {
        "code": "tubemq.refused",
        "params": {"consumer": seen(lab)["sentence"]["params"]["consumer"], "code": 429},
    }
    at(lab, 90)
    view = seen(lab)
    assert (
        view["bill"]["settled"]
        and "c1" not in view["picture"]["clients"]
        and lane_of(lab).reads.dark_units() == (0, 12)
    )
    at(lab, 91, "rejoin", "c1")
    assert seen(lab)["sentence"]["code"] == "tubemq.restarting"


def test_operator_who_removes_a_dead_client_takes_it_off_the_books():
    lab = lab_of()
    at(lab, 20, "crash", "c1")
    at(lab, 21, "leave", "c1")
    events = at(lab, 70)
    assert not {
        "tubemq.client.refused",
        "tubemq.master.consumer_timed_out",
        "tubemq.broker.registration_timed_out",
    } & {event["kind"] for event in events}
    view = seen(lab)
    assert view["sentence"]["code"] == "tubemq.restarted" and list(view["picture"]["clients"]) == ["c2", "c3"]


def test_process_that_dies_before_the_master_knows_it_is_missed_by_nobody():
    lab = lab_of()
    at(lab, 20, "join")
    order(lab, "crash", "c4")
    assert lane_of(lab).consumers["c4"].state == "gone"
    at(lab, 70)
    view = seen(lab)
    assert view["bill"]["settled"] and view["picture"]["clients"]["c4"]["state"] == "gone"
    order(lab, "rejoin", "c4")
    at(lab, 80)
    assert seen(lab)["sentence"]["code"] == "tubemq.rejoined" and lane_of(lab).reads.dark_units() == (0, 12)


def test_all_crashed_and_all_back():
    lab = lab_of()
    for name in ("c1", "c2", "c3"):
        at(lab, 20, "crash", name)
    assert lane_of(lab).reads.dark_units() == (12, 12)
    at(lab, 60)
    assert seen(lab)["hero"]["code"] == "empty" and {
        consumer["state"] for consumer in seen(lab)["consumers"].values()
    } == {"gone"}
    for name in ("c3", "c2", "c1"):
        at(lab, 70, "rejoin", name)
    at(lab, 90)
    view = seen(lab)
    assert view["bill"]["settled"] and lane_of(lab).reads.dark_units() == (0, 12)
    assert {name: client["node_id"] for name, client in view["picture"]["clients"].items()} == {
        "c1": 0,
        "c2": 1,
        "c3": 2,
    }


def test_one_who_was_left_out_of_a_restart_may_take_the_place_of_another_dead_one():
    lab = lab_of()
    at(lab, 20, "crash", "c1")
    at(lab, 60, "join")  # c2, c3 and c4 are the nodes 0, 1, 2
    at(lab, 80, "crash", "c3")
    at(lab, 120, "rejoin", "c1")
    at(lab, 140)
    view = seen(lab)
    assert view["sentence"]["code"] == "tubemq.rejoined" and view["picture"]["clients"]["c1"]["node_id"] == 1
    assert "c3" not in view["picture"]["clients"] and {
        part["owner"] for part in view["picture"]["partitions"].values()
    } == {"c1", "c2", "c4"}


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
            {"rigs": [{"model": "tubemq"}], "consumers": 6, "consumer_rate": 200, "workload": workload}
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


@pytest.mark.parametrize(("kind", "who"), [("leave", "c1"), ("join", None)])
def test_one_that_crashes_in_the_middle_of_a_restart_is_told_though_nobody_will_miss_it(kind, who):
    lab = lab_of()
    at(lab, 10, kind, who)
    at(lab, 10.3, "crash", "c2")
    for second in (11, 25, 60):
        at(lab, second)
        lane = seen(lab)
        lost = sum(part["assigned"] == "c2" for part in lane["picture"]["partitions"].values())
        assert (
            lane["sentence"]
            == {"code": "tubemq.crash_unknown", "params": {"consumer": "c2", "partitions": lost}}
            and lost
        )
        assert "tubemq.client.lost" in [event["kind"] for event in lane["why"]]
    at(lab, 61, "rejoin", "c2")
    at(lab, 80)
    assert seen(lab)["sentence"]["code"] == "tubemq.rejoined" and lane_of(lab).reads.dark_units()[0] == 0


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

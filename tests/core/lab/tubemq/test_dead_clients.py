"""A process that dies and comes back, while the master and the brokers still know its client."""

import pytest

from broker_core.tubemq import requests as r
from tests.core.lab.tubemq.tubemq_lab import SECOND, at, kinds, lab_of, lane_of, order, seen


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
        "code": "tubemq.refused_count",
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

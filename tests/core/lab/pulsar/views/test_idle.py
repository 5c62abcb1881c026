"""The panel of a Pulsar lane: each idle consumer has its cause."""

from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.owners import program_names
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.pulsar.views.pulsar_panel import SECOND, idle, lab_of, order, panel, run, subscription

# -- why idle ------------------------------------------------------------------------------------------------


def test_one_that_works_is_not_idle():
    lab = lab_of(rate=200)
    run(lab, 5)
    assert [idle(lab, name) for name in ("c1", "c2", "c3")] == [None, None, None]


def test_a_newcomer_names_the_first_unacknowledged_entry_and_who_has_it():
    lab = lab_of(order="recently_joined")
    run(lab, 5)
    order(lab, "pause", "c1")
    run(lab, 3)
    order(lab, "join")
    run(lab, 3)
    known = subscription(lab)
    limit = next(iter(known.dispatcher.recently_joined.values()))
    held = sorted(
        position
        for position in range(known.cursor.mark_delete + 1, limit)
        if not known.cursor.is_acked(position)
    )
    assert idle(lab, "c4") == {
        "code": "newcomer",
        "limit": limit,
        "position": held[0],
        "holder": "c1",
        "older": len(held),
    }
    assert idle(lab, "c1") == {"code": "paused", "unacked": len(held)}
    # The others have nothing either: with the replay set blocked nothing new is read. That is what people
    # call "stuck behind one message".
    assert idle(lab, "c2") == {
        "code": "behind_newcomer",
        "consumer": "c4",
        "limit": limit,
        "position": held[0],
        "holder": "c1",
        "older": len(held),
    }
    order(lab, "resume", "c1")
    run(lab, 60)
    assert panel(lab)["cursors"]["-1"]["joins"] == {} and idle(lab, "c4") is None


def test_a_newcomer_behind_a_gap_of_sticky_ranges_learns_that_the_entry_it_waits_for_is_nobodys():
    lab = lab_of("sticky", consumers=2, order="recently_joined")
    run(lab, 2)
    order(lab, "pulsar_ranges", "c2", ranges=[[32768, 50000]])
    run(lab, 20)
    order(lab, "join", ranges=[[60000, 65535]])
    run(lab, 10)
    why = idle(lab, "c3")
    entry = subscription(lab).entries[why["position"]]
    assert (why["code"], why["holder"], why["unowned"]) == ("newcomer", None, True)
    assert 50000 < subscription(lab).dispatcher.selector.slot(entry.hash32) < 60000


def test_one_that_holds_its_acks_works_on_until_it_has_nothing_and_says_so_then():
    lab = lab_of("shared", consumers=1, receiver_queue_size=10, rate=5)
    run(lab, 3)
    order(lab, "pulsar_hold_acks", "c1")
    run(lab, 10)
    while (known := panel(lab)["consumers"]["c1"])["idle"] is None:  # between two messages
        assert known["holds_acks"] and lab.now_us < 60 * SECOND
        run(lab, 0.05)
    assert known["idle"] == {"code": "holding", "count": known["unacked"]} and known["unacked"] > 40
    order(lab, "pulsar_release_acks", "c1")
    run(lab, 20)
    assert not panel(lab)["consumers"]["c1"]["holds_acks"] and panel(lab)["cursors"]["-1"]["backlog"] < 10


def test_under_draining_hashes_only_who_owns_the_slot_waits_and_names_it():
    lab = lab_of("auto_split", order="draining", consumers=1, rate=5)
    run(lab, 5)
    order(lab, "pause", "c1")
    run(lab, 20)
    order(lab, "join")
    run(lab, 20)
    view = panel(lab)
    draining = view["draining"]
    assert draining["count"] == len(subscription(lab).dispatcher.draining) >= len(draining["slots"]) > 0
    assert {(slot["from"], slot["to"]) for slot in draining["slots"].values()} == {("c1", "c2")}
    known = subscription(lab).dispatcher.consumers
    held = list(known["2.1"].pending.values())
    for slot, entry in draining["slots"].items():
        assert entry["count"] == sum(subscription(lab).selector.slot(hash32) == int(slot) for hash32 in held)
    assert view["consumers"]["c2"]["idle"] is None or view["consumers"]["c2"]["idle"]["code"] in (
        "draining",
        "nothing_to_read",
    )


def test_a_key_whose_slot_drains_is_the_cause():
    lane = {"model": "pulsar", "algorithm": "auto_split", "order": "draining"}
    lab = Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": 1, "workload": {"kind": "uniform", "keys": 3, "rate": 15}}
        )
    )
    run(lab, 2)
    order(lab, "pause", "c1")
    run(lab, 2)
    while not panel(lab)["draining"]["slots"]:  # somebody in the end takes the slot of one of the three keys
        assert len(lab.seen) < 40
        order(lab, "join")
        run(lab, 1)
    run(lab, 2)
    slots = panel(lab)["draining"]["slots"]
    cause = idle(lab, next(iter(slots.values()))["to"])
    entry = slots[str(cause["slot"])]
    assert (
        cause
        == {"code": "draining", "slot": cause["slot"], "consumer": entry["from"], "count": entry["count"]}
        and entry["from"] == "c1"
    )


def test_standbys_say_so_and_a_switch_takes_its_second():
    lab = lab_of("failover", partitions=2, consumers=4)
    run(lab, 5)
    assert idle(lab, "c4") == {"code": "standby", "place": 4, "consumers": 4, "partitions": 2}
    order(lab, "leave", "c1")
    run(lab, 0.5)
    view = panel(lab)
    assert (
        view["failover"]["partitions"]["0"]["switching"]
        and view["failover"]["partitions"]["0"]["active"] == "c2"
    )
    assert idle(lab, "c3")["code"] in ("switching", "standby")
    run(lab, 2)
    assert not panel(lab)["failover"]["partitions"]["0"]["switching"]


def test_a_refused_one_names_the_error_and_an_exclusive_one_has_no_standbys():
    lab = lab_of("exclusive", partitions=3)
    run(lab, 3)
    assert idle(lab, "c2") == {"code": "refused", "error": "ConsumerBusy"}
    view = panel(lab)
    assert view["failover"]["order"] == [["c1", 0]] and {
        known["active"] for known in view["failover"]["partitions"].values()
    } == {"c1"}
    assert {known["next"] for known in view["failover"]["partitions"].values()} == {None}


def test_without_permits_it_says_so():
    lab = lab_of("shared", consumers=1, receiver_queue_size=10)
    run(lab, 4)
    order(lab, "pause", "c1")
    run(lab, 4)
    assert idle(lab, "c1")["code"] == "paused"
    # What it holds is in its queue; the broker may send nothing more.
    assert panel(lab)["consumers"]["c1"]["permits"] <= 0 < panel(lab)["consumers"]["c1"]["unacked"]


def test_a_sticky_consumer_in_a_gap_and_all_who_are_caught_up():
    lab = lab_of("consistent_hash", consumers=16, rate=10)
    run(lab, 10)
    codes = {consumer["idle"]["code"] for consumer in panel(lab)["consumers"].values() if consumer["idle"]}
    assert codes == {"nothing_to_read"}


def test_crashed_then_gone():
    lab = lab_of("shared")
    run(lab, 3)
    order(lab, "crash", "c2")
    run(lab, 1)
    assert idle(lab, "c2")["code"] == "crashed"
    run(lab, 90)
    assert idle(lab, "c2") == {"code": "gone"}
    assert (
        sum(consumer["redelivered"] for consumer in panel(lab)["consumers"].values())
        == lab.lanes["pulsar"].reads.redelivered()
        > 0
    )


def test_who_waits_behind_a_batch_that_cannot_be_sent_is_told_so():
    """3.2 reads what waits from its front again, 100 entries at a time: with one stuck consumer the other
    gets nothing either."""
    lab = lab_of("consistent_hash", consumers=2, rate=80, order="recently_joined", unacked_max=20)
    run(lab, 2)
    order(lab, "pulsar_hold_acks", "c1")
    run(lab, 15)
    told, dispatcher = idle(lab, "c2"), subscription(lab).dispatcher
    names = program_names(lab.lanes["pulsar"].reads.broker())
    assert told["code"] == "out_of_reach" and told["owner"] == "c1" and told["before"] >= 100
    stuck = [
        names[dispatcher.owner(dispatcher.entries[position].hash32)]
        for position in dispatcher.replay.positions[: told["before"] + 1]
    ]
    assert (
        stuck == ["c1"] * told["before"] + ["c2"]
        and dispatcher.replay.positions[told["before"]] == told["position"]
    )
    run(lab, 5)
    assert idle(lab, "c2") == told
    order(lab, "pulsar_release_acks", "c1")
    run(lab, 5)
    assert idle(lab, "c2") is None

"""The panel of a Pulsar lane: what it shows is what the broker holds."""

import json

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.pulsar.owners import program_names
from broker_core.lab.pulsar.views.cursor import ACKED, NEAR_MAX, UNREAD, WAITING
from broker_core.lab.pulsar.views.handed import handed
from broker_core.lab.pulsar.views.subscription import next_active, rule_of
from broker_core.lab.view import lab_view
from broker_core.pulsar.dispatchers.single_active import SingleActiveDispatcher, Standby
from broker_core.pulsar.selectors import SELECTORS
from tests.core.lab.pulsar.views.pulsar_panel import idle, lab_of, order, panel, run, subscription

# -- the cursor ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split", "shared", "failover_document"])
def test_entries_one_by_one_are_at_whom_the_broker_says(algorithm):
    lab = lab_of(algorithm)
    run(lab, 5)
    order(lab, "pause", "c1")
    run(lab, 3)
    known, cursor = subscription(lab), panel(lab)["cursors"]["-1"]
    told = [who for who, count in cursor["near"] for _ in range(count)]
    assert len(told) == min(NEAR_MAX, known.cursor.end - known.cursor.mark_delete - 1) > 20
    pending = known.dispatcher.pending() if algorithm != "failover_document" else {}
    held = {position: key for key, positions in pending.items() for position in positions}
    lane = lab.lanes["pulsar"]
    names, programs = list(lane.consumers), program_names(lane.reads.broker())
    for position, who in enumerate(told, known.cursor.mark_delete + 1):
        if position in known.cursor.ahead:
            assert who == ACKED
        elif position >= known.cursor.read_position:
            assert who == UNREAD
        elif position in held:
            assert who == names.index(programs[held[position]])
        else:
            assert who == (0 if algorithm == "failover_document" else WAITING)


def test_the_numbers_of_a_cursor_agree_with_one_another():
    lab = lab_of(order="recently_joined")
    run(lab, 5)
    order(lab, "pause", "c1")
    run(lab, 2)
    order(lab, "join")
    run(lab, 2)
    view = panel(lab)
    cursor, consumers = view["cursors"]["-1"], view["consumers"]
    unread = cursor["end"] - cursor["read"]
    assert cursor["backlog"] == cursor["end"] - 1 - cursor["mark_delete"] - cursor["acked_ahead"]
    assert cursor["backlog"] == unread + cursor["waiting"] + sum(
        consumer["unacked"] for consumer in consumers.values()
    )
    assert cursor["hole_count"] >= len(cursor["holes"]) > 0
    assert (
        min(consumer["oldest"] for consumer in consumers.values() if consumer["oldest"] is not None)
        == cursor["mark_delete"] + 1
    )
    assert cursor["joins"] == {"c4": consumers["c4"]["idle"]["limit"]}


def test_a_view_is_plain_and_the_same_after_a_restore():
    lab = lab_of(order="draining", algorithm="auto_split")
    run(lab, 5)
    order(lab, "pause", "c1")
    order(lab, "join")
    run(lab, 2)
    view = panel(lab)
    assert json.loads(json.dumps(view)) == view
    assert panel(Lab.restore(lab.scenario, lab.checkpoint())) == view


def test_a_worse_level_of_shared_waits_while_a_better_one_has_permits_and_stands_last_in_the_round():
    lab = lab_of("shared", consumers=2)
    order(lab, "join", "late", priority=2)
    run(lab, 5)
    assert idle(lab, "late") == {"code": "better_level", "priority": 2, "best": 0}
    assert whole(lab_view(lab))["lanes"]["pulsar"]["picture"]["ring"][-1] == "late"
    order(lab, "leave", "c1")
    order(lab, "leave", "c2")
    run(lab, 5)
    assert idle(lab, "late") is None or idle(lab, "late")["code"] == "nothing_to_read"


def test_one_that_came_back_before_the_broker_gave_its_former_connection_up_stands_once_in_the_pictures_of_failover():
    lab = lab_of("failover", consumers=3, partitions=4)
    run(lab, 3)
    order(lab, "crash", "c1")
    order(lab, "rejoin", "c1")
    run(lab, 3)
    known = subscription(lab).dispatcher.picker.consumers
    assert [standby.name for standby in known].count("c1") == 2
    view = whole(lab_view(lab))["lanes"]["pulsar"]
    assert sorted(name for name, _level in view["pulsar"]["failover"]["order"]) == ["c1", "c2", "c3"]
    for part in view["picture"]["partitions"].values():
        assert sorted([part["owner"], *part["standbys"]]) == ["c1", "c2", "c3"]


@pytest.mark.parametrize("algorithm", ["shared", "consistent_hash", "failover"])
def test_what_is_at_a_former_connection_is_counted_so_that_the_numbers_agree(algorithm):
    lab = lab_of(algorithm, consumers=3, **({"partitions": 2} if algorithm == "failover" else {}))
    run(lab, 3)
    order(lab, "pause", "c1")
    run(lab, 2)
    order(lab, "crash", "c1")
    order(lab, "rejoin", "c1")
    run(lab, 3)
    view = panel(lab)
    consumers, cursors = view["consumers"], view["cursors"].values()
    assert consumers["c1"]["former"] > 20 and consumers["c2"]["former"] == 0
    there = sum(cursor["end"] - cursor["read"] + cursor["waiting"] for cursor in cursors)
    assert sum(cursor["backlog"] for cursor in cursors) == there + sum(
        known["unacked"] + known["former"] for known in consumers.values()
    )
    picture = whole(lab_view(lab))["lanes"]["pulsar"]["picture"]
    assert algorithm != "shared" or (
        sorted(picture["ring"]) == ["c1", "c2", "c3"] and len(picture["in_flight"]["c1"]) == 24
    )
    run(lab, 70)
    assert panel(lab)["consumers"]["c1"]["former"] == 0


def test_other_ranges_and_another_level_are_changes_whose_slices_and_partitions_the_pictures_tell():
    lab = lab_of("sticky", consumers=2)
    run(lab, 3)
    order(lab, "pulsar_ranges", "c2", ranges=[[32768, 50000]])
    run(lab, 3)
    assert [(row["from"], row["to"], row["slots"]) for row in panel(lab)["handed"]] == [
        ("c2", None, 65535 - 50000)
    ]
    lab = lab_of("failover", consumers=2, partitions=2)
    run(lab, 3)
    order(lab, "pulsar_priority", "c1", level=1)
    run(lab, 5)
    parts = whole(lab_view(lab))["lanes"]["pulsar"]["picture"]["partitions"]
    assert [(part["before"], part["owner"]) for part in parts.values()] == [("c1", "c2"), ("c2", "c2")]


def test_a_subscription_that_was_taken_away_is_said_not_to_be_there_until_the_next_join():
    lab = lab_of("shared", consumers=1)
    run(lab, 2)
    assert panel(lab)["exists"]
    order(lab, "pulsar_unsubscribe", "c1")
    run(lab, 2)
    assert not panel(lab)["exists"]
    order(lab, "join")
    run(lab, 2)
    assert panel(lab)["exists"]


# -- who took what -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", list(SELECTORS))
def test_what_changed_hands_is_what_the_two_cuts_differ_in(algorithm):
    lab = lab_of(algorithm, consumers=4)
    run(lab, 2)
    order(lab, "join")
    run(lab, 2)
    lane = whole(lab_view(lab))["lanes"]["pulsar"]
    rows, picture = lane["pulsar"]["handed"], lane["picture"]
    assert rows and {row["to"] for row in rows} == {"c5"}
    assert rows == sorted(rows, key=lambda row: -row["slots"])
    bill = lane["bill"]
    owned = sum(row["slots"] for row in rows)
    newcomer = lane["picture"]["names"].index("c5")
    low, mine = -1, 0
    for bound, owner in zip(picture["now"]["bounds"], picture["now"]["owners"], strict=True):
        mine += (bound - low) if owner == newcomer else 0
        low = bound
    mine += picture["space"] - 1 - low if picture["now"]["owners"][0] == newcomer else 0
    assert (
        bill is not None and abs(owned - mine) <= picture["space"] // 50
    )  # a point that several share is shown with its first holder


def test_handed_over_the_top_of_a_ring_and_to_nobody():
    assert handed(([3, 9], ["a", "b"]), ([3, 7], ["b", None]), 16) == [
        {"from": "a", "to": "b", "slots": 10, "pieces": 2, "largest": [10, 15]},
        {"from": "b", "to": None, "slots": 4, "pieces": 1, "largest": [4, 7]},
    ]  # fmt: skip
    assert handed(([15], ["a"]), ([15], ["a"]), 16) == []


# -- whose rule, who is next ---------------------------------------------------------------------------------


def test_each_algorithm_says_whose_rule_it_is():
    assert {name: rule_of(name) for name in SELECTORS} == {
        "consistent_hash": "3.2",
        "consistent_hash_3_2_0": "3.2.0",
        "consistent_hash_current": "current",
        "auto_split": "3.2",
        "sticky": "3.2",
        "ring_document": "document",
        "auto_split_document": "document",
        "sticky_document": "document",
    }
    assert panel(lab_of(order="draining"))["rule"] == {"selector": "3.2", "order": "current"}
    assert panel(lab_of(order="recently_joined"))["rule"]["order"] == "3.2"
    assert panel(lab_of("shared"))["order"] is None


@pytest.mark.parametrize("partition", [-1, 0, 1, 5])
def test_next_is_who_the_picker_picks_once_the_active_one_has_left(partition):
    picker = SingleActiveDispatcher("persistent://public/default/t", partition)
    for name in "ABCDE":
        picker.add(Standby(name, name, 1 if name == "E" else 0))
    while len(picker.consumers) > 1:
        said = next_active(picker)
        picker.remove(picker.active)
        assert said == picker.active
    assert next_active(picker) is None

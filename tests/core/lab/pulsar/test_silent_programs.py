"""Programs that fall silent, and programs that are gone before their broker knew of them."""

import pytest

from broker_core.lab.shared.hero import hero_view
from tests.core.lab.pulsar.pulsar_lab import SECOND, bill_of, lab_of, lane_of, order, sentence


@pytest.mark.parametrize(
    "after_tick_us", [-17_000_000, -1_000_000, -1, 0, 500, 1_050, 1_500, 2_000, 2_300, 29_000_000]
)
def test_silent_program_is_given_up_at_the_moment_that_its_row_counts_down_to(after_tick_us):
    """A ping of the keep-alive's tick is on its way for a millisecond, and the answer for another."""
    lab = lab_of()
    rules = lane_of(lab).reads
    opened_us = rules.broker().state.connections[rules.client("c1").connection].since_us
    lab.advance_to(opened_us + 30 * SECOND + after_tick_us)
    order(lab, "crash", "c1")
    consumer = lane_of(lab).consumers["c1"]
    deadline_us, dark = consumer.deadline_us, hero_view(lane_of(lab))
    assert (
        lane_of(lab).sentence["code"] == "pulsar.crash_pending"
        and dark["code"] == "dark"
        and dark["until_us"] is None
    )
    events = lab.advance_to(deadline_us + SECOND)
    silent = next(event for event in events if event["kind"] == "pulsar.connection.silent")
    gone = next(event for event in events if event["kind"] == "pulsar.consumer.disconnected")
    assert (
        silent["at_us"] == deadline_us
        and silent["cause"] == {"command": 1}
        and gone["cause"] == {"event": silent["id"]}
    )
    assert consumer.state == "gone" and sentence(lab)["code"] == "pulsar.crash_noticed"
    bill = bill_of(lab)
    assert (bill["kind"], bill["redelivered"]) == ("crash", gone["data"]["redelivered"])
    assert bill["keys_moved"] == gone["data"]["keys_moved"] and bill["space_moved"] > 0
    assert lane_of(lab).why[0]["kind"] == "pulsar.consumer.crashed"
    assert hero_view(lane_of(lab))["until_us"] == deadline_us


def test_program_that_comes_back_is_told_from_the_connection_that_it_left():
    lab = lab_of(order="out_of_order")
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    lab.advance_to(25 * SECOND)
    order(lab, "rejoin", "c1")
    lab.advance_to(26 * SECOND)
    assert lane_of(lab).reads.dark_units()[0] > 0, "the points of the dead connection stay on the ring"
    lab.advance_to(100 * SECOND)
    assert lane_of(lab).consumers["c1"].state == "live" and sentence(lab)["code"] == "pulsar.ghost_noticed"
    assert lane_of(lab).reads.dark_units()[0] == 0


def test_person_who_removes_a_silent_program_resets_its_connection():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    order(lab, "leave", "c1")
    (gone,) = [
        event for event in lab.advance_to(21 * SECOND) if event["kind"] == "pulsar.consumer.disconnected"
    ]
    assert gone["inputs"]["reason"] == "pulsar.connection.closed" and gone["cause"] == {"command": 2}
    assert sentence(lab)["code"] == "pulsar.leave" and "c1" not in lane_of(lab).world.slots


def test_program_that_dies_before_it_has_connected_is_known_to_nobody():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "join", count=2)
    order(lab, "crash", "c5")
    assert (
        lane_of(lab).sentence["code"] == "pulsar.crash_unknown"
        and lane_of(lab).consumers["c5"].state == "gone"
    )
    lab.advance_to(21 * SECOND)
    assert bill_of(lab)["settled"] and lane_of(lab).reads.weights().keys() == {"c1", "c2", "c3", "c4"}
    order(lab, "rejoin", "c5")
    lab.advance_to(22 * SECOND)
    assert "c5" in lane_of(lab).reads.weights()


def test_program_that_leaves_before_it_has_connected_is_known_to_nobody():
    lab = lab_of()
    order(lab, "join", count=2)
    order(lab, "leave", "c5")
    lab.advance_to(SECOND)
    assert lane_of(lab).reads.weights().keys() == {"c1", "c2", "c3", "c4"} and bill_of(lab)["settled"]


def test_last_one_that_is_given_up_leaves_nobody():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    for name in ("c1", "c2", "c3"):
        order(lab, "crash", name)
    lab.advance_to(100 * SECOND)
    assert sentence(lab)["code"] == "pulsar.crash_noticed_last"
    assert [consumer.state for consumer in lane_of(lab).consumers.values()] == ["gone"] * 3

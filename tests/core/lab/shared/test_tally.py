"""The running bill: every change's cost is in it once, and a restart loses nothing of it."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.journals import ALL_LANES, THREE_LANES, random_life

pytestmark = pytest.mark.slow

SECOND = 1_000_000
MOVES = [
    (12, "join", None, {}),
    (30, "join", None, {"count": 3}),
    (60, "leave", "c2", {}),
    (90, "crash", "c1", {}),
    (200, "rejoin", "c1", {}),
]


@pytest.mark.slow
def test_keys_moved_is_the_sum_of_all_bills():
    lab = Lab(scenario_from_json({}))
    closed: dict[str, dict[tuple[int, int], int]] = {lane_id: {} for lane_id in lab.lanes}

    def note():
        for lane_id, lane in whole(lab.viewing(panels=()))["lanes"].items():
            if lane["bill"]:
                closed[lane_id][lane["bill"]["position"], lane["bill"]["at_us"]] = lane["bill"]["keys_moved"]

    for place, (second, kind, consumer, args) in enumerate(MOVES):
        while lab.now_us < second * SECOND:
            lab.advance_to(lab.now_us + SECOND // 4)
            note()
        lab.submit(
            {"command_id": f"t{place}", "kind": kind, "lane": "all", "consumer": consumer, "args": args}
        )
        note()
    lab.advance_to(230 * SECOND)
    note()
    for lane_id, lane in lab.view()["lanes"].items():
        moved = lane["tally"]["keys_moved"]
        if lane_id == "rabbitmq":
            assert moved is None
        else:
            assert moved == sum(closed[lane_id].values()) > 0


def test_the_start_and_changes_of_pace_move_nothing():
    lab = Lab(scenario_from_json({}))
    lab.advance_to(20 * SECOND)
    lab.submit({"command_id": "s", "kind": "slow", "lane": "all", "consumer": "c1", "args": {"rate": 2}})
    lab.advance_to(40 * SECOND)
    assert {lane["tally"]["keys_moved"] for lane in lab.view()["lanes"].values()} == {0, None}


@pytest.mark.parametrize(("seed", "lanes"), [(5, ALL_LANES), (6, THREE_LANES)])
def test_a_restored_lab_has_the_same_running_bill(seed, lanes):
    scenario, _, lab = random_life(seed, 15, lanes=lanes)
    again = Lab.restore(scenario, lab.checkpoint())
    until_us = lab.now_us + 30 * SECOND
    for one in (lab, again):
        one.advance_to(until_us)
    assert [lane["tally"] for lane in again.view()["lanes"].values()] == [
        lane["tally"] for lane in lab.view()["lanes"].values()
    ]


def test_dark_time_is_a_mean_and_where_there_are_partitions_a_sum_too():
    lab = Lab(scenario_from_json({}))
    lab.advance_to(20 * SECOND)
    tallies = {lane_id: lane["tally"] for lane_id, lane in lab.view()["lanes"].items()}
    assert 6 * SECOND <= tallies["kafka"]["dark_us"] < 6.01 * SECOND
    assert tallies["kafka"]["dark_partition_us"] // 12 == tallies["kafka"]["dark_us"]
    assert tallies["pulsar"]["dark_us"] == 0 and tallies["pulsar"]["dark_partition_us"] is None


def test_what_came_out_of_order_since_a_change_and_before_it_is_all_that_came_so():
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [{"model": "pulsar", "order": "out_of_order"}],
                "workload": {"kind": "uniform", "keys": 20, "rate": 30},
            }
        )
    )
    before: dict[int, set[int]] = {}
    for place, second in enumerate((5, 12, 30)):
        lab.advance_to(second * SECOND)
        order = {"command_id": f"t{place}", "kind": "join", "lane": "all", "consumer": None, "args": {}}
        lab.submit(order)
        while lab.now_us < (second + 7) * SECOND:
            lab.advance_to(lab.now_us + SECOND // 8)
            lane = lab.view()["lanes"]["pulsar"]
            since, since_start = lane["bill"]["out_of_order"], lane["tally"]["out_of_order"]
            assert since >= 0
            before.setdefault(lane["bill"]["position"], set()).add(since_start - since)
    assert [len(counts) for counts in before.values()] == [1, 1, 1] and len(set.union(*before.values())) > 1

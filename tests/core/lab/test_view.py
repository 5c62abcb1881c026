"""The view of a lab: rates, recent records, the seconds behind it, and that no later step changes a view that
was given away."""

import copy
from typing import Any

import pytest

from broker_core.lab.consumer import RATE_WINDOW_S
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.history import HISTORY_KEPT_S
from broker_core.lab.view import RECENT_SHOWN
from tests.core.lab.small import SECOND, lab_of, order


def only_lane(lab: Lab) -> dict[str, Any]:
    (only,) = lab.view()["lanes"].values()
    found: dict[str, Any] = only
    return found


def row(lab: Lab, name: str = "c1") -> dict[str, Any]:
    found: dict[str, Any] = only_lane(lab)["consumers"][name]
    return found


def test_rate_is_that_of_the_last_whole_seconds_and_of_a_young_lab_of_those_there_are() -> None:
    lab = lab_of("rabbitmq", consumers=1, rate=4, seconds=1.5)
    assert row(lab)["rate"] == pytest.approx(lab_rate(lab, 0, 1))
    lab.advance_to(int(9.9 * SECOND))
    assert row(lab)["rate"] == pytest.approx(lab_rate(lab, 9 - RATE_WINDOW_S, 9), abs=0.05)


def lab_rate(lab: Lab, first: int, end: int) -> float:
    """Records a second that c1 finished in these seconds, by what it keeps itself."""
    (lane,) = lab.lanes.values()
    return lane.consumers["c1"].acked_between(first, end) / (end - first)


def test_one_that_has_crashed_has_no_rate_from_that_moment_on() -> None:
    lab = lab_of("rabbitmq", consumers=2, rate=20, seconds=8)
    assert row(lab)["rate"] > 0
    order(lab, "crash", "c1")
    assert row(lab)["rate"] == 0 and row(lab, "c2")["rate"] > 0


@pytest.mark.parametrize(
    ("order_kind", "args", "slow", "capacity"),
    [("slow", {"rate": 2}, True, 2), ("slow", {"rate": 50}, False, 50), ("pause", {}, False, 10)],
)
def test_slow_is_one_that_works_below_the_pace_of_the_lab(
    order_kind: str, args: dict[str, int], slow: bool, capacity: int
) -> None:
    lab = lab_of("rabbitmq", seconds=2)
    order(lab, order_kind, "c1", **args)
    assert (row(lab)["slow"], row(lab)["capacity"]) == (slow, capacity)


def test_paused_slow_one_is_paused() -> None:
    lab = lab_of("rabbitmq", seconds=2)
    order(lab, "slow", "c1", rate=2)
    order(lab, "pause", "c1")
    assert (row(lab)["state"], row(lab)["slow"]) == ("paused", False)


def test_last_records_are_shown_with_their_keys_however_often_one_looks() -> None:
    lab, seldom = lab_of("rabbitmq", rate=40), lab_of("rabbitmq", rate=40)
    for _ in range(5):
        lab.advance_to(lab.now_us + SECOND // 2)
        lab.view()
    seldom.advance_to(lab.now_us)
    recent = lab.view()["recent"]
    assert list(recent) == [str(index) for index in range(lab.record_count - RECENT_SHOWN, lab.record_count)]
    assert recent == seldom.view()["recent"]
    assert all(
        entry["key"] == lab.workload.key(lab.workload.key_code(int(index))) for index, entry in recent.items()
    )


def test_record_without_a_key_is_shown_as_such() -> None:
    workload = {"kind": "keys", "keys": [], "keyless": 1, "rate": 4}
    lab = Lab(scenario_from_json({"lanes": [{"model": "rabbitmq"}], "consumers": 1, "workload": workload}))
    lab.advance_to(SECOND)
    view = lab.view()
    assert [entry["key"] for entry in view["recent"].values()] == [None] * 4
    assert (view["lanes"]["rabbitmq"]["route"]["key"], view["lanes"]["rabbitmq"]["route"]["keyless"]) == (
        None,
        True,
    ) and view["key_count"] == 0


def test_before_the_first_record_nothing_has_a_route() -> None:
    lab = lab_of("rabbitmq", rate=1)
    assert only_lane(lab)["route"] is None and lab.view()["recent"] == {} and lab.view()["history"] == {}


def test_history_has_each_second_once_whenever_somebody_looks() -> None:
    lab, seldom = lab_of("tubemq", rate=4), lab_of("tubemq", rate=4)
    for at_us in (SECOND, SECOND, 3 * SECOND + 1, 7 * SECOND):
        lab.advance_to(at_us)
        lab.view()
    seldom.advance_to(7 * SECOND)
    assert lab.view()["history"] == seldom.view()["history"] and list(lab.view()["history"]) == [
        str(second) for second in range(1, 8)
    ]


def test_history_ends_where_its_length_is_reached() -> None:
    lab = lab_of("rabbitmq", rate=1, consumers=0, seconds=HISTORY_KEPT_S + 5)
    assert list(lab.view()["history"]) == [str(second) for second in range(6, HISTORY_KEPT_S + 6)]


@pytest.mark.parametrize("model", ["rabbitmq", "tubemq", "pulsar"])
def test_view_that_was_given_away_stays_as_it_was(model: str) -> None:
    lab = lab_of(model, seconds=9)
    order(lab, "join", seconds=0.5)
    view = lab.view()
    kept = copy.deepcopy(view)
    order(lab, "crash", "c1", seconds=5)
    lab.view()
    assert view == kept


@pytest.mark.parametrize("model", ["rabbitmq", "tubemq", "pulsar"])
def test_looking_changes_nothing(model: str) -> None:
    looked, alone = lab_of(model), lab_of(model)
    for at_us in range(SECOND // 3, 12 * SECOND, SECOND // 3):
        looked.advance_to(at_us)
        looked.view()
    for lab in (looked, alone):
        lab.advance_to(12 * SECOND)
    assert looked.checkpoint() == alone.checkpoint() and looked.view() == alone.view()


def test_those_from_the_start_have_no_bill_and_a_change_has_one_with_the_shares_before() -> None:
    lab = lab_of("tubemq", rate=20, seconds=20)
    assert only_lane(lab)["bill"] is None and row(lab)["share_before"] is None
    before = row(lab)["share"]
    order(lab, "join")
    assert (
        only_lane(lab)["bill"]["position"] == 1
        and row(lab)["share_before"] == before
        and row(lab, "c3")["share_before"] is None
    )


def test_consumers_of_the_lab_are_those_alive_anywhere() -> None:
    lanes = [{"model": "rabbitmq"}, {"model": "tubemq"}]
    lab = Lab(
        scenario_from_json(
            {"lanes": lanes, "consumers": 2, "workload": {"kind": "uniform", "keys": 3, "rate": 2}}
        )
    )
    for number, (kind, lane) in enumerate((("crash", "rabbitmq"), ("leave", "tubemq"))):
        assert lab.view()["consumer_count"] == 2
        lab.submit({"command_id": f"x{number}", "kind": kind, "lane": lane, "consumer": "c1"})
    assert lab.view()["consumer_count"] == 1 and list(lab.view()["consumers"]) == ["c1", "c2"]

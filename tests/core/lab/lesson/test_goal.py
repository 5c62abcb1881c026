"""Goals: what a lab is to come to, looked at again and again."""

import json
from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.goal import Goal, figures_of, goal_from_json
from broker_core.lab.lesson.numbers import number_at
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json

LANES = [{"model": "kafka", "partitions": 4}, {"model": "pulsar"}, {"model": "tubemq"}, {"model": "rabbitmq"}]


@pytest.fixture(scope="module")
def lab() -> Lab:
    made = Lab(
        scenario_from_json(
            {"lanes": LANES, "workload": {"kind": "uniform", "keys": 20, "rate": 20}, "seed": 3}
        )
    )
    made.advance_to(5 * SECOND_US)
    return made


def view_of(lab: Lab) -> dict[str, Any]:
    return whole(lab.viewing(()))


def goal(number: str, lane: str = "rabbitmq", for_s: int = 0, **asks: Any) -> Goal:
    return goal_from_json({"lane": lane, "number": number, "asks": asks, "for_us": for_s * SECOND_US})


def test_each_figure_that_is_offered_is_a_number_of_that_lane(lab: Lab) -> None:
    view = view_of(lab)
    offered = {
        name: {who: figures_of(lane, who) for who in ("", "c1")} for name, lane in view["lanes"].items()
    }
    for name, of in offered.items():
        for path in [*of[""].values(), *of["c1"].values()]:
            assert isinstance(number_at(view["lanes"][name], path), int | float), path
    assert set(offered["kafka"]["c1"]) == {"lag", "partitions", "unacked", "rate"}
    assert set(offered["pulsar"]["c1"]) == {"unacked", "rate"}
    assert "unowned" not in offered["rabbitmq"][""] and "unowned" in offered["tubemq"][""]
    assert figures_of(view["lanes"]["kafka"], "c9") == {}


def test_the_lag_of_a_consumer_is_that_of_its_partitions(lab: Lab) -> None:
    lane = view_of(lab)["lanes"]["tubemq"]
    own = [each["lag"] for each in lane["picture"]["partitions"].values() if each["owner"] == "c2"]
    assert own and number_at(lane, figures_of(lane, "c2")["lag"]) == sum(own)


def test_a_goal_holds_as_soon_as_what_it_asks_is_so(lab: Lab) -> None:
    lag = view_of(lab)["lanes"]["rabbitmq"]["lag"]
    assert goal("lag", at_least=lag).look(lab, view_of(lab))
    assert not goal("lag", at_least=lag + 1).look(lab, view_of(lab))
    assert not goal("consumers.c9.unacked", at_most=5).look(lab, view_of(lab)), "there is no c9"
    assert goal("consumer_count", lane="", **{"is": 3}).look(lab, view_of(lab))


@pytest.mark.parametrize("kind", ["leave", "crash"])
def test_a_consumer_that_is_gone_has_not_come_to_its_goal(kind: str) -> None:
    """It owns no partition then, and the lag of none is 0."""
    lab = Lab(scenario_from_json({"lanes": [LANES[0]], "consumers": 3, "seed": 3}))
    lab.advance_to(5 * SECOND_US)
    path = figures_of(view_of(lab)["lanes"]["kafka"], "c2")["lag"]
    own = {"lane": "kafka", "number": path, "asks": {"at_least": 0}, "for_us": 0, "consumer": "c2"}
    assert goal_from_json(own).look(lab, view_of(lab))
    order = {"command_id": "t1", "kind": kind, "lane": "all", "consumer": "c2", "args": {}, "position": 1}
    lab.submit({**order, "at_us": lab.now_us})
    lab.advance_to(90 * SECOND_US)
    shown = view_of(lab)
    assert number_at(shown["lanes"]["kafka"], path) == 0
    assert not goal_from_json(own).look(lab, shown)


def looks(goal: Goal, *seen: tuple[int, int]) -> list[bool]:
    """What a goal says of a lane with these (second, lag) one after the other."""

    class At:
        lesson = None

        def __init__(self, second: int) -> None:
            self.now_us = second * SECOND_US

    return [goal.look(At(second), {"lanes": {"rabbitmq": {"lag": lag}}}) for second, lag in seen]  # type: ignore[arg-type]


def test_what_must_last_begins_again_when_it_breaks() -> None:
    seen = looks(goal("lag", for_s=3, at_most=4), (1, 2), (3, 4), (4, 5), (5, 1), (7, 1), (8, 0), (9, 0))
    assert seen == [False, False, False, False, False, True, True]


def test_what_must_not_change_is_counted_from_the_last_change() -> None:
    seen = looks(goal("lag", for_s=3), (1, 2), (3, 2), (3, 3), (5, 3), (6, 3))
    assert seen == [False, False, False, False, True]


def test_whoever_takes_it_over_goes_on_counting() -> None:
    first = goal("lag", for_s=3, at_most=4)
    assert looks(first, (1, 2), (2, 3)) == [False, False]
    check = {"lane": "rabbitmq", "number": "lag", "asks": {"at_most": 4}, "for_us": 3 * SECOND_US}
    second = goal_from_json(check, json.loads(json.dumps(first.counted())))
    assert looks(second, (3, 4), (4, 4)) == [False, True]
    assert looks(goal_from_json(check, {}), (3, 4), (4, 4), (6, 4)) == [False, False, True]


def test_a_goal_may_ask_for_turning_points_and_panels_as_a_lessons_check_does() -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_one_to_one"])))
    checks = lab.scenario.lesson.checks if lab.scenario.lesson else ()
    assert {check.number.split(".")[0] for check in checks} == {"events", "rabbitmq"}
    lab.advance_to(lab.scenario.lesson.lasts_us)  # type: ignore[union-attr]
    for place, check in enumerate(checks):
        if check.at_us == lab.now_us:
            found = goal_from_json(
                {"lane": check.lane, "number": check.number, "asks": check.asks, "for_us": 0}
            ).look(lab, view_of(lab))
            assert found is lab.lesson.results[place]["holds"]  # type: ignore[union-attr]

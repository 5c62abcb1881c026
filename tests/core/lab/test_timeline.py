"""The timeline of a lab: what was ordered, when, and in which lane where it was one."""

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json


def test_a_change_of_one_lane_names_it_and_one_of_all_lanes_does_not() -> None:
    lab = Lab(scenario_from_json({"name": "x"}))
    lab.submit(
        {"command_id": "a", "kind": "join", "lane": "all", "consumer": None, "args": {}, "position": 1}
    )
    lab.submit(
        {
            "command_id": "b",
            "kind": "set_algorithm",
            "lane": "kafka",
            "consumer": None,
            "args": {"algorithm": "sticky"},
            "position": 2,
        }
    )
    lab.advance_to(9_000_000)
    timeline = lab.view()["timeline"]
    assert "lane" not in timeline["1"] and timeline["2"]["lane"] == "kafka"

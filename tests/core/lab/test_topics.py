"""A lane's partitions and queues are called after where the records come from; a scenario that names its
topic keeps it."""

import pytest

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from broker_core.pipeline.sources.topic import source_topic

ORDERS = {"kind": "keys", "name": "orders", "keys": [["a", 3], ["b", 1]]}


@pytest.mark.parametrize(
    ("workload", "topic"),
    [({}, "flights"), ({"kind": "zipf"}, "records"), ({"kind": "hot_key"}, "records"), (ORDERS, "orders")],
)
def test_a_lab_calls_its_topic_after_its_source_as_a_study_does(workload: Json, topic: str) -> None:
    scenario = scenario_from_json({"workload": workload})
    assert {lane.options["topic"] for lane in scenario.lanes if lane.model != "pulsar"} == {topic}
    assert source_topic({"kind": "lab", "scenario": {"workload": workload}}) == topic
    assert source_topic({"kind": "lab", "scenario": scenario_to_json(scenario)}) == topic
    if workload.get("kind") == "zipf":
        assert source_topic({"kind": "zipf"}) == topic
    view = Lab(scenario).view()["lanes"]
    assert all(key.split(":")[1] == topic for key in view["tubemq"]["picture"]["partitions"])
    assert (view["kafka"]["picture"]["topic"], view["rabbitmq"]["picture"]["name"]) == (topic, topic)


def test_a_scenario_that_names_its_topic_keeps_it() -> None:
    named = scenario_from_json(
        {"workload": {"kind": "zipf"}, "lanes": [{"model": "tubemq", "topic": "flights"}]}
    )
    assert (
        named.lanes[0].options["topic"] == "flights" and scenario_from_json(scenario_to_json(named)) == named
    )

"""`rig`, the older name of a lane, where it may still come from outside."""

import pytest

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import check_command, command_from_json
from broker_core.lab.journal import Journal
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.older_names import renamed
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from broker_core.pipeline.members import history_check
from broker_core.pipeline.sources.spec import source_check
from tests.core.lab.journals import random_life

JOIN = {"command_id": "x1", "kind": "join"}


@pytest.mark.parametrize("name", ["lane", "rig"])
def test_a_command_may_have_it_and_a_mistake_stands_at_todays(name: str) -> None:
    assert command_from_json({**JOIN, name: "kafka"}).lane == "kafka"
    assert check_command({**JOIN, name: "kafka"})["lane"] == "kafka" and "rig" not in check_command(JOIN)
    with pytest.raises(CommandError) as refused:
        command_from_json({**JOIN, name: "Kafka!"})
    assert refused.value.field == "lane"


def test_both_names_at_once_are_refused_at_todays() -> None:
    with pytest.raises(CommandError, match="older name") as refused:
        command_from_json({**JOIN, "lane": "kafka", "rig": "kafka"})
    assert refused.value.field == "lane"
    with pytest.raises(CommandError, match="rigs, which is the older name") as refused:
        scenario_from_json({"lanes": [], "rigs": []})
    assert refused.value.field == "lanes"


def test_nothing_else_of_what_came_changes() -> None:
    raw = {"kind": "x", "rig": 1, "args": {"rig": 2}, "rigs": 3}
    assert list(renamed(raw, "lane").items()) == [
        ("kind", "x"),
        ("lane", 1),
        ("args", {"rig": 2}),
        ("rigs", 3),
    ]
    assert renamed(raw, "lanes")["lanes"] == 3 and raw["rig"] == 1


def then(raw: Json) -> Json:
    """The object as it was written then."""
    older = {"lane": "rig", "lanes": "rigs"}
    return {older.get(name, name): value for name, value in raw.items()}


def test_a_scenario_with_a_lesson_may_have_it() -> None:
    today = scenario_to_json(scenario_from_text(read_file(shelf()["kafka_cluster_acks"])))
    steps = today["lesson"]["steps"]
    next(step["order"] for step in steps if step.get("order"))["lane"] = today["lanes"][0]["id"]
    older = [{**step, **({"order": then(step["order"])} if step.get("order") else {})} for step in steps]
    assert any(step["order"]["rig"] != "all" for step in older if step.get("order"))
    kept = scenario_to_json(
        scenario_from_json({**then(today), "lesson": {**today["lesson"], "steps": older}})
    )
    assert kept == today and kept["lanes"]


def test_a_mistake_in_its_lanes_stands_at_todays() -> None:
    with pytest.raises(CommandError) as refused:
        scenario_from_json({"rigs": [{"model": "kafka", "partitions": 0}]})
    assert refused.value.field == "lanes.0.partitions"


def test_a_journal_of_then_is_the_same_life() -> None:
    scenario, journal, ended = random_life(3)
    older = [then(each) for each in journal]
    assert any(each["rig"] != "all" for each in older)
    assert Journal(scenario, older).seek(ended.now_us).checkpoint() == ended.checkpoint()


def test_a_study_of_a_lab_of_then_reads_both() -> None:
    command = {"kind": "leave", "consumer": "c1", "at_us": 1}
    history = {"kind": "lab", "commands": [{**command, "rig": "all"}, {**command, "rig": "kafka"}]}
    assert [each["lane"] for each in history_check(history)["commands"]] == ["all"]
    source = source_check({"kind": "lab", "scenario": {"rigs": [{"model": "kafka"}]}, "records": 10})
    assert source["scenario"] == {"lanes": [{"model": "kafka"}]}

"""A run as one file: opened again it is the same lab, and what is wrong with it is said at the file."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import scenario_to_json
from broker_core.serve.journal import Began, Journal
from dashboard.labs import runs
from dashboard.labs.clients_run import lab_run
from dashboard.models import Lab
from tests.core.lab.rabbitmq.test_open_lane import gone_through
from tests.core.serve.test_run import lived
from tests.core.serve.wire_clients import Turns
from tests.dashboard.labs.test_past import shown
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
Run = dict[str, Any]


@pytest.fixture
def lab(world: World) -> Lab:
    """Four seconds with two joins, a crash and another speed, still playing."""
    lab = world.open(workload={"kind": "zipf", "keys": 40, "rate": 30})
    world.run(1)
    world.order(lab, "join")
    world.run(1)
    world.order(lab, "crash", consumer="c2")
    world.order(lab, "speed", args={"speed": 2})
    world.run(1)
    world.order(lab, "join", args={"count": 2})
    world.run(0.5)
    lab.refresh_from_db()
    return lab


def taken(lab: Lab, **query: int) -> Run:
    answer = Client().get(f"/api/labs/{lab.pk}/run.json", query)
    assert answer.status_code == 200 and answer["Content-Disposition"] == "attachment", answer.text
    run: Run = answer.json()
    return run


def opened(run: Any, language: str = "en") -> Any:
    text = run if isinstance(run, str | bytes) else json.dumps(run)
    headers = {"accept-language": language}
    return Client().post("/api/labs/open/", text, content_type="application/json", headers=headers)


def driven(world: World, answer: Any) -> Lab:
    assert answer.status_code == 201, answer.text
    lab = Lab.objects.get(pk=answer.json()["id"])
    world.transport.watching.add(lab.pk)
    world.run(0.5)
    lab.refresh_from_db()
    return lab


def test_an_opened_run_is_in_the_same_state_at_each_of_its_moments_and_paused_at_its_end(
    world: World, lab: Lab
) -> None:
    run = taken(lab)
    copy = driven(world, opened(run))
    last = run["commands"][-1]["position"]
    for at_us in (0, 900_000, 2_300_000, run["at_us"]):
        here = shown(lab, at_us=at_us, until_position=last)
        there = shown(copy, at_us=at_us, until_position=last)
        assert there["state_hash"] == here["state_hash"] and there["position"] == here["position"]
    end = shown(copy, at_us=copy.clock_floor_us)
    assert end["at_us"] == run["at_us"] and end["view"]["playing"] is False
    assert [row.state for row in copy.commands.all()] == ["applied"] * (last + 1)


def test_a_run_up_to_a_moment_ends_there_and_can_be_taken_from_the_opened_lab_again(
    world: World, lab: Lab
) -> None:
    at_us = 2_300_000
    run = taken(lab, until_us=at_us)
    copy = driven(world, opened(run))
    assert copy.clock_floor_us == at_us
    again = driven(world, opened(taken(copy)))
    hashes = {shown(each, at_us=at_us - 1)["state_hash"] for each in (lab, copy, again)}
    assert len(hashes) == 1


def test_a_lesson_brings_its_script(world: World) -> None:
    lesson = scenario_from_text(read_file(shelf()["kafka_eager_join"]))
    lab = world.open(scenario=scenario_to_json(lesson))
    world.run(1)
    lab.refresh_from_db()
    run = taken(lab)
    assert run["script"] == lab.script != []
    copy = driven(world, opened(run))
    assert copy.script == lab.script
    last = run["commands"][-1]["position"]
    for at_us in (run["at_us"] // 2, run["at_us"]):
        here, there = (shown(each, at_us=at_us, until_position=last) for each in (lab, copy))
        assert there["state_hash"] == here["state_hash"] and there["position"] == last


BROKEN: dict[str, tuple[Callable[[Run], Any], int, str]] = {
    "no JSON": (lambda run: "{", 400, "must be JSON"),
    "another file": (lambda run: {"lanes": []}, 400, "is not a run of Highwater"),
    "a list": (lambda run: [run], 400, "must be a JSON object"),
    "other rules": (lambda run: {**run, "rules": RULES_VERSION + 1}, 409, "could come to something else"),
    "too large": (lambda run: json.dumps(run) + " " * runs.BYTES_MAX, 413, "too large"),
    "too long": (lambda run: {**run, "at_us": runs.LASTS_US_MAX + 1}, 400, "at_us in the file: must be 24:00:00.0"),
    "a part too many": (lambda run: {**run, "more": 1}, 400, "more in the file: is unknown"),
    "no scenario": (lambda run: {**run, "scenario": 1}, 400, "scenario in the file"),
    "a wrong scenario": (
        lambda run: {**run, "scenario": {**run["scenario"], "seed": "x"}}, 400, "scenario.seed in the file",
    ),
    "an unknown command": (
        lambda run: {**run, "commands": [{**run["commands"][0], "kind": "fly"}]}, 400, "commands[0].kind in the file",
    ),
    "backwards": (lambda run: {**run, "commands": run["commands"][::-1]}, 400, "comes before the one ahead"),
    "twice": (
        lambda run: {**run, "commands": [*run["commands"], {**run["commands"][-1], "position": 99}]},
        400,
        "was used for another command",
    ),
    "after the end": (lambda run: {**run, "at_us": 1_000}, 400, "at_us in the file: must be"),
    "too many": (
        lambda run: {**run, "commands": run["commands"] * 1_000}, 400, "has more than 2\u202f000 entries",
    ),
    "a wrong name": (lambda run: {**run, "name": "x" * 65}, 400, "name in the file"),
    "a wrong script": (lambda run: {**run, "script": [{"at_us": 1}]}, 400, "script in the file"),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_wrong_with_a_file_is_said_at_the_file_and_nothing_is_made(lab: Lab, broken: str) -> None:
    change, status, reason = BROKEN[broken]
    labs = Lab.objects.count()
    answer = opened(change(taken(lab)))
    assert answer.status_code == status, answer.text
    assert answer.json()["fields"].keys() == {"file"} and reason in answer.json()["fields"]["file"][0]
    assert Lab.objects.count() == labs
    chinese = opened(change(taken(lab)), "zh-hans").json()["fields"]["file"][0]
    assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)


@pytest.mark.parametrize("query", [{"until_us": 10**12}, {"until_us": "x"}, {"at_us": 1}])
def test_a_moment_that_the_lab_has_not_had_is_refused_at_its_field(lab: Lab, query: dict[str, Any]) -> None:
    answer = Client().get(f"/api/labs/{lab.pk}/run.json", query)
    assert answer.status_code == 400 and answer.json()["fields"].keys() == query.keys()


# -- runs of real clients ------------------------------------------------------------------------------------


def sent(data: bytes, name: str = "my test", language: str = "en") -> Any:
    return Client().post(
        f"/api/labs/open/?name={name}",
        data,
        content_type="application/octet-stream",
        headers={"accept-language": language},
    )


def clients_file() -> bytes:
    lived(turns := Turns())
    return turns.journal.data()


def test_a_run_of_real_clients_is_a_lab_that_can_be_looked_at_at_each_act_and_copied_there(
    world: World,
) -> None:
    data = clients_file()
    run = lab_run(data)
    lab = driven(world, sent(data))
    assert lab.name == "my test" and lab.clock_floor_us == run["at_us"]
    assert {row.state for row in lab.commands.all()} == {"applied"}
    for command in run["commands"][::7]:
        alone = gone_through(run, command["position"])
        there = shown(lab, at_us=command["at_us"], until_position=command["position"])
        assert there["position"] == command["position"]
        for part in ("picture", "sentence", "consumers"):
            assert there["view"]["lanes"]["rabbitmq"][part] == alone.view()["lanes"]["rabbitmq"][part]
    middle = run["commands"][20]
    copied = Client().post(
        f"/api/labs/{lab.pk}/fork/",
        json.dumps({"until_us": middle["at_us"], "until_position": middle["position"]}),
        content_type="application/json",
    )
    copy = driven(world, copied)
    assert copy.commands.filter(state="applied").count() == middle["position"] + 1
    world.order(copy, "rabbitmq_publish", args={"routing_key": "kept", "body": "from the lab"})
    world.run(0.5)
    assert copy.commands.order_by("position").last().state == "applied"
    again = driven(world, opened(taken(lab)))
    assert again.commands.filter(state="applied").count() == len(run["commands"]) + 2


def test_a_run_of_real_clients_under_other_rules_is_refused_with_both_versions_named() -> None:
    data = Journal(Began(7, 0, RULES_VERSION + 1)).data()
    answer = sent(data)
    text = answer.json()["fields"]["file"][0]
    assert answer.status_code == 409 and str(RULES_VERSION + 1) in text and str(RULES_VERSION) in text
    assert Lab.objects.count() == 0


@pytest.mark.parametrize("data", [b"no run", bytes(range(256)) * 40])
def test_bytes_that_are_no_run_are_refused_at_the_file(data: bytes) -> None:
    for language, word in (("en", "highwater serve --journal"), ("zh-hans", "运行文件")):
        answer = sent(data, language=language)
        assert answer.status_code == 400 and word in answer.json()["fields"]["file"][0]


def test_a_run_of_real_clients_is_cut_short_where_its_file_is_and_refused_where_it_is_too_large(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = clients_file()
    half = driven(world, sent(data[: len(data) // 2]))
    assert 5 < half.commands.count() < len(lab_run(data)["commands"])
    monkeypatch.setattr(runs, "CLIENTS_COMMANDS_MAX", 9)
    assert "more than 9 entries" in sent(data).json()["fields"]["file"][0]
    monkeypatch.setattr(runs, "CLIENTS_BYTES_MAX", 900)
    assert sent(data).status_code == 413

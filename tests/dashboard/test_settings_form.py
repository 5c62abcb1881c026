"""A lab's settings as a form: every setting is there once with its words, the texts make the lab, and what changes a
lab that runs is a command that the lab accepts."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from broker_core.lab.settings import LANE_SETTINGS
from dashboard.models import Lab, StoredCommand
from dashboard.sentences import SENTENCES
from dashboard.settings_form.changes import settings_now
from dashboard.settings_form.fields import form_of
from dashboard.settings_form.texts import texts_of
from tests.dashboard.world import World

VALUES = Path(__file__).resolve().parents[1] / "js" / "settings_values.mjs"
pytestmark = pytest.mark.django_db(transaction=True)

WISHED: dict[str, Any] = {
    "name": "Two protocols 两",
    "seed": 11,
    "workload": {"kind": "zipf", "keys": 50, "exponent": 1.5, "rate": 12},
    "consumers": 2,
    "lanes": [
        {"model": "kafka", "id": "classic", "algorithm": "sticky", "partitions": 4, "acks": 1},
        {"model": "kafka", "id": "kip-848", "algorithm": "range", "group_protocol": "consumer"},
        {"model": "pulsar", "algorithm": "shared", "priorities": {"c1": 2}, "retry_topic": True},
        {"model": "rabbitmq", "algorithm": "prefetch_5", "prefetch": 3},
        {"model": "tubemq", "algorithm": "modulo", "brokers": 2, "partitions": 4},
    ],
}


def post(client: Client, path: str, body: Any) -> Any:
    answer = client.post(path, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def scenario(body: dict[str, Any]) -> dict[str, Any]:
    return scenario_to_json(scenario_from_json(body))


def test_every_setting_of_every_lane_is_in_the_form_once_with_its_words() -> None:
    for lane in form_of(scenario({}))["blank"]:
        fields = [field for group in lane["groups"] for field in group["fields"]]
        names = [field["name"] for field in fields]
        assert sorted(names) == sorted(each.name for each in LANE_SETTINGS[lane["model"]])
        for field in fields:
            assert {field["about"], *filter(None, (field["unit"], field["label"]))} <= set(SENTENCES), field
        assert {group["code"] for group in lane["groups"]} <= set(SENTENCES)


def test_the_form_shows_what_a_lab_has_and_else_the_default() -> None:
    form = form_of(scenario(WISHED))
    kafka = {field["name"]: field for group in form["lanes"][0]["groups"] for field in group["fields"]}
    assert (kafka["acks"]["text"], kafka["acks"]["default"]) == ("1", "-1")
    assert (kafka["session_timeout_ms"]["text"], kafka["group_max_size"]["text"]) == ("45000", "")
    pulsar = {field["name"]: field for group in form["lanes"][2]["groups"] for field in group["fields"]}
    assert pulsar["retry_topic"]["is_on"] and json.loads(pulsar["priorities"]["text"]) == {"c1": 2}
    assert form["kind"] == "zipf" and form["rate"]["text"] == "12"


@pytest.mark.parametrize("path", ["/labs/new/", "/labs/new/?from=nobody"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_of_a_new_lab_is_drawn(client: Client, path: str, language: str) -> None:
    page = client.get(path, headers={"accept-language": language}).content.decode()
    assert page.count('data-setting="acks"') == 2  # of the first Kafka lane, and of one to come
    assert "style=" not in page


def test_a_check_makes_nothing_and_answers_as_the_making_would(client: Client) -> None:
    status, answer = post(client, "/api/labs/check/", WISHED)
    assert (status, answer["scenario"]) == (200, scenario(WISHED)) and answer["parts"] > 0
    assert not Lab.objects.exists()
    for wrong, field in (
        ({"consumers": 600}, "consumers"),
        ({"workload": {"kind": "zipf", "exponent": "steep"}}, "workload.exponent"),
        ({"lanes": [{"model": "kafka", "acks": 7}]}, "lanes.0.acks"),
        ({"lanes": [{"model": "pulsar"}, {"model": "pulsar"}]}, "lanes.1.id"),
        ({"lanes": [{"model": "kafka", "groups": "{bad"}]}, "lanes.0.groups"),
    ):
        assert post(client, "/api/labs/check/", wrong) == post(client, "/api/labs/", wrong)
        status, answer = post(client, "/api/labs/check/", wrong)
        assert status == 400 and list(answer["fields"]) == [field]


def test_toml_makes_the_lab(client: Client) -> None:
    text = texts_of(WISHED, "http://testserver")["toml"]
    answer = client.post("/api/labs/", text.encode(), content_type="application/toml")
    assert answer.status_code == 201
    assert Lab.objects.get(pk=answer.json()["id"]).scenario == scenario(WISHED)
    for wrong in (b"lanes = [", b"\xff", b"seed = 1979-05-27", b"x." * 40 + b"y = 1", b"a = 1\n" * 9_000):
        answer = client.post("/api/labs/", wrong, content_type="application/toml")
        assert answer.status_code in (400, 413) and answer.json()["fields"]


def test_curl_and_python_make_the_lab(live_server: Any, tmp_path: Path) -> None:
    texts = texts_of(WISHED, live_server.url)
    made = subprocess.run(["sh", "-c", texts["curl"]], capture_output=True, text=True, check=True, timeout=60)
    program = tmp_path / "make_lab.py"
    program.write_text(texts["python"], encoding="utf-8")
    printed = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=60
    )
    toml = tmp_path / "lab.toml"
    toml.write_text(texts["toml"], encoding="utf-8")
    command = texts["toml"].splitlines()[0].removeprefix("# lab.toml: ")
    sent = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60
    )
    ids = [
        json.loads(made.stdout)["id"],
        printed.stdout.split()[0].split("/")[-2],
        json.loads(sent.stdout)["id"],
    ]
    assert [Lab.objects.get(pk=each).scenario for each in ids] == [scenario(WISHED)] * 3


def test_what_can_change_a_lab_that_runs_is_commands_that_it_accepts(world: World, client: Client) -> None:
    opened = world.open(**WISHED)
    world.run(4)
    lab = opened.pk
    lanes = [dict(lane) for lane in WISHED["lanes"]]
    lanes[0] |= {"algorithm": "range", "partitions": 6, "acks": 0}
    lanes[1] |= {"session_timeout_ms": 9_000}
    lanes[3] |= {"prefetch": 1}
    lanes[4] |= {"partitions": 6}
    wanted = {
        **WISHED,
        "seed": 12,
        "workload": {**WISHED["workload"], "rate": 50},
        "consumers": 3,
        "consumer_rate": 20,
        "lanes": lanes,
    }
    status, answer = post(client, f"/api/labs/{lab}/settings/", wanted)
    assert status == 200 and answer["rest"] == ["seed", "lanes.1.session_timeout_ms"]
    kinds = [order["kind"] for order in answer["orders"]]
    assert [order["consumer"] for order in answer["orders"] if order["kind"] == "slow"] == ["c1", "c2", "c3"]
    assert kinds == [
        "record_rate", "join", *["slow"] * 3, "set_algorithm", "cluster_add_partitions", "cluster_set_acks", *["rabbitmq_consume"] * 3,
        *["tubemq_expand"] * 2,
    ]  # fmt: skip
    for order in answer["orders"]:
        world.order(opened, **order)
        world.run(1)
    world.run(3)
    assert not StoredCommand.objects.filter(lab=lab).exclude(state=StoredCommand.State.APPLIED).exists()
    assert post(client, f"/api/labs/{lab}/settings/", {**wanted, "seed": 11})[1] == {
        "orders": [],
        "rest": ["lanes.1.session_timeout_ms"],
    }


def test_settings_without_a_change_are_no_command(world: World, client: Client) -> None:
    lab = world.open(**WISHED)
    world.run(4)
    assert post(client, f"/api/labs/{lab.pk}/settings/", WISHED)[1] == {"orders": [], "rest": []}
    assert settings_now(lab.scenario, None, None)["lanes"] == lab.scenario["lanes"]
    page = client.get(f"/lab/{lab.pk}/settings/")
    assert page.status_code == 200 and 'id="apply"' in page.content.decode()
    assert client.get("/lab/nobody/settings/").status_code == 404


def control_of(field: dict[str, Any]) -> dict[str, Any]:
    """An untouched control, as read.js has it."""
    shown = str(field["is_on"]).lower() if field["kind"] == "switch" else field["text"]
    return {
        "kind": field["kind"],
        "text": field["text"],
        "isOn": field["is_on"],
        "isDefault": shown == field["default"],
    }


def sent(fields: list[dict[str, Any]], values: Iterator[Any]) -> dict[str, Any]:
    return {field["name"]: value for field in fields if (value := next(values)) is not None}


def test_an_untouched_form_of_any_lesson_makes_a_lab_with_the_same_settings() -> None:
    asked = {name: scenario_to_json(scenario_from_text(read_file(path))) for name, path in shelf().items()}
    parts = {name: parts_of(form_of(each)) for name, each in asked.items()}
    controls = [control_of(field) for each in parts.values() for part in each for field in part]
    read = subprocess.run(
        ["node", str(VALUES)], input=json.dumps(controls), capture_output=True, text=True, check=True
    )
    values = iter(json.loads(read.stdout))
    for name, was in asked.items():
        of_lab, of_workload, *of_lanes = (sent(part, values) for part in parts[name])
        lanes = [
            {"model": lane["model"], "id": lane["id"], "algorithm": lane["algorithm"], **rest}
            for lane, rest in zip(form_of(was)["lanes"], of_lanes, strict=True)
        ]
        workload = {"kind": was["workload"]["kind"], **of_workload}
        made = scenario({"name": was["name"], **of_lab, "workload": workload, "lanes": lanes})
        assert without_defaults(made) == without_defaults(was), name


def parts_of(form: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The fields of the lab, of its workload, and of each lane."""
    workload = [field for field in form["workload"] if field["kind_of"] == form["kind"]]
    lanes = [[field for group in lane["groups"] for field in group["fields"]] for lane in form["lanes"]]
    return [[form["consumers"], form["consumer_rate"], form["seed"]], [*workload, form["rate"]], *lanes]


def without_defaults(made: dict[str, Any]) -> dict[str, Any]:
    """A default that is written out changes nothing (tests/core/lab/test_settings.py)."""
    defaults = {model: {each.name: each.default for each in LANE_SETTINGS[model]} for model in LANE_SETTINGS}
    lanes = [
        {name: value for name, value in lane.items() if value != defaults[lane["model"]].get(name)}
        for lane in made["lanes"]
    ]
    return {name: value for name, value in made.items() if name != "lesson"} | {"lanes": lanes}

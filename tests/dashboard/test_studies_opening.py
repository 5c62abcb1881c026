"""A study opened as a lab: the same keys, strategies and changes, as the visitor's own lab on the Stage."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.pipeline import advice
from broker_core.pipeline import result as results
from dashboard.models import Lab, Study
from dashboard.studies import opening
from dashboard.studies.job import study_folder
from tests.dashboard.studies import waiting
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db

STRATEGIES = [
    "pulsar.consistent_hash:points=10",
    "pulsar.consistent_hash:points=100",
    "kafka.range:partitions=24",
    "rabbitmq.queue:prefetch=7",
    "tubemq.modulo:partitions=12,brokers=3",
]
SAMPLE = {
    "kind": "keys",
    "name": "orders",
    "keys": [["hot", 90], [{"hex": "ff00"}, 5], ["cold", 5]],
    "keyless": 0,
    "rate": 40,
}


def step(
    number: int, kind: str, consumer: str | None, members: list[str], at: int | None = None
) -> dict[str, Any]:
    return {"step": number, "kind": kind, "consumer": consumer, "label": "", "members": members, "at": at}


STEPS = [
    step(0, "start", None, ["c1", "c2"]),
    step(1, "join", "c3", ["c1", "c2", "c3"]),
    step(2, "leave", "c1", ["c2", "c3"]),
]


@pytest.fixture
def study(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A finished study. Its tables are not read here, so the result is what the page would be told."""
    settings.RUN_DIR = tmp_path
    done = waiting(state=Study.State.DONE, request={"service": {"rate": 40, "consumer_rate": 15}, "seed": 11})
    folder = study_folder(done.pk)
    folder.mkdir(parents=True)
    (folder / "sample.json").write_text(json.dumps(SAMPLE))
    told = {
        "steps": STEPS,
        "strategies": [{"id": strategy, "model": strategy.partition(".")[0]} for strategy in STRATEGIES],
    }
    monkeypatch.setattr(results, "result_json", lambda _folder: dict(told))
    ranked = [{"id": strategy} for strategy in reversed(STRATEGIES)]
    monkeypatch.setattr(advice, "advise", lambda _result, _weights, _constraints: {"ranking": ranked})
    return done


def opened(study: Study, **request: Any) -> tuple[Lab, list[str]]:
    found = opening.study_open(study=study, request=request, visitor="v" * 40)
    return found.lab, found.left_out


def test_best_of_each_model_becomes_a_lane_with_its_numbers(study: Study) -> None:
    lab, left_out = opened(study)
    assert [
        (lane["id"], lane.get("points"), lane.get("partitions"), lane.get("prefetch"))
        for lane in lab.scenario["lanes"]
    ] == [
        ("pulsar", 100, None, None),
        ("kafka", None, 24, None),
        ("tubemq", None, 12, None),
        ("rabbitmq", None, None, 7),
    ]
    assert left_out == ["A lab has 4 of the study's 5 strategies."]


@pytest.mark.parametrize(("kept", "topic"), [({"topic": "orders"}, "orders"), ({}, "flights")])
def test_topics_and_queues_are_named_after_the_studys_source(
    study: Study, kept: dict[str, str], topic: str
) -> None:
    study.request = {**study.request, **kept}
    study.save()
    lab, _left_out = opened(study)
    assert {lane["topic"] for lane in lab.scenario["lanes"] if lane["model"] != "pulsar"} == {topic}


def test_chosen_strategies_may_be_two_of_a_model(study: Study) -> None:
    lab, _left_out = opened(study, strategies=STRATEGIES[:2])
    assert [(lane["id"], lane["points"]) for lane in lab.scenario["lanes"]] == [
        ("pulsar", 10),
        ("pulsar-2", 100),
    ]


def test_workload_seed_and_rates_are_the_studys(study: Study) -> None:
    lab, _left_out = opened(study)
    assert {**lab.scenario["workload"], **SAMPLE} == lab.scenario["workload"]
    assert (lab.scenario["seed"], lab.scenario["consumer_rate"], lab.scenario["consumers"]) == (11, 15, 2)


def test_membership_history_plays_on_the_stage(study: Study, world: World) -> None:
    lab, _left_out = opened(study)
    world.transport.watching.add(lab.pk)
    world.run(20)
    journal = journal_of(lab)
    assert [(kind, consumer) for kind, consumer, _at_us in journal] == [
        ("play", None),
        ("join", "c3"),
        ("leave", "c1"),
    ]
    assert [at_us // 1_000_000 for *_rest, at_us in journal] == [0, 8, 16]


def test_history_of_other_names_has_them_join_first(
    study: Study, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    steps = [step(0, "start", None, ["ann", "bob"]), step(1, "crash", "ann", ["bob"], at=70)]
    told = {"steps": steps, "strategies": [{"id": STRATEGIES[0], "model": "pulsar"}]}
    monkeypatch.setattr(results, "result_json", lambda _folder: dict(told))
    monkeypatch.setattr(
        advice, "advise", lambda _result, _weights, _constraints: {"ranking": [{"id": STRATEGIES[0]}]}
    )
    lab, left_out = opened(study)
    assert lab.scenario["consumers"] == 0
    assert left_out == []
    world.transport.watching.add(lab.pk)
    world.run(10)
    [_play, *joins, (_kind, crashed, at_us)] = journal_of(lab)
    assert [consumer for _kind, consumer, _at_us in joins] == ["ann", "bob"]
    assert crashed == "ann" and 1_750_000 <= at_us < 1_900_000, (
        "record 70 at 40 a second, with the lab's next slice"
    )


def test_changes_at_records_that_the_lab_reaches_too_late_come_at_even_times(
    study: Study, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    steps = [STEPS[0], *({**change, "at": at} for change, at in zip(STEPS[1:], (10, 40 * 601), strict=True))]
    told = {"steps": steps, "strategies": [{"id": STRATEGIES[0], "model": "pulsar"}]}
    monkeypatch.setattr(results, "result_json", lambda _folder: dict(told))
    monkeypatch.setattr(
        advice, "advise", lambda _result, _weights, _constraints: {"ranking": [{"id": STRATEGIES[0]}]}
    )
    lab, left_out = opened(study)
    assert left_out == ["Membership changes come at even intervals, not at their records."]
    world.transport.watching.add(lab.pk)
    world.run(20)
    assert [at_us // 1_000_000 for *_rest, at_us in journal_of(lab)] == [0, 8, 16]


def journal_of(lab: Lab) -> list[tuple[str, str | None, int]]:
    from dashboard.labs.selectors import journal

    return [
        (command["kind"], command["consumer"], command["at_us"]) for command in journal(lab=lab)["commands"]
    ]


def test_rate_beyond_what_a_lab_plays_is_cut_and_told(study: Study, settings: Any) -> None:
    settings.RECORDS_PER_S_MAX = 30
    lab, left_out = opened(study)
    assert lab.scenario["workload"]["rate"] == 30
    assert "The lab plays 30 records a second; the study has 40." in left_out


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"strategies": ["kafka.range:partitions=99"]}, 400, "strategies.0"),
        ({"strategies": "all"}, 400, "strategies"),
        ({"strategy": "nothing"}, 400, "strategies.0"),
        ({"more": 1}, 400, "more"),
    ],
)
def test_wrong_choice_is_refused_at_its_field(study: Study, body: Any, status: int, field: str) -> None:
    answer = Client().post(
        f"/api/studies/{study.pk}/open/", json.dumps(body), content_type="application/json"
    )
    assert answer.status_code == status and list(answer.json()["fields"]) == [field]
    assert not Lab.objects.exists()


def test_study_without_a_sample_cannot_be_opened(study: Study) -> None:
    (study_folder(study.pk) / "sample.json").unlink()
    answer = Client().post(f"/api/studies/{study.pk}/open/", "{}", content_type="application/json")
    assert answer.status_code == 409 and list(answer.json()["fields"]) == ["study"]


def test_lab_belongs_to_whoever_opened_it(study: Study, settings: Any) -> None:
    browser = Client()
    browser.cookies[settings.VISITOR_COOKIE] = "v" * 40
    answer = browser.post(f"/api/studies/{study.pk}/open/", "{}", content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert browser.get(f"/api/labs/{answer.json()['id']}/").json()["owned"] is True

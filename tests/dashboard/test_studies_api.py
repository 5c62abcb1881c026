"""Studies by the API: whose they are, what is refused at which field, their place in the queue."""

import ast
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from broker_core.errors import CommandError
from dashboard.errors import Refused, in_words
from dashboard.formats import NARROW
from dashboard.labs import services as lab_services
from dashboard.models import Study, StudyWindow
from dashboard.studies import reasons, selectors, services, writes
from dashboard.studies.job import study_folder
from dashboard.studies.sources import source_for_pipeline
from tests.dashboard.studies import OWNER, REQUEST, TOKEN, call, start, waiting

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def run_dir(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path
    return tmp_path


# -- starting ------------------------------------------------------------------------------------------------


def test_study_is_queued_for_whoever_asked() -> None:
    answer = start(name="mine")
    assert answer.status_code == 201, answer.content
    study = answer.json()
    assert (study["name"], study["state"], study["mine"], study["progress"]["place"]) == (
        "mine",
        "queued",
        True,
        1,
    )
    assert set(study["request"]["weights"]) == set(selectors.TERMS), "what was left out is filled in"
    assert call("GET", f"/api/studies/{study['id']}/", token=None).json()["mine"] is False
    assert [entry["id"] for entry in call("GET", "/api/studies/").json()["studies"]] == [study["id"]]
    assert call("GET", "/api/studies/", token=None).json() == {"studies": []}


def test_program_without_a_token_is_given_one_that_commands_its_study() -> None:
    study = call("POST", "/api/studies/", REQUEST, token=None).json()
    cancel = f"/api/studies/{study['id']}/cancel/"
    assert call("POST", cancel, {}).status_code == 403
    assert call("POST", cancel, {}, token=study["owner_token"]).json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"source": None}, "source"),
        ({"source": "flights"}, "source"),
        ({"source": {"kind": "poison"}}, "source.kind"),
        ({"source": {}}, "source.kind"),
        ({"source": {"kind": "csv", "path": "/etc/passwd", "key": "x"}}, "source.path"),
        ({"source": {"kind": "csv", "key": "x"}}, "source.upload"),
        ({"source": {"kind": "csv", "upload": ["a"], "key": "x"}}, "source.upload"),
        ({"source": {"kind": "uniform", "keys": -1}}, "source.keys"),
        ({"source": {"kind": "lab", "scenario": {}}}, "source.scenario"),
        ({"source": {"kind": "lab", "more": 1}}, "source.more"),
        ({"strategies": []}, "strategies"),
        ({"strategies": ["nats.random"]}, "strategies.0"),
        ({"history": {"kind": "given", "start": 0}}, "history.start"),
        ({"history": {"kind": "chaos"}}, "history.kind"),
        ({"service": {"rate": "fast"}}, "service.rate"),
        ({"weights": {"skew": -1}}, "weights.skew"),
        ({"live": 1}, "live"),
        ({"name": "n" * 65}, "name"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_request_is_refused_at_its_field_in_both_languages(changes: Any, field: str) -> None:
    english = start(**changes)
    assert english.status_code == 400, english.content
    assert list(english.json()["fields"]) == [field]
    chinese = call("POST", "/api/studies/", {**REQUEST, **changes}, **{"Accept-Language": "zh-hans"}).json()[
        "fields"
    ][field][0]
    assert chinese != english.json()["fields"][field][0] and any(
        "\u4e00" <= letter <= "\u9fff" for letter in chinese
    )
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "choose a file: none has been uploaded yet"), ("zh-hans", "请选择一个文件：还没有上传任何文件")],
)
def test_form_without_a_file_is_told_to_choose_one(language: str, said: str) -> None:
    with translation.override(language), pytest.raises(Refused) as refused:
        source_for_pipeline({"kind": "csv", "upload": "", "key": "x"}, None)
    assert (refused.value.status, refused.value.fields) == (400, {"source.upload": [said]})


def test_limit_in_a_refusal_is_grouped_like_every_number() -> None:
    refusal = CommandError(
        "source.records", "must be a whole number from {low} to {high}", low=1, high=10**11
    )
    with translation.override("en"):
        assert in_words(refusal).replace(NARROW, "_") == "must be a whole number from 1 to 100_000_000_000"


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ({"kind": "csv", "upload": "nobody", "key": "x"}, "source.upload"),
        ({"kind": "lab", "lab": "nobody"}, "source.lab"),
        ({"kind": "folder", "name": "nowhere/x.csv", "key": "x"}, "source.name"),
    ],
)
def test_data_that_is_not_there_is_a_404_at_its_field(source: Any, field: str) -> None:
    answer = start(source=source)
    assert answer.status_code == 404 and list(answer.json()["fields"]) == [field]


def test_labs_history_and_records_come_from_the_lab() -> None:
    lab = lab_services.lab_open(
        request={"workload": {"kind": "uniform", "keys": 50, "rate": 20}, "consumers": 5}
    ).lab
    study = start(
        source={"kind": "lab", "lab": lab.pk, "records": 500}, history={"kind": "lab", "lab": lab.pk}
    ).json()
    assert study["request"]["source"] == {"kind": "lab", "lab": lab.pk, "records": 500}
    assert (study["request"]["history"]["start"], study["request"]["history"]["rate"]) == (5, 20)


def test_too_many_waiting_studies_are_refused(settings: Any) -> None:
    settings.STUDIES_WAITING_OWNER_MAX = 2
    assert [start().status_code for _ in range(3)] == [201, 201, 429]


def test_oldest_finished_study_makes_room(settings: Any) -> None:
    settings.STUDIES_OWNER_MAX = 2
    old, _other = (
        waiting(OWNER, state=Study.State.DONE, created_at=timezone.now() - timedelta(days=days))
        for days in (2, 1)
    )
    study_folder(old.pk).mkdir(parents=True)
    assert start().status_code == 201
    assert not Study.objects.filter(pk=old.pk).exists() and not study_folder(old.pk).exists()


# -- the queue -----------------------------------------------------------------------------------------------


def test_places_are_those_of_the_turns_to_come() -> None:
    waiting("bob", state=Study.State.DONE, started_at=timezone.now())
    bob, ann_1, ann_2 = waiting("bob"), waiting("ann"), waiting("ann")
    places = {study.pk: selectors.study_progress(study)["place"] for study in (bob, ann_1, ann_2)}
    assert places == {ann_1.pk: 1, bob.pk: 2, ann_2.pk: 3}
    assert [writes.study_order()] == [[ann_1.pk, bob.pk, ann_2.pk]]


def test_waiting_study_is_taken_back_at_once_and_an_ended_one_stays_as_it_is() -> None:
    study, done = waiting(OWNER), waiting(OWNER, state=Study.State.DONE)
    assert call("POST", f"/api/studies/{study.pk}/cancel/", {}).json()["state"] == "cancelled"
    assert call("POST", f"/api/studies/{study.pk}/cancel/", {}).json()["state"] == "cancelled"
    assert call("POST", f"/api/studies/{done.pk}/cancel/", {}).json()["state"] == "done"
    assert writes.study_take("worker") is None


def test_running_study_is_only_asked_to_stop() -> None:
    study = waiting(OWNER, state=Study.State.RUNNING)
    assert call("POST", f"/api/studies/{study.pk}/cancel/", {}).json()["state"] == "running"
    assert Study.objects.get(pk=study.pk).cancel_requested


def test_somebody_elses_study_can_be_read_but_neither_cancelled_nor_deleted() -> None:
    study = waiting("bob", state=Study.State.DONE)
    assert call("GET", f"/api/studies/{study.pk}/").status_code == 200
    for token in (TOKEN, None):
        assert call("POST", f"/api/studies/{study.pk}/cancel/", {}, token=token).status_code == 403
        assert call("DELETE", f"/api/studies/{study.pk}/", token=token).status_code == 403
    assert Study.objects.filter(pk=study.pk).exists()


def test_deleted_study_is_gone_with_its_folder_and_its_windows() -> None:
    for state in (Study.State.QUEUED, Study.State.DONE, Study.State.FAILED, Study.State.CANCELLED):
        study = waiting(OWNER, state=state, live=True)
        StudyWindow.objects.create(study=study, start_us=0, lane="", version=1, row={})
        study_folder(study.pk).mkdir(parents=True)
        assert call("DELETE", f"/api/studies/{study.pk}/").status_code == 204
        assert not study_folder(study.pk).exists()
    assert not Study.objects.exists() and not StudyWindow.objects.exists()
    assert call("DELETE", f"/api/studies/{study.pk}/").status_code == 404


def test_running_study_is_not_deleted_under_its_worker() -> None:
    study = waiting(OWNER, state=Study.State.RUNNING)
    study_folder(study.pk).mkdir(parents=True)
    answer = call("DELETE", f"/api/studies/{study.pk}/")
    assert answer.status_code == 409 and "cancel" in answer.json()["fields"]["study"][0]
    assert study_folder(study.pk).exists() and not Study.objects.get(pk=study.pk).cancel_requested


@pytest.mark.parametrize(
    "path", ["", "cancel/", "result/", "ranking/", "windows/", "data/steps.csv", "open/"]
)
def test_unknown_study_is_a_404_in_the_same_form(path: str) -> None:
    method = "POST" if path in ("cancel/", "open/") else "GET"
    answer = call(method, f"/api/studies/nobody/{path}", {})
    assert answer.status_code == 404 and list(answer.json()["fields"]) == ["study"]


def test_reason_of_a_failed_study_is_told_in_the_readers_language() -> None:
    study = waiting(state=Study.State.FAILED, error=reasons.reason(reasons.WORKER_DIED))
    assert call("GET", f"/api/studies/{study.pk}/").json()["error"] == reasons.WORKER_DIED
    assert (
        "分析进程"
        in call("GET", f"/api/studies/{study.pk}/", **{"Accept-Language": "zh-hans"}).json()["error"]
    )


def test_every_reason_of_the_runner_has_its_chinese() -> None:
    from django.utils import translation

    with translation.override("zh-hans"):
        for template in reasons.ALL:
            assert reasons.in_words(reasons.reason(template, error="x", column="y")) != template.format(
                error="x", column="y"
            )


def test_sentence_of_a_reader_inside_spark_is_told_in_the_readers_language() -> None:
    from django.utils import translation

    said = reasons.reason(
        "the source cannot be read: {reason}",
        reason="orders-0/0.log: the batch at 61 is damaged: bad: checksum",
    )
    with translation.override("en"):
        assert (
            reasons.in_words(said)
            == "the source cannot be read: orders-0/0.log: the batch at 61 is damaged: bad: checksum"
        )
    with translation.override("zh-hans"):
        words = reasons.in_words(said) or ""
        assert (
            "orders-0/0.log" in words
            and "61" in words
            and "bad: checksum" in words
            and "damaged" not in words
        )
    files = (ROOT / "broker_core" / "pipeline" / "sources").glob("*.py")
    templates = {
        node.args[0].value
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "SourceFailed"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert templates - {"{file}: {reason}"} == set(reasons.READERS)


def test_browsers_cookie_needs_its_csrf_token(settings: Any) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies[settings.VISITOR_COOKIE] = "v" * 40
    assert list(
        browser.post("/api/studies/", json.dumps(REQUEST), content_type="application/json").json()["fields"]
    ) == ["csrf"]
    browser.cookies["csrftoken"] = "a" * 32
    answer = browser.post(
        "/api/studies/",
        json.dumps(REQUEST),
        content_type="application/json",
        headers={"X-CSRFToken": "a" * 32},
    )
    assert answer.status_code == 201 and "owner_token" not in answer.json()
    path = f"/api/studies/{answer.json()['id']}/"
    assert list(browser.delete(path).json()["fields"]) == ["csrf"]
    assert browser.delete(path, headers={"X-CSRFToken": "a" * 32}).status_code == 204


def test_finished_studies_and_ownerless_folders_are_swept(settings: Any) -> None:
    ago = timezone.now() - timedelta(seconds=settings.STUDY_KEEP_S + 1)
    old, done, failed = (
        waiting(state=state, finished_at=at)
        for state, at in (
            (Study.State.DONE, ago),
            (Study.State.DONE, timezone.now()),
            (Study.State.FAILED, timezone.now()),
        )
    )
    for study_id in (old.pk, done.pk, failed.pk, "nobody"):
        study_folder(study_id).mkdir(parents=True)
    services.studies_tend(sweep=True)
    assert {folder.name for folder in study_folder("x").parent.iterdir()} == {done.pk}
    assert not Study.objects.filter(pk=old.pk).exists()


def test_web_process_serves_all_of_this_without_pyspark() -> None:
    program = (
        "import sys, django; django.setup()\n"
        "import mqsite.asgi\n"
        "from broker_core.pipeline import members, recommend, result, strategies, study\n"
        "from broker_core.pipeline.sources import preview, spec\n"
        "preview.source_preview(spec.source_check({'kind': 'uniform', 'keys': 10, 'records': 10}))\n"
        "study.study_check({'source': {'kind': 'uniform', 'keys': 10, 'records': 10}})\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('pyspark', 'py4j')]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr

"""The Analyze pages: every state has its page, and nothing inline runs."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.pipeline.members import CONSUMERS_MAX, DOWN_S_MAX
from broker_core.pipeline.recommend import WEIGHTS, rank
from broker_core.pipeline.sources.dialect import SKIP_MAX
from broker_core.pipeline.sources.encodings import ENCODINGS
from broker_core.pipeline.sources.generated import EXPONENT_MAX, KEYS_MAX, RECORDS_MAX
from broker_core.pipeline.sources.json_layout import LAYOUTS
from broker_core.pipeline.sources.rows import KEPT, REASONS
from broker_core.pipeline.sources.spec import SETTINGS
from broker_core.pipeline.sources.times import FORMATS
from broker_core.pipeline.study_errors import FAULT
from dashboard import access
from dashboard.labs import services
from dashboard.management.commands.study import Command
from dashboard.models import Study, Upload
from dashboard.sentences import LANGUAGES, SENTENCES, catalogue
from dashboard.studies import reasons, selectors
from dashboard.studies.presentation import head, ranking_rows
from tests.dashboard.shown_study import result_of_fixture, shown

VISITOR = "a-visitor-of-the-analyze-pages"


@pytest.fixture
def visitor() -> Client:
    client = Client()
    client.cookies[settings.VISITOR_COOKIE] = VISITOR
    return client


def study(state: str = "done", **fields: Any) -> Study:
    request = result_of_fixture()["request"]
    times = {"started_at": timezone.now(), "finished_at": timezone.now()}
    values = {
        "name": "orders in May",
        "request": request,
        "owner_hash": access.token_hash(VISITOR),
        "state": state,
        **times,
        **fields,
    }
    return Study.objects.create(**values)


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Every finished study has the fixture's result."""
    result = result_of_fixture()
    monkeypatch.setattr(selectors, "study_result", lambda study: result)
    monkeypatch.setattr("broker_core.pipeline.result.result_json", lambda folder: result)
    return result


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "Which strategy serves your messages?"), ("zh-hans", "哪种策略适合你的消息？")],
)
def test_form_is_drawn_in_both_languages(visitor: Client, language: str, words: str) -> None:
    visitor.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    answer = visitor.get("/analyze/")
    text = shown(answer.content.decode())
    assert words in text and answer.status_code == 200
    assert 'aria-current="page"' in text and 'name="history"' in text
    assert (
        text.count("HIGHWATER_LOG_DIRS") == 2 and "data-folder" not in text
    )  # no folder is open: for a study and a live one, how


@pytest.mark.django_db
def test_a_new_visitor_gets_the_cookie_that_a_study_belongs_to() -> None:
    assert settings.VISITOR_COOKIE in Client().get("/analyze/").cookies


@pytest.mark.django_db
def test_form_and_command_line_offer_all_that_may_be_said_of_a_file(visitor: Client) -> None:
    text = visitor.get("/analyze/").content.decode()
    parser = Command().create_parser("manage.py", "study")
    said = {action.dest for action in parser._actions}
    for name in {*SETTINGS["csv"], *SETTINGS["jsonl"], "time_format"}:
        assert f'data-field="source.{name}"' in text and name in said
    for choice in (*ENCODINGS, *LAYOUTS, *FORMATS):
        assert f'<option value="{choice}"' in text


@pytest.mark.django_db
def test_form_offers_server_folders_only_where_there_are_some(
    visitor: Client, settings: Any, tmp_path: Path
) -> None:
    settings.LOG_DIRS = [tmp_path]
    text = shown(visitor.get("/analyze/").content.decode())
    assert text.count("data-folder") == 2 and "HIGHWATER_LOG_DIRS" not in text


@pytest.mark.django_db
def test_numbers_of_the_form_have_the_limits_of_the_request(visitor: Client) -> None:
    inputs = dict(
        re.findall(r'<input type="number" name="(\w+)"([^>]*)>', visitor.get("/analyze/").content.decode())
    )

    def limit(name: str, end: str) -> int | None:
        found = re.search(rf' {end}="(\d+)"', inputs[name])
        return int(found[1]) if found else None

    assert {name: (limit(name, "min"), limit(name, "max")) for name in inputs} == {
        "lab_records": (1, RECORDS_MAX),
        "skip": (0, SKIP_MAX),
        "keys": (1, KEYS_MAX["zipf"]),
        "records": (1, RECORDS_MAX),
        "exponent": (0, EXPONENT_MAX),
        "seed": (0, None),
        "start": (1, CONSUMERS_MAX),
        "rolling_consumers": (1, CONSUMERS_MAX),
        "rolling_down_s": (1, DOWN_S_MAX),
        "from": (1, CONSUMERS_MAX),
        "to": (1, CONSUMERS_MAX),
        "storm_consumers": (2, CONSUMERS_MAX),
        "crashes": (1, CONSUMERS_MAX - 1),
        "storm_seed": (0, None),
        "rate": (1, DEFAULT_LIMITS.records_per_second_max),
        "consumer_rate": (1, DEFAULT_LIMITS.service_per_second_max),
    }
    for shape, most in KEYS_MAX.items():
        assert f' data-{shape}="{most}"' in inputs["keys"]


@pytest.mark.django_db
def test_form_can_begin_with_an_earlier_request(visitor: Client) -> None:
    row = study("failed")
    page = json.loads(
        re.search(
            r'<script id="page"[^>]*>(.*?)</script>',
            visitor.get(f"/analyze/?from={row.pk}").content.decode(),
            re.DOTALL,
        )[1]
    )
    assert page["request"] == row.request
    upload = Upload.objects.create(
        owner_hash="x", name="orders in May.csv", stored_name="data.csv", kind="csv", bytes=1
    )
    row = study("failed", request={"source": {"kind": "csv", "upload": upload.pk, "key": "customer"}})
    assert "orders in May.csv" in visitor.get(f"/analyze/?from={row.pk}").content.decode()
    assert visitor.get("/analyze/?from=nothing").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_finished_study_is_whole_without_a_script(
    visitor: Client, results: dict[str, Any], language: str
) -> None:
    visitor.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    words = catalogue("analyze")[language]
    text = shown(visitor.get(f"/analyze/{study().pk}/").content.decode())
    ranking = rank(results, WEIGHTS)
    assert head(results, ranking, words)["title"] in text
    for row in ranking_rows(results, ranking, words):
        assert row["name"] in text and row["score"] in text
    assert f'name="skew" min="0" max="100" step="5" value="{WEIGHTS["skew"]}"' in text


@pytest.mark.django_db
def test_weights_of_a_shared_link_rank_the_page(visitor: Client, results: dict[str, Any]) -> None:
    row, weights = study(), {"skew": 0, "churn": 0, "pause": 0, "order": 100}
    queries = {
        "skew=0&churn=0&pause=0&order=100": weights,
        "skew=x&churn=0&pause=0&order=1": WEIGHTS,
        "skew=0&churn=0&pause=0&order=0": WEIGHTS,
    }
    for query, used in queries.items():
        text = visitor.get(f"/analyze/{row.pk}/?{query}").content.decode()
        ranking = rank(results, used)
        assert re.findall(r'<tr data-strategy="([^"]+)"', text) == [entry["id"] for entry in ranking]
        assert text.count(' class="best"') == sum(entry["is_best"] for entry in ranking) > 0
        assert text.count(' class="out"') == sum(bool(entry["excluded"]) for entry in ranking) > 0


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_fault_of_ours_asks_nobody_to_correct_the_form(visitor: Client, language: str) -> None:
    visitor.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    words = catalogue("analyze")[language]
    for error, more in (
        (reasons.reason(FAULT, reason="KeyError: 'owner_3'"), "study.fault_more"),
        (reasons.reason(reasons.BROKEN, error="KeyError"), "study.fault_more"),
        (reasons.reason(reasons.SOURCE_GONE), "study.failed_more"),
    ):
        row = study("failed", error=error)
        html = visitor.get(f"/analyze/{row.pk}/").content.decode()
        assert words[more] in shown(html) and f'data-say="{more}"' in html
        assert visitor.get(f"/api/studies/{row.pk}/").json()["is_fault"] == (more == "study.fault_more")


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["queued", "running", "failed", "cancelled"])
def test_every_other_state_has_its_page(visitor: Client, state: str) -> None:
    text = shown(visitor.get(f"/analyze/{study(state).pk}/").content.decode())
    is_over = state in ("failed", "cancelled")
    assert ('id="running" class="panel" aria-labelledby="running-title" hidden' in text) == is_over
    assert str(SENTENCES["study.again"]) in text and 'id="result" hidden' in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "charts", "about"),
    [
        ("lab", ["throughput", "lag", "skew", "rebalance_cost"], "live.about_lab"),
        ("folder", ["throughput", "skew", "hw_lag"], "live.about_log"),
    ],
)
def test_live_study_has_a_chart_for_what_its_source_tells_and_says_the_rest(
    visitor: Client, kind: str, charts: list[str], about: str
) -> None:
    row = study("running", live=True, request={"name": "x", "source": {"kind": kind}})
    text = shown(visitor.get(f"/analyze/{row.pk}/").content.decode())
    assert re.findall(r'id="chart-(\w+)" aria', text) == charts
    assert str(SENTENCES[about]) in text


@pytest.mark.django_db
def test_only_the_owner_is_offered_to_delete(visitor: Client, results: dict[str, Any]) -> None:
    row = study()
    hidden = re.compile(r"data-delete[^>]* hidden>")
    assert not hidden.search(visitor.get(f"/analyze/{row.pk}/").content.decode())
    assert len(hidden.findall(Client().get(f"/analyze/{row.pk}/").content.decode())) == 2


@pytest.mark.django_db
def test_comparison_wants_two_finished_studies(visitor: Client) -> None:
    one, other, failed = study(), study(name="orders in June"), study("failed")
    ready = shown(visitor.get(f"/analyze/compare/?a={one.pk}&b={other.pk}").content.decode())
    assert "orders in May against orders in June" in ready and 'id="both"' in ready
    heads = re.search(r'<table class="rank both">.*?</thead>', ready, re.DOTALL)[0]
    assert [heads.count(f'data-say="rank.{column}"') for column in ("place", "score", *WEIGHTS)] == [
        2,
        2,
        3,
        3,
        3,
        3,
    ]
    for side in (one, other):
        assert all(
            f"/api/studies/{side.pk}/data/{table}.{ending}" in ready
            for table in ("consumers", "steps")
            for ending in ("csv", "parquet")
        )
    assert 'id="share-a-legend"' in ready and 'id="share-b-legend"' in ready
    assert 'id="both"' not in shown(
        visitor.get(f"/analyze/compare/?a={one.pk}&b={failed.pk}").content.decode()
    )
    assert one.pk in visitor.get("/analyze/compare/").content.decode()
    namesake = study()
    Study.objects.filter(pk=namesake.pk).update(created_at=one.created_at - timedelta(days=3))
    Study.objects.filter(pk=other.pk).update(name=one.name, created_at=one.created_at.replace(second=7))
    Study.objects.filter(pk=one.pk).update(created_at=one.created_at.replace(second=41))
    close = shown(visitor.get(f"/analyze/compare/?a={one.pk}&b={other.pk}").content.decode())
    assert f"{one.created_at:%H:%M}:41" in close and f"{one.created_at:%H:%M}:07" in close
    namesake.refresh_from_db()
    times = [f"{row.created_at:%Y-%m-%d %H:%M}" for row in (one, namesake)]
    title = re.search(
        r"<h1>(.*?)</h1>",
        shown(visitor.get(f"/analyze/compare/?a={one.pk}&b={namesake.pk}").content.decode()),
    )[1]
    assert (
        shown(title).rpartition("</span>")[0].rpartition(">")[2]
        == f"orders in May · {times[0]} against orders in May · {times[1]}"
    )


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/analyze/nobody/", "/analyze/compare/?a=nobody&b=nobody"])
def test_unknown_study_is_not_found_and_the_page_leads_back_to_the_studies(path: str) -> None:
    answer = Client().get(path)
    page = answer.content.decode().split('id="page"')[0]
    assert answer.status_code == 404
    assert "The study may have been deleted" in page and 'class="go" href="/analyze/"' in page
    assert ">Skip to the content</a>" in page


@pytest.mark.django_db
def test_looking_needs_nothing_but_cancelling_is_the_owners(results: dict[str, Any]) -> None:
    row = study("running")
    page = json.loads(
        re.search(
            r'<script id="page"[^>]*>(.*?)</script>',
            Client().get(f"/analyze/{row.pk}/").content.decode(),
            re.DOTALL,
        )[1]
    )
    assert page["study"]["mine"] is False


@pytest.mark.django_db
def test_rows_that_could_not_be_read_are_shown_with_their_reason(
    visitor: Client, results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    results["workload"]["bad_rows"] = 2
    bad = [
        {"line": 502, "reason": "wrong_columns", "text": "a,<b>,c"},
        {"line": None, "reason": "of a later version", "text": None},
    ]
    monkeypatch.setattr(selectors, "study_bad_rows", lambda study, limit: bad)
    text = shown(visitor.get(f"/analyze/{study().pk}/").content.decode())
    table = text[text.index('id="bad-rows"') :]
    assert "502" in table and "a,&lt;b&gt;,c" in table
    assert str(SENTENCES["bad.wrong_columns"]) in table and str(SENTENCES["bad.other"]) in table


def test_every_reason_to_set_a_row_aside_has_words() -> None:
    assert {f"bad.{reason}" for reason in REASONS if reason not in KEPT} <= set(SENTENCES)
    assert {f"problem.{reason}" for reason in REASONS} <= set(SENTENCES)


@pytest.mark.django_db
def test_a_lab_is_offered_under_the_name_that_it_was_given(visitor: Client) -> None:
    owner = visitor.cookies[settings.VISITOR_COOKIE].value
    lab = services.lab_open(request={"name": "Rush hour"}, visitor=owner).lab
    offer = visitor.get("/analyze/").context["page"]["offer"]
    entry = next(entry for entry in offer["labs"] if entry["id"] == lab.pk)
    assert entry["name"] == "Rush hour" and entry["created"] == f"{lab.created_at:%Y-%m-%d %H:%M}"

"""The Analyze pages: server and browser say the same of a result, every state has its page, and nothing
inline runs."""

import gzip
import json
import re
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.workload import KINDS as WORKLOAD_KINDS
from broker_core.pipeline import strategies
from broker_core.pipeline.members import CONSUMERS_MAX
from broker_core.pipeline.recommend import WEIGHTS, rank, verdict
from broker_core.pipeline.sources.generated import EXPONENT_MAX, KEYS_MAX, RECORDS_MAX
from broker_core.pipeline.sources.rows import REASONS
from broker_core.pipeline.study_errors import FAULT
from dashboard import access, services
from dashboard.formats import percent
from dashboard.models import Study, Upload
from dashboard.sentences import LANGUAGES, SENTENCES, catalogue
from dashboard.studies import reasons, selectors
from dashboard.study_presentation import (
    _reason,
    head,
    notes,
    ranking_rows,
    short_names,
    unowned,
    verdict_words,
)

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"\{\w+[?}]")
FREE = {"keeps_order": False}
VISITOR = "a-visitor-of-the-analyze-pages"


def result_of_fixture() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(
        gzip.decompress((ROOT / "tests/js/fixtures/study.json.gz").read_bytes())
    )
    return result


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


# -- words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("weights", "constraints"), [
    ({}, None), ({"churn": 0, "pause": 0, "order": 0}, {"skew_max": 2, "pause_s_max": 60}),
    ({"skew": 0, "churn": 0, "pause": 0}, {"keeps_order": False}), ({}, {"skew_max": 1, "pause_s_max": 10}),
])  # fmt: skip
def test_server_and_browser_say_the_same_of_a_result(
    language: str, weights: dict[str, int], constraints: Any
) -> None:
    result, words = result_of_fixture(), catalogue("analyze")[language]
    for strategy, share in zip(result["strategies"][:2], (0.5196, 0.25), strict=True):
        strategy["totals"]["unowned_share"] = share
    ranking = rank(result, {**WEIGHTS, **weights}, constraints)
    asked = json.dumps({"result": result, "ranking": ranking, "verdict": verdict(ranking), "words": words})
    answer = subprocess.run(
        ["node", str(ROOT / "tests/js/study_words.mjs")],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    ours = {
        "head": head(result, ranking, words),
        "rows": ranking_rows(result, ranking, words),
        "short": short_names(result["strategies"], words),
    }
    ours |= {"unowned": unowned(result, words), "sure": verdict_words(result, verdict(ranking), words)}
    assert "52" in ours["unowned"] and not PLACE.search(ours["unowned"])
    assert unowned(result_of_fixture(), words) == ""
    assert json.loads(answer.stdout) == ours
    for text in [*ours["head"].values(), *(row["why"] for row in ours["rows"]), ours["sure"]]:
        assert text and not PLACE.search(text) and "why." not in text and not text.startswith("verdict.")


def test_every_strategy_that_can_be_chosen_has_its_names() -> None:
    for family in strategies.strategies_offered():
        code = f"strategy.{family['model']}.{family['algorithm']}"
        assert {code, f"{code}.short", f"{code}.best"} <= set(SENTENCES)
        assert all(f"param.{param['name']}" in SENTENCES for param in family["params"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_that_a_ranking_can_give_has_words(language: str) -> None:
    words, names = catalogue("analyze")[language], {"a": "Range"}
    pair = {"value": 1.0, "other": 2.0, "than": "a"}
    reasons_given = [{"code": code, "params": {}} for code in ("only", "only.left", "lost.none")] + [
        {"code": "equal", "params": {"than": "a"}}
    ]
    for term in WEIGHTS:
        side = {"term": term, **pair}
        reasons_given += [
            {"code": "best", "params": side | {"is_shared": is_shared}} for is_shared in (True, False)
        ]
        reasons_given += [{"code": "near", "params": side}]
        reasons_given += [
            {"code": "lost", "params": {"parts": [{"term": term, "points": 9.5, "value": 0.5}]}}
        ]
        reasons_given += [
            {"code": f"tied.{code}", "params": {"than": "a", "ahead": side, "behind": side}}
            for code in ("differs", "ahead", "behind")
        ]
    for term in ("churn", "pause", "order"):
        reasons_given += [
            {"code": "best", "params": {"term": term, **pair, "value": 0.0, "is_shared": False}}
        ]
    reasons_given += [
        {"code": "best", "params": {"term": "churn", **pair, "value": None, "is_shared": False}}
    ]
    broken = [{"code": code, "params": {"value": 2.5, "limit": 1}} for code in ("pause_s_max", "skew_max")]
    broken += [
        {"code": "keeps_order", "params": {"count": 3, "value": 0.1, "is_owned": is_owned}}
        for is_owned in (True, False)
    ]
    reasons_given += [{"code": "excluded", "params": {"broken": [each]}} for each in broken]
    for reason in reasons_given:
        text = _reason([reason, {"code": "only", "params": {}}], names, words)
        assert "why." not in text and not PLACE.search(text) and text.endswith(words["why.only"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_a_strategy_whose_keys_have_no_owner_is_told_so(language: str) -> None:
    result, words = result_of_fixture(), catalogue("analyze")[language]
    queue = next(strategy for strategy in result["strategies"] if strategy["model"] == "rabbitmq")
    owned = next(strategy for strategy in result["strategies"] if strategy["model"] == "kafka")
    best = next(strategy for strategy in result["strategies"] if strategy["model"] == "pulsar")
    result["strategies"] = [best, queue, owned]
    for strategy, share in ((best, 0.0), (queue, 0.02), (owned, 0.01)):
        strategy["totals"] |= {"order_share": share, "order_at_risk": round(10_000 * share)}
    said = {
        row["id"]: row["why"]
        for row in ranking_rows(
            result, rank(result, {"skew": 0, "churn": 0, "pause": 0, "order": 100}, FREE), words
        )
    }
    unowned = words["why.lost.order_unowned"].format(points=58, value=percent(0.02, 2))
    assert said[queue["id"]] == words["why.lost"].format(parts=unowned)
    assert said[owned["id"]] == words["why.lost"].format(
        parts=words["why.lost.order"].format(points=50, value=percent(0.01, 2))
    )


@pytest.mark.parametrize("term", WEIGHTS)
def test_each_column_shows_the_figure_that_is_scored(term: str) -> None:
    """Under the weight of one term alone the ranking is the order of that column."""
    result, words = result_of_fixture(), catalogue("analyze")["en"]
    alone = {**dict.fromkeys(WEIGHTS, 0), term: 100}
    rows = ranking_rows(result, rank(result, alone, FREE), words)
    shown = [float(re.sub(r"[^\d.]", "", row[term]) or 0) for row in rows]
    assert shown == sorted(shown) and [float(row["score"]) for row in rows] == sorted(
        (float(row["score"]) for row in rows), reverse=True
    )
    assert all(
        row["pause"] == percent(strategy["totals"]["waited_share"], 2) or row["pause"] == "0"
        for row in rows
        for strategy in result["strategies"]
        if strategy["id"] == row["id"]
    )
    assert {row["model"] for row in rows if row["stood"]} == {"Kafka", "TubeMQ"}


def test_every_kind_of_workload_has_a_word_on_the_stage() -> None:
    assert {f"workload.{kind}" for kind in WORKLOAD_KINDS} <= set(SENTENCES)
    assert catalogue("stage")["zh-hans"]["workload.keys"] == "某项研究的键"


def test_what_was_not_counted_is_said() -> None:
    result = result_of_fixture()
    assert notes(result)["bad_rows"] == 0
    result["workload"] |= {"bad_rows": 3, "no_key": 2, "keyless_exact": False}
    assert [note["code"] for note in notes(result)["notes"]] == [
        "study.no_keys",
        "study.keyless_spread",
        "study.bad_rows",
    ]


def test_the_stage_does_not_carry_the_words_of_studies() -> None:
    assert "study.best" in catalogue("analyze")["en"] and "study.best" not in catalogue("stage")["en"]


# -- pages ---------------------------------------------------------------------------------------------------


def shown(html: str) -> str:
    """What a person can see of a page: scripts with their data left out. Nothing inline may run or style."""
    assert "style=" not in html and "onclick" not in html
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))", html)
    text = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not PLACE.search(re.sub(r'data-[a-z-]+="[^"]*"', "", text)), "a place was left unfilled"
    return text


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
        "keys": (1, KEYS_MAX["zipf"]),
        "records": (1, RECORDS_MAX),
        "exponent": (0, EXPONENT_MAX),
        "seed": (0, None),
        "start": (1, CONSUMERS_MAX),
        "rolling_consumers": (1, CONSUMERS_MAX),
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
    assert {f"bad.{reason}" for reason in REASONS} <= set(SENTENCES)


@pytest.mark.django_db
def test_a_lab_is_offered_under_the_name_that_it_was_given(visitor: Client) -> None:
    owner = visitor.cookies[settings.VISITOR_COOKIE].value
    lab = services.lab_open(request={"name": "Rush hour"}, visitor=owner).lab
    offer = visitor.get("/analyze/").context["page"]["offer"]
    entry = next(entry for entry in offer["labs"] if entry["id"] == lab.pk)
    assert entry["name"] == "Rush hour" and entry["created"] == f"{lab.created_at:%Y-%m-%d %H:%M}"

"""What the pages of studies say: server and browser alike, in both languages."""

import json
import re
import subprocess
from typing import Any

import pytest

from broker_core.lab.workload.parse import KINDS as WORKLOAD_KINDS
from broker_core.pipeline import strategies
from broker_core.pipeline.feasible import feasibility
from broker_core.pipeline.recommend import WEIGHTS, rank, verdict
from dashboard.formats import percent
from dashboard.sentences import LANGUAGES, SENTENCES, catalogue
from dashboard.studies.advice import feasible_words
from dashboard.studies.presentation import (
    _reason,
    head,
    notes,
    ranking_rows,
    short_names,
    suits_words,
    unowned,
    verdict_words,
)
from tests.dashboard.shown_study import PLACE, ROOT, result_of_fixture

LUCK = {"low": 1.65, "mid": 2.0, "high": 2.95, "draws": 20, "suits": [16, 24], "suits_skew": 1.234}
FREE = {"keeps_order": False}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("weights", "constraints"), [
    ({}, None), ({"churn": 0, "pause": 0, "order": 0}, {"skew_max": 2, "wait_s_max": 60}),
    ({"skew": 0, "churn": 0, "pause": 0}, {"keeps_order": False}), ({}, {"skew_max": 1, "wait_s_max": 1, "wait_percent_max": 0}),
    ({}, {"keeps_up": True, "drain_s_max": 20}), ({}, {"keeps_up": True, "no_idle": True, "drain_s_max": 0}),
])  # fmt: skip
def test_server_and_browser_say_the_same_of_a_result(
    language: str, weights: dict[str, int], constraints: Any
) -> None:
    result, words = result_of_fixture(), catalogue("analyze")[language]
    for strategy, share in zip(result["strategies"][:2], (0.5196, 0.25), strict=True):
        strategy["totals"]["unowned_share"] = share
        strategy["luck"] = LUCK | {"of": "names" if share > 0.5 else "partitions"}
    ranking = rank(result, {**WEIGHTS, **weights}, constraints)
    asked = json.dumps(
        {"result": result, "ranking": ranking, "verdict": verdict(ranking), "words": words}
        | {"feasibility": feasibility(result)}
    )
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
    ours |= {"suits": [suits_words(each, result["steps"], words) for each in result["strategies"]]}
    ours |= {"feasible": feasible_words(feasibility(result), words)}
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
    bounds = ("drain_s_max", "skew_max")
    broken = [{"code": code, "params": {"value": 2.5, "limit": 1}} for code in bounds]
    broken += [{"code": "drain_s_max", "params": {"value": None, "limit": 1, "count": 2}}]
    broken += [
        {"code": "keeps_up", "params": {"consumer": who, "gets": 12.0, "takes": 10, "count": count}}
        for who, count in (("c1", 1), ("c1", 2), (None, 2))
    ]
    broken += [{"code": "wait_s_max", "params": {"value": 0.2, "seconds": 5, "limit": 1}}]
    broken += [{"code": "no_idle", "params": {"count": 10, "partitions": 6, "consumers": 16}}]
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_before_the_ranking_is_said_alike_by_server_and_browser(language: str) -> None:
    words = catalogue("analyze")[language]
    hot = [{"key": key, "share": 0.2} for key in ("a", "", "x" * 40, "d", "e")]
    bound = {"consumers": 7, "skew": 2.31, "of_use": 3.03, "share": 0.33}
    said = [
        {"code": "hot", "params": bound | {"hot": hot, "count": 5}},
        {"code": "hot", "params": bound | {"hot": hot[:1], "count": 1}},
        {"code": "warm", "params": bound | {"hot": hot[:2], "count": 2}},
        {"code": "few", "params": bound | {"among": 8, "together": 2}},
        {"code": "hot_rate", "params": {"hot": hot[:1], "brings": 19.8, "takes": 12}},
        {"code": "too_few", "params": {"rate": 50, "consumers": 4, "takes": 40, "least": 5}},
        {"code": "fits", "params": {"consumers": 7, "share": 0.02, "even": 0.14}},
    ]
    asked = {"said": said}
    script = (
        'import { feasibleWords } from "./static/js/analyze/advice.js"; import { readFileSync } from "node:fs";'
        "const { asked, words } = JSON.parse(readFileSync(0, 'utf8'));"
        "process.stdout.write(JSON.stringify(feasibleWords(asked, words)));"
    )
    answer = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps({"asked": asked, "words": words}),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        cwd=ROOT,
    )
    ours = feasible_words(asked, words)
    assert json.loads(answer.stdout) == ours
    assert all(not PLACE.search(text) and "feasible." not in text for text in ours)
    if language == "en":
        assert ours[1].replace("\u202f", " ") == (
            "With 7 consumers, the hot key “a” (20 %) leaves at most 3.0 of use: a key has one consumer, so "
            "skew is at least 2.3. Split the key, give it a topic of its own, or give up order for it."
        )


def test_every_strategy_that_the_form_offers_has_a_name() -> None:
    """In both languages; no id stands there."""
    families = [
        {"model": family.model, "algorithm": family.algorithm} for family in strategies.FAMILIES.values()
    ]
    script = (
        'import { nameCode } from "./static/js/analyze/strategy_ids.js";'
        f"process.stdout.write(JSON.stringify({json.dumps(families)}.map(nameCode)))"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, check=True, text=True, cwd=ROOT
    )
    for words in catalogue("analyze").values():
        assert [code for code in json.loads(done.stdout) if not words.get(code)] == []

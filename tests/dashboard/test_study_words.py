"""A study's result in words, sentence by sentence: which of several a headline, a verdict and a reason are,
with figures as they are read."""

from typing import Any

import pytest

from dashboard.sentences import catalogue
from dashboard.studies.presentation import (
    head,
    notes,
    ranking_rows,
    scored,
    short_names,
    strategy_words,
    suits_words,
    unowned,
    verdict_words,
)

WORDS = catalogue("analyze")["en"]
CHINESE = catalogue("analyze")["zh-hans"]


def strategy(name: str = "kafka.range", *, partitions: int = 12, **totals: Any) -> dict[str, Any]:
    model, algorithm = name.split(".")
    figures = {
        "skew": 1.5,
        "churn": 0.25,
        "waited_share": 0.1,
        "order_share": 0.0,
        "pause_partition_s": 90.0,
        "unowned_share": 0.0,
    }
    params = (
        {"partitions": partitions} if model == "kafka" else {"prefetch": 5} if model == "rabbitmq" else {}
    )
    known = {
        "id": f"{name}:{partitions}",
        "model": model,
        "algorithm": algorithm,
        "params": params,
        "document": False,
    }
    return {**known, "totals": {**figures, **totals}}


def result(
    *strategies: dict[str, Any], source: Any = None, members: Any = (2, 3), **workload: Any
) -> dict[str, Any]:
    counted = {
        "records": 12_500,
        "keys": 40,
        "no_key": 0,
        "empty_key": 0,
        "keyless_exact": True,
        "bad_rows": 0,
    }
    return {
        "name": "orders",
        "strategies": list(strategies),
        "workload": {**counted, **workload},
        "limits": {"timed_sample": None},
        "request": {"name": None, "source": source or {"kind": "csv"}},
        "steps": [{"members": list(range(count))} for count in members],
    }


def place(
    each: dict[str, Any],
    *why: dict[str, Any],
    score: float | None = 90.0,
    is_best: bool = False,
    excluded: Any = (),
) -> dict[str, Any]:
    number = None if excluded else 1
    return {
        "id": each["id"],
        "place": number,
        "score": score,
        "is_best": is_best,
        "excluded": list(excluded),
        "why": list(why) or [ONLY],
    }


ONLY: dict[str, Any] = {"code": "only", "params": {}}
RANGE, STICKY, QUEUE = strategy(), strategy("kafka.sticky"), strategy("rabbitmq.prefetch_5")


def plain(text: str) -> str:
    return text.replace("\u202f", "_")


def why(*reasons: dict[str, Any], words: dict[str, str] = WORDS) -> str:
    [row] = ranking_rows(result(RANGE, STICKY), [place(RANGE, *reasons)], words)
    return plain(row["why"])


# -- the headline --------------------------------------------------------------------------------------------


def title(ranking: list[dict[str, Any]], *strategies: dict[str, Any], **rest: Any) -> str:
    return plain(head(result(*strategies, **rest), ranking, WORDS)["title"])


def test_the_headline_names_the_best_and_how_many_more_are_as_good() -> None:
    best = place(RANGE, is_best=True)
    name = strategy_words(RANGE, WORDS)["best"]
    assert title([best, place(STICKY)], RANGE, STICKY) == f"{name} fits these records best"
    assert (
        title([best, place(STICKY, is_best=True)], RANGE, STICKY)
        == f"{name} and 1 more fit these records best"
    )
    assert title([best], RANGE) == f"{name}, measured on these records"
    assert title(
        [place(RANGE, excluded=["skew_max"]), place(STICKY, excluded=["skew_max"])], RANGE, STICKY
    ).startswith("No strategy meets every")


@pytest.mark.parametrize(
    ("kind", "these"), [("flights", "flights"), ("zipf", "keys"), ("uniform", "keys"), ("lab", "records")]
)
def test_the_headline_says_of_what(kind: str, these: str) -> None:
    assert title([place(RANGE)], RANGE, source={"kind": kind}).endswith(
        f"measured on {WORDS[f'study.these.{these}']}"
    )


def test_without_a_ranking_the_study_has_its_own_name() -> None:
    assert title([], RANGE) == "orders"
    named = result(RANGE)
    named["request"]["name"] = "orders in May"
    assert head(named, [], WORDS)["title"] == "orders in May"


@pytest.mark.parametrize(
    ("members", "changes", "consumers"),
    [((2, 3, 2), "2 membership changes", "2 to 3 consumers"), ((4,), "0 membership changes", "4 consumers"),
     ((1, 1), "1 membership change", "1 consumer")],
)  # fmt: skip
def test_what_was_measured_is_counted(members: tuple[int, ...], changes: str, consumers: str) -> None:
    facts = plain(head(result(RANGE, STICKY, members=members), [], WORDS)["facts"])
    assert (
        facts.startswith("12_500 ") and "2 strategies" in facts and facts.endswith(f"{changes}, {consumers}")
    )


def test_flights_are_called_flights_and_their_keys_by_what_they_are() -> None:
    facts = plain(head(result(RANGE, source={"kind": "flights", "key": "carrier"}), [], WORDS)["facts"])
    assert " flights, " in facts and " carriers, " in facts and "record" not in facts
    other = plain(head(result(RANGE, source={"kind": "csv", "key": "carrier"}), [], WORDS)["facts"])
    assert "carrier" not in other, "a column of somebody's own may have that name"


# -- how sure ------------------------------------------------------------------------------------------------


def verdict(code: str, **params: Any) -> str:
    return plain(verdict_words(result(RANGE, STICKY), {"code": code, "params": params}, WORDS))


def test_a_verdict_names_both_and_the_points_between_them() -> None:
    names = short_names([RANGE, STICKY], WORDS)
    pair = {"id": RANGE["id"], "than": STICKY["id"], "margin": 3}
    first, second = names[RANGE["id"]], names[STICKY["id"]]
    assert (
        verdict("ahead", **pair, points=12.0)
        == f"{first} is 12 points ahead of {second}; up to 3 would be a tie."
    )
    assert verdict("tied", **pair, points=0.44).startswith(
        f"{first} is only 0.4 points ahead of {second}: a tie"
    )
    assert verdict("level", **pair).startswith(f"{first} and {second} have the same score")
    assert (
        verdict("only", id=RANGE["id"], count=5) == f"{first} alone meets every constraint, of 5 strategies."
    )
    said = verdict("none", constraint="skew_max", excluded=2, count=5)
    assert said == f"Every strategy is excluded. “{WORDS['constraint.skew_max']}” excludes most: 2 of 5."


def test_of_one_strategy_it_is_not_said_that_it_is_the_only_one() -> None:
    only = {"code": "only", "params": {"id": RANGE["id"], "count": 1}}
    assert verdict_words(result(RANGE), only, WORDS) == "" == verdict_words(result(RANGE), None, WORDS)
    assert verdict_words(result(RANGE, STICKY), only, WORDS) != ""


# -- names ---------------------------------------------------------------------------------------------------


def test_two_of_one_kind_are_told_apart_by_their_parameters() -> None:
    other = strategy(partitions=24)
    names = short_names([RANGE, other, STICKY], WORDS)
    assert len(set(names.values())) == 3
    again = strategy()
    again["id"] = "again"
    same = short_names([RANGE, again, STICKY], WORDS)
    assert same[RANGE["id"]].endswith(" 12") and same["again"].endswith(" 12")
    assert same[STICKY["id"]] == strategy_words(STICKY, WORDS)["short"], "who is alone needs none"


def test_a_strategy_without_words_is_called_by_its_own_name() -> None:
    unknown = {**RANGE, "algorithm": "brand_new"}
    assert {name for part, name in strategy_words(unknown, WORDS).items() if part != "model"} == {"brand_new"}


# -- reasons -------------------------------------------------------------------------------------------------

PAIR = {"than": STICKY["id"], "value": 1.0, "other": 2.5}


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            {"code": "best", "params": {"term": "skew", **PAIR, "is_shared": False}},
            "Most even: 1.00, then {sticky} 2.50.",
        ),
        ({"code": "best", "params": {"term": "skew", **PAIR, "is_shared": True}}, "None is more even: 1.00."),
        (
            {"code": "best", "params": {"term": "churn", **PAIR, "value": 0.0, "is_shared": True}},
            "No key moves.",
        ),
        (
            {"code": "best", "params": {"term": "churn", **PAIR, "value": None, "is_shared": False}},
            "No key has an owner, so none moves.",
        ),
        (
            {"code": "best", "params": {"term": "pause", **PAIR, "value": 0.0, "is_shared": False}},
            "No record has to wait.",
        ),
        (
            {"code": "best", "params": {"term": "order", **PAIR, "value": 0.015, "is_shared": False}},
            "Least order at risk: 1.50_%, then {sticky} 250.00_%.",
        ),
        (
            {
                "code": "lost",
                "params": {
                    "parts": [
                        {"term": "skew", "points": 9.5, "value": 1.234},
                        {"term": "pause", "points": 0.4, "value": 0.5},
                    ]
                },
            },
            "Points lost: 10 for skew 1.23, 0 for pause 50.00_%.",
        ),
        (
            {
                "code": "lost",
                "params": {
                    "parts": [
                        {"term": "churn", "points": 5, "value": 0.5, "step": "c2 leaves", "step_share": 0.25}
                    ]
                },
            },
            "Points lost: 5 for churn 0.50 (c2 leaves alone moves 25_%).",
        ),
        (
            {
                "code": "lost",
                "params": {"parts": [{"term": "order", "points": 5, "value": 0.0, "is_owned": False}]},
            },
            "Points lost: 5 for order at risk 0 (a key has no fixed owner).",
        ),
        (
            {
                "code": "excluded",
                "params": {
                    "broken": [
                        {"code": "skew_max", "params": {"value": 2.345, "limit": 2}},
                        {"code": "wait_s_max", "params": {"value": 0.1234, "seconds": 5, "limit": 1}},
                    ]
                },
            },
            (
                "Excluded: skew 2.35, at most 2 allowed, 12.3_% of the records waited longer than 5 s, at most "
                "1 % allowed."
            ),
        ),
        (
            {
                "code": "excluded",
                "params": {
                    "broken": [
                        {"code": "keeps_order", "params": {"count": 1, "value": 0.0001, "is_owned": True}}
                    ]
                },
            },
            "Excluded: 1 record at risk of leaving per-key order (0.01_%).",
        ),
        (
            {
                "code": "excluded",
                "params": {
                    "broken": [
                        {"code": "keeps_order", "params": {"count": 9, "value": 0.5, "is_owned": False}}
                    ]
                },
            },
            (
                "Excluded: no key has a fixed owner, so nothing keeps its order (50.00_% of the records at "
                "risk)."
            ),
        ),
        (
            {"code": "equal", "params": {"than": STICKY["id"]}},
            "As good as {sticky} in everything that counts.",
        ),
    ],
)
def test_a_reason_is_said_with_its_figures_as_they_are_read(reason: dict[str, Any], said: str) -> None:
    assert why(reason) == said.format(sticky=short_names([RANGE, STICKY], WORDS)[STICKY["id"]])


def test_two_reasons_are_two_sentences_joined_as_the_language_joins_them() -> None:
    assert why(ONLY, ONLY) == f"{why(ONLY)} {why(ONLY)}"
    assert " " not in why(ONLY, ONLY, words=CHINESE)


# -- the table -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "value", "text"),
    [
        ("skew", 1.0, "1.00"),
        ("churn", None, "–"),
        ("churn", 0.125, "0.13"),
        ("pause", 0, "0"),
        ("pause", 0.0, "0"),
        ("order", 0.5, "50.00_%"),
        ("order", None, "–"),
        ("pause", 0.00001, "0.00_%"),
    ],
)
def test_a_figure_of_the_table_is_read_as_what_it_is(term: str, value: float | None, text: str) -> None:
    assert plain(scored(term, value)) == text


def test_a_row_says_how_far_its_skew_is_luck_and_how_its_backlog_went() -> None:
    luck = {"of": "names", "low": 1.62, "high": 2.91, "draws": 20, "suits": [], "suits_skew": None}
    first = {**strategy(lag_peak=412, drain_s=12.0, undrained=0), "luck": luck}
    second = {**strategy("kafka.sticky", lag_peak=90, drain_s=3.0, undrained=1), "luck": None}
    rows = ranking_rows(result(first, second), [place(first), place(second)], WORDS)
    assert [(row["band"], row["lag"], plain(row["drain"])) for row in rows] == [
        ("1.6–3.0", "412", "12_s"),
        ("", "90", "stays"),
    ]
    assert rows[0]["band_title"].startswith("Skew over 20 draws") and rows[1]["band_title"] == ""
    assert suits_words(first, [{"members": ["c1"]}], WORDS) == ""
    first["luck"] = luck | {"of": "partitions", "suits": [16, 24], "suits_skew": 1.234}
    assert suits_words(first, [{"members": ["c1"] * 8}, {"members": ["c1"]}], WORDS) == (
        "For 8 consumers and these keys, these partition counts suit: 16, 24 (skew 1.23)."
    )


def test_who_is_excluded_has_no_place_and_no_bar() -> None:
    rows = ranking_rows(
        result(RANGE, STICKY),
        [place(STICKY, is_best=True, score=89.6), place(RANGE, score=None, excluded=["skew_max"])],
        WORDS,
    )
    assert [(row["place"], row["score"], row["bar"], row["is_best"], row["is_excluded"]) for row in rows] == [
        ("1", "90", "89.6", True, False), ("–", "–", "0.0", False, True)]  # fmt: skip
    assert [plain(row["stood"]) for row in rows] == ["90_s", "90_s"]
    [queue] = ranking_rows(
        result(strategy("rabbitmq.prefetch_5", pause_partition_s=None)), [place(QUEUE)], WORDS
    )
    assert queue["stood"] == "", "where there are no partitions none was paused"


# -- what has to be said beside ------------------------------------------------------------------------------


def test_what_was_left_out_is_said_and_nothing_is_where_nothing_was() -> None:
    assert notes(result(RANGE)) == {"notes": [], "warnings": [], "bad_rows": 0, "sample": None}
    said = notes(result(RANGE, no_key=3, empty_key=1, keyless_exact=False, bad_rows=2))
    assert [note["code"] for note in said["notes"]] == [
        "study.no_keys",
        "study.keyless_spread",
        "study.bad_rows",
    ]
    assert said["notes"][0]["params"] == {"no_key": 3, "empty_key": 1} and said["bad_rows"] == 2
    sampled = result(RANGE)
    sampled["limits"]["timed_sample"] = {"records": 500, "keys": 20, "rate": 50, "seed": 1}
    assert notes(sampled)["sample"] == {
        "code": "define.sample",
        "params": {"records": 500, "keys": 20, "rate": 50},
    }


def test_records_without_a_consumer_are_told_with_the_largest_share_of_all() -> None:
    first, second = strategy(unowned_share=0.25), strategy("kafka.sticky", unowned_share=0.5196)
    assert unowned(result(RANGE, QUEUE), WORDS) == ""
    said = plain(unowned(result(first, second, QUEUE), WORDS))
    names = short_names([first, second, QUEUE], WORDS)
    assert said.startswith(f"Under {names[first['id']]}, {names[second['id']]}, up to 52_% of the records")
    assert "、" in unowned(result(first, second, QUEUE), CHINESE)

"""What the server writes in the first frame and what the browser writes after it are the same words, in both
languages."""

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import LANE_KINDS, scenario_from_json
from dashboard import formats
from dashboard.formats import fill
from dashboard.page import base_context, lab_page, stage_context
from dashboard.page_scripts import call
from dashboard.presentation import present
from dashboard.sentences import LANGUAGES, SENTENCES
from dashboard.views.groups import machines
from tests.dashboard.stored_view import told

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "js" / "fixtures"
NAMES = ("start", "stage", "article", "noticed", "crowd")
ASKED = re.compile(r"""(?:say|words|data-say(?:-label|-title)?=|say\()\s*["']([a-z_]+(?:\.[a-z_]+)*)["']""")
PLACE = re.compile(r"\{(\w+)")


def load(name: str) -> dict[str, Any]:
    view: dict[str, Any] = json.loads(gzip.decompress((FIXTURES / f"{name}.json.gz").read_bytes()))
    return view


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_the_servers_engine_answers_what_the_browsers_would(
    name: str, language: str, words: dict[str, dict[str, str]]
) -> None:
    view = load(name)
    asked = json.dumps({"view": view, "words": words[language]})
    answer = subprocess.run(
        ["node", str(ROOT / "tests/js/present_all.mjs")],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert json.loads(answer.stdout) == present(view, words[language])


@given(value=st.integers(0, 10**15), digits=st.integers(0, 3))
def test_figures_of_the_servers_own_pages_are_written_as_the_lanes_are(value: int, digits: int) -> None:
    unit = {"millisecond": "ms", "second": "s", "minute": "min"}
    share = value / 10**15
    assert formats.number(value) == call("base/say", "number", value)
    assert formats.percent(share, digits) == call("base/say", "percent", share, digits)
    assert formats.figure(share, digits) == call("base/say", "figure", share, digits)
    for us in (value, value % 100_000_000):
        assert formats.seconds(us, unit) == call("base/say", "seconds", us, unit)
        assert formats.clock(us) == call("base/say", "clock", us)
        assert formats.clock(-us) == call("base/say", "clock", -us) == "0:00.0"
    text = "{n?one record|{n} records} of {who} in {wait_us}, {nobody}"
    params = {"n": value % 3, "who": "{n}", "wait_us": value}
    assert formats.fill(text, params, unit) == call("base/say", "fill", text, params, unit)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_figure_stands_in_the_same_column_of_each_lane(
    name: str, words: dict[str, dict[str, str]]
) -> None:
    for lane in present(load(name), words["en"])["lanes"]:
        moved, *others = lane["figures"]
        assert moved["term"] == ("space" if lane["model"] == "pulsar" else "partitions")
        assert [figure["term"] for figure in others] == ["redelivered", "pause", "skew"]
        assert all(bool(figure["reason"]) == (figure["value"] == "–") for figure in lane["figures"])


def test_kafkas_switch_begins_with_range_and_sticky_and_offers_cooperative(
    words: dict[str, dict[str, str]],
) -> None:
    for name in NAMES:
        lane = next(lane for lane in present(load(name), words["en"])["lanes"] if lane["model"] == "kafka")
        shown = [item["id"] for item in lane["algorithms"] if item["shown"]]
        assert shown == ["range", "sticky"] or name == "article"
        assert "cooperative-sticky" in [item["id"] for item in lane["algorithms"]]


def test_the_caption_says_that_the_demo_added_a_consumer_by_itself(words: dict[str, dict[str, str]]) -> None:
    view = load("start")
    view["caption"] = {"code": "join", "params": {"consumer": "c4", "first": "c4", "count": 1, "by": "demo"}}
    assert (
        told(present(view, words["en"]))[0]
        == "You have not pressed anything, so the demo added c4. One change, four bills."
    )


def test_every_text_is_in_chinese_with_the_same_places(words: dict[str, dict[str, str]]) -> None:
    for code in SENTENCES:
        english, chinese = words["en"][code], words["zh-hans"][code]
        assert set(PLACE.findall(chinese)) <= set(PLACE.findall(english)), code
        assert bool(chinese) == bool(english), code
        if len(english.split()) > 2:  # shorter ones may be names of the originals, which stay
            assert re.search(r"[\u4e00-\u9fff]", chinese), f"{code} is not translated: {chinese}"


def test_a_strategy_of_one_point_or_one_partition_is_named_in_the_singular(
    words: dict[str, dict[str, str]],
) -> None:
    named = [text for code, text in words["en"].items() if code.startswith("strategy.")]
    said = [fill(text, {"points": 1, "partitions": 1}, {}) for text in named]
    assert "ring, 1 point" in said and "Range, 1 partition" in said
    assert not [text for text in said if re.search(r"\b1 \w+s\b", text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_name_of_the_checks_button_begins_with_what_it_shows(
    language: str, words: dict[str, dict[str, str]]
) -> None:
    own, counts = words[language], {"held": 1, "known": 2, "total": 9}
    shown = f"{own['lesson.checks']} {fill(own['lesson.sum'], counts, {})}"
    assert fill(own["lesson.checks_label"], counts, {}).startswith(shown)


def test_every_rule_of_every_model_has_a_name_a_note_and_a_sentence() -> None:
    for model, kind in LANE_KINDS.items():
        for entry in kind.algorithms():
            for part in ("", ".note", ".about"):
                assert f"{model}.{entry['id']}{part}" in SENTENCES


def test_a_group_of_kip_848_has_an_epoch_and_its_own_states_on_the_stage(
    words: dict[str, dict[str, str]],
) -> None:
    assert {
        f"phase.{state}" for states in machines().values() for state in states["states"] if state != "Stable"
    } <= set(SENTENCES)
    lane = {"model": "kafka", "brokers": 3, "offsets_partitions": 3, "group_protocol": "consumer"}
    lab = Lab(scenario_from_json({"lanes": [lane], "consumers": 2}))
    said = []
    for seconds in (1, 20):
        lab.advance_to(seconds * 1_000_000)
        said.append(present(lab.view(), words["en"])["lanes"][0]["slots"]["note"])
    assert said == ["reconciling", "group epoch 2"]


def test_a_group_of_kip_848_offers_the_servers_assignors_as_its_rules(
    words: dict[str, dict[str, str]],
) -> None:
    lane = {"model": "kafka", "brokers": 3, "offsets_partitions": 3, "group_protocol": "consumer"}
    lab = Lab(scenario_from_json({"lanes": [lane], "consumers": 2}))
    said = []
    for algorithm in (None, "server_range", "server_uniform"):
        if algorithm:
            lab.submit(
                {
                    "command_id": algorithm,
                    "kind": "set_algorithm",
                    "lane": "kafka",
                    "args": {"algorithm": algorithm},
                }
            )
        lab.advance_to(lab.now_us + 20_000_000)
        (shown,) = present(lab.view(), words["en"])["lanes"]
        said.append(
            (
                [(item["label"], item["pressed"]) for item in shown["algorithms"]],
                lab.view()["lanes"]["kafka"]["group"]["assignor"],
            )
        )
    assert said == [
        ([("Uniform", rule != "range"), ("Range", rule == "range")], rule)
        for rule in ("uniform", "range", "uniform")
    ]


def test_every_word_that_a_template_or_script_asks_for_exists() -> None:
    asked = set()
    for path in [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static" / "js").rglob("*.js")]:
        asked |= set(ASKED.findall(path.read_text(encoding="utf-8")))
    assert asked - set(SENTENCES) == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_first_frame_is_whole_and_keeps_the_content_policy(
    name: str, language: str, rf: RequestFactory
) -> None:
    with translation.override(language):
        context = base_context(rf.get("/"), "stage")
        context["page"] |= lab_page("x", seq=1, epoch=0, is_owner=True, csrf="t")
        context |= stage_context(load(name), context["catalogue"][language])
        html = render_to_string("dashboard/stage.html", context)
    assert "style=" not in html and "onclick" not in html
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))", html)
    shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not PLACE.search(shown), "a place was left unfilled"
    assert told(context)[0] in re.sub(r"<[^>]*>", "", shown)


def test_a_lane_without_consumers_says_so(words: dict[str, dict[str, str]]) -> None:
    lab = Lab(scenario_from_json({"consumers": 1}))
    lab.submit(
        {"command_id": "a", "kind": "leave", "lane": "all", "consumer": "c1", "args": {}, "position": 1}
    )
    shown = present(lab.view(), words["en"])
    assert {lane["slots"]["empty"] for lane in shown["lanes"]} == {words["en"]["rows.none"]}


def test_a_name_with_braces_stays_a_name() -> None:
    assert fill("{consumer} left", {"consumer": "{count}"}, {}) == "{count} left"


def test_every_fact_of_a_turning_point_has_words() -> None:
    events = [event for view in map(load, NAMES) for lane in view["lanes"].values() for event in lane["why"]]
    # `<name>_more` is said with its list, not by words of its own.
    seen = {
        name
        for event in events
        for name in {**event["inputs"], **event["data"]}
        if not name.endswith("_more")
    }
    said = {
        place
        for code, text in SENTENCES.items()
        if code.startswith("event.")
        for place in PLACE.findall(str(text))
    }
    assert {name for name in seen - said if f"fact.{name}" not in SENTENCES} == set()


def test_who_leaves_last_leaves_nobody_to_close_the_gap(words: dict[str, dict[str, str]]) -> None:
    view = load("stage")
    for lane in view["lanes"].values():
        for consumer in lane["consumers"].values():
            consumer["state"] = "live"  # a crash that is not noticed yet would be told first
    view["caption"] = {"code": "leave", "params": {"consumer": "c3"}}
    assert told(present(view, words["en"]))[0] == "c3 left. Four ways to close the gap."
    view["consumer_count"] = 0
    assert (
        told(present(view, words["en"]))[0]
        == "c3, the last one, left. Records pile up until a consumer joins."
    )


def test_after_a_crash_the_caption_says_who_has_noticed(words: dict[str, dict[str, str]]) -> None:
    lab = Lab(scenario_from_json({}))
    lab.submit(
        {"command_id": "p", "kind": "play", "lane": "all", "consumer": None, "args": {}, "position": 1}
    )
    lab.advance_to(20_000_000)
    lab.submit(
        {"command_id": "c", "kind": "crash", "lane": "all", "consumer": "c2", "args": {}, "position": 2}
    )
    said = []
    for second in (21, 55, 75, 400):
        lab.advance_to(second * 1_000_000)
        said.append(told(present(lab.view(), words["en"]))[1])
    assert said == [
        "Not noticed yet: Pulsar, Kafka, TubeMQ and RabbitMQ still count on it.",
        "Noticed by TubeMQ; Pulsar, Kafka and RabbitMQ wait.",
        "Noticed by Pulsar, Kafka and TubeMQ; RabbitMQ waits.",
        "All four have noticed.",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lab_of_two_lanes_counts_two(language: str, words: dict[str, dict[str, str]]) -> None:
    view = load("start")
    view |= {"lane_order": view["lane_order"][:2]}
    one = {"consumer": "c1"}
    for code, params in (
        ("start", {}),
        ("join", one),
        ("join", {"count": 10}),
        ("leave", one),
        ("rejoin", one),
    ):
        view["caption"] = {"code": code, "params": params}
        said = told(present(view, words[language]))[0]
        assert "2 " in said and "our " not in said and "四" not in said


def test_before_any_change_the_large_figure_says_what_will_happen(words: dict[str, dict[str, str]]) -> None:
    lanes = present(load("start"), words["en"])["lanes"]
    assert {lane["slots"]["hero"] for lane in lanes} == {"Next"}
    assert [lane["slots"]["hero_note"] for lane in lanes] == [
        words["en"][f"next.{way}"] for way in ("ring", "eager", "restart", "turn")
    ]


def test_a_view_that_older_code_stored_is_still_drawn(words: dict[str, dict[str, str]]) -> None:
    view = load("stage")
    for lane in view["lanes"].values():
        del lane["hero"], lane["tally"]
    shown = present(view, words["en"])
    assert {lane["slots"]["hero"] for lane in shown["lanes"]} == {"–"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stopped_lab_says_so_on_opening(
    language: str, rf: RequestFactory, words: dict[str, dict[str, str]]
) -> None:
    with translation.override(language):
        context = base_context(rf.get("/"), "stage")
        context["page"] |= lab_page("x", seq=1, epoch=0, is_owner=True, csrf="t", stopped="KeyError: 'c1'")
        context |= stage_context(load("stage"), context["catalogue"][language])
        html = render_to_string("dashboard/stage.html", context)
    banner = html[html.index('id="stopped"') :].split("</section>")[0]
    assert "hidden" not in banner.split(">")[0]
    assert words[language]["stopped.title"] in banner and words[language]["stopped.copy"] in banner
    assert banner.index("<details") < banner.index("KeyError")
    assert 'data-state="stopped"' in html

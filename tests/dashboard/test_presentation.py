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
from dashboard.sentences import LANGUAGES, SENTENCES, catalogue
from dashboard.views.groups import machines

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "js" / "fixtures"
TWO_LINES = 88  # letters, at the width of a lane on a page of 1440
NAMES = ("start", "stage", "article", "noticed", "crowd")
ASKED = re.compile(r"""(?:say|words|data-say(?:-label|-title)?=|say\()\s*["']([a-z_]+(?:\.[a-z_]+)*)["']""")
PLACE = re.compile(r"\{(\w+)")


def load(name: str) -> dict[str, Any]:
    view: dict[str, Any] = json.loads(gzip.decompress((FIXTURES / f"{name}.json.gz").read_bytes()))
    return view


@pytest.fixture(scope="module")
def words() -> dict[str, dict[str, str]]:
    return catalogue()


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


def test_sticky_and_cooperative_stand_side_by_side_on_kafkas_switch(words: dict[str, dict[str, str]]) -> None:
    for name in NAMES:
        lane = next(lane for lane in present(load(name), words["en"])["lanes"] if lane["model"] == "kafka")
        shown = [item["id"] for item in lane["algorithms"] if item["shown"]]
        assert shown[:2] == ["range", "sticky"] and ("cooperative-sticky" in shown or name == "article")


def test_the_caption_says_that_the_demo_added_a_consumer_by_itself(words: dict[str, dict[str, str]]) -> None:
    view = load("start")
    view["caption"] = {"code": "join", "params": {"consumer": "c4", "first": "c4", "count": 1, "by": "demo"}}
    assert (
        present(view, words["en"])["slots"]["caption"]
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
                    "rig": "kafka",
                    "args": {"algorithm": algorithm},
                }
            )
        lab.advance_to(lab.now_us + 20_000_000)
        (shown,) = present(lab.view(), words["en"])["lanes"]
        said.append(
            (
                [(item["label"], item["pressed"]) for item in shown["algorithms"]],
                lab.view()["rigs"]["kafka"]["group"]["assignor"],
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
    assert context["slots"]["caption"] in shown


def test_a_lane_without_consumers_says_so(words: dict[str, dict[str, str]]) -> None:
    lab = Lab(scenario_from_json({"consumers": 1}))
    lab.submit(
        {"command_id": "a", "kind": "leave", "rig": "all", "consumer": "c1", "args": {}, "position": 1}
    )
    shown = present(lab.view(), words["en"])
    assert {lane["slots"]["empty"] for lane in shown["lanes"]} == {words["en"]["rows.none"]}


def test_a_name_with_braces_stays_a_name() -> None:
    assert fill("{consumer} left", {"consumer": "{count}"}, {}) == "{count} left"


def test_every_fact_of_a_turning_point_has_words() -> None:
    events = [event for view in map(load, NAMES) for lane in view["rigs"].values() for event in lane["why"]]
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
    view["caption"] = {"code": "leave", "params": {"consumer": "c3"}}
    assert present(view, words["en"])["slots"]["caption"] == "c3 left. Four ways to close the gap."
    view["consumer_count"] = 0
    assert (
        present(view, words["en"])["slots"]["caption"]
        == "c3, the last one, left. Records pile up until a consumer joins."
    )


def test_after_a_crash_the_caption_says_who_has_noticed(words: dict[str, dict[str, str]]) -> None:
    lab = Lab(scenario_from_json({}))
    lab.submit({"command_id": "p", "kind": "play", "rig": "all", "consumer": None, "args": {}, "position": 1})
    lab.advance_to(20_000_000)
    lab.submit(
        {"command_id": "c", "kind": "crash", "rig": "all", "consumer": "c2", "args": {}, "position": 2}
    )
    said = []
    for second in (21, 55, 75, 400):
        lab.advance_to(second * 1_000_000)
        said.append(present(lab.view(), words["en"])["slots"]["sub"])
    assert said == [
        "Not noticed yet: Pulsar, Kafka, TubeMQ and RabbitMQ still count on it.",
        "Noticed by TubeMQ; Pulsar, Kafka and RabbitMQ wait.",
        "Noticed by Pulsar, Kafka and TubeMQ; RabbitMQ waits.",
        "All four have noticed.",
    ]


IN_ONE_LANE: list[tuple[dict[str, Any], str, str]] = [
    (
        {"kind": "cluster_crash", "args": {"broker": 2}},
        "Kafka: Broker 2 crashed. Who leads its partitions now?",
        "Kafka：Broker 2 崩溃。它的分区现在由谁领导？",
    ),
    (
        {"kind": "cluster_add_partitions", "args": {"topic": "flights", "count": 14}},
        "Kafka: Topic flights now has 14 partitions.",
        "Kafka：主题 flights 现有 14 个分区。",
    ),
    (
        {"kind": "group_freeze", "consumer": "c2"},
        "Kafka: c2 is frozen by a long GC pause: no polls, no heartbeats.",
        "Kafka：c2 被长时间 GC 停顿冻结：不 poll，也不发心跳。",
    ),
    ({"kind": "crash", "consumer": "c2"}, "c2 crashed, in Kafka only.", "c2 崩溃，只在 Kafka。"),
    ({"kind": "slow", "consumer": "c2"}, "c2 slowed down, in Kafka only.", "c2 变慢，只在 Kafka。"),
    ({"kind": "join", "args": {"count": 3}}, "3 joined, in Kafka only.", "3 个消费者加入，只在 Kafka。"),
]


@pytest.mark.parametrize(("order", "english", "chinese"), IN_ONE_LANE)
def test_the_caption_of_an_order_in_one_lane_is_a_sentence(
    order: dict[str, Any], english: str, chinese: str, words: dict[str, Any]
) -> None:
    lab = Lab(scenario_from_json({}))
    lab.advance_to(20_000_000)
    lab.submit({"command_id": "c", "rig": "kafka", "consumer": None, "args": {}, **order})
    assert [present(lab.view(), words[language])["slots"]["caption"] for language in ("en", "zh-hans")] == [
        english,
        chinese,
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lab_of_two_lanes_counts_two(language: str, words: dict[str, dict[str, str]]) -> None:
    view = load("start")
    view |= {"rig_order": view["rig_order"][:2]}
    one = {"consumer": "c1"}
    for code, params in (
        ("start", {}),
        ("join", one),
        ("join", {"count": 10}),
        ("leave", one),
        ("rejoin", one),
    ):
        view["caption"] = {"code": code, "params": params}
        said = present(view, words[language])["slots"]["caption"]
        assert "2 " in said and "our " not in said and "四" not in said


def test_before_any_change_the_large_figure_says_what_will_happen(words: dict[str, dict[str, str]]) -> None:
    lanes = present(load("start"), words["en"])["lanes"]
    assert {lane["slots"]["hero"] for lane in lanes} == {"Next"}
    assert [lane["slots"]["hero_note"] for lane in lanes] == [
        words["en"][f"next.{way}"] for way in ("ring", "eager", "restart", "turn")
    ]


class Told:
    """A lab's story and what the page says of it, lane by lane."""

    def __init__(self, words: dict[str, str], **scenario: Any) -> None:
        self.lab, self.words = Lab(scenario_from_json(scenario)), words

    def do(
        self, second: int, kind: str, consumer: str | None = None, lane: str = "all", **args: Any
    ) -> "Told":
        self.lab.advance_to(second * 1_000_000)
        self.lab.submit(
            {
                "command_id": f"t{self.lab.position}",
                "kind": kind,
                "rig": lane,
                "consumer": consumer,
                "args": args,
            }
        )
        return self

    def lanes(self, second: int) -> dict[str, dict[str, Any]]:
        self.lab.advance_to(second * 1_000_000)
        return {lane["id"]: lane for lane in present(self.lab.view(), self.words)["lanes"]}

    def sentences(self, second: int) -> dict[str, str]:
        said = {
            name: lane["slots"]["sentence"].replace("\u202f", " ")
            for name, lane in self.lanes(second).items()
        }
        assert [text for text in said.values() if len(text) > TWO_LINES] == []
        return said


def test_what_was_dark_at_the_start_is_explained_until_something_changes(
    words: dict[str, dict[str, str]],
) -> None:
    told = Told(words["en"])
    lanes, said = told.lanes(30), told.sentences(30)
    dark = {
        name: figure["value"].replace("\u202f", " ")
        for name, lane in lanes.items()
        for figure in lane["tally"]
        if figure["term"] == "dark"
    }
    assert dark["pulsar"] == dark["rabbitmq"] == "0 s" and "0 s" not in (dark["kafka"], dark["tubemq"])
    for name, text in said.items():
        rest = (
            ""
            if dark[name] == "0 s"
            else f" During start-up partitions were dark for {dark[name]} on average."
        )
        assert text == f"Nothing has changed yet.{rest}"


def test_to_remove_the_row_of_who_is_gone_is_no_leaving(words: dict[str, dict[str, str]]) -> None:
    def caption(lab: Lab) -> str:
        said: str = present(lab.view(), words["en"])["slots"]["caption"]
        return said

    told = Told(words["en"]).do(20, "crash", "c1").do(21, "crash", "c2").do(22, "crash", "c3")
    assert caption(told.do(300, "leave", "c1").lab) == "c1 was already gone: only its row is removed."
    assert (
        caption(told.do(301, "leave", "c2", lane="kafka").lab)
        == "Kafka: c2 was already gone: only its row is removed."
    )
    silent = Told(words["en"]).do(20, "crash", "c1").do(21, "leave", "c1")
    assert caption(silent.lab) == "c1 left. Four ways to close the gap."


def test_a_second_resume_gives_the_full_speed_back(words: dict[str, dict[str, str]]) -> None:
    told = Told(words["en"]).do(20, "slow", "c1").do(25, "pause", "c1")
    said = []
    for second in (30, 35):
        shown = present(told.do(second, "resume", "c1").lab.view(), words["en"])
        said.append((shown["slots"]["caption"], {lane["slots"]["hero_covers"] for lane in shown["lanes"]}))
    assert said == [
        ("c1 resumed.", {"Since 0:30.0: c1 resumed"}),
        ("c1 works at full speed again.", {"Since 0:35.0: c1 got its full speed back"}),
    ]
    alone = present(told.do(40, "slow", "c1").do(45, "resume", "c1", lane="kafka").lab.view(), words["en"])
    assert alone["slots"]["caption"] == "c1 got its full speed back, in Kafka only."
    ticks = list(told.lab.view()["timeline"].values())
    assert ["full_speed" in tick for tick in ticks if tick["kind"] == "resume"] == [False, True, True]


@pytest.mark.parametrize("language", LANGUAGES)
def test_after_a_broker_crashed_it_is_not_said_that_nothing_has_changed(
    language: str, words: dict[str, dict[str, str]]
) -> None:
    lanes = [{"model": "kafka"}, {"model": "kafka", "id": "other"}]
    said = Told(words[language], lanes=lanes).do(20, "cluster_crash", lane="kafka", broker=2).sentences(30)
    assert said["kafka"] == words[language]["none_cluster"] and said["other"].startswith(
        words[language]["none"]
    )
    lanes = [*lanes, {"model": "kafka", "id": "alone", "cluster": False}, {"model": "pulsar"}]
    said = Told(words[language], lanes=lanes).do(20, "cluster_crash", broker=2).sentences(30)
    assert said["kafka"] == said["other"] == words[language]["none_cluster"]
    assert all(said[lane].startswith(words[language]["none"]) for lane in ("alone", "pulsar"))


def test_when_the_last_one_leaves_nobody_is_said_to_take_over(words: dict[str, dict[str, str]]) -> None:
    told = Told(words["en"], consumers=1).do(20, "leave", "c1")
    lanes = told.lanes(30)
    said = told.sentences(30)
    assert (
        "c1, the last one, left" in said["pulsar"]
        and "neighbours" not in said["pulsar"]
        and "others" not in said["pulsar"]
    )
    assert said["kafka"] == "c1 left: the group has no members, all 12 partitions wait."
    assert said["tubemq"] == "sourceCount 0: all clients stopped, the 12 partitions wait."
    assert said["rabbitmq"].startswith("c1, the last one, left")
    figures = {
        (figure["term"], figure["value"])
        for lane in lanes.values()
        for figure in lane["figures"]
        if figure["term"] == "redelivered"
    }
    assert figures == {("redelivered", "0")}
    assert [lanes[name]["slots"]["hero"] for name in ("pulsar", "kafka", "tubemq")] == ["100\u202f%"] * 3
    assert {
        lane["slots"]["hero_note"].split(":")[-1].replace("\u202f", " ").strip() for lane in lanes.values()
    } == {"no consumer for 10 s"}


def test_who_joins_an_empty_lane_finds_no_others(words: dict[str, dict[str, str]]) -> None:
    for count in (1, 10):
        told = Told(words["en"], consumers=1).do(20, "leave", "c1").do(25, "join", count=count)
        said = told.sentences(60)
        assert not [text for text in said.values() if "others" in text or "Nothing to move" in text]
        assert (
            "the only consumer" in said["pulsar"]
            and "the only consumer" in said["rabbitmq"]
            and "group started" in said["tubemq"]
        )
        lanes = told.lanes(60)
        assert [lanes[name]["slots"]["hero"] for name in ("pulsar", "kafka", "tubemq")] == ["100\u202f%"] * 3
        figures = [figure for name in ("kafka", "tubemq") for figure in lanes[name]["figures"]]
        assert [figure["value"] for figure in figures if figure["term"] == "partitions"] == ["12", "12"]


@pytest.mark.parametrize("algorithm", ["consistent_hash", "sticky"])
def test_when_the_last_one_crashes_what_is_noticed_goes_to_nobody(
    algorithm: str, words: dict[str, dict[str, str]]
) -> None:
    told = Told(
        words["en"],
        consumers=1,
        lanes=[
            {"model": "pulsar", "algorithm": algorithm},
            {"model": "kafka", "algorithm": "range"},
            {"model": "tubemq", "algorithm": "modulo"},
            {"model": "rabbitmq", "algorithm": "prefetch_5"},
        ],
    )
    said = told.do(20, "crash", "c1").sentences(400)
    assert not [
        text for text in said.values() if "others" in text or "redelivered" in text or "read again" in text
    ]
    assert [text for text in said.values() if "wait" in text or "unregistered until" in text] == list(
        said.values()
    )
    assert {
        figure["value"]
        for lane in told.lanes(400).values()
        for figure in lane["figures"]
        if figure["term"] == "redelivered"
    } == {"0"}


def test_who_was_given_up_long_ago_leaves_without_a_trace(words: dict[str, dict[str, str]]) -> None:
    said = Told(words["en"]).do(20, "crash", "c2").do(300, "leave", "c2").sentences(320)
    assert [said[name] for name in ("pulsar", "kafka", "rabbitmq")] == [
        "c2 had already been removed: nothing else changes."
    ] * 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_ten_who_joined_stay_ten_when_any_lane_switches_its_rule(
    language: str, words: dict[str, dict[str, str]]
) -> None:
    told = Told(words[language]).do(12, "join", count=10)
    before = told.sentences(40)
    told.do(40, "set_algorithm", lane="kafka", algorithm="sticky").do(
        40, "set_algorithm", lane="rabbitmq", algorithm="prefetch_1"
    )
    after = told.sentences(40)
    assert [after[name] for name in ("pulsar", "tubemq", "rabbitmq")] == [
        before[name] for name in ("pulsar", "tubemq", "rabbitmq")
    ]
    told.do(40, "set_algorithm", lane="pulsar", algorithm="auto_split").do(40, "slow", "c1", rate=2)
    assert (
        "c4" not in after["pulsar"] + after["rabbitmq"]
        and "10" in after["pulsar"]
        and "10" in after["rabbitmq"]
    )


def test_the_running_bill_stands_in_each_lane_with_its_terms(words: dict[str, dict[str, str]]) -> None:
    lanes = Told(words["en"]).do(20, "crash", "c2").lanes(400)
    assert {tuple(item["term"] for item in lane["tally"]) for lane in lanes.values()} == {
        ("keys_moved", "dark", "redelivered", "out_of_order")
    }
    assert lanes["rabbitmq"]["tally"][0]["value"] == "–"
    assert lanes["tubemq"]["slots"]["hero_note"].startswith("of keys have had no consumer for 6")
    assert lanes["kafka"]["slots"]["hero_note"].startswith("of keys had no consumer for 4")


def test_a_view_that_older_code_stored_is_still_drawn(words: dict[str, dict[str, str]]) -> None:
    view = load("stage")
    for lane in view["rigs"].values():
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
    banner = html[html.index('id="stopped"') : html.index("</section>")]
    assert "hidden" not in banner.split(">")[0]
    assert words[language]["stopped.title"] in banner and words[language]["stopped.copy"] in banner
    assert banner.index("<details") < banner.index("KeyError")
    assert 'data-state="stopped"' in html


@pytest.mark.parametrize(
    ("page", "code"),
    [
        ("stage", "keys"),
        ("cluster", "cluster.keys"),
        ("groups", "groups.keys"),
        ("log", "log.keys"),
        ("pulsar", "subscription.keys"),
    ],
)
def test_a_page_names_its_keys_in_one_text_whose_colon_is_the_languages(
    page: str, code: str, words: dict[str, dict[str, str]]
) -> None:
    lines = re.findall(
        r'<p class="s m keys[^>]*>(.*?)</p>', (ROOT / f"templates/dashboard/{page}.html").read_text()
    )
    assert lines == [f'{{% say "{code}" %}}']
    assert words["en"][code].startswith("Keys: ") and words["zh-hans"][code].startswith("按键：")
    assert words["en"][code].count("Keys") == 1


@pytest.mark.parametrize(
    ("kind", "args", "english", "chinese"),
    [
        (
            "cluster_slow_disk",
            {"broker": 2, "write_us": 30_000},
            "The disk of broker 2 is slowed to 30 ms per write.",
            "Broker 2 的磁盘变慢：每次写入 30 毫秒。",
        ),
        (
            "cluster_slow_disk",
            {"broker": 2, "write_us": 0},
            "The disk of broker 2 is fast again.",
            "Broker 2 的磁盘恢复正常速度。",
        ),
        (
            "cluster_skew_clock",
            {"broker": 1, "skew_ms": 40},
            "The clock of broker 1 is set 40 ms ahead.",
            "Broker 1 的时钟调快了 40 毫秒。",
        ),
        (
            "cluster_skew_clock",
            {"broker": 1, "skew_ms": -40},
            "The clock of broker 1 is set 40 ms behind.",
            "Broker 1 的时钟调慢了 40 毫秒。",
        ),
        (
            "cluster_skew_clock",
            {"broker": 1, "skew_ms": 0},
            "The clock of broker 1 is right again.",
            "Broker 1 的时钟已校准。",
        ),
        (
            "cluster_slow_link",
            {"one": "broker-2", "other": "broker-3", "delay_us": 200_000},
            "The link between broker-2 and broker-3 is slowed to 0.2 s.",
            "broker-2 与 broker-3 之间的链路变慢：单程 0.2 秒。",
        ),
        (
            "cluster_slow_link",
            {"one": "broker-2", "other": "broker-3"},
            "The link between broker-2 and broker-3 is fast again.",
            "broker-2 与 broker-3 之间的链路恢复正常速度。",
        ),
        (
            "cluster_cut_link",
            {"one": "broker-2", "other": "broker-3", "one_way": True},
            "The link between broker-2 and broker-3 is cut one way: nothing from broker-2 arrives.",
            "broker-2 与 broker-3 之间的链路单向断开：broker-2 发出的消息都无法到达。",
        ),
    ],
)
def test_caption_of_an_order_for_a_cluster_says_by_how_much_and_which_way(
    kind: str, args: dict[str, Any], english: str, chinese: str, words: dict[str, dict[str, str]]
) -> None:
    lab = Told(words["en"], lanes=[{"model": "kafka"}, {"model": "rabbitmq"}]).do(2, kind, **args).lab
    said = [
        present(lab.view(), words[language])["slots"]["caption"].replace("\u202f", " ").replace("\xa0", " ")
        for language in ("en", "zh-hans")
    ]
    assert said == [english, chinese]

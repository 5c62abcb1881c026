"""Compare: a short form that becomes a lab with a lane for each way, its address, what it refuses, and its page."""

import html
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import translation

from broker_core.lab.comparing.ways import WAYS
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import compare as comparing
from dashboard.labs import selectors
from dashboard.models import Lab
from dashboard.sentences import LANGUAGES, SENTENCES, catalogue
from dashboard.views.compare import EXAMPLES, PRESETS, query_of
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
KAFKA = EXAMPLES["protocols"]


def send(client: Client, given: dict[str, Any]) -> Any:
    return client.post("/compare/", given)


def made(answer: Any) -> Lab:
    assert answer.status_code == 302, answer.content.decode()
    found = re.fullmatch(r"/lab/([\w-]+)/compare/", answer["Location"])
    assert found
    return Lab.objects.get(pk=found[1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_empty_form_explains_itself_and_offers_three_examples_that_fill_it_in(language: str) -> None:
    client = Client(headers={"accept-language": language})
    text = client.get("/compare/").content.decode()
    links = re.findall(r'href="\?([^"]+)" data-example="(\w+)"', text)
    assert [name for _query, name in links] == list(EXAMPLES) and len(EXAMPLES) == 3
    with translation.override(language):
        assert html.escape(str(SENTENCES["compared.sub"])) in text
    for query, name in links:
        filled = client.get(f"/compare/?{html.unescape(query)}").content.decode()
        assert re.findall(r'value="([^"]+)" checked', filled) == sorted(
            EXAMPLES[name]["ways"], key=list(WAYS).index
        )
        assert EXAMPLES[name]["history"] in filled and "data-example" not in filled


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_becomes_a_lab_with_a_lane_a_way_and_the_form_again(name: str) -> None:
    client = Client()
    lab = made(send(client, EXAMPLES[name]))
    assert [lane["id"] for lane in lab.scenario["lanes"]] == [
        way_id.replace(".", "-", 1) for way_id in EXAMPLES[name]["ways"]
    ]
    assert selectors.is_comparison(lab) and comparing.request_of(lab) == EXAMPLES[name]
    page = parse_qs(urlsplit(f"?{query_of(comparing.request_of(lab))}").query)
    assert page["history"] == [EXAMPLES[name]["history"]] and page["ways"] == [
        ",".join(EXAMPLES[name]["ways"])
    ]


def test_a_comparison_runs_its_whole_course_in_the_worker_and_is_paused_at_its_end(world: World) -> None:
    lab = made(send(Client(), {**KAFKA, "seconds": 40, "history": "5 join\n15 leave c1\n25 crash c2"}))
    world.transport.watching.add(lab.pk)
    world.run(4)
    view = selectors.lab_snapshot(lab_id=lab.pk)["view"]  # type: ignore[index]
    assert view["at_us"] == 40_000_000 and not view["playing"]
    assert [tick["kind"] for tick in view["timeline"].values()] == ["join", "join", "leave", "crash"]
    moved = {lane: view["lanes"][lane]["tally"]["keys_moved"] for lane in view["lane_order"]}
    assert moved["kafka-range"] > moved["kafka-cooperative-sticky"] > 0
    # Alone, without the others and without a worker, a lane has the same bill.
    alone = {**lab.scenario, "lanes": [lab.scenario["lanes"][0]]}
    core = CoreLab(scenario_from_json(alone))
    for position, entry in enumerate(lab.script, start=2):
        core.advance_to(entry["at_us"])
        core.submit({**entry["body"], "position": position})
    assert core.view()["lanes"]["kafka-range"]["tally"] == view["lanes"]["kafka-range"]["tally"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ways": ["kafka.range"]}, "ways"),
        ({"ways": []}, "ways"),
        ({"ways": ["kafka.range", "kafka.nothing"]}, "ways"),
        ({"ways": list(WAYS)[:5]}, "ways"),
        ({"stream": "water"}, "stream"),
        ({"stream": "lab"}, "stream"),
        ({"rate": "x"}, "rate"),
        ({"rate": "0"}, "rate"),
        ({"consumers": "33"}, "consumers"),
        ({"consumer_rate": ""}, "consumer_rate"),
        ({"seconds": "9"}, "seconds"),
        ({"seed": "-1"}, "seed"),
        ({"seed": "9" * 30}, "seed"),
        ({"history": "10 dance"}, "history"),
        ({"history": "10 crash c9"}, "history"),
        ({"history": "70 join"}, "history"),
        ({"history": "<script>"}, "history"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_made(change: dict[str, Any], field: str) -> None:
    answer = send(Client(), {**KAFKA, **change})
    text = answer.content.decode()
    assert answer.status_code == 400 and not Lab.objects.exists() and "<script>\n" not in text
    with pytest.raises(Exception) as refused:  # the same, as the service says it
        comparing.comparison_of({**KAFKA, **change})
    [reason] = refused.value.fields[field]  # type: ignore[attr-defined]
    assert list(refused.value.fields) == [field] and html.escape(reason) in text  # type: ignore[attr-defined]


def test_an_address_says_no_consumers_and_an_empty_history_too() -> None:
    given = {**KAFKA, "consumers": 0, "history": ""}
    text = Client().get(f"/compare/?{query_of(given)}").content.decode()
    assert re.search(r'name="consumers" value="0"', text) and re.search(r"<textarea[^>]*></textarea>", text)


def test_several_wrong_fields_are_all_named_at_once() -> None:
    text = send(Client(), {**KAFKA, "rate": "x", "history": "a", "ways": []}).content.decode()
    assert text.count('class="bad"') == 3


@pytest.mark.parametrize("name", PRESETS)
def test_each_history_that_is_offered_is_one(name: str) -> None:
    comparing.comparison_of(
        {**comparing.DEFAULTS, "ways": ["kafka.range", "pulsar.shared"], "history": PRESETS[name]}
    )


def test_a_labs_own_course_fills_the_form_and_keeps_its_lanes_settings(world: World) -> None:
    lab = world.open()
    world.run(3)
    world.order(lab, "join")
    world.run(2)
    world.order(lab, "crash", consumer="c2")
    world.run(2)
    lane = next(each["id"] for each in lab.scenario["lanes"])
    text = Client().get(f"/compare/?lab={lab.pk}&lane={lane}").content.decode()
    area = re.search(r"<textarea[^>]*>([^<]*)</textarea>", text)
    assert area and re.fullmatch(r"[\d.]+ join\n[\d.]+ crash c2", area[1]), text
    assert 'data-say="compared.begun"' in text and f'name="lab" value="{lab.pk}"' in text
    given = comparing.request_of(lab, lane, 9_000_000)
    scenario, script = comparing.comparison_of(given)
    assert len(given["ways"]) >= 2 and len(script) == 4
    own = next(each for each in lab.scenario["lanes"] if each["id"] == lane)
    same = [each for each in scenario["lanes"] if each["model"] == own["model"]]
    assert same and all(each.get("topic") == own.get("topic") for each in same)


def test_what_the_form_cannot_say_of_a_labs_course_is_left_out(world: World) -> None:
    lab = world.open()
    for order in (
        {"kind": "join", "consumer": "x1"},
        {"kind": "crash", "consumer": "x1"},
        {"kind": "join", "args": {"count": 2}},
        {"kind": "slow", "consumer": "c5", "args": {"rate": 3}},
    ):
        world.order(lab, **order)
        world.run(1)
    for lane in lab.scenario["lanes"]:
        given = comparing.request_of(lab, lane["id"], 9_000_000)
        said = [line.split(" ", 1)[1] for line in given["history"].splitlines()]
        assert said == ["join 2", "slow c5 3"], lane["id"]
        comparing.comparison_of(given)


def test_a_comparison_is_nobodys_stage_and_its_page_knows_its_end() -> None:
    client = Client()
    client.get("/compare/")
    lab = made(send(client, KAFKA))
    visitor = next(morsel.value for morsel in client.cookies.values() if len(morsel.value) > 20)
    assert selectors.lab_of_visitor(visitor=visitor) is None
    assert lab.name == "Range · Cooperative · KIP-848, uniform"


def test_the_page_shows_any_labs_lanes_and_two_labs_that_have_lanes_in_common(world: World) -> None:
    one, other = world.open(), world.open()
    world.run(1)
    text = Client().get(f"/lab/{one.pk}/compare/").content.decode()
    page = json.loads(re.search(r'<script id="page"[^>]*>(.*?)</script>', text)[1])  # type: ignore[index]
    assert page["compared"] == {"lanes": [lane["id"] for lane in one.scenario["lanes"]], "ends_us": None}
    assert f"/compare/?lab={one.pk}" in text
    both = Client().get(f"/lab/{one.pk}/beside/{other.pk}/").content.decode()
    page = json.loads(re.search(r'<script id="page"[^>]*>(.*?)</script>', both)[1])  # type: ignore[index]
    assert page["beside"]["lab"] == other.pk and page["beside"]["view"]["lanes"]
    for wrong in (
        f"/lab/{one.pk}/beside/{one.pk}/",
        f"/lab/{one.pk}/beside/nothing/",
        "/lab/nothing/compare/",
    ):
        assert Client().get(wrong).status_code == 404, wrong


def test_a_page_without_a_button_for_it_asks_for_no_consumer() -> None:
    words = catalogue("compare")["en"]
    assert "Add consumer" in catalogue("stage")["en"]["caption.start"]
    assert [code for code, text in words.items() if "press Add consumer" in text] == []

"""What templates ask for: words by code, a page's own facts, which lane an address means, and what its
address says."""

import json
import re
from typing import Any

import pytest
from django.http import HttpRequest
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import translation

from dashboard.lessons import watch_us
from dashboard.page import lab_page, lane_query, page_of
from dashboard.sentences import SENTENCES
from dashboard.templatetags.words import paint, prefixed, said, say, term, words
from dashboard.views.lane_page import lane_of
from dashboard.views.pulsar import TEXT_MAX


def shown(html: str) -> tuple[str, dict[str, Any], str]:
    """(code, parameters, text) of a span that can be said again in the other language."""
    found = re.fullmatch(r'<span data-say="([\w.]+)"(?: data-params="([^"]*)")?>(.*)</span>', html)
    assert found is not None, html
    code, params, text = found.groups()
    return (
        code,
        json.loads(
            params.replace("&quot;", '"').replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")
        )
        if params
        else {},
        text,
    )


# -- words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "text"), [("en", "1 record"), ("zh-hans", "1 条记录")])
def test_words_carry_their_code_and_what_fills_them(language: str, text: str) -> None:
    with translation.override(language):
        assert shown(say("studies.records", records=1)) == ("studies.records", {"records": 1}, text)
        assert shown(say("studies.title"))[:2] == ("studies.title", {})


def test_a_name_from_outside_cannot_become_markup() -> None:
    name = '<img src=x onerror="alert(1)">'
    html = say("delete.title", name=name)
    assert "<img" not in html and shown(html)[1] == {"name": name}
    assert "<img" in words("studies.delete_named", name=name), "the template escapes an attribute"
    page = Template('{% load words %}<a title="{% words "studies.delete_named" name=name %}"></a>').render(
        Context({"name": name})
    )
    assert "<img" not in page and page.count('"') == 2


def test_a_message_and_a_composed_code_are_said_alike() -> None:
    assert said({"code": "studies.records", "params": {"records": 2}}) == say("studies.records", records=2)
    page = Template('{% load words %}{% say kind|prefixed:"data." %}').render(Context({"kind": "file"}))
    assert page == say("data.file") == say(prefixed("file", "data."))


def test_a_code_without_words_is_an_error_and_not_an_empty_place() -> None:
    with pytest.raises(KeyError):
        say("no.such.code")
    with pytest.raises(KeyError):
        words("no.such.code")


def test_a_term_is_reached_by_keyboard_and_names_its_definition() -> None:
    html = term("skew", "weight.skew")
    assert (
        html.startswith('<dfn class="term" tabindex="0" data-term="skew" aria-describedby="term-skew">')
        and say("weight.skew") in html
    )


def test_words_in_an_attribute_are_in_the_pages_language() -> None:
    with translation.override("zh-hans"):
        assert words("studies.delete_named", name="甲") == str(SENTENCES["studies.delete_named"]).replace(
            "{name}", "甲"
        )


def test_consumers_of_different_colours_are_painted_differently() -> None:
    assert len({paint(color) for color in (None, 1, 2, 3, 9, 12)}) == 6


# -- the page ------------------------------------------------------------------------------------------------


def request(**cookies: str) -> HttpRequest:
    made = RequestFactory().get("/")
    made.COOKIES.update(cookies)
    return made


@pytest.mark.parametrize(
    ("cookie", "theme"),
    [(None, "auto"), ("dark", "dark"), ("light", "light"), ("auto", "auto"), ('"><script>', "auto")],
)
def test_a_theme_that_there_is_not_is_the_systems_own(cookie: str | None, theme: str) -> None:
    assert (
        page_of(request(**({} if cookie is None else {"highwater_theme": cookie})), "stage")["theme"] == theme
    )


@pytest.mark.parametrize(
    ("active", "language", "lang"),
    [("en", "en", "en"), ("zh-hans", "zh-hans", "zh-Hans"), ("de", "en", "en")],
)
def test_a_page_is_in_one_of_two_languages(active: str, language: str, lang: str) -> None:
    with translation.override(active):
        page = page_of(request(), "stage")
    assert (page["language"], page["lang"]) == (language, lang)


@pytest.mark.parametrize(
    ("given", "has_demo"),
    [
        ({"demo": True, "is_owner": True}, True),
        ({"demo": True, "is_owner": False}, False),
        ({"is_owner": True}, False),
        ({"demo": True, "is_owner": True, "stopped": "KeyError"}, False),
    ],
)
def test_a_demo_adds_a_consumer_by_itself_only_where_the_visitor_could(
    given: dict[str, Any], has_demo: bool
) -> None:
    page = lab_page("some-lab", seq=5, epoch=2, csrf="t", **given)
    assert (page["demo"] is not None) == has_demo and page["owner"] == given["is_owner"]
    assert {
        url for name, url in page["urls"].items() if name in ("commands", "fork", "journal", "socket")
    } == {
        "/api/labs/some-lab/commands/",
        "/api/labs/some-lab/fork/",
        "/api/labs/some-lab/journal/",
        "/ws/labs/some-lab/",
    }


# -- which lane ----------------------------------------------------------------------------------------------


def view(*lanes: tuple[str, str]) -> dict[str, Any]:
    """Of these lanes, (id, model), each with its model's panel."""
    return {
        "lane_order": [lane for lane, _model in lanes],
        "lanes": {lane: {"model": model, model: {}} for lane, model in lanes},
    }


THREE = view(("rabbitmq", "rabbitmq"), ("kafka", "kafka"), ("other", "kafka"))


@pytest.mark.parametrize(
    ("wanted", "lane"),
    [
        (None, "kafka"),
        ("kafka", "kafka"),
        ("other", "other"),
        ("rabbitmq", None),
        ("nowhere", None),
        ("", None),
    ],
)
def test_an_address_means_the_lane_it_names_and_else_the_first_of_its_kind(
    wanted: str | None, lane: str | None
) -> None:
    assert lane_of(THREE, "kafka", wanted) == lane


def test_a_lab_without_such_a_lane_has_none() -> None:
    assert lane_of(THREE, "pulsar", None) is None and lane_of(view(), "kafka", None) is None


@pytest.mark.parametrize(
    ("lanes", "lane", "query"),
    [
        (THREE, "kafka", ""),
        (THREE, "other", "?lane=other"),
        # the first, but of another name
        (view(("mine", "kafka")), "mine", "?lane=mine"),
        # of its name, but not the first
        (view(("other", "kafka"), ("kafka", "kafka")), "kafka", "?lane=kafka"),
        (view(("a b&c", "kafka")), "a b&c", "?lane=a+b%26c"),
    ],
)  # fmt: skip
def test_an_address_names_its_lane_unless_it_is_the_one_that_is_meant_anyway(
    lanes: dict[str, Any], lane: str, query: str
) -> None:
    assert lane_query(lanes, lane) == query


def test_a_question_in_an_address_is_cut_to_a_length_that_a_lane_can_have() -> None:
    assert TEXT_MAX >= 512 * 3, "three characters for each of 512 ranges"


# -- lessons -------------------------------------------------------------------------------------------------


class Story:
    """A lesson of this length whose script sets these speeds, (at second, speed)."""

    def __init__(self, lasts_s: int, *speeds: tuple[int, float]) -> None:
        self.lasts_us = lasts_s * 1_000_000
        self._speeds = speeds

    def script(self) -> list[dict[str, Any]]:
        join = {"at_us": 1_000_000, "body": {"kind": "join", "args": {}}}
        return [
            join,
            *(
                {"at_us": at_s * 1_000_000, "body": {"kind": "speed", "args": {"speed": speed}}}
                for at_s, speed in self._speeds
            ),
        ]


@pytest.mark.parametrize(
    ("story", "watch_s"),
    [
        (Story(60), 60),
        (Story(60, (0, 4)), 15),
        (Story(60, (20, 2)), 40),
        (Story(60, (10, 0.5), (20, 10)), 34),
        (Story(60, (60, 20)), 60),
    ],
)
def test_a_lesson_takes_as_long_as_its_own_speeds_make_it(story: Any, watch_s: int) -> None:
    assert watch_us(story) == watch_s * 1_000_000

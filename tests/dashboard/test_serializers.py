"""JSON at the API's edge: what a body may be, what is refused at `body` and with which status, and the one
form of every refusal."""

import json
from typing import Any

import pytest
from django.test import RequestFactory
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, Names, SentenceError
from dashboard.errors import Refused, in_all_words, in_words, listed
from dashboard.serializers import NESTING_MAX, json_body, json_response, refusal_response

rf = RequestFactory()


def body_of(content: bytes | str, content_type: str = "application/json") -> Any:
    return json_body(rf.post("/", content, content_type=content_type))


def refusal(content: bytes | str, content_type: str = "application/json") -> tuple[int, list[str]]:
    with pytest.raises(Refused) as refused:
        body_of(content, content_type)
    assert list(refused.value.fields) == ["body"]
    return refused.value.status, refused.value.fields["body"]


# -- what comes in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "text/plain", ""]
)
def test_no_body_is_an_empty_object_whatever_it_is_called(content_type: str) -> None:
    assert body_of(b"", content_type) == {}


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", ""]
)
def test_a_body_of_another_type_is_not_read(content_type: str) -> None:
    assert refusal(b"{}", content_type) == (415, ["must be application/json"])


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"{}x",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b"\xff",
        b'{"a": "\\ud800"}',
        b"{'a': 1}",
        b'{"a": 01}',
    ],
)
def test_a_body_that_is_no_json_to_the_letter_is_refused(content: bytes) -> None:
    assert refusal(content) == (400, ["must be JSON"])


@pytest.mark.parametrize("content", [b"[]", b"1", b'"text"', b"null", b"true", b" [{}] "])
def test_a_body_that_is_no_object_is_refused(content: bytes) -> None:
    assert refusal(content) == (400, ["must be a JSON object"])


def nested(depth: int, one: Any) -> Any:
    """`one` within so many objects or lists in turn, an object outermost."""
    for level in range(depth, 0, -1):
        one = {"a": one} if level % 2 else [one]
    return one


@pytest.mark.parametrize("one", [1, "text", {}, []])
def test_a_body_may_be_nested_so_deep_and_no_deeper(one: Any) -> None:
    inside = 1 if isinstance(one, dict | list) else 0
    allowed = nested(NESTING_MAX - inside, one)
    assert body_of(json.dumps(allowed)) == allowed
    assert refusal(json.dumps(nested(NESTING_MAX - inside + 1, one))) == (400, ["is nested too deeply"])


def test_a_deep_value_is_found_behind_shallow_ones() -> None:
    assert refusal(json.dumps({"a": 1, "b": [2, nested(NESTING_MAX, 1)], "c": 3}))[0] == 400
    assert refusal('{"a":' * 5_000 + "1" + "}" * 5_000)[0] == 400


def test_a_body_above_the_limit_is_refused_before_it_is_read(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    content = json.dumps({"a": "x" * 92})
    assert len(content) == 101 and refusal(content) == (413, ["is too large"])
    assert body_of(json.dumps({"a": "x" * 91})) == {"a": "x" * 91}


LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


@given(value=st.dictionaries(st.text(max_size=8), VALUES, max_size=4))
@settings(max_examples=50)
def test_what_the_api_answers_it_would_also_take(value: dict[str, Any]) -> None:
    assert body_of(json_response(value).content) == value


# -- what goes out -------------------------------------------------------------------------------------------


def test_an_answer_is_never_kept_by_a_cache() -> None:
    response = json_response({"a": "é"}, 201)
    assert (response.status_code, response["Cache-Control"], response["Content-Type"]) == (
        201,
        "no-store",
        "application/json",
    )
    assert response.content == '{"a":"é"}'.encode()


@pytest.mark.parametrize(
    ("again_s", "header"), [(None, None), (0, "1"), (0.2, "1"), (1, "1"), (1.01, "2"), (86_400, "86400")]
)
def test_when_to_come_again_is_told_in_whole_seconds_of_one_at_least(
    again_s: float | None, header: str | None
) -> None:
    response = refusal_response(Refused(429, {"lab": "is full"}, again_s))
    assert response.headers.get("Retry-After") == header
    assert response.status_code == 429 and response["Cache-Control"] == "no-store"


def test_several_fields_are_refused_together_each_with_its_text() -> None:
    response = refusal_response(Refused(400, {"skew": "must be a number", "churn": "is missing"}))
    assert json.loads(response.content) == {"fields": {"skew": ["must be a number"], "churn": ["is missing"]}}
    assert str(Refused(400, {"skew": "is wrong", "churn": "too"})) == "skew: is wrong; churn: too"


# -- the core's refusals in words ----------------------------------------------------------------------------


def test_numbers_in_a_refusal_are_written_as_on_every_page() -> None:
    error = CommandError("args.count", "must be {low} to {high}", low=1, high=12_500)
    assert in_words(error) == "must be 1 to 12\u202f500"


def test_a_name_that_looks_like_a_number_or_a_place_stays_as_it_is() -> None:
    assert (
        in_words(CommandError("consumer", "there is no consumer {name}", name="12500"))
        == "there is no consumer 12500"
    )
    assert (
        in_words(CommandError("consumer", "there is no consumer {name}", name="{name}"))
        == "there is no consumer {name}"
    )
    assert in_words(CommandError("x", "is {flag}", flag=True)) == "is True", "a truth is no number"
    assert in_words(CommandError("x", "costs 100 % of {nothing}")) == "costs 100 % of {nothing}", (
        "without values no place is filled"
    )


def test_a_sentence_within_a_sentence_is_put_into_words_too() -> None:
    inner = SentenceError("{count} of {names}", count=2_000, names=Names(["a", "b"]))
    assert in_words(CommandError("x", "because: {why}", why=inner)) == "because: 2\u202f000 of a, b"


@pytest.mark.parametrize(("language", "text"), [("en", "a, b, c"), ("zh-hans", "a、b、c")])
def test_names_are_joined_as_the_language_joins_them(language: str, text: str) -> None:
    with translation.override(language):
        assert listed(name for name in "abc") == text
        assert listed(["a"]) == "a" and listed([]) == ""
        assert in_words(CommandError("x", "{choices}", choices=Names("abc"))) == text


def test_the_words_of_all_languages_leave_the_readers_own_active() -> None:
    with translation.override("zh-hans"):
        words = in_all_words(
            CommandError("topic", "must be one of {choices}", choices=Names(["orders", "flights"]))
        )
        assert translation.get_language() == "zh-hans"
    assert words["en"] == "must be one of orders, flights" and "orders、flights" in words["zh-hans"]

"""What holds of every text of the lessons that come along, so that it stays true while it stands and on the
page where it stands."""

import re
import tomllib
from itertools import pairwise
from typing import Any

import pytest

from broker_core.lab.lesson.file import shelf
from broker_core.lab.lesson.texts import LANGUAGES

# A caption stays until the next one while the lab goes on: what it says of a moment must not be what the run
# is about to change.
PASSING = {
    "en": r"\byet\b|\bso far\b|\babout to\b|\bat the moment\b|\bfrom now on\b|\b(?:nobody|no one) "
    r"has\b|\bknows? nothing\b",
    "zh": r"还没|尚未|快要|即将|此刻|目前|从现在起|一无所知",
}
# A page of one lane shows the others behind tabs, and a phone shows one at a time: a lane is called by its
# title, not by its place.
PLACES = {
    "en": r"\bon the (?:left|right)\b|\b(?:Left|Right|Middle)\b[:, ]|\b(?:first|second|third|others?) lanes?\b",
    "zh": r"(?<!它)(?:左边|右边)(?!的)|(?:^|[。；])[左右中]：|另外.条泳道|第.条泳道|另一边",
}
PEOPLE = {
    "en": r"(?i)\b(?:somebody|nobody|everybody|anew|by itself|stands? still|goes on where)\b",
    "zh": r"服务节点|协调者|消费组|同步副本集|没有响应|每人|熄灭",
}
NAMED = {"en": re.compile(r"[Ll]anes? “([^”]+)”"), "zh": re.compile(r"“([^”]+)”(?:泳道|和“)")}
DOCUMENTS = {name: tomllib.loads(path.read_text(encoding="utf-8")) for name, path in shelf().items()}


def texts(value: Any, way: str = "") -> list[tuple[str, str, str]]:
    """Way, language and text of all texts below."""
    if (
        isinstance(value, dict)
        and set(value) == set(LANGUAGES)
        and all(isinstance(text, str) for text in value.values())
    ):
        return [(way, language, text) for language, text in value.items()]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for name, part in parts for found in texts(part, f"{way}.{name}")]


def captions(document: dict[str, Any]) -> list[dict[str, str]]:
    return [step["caption"] for step in document.get("step", []) if "caption" in step]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_caption_says_nothing_that_the_run_changes_while_it_stands(name: str) -> None:
    for caption in captions(DOCUMENTS[name]):
        for language, pattern in PASSING.items():
            assert not re.search(pattern, caption[language]), caption[language]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_lane_is_called_by_its_place(name: str) -> None:
    for way, language, text in texts(DOCUMENTS[name]):
        assert not re.search(PLACES[language], text), (way, text)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_of_several_lanes_of_a_model_has_a_title_and_no_other_is_named(name: str) -> None:
    lanes = DOCUMENTS[name].get("lane", [])
    titles = {
        language: [lane["title"][language] for lane in lanes if "title" in lane] for language in LANGUAGES
    }
    assert len(lanes) == 1 or all(
        len(set(titles[language])) == len(lanes) or not lanes for language in LANGUAGES
    )
    for way, language, text in texts(DOCUMENTS[name]):
        for called in NAMED[language].findall(text):
            assert called in titles[language], (way, called)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_texts_use_the_fields_words(name: str) -> None:
    for way, language, text in texts(DOCUMENTS[name]):
        assert not re.search(PEOPLE[language], text), (way, text)


def test_captions_are_not_said_twice_in_a_row() -> None:
    for document in DOCUMENTS.values():
        assert all(before != after for before, after in pairwise(captions(document)))

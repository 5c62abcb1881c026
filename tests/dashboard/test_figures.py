"""How figures, spans and checks are written, value by value, and what is wrong with a teacher's file, in both
languages."""

from typing import Any

import pytest
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import Names
from broker_core.lab.lesson.file_error import FileError
from dashboard.course import CHAPTERS
from dashboard.formats import clock, figure, fill, half_up, number, percent, seconds
from dashboard.lesson_words import asks_words, came_words, value_words
from dashboard.lessons import error_words, shelved
from dashboard.sentences import catalogue

WORDS = catalogue("stage")["en"]


def plain(text: str) -> str:
    return text.replace("\u202f", "_")


# -- figures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (None, "–"),
        (0, "0_s"),
        (1, "1_ms"),
        (499, "1_ms"),
        (1_500, "2_ms"),
        (49_499, "49_ms"),
        (49_999, "50_ms"),
        (50_000, "50_ms"),
        (99_499, "99_ms"),
        (99_500, "0.1_s"),
        (1_000_000, "1_s"),
        (1_040_000, "1.0_s"),
        (1_050_000, "1.1_s"),
        (9_949_999, "9.9_s"),
        (9_950_000, "10_s"),
        (59_500_000, "60_s"),
        (119_499_999, "119_s"),
        (119_500_000, "2_min"),
        (3_600_000_000, "60_min"),
    ],
)
def test_a_span_is_written_as_exactly_as_it_is_long(us: int | None, text: str) -> None:
    assert plain(seconds(us, WORDS)) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0:00.0"),
        (99_999, "0:00.0"),
        (100_000, "0:00.1"),
        (59_999_999, "0:59.9"),
        (60_000_000, "1:00.0"),
        (3_599_900_000, "59:59.9"),
        (3_600_000_000, "1:00:00.0"),
        (36_061_000_000, "10:01:01.0"),
    ],
)
def test_a_clock_never_shows_a_time_that_has_not_come(us: int, text: str) -> None:
    assert clock(us) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.5, 0, "1"), (1.5, 0, "2"), (-0.5, 0, "0"), (0.005, 2, "0.01"), (1.0, 2, "1.00"), (2.675, 1, "2.7")],
)
def test_a_half_is_rounded_up_as_in_a_browser(value: float, digits: int, text: str) -> None:
    assert half_up(value, digits).replace("-0", "0") == text


@given(st.integers(0, 10**15))
@settings(max_examples=50)
def test_a_number_is_grouped_from_its_end_and_loses_no_digit(value: int) -> None:
    groups = number(value).split("\u202f")
    assert (
        int("".join(groups)) == value
        and all(len(group) == 3 for group in groups[1:])
        and 1 <= len(groups[0]) <= 3
    )


def test_what_nobody_knows_is_a_dash() -> None:
    assert percent(None) == figure(None, 2) == seconds(None, WORDS) == "–"
    assert (
        plain(percent(0.005)) == "1_%" and plain(percent(0.00449, 1)) == "0.4_%" and figure(0.0, 1) == "0.0"
    )


@pytest.mark.parametrize(
    ("text", "params", "filled"),
    [
        ("{n} of {m}", {"n": 12_500, "m": 1.5}, "12_500 of 1.5"),
        ("{yes}", {"yes": True}, "True"),
        ("{left} and {wait_us}", {"left": 2, "wait_us": 3_000_000}, "2 and 3_s"),
        ("a{gone}b", {}, "ab"),
        ("a{gone}b", {"gone": None}, "ab"),
        ("{n?one|{n} many}", {"n": 1}, "one"),
        ("{n?one|{n} many}", {"n": 0}, "0 many"),
        ("{n?one|{n} many}", {}, " many"),
        ("{n?one|{n} many}", {"n": 1.5}, "1.5 many"),
        ("{n?is|are}{n?|s}", {"n": 1}, "is"),
        ("{n?is|are}{n?|s}", {"n": 2}, "ares"),
        ("{who}", {"who": "{n}"}, "{n}"),
        ("{not a place} {n", {"n": 1}, "{not a place} {n"),
    ],
)
def test_a_place_takes_what_it_names_once(text: str, params: dict[str, Any], filled: str) -> None:
    assert plain(fill(text, params, WORDS)) == filled


# -- a lesson's checks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        ("nothing", "nothing"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (12_500, "12_500"),
        (2.0, "2"),
        (0.12345, "0.123"),
        (1.9996, "2"),
        ("c1", "c1"),
        ("{value}", "{value}"),
    ],
)
def test_what_came_is_written_as_it_is_read(value: Any, text: str) -> None:
    assert plain(value_words(value, WORDS)) == text == plain(came_words({"came": value}, WORDS))


def test_a_number_that_there_is_not_is_said_rather_than_a_value() -> None:
    assert came_words({"missing": {"name": "x"}, "came": 5}, WORDS) == "not there:"


@pytest.mark.parametrize(
    ("asks", "text"),
    [
        ({"is": 5}, "5"),
        ({"is_not": "c1"}, "not c1"),
        ({"at_least": 2, "at_most": 3_000}, "at least 2 and at most 3_000"),
        ({"more_than": 0.5, "less_than": 1, "is_not": None}, "more than 0.5 and less than 1 and not nothing"),
    ],
)
def test_what_was_asked_for_is_one_phrase(asks: dict[str, Any], text: str) -> None:
    assert plain(asks_words(asks, WORDS)) == text


# -- lessons -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "english", "chinese"),
    [
        (
            FileError(12, "step 3, caption.zh", "is missing"),
            "line 12: step 3, caption.zh: is missing",
            ("12", "step 3, caption.zh"),
        ),
        (
            FileError(0, "", "is longer than {high} bytes", high=65_536),
            "is longer than 65_536 bytes",
            ("65_536",),
        ),
        (
            FileError(4, "", "must be one of {choices}", choices=Names(["a", "b"])),
            "line 4: must be one of a, b",
            ("4", "a、b"),
        ),
    ],
)
def test_what_is_wrong_with_a_file_names_its_line_and_field(
    error: FileError, english: str, chinese: tuple[str, ...]
) -> None:
    assert plain(error_words(error)) == english
    with translation.override("zh-hans"):
        said = plain(error_words(error))
    assert said != english and [part for part in chinese if part not in said] == []


def test_lessons_stand_in_the_order_of_the_course_and_last_a_begun_minute() -> None:
    chapters = [each.place.chapter for each in shelved().values()]
    assert chapters == sorted(chapters, key=list(CHAPTERS).index) and set(chapters) == set(CHAPTERS)
    for name, each in shelved().items():
        assert each.name == name and each.watch_us > 0 and each.lesson.lasts_us > 0
        assert (each.minutes - 1) * 60_000_000 < each.watch_us <= each.minutes * 60_000_000

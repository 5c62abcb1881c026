"""A lesson's checks and questions in words. static/js/lesson/words.js writes the checks in the same way on the Stage."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

from dashboard.formats import fill
from dashboard.page_scripts import call

Json = dict[str, Any]
Words = Mapping[str, str]
DECIMALS = 3


def value_words(value: Any, words: Words) -> str:
    """What came, or what was asked for: a figure with at most three decimals, a word as it is."""
    if value is None or value == "nothing":
        return words["check.nothing"]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        value = round(value, DECIMALS)
        value = int(value) if value == int(value) else value
    return fill("{value}", {"value": value}, words)


def asks_words(asks: Json, words: Words) -> str:
    """`{"at_least": 2, "at_most": 3}` -> "at least 2 and at most 3"."""
    parts = [
        words[f"check.{name}"].replace("{value}", value_words(value, words)) for name, value in asks.items()
    ]
    return reduce(
        lambda first, second: fill(words["check.both"], {"first": first, "second": second}, words), parts
    )


def came_words(result: Json, words: Words) -> str:
    """result: as the core's LessonRun keeps it."""
    return words["check.missing"] if "missing" in result else value_words(result["came"], words)


def asked_words(lanes: Json, ask: Json, words: Words) -> Json:
    """The question of a frame: {text, answers, truth}. lanes: what the lesson calls its lanes. ask: as
    recorded_frames has it."""
    asked: Json = call("frame/asked", "printed", ask, lanes, dict(words))
    return asked

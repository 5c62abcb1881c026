"""A file that states a case: a lane, a promise about it, and what may happen. docs/break.md describes it,
broker_core/lab/breaking/cases/ has those that come along.

A field is a field of the scenario (`seed`, `workload`, `[[lane]]`), of the `[promise]`, or of a `[[may]]`; what stands
there beside `do`, `most`, `from_s` and `until_s` are arguments of the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.breaking.case import Case, case_from_json
from broker_core.lab.lesson.file import as_written, entries, time_us
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lesson import LINE_MAX, TITLE_MAX
from broker_core.lab.lesson.lined import Lined, read_lined
from broker_core.lab.lesson.lined import Path as Way
from broker_core.lab.lesson.texts import Text, text_of
from broker_core.lab.limits import DEFAULT_LIMITS, Limits

SHELF = Path(__file__).parent / "cases"
ENDING = ".toml"
BROKEN, KEPT = "broken", "kept"
_OF_SCENARIO = ("seed", "consumers", "consumer_rate", "workload")
_KNOWN = ("title", "line", "expect", "lasts_s", *_OF_SCENARIO, "lane", "promise", "may")
_OF_MAY = ("do", "most", "from_s", "until_s")


@dataclass(frozen=True, slots=True)
class Stated:
    """What a file states. expect: the verdict that its writer expects, None for one who does not know."""

    title: Text
    line: Text
    expect: str | None
    case: Case


def cases() -> dict[str, Path]:
    """The files that come along: name -> path, by name."""
    return {path.stem: path for path in sorted(SHELF.glob(f"*{ENDING}"))}


def stated_in(text: str, limits: Limits = DEFAULT_LIMITS) -> Stated:
    """What a file's text states. Raises FileError at the first field that is wrong."""
    lined = read_lined(text)
    document = lined.document
    for name in document:
        if name not in _KNOWN:
            raise _error(lined, (name,), "is unknown; known: {names}", names=Names(_KNOWN))
    for name in ("lane", "may"):
        if not isinstance(document.get(name, []), list):
            raise _error(lined, (name,), "is a list: write [[{name}]], once for each", name=name)
    expect = document.get("expect")
    if expect not in (None, BROKEN, KEPT):
        raise _error(lined, ("expect",), "must be one of {choices}", choices=Names((BROKEN, KEPT)))
    try:
        title, line = (text_of(document, name, "file", most) for name, most in _TEXTS)
        case = case_from_json(_case_json(lined, title), limits)
    except CommandError as error:
        raise _error(lined, _way_of(error.field), error.template, **error.values) from error
    return Stated(title, line, expect, case)


_TEXTS = (("title", TITLE_MAX), ("line", LINE_MAX))


def _case_json(lined: Lined, title: Text) -> Json:
    document = lined.document
    scenario: Json = {name: document[name] for name in _OF_SCENARIO if name in document}
    lanes = [dict(entry) for _, entry in entries(lined, "lane")]
    promise: Any = document.get("promise")
    case: Json = {
        "scenario": {**scenario, "name": title["en"], **({"lanes": lanes} if "lane" in document else {})},
        "lasts_us": time_us(lined, document, ("lasts_s",)),
        "may": [_may_json(lined, entry, place) for place, entry in entries(lined, "may")],
        "promise": promise,
    }
    if isinstance(promise, dict) and "lane" in promise:
        case["promise"] = {name: value for name, value in promise.items() if name != "lane"}
        case["lane"] = promise["lane"]
    return case


def _may_json(lined: Lined, entry: Json, place: int) -> Json:
    may: Json = {name: entry[name] for name in ("do", "most") if name in entry}
    for name in ("from_s", "until_s"):
        if name in entry:
            may[name.removesuffix("_s") + "_us"] = time_us(lined, entry, ("may", place, name))
    return {**may, "args": {name: value for name, value in entry.items() if name not in _OF_MAY}}


def _way_of(field: str) -> Way:
    """A field of the case as the way to it in the file."""
    parts = field.split(".")
    match parts:
        case ["file", *rest]:
            parts = rest
        case ["lanes", *rest]:
            parts = ["lane", *rest]
        case ["lane"]:
            parts = ["promise", "lane"]
        case ["may", place, "args", *rest]:
            parts = ["may", place, *rest]
        case ["name"]:
            parts = ["title", "en"]
        case _:
            pass
    seconds = {"lasts_us": "lasts_s", "from_us": "from_s", "until_us": "until_s"}
    return tuple(int(part) if part.isdecimal() else seconds.get(part, part) for part in parts)


def _error(lined: Lined, way: Way, template: str, **values: object) -> FileError:
    return FileError(lined.line_of(way), as_written(way), template, **values)

"""A scenario file: a lesson as a teacher writes it. docs/scenarios.md describes it,
broker_core/lab/scenarios/ has those that come along.

A field of the file is a field of the scenario (`seed`, `consumers`, `workload`, `[[lane]]`) or of its lesson
(`title`, `[[step]]`, `[[check]]`). A step's fields beside `at_s`, `do` and `caption` are its command's; a
check's beside `at_s`, `lane`, `number` and `says` are what it asks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.commands import COMMANDS, FIELDS
from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lesson import LASTS_US_MAX
from broker_core.lab.lesson.lined import Lined, read_lined
from broker_core.lab.lesson.lined import Path as Way
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.scenario import Scenario, scenario_from_json

SHELF = Path(__file__).parent.parent / "scenarios"
ENDING = ".toml"
NAME_SHOWN = 64
LASTS_S_MAX = LASTS_US_MAX // SECOND_US
_START = ("seed", "consumers", "consumer_rate", "workload")
_TOLD = ("title", "line", "watch_for", "you_will_learn", "front", "page")
_LISTS = ("lane", "step", "check")
_OF_STEP = ("at_s", "caption", "frame")
_CHECK = ("lane", "number", "says")
_COMMAND = tuple(sorted(FIELDS - {"command_id", "kind", "args", "position", "at_us"}))


def shelf() -> dict[str, Path]:
    """The files that come along: name -> path, by name."""
    return {path.stem: path for path in sorted(SHELF.glob(f"*{ENDING}"))}


def read_file(path: Path) -> str:
    """The text of a scenario file. Raises FileError for one that is too long or not UTF-8, OSError."""
    with path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise FileError(0, "", "is longer than {high} bytes", high=BYTES_MAX)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileError(data[: error.start].count(b"\n") + 1, "", "is not UTF-8 text") from error


def scenario_from_text(text: str, seed: int | None = None, limits: Limits = DEFAULT_LIMITS) -> Scenario:
    """The scenario that a file's text describes, with its lesson. seed: instead of the file's. Raises
    FileError at the first field that is wrong."""
    lined = read_lined(text)
    raw = _scenario_json(lined)
    if seed is not None:
        raw["seed"] = seed
    try:
        return scenario_from_json(raw, limits)
    except CommandError as error:
        way = _way_of(error.field, lined.document)
        raise FileError(lined.line_of(way), as_written(way), error.template, **error.values) from error


def line_of_step(text: str, place: int) -> int:
    """Where the step begins; place: from 0."""
    return read_lined(text).line_of(("step", place))


def line_of_check(text: str, place: int) -> int:
    """Where the check names its number; place: from 0."""
    return read_lined(text).line_of(("check", place, "number"))


# -- from the file's fields to the scenario's ----------------------------------------------------------------


def _scenario_json(lined: Lined) -> Json:
    document = lined.document
    for name in document:
        if name not in (*_START, *_TOLD, *_LISTS, "lasts_s"):
            raise FileError(
                lined.line_of((name,)),
                as_written((name,)),
                "is unknown; known: {names}",
                names=Names(
                    (*_TOLD[:4], "lasts_s", *_START, *_TOLD[4:], *(f"[[{each}]]" for each in _LISTS))
                ),
            )
    for name in _LISTS:
        if not isinstance(document.get(name, []), list):
            raise FileError(
                lined.line_of((name,)), name, "is a list: write [[{name}]], once for each", name=name
            )
    lesson: Json = {name: document[name] for name in _TOLD if name in document}
    lesson["lasts_us"] = time_us(lined, document, ("lasts_s",))
    lesson["steps"] = [_step_json(lined, entry, place) for place, entry in entries(lined, "step")]
    lesson["checks"] = [_check_json(lined, entry, place) for place, entry in entries(lined, "check")]
    raw: Json = {name: document[name] for name in _START if name in document}
    if "lane" in document:
        raw["lanes"], lesson["lanes"] = _lanes_json(lined)
    title = document.get("title")
    english = title.get("en") if isinstance(title, dict) else None
    return {
        **raw,
        **({"name": english.strip()} if isinstance(english, str) and english.strip() else {}),
        "lesson": lesson,
    }


def _lanes_json(lined: Lined) -> tuple[list[Any], Json]:
    """The lanes without their titles, and the titles by the lanes' ids: a title is the lesson's, and changes
    nothing of what runs."""
    lanes = [dict(entry) for _, entry in entries(lined, "lane")]
    titles = {str(lane.get("id", lane.get("model"))): lane.pop("title") for lane in lanes if "title" in lane}
    return lanes, titles


def entries(lined: Lined, name: str) -> Iterator[tuple[int, Json]]:
    """The tables of a list, each with its place. Raises FileError at one that is none."""
    for place, entry in enumerate(lined.document.get(name, [])):
        if not isinstance(entry, dict):
            raise FileError(
                lined.line_of((name, place)), name, "is a list: write [[{name}]], once for each", name=name
            )
        yield place, entry


def time_us(lined: Lined, fields: Json, way: Way) -> int:
    """Seconds, with a decimal point or without, as virtual microseconds."""
    value = fields.get(str(way[-1]))
    if value is None:
        raise FileError(lined.line_of(way), as_written(way), "is missing: a number of seconds")
    if (
        isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LASTS_S_MAX
    ):  # no NaN either
        raise FileError(
            lined.line_of(way),
            as_written(way),
            "must be a number of seconds from {low} to {high}",
            low=0,
            high=LASTS_S_MAX,
        )
    return round(value * 1_000_000)


def _step_json(lined: Lined, entry: Json, place: int) -> Json:
    step: Json = {"at_us": time_us(lined, entry, ("step", place, "at_s"))}
    if "caption" in entry:
        step["caption"] = entry["caption"]
    if "frame" in entry:
        step["frame"] = _frame_json(lined, entry["frame"], place)
    rest = {name: value for name, value in entry.items() if name not in (*_OF_STEP, "do")}
    if "do" not in entry:
        for name in rest:
            raise FileError(lined.line_of(("step", place, name)), as_written(("step", place, name)),
                            "belongs to a command: say which, with do = \"...\"")  # fmt: skip
        return step
    kind = entry["do"]
    if not isinstance(kind, str) or kind not in COMMANDS:
        step["order"] = {"kind": kind}  # the check of the scenario says which there are
        return step
    args = COMMANDS[kind].ARGS
    order: Json = {"kind": kind, **{name: value for name, value in rest.items() if name not in args}}
    given = {name: value for name, value in rest.items() if name in args}
    for name in order:
        if name not in ("kind", *_COMMAND):
            raise FileError(
                lined.line_of(("step", place, name)),
                as_written(("step", place, name)),
                "is unknown; known: {names}",
                names=Names((*_OF_STEP, "do", *_COMMAND, *sorted(args))),
            )
    step["order"] = {**order, "args": given} if given else order
    return step


def _frame_json(lined: Lined, raw: Any, place: int) -> Any:
    if not isinstance(raw, dict) or "stop_s" not in raw:
        return raw
    rest = {name: value for name, value in raw.items() if name != "stop_s"}
    return {**rest, "stop_us": time_us(lined, raw, ("step", place, "frame", "stop_s"))}


def _check_json(lined: Lined, entry: Json, place: int) -> Json:
    check: Json = {name: entry[name] for name in _CHECK if name in entry}
    if "at_s" in entry:
        check["at_us"] = time_us(lined, entry, ("check", place, "at_s"))
    check["asks"] = {name: value for name, value in entry.items() if name not in ("at_s", *_CHECK)}
    return check


# -- and back, for messages ----------------------------------------------------------------------------------

_PARTS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("lesson", "steps"): ("step",),
    ("lesson", "checks"): ("check",),
    ("lesson", "lasts_us"): ("lasts_s",),
    ("lesson",): (),
    ("lanes",): ("lane",),
    ("name",): ("title", "en"),
}
_INNER = {"at_us": "at_s", "stop_us": "stop_s", "kind": "do"}
_DROPPED = ("order", "args", "asks")


def _way_of(field: str, document: Json) -> Way:
    """A field of the scenario's JSON as the way to it in the file."""
    parts: tuple[str, ...] = tuple(field.split("."))
    if parts[:2] == ("lesson", "lanes") and len(parts) > 2:
        ids = [str(lane.get("id", lane.get("model"))) for lane in document["lane"]]
        parts = ("lane", str(ids.index(parts[2])), "title", *parts[3:])
    for start, written in _PARTS.items():
        if parts[: len(start)] == start:
            parts = (*written, *parts[len(start) :])
            break
    way: Way = ()
    value: Any = document
    for part in parts:
        is_inside = bool(way) and way[0] in ("step", "check")
        if is_inside and part in _DROPPED:
            continue
        name: str | int = (
            int(part)
            if isinstance(value, list) and part.isdecimal()
            else _INNER.get(part, part)
            if is_inside
            else part
        )
        way = (*way, name)
        value = value[name] if isinstance(value, list) and isinstance(name, int) and name < len(value) else (
            value.get(name) if isinstance(value, dict) else None)  # fmt: skip
    return way


def as_written(way: Way) -> str:
    """("step", 2, "caption", "zh") -> "step 3, caption.zh". Of a name that is longer than any of ours the
    beginning."""
    way = tuple(part if isinstance(part, int) else part[:NAME_SHOWN] for part in way)
    if len(way) > 1 and isinstance(way[1], int):
        return ", ".join(filter(None, (f"{way[0]} {way[1] + 1}", ".".join(map(str, way[2:])))))
    return ".".join(map(str, way))

"""Lessons on the web side: those that come along, as a course, and a lab that plays one of them or a teacher's
own."""

from dataclasses import dataclass
from functools import cache
from math import ceil

from django.utils.translation import get_language, gettext

from broker_core.events import Json
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lesson import Lesson
from broker_core.lab.scenario import Scenario, scenario_to_json
from dashboard.course import START, Place, places
from dashboard.errors import Refused, in_words
from dashboard.labs import services
from dashboard.limits import core_limits
from dashboard.models import LESSON_SLUG

MINUTE_US = 60_000_000


class TextRefused(Refused):
    """A text is not a lesson. line: where, from 1; 0 where it is no line's fault."""

    def __init__(self, error: FileError) -> None:
        super().__init__(400, {"text": error_words(error)})
        self.line = error.line


@dataclass(frozen=True, slots=True)
class Shelved:
    """A lesson that comes along. watch_us: how long it takes to watch, at the speeds that it sets itself."""

    name: str
    place: Place
    scenario: Scenario
    lesson: Lesson
    watch_us: int

    @property
    def minutes(self) -> int:
        """The same for a person: begun minutes."""
        return max(1, ceil(self.watch_us / MINUTE_US))


@cache
def shelved() -> dict[str, Shelved]:
    """All of them by name, in the order of the course."""
    files = shelf()
    return {
        name: _shelved(name, place, scenario_from_text(read_file(files[name])))
        for name, place in places().items()
    }


def lesson_named(title: Json) -> str | None:
    """The name of the lesson of this title; None for a teacher's own."""
    return next((each.name for each in shelved().values() if each.lesson.title == title), None)


def lesson_after(title: Json) -> Shelved | None:
    """What is read next after the lesson of this title: of those that one begins with the next of them, else the next
    of the course. None: there is no further one, or it is a teacher's own."""
    name = lesson_named(title)
    order = START if name in START[:-1] else tuple(shelved())
    if name is None or name == order[-1]:
        return None
    return shelved()[order[order.index(name) + 1]]


def _shelved(name: str, place: Place, scenario: Scenario) -> Shelved:
    assert scenario.lesson is not None, "a scenario file always has one"
    return Shelved(name, place, scenario, scenario.lesson, watch_us(scenario.lesson))


def watch_us(lesson: Lesson) -> int:
    """Wall time of a lesson that nobody pauses: each stretch at the speed that was ordered last.

    A clock's `speed` is of virtual time against wall time; it begins with 1.
    """
    wall, since_us, milli = 0, 0, 1000
    for entry in lesson.script():
        if entry["body"]["kind"] == "speed":
            wall += (entry["at_us"] - since_us) * 1000 // milli
            since_us, milli = entry["at_us"], round(entry["body"]["args"]["speed"] * 1000)
    return wall + (lesson.lasts_us - since_us) * 1000 // milli


def lesson_open(
    *, name: str = "", text: str = "", frame: int = 1, visitor: str | None, address: str
) -> services.OpenedLab:
    """A lab that plays the lesson of this name, or the one of this text, to a frame. Raises Refused: 404 for an unknown
    name or frame, 400 with line and field for a text that is wrong (at `text`), else as lab_open."""
    if name:
        if name not in shelved():
            raise Refused(404, {"scenario": gettext("there is no lesson of this name")})
        scenario = shelved()[name].scenario
    else:
        scenario = _read(text)
    assert scenario.lesson is not None, "a scenario file always has one"
    if not 1 <= frame <= max(1, len(scenario.lesson.frames())):
        raise Refused(404, {"frame": gettext("the lesson has no frame of this number")})
    title = scenario.lesson.title["zh" if (get_language() or "en").startswith("zh") else "en"]
    return services.lab_open(
        request={"scenario": scenario_to_json(scenario), "name": title},
        visitor=visitor,
        address=address,
        to_frame=frame,
    )


def lesson_lab(*, name: str) -> str:
    """The id of the site's own lab of this lesson, which has run to its end: who only looks needs no lab of one's own.
    Raises Refused 429 where there is no room for it."""
    found = shelved()[name]
    return services.template_ensure(
        f"{LESSON_SLUG}{name}", scenario_to_json(found.scenario), found.lesson.lasts_us, found.lesson.script()
    )


def _read(text: str) -> Scenario:
    try:
        return scenario_from_text(text, limits=core_limits())
    except FileError as error:
        raise TextRefused(error) from error


def error_words(error: FileError) -> str:
    """What is wrong with a scenario file, and where, in the reader's language."""
    reason = in_words(error)
    place = gettext("line {line}").format(line=error.line) if error.line else ""
    return ": ".join(part for part in (place, error.field, reason) if part)

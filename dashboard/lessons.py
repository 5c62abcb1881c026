"""Lessons on the web side: those that come along, by model, and a lab that plays one of them or a teacher's
own."""

from dataclasses import dataclass
from functools import cache

from django.utils.translation import get_language, gettext

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lesson import Lesson
from broker_core.lab.scenario import Scenario, scenario_to_json
from dashboard.errors import Refused, in_words
from dashboard.labs import services
from dashboard.limits import core_limits

COMPARE, KAFKA_CLUSTER = "compare", "kafka_cluster"
GROUPS = ("pulsar", KAFKA_CLUSTER, "kafka", "tubemq", "rabbitmq", COMPARE)
"""The list's headings: a model where all lanes are of it, of Kafka replicas apart from groups; else
`compare`."""
FIRST = (
    "pulsar_four_types",
    "kafka_cluster_high_watermark",
    "kafka_cluster_isr",
    "kafka_eager_join",
    "kafka_cooperative_join",
)
"""What somebody new to a heading begins with; the others follow by name."""


@dataclass(frozen=True, slots=True)
class Shelved:
    """A lesson that comes along. watch_us: how long it takes to watch, at the speeds that it sets itself."""

    name: str
    group: str
    scenario: Scenario
    lesson: Lesson
    watch_us: int


@cache
def shelved() -> tuple[Shelved, ...]:
    """All of them, in the order of the headings."""
    found = [_shelved(name, scenario_from_text(read_file(path))) for name, path in shelf().items()]
    return tuple(sorted(found, key=lambda each: (GROUPS.index(each.group), _place(each.name), each.name)))


def _place(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _shelved(name: str, scenario: Scenario) -> Shelved:
    assert scenario.lesson is not None, "a scenario file always has one"
    models = {lane.model for lane in scenario.lanes}
    group = models.pop() if len(models) == 1 else COMPARE
    if name.startswith(KAFKA_CLUSTER):
        group = KAFKA_CLUSTER
    return Shelved(name, group, scenario, scenario.lesson, watch_us(scenario.lesson))


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


def lesson_open(*, name: str = "", text: str = "", visitor: str | None, address: str) -> services.OpenedLab:
    """A lab that plays the lesson of this name, or the one of this text. Raises Refused: 404 for an unknown
    name, 400 with line and field for a text that is wrong (at `text`), else as lab_open."""
    if name:
        scenario = next((each.scenario for each in shelved() if each.name == name), None)
        if scenario is None:
            raise Refused(404, {"scenario": gettext("there is no lesson of this name")})
    else:
        scenario = _read(text)
    assert scenario.lesson is not None, "a scenario file always has one"
    title = scenario.lesson.title["zh" if (get_language() or "en").startswith("zh") else "en"]
    return services.lab_open(
        request={"scenario": scenario_to_json(scenario), "name": title}, visitor=visitor, address=address
    )


def _read(text: str) -> Scenario:
    try:
        return scenario_from_text(text, limits=core_limits())
    except FileError as error:
        raise Refused(400, {"text": error_words(error)}) from error


def error_words(error: FileError) -> str:
    """What is wrong with a scenario file, and where, in the reader's language."""
    reason = in_words(error)
    place = gettext("line {line}").format(line=error.line) if error.line else ""
    return ": ".join(part for part in (place, error.field, reason) if part)

"""A scenario played headless, from its start to its end: captions, orders and checks in the order of their
times."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from broker_core.errors import CommandError, HighwaterError
from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.commands.clock import PlayUntil
from broker_core.lab.lab import Lab
from broker_core.lab.lesson.lesson import Check, Lesson, Step
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.scenario import Scenario


class OrderRefused(HighwaterError):
    """The lab cannot carry out what a step orders. place: of the step, from 0."""

    def __init__(self, place: int, at_us: int, error: CommandError) -> None:
        self.place, self.at_us, self.error = place, at_us, error
        super().__init__(f"step {place + 1} at {at_us / 1e6} s is refused: {error}")


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a check. result: as LessonRun keeps it. place: of the check, from 0."""

    place: int
    check: Check
    result: Json


def play(scenario: Scenario, limits: Limits = DEFAULT_LIMITS) -> Iterator[Step | Came]:
    """Every step when it is done and every check when its time has come. scenario: with a lesson. Raises
    OrderRefused."""
    lesson, lab = _lesson(scenario), Lab(scenario, limits)
    told: set[int] = set()
    # Its place in a lab that is opened from the list is the same: after the order to play.
    position = 1
    for place, step in enumerate(lesson.steps):
        lab.advance_to(step.at_us)
        yield from _came(lab, lesson, told)
        if step.order is not None:
            position += 1
            try:
                lab.submit({**step.order, "position": position, "at_us": step.at_us})
            except CommandError as error:
                raise OrderRefused(place, step.at_us, error) from error
        yield step
    lab.advance_to(lesson.lasts_us)
    yield from _came(lab, lesson, told)


def view_at(scenario: Scenario, at_us: int, limits: Limits = DEFAULT_LIMITS) -> Json:
    """What a lab that plays the scenario shows at a moment of it; orders of that moment are carried out."""
    lab = Lab(scenario, limits)
    for position, entry in enumerate(_lesson(scenario).script(), start=2):
        if entry["at_us"] <= at_us:
            lab.advance_to(entry["at_us"])
            lab.submit({**entry["body"], "position": position, "at_us": entry["at_us"]})
    lab.advance_to(at_us)
    return lab.view()


def in_frames(scenario: Scenario, limits: Limits = DEFAULT_LIMITS) -> Iterator[tuple[int, Lab]]:
    """The lab at each stop of a lesson that is watched frame by frame, and at its end, as (the moment, the lab):
    played there by orders that are in its journal, with the lesson's own orders at their times carried out."""
    lesson, lab = _lesson(scenario), Lab(scenario, limits)
    script, position = deque(lesson.script()), 0
    for stop_us, speed in lesson.ways():
        if stop_us > lab.now_us:
            position += 1
            way = {"kind": PlayUntil.kind, "args": {"until_us": stop_us, "speed": speed}}
            lab.submit({**check_command({"command_id": f"next-{stop_us}", **way}), "position": position})
        while script and script[0]["at_us"] <= stop_us:
            entry, position = script.popleft(), position + 1
            lab.advance_to(entry["at_us"])
            lab.submit({**entry["body"], "position": position, "at_us": entry["at_us"]})
        lab.advance_to(stop_us)
        yield stop_us, lab


def _lesson(scenario: Scenario) -> Lesson:
    if scenario.lesson is None:
        raise ValueError("a scenario without a lesson plays nothing")
    return scenario.lesson


def _came(lab: Lab, lesson: Lesson, told: set[int]) -> Iterator[Came]:
    results = lab.lesson.results if lab.lesson is not None else {}
    for place in sorted(results.keys() - told, key=lambda place: (lesson.checks[place].at_us, place)):
        told.add(place)
        yield Came(place, lesson.checks[place], results[place])

"""A lesson while its lab runs: which caption it is at, and what came of each check at its time. Part of the
lab's state."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.events import Json
from broker_core.lab.commands.base import Command
from broker_core.lab.commands.clock import ClockCommand
from broker_core.lab.lesson.checks import holds
from broker_core.lab.lesson.lesson import OWN_IDS, Check, Lesson
from broker_core.lab.lesson.numbers import EVENTS, NoSuchNumber, number_at
from broker_core.lab.view import ShownLab, lab_numbers, lane_view


def number_shown(
    lab: ShownLab, lesson: LessonRun | None, lane: str, number: str, shown: dict[str, Json]
) -> Any:
    """What stands at `number` (numbers.py) of a lane now, of the lab where lane is "". lesson: the lab's; only one counts
    turning points. shown: views of lanes that are there already; what is made is kept in it. Raises NoSuchNumber."""
    if lesson is not None and number.startswith(EVENTS):
        return lesson.told_of(lab, lane, number.removeprefix(EVENTS))
    if lane not in shown:
        shown[lane] = lane_view(lab, lab.lanes[lane]) if lane else lab_numbers(lab)
    return number_at(shown[lane], number)


@dataclass(slots=True)
class LessonRun:
    """results: place of a check -> `{"came", "holds"}`, with "missing", what stands there instead, where
    there is no such number.
    told: lane -> kind -> turning points that were collected. meddled_us: when somebody last gave an order of
    their own."""

    lesson: Lesson
    results: dict[int, Json] = field(default_factory=dict)
    told: dict[str, dict[str, int]] = field(default_factory=dict)
    meddled_us: int | None = None

    def look(self, lab: ShownLab) -> None:
        """The checks of this very moment. All that happened up to it belongs to it; an order of the same time
        comes after."""
        shown: dict[str, Json] = {}
        for place, check in enumerate(self.lesson.checks):
            if check.at_us == lab.now_us and place not in self.results:
                self.results[place] = self._result(lab, check, shown)

    def _result(self, lab: ShownLab, check: Check, shown: dict[str, Json]) -> Json:
        try:
            came = number_shown(lab, self, check.lane, check.number, shown)
        except NoSuchNumber as missing:
            return {"came": None, "holds": False, "missing": {"name": missing.name, "known": missing.known}}
        return {"came": came, "holds": holds(came, check.asks)}

    def told_of(self, lab: ShownLab, lane: str, kind: str) -> int:
        """How many turning points of this kind there were, in one lane or in all; those that nobody has
        collected yet count, too."""
        lanes = [lab.lanes[lane]] if lane else list(lab.lanes.values())
        waiting = sum(event.kind == kind for each in lanes for event in each.out)
        return waiting + sum(self.told.get(each.id, {}).get(kind, 0) for each in lanes)

    def collected(self, events: Sequence[Json]) -> None:
        """These turning points leave the lab."""
        for event in events:
            kinds = self.told.setdefault(event["lane"], {})
            kinds[event["kind"]] = kinds.get(event["kind"], 0) + 1

    def ordered(self, command: Command, now_us: int) -> None:
        """The lab carries this out. The clock may be stopped and turned as one likes: the lesson stays the
        same."""
        if not command.command_id.startswith(OWN_IDS) and not isinstance(command, ClockCommand):
            self.meddled_us = now_us

    def view(self, now_us: int) -> Json:
        """As docs/interface.md describes it."""
        lesson = self.lesson
        captions = lesson.frames()
        *speeds, end_speed = [speed for _stop_us, speed in lesson.ways()]
        return {
            "title": lesson.title,
            "watch_for": lesson.watch_for,
            "you_will_learn": lesson.you_will_learn,
            "front": lesson.front,
            "page": lesson.page,
            "lasts_us": lesson.lasts_us,
            "meddled_us": self.meddled_us,
            "captions": [
                {
                    **step.frame.to_json(),
                    "at_us": step.at_us,
                    "stop_us": step.stop_us,
                    "speed": speed,
                    "text": step.caption,
                }
                for step, speed in zip(captions, speeds, strict=True)
            ],
            "end_speed": end_speed,
            "caption": bisect_right(captions, now_us, key=lambda step: step.at_us) - 1,
            "checks": [
                {
                    "at_us": check.at_us,
                    "lane": check.lane,
                    "number": check.number,
                    "asks": check.asks,
                    "says": check.says,
                }
                for check in lesson.checks
            ],
            "lanes": lesson.lanes,
            "results": {str(place): result for place, result in sorted(self.results.items())},
        }

    def to_json(self) -> Json:
        return {"results": self.results, "told": self.told, "meddled_us": self.meddled_us}

    def load(self, state: Json) -> None:
        self.results, self.told, self.meddled_us = state["results"], state["told"], state["meddled_us"]

"""A goal: what a lab is to come to, whenever that is. A lesson's check asks at a time of its own; a goal is looked at
again and again, with the same numbers (`numbers.py`) and the same asks (`checks.py`).

    {"lane": "kafka", "number": "tally.redelivered", "asks": {}, "for_us": 20000000}     does not change for 20 s
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE
from broker_core.lab.lesson.checks import holds
from broker_core.lab.lesson.numbers import NoSuchNumber, number_at
from broker_core.lab.lesson.run import LessonRun, number_shown
from broker_core.lab.panels import PANELS
from broker_core.lab.view import ShownLab, lane_view

OF_LANE: Mapping[str, str] = MappingProxyType(
    {
        "lag": "lag",
        "redelivered": "tally.redelivered",
        "out_of_order": "tally.out_of_order",
        "keys_moved": "tally.keys_moved",
        "unowned": "picture.partitions.owner=nothing.count",
        "skew": "skew",
    }
)
OF_CONSUMER: Mapping[str, str] = MappingProxyType(
    {
        "lag": "picture.partitions.owner={consumer}.*.lag.sum",
        "partitions": "picture.partitions.owner={consumer}.count",
        "unacked": "consumers.{consumer}.unacked",
        "rate": "consumers.{consumer}.rate",
    }
)
"""Figures that a goal can be about, as paths into a lane's view."""


def figures_of(lane: Mapping[str, Any], consumer: str = "") -> dict[str, str]:
    """Figure -> its path, of those that this lane, or this consumer of it, has a number for. lane: its view.

    >>> figures_of({"lag": 4, "skew": None, "consumers": {"c1": {"unacked": 2, "rate": 9.5}}}, "c1")
    {'unacked': 'consumers.c1.unacked', 'rate': 'consumers.c1.rate'}
    """
    if consumer and consumer not in lane["consumers"]:
        return {}
    # A dot would end the name in a path.
    paths = {figure: path.format(consumer=consumer) for figure, path in (OF_CONSUMER if consumer else OF_LANE).items()
             if "." not in consumer or "owner=" not in path}  # fmt: skip
    return {figure: path for figure, path in paths.items() if _is_there(lane, path)}


def _is_there(lane: Mapping[str, Any], path: str) -> bool:
    try:
        return number_at(lane, path) is not None
    except NoSuchNumber:
        return False


@dataclass(slots=True)
class Goal:
    """lane: "" asks the lab itself. asks: {}: the number is not to change. for_us: so long in one piece, of the lab's
    time. consumer: whose number it is, and who must be connected: one that has left owns no partition, and has no lag; "":
    the lane's. since_us: when that piece began, None: it has not; kept: the number that must stay."""

    lane: str
    number: str
    asks: Json
    for_us: int = 0
    consumer: str = ""
    since_us: int | None = None
    kept: Any = None

    def look(self, lab: ShownLab, view: Json) -> bool:
        """Whether the lab has come to it. view: of the lab as it is now; it is looked at as often as there is one."""
        try:
            came, is_there = self._number(lab, view), self._is_connected(view)
        except NoSuchNumber:
            is_there = False
        if not is_there:
            self.since_us = None
            return False
        if not (holds(came, self.asks) if self.asks else self.since_us is not None and came == self.kept):
            self.since_us, self.kept = None if self.asks else lab.now_us, came
            return False
        if self.since_us is None:
            self.since_us = lab.now_us
        return lab.now_us - self.since_us >= self.for_us

    def _is_connected(self, view: Json) -> bool:
        if not self.consumer:
            return True
        known = view["lanes"][self.lane]["consumers"].get(self.consumer)
        return known is not None and known["state"] not in (CRASHED, GONE)

    def counted(self) -> Json:
        """What it has counted so far: who takes the lab over goes on from there."""
        return {"since_us": self.since_us, "kept": self.kept}

    def _number(self, lab: ShownLab, view: Json) -> Any:
        shown = {self.lane: view["lanes"][self.lane]} if self.lane else {}
        # Panels in a view may be some seconds old: their page is not open.
        if self.lane and (panel := self.number.split(".")[0]) in PANELS:
            shown = {self.lane: lane_view(lab, lab.lanes[self.lane], (panel,))}
        lesson = lab.lesson if isinstance(lab.lesson, LessonRun) else None
        return number_shown(lab, lesson, self.lane, self.number, shown)


def goal_from_json(check: Json, counted: Json | None = None) -> Goal:
    """counted: as Goal.counted gave it; None or {} where nobody has looked yet."""
    lane, number, asks, for_us = (check[name] for name in ("lane", "number", "asks", "for_us"))
    return Goal(lane, number, asks, for_us, check.get("consumer", ""), **(counted or {}))

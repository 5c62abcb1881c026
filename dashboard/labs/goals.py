"""The goal of a lab as its driver looks at it. What the goal has counted is stored with the view that it was counted of,
and whoever takes the lab over looks at what was shown after that view, and has not been stored, once more.

    stored view ─► the frames after it ─► the holder dies ─► the next one's replay up to the floor ─► its frames
    counted        looked at, not stored                     looked at, each LOOK_US               looked at
"""

from broker_core.events import Json
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.lesson.goal import Goal, goal_from_json
from broker_core.lab.pieces import Pieces
from dashboard.labs.past.look import come_to
from dashboard.labs.writes import Commit
from dashboard.models import Lab
from dashboard.stored import intact

LOOK_US = 50_000
"""Between two looks on the way to the floor: a frame's beat."""


class GoalWatch:
    """Of one lab under one epoch. has_come: to its goal, which is not stored yet."""

    def __init__(self, row: Lab) -> None:
        self.goal = _goal_of(row)
        self.has_come = False
        self._looked_us = come_to(row) if self.goal is not None else 0
        self._stored = None if self.goal is None else self.goal.counted()

    def slice_us(self, now_us: int, slice_us: int) -> int:
        """How far the replay may go before the next look."""
        if self.goal is None:
            return slice_us
        return min(slice_us, self._looked_us - now_us if now_us < self._looked_us else LOOK_US)

    def replayed(self, core: CoreLab) -> Pieces[None]:
        """Look at a moment of the replay, if nobody has who stored it."""
        if self.goal is not None and core.now_us > self._looked_us:
            self.look(core, (yield from core.viewing(())))

    def look(self, core: CoreLab, view: Json) -> None:
        """view: of the lab as it is now."""
        if self.goal is not None and not self.has_come:
            self.has_come = self.goal.look(core, view)

    def keep(self, commit: Commit) -> None:
        """Have it stored. What has come true is, once."""
        if self.goal is None:
            return
        commit.has_come = self.has_come
        if (counted := self.goal.counted()) != self._stored:
            commit.extra["goal_counted"] = self._stored = counted
        if self.has_come:
            self.goal, self.has_come = None, False


def _goal_of(row: Lab) -> Goal | None:
    """None where the lab has no goal, or has come to it."""
    goal = row.goal
    if goal is None or goal.held_at is not None:
        return None
    return goal_from_json(intact(goal.asked), intact(row.goal_counted))

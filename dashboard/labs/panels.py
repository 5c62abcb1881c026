"""Which panels of a lab's view a frame makes (broker_core/lab/panels.py): they are dearer than the Stage's
picture, and most of the time nobody has their page open.

A panel that is not made stays in the view as it last was. So a page finds one to begin with, a command is
checked against what is there, and snapshots and patches agree; only its age differs.
"""

from collections.abc import Collection

from broker_core.events import Json
from broker_core.lab.panels import PANELS

EVERY_S = 5.0  # how old one may be whose page nobody has open


class Panels:
    """Of one lab. watched: those whose page is open."""

    def __init__(self) -> None:
        self.watched: frozenset[str] = frozenset()
        self._whole_wall_s = -1e9

    def due(self, wall_s: float, is_whole: bool) -> Collection[str]:
        """Those that the next view has. is_whole: all, as something was ordered or happened, which is what a
        command's check looks at."""
        if is_whole or wall_s - self._whole_wall_s >= EVERY_S:
            self._whole_wall_s = wall_s
            return PANELS
        return self.watched

    def keep(self, before: Json, view: Json) -> None:
        """Give each lane of a view the panels that were not made for it. They are the very objects of the view
        before, which a comparison sees at once."""
        for lane_id, lane in view["lanes"].items():
            known = before.get("lanes", {}).get(lane_id, {})
            lane.update({name: known[name] for name in PANELS if name in known and name not in lane})

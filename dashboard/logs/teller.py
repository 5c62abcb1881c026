"""The shard's side of a replica's log: what one broker has on its disk, left beside the folder that somebody
looks at.

The lab's core runs in its shard alone, and the log of a replica is in there. While somebody looks at a
replica its folder has a fresh mark (`replicas.py`); then this leaves `replica.json` in it, which the writer's
loop turns into Kafka's files (`writer.py`). Nobody looks: one look for folders in half a second. Somebody
looks: at most a file a third of a second, and rather a twentieth of the shard's time, but one in 2 s. What
cannot be written is dropped and logged: a page is not worth a lab.
"""

import json
import logging
import time
from pathlib import Path

from django.conf import settings

from broker_core.events import Json
from broker_core.lab.kafka.views.replica import replica_view
from broker_core.lab.lab import Lab as CoreLab
from dashboard.logs.places import BROKER, MOMENT, REPLICA, REQUEST, WATCHED, labs_dir, write_json

log = logging.getLogger(__name__)

LOOK_S = 0.5
WRITE_S = 0.3
APART_S = 2.0  # however long it takes
SHARE = 20  # a file that took so long is written again when that many times as long has passed


class ReplicaTeller:
    """Tells of one lab's replicas. Called after each frame; cheap when nobody looks at one."""

    def __init__(self, lab_id: str) -> None:
        self.folder = labs_dir() / lab_id / "kafka"
        self._looked_s = self._due_s = -1e9
        self._wanted: list[tuple[Path, Json]] = []
        self._requests: dict[Path, Json] = {}
        self._told: dict[Path, tuple[int, int]] = {}

    def tell(self, core: CoreLab, wall_s: float) -> None:
        """Leave what is wanted. wall_s: from anywhere, never backwards. Raises nothing."""
        try:
            self._tell(core, wall_s)
        except Exception as error:
            log.warning("%s: sending a replica's log failed: %s", self.folder, error)
            self._due_s = wall_s + 1.0

    def _tell(self, core: CoreLab, wall_s: float) -> None:
        if wall_s - self._looked_s >= LOOK_S:
            self._looked_s = wall_s
            self._wanted = [
                (folder, request)
                for folder in self.folder.glob("*/")
                if (request := self._request(folder)) and MOMENT not in request and _is_watched(folder)
            ]
        if not self._wanted or wall_s < self._due_s:
            return
        started_s = time.perf_counter()
        mark = (core.now_us, core.position)
        for folder, request in self._wanted:
            lane = core.lanes.get(request["lane"])
            if lane is not None and (self._told.get(folder) != mark or not (folder / REPLICA).exists()):
                write_json(
                    folder / REPLICA,
                    replica_view(
                        lane.world, request[BROKER], (request["topic"], request["partition"]), lane.messages
                    ),
                )
                self._told[folder] = mark
        self._due_s = wall_s + min(APART_S, max(WRITE_S, SHARE * (time.perf_counter() - started_s)))

    def _request(self, folder: Path) -> Json | None:
        """What the folder is of; None of one that is just being made. A folder's request never changes."""
        if folder not in self._requests:
            try:
                request: Json = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                return None
            self._requests[folder] = request
        return self._requests[folder]


def _is_watched(folder: Path) -> bool:
    try:
        return (folder / WATCHED).stat().st_mtime > time.time() - settings.LAB_LOG_WATCHED_S
    except OSError:
        return False

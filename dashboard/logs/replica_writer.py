"""The writer's loop for a replica: what the lab's shard has told of it, as Kafka's files."""

import json
import shutil
from pathlib import Path

from broker_core.events import Json
from broker_core.lab.kafka_log.cleaning import clean_json
from broker_core.lab.kafka_log.replica_bytes import EPOCH_MS
from broker_core.lab.kafka_log.replica_log import ReplicaLog
from broker_core.lab.kafka_log.settings import FolderSettings
from broker_core.lab.kafka_log.unsynced_folder import UnsyncedFolder
from broker_core.lab.workload.parse import Workload
from dashboard.logs.places import REPLICA, STATE, write_json
from dashboard.logs.replicas import is_compacted, table_of

GENERATIONS_KEPT = 2
"""The one that is written, and the one that a reader may still be in."""


class ReplicaWriting:
    """One open folder of a replica. A process that takes it over begins a new generation: nobody has noted
    what is in the last one."""

    def __init__(self, folder: Path, description: Json, workload: Workload) -> None:
        self.folder, self.description, self.lab_id = folder, description, description["lab"]
        self.log = ReplicaLog(
            lambda name: UnsyncedFolder(folder / name),
            f"{description['topic']}-{description['partition']}",
            workload=workload,
            settings=FolderSettings(**description["settings"]),
            generation=max(_generations(folder), default=0),
        )
        self.state: Json = {}
        self._stamp = 0

    def write(self) -> None:
        """Take what was reported since the last time. Raises StorageFull."""
        path = self.folder / REPLICA
        try:
            stamp = path.stat().st_mtime_ns
            told: Json = json.loads(path.read_text(encoding="utf-8")) if stamp != self._stamp else {}
        except FileNotFoundError:
            return
        if not told:
            return
        self.state, self._stamp = self.log.take(told), stamp
        write_json(self.folder / STATE, self.state)
        for old in sorted(_generations(self.folder))[:-GENERATIONS_KEPT]:
            shutil.rmtree(self.folder / str(old), ignore_errors=True)

    def clean_json(self) -> Json | None:
        """What a round of the cleaner would do to it now; None while nothing was reported of it."""
        if not self.state:
            return None
        if not is_compacted(self.state):
            return {"log": None, "reason": "not_compacted"}
        table, about = table_of(self.folder, self.description, self.state)
        return clean_json(table, **about)

    def close(self) -> None:
        self.log.close(EPOCH_MS + self.state.get("at_us", 0) // 1000)


def _generations(folder: Path) -> list[int]:
    return [int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()]

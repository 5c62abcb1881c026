"""A journal's folder: the log itself is one file that people keep and send, its indexes are in memory, for they follow from
it."""

from __future__ import annotations

from pathlib import Path

from broker_core.kafka.log.disk_storage import DiskFile
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.storage import LogFile

LOG_NAME = f"{0:020}.log"


class OneFile(MemoryFolder):
    """path: of the one file; what it holds already is kept."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        if path.exists():
            super().open(LOG_NAME)

    def open(self, name: str) -> LogFile:  # type: ignore[override]
        if name != LOG_NAME:
            return super().open(name)
        super().open(name)
        return DiskFile(self.path)

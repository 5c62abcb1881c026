"""Which leader wrote from which offset on: the rows of `leader-epoch-checkpoint`, both numbers rising.

Source: Kafka 3.9 storage/internals/epoch/LeaderEpochFileCache.
"""

from __future__ import annotations

from broker_core.kafka.log.checkpoints import read_leader_epochs, write_leader_epochs
from broker_core.kafka.log.storage import Folder


class LeaderEpochs:
    """The epochs of one partition, written through to their file."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.rows = read_leader_epochs(folder)
        self.latest = self.rows[-1][0] if self.rows else -1  # -1: none yet

    def assign(self, epoch: int, start_offset: int) -> None:
        """A leader of that epoch writes from that offset on. Rows that contradict it (epoch or offset not below) go."""
        kept = [row for row in self.rows if row[0] < epoch and row[1] < start_offset]
        if (epoch, start_offset) not in self.rows or len(kept) + 1 < len(self.rows):
            self._store([*kept, (epoch, start_offset)])

    def truncate_from_end(self, end_offset: int) -> None:
        """The log ends there now: epochs that began at or behind it wrote nothing."""
        self._store([row for row in self.rows if row[1] < end_offset])

    def truncate_from_start(self, start_offset: int) -> None:
        """The log begins there now: the epoch that covers it begins there too."""
        before = [row for row in self.rows if row[1] <= start_offset]
        after = [row for row in self.rows if row[1] > start_offset]
        self._store([(before[-1][0], start_offset), *after] if before else after)

    def _store(self, rows: list[tuple[int, int]]) -> None:
        if rows != self.rows:
            self.rows = rows
            self.latest = rows[-1][0] if rows else -1
            write_leader_epochs(self._folder, rows)

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
        self._look_at_latest()

    def assign(self, epoch: int, start_offset: int) -> None:
        """A leader of that epoch writes from that offset on. Rows that contradict it (epoch or offset not below) go.

        The newest epoch again, from a later offset, changes nothing.
        """
        if epoch == self.latest and start_offset >= self.latest_start:
            return
        self._store([*(row for row in self.rows if row[0] < epoch and row[1] < start_offset), (epoch, start_offset)])

    def truncate_from_end(self, end_offset: int) -> None:
        """The log now ends there: epochs that began at or after it wrote nothing."""
        self._store([row for row in self.rows if row[1] < end_offset])

    def clear(self) -> None:
        self._store([])

    def truncate_from_start(self, start_offset: int) -> None:
        """The log begins there now: the epoch that covers it begins there too."""
        before = [row for row in self.rows if row[1] <= start_offset]
        after = [row for row in self.rows if row[1] > start_offset]
        self._store([(before[-1][0], start_offset), *after] if before else after)

    def _store(self, rows: list[tuple[int, int]]) -> None:
        if rows != self.rows:
            self.rows = rows
            self._look_at_latest()
            write_leader_epochs(self._folder, rows)

    def _look_at_latest(self) -> None:
        """The newest epoch, and where it begins; -1, 0: none yet."""
        self.latest, self.latest_start = self.rows[-1] if self.rows else (-1, 0)

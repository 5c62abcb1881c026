"""Which leader wrote from which offset on: the rows of `leader-epoch-checkpoint`, both numbers rising.

    rows (2, 6) (3, 8) (4, 11), log end 15      epoch 2 ends at 8, epoch 3 at 11, epoch 4 at 15; of epoch 5 nothing is known

A follower asks its leader where an epoch ends, and cuts off what it has beyond: replication/fetcher.py.

Source: Kafka 3.9 storage/internals/epoch/LeaderEpochFileCache.
Vectors: kafka/replication/epoch_cache.json.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from broker_core.errors import CommandError
from broker_core.kafka.log.checkpoints import read_leader_epochs, write_leader_epochs
from broker_core.kafka.log.storage import Folder

EpochStart = tuple[int, int]
"""An epoch and its start offset; of an epoch asked for, it and its end offset."""
UNDEFINED = (-1, -1)


class LeaderEpochs:
    """The epochs of one partition, written through to their file."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.rows = read_leader_epochs(folder)
        self._look_at_latest()

    def assign(self, epoch: int, start_offset: int) -> None:
        """A leader of that epoch writes from that offset on. Rows that contradict it (epoch or offset not
        below) go.

        The newest epoch again, from a later offset, changes nothing. Raises CommandError for a negative
        number.
        """
        if epoch == self.latest >= 0 and start_offset >= self.latest_start:
            return
        self._store(_with(self.rows, epoch, start_offset))

    def assign_all(self, starts: Iterable[EpochStart]) -> None:
        """Assign (epoch, start offset) one by one, with one write to the file. Raises CommandError as
        `assign` does."""
        rows = self.rows
        for epoch, start_offset in starts:
            rows = _with(rows, epoch, start_offset)
        self._store(rows)

    def truncate_from_end(self, end_offset: int) -> None:
        """The log now ends there: epochs that began at or after it wrote nothing. A negative offset changes
        nothing."""
        if end_offset >= 0:
            self._store([row for row in self.rows if row[1] < end_offset])

    def clear(self) -> None:
        """Forget them; the file stays as it is, for a log that is about to go."""
        self.rows = []
        self._look_at_latest()

    def clear_and_flush(self) -> None:
        """Forget them, in the file too."""
        self.clear()
        write_leader_epochs(self._folder, self.rows)

    def truncate_from_start(self, start_offset: int) -> None:
        """The log begins there now: the epoch that covers it begins there too, even beyond the last
        record."""
        self._store(_from(self.rows, start_offset))

    # --- what is asked

    @property
    def earliest_row(self) -> EpochStart | None:
        """The oldest epoch, and where it begins; None: none yet."""
        return self.rows[0] if self.rows else None

    def row_of(self, epoch: int) -> EpochStart | None:
        """That epoch, and where it begins; None: it wrote nothing here."""
        row = self.previous_row(epoch + 1)
        return row if row is not None and row[0] == epoch else None

    def previous_row(self, epoch: int) -> EpochStart | None:
        """The newest epoch below that one; None: there is none."""
        index = bisect_left(self.rows, epoch, key=_epoch)
        return self.rows[index - 1] if index else None

    def next_row(self, epoch: int) -> EpochStart | None:
        """The oldest epoch above that one; None: there is none."""
        index = bisect_right(self.rows, epoch, key=_epoch)
        return self.rows[index] if index < len(self.rows) else None

    def epoch_of(self, offset: int) -> int | None:
        """The epoch that covers an offset; None: it is before the first."""
        index = bisect_right(self.rows, offset, key=_start)
        return self.rows[index - 1][0] if index else None

    def rows_between(self, start_offset: int, end_offset: int) -> list[EpochStart]:
        """The epochs of the offsets from `start_offset` up to `end_offset`, the first cut at the start.
        Negative: no bound."""
        rows = self.rows if start_offset < 0 else _from(self.rows, start_offset)
        return rows if end_offset < 0 else [row for row in rows if row[1] < end_offset]

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochStart:
        """Where an epoch ends: (largest known epoch at or below it, end offset), UNDEFINED (-1, -1) above all
        known ones.

        The newest epoch ends at the log end. One older than all known ones ends, itself, where the oldest
        begins.
        """
        if epoch == self.latest >= 0:
            return epoch, log_end_offset
        after = self.next_row(epoch)
        if epoch == UNDEFINED[0] or after is None:
            return UNDEFINED
        before = self.previous_row(epoch + 1)
        return epoch if before is None else before[0], after[1]

    # --- inside

    def _store(self, rows: list[EpochStart]) -> None:
        if rows != self.rows:
            self.rows = rows
            self._look_at_latest()
            write_leader_epochs(self._folder, rows)

    def _look_at_latest(self) -> None:
        """The newest epoch, and where it begins; -1, 0: none yet."""
        self.latest, self.latest_start = self.rows[-1] if self.rows else (-1, 0)


def _epoch(row: EpochStart) -> int:
    return row[0]


def _start(row: EpochStart) -> int:
    return row[1]


def _with(rows: list[EpochStart], epoch: int, start_offset: int) -> list[EpochStart]:
    if epoch < 0 or start_offset < 0:
        raise CommandError(
            "epoch",
            "an epoch and its start offset are not negative: {epoch}, {offset}",
            epoch=epoch,
            offset=start_offset,
        )
    if rows and rows[-1][0] == epoch and rows[-1][1] <= start_offset:
        return rows
    return [*(row for row in rows if row[0] < epoch and row[1] < start_offset), (epoch, start_offset)]


def _from(rows: list[EpochStart], start_offset: int) -> list[EpochStart]:
    index = bisect_right(rows, start_offset, key=_start)
    return [(rows[index - 1][0], start_offset), *rows[index:]] if index else rows

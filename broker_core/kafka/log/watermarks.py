"""How far consumers may read: to the high watermark, and those that want whole transactions to the last stable offset.

    log start        last stable offset        high watermark        log end
        v                    v                       v                  v
        [ committed records  | [tx 7 ..... marker 7] |  not replicated  )
                               still unstable: its marker is above the high watermark

The high watermark is what all in-sync replicas hold. A transaction holds the last stable offset until its marker is
below the high watermark: until then a change of leader could still undo the marker.

Source: Kafka 3.9 core UnifiedLog (updateHighWatermark, maybeIncrementFirstUnstableOffset, maybeIncrementLogStartOffset).
Vectors: kafka/replication/unified_log.json, producer_state.json.
"""

from __future__ import annotations

from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.leader_epochs import LeaderEpochs
from broker_core.kafka.log.local_log import LocalLog
from broker_core.kafka.log.producer_snapshots import follow_log_start
from broker_core.kafka.log.producer_state import ProducerState


class WatermarkedLog(LocalLog):
    """A partition's segments, and the offsets up to which they may be read."""

    producers: ProducerState
    epochs: LeaderEpochs
    recovery_point: int
    _high_watermark: int | None = None  # None: nobody replicates, all that is appended counts
    _first_unstable: int | None = None

    @property
    def high_watermark(self) -> int:
        """Consumers read up to here: the log end, until somebody sets it."""
        return self.log_end_offset if self._high_watermark is None else self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        """Set it, on a leader or a follower; it may go back, and stays within log start and log end."""
        self._high_watermark = max(self.log_start_offset, min(offset, self.log_end_offset))
        self.producers.forget_replicated(self._high_watermark)
        self._note_stable()

    @property
    def is_replicated(self) -> bool:
        """Whether somebody sets the high watermark; else it is the log end."""
        return self._high_watermark is not None

    def raise_high_watermark(self, offset: int) -> bool:
        """Move it forward, as a leader does; a lower offset changes nothing. Tells whether it moved.

        Raises OffsetOutOfRange above the log end.
        """
        if offset > self.log_end_offset:
            raise OffsetOutOfRange(f"high watermark {offset}; the log ends at {self.log_end_offset}")
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        return True

    @property
    def last_stable_offset(self) -> int:
        """read_committed consumers, and the cleaner, go no further: here the oldest unstable transaction begins."""
        unstable = self._first_unstable
        return self.high_watermark if unstable is None else min(self.high_watermark, unstable)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is open, or whose marker the high watermark has not passed; None: there is none."""
        return self._first_unstable

    def raise_log_start(self, offset: int) -> bool:
        """Nobody reads below that offset any more; a lower one changes nothing. Tells whether it moved.

        Raises OffsetOutOfRange above the high watermark.
        """
        if offset > self.high_watermark:
            raise OffsetOutOfRange(f"offset {offset}; the high watermark is {self.high_watermark}")
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.recovery_point = max(self.recovery_point, offset)
        self.epochs.truncate_from_start(offset)
        follow_log_start(self.folder, self.producers, offset)
        self._note_stable()
        return True

    def _note_stable(self) -> None:
        """Work out where the oldest unstable transaction begins; below the log start there is nothing to hold back."""
        if self._high_watermark is None:
            self.producers.forget_replicated(self.log_end_offset)
        unstable = self.producers.first_unstable_offset()
        self._first_unstable = None if unstable is None else max(unstable, self.log_start_offset)

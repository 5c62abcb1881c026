"""How far consumers may read: to the high watermark, and those that want whole transactions to the last
stable offset.

    log start        last stable offset        high watermark        log end
        v                    v                       v                  v
        [ committed records  | [tx 7 ..... marker 7] |  not replicated  )
                               still unstable: its marker is above the high watermark

The high watermark is what all in-sync replicas hold. A transaction holds the last stable offset until its
marker is below the high watermark: until then a change of leader could still undo the marker.

Source: Kafka 3.9 core UnifiedLog (updateHighWatermark, maybeIncrementFirstUnstableOffset,
maybeIncrementLogStartOffset).
Vectors: kafka/replication/unified_log.json, producer_state.json.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.leader_epochs import LeaderEpochs
from broker_core.kafka.log.local_log import EARLIEST, LATEST, Fetched, LocalLog
from broker_core.kafka.log.producer_snapshots import follow_log_start
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.transaction_index import AbortedTransaction


class Isolation(Enum):
    """Who reads: replicas up to the log end, consumers up to the high watermark, or up to the last stable
    offset (read_committed)."""

    LOG_END = "log_end"
    HIGH_WATERMARK = "high_watermark"
    TXN_COMMITTED = "txn_committed"


class IsolatedRead(NamedTuple):
    """What was read. aborted: the aborted transactions in it; None: nobody asked, or there is no record at or
    after the offset."""

    fetched: Fetched
    aborted: list[AbortedTransaction] | None


class WatermarkedLog(LocalLog):
    """A partition's segments, and the offsets up to which they may be read."""

    producers: ProducerState
    epochs: LeaderEpochs
    recovery_point: int
    _high_watermark: int | None = None  # None: nobody replicates, all that is appended counts
    _first_unstable: int | None = None
    _has_open_end = (
        False  # a truncation inside a batch took the batch whole: no record is just below the log end
    )
    _is_placed = True  # whether the place of the high watermark in the segments is known

    @property
    def high_watermark(self) -> int:
        """Consumers read up to here: the log end, until somebody sets it."""
        return self.log_end_offset if self._high_watermark is None else self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        """Set it, on a leader or a follower; it may go back, and stays within log start and log end."""
        start, end = self.log_start_offset, self.log_end_offset
        # Of the log start the original knows the offset only, even where the log ends there too.
        self._is_placed = offset >= end and offset >= start
        self._high_watermark = start if offset < start else min(offset, end)
        if self.producers.is_without_transactions:
            self._first_unstable = None
        else:
            self.producers.forget_replicated(offset)
            self._note_stable()

    @property
    def is_replicated(self) -> bool:
        """Whether somebody sets the high watermark; else it is the log end."""
        return self._high_watermark is not None

    def raise_high_watermark(self, offset: int, *, is_placed: bool = False) -> bool:
        """Move it forward, as a leader does; a lower offset changes nothing. Tells whether it moved.

        is_placed: the offset's place is known, from the read that told it. Raises OffsetOutOfRange above the
        log end.
        """
        if offset > self.log_end_offset:
            raise OffsetOutOfRange(f"high watermark {offset}; the log ends at {self.log_end_offset}")
        if offset <= (
            self._high_watermark
            if self._is_placed and self._high_watermark is not None
            else self.placed_high_watermark()
        ):
            return False
        self.high_watermark = offset
        self._is_placed = self._is_placed or is_placed
        return True

    def placed_high_watermark(self) -> int:
        """Look up where the high watermark is in the segments, as every reader does, and give it.

        Where a truncation inside a batch has taken the records around it, it moves up to the log end: the
        original finds no other place.
        """
        if not self._is_placed:
            # It is set again, even to what it was: the first unstable offset is looked at with it.
            self.high_watermark = (
                self.log_end_offset if self.is_in_open_end(self.high_watermark) else self.high_watermark
            )
            self._is_placed = self.high_watermark >= self.segments[0].base_offset
        return self.high_watermark

    def read_as(
        self, isolation: Isolation, offset: int, bytes_max: int, *, at_least_one: bool = True
    ) -> IsolatedRead:
        """Give what such a reader may read from that offset on; bytes_max, at_least_one: as `read`. A batch
        that the end cuts is left out.

        Raises OffsetOutOfRange as `read` does.
        """
        if offset < self.log_start_offset:
            raise OffsetOutOfRange(f"offset {offset}; the log starts at {self.log_start_offset}")
        end = self.log_end_offset if isolation is Isolation.LOG_END else self.placed_high_watermark()
        if isolation is Isolation.TXN_COMMITTED:
            end = self.last_stable_offset
        fetched = self.read(offset, bytes_max, end_offset=end, at_least_one=at_least_one)
        if isolation is not Isolation.TXN_COMMITTED:
            return IsolatedRead(fetched, None)
        if offset >= end:
            return IsolatedRead(fetched, [])
        is_beyond = not fetched.data and self.is_in_open_end(offset)
        return IsolatedRead(fetched, None if is_beyond else self.aborted_in(fetched, offset))

    def is_in_open_end(self, offset: int) -> bool:
        """Whether an offset is in the hole that a truncation inside a batch has left below the log end."""
        is_inside = self._has_open_end and self.segments[0].base_offset <= offset < self.log_end_offset
        return is_inside and self.is_beyond_records(offset)

    @property
    def last_stable_offset(self) -> int:
        """read_committed consumers, and the cleaner, go no further: here the oldest unstable transaction
        begins."""
        unstable = self._first_unstable
        return self.high_watermark if unstable is None else min(self.high_watermark, unstable)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is open, or whose marker the high watermark has not
        passed; None: there is none."""
        return self._first_unstable

    def epoch_of_answer(self, timestamp: int, offset: int) -> int | None:
        """Give the leader epoch that goes with an answer of `offset_for_time`; None: none is known.

        For EARLIEST the oldest epoch if it covers the log start, for LATEST the newest one, else the epoch of
        the batch found.
        """
        if timestamp == LATEST:
            return self.epochs.latest if self.epochs.rows else None
        if timestamp == EARLIEST:
            row = self.epochs.earliest_row
            return row[0] if row is not None and row[1] <= self.log_start_offset else None
        epoch = next(self.batches(offset)).header.partition_leader_epoch
        return epoch if epoch >= 0 else None

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
        """Work out where the oldest unstable transaction begins; below the log start there is nothing to hold
        back."""
        if self._high_watermark is None:
            self.producers.forget_replicated(self.log_end_offset)
        unstable = self.producers.first_unstable_offset()
        if unstable is not None and unstable < self.log_start_offset:
            unstable = (
                self.log_end_offset if self.is_in_open_end(self.log_start_offset) else self.log_start_offset
            )
        self._first_unstable = unstable

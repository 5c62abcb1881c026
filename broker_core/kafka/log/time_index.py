"""The time index: from which record on a time can be reached at the earliest.

    timestamp 8   relative offset 4        row = (largest timestamp so far, the offset that brought it)

A row says: up to this offset nothing is later than this timestamp. So a search for "first record at or after
T" takes the last row at or below T, and scans from its offset. (The article of docs/kafka/log.md takes the
row at or above T; that rule is `time_lookup_document` in time_lookup.py, with a case where it misses
records.)

Source: Kafka 3.9 storage/internals/log/TimeIndex.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import NamedTuple

from broker_core.errors import InvariantError
from broker_core.kafka.log.index_file import CorruptIndex, IndexFile
from broker_core.kafka.log.storage import LogFile

ROW = struct.Struct(">qi")


class TimestampOffset(NamedTuple):
    """A timestamp in ms, and the offset of the record that has it."""

    timestamp: int
    offset: int


class TimeIndex(IndexFile):
    """One `.timeindex` file."""

    def __init__(self, file: LogFile, base_offset: int, bytes_max: int) -> None:
        # The largest timestamp must still go in when the segment is closed.
        super().__init__(file, base_offset, bytes_max, ROW, rows_kept_free=1)
        self.last_entry = self._last()

    def maybe_append(self, timestamp: int, offset: int, *, at_close: bool = False) -> None:
        """Add a row if the timestamp is above the last one. at_close: also into the row that is kept free."""
        last_timestamp, last_offset = self.last_entry
        if timestamp <= last_timestamp:
            return
        if self.is_full and not at_close:
            raise InvariantError(f"{self.file.name} is full")
        if self.row_count and offset < last_offset:
            raise InvariantError(f"{self.file.name}: offset {offset} is below {last_offset}")
        self.add_row(timestamp, offset - self.base_offset)
        self.last_entry = TimestampOffset(timestamp, offset)

    def lookup(self, timestamp: int, probes: list[int] | None = None) -> TimestampOffset:
        """Give the last row at or below the timestamp; (-1, base offset) where there is none."""
        slot = self.slot_at_or_below(timestamp, probes)
        return self.entry(slot) if slot >= 0 else TimestampOffset(-1, self.base_offset)

    def entry(self, slot: int) -> TimestampOffset:
        timestamp, relative = self.row_at(slot)
        return TimestampOffset(timestamp, self.base_offset + relative)

    def truncate_to(self, offset: int) -> None:
        """Drop the rows at or above the offset. Offsets rise with timestamps, so these rows are at the
        end."""
        count = self.row_count
        while count and self.entry(count - 1).offset >= offset:
            count -= 1
        self.truncate_rows(count)
        self.last_entry = self._last()

    def check(self) -> None:
        """Raise CorruptIndex unless this can be a time index."""
        self.check_size()
        rows = self.rows()
        for (timestamp, offset), (next_timestamp, next_offset) in pairwise(rows):
            if next_timestamp <= timestamp or next_offset < offset:
                raise CorruptIndex(f"{self.file.name}: a row does not rise")
        if rows and (rows[0][0] < 0 or rows[0][1] < 0):
            raise CorruptIndex(f"{self.file.name}: a row points before the segment")

    def _last(self) -> TimestampOffset:
        return self.entry(self.row_count - 1) if self.row_count else TimestampOffset(-1, self.base_offset)

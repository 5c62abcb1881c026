"""The offset index: where in the `.log` file to begin looking for an offset.

    relative offset 4   position 4         row = (largest offset of an append - base offset, where the append starts)

One row for about every `index.interval.bytes` of log. A relative offset fits in four bytes, which is why a
segment may not span more than 2^31 - 1 offsets.

Source: Kafka 3.9 storage/internals/log/OffsetIndex.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

from broker_core.errors import InvariantError
from broker_core.kafka.log.index_file import CorruptIndex, IndexFile
from broker_core.kafka.log.storage import LogFile

ROW = struct.Struct(">ii")


class OffsetPosition(NamedTuple):
    """A record's offset and where the append that ended with it starts in the file."""

    offset: int
    position: int


class OffsetIndex(IndexFile):
    """One `.index` file."""

    def __init__(self, file: LogFile, base_offset: int, bytes_max: int) -> None:
        super().__init__(file, base_offset, bytes_max, ROW)
        last = self.last_row()
        self.last_offset = base_offset + last[0] if last else base_offset

    def append(self, offset: int, position: int) -> None:
        """Add a row. The offset must be above the last one."""
        if self.row_count and offset <= self.last_offset:
            raise InvariantError(f"{self.file.name}: offset {offset} is not above {self.last_offset}")
        self.add_row(offset - self.base_offset, position)
        self.last_offset = offset

    def lookup(self, offset: int, probes: list[int] | None = None) -> OffsetPosition:
        """Give the last row at or below the offset; (base offset, 0) where there is none."""
        slot = self.slot_at_or_below(offset - self.base_offset, probes)
        return self.entry(slot) if slot >= 0 else OffsetPosition(self.base_offset, 0)

    def first_at_or_after_position(self, position: int) -> OffsetPosition | None:
        """Give the first row whose append starts at or after that position in the file; None: there is
        none."""
        slot = bisect_left(range(self.row_count), position, key=lambda slot: self.row_at(slot)[1])
        return self.entry(slot) if slot < self.row_count else None

    def entry(self, slot: int) -> OffsetPosition:
        relative, position = self.row_at(slot)
        return OffsetPosition(self.base_offset + relative, position)

    def truncate_to(self, offset: int) -> None:
        """Drop the rows at or above the offset."""
        self.truncate_rows(self.slot_at_or_below(offset - 1 - self.base_offset) + 1)
        last = self.last_row()
        self.last_offset = self.base_offset + last[0] if last else self.base_offset

    def check(self, log_size: int) -> None:
        """Raise CorruptIndex unless this can be the index of a log of that many bytes."""
        self.check_size()
        rows = self.rows()
        for (offset, position), (next_offset, next_position) in pairwise(rows):
            if next_offset <= offset or next_position <= position:
                raise CorruptIndex(f"{self.file.name}: a row does not rise")
        if rows and (rows[0][0] < 0 or rows[0][1] < 0 or rows[-1][1] >= log_size):
            raise CorruptIndex(f"{self.file.name}: a row points out of the log")

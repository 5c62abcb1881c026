"""What both indexes of a segment share: rows of fixed size, rising in their first field, searched by halves.

A row is written only now and then (`index.interval.bytes`), so a search gives the last row at or below the
target, and the log is scanned from there. The original first looks into the last 8 KiB of rows: most readers
read the newest records, and those pages are in memory.

Source: Kafka 3.9 storage/internals/log/AbstractIndex.indexSlotRangeFor.
"""

from __future__ import annotations

import struct

from broker_core.errors import HighwaterError
from broker_core.kafka.log.storage import LogFile, StorageFull

WARM_BYTES = 8192
ROWS_A_WRITE = 400


class CorruptIndex(HighwaterError):
    """An index that cannot belong to this segment; it is rebuilt from the log."""


class IndexFile:
    """Rows of two numbers, the first of which rises.

    row: how a row is packed. bytes_max: segment.index.bytes, the room for rows. rows_kept_free: of that room,
    those that only the end of the segment's life may take.
    Of a closed segment the rows are a view into the mapped file. While a segment grows they are in memory,
    and written a page at a time: a crash may lose some, but after a crash the index is rebuilt from the log
    in any case.
    """

    def __init__(
        self, file: LogFile, base_offset: int, bytes_max: int, row: struct.Struct, rows_kept_free: int = 0
    ) -> None:
        self.file = file
        self.base_offset = base_offset
        self.row_size = row.size
        self.row_count_max = bytes_max // row.size - rows_kept_free
        self.row_count = file.size // row.size
        self.is_full = self.row_count >= self.row_count_max
        self._row = row
        self._rows: memoryview | bytearray = file.view(0, self.row_count * row.size)

    def row_at(self, slot: int) -> tuple[int, int]:
        """Give the two numbers of a row."""
        first, second = self._row.unpack_from(self._rows, slot * self.row_size)
        return first, second

    def rows(self) -> list[tuple[int, int]]:
        """Give all rows, in order."""
        return [(first, second) for first, second in self._row.iter_unpack(self._rows)]

    def last_row(self) -> tuple[int, int] | None:
        return self.row_at(self.row_count - 1) if self.row_count else None

    def add_row(self, first: int, second: int) -> None:
        """Add a row at the end; in memory at once, in the file later."""
        rows = self._rows
        if type(rows) is not bytearray:
            rows = self._rows = bytearray(rows)
        rows += self._row.pack(first, second)
        self.row_count += 1
        self.is_full = self.row_count >= self.row_count_max
        if not self.row_count % ROWS_A_WRITE:
            try:
                self.write_out()
            except StorageFull:
                pass  # the row counts all the same; `flush`, which promises the file, will say so

    def write_out(self) -> None:
        """Bring the file up to the rows. Raises StorageFull, and then the file is unchanged."""
        size = self.file.size
        if size < len(self._rows):
            try:
                self.file.append(bytes(self._rows[size:]))
            except StorageFull:
                self.file.truncate(size)
                raise

    def slot_at_or_below(self, target: int, probes: list[int] | None = None) -> int:
        """Give the last row whose first number is not above the target; -1: none. probes: takes each row
        looked at."""

        last = self.row_count - 1
        if last < 0:
            return -1
        # Each probe costs as much as a call: the longer the log, the more of them.
        rows, row_size, unpack_from = self._rows, self.row_size, self._row.unpack_from
        low, high = max(0, last - WARM_BYTES // row_size), last
        if probes is not None:
            probes.append(low)
        if unpack_from(rows, low * row_size)[0] > target:
            low, high = 0, low
            if probes is not None:
                probes.append(0)
            if unpack_from(rows)[0] > target:
                return -1
        while low < high:
            middle = (low + high + 1) // 2
            if probes is not None:
                probes.append(middle)
            if unpack_from(rows, middle * row_size)[0] <= target:
                low = middle
            else:
                high = middle - 1
        return low

    def truncate_rows(self, count: int) -> None:
        """Keep the first `count` rows."""
        if count < self.row_count:
            self._rows = bytearray(self._rows[: count * self.row_size])
            self.file.truncate(min(self.file.size, len(self._rows)))
            self.row_count = count
            self.is_full = count >= self.row_count_max

    def close_for_appends(self) -> None:
        """Write what is left, and read from the file from now on. Raises StorageFull."""
        self.write_out()
        self._rows = self.file.view(0, self.row_count * self.row_size)

    def check_size(self) -> None:
        """Raise CorruptIndex unless the file holds whole rows."""
        if self.file.size % self.row_size:
            raise CorruptIndex(
                f"{self.file.name}: {self.file.size} bytes are not whole rows of {self.row_size}"
            )

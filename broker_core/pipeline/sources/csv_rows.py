"""CSV: rows out of bytes, several parts at a time. What a field is says text_kernels.py; how a file is written,
dialect.py; why we read it ourselves, docs/decisions/csv-by-hand.md.

A row counts as soon as it reaches its key: of a row that is shorter than its header the missing columns are unknown,
and of a longer one what is too much is left out; either is reported. Empty fields that are too many are not: the header is
short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from broker_core.events import Json
from broker_core.pipeline.sources.csv_head import column_and_nulls, csv_header, skipped
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.files import ROW_BYTES_MAX, Part, PartReader
from broker_core.pipeline.sources.folder_columns import FolderColumns, folder_values, in_every_row
from broker_core.pipeline.sources.rows import (
    FINE_ROW,
    LONG_ROW,
    NULL_WORD,
    OPEN_QUOTE,
    SHORT_ROW,
    TEXT_BEHIND_QUOTE,
    WRONG_COLUMNS,
    Columns,
    code_of,
    ensure_column,
    rows_batch,
    wanted_columns,
)
from broker_core.pipeline.sources.text_kernels import RETURN, new_tables, scan_rows

BATCH_ROWS = 65_536
_PROBLEMS = np.array([FINE_ROW, code_of(OPEN_QUOTE), code_of(TEXT_BEHIND_QUOTE)], np.int8)


def csv_part(spec: Json, columns: Sequence[str], part: Part) -> Iterator[pa.RecordBatch]:
    """The rows of a part, in order.

    columns: of files without a header. A file with one goes by its own, in whatever order; what it lacks its folder's name
    may say. Raises SourceFailed for one that lacks a column.
    """
    dialect = Dialect.of(spec)
    path = Path(part.path)
    folder = folder_values(spec, path)
    own = csv_header(path, dialect) if dialect.header or part.start == 0 else None
    if dialect.header:
        if own is None:
            return
        for name in wanted_columns(spec).values():
            ensure_column(path, [*own, *folder], name)
        columns = own
    places = {name: list(columns).index(name) for name in wanted_columns(spec).values() if name in columns}
    made = _Maker(spec, dialect, places, len(columns), folder)
    wanted = np.array(list(places.values()), dtype=np.int64)
    skips_header = dialect.header and part.start == 0
    spans, kinds, rows = new_tables(BATCH_ROWS, len(wanted))
    reader = PartReader(part, encoding=dialect.encoding)
    marks = dialect.marks(len(columns))
    is_first = part.start == 0
    for block in reader.blocks():
        data = np.frombuffer(block.data, np.uint8)
        position, line = block.begin, block.line
        if is_first and dialect.skip:
            position, line = skipped(block.data, dialect.skip, position)
        is_first = False
        while True:
            found, position, line = scan_rows(
                data, position, block.limit, block.is_final, marks, wanted, line, ROW_BYTES_MAX, spans, kinds,
                rows,
            )  # fmt: skip
            first = 1 if skips_header and found else 0
            skips_header = skips_header and not found
            if found > first:
                yield made.batch(block.data, data, spans[first:found], kinds[first:found], rows[first:found])
            if found < BATCH_ROWS:
                break
        reader.consumed(position, line)


class _Maker:
    """Makes batches of scanned rows."""

    def __init__(
        self, spec: Json, dialect: Dialect, places: dict[str, int], columns: int, folder: FolderColumns
    ) -> None:
        self._spec, self._dialect, self._places, self._columns = spec, dialect, places, columns
        self._folder = folder
        self._slots = {name: index for index, name in enumerate(places)}

    def batch(self, content: bytes, data: Any, spans: Any, kinds: Any, rows: Any) -> pa.RecordBatch:
        codes = self._codes(data, rows)
        # A bad row's fields may be another column's; they are kept out of the parsing of times and sizes.
        is_bad = (codes != FINE_ROW) & (codes != code_of(SHORT_ROW)) & (codes != code_of(LONG_ROW))
        spans[is_bad], kinds[is_bad] = 0, 0

        def column(name: str | None) -> tuple[pa.Array | None, Any]:
            """The column, and where a null word stands in it."""
            if not name:
                return None, None
            slot = self._slots.get(name)
            if slot is None:
                return in_every_row(self._folder[name], len(rows)), np.zeros(len(rows), np.bool_)
            return column_and_nulls(data, spans[:, slot], kinds[:, slot], self._dialect)

        keys, is_word = column(self._spec["key"])
        codes[(codes == FINE_ROW) & is_word] = code_of(NULL_WORD)
        payload, _ = column(self._spec.get("payload"))
        payload_bytes = (
            None
            if payload is None
            else np.diff(np.frombuffer(payload.buffers()[1], np.int32, len(rows) + 1)).astype(np.int64)
        )
        times, sizes = (column(self._spec.get(field))[0] for field in ("time", "size"))
        made = Columns(keys, times, sizes, payload_bytes)
        return rows_batch(
            made, rows[:, 2].copy(), codes, lambda place: content[rows[place, 0] : rows[place, 1]],
            self._spec.get("time_format"),
        )  # fmt: skip

    def _codes(self, data: Any, rows: Any) -> Any:
        """What there is to say of each row before its values are looked at."""
        codes, fields = _PROBLEMS[rows[:, 4]], rows[:, 3]
        uneven = (codes == FINE_ROW) & (fields != self._columns)
        if not uneven.any():
            return codes
        # A line without its separator is none of a consumer's: what it says of itself, or a value's second line.
        least = self._columns - 1 if self._dialect.key_separator else self._places.get(self._spec["key"], -1)
        codes[uneven & (fields <= least)] = code_of(WRONG_COLUMNS)
        codes[uneven & (codes == FINE_ROW) & (fields < self._columns)] = code_of(SHORT_ROW)
        for place in np.flatnonzero(uneven & (fields > self._columns)).tolist():
            if not self._ends_empty(data, rows[place]):
                codes[place] = code_of(LONG_ROW)
        return codes

    def _ends_empty(self, data: Any, row: Any) -> bool:
        """Whether all that a row has beyond its header is empty fields."""
        start, end, extra = int(row[0]), int(row[1]), int(row[3]) - self._columns
        if end > start and data[end - 1] == RETURN:
            end -= 1
        return bool(end - extra >= start and (data[end - extra : end] == ord(self._dialect.delimiter)).all())

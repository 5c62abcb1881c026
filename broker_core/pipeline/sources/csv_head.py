"""The first rows of a CSV: its columns, and what is refused before anything is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from broker_core.errors import CommandError
from broker_core.pipeline.sources.dialect import DELIMITERS, Dialect
from broker_core.pipeline.sources.files import (
    FILES_LOOKED_AT_MAX,
    FIRST_ROW_TOO_LONG,
    HEAD_BYTES,
    ROW_BYTES_MAX,
    Part,
    PartReader,
    head_of,
)
from broker_core.pipeline.sources.rows import SourceFailed
from broker_core.pipeline.sources.text_kernels import copy_fields, new_tables, scan_rows

HEADER_BYTES_MAX = 1 << 20
COLUMNS_MAX = 10_000
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
_STAMPS = (
    ("timestamp", re.compile(rb"(CreateTime|LogAppendTime):-?\d+|NO_TIMESTAMP|NoTimestampType:-?\d+")),
    ("partition", re.compile(rb"Partition:\d+")),
    ("offset", re.compile(rb"Offset:\d+")),
)


class BareReturns(ValueError):
    """Lines end in carriage returns alone."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """Rows of some bytes as `scan_rows` fills them in."""

    data: Any
    spans: Any
    kinds: Any
    rows: Any

    def values(self, row: int) -> list[bytes | None]:
        """The fields of a row, as many of them as were looked for."""
        fields = min(int(self.rows[row, 3]), self.spans.shape[1])
        return [
            None if value is None else bytes(value)
            for value in column_of(self.data, self.spans[row, :fields], self.kinds[row, :fields]).to_pylist()
        ]


def scan_head(
    head: bytes, dialect: Dialect, rows_max: int, columns: int, *, is_final: bool = True
) -> Scanned:
    """The first rows of a file's first bytes, header included, with that many of their columns."""
    data = np.frombuffer(head, np.uint8)
    spans, kinds, rows = new_tables(rows_max, columns)
    begin, line = skipped(head, dialect.skip)
    found, _, _ = scan_rows(
        data, begin, len(data), is_final, dialect.marks(columns), np.arange(columns, dtype=np.int64), line,
        ROW_BYTES_MAX, spans, kinds, rows,
    )  # fmt: skip
    return Scanned(data, spans[:found], kinds[:found], rows[:found])


def skipped(data: bytes, lines: int, begin: int = 0) -> tuple[int, int]:
    """Where the first line after so many begins, and its number; the end of the data if there is none."""
    for _ in range(lines):
        end = data.find(b"\n", begin)
        if end < 0:
            return len(data), lines + 1
        begin = end + 1
    return begin, lines + 1


def csv_columns(path: Path, dialect: Dialect) -> list[str]:
    """The names of the columns; without a header "1", "2", ... Raises CommandError at source.path where there is no
    first row, or no end of one: old Macintosh's line ends are carriage returns alone."""
    head = head_of(path, HEADER_BYTES_MAX, dialect.encoding)
    try:
        first = first_row(head, dialect)
    except BareReturns:
        raise CommandError("source.path", "line ends must be LF or CRLF") from None
    if first is None:
        raise CommandError("source.path", "the file is empty")
    if dialect.header and len(head) == HEADER_BYTES_MAX and b"\n" not in head:
        raise CommandError("source.path", FIRST_ROW_TOO_LONG, bytes=HEADER_BYTES_MAX)
    return column_names(first, dialect)


def column_names(first: Sequence[bytes], dialect: Dialect) -> list[str]:
    """What the columns are called, by the first row: it may be the header."""
    if dialect.key_separator:
        return key_value_columns(first)
    if dialect.header:
        return [dialect.text(field).strip() for field in first]
    return [str(number + 1) for number in range(len(first))]


def key_value_columns(first: Sequence[bytes]) -> list[str]:
    """The columns of a consumer's output: what it prints before the key says itself what it is.

    >>> key_value_columns([b"CreateTime:1700000000000", b"alice", b"7"])
    ['timestamp', 'key', 'value']
    """
    stamps = [name for name, pattern in _STAMPS if any(pattern.fullmatch(field) for field in first[:3])]
    return [*stamps, "key", "value"]


def csv_header(path: Path, dialect: Dialect) -> list[str] | None:
    """The names in the file's own first row; None for a file without any, or without a header. Raises SourceFailed as
    its reader does, and as `csv_columns` for its line ends."""
    try:
        for block in PartReader(Part(str(path)), HEAD_BYTES, dialect.encoding).blocks():
            head = block.data[block.begin :]
            is_whole = block.is_final or len(head) >= HEADER_BYTES_MAX
            begin, _ = skipped(head, dialect.skip)
            if is_whole or b"\n" in head[begin:].strip(b"\r\n"):
                first = first_row(head, dialect, is_whole=is_whole)
                if first is not None or is_whole:
                    return column_names(first, dialect) if dialect.header and first is not None else None
    except BareReturns:
        raise SourceFailed("{file}: line ends must be LF or CRLF", file=path.name) from None
    return None


def csv_ensure_rows(files: Sequence[Path], dialect: Dialect) -> None:
    """Raise CommandError at source.path where every file has its header and nothing else; of many files the first are
    looked at."""
    if (
        dialect.header
        and len(files) <= FILES_LOOKED_AT_MAX
        and not any(_has_row_below_header(path, dialect) for path in files)
    ):
        raise CommandError("source.path", "there is a header, but no row below it")


def _has_row_below_header(path: Path, dialect: Dialect) -> bool:
    head = head_of(path, HEADER_BYTES_MAX, dialect.encoding)
    return len(scan_head(head, dialect, 2, 1).rows) > 1 or len(head) == HEADER_BYTES_MAX


def first_row(head: bytes, dialect: Dialect, *, is_whole: bool = True) -> list[bytes] | None:
    """The fields of the first row; None if there is none. An absent field is empty. is_whole: the row may end with the
    head.

    Raises BareReturns if it holds others. In a header a carriage return is not part of a name; elsewhere it may be a
    byte of a key, unless no other line end is in sight.
    """
    if is_whole and b"\n" not in head.strip(b"\r\n"):
        _refuse_returns(head)
    count = min(head.count(dialect.delimiter.encode()) + 1, COLUMNS_MAX)
    if dialect.key_separator:
        count = min(count, len(_STAMPS) + 2)
    found = scan_head(head, dialect, 2, count, is_final=is_whole)
    if not len(found.rows):
        return None
    if dialect.header:
        _refuse_returns(head[found.rows[0, 0] : found.rows[0, 1]])
        below = int(found.rows[1, 3]) if len(found.rows) > 1 else 1
        if (names := other_header(head, found, dialect, below)) is not None:
            return names
    return [value or b"" for value in found.values(0)]


def other_header(head: bytes, found: Scanned, dialect: Dialect, below: int) -> list[bytes] | None:
    """The names of a header that separates them otherwise than the rows below it do their fields; None for one that does
    not. below: how many fields a row has."""
    start, end, _, fields, _ = found.rows[0].tolist()
    if fields != 1 or not 1 < below <= COLUMNS_MAX:
        return None
    for mark in DELIMITERS:
        cut = scan_head(head[start:end], replace(dialect, delimiter=mark, skip=0, comment=""), 1, below)
        if mark != dialect.delimiter and len(cut.rows) and cut.rows[0, 3] == below:
            return [value or b"" for value in cut.values(0)]
    return None


def _refuse_returns(row: bytes) -> None:
    if b"\r" in row and b"\r" in _QUOTED.sub(b"", row).strip(b"\r\n"):
        raise BareReturns


def column_of(data: Any, spans: Any, kinds: Any, dialect: Dialect | None = None) -> pa.Array:
    """One column's fields as Arrow binary, null where empty and not quoted."""
    return column_and_nulls(data, spans, kinds, dialect or Dialect())[0]


def column_and_nulls(data: Any, spans: Any, kinds: Any, dialect: Dialect) -> tuple[pa.Array, Any]:
    """The same in UTF-8, and which fields were a null word."""
    count = len(spans)
    offsets = np.zeros(count + 1, np.int32)
    present, is_word = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    out = np.empty(int((spans[:, 1] - spans[:, 0]).sum()), np.uint8)
    written = copy_fields(
        data, spans, kinds, *dialect.quote_and_escape, *dialect.null_words, offsets, present, is_word, out
    )
    mask = pa.array(present).buffers()[1]
    column = pa.Array.from_buffers(
        pa.binary(), count, [mask, pa.py_buffer(offsets), pa.py_buffer(out[:written])]
    )
    return dialect.in_utf_8(column), is_word

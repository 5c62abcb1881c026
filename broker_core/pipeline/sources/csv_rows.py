"""CSV: rows out of bytes, several parts at a time. What a field is says text_kernels.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.files import (
    FILES_LOOKED_AT_MAX,
    FIRST_ROW_TOO_LONG,
    HEAD_BYTES,
    ROW_BYTES_MAX,
    Part,
    PartReader,
    head_of,
)
from broker_core.pipeline.sources.rows import (
    OPEN_QUOTE,
    TEXT_BEHIND_QUOTE,
    WRONG_COLUMNS,
    Columns,
    SourceFailed,
    ensure_column,
    rows_batch,
    wanted_columns,
)
from broker_core.pipeline.sources.text_kernels import FINE, copy_fields, new_tables, scan_rows

QUOTE = ord('"')
HEADER_BYTES_MAX = 1 << 20
BATCH_ROWS = 65_536
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
_PROBLEMS = (None, OPEN_QUOTE, TEXT_BEHIND_QUOTE)


class BareReturns(ValueError):
    """Lines end in carriage returns alone."""


def csv_delimiter(raw: object) -> str:
    """The delimiter that a source names. Raises CommandError at source.delimiter for what is not one byte, or
    has another meaning."""
    if not isinstance(raw, str) or len(raw) != 1 or not raw.isascii() or raw in '"\r\n':
        raise CommandError(
            "source.delimiter", "must be one ASCII character, neither a quote nor a line break"
        )
    return raw


def csv_columns(path: Path, delimiter: str, has_header: bool) -> list[str]:
    """The names of the columns; without a header "1", "2", ... Raises CommandError at source.path where there
    is no first row, or no end of
    one: old Macintosh's line ends are carriage returns alone."""
    head = head_of(path, HEADER_BYTES_MAX)
    try:
        first = _first_row(head, delimiter, has_header)
    except BareReturns:
        raise CommandError("source.path", "line ends must be LF or CRLF") from None
    if first is None:
        raise CommandError("source.path", "the file is empty")
    if has_header and len(head) == HEADER_BYTES_MAX and b"\n" not in head:
        raise CommandError("source.path", FIRST_ROW_TOO_LONG, bytes=HEADER_BYTES_MAX)
    return _names(first) if has_header else [str(n + 1) for n in range(len(first))]


def csv_header(path: Path, delimiter: str, has_header: bool = True) -> list[str] | None:
    """The names in the file's own first row; None for a file without any, or without a header. Raises
    SourceFailed as its reader does, and as `csv_columns` for its line ends."""
    try:
        for block in PartReader(Part(str(path)), HEAD_BYTES).blocks():
            head = block.data[block.begin :]
            is_whole = block.is_final or len(head) >= HEADER_BYTES_MAX
            if is_whole or b"\n" in head.strip(b"\r\n"):
                first = _first_row(head, delimiter, has_header, is_whole=is_whole)
                if first is not None or is_whole:
                    return _names(first) if has_header and first is not None else None
    except BareReturns:
        raise SourceFailed("{file}: line ends must be LF or CRLF", file=path.name) from None
    return None


def csv_ensure_rows(files: Sequence[Path], delimiter: str, has_header: bool) -> None:
    """Raise CommandError at source.path where every file has its header and nothing else; of many files the
    first are looked at."""
    if (
        has_header
        and len(files) <= FILES_LOOKED_AT_MAX
        and not any(_has_row_below_header(path, delimiter) for path in files)
    ):
        raise CommandError("source.path", "there is a header, but no row below it")


def _has_row_below_header(path: Path, delimiter: str) -> bool:
    head = head_of(path, HEADER_BYTES_MAX)
    spans, kinds, rows = new_tables(2, 1)
    data = np.frombuffer(head, np.uint8)
    found, _, _ = scan_rows(
        data,
        0,
        len(data),
        True,
        ord(delimiter),
        QUOTE,
        np.zeros(1, np.int64),
        1,
        ROW_BYTES_MAX,
        spans,
        kinds,
        rows,
    )
    return found > 1 or len(head) == HEADER_BYTES_MAX


def _names(first: list[bytes]) -> list[str]:
    return [field.decode(errors="backslashreplace").strip() for field in first]


def _first_row(head: bytes, delimiter: str, has_header: bool, *, is_whole: bool = True) -> list[bytes] | None:
    """The fields of the first row; None if there is none. An absent field is empty. is_whole: the row may end
    with the head.

    Raises BareReturns if it holds others. In a header a carriage return is not part of a name; elsewhere it
    may be a byte of a key, unless no other line end is in sight.
    """
    if is_whole and b"\n" not in head.strip(b"\r\n"):
        _refuse_returns(head)
    count = head.count(delimiter.encode()) + 1
    wanted = np.arange(min(count, 10_000), dtype=np.int64)
    spans, kinds, rows = new_tables(1, len(wanted))
    data = np.frombuffer(head, np.uint8)
    found, _, _ = scan_rows(
        data, 0, len(data), is_whole, ord(delimiter), QUOTE, wanted, 1, ROW_BYTES_MAX, spans, kinds, rows
    )
    if not found:
        return None
    if has_header:
        _refuse_returns(head[rows[0, 0] : rows[0, 1]])
    fields = int(rows[0, 3])
    return [value or b"" for value in column_of(data, spans[0, :fields], kinds[0, :fields]).to_pylist()]


def _refuse_returns(row: bytes) -> None:
    if b"\r" in row and b"\r" in _QUOTED.sub(b"", row).strip(b"\r\n"):
        raise BareReturns


def csv_part(spec: Json, columns: Sequence[str], part: Part) -> Iterator[pa.RecordBatch]:
    """The rows of a part, in order; one with another number of fields than its file has columns is bad.

    columns: of files without a header. A file with one goes by its own, in whatever order. Raises
    SourceFailed for one that lacks a column.
    """
    has_header = spec.get("header", True)
    path = Path(part.path)
    own = csv_header(path, spec.get("delimiter", ","), has_header) if has_header or part.start == 0 else None
    if has_header:
        if own is None:
            return
        for name in wanted_columns(spec).values():
            ensure_column(path, own, name)
        columns = own
    places = {name: list(columns).index(name) for name in wanted_columns(spec).values()}
    wanted = np.array(list(places.values()), dtype=np.int64)
    slot = {name: index for index, name in enumerate(places)}
    skips_header = has_header and part.start == 0
    spans, kinds, rows = new_tables(BATCH_ROWS, len(wanted))
    reader = PartReader(part)
    delimiter = ord(spec.get("delimiter", ","))
    for block in reader.blocks():
        data = np.frombuffer(block.data, np.uint8)
        position, line = block.begin, block.line
        while True:
            found, position, line = scan_rows(
                data,
                position,
                block.limit,
                block.is_final,
                delimiter,
                QUOTE,
                wanted,
                line,
                ROW_BYTES_MAX,
                spans,
                kinds,
                rows,
            )
            first = 1 if skips_header and found else 0
            skips_header = skips_header and not found
            if found > first:
                yield _batch(
                    block.data,
                    data,
                    spec,
                    slot,
                    len(columns),
                    spans[first:found],
                    kinds[first:found],
                    rows[first:found],
                )
            if found < BATCH_ROWS:
                break
        reader.consumed(position, line)


def _batch(
    content: bytes,
    data: Any,
    spec: Json,
    slot: dict[str, int],
    expected: int,
    spans: Any,
    kinds: Any,
    rows: Any,
) -> pa.RecordBatch:
    def column(name: str | None) -> pa.Array | None:
        return None if not name else column_of(data, spans[:, slot[name]], kinds[:, slot[name]])

    problems, fields = rows[:, 4], rows[:, 3]
    is_bad = (problems != FINE) | (fields != expected)
    reasons: list[str | None] = [None] * len(rows)
    for place in np.flatnonzero(is_bad).tolist():
        reasons[place] = _PROBLEMS[problems[place]] or WRONG_COLUMNS
    # A bad row's fields may be another column's; they are kept out of the parsing of times and sizes.
    spans[is_bad], kinds[is_bad] = 0, 0
    keys = column(spec["key"])
    payload = column(spec.get("payload"))
    payload_bytes = (
        None
        if payload is None
        else np.diff(np.frombuffer(payload.buffers()[1], np.int32, len(rows) + 1)).astype(np.int64)
    )
    made = Columns(keys, column(spec.get("time")), column(spec.get("size")), payload_bytes)
    return rows_batch(
        made, rows[:, 2].copy(), reasons, lambda place: content[rows[place, 0] : rows[place, 1]]
    )


def column_of(data: Any, spans: Any, kinds: Any) -> pa.Array:
    """One column's fields as Arrow binary, null where empty and not quoted."""
    count = len(spans)
    offsets = np.zeros(count + 1, np.int32)
    present = np.zeros(count, np.bool_)
    out = np.empty(int((spans[:, 1] - spans[:, 0]).sum()), np.uint8)
    written = copy_fields(data, spans, kinds, QUOTE, offsets, present, out)
    mask = pa.array(present).buffers()[1]
    return pa.Array.from_buffers(
        pa.binary(), count, [mask, pa.py_buffer(offsets), pa.py_buffer(out[:written])]
    )

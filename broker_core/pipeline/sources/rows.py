"""What every reader of files hands on: the rows of one part of a source, in order, as Arrow.

    key binary      null: no key                     line bigint    of the file, from 1; a row's number in Parquet
    at_us bigint    event time, null: none           reason string  null: nothing to say; else a code of REASONS
    bytes bigint    size                             text string    the first 200 characters of the row, of the first of them

A row with a reason of KEPT is a record, and what is unknown of it is reported; with any other it is set aside. Pages have
the words for the codes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from broker_core.errors import Names, SentenceError
from broker_core.events import Json
from broker_core.pipeline.sources.numbers import parse_sizes
from broker_core.pipeline.sources.times import parse_times

WRONG_COLUMNS, OPEN_QUOTE, TEXT_BEHIND_QUOTE = "wrong_columns", "open_quote", "text_behind_quote"
BAD_JSON, NO_OBJECT, BAD_UTF8, IN_ARRAY = "bad_json", "no_object", "bad_utf8", "in_array"
BAD_TIME, BAD_SIZE, SIZE_ROUNDED, BAD_BATCH = "bad_time", "bad_size", "size_rounded", "bad_batch"
SHORT_ROW, LONG_ROW, NULL_WORD = "short_row", "long_row", "null_word"
REASONS = (
    WRONG_COLUMNS,
    OPEN_QUOTE,
    TEXT_BEHIND_QUOTE,
    BAD_JSON,
    NO_OBJECT,
    BAD_UTF8,
    IN_ARRAY,
    BAD_BATCH,
    BAD_TIME,
    BAD_SIZE,
    SIZE_ROUNDED,
    SHORT_ROW,
    LONG_ROW,
    NULL_WORD,
)
KEPT = (BAD_TIME, BAD_SIZE, SIZE_ROUNDED, SHORT_ROW, LONG_ROW, NULL_WORD)
FINE_ROW = 0
TEXTS_MAX = 1_000
"""Of a batch, so many rows are shown."""
TEXT_CHARACTERS_MAX = 200
FILE_FIELDS = ("key", "time", "size", "payload")
_COLUMNS_SHOWN = 40

ROWS = pa.schema(
    [
        ("key", pa.binary()),
        ("at_us", pa.int64()),
        ("bytes", pa.int64()),
        ("line", pa.int64()),
        ("reason", pa.string()),
        ("text", pa.string()),
    ]
)
_REASONS = pa.array(REASONS, pa.string())
_KEPT = pa.array(KEPT, pa.string())


def code_of(reason: str) -> int:
    """A reason as a number from 1; FINE_ROW is none."""
    return REASONS.index(reason) + 1


class SourceFailed(SentenceError):
    """A source broke while it was read."""

    def __reduce__(self) -> tuple[Any, ...]:
        # It travels from Spark's Python workers, and pickle on its own brings no named values back.
        return partial(SourceFailed, self.template, **self.values), ()


def wanted_columns(spec: Json) -> dict[str, str]:
    """Field of the source -> the column that it names."""
    return {field: spec[field] for field in FILE_FIELDS if spec.get(field)}


def ensure_column(path: Path, columns: Sequence[str], name: str) -> None:
    """Raises SourceFailed for a file without the column."""
    if name not in columns:
        raise SourceFailed(
            "{file}: there is no column {name}; the columns are {columns}",
            file=path.name,
            name=name[:100],
            columns=columns_shown(columns),
        )


def columns_shown(columns: Sequence[str]) -> Names:
    """Their names in one line."""
    more = () if len(columns) <= _COLUMNS_SHOWN else ("…",)
    return Names((*(" ".join(column[:60].split()) for column in columns[:_COLUMNS_SHOWN]), *more) or ("-",))


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of some rows as they were read. times, sizes: None where the source names no such column.
    payload_bytes: 0 without one."""

    keys: pa.Array
    times: pa.Array | None
    sizes: pa.Array | None
    payload_bytes: NDArray[np.int64] | None


def rows_batch(
    columns: Columns,
    lines: NDArray[np.int64],
    codes: NDArray[np.int8] | None,
    text_of: Callable[[int], bytes],
    time_format: str | None = None,
) -> pa.RecordBatch:
    """Put rows together. text_of: place -> the row as read. codes: of what is known of each already, as `code_of`;
    times and sizes may add more."""
    count = len(lines)
    why = np.zeros(count, np.int8) if codes is None else codes
    at_us = pa.nulls(count, pa.int64())
    if columns.times is not None:
        at_us, is_bad = parse_times(columns.times, time_format)
        _add(why, is_bad, BAD_TIME)
    if columns.sizes is not None:
        sizes, is_bad, is_rounded = parse_sizes(columns.sizes)
        _add(why, is_bad, BAD_SIZE)
        _add(why, is_rounded, SIZE_ROUNDED)
        sizes = pc.fill_null(sizes, 0)
    else:
        sizes = pc.fill_null(pc.cast(pc.binary_length(columns.keys), pa.int64()), 0)
        if columns.payload_bytes is not None:
            sizes = pc.add(sizes, pa.array(columns.payload_bytes))
    reasons = texts = pa.nulls(count, pa.string())
    if why.any():
        reasons = _REASONS.take(pa.array(why.astype(np.int32) - 1, mask=why == FINE_ROW))
        shown: list[str | None] = [None] * count
        for place in np.flatnonzero(why)[:TEXTS_MAX].tolist():
            shown[place] = bad_text(text_of(place))
        texts = pa.array(shown, pa.string())
    return pa.RecordBatch.from_arrays(
        [columns.keys, at_us, sizes, pa.array(lines), reasons, texts], schema=ROWS
    )


def is_record(reasons: pa.Array) -> pa.Array:
    """Which rows are records, by their reasons."""
    return pc.or_(pc.is_null(reasons), pc.is_in(reasons, _KEPT))


def _add(why: NDArray[np.int8], is_bad: NDArray[np.bool_], reason: str) -> None:
    """Rows of which this is to be said, unless something is said of them already."""
    why[is_bad & (why == FINE_ROW)] = code_of(reason)


def bad_text(text: bytes) -> str:
    r"""What is shown of a bad row.

    >>> bad_text(b"caf\xe9,1\r")
    'caf\\xe9,1'
    """
    return (
        text[: 4 * TEXT_CHARACTERS_MAX]
        .rstrip(b"\r\n")
        .decode(errors="backslashreplace")[:TEXT_CHARACTERS_MAX]
    )

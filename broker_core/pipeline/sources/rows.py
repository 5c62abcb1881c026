"""What every reader of files hands on: good and bad rows of one part of a source, in order, as Arrow.

    key binary      null: no key                     line bigint    of the file, from 1; a row's number in Parquet
    at_us bigint    event time, null: none           reason string  null: a good row; else a code of REASONS
    bytes bigint    size                             text string    the first 200 characters of a bad row

Bad rows are told apart by their code; pages have the words for it.
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
from broker_core.pipeline.sources.numbers import parse_sizes, parse_times

WRONG_COLUMNS, OPEN_QUOTE, TEXT_BEHIND_QUOTE = "wrong_columns", "open_quote", "text_behind_quote"
BAD_JSON, NO_OBJECT, BAD_UTF8 = "bad_json", "no_object", "bad_utf8"
BAD_TIME, BAD_SIZE, BAD_BATCH = "bad_time", "bad_size", "bad_batch"
REASONS = (
    WRONG_COLUMNS,
    OPEN_QUOTE,
    TEXT_BEHIND_QUOTE,
    BAD_JSON,
    NO_OBJECT,
    BAD_UTF8,
    BAD_TIME,
    BAD_SIZE,
    BAD_BATCH,
)
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
    columns: Columns, lines: NDArray[np.int64], reasons: Sequence[str | None], text_of: Callable[[int], bytes]
) -> pa.RecordBatch:
    """Put rows together. text_of: place -> the row as read. reasons: of those known to be bad already, or
    nothing; times and sizes may add more."""
    count = len(lines)
    why = (
        {place: reason for place, reason in enumerate(reasons) if reason is not None} if any(reasons) else {}
    )
    at_us = pa.nulls(count, pa.int64())
    if columns.times is not None:
        at_us, is_bad = parse_times(columns.times)
        _add(why, is_bad, BAD_TIME)
    if columns.sizes is not None:
        sizes, is_bad = parse_sizes(columns.sizes)
        _add(why, is_bad, BAD_SIZE)
        sizes = pc.fill_null(sizes, 0)
    else:
        sizes = pc.fill_null(pc.cast(pc.binary_length(columns.keys), pa.int64()), 0)
        if columns.payload_bytes is not None:
            sizes = pc.add(sizes, pa.array(columns.payload_bytes))
    shown = {place: bad_text(text_of(place)) for place in why}
    texts = (
        pa.array(map(each.get, range(count)), pa.string()) if each else pa.nulls(count, pa.string())
        for each in (why, shown)
    )
    return pa.RecordBatch.from_arrays([columns.keys, at_us, sizes, pa.array(lines), *texts], schema=ROWS)


def _add(why: dict[int, str], is_bad: NDArray[np.bool_], reason: str) -> None:
    """Rows that are bad for a reason, unless they have one already."""
    for place in np.flatnonzero(is_bad).tolist():
        why.setdefault(place, reason)


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

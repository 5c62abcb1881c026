"""The first values of a source's time column, by which it is known or refused before anything is queued."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.pipeline.sources.csv_head import csv_columns
from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.dialect import FIELDS, Dialect
from broker_core.pipeline.sources.files import Part
from broker_core.pipeline.sources.folder_columns import folder_values
from broker_core.pipeline.sources.jsonl_rows import jsonl_part
from broker_core.pipeline.sources.parquet_columns import ensure_parquet_column, type_of
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_parts, parquet_schema
from broker_core.pipeline.sources.times import DAY_FIRST, EXCEL, FORMATS, MONTH_FIRST, parse_times, time_us

LOOKED_AT = 1_000
FORMAT_CHARACTERS_MAX = 100
READ = "ISO 8601, seconds to nanoseconds since 1970, 20240131, RFC 1123, Apache"
"""The forms of a time that need no format."""
_EXCEL_DAYS = range(20_000, 80_000)
"""Of the years 1954 to 2119."""


def first_values(spec: Json, path: Path, column: str) -> list[bytes]:
    """The first values of a column as the file has them; missing ones, and those whose type says what they are, are left
    out."""
    as_key = {name: spec[name] for name in ("path", *FIELDS, "layout") if name in spec} | {"key": column}
    batches: Iterator[pa.RecordBatch]
    match spec["kind"]:
        case "csv":
            batches = csv_part(as_key, csv_columns(path, Dialect.of(spec)), Part(str(path)))
        case "jsonl":
            batches = jsonl_part(as_key, Part(str(path)))
        case _:
            schema = parquet_schema(path)
            found = ensure_parquet_column(path, schema, column, folder_values(spec, path))
            if found is not None and pa.types.is_temporal(type_of(schema, found)):
                return []
            part = next(iter(parquet_parts([path])), None)
            batches = iter(()) if part is None else parquet_part(as_key, part)
    first = next(batches, None)
    values = [] if first is None else first.column("key").drop_null().slice(0, LOOKED_AT).to_pylist()
    return [value for value in values if value]


def time_format_check(raw: Any) -> str | None:
    """A time format that a request gives. Raises CommandError at source.time_format."""
    if raw is None:
        return None
    if not isinstance(raw, str) or not 0 < len(raw) <= FORMAT_CHARACTERS_MAX:
        raise CommandError(
            "source.time_format", "must be text of 1 to {high} characters", high=FORMAT_CHARACTERS_MAX
        )
    if raw in FORMATS:
        return raw
    if "%" not in raw:
        raise CommandError(
            "source.time_format", "must be one of {choices}, or a pattern such as {example}",
            choices=Names(FORMATS), example="%d.%m.%Y %H:%M",
        )  # fmt: skip
    try:
        datetime.strptime("", raw)  # noqa: DTZ007  only the pattern is looked at
    except (ValueError, re.error) as error:  # re.error: a directive is there twice
        if "does not match format" not in str(error):
            raise CommandError(
                "source.time_format", "is not a pattern of strptime: {reason}", reason=str(error)
            ) from None
    return raw


def time_format_of(values: list[bytes], chosen: str | None) -> str | None:
    """The format in which the values are read. Raises CommandError where none of them can be."""
    known = parse_times(pa.array(values, pa.binary()), chosen)[0]
    if not values or known.null_count < len(values):
        return chosen
    first = values[0].decode(errors="backslashreplace")[:100]
    if chosen is not None:
        raise CommandError(
            "source.time_format", "does not read {text}, nor any other of the first {count} values",
            text=first, count=len(values),
        )  # fmt: skip
    texts = [value.decode(errors="replace") for value in values]
    fitting = [
        choice
        for choice in (DAY_FIRST, MONTH_FIRST)
        if all(time_us(text, choice) is not None for text in texts)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise CommandError(
            "source.time_format", "say whether {text} has the day or the month first: {choices}",
            text=first, choices=Names(fitting),
        )  # fmt: skip
    if all(_is_excel_day(text) for text in texts):
        raise CommandError(
            "source.time_format", "{text} is no time since 1970; if it is a date of Excel, choose {choice}",
            text=first, choice=EXCEL,
        )  # fmt: skip
    raise CommandError(
        "source.time", "{text} cannot be read as a time; what is read: {forms}. For any other form give a time format",
        text=first, forms=READ,
    )  # fmt: skip


def _is_excel_day(text: str) -> bool:
    try:
        return int(float(text)) in _EXCEL_DAYS
    except (ValueError, OverflowError):
        return False

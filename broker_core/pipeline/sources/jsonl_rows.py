"""JSON lines: one object a line. Only the wanted fields are taken out, each as its bytes in the line.

{"user": "n-7", "at": 1357016100}      key "user": the text's bytes      key "at": b"1357016100", as written
{"user": null}   {}                    no key                            {"user": ["a"]}: the list's JSON is the key
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.encodings import CP1252, UTF_8
from broker_core.pipeline.sources.files import Part, PartReader, head_of
from broker_core.pipeline.sources.rows import (
    BAD_JSON,
    BAD_UTF8,
    FINE_ROW,
    NO_OBJECT,
    Columns,
    code_of,
    rows_batch,
)

HEAD_BYTES = 1 << 20
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])
_WHITE = b" \t\r\n"


def jsonl_columns(path: Path, encoding: str = UTF_8) -> list[str]:
    """The fields of the objects in the file's first megabyte, in order of appearance; [] where none of the
    lines is an object.

    Raises CommandError at source.path for objects between carriage returns alone.
    """
    names: dict[str, None] = {}
    head = head_of(path, HEAD_BYTES, encoding).strip()
    if b"\n" not in head and b"\r" in head and _is_object(head.partition(b"\r")[0]):
        raise CommandError("source.path", "line ends must be LF or CRLF")
    for line in head.split(b"\n")[:1_000]:
        try:
            names |= dict.fromkeys(_RAW.decode(line))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            continue
    return list(names)


def _is_object(line: bytes) -> bool:
    try:
        _RAW.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def jsonl_part(spec: Json, part: Part) -> Iterator[pa.RecordBatch]:
    """The rows of a part, in order; blank lines are none."""
    names = [name for name in (spec["key"], spec.get("time"), spec.get("size"), spec.get("payload")) if name]
    decoder = _decoder(list(dict.fromkeys(names)))
    encoding = spec.get("encoding", UTF_8)
    reader = PartReader(part, encoding=encoding)
    for block in reader.blocks():
        lines, end, count = _split(block.data, block.begin, block.limit, block.is_final)
        reader.consumed(end, block.line + count)
        if encoding == CP1252:
            dialect = Dialect(encoding=encoding)
            lines = [line if line.isascii() else dialect.text(line).encode() for line in lines]
        if lines:
            yield _batch(spec, decoder, list(dict.fromkeys(names)), lines, block.line)


def _split(data: bytes, begin: int, limit: int, is_final: bool) -> tuple[list[bytes], int, int]:
    """The lines that start in [begin, limit), where they end, and how many newlines they have."""
    if begin >= limit:
        return [], begin, 0
    # The last line that starts before the limit ends at the first newline at or after limit - 1.
    end = data.find(b"\n", limit - 1) + 1
    if not end:
        end = len(data) if is_final else data.rfind(b"\n", begin) + 1
    if end <= begin:
        return [], begin, 0
    lines = data[begin:end].split(b"\n")
    count = len(lines) - 1
    if not lines[-1]:
        lines.pop()
    return lines, end, count


def _decoder(names: list[str]) -> Any:
    fields: list[Any] = [
        (f"f{index}", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for index in range(len(names))
    ]
    rename = {f"f{index}": name for index, name in enumerate(names)}
    return msgspec.json.Decoder(msgspec.defstruct("Line", fields, rename=rename))


def _batch(spec: Json, decoder: Any, names: list[str], lines: list[bytes], first_line: int) -> pa.RecordBatch:
    """Blank lines are left out; every other line is a row."""
    count = len(lines)
    values: list[list[bytes | None]] = [[None] * count for _ in names]
    codes = np.zeros(count, np.int8)
    getters = [f"f{index}" for index in range(len(names))]
    is_blank = np.zeros(count, np.bool_)
    for place, line in enumerate(lines):
        try:
            row = decoder.decode(line)
            if not line.isascii():
                line.decode()
            for index, getter in enumerate(getters):
                raw = getattr(row, getter)
                if raw is not msgspec.UNSET:
                    values[index][place] = _content(bytes(raw))
        except UnicodeError:
            codes[place] = code_of(BAD_UTF8)
        except msgspec.ValidationError:
            codes[place] = code_of(NO_OBJECT)
        except (msgspec.DecodeError, RecursionError):
            if not line.strip(_WHITE):
                is_blank[place] = True
            else:
                codes[place] = code_of(BAD_JSON if _is_utf8(line) else BAD_UTF8)
    numbers = np.arange(first_line, first_line + count, dtype=np.int64)
    if is_blank.any():
        kept = np.flatnonzero(~is_blank).tolist()
        numbers = numbers[~is_blank]
        codes, lines = codes[~is_blank], [lines[place] for place in kept]
        values = [[column[place] for place in kept] for column in values]
    for column in values:
        for place in np.flatnonzero(codes != FINE_ROW).tolist():
            column[place] = None
    arrays = dict(zip(names, (pa.array(column, pa.binary()) for column in values), strict=True))
    payload = arrays[spec["payload"]] if spec.get("payload") else None
    payload_bytes = (
        None if payload is None else np.array([len(value or b"") for value in payload.to_pylist()], np.int64)
    )
    columns = Columns(
        arrays[spec["key"]],
        arrays[spec["time"]] if spec.get("time") else None,
        arrays[spec["size"]] if spec.get("size") else None,
        payload_bytes,
    )
    return rows_batch(columns, numbers, codes, lines.__getitem__, spec.get("time_format"))


def _content(raw: bytes) -> bytes | None:
    """A text without its quotes and escapes; null as None; anything else as it is written."""
    if raw[0] == 0x22:
        if b"\\" not in raw:
            return raw[1:-1]
        text: str = msgspec.json.decode(raw)
        return text.encode(errors="replace")
    return None if raw == b"null" else raw


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True

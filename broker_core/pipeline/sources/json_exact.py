"""JSON objects read one by one: every field as its bytes in the file, every broken line with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from broker_core.events import Json
from broker_core.pipeline.sources.folder_columns import FolderColumns, in_every_row
from broker_core.pipeline.sources.json_paths import FieldPath, plain_numbers, step_decoder
from broker_core.pipeline.sources.rows import (
    BAD_JSON,
    BAD_UTF8,
    FINE_ROW,
    IN_ARRAY,
    NO_OBJECT,
    Columns,
    code_of,
    rows_batch,
)

_WHITE = b" \t\r\n"


class _InArray(ValueError):
    """A path goes through an array."""


class ExactReader:
    """paths: name of a column -> its path into an object. folder: columns that the folder's name says."""

    def __init__(self, spec: Json, paths: dict[str, FieldPath], folder: FolderColumns) -> None:
        self._spec, self._paths, self._folder = spec, paths, folder
        firsts = list(dict.fromkeys(path[0] for path in paths.values()))
        fields: list[Any] = [
            (f"f{index}", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for index in range(len(firsts))
        ]
        rename = {f"f{index}": name for index, name in enumerate(firsts)}
        self._decoder = msgspec.json.Decoder(msgspec.defstruct("Line", fields, rename=rename))
        self._getters = [(f"f{firsts.index(path[0])}", path[1:]) for path in paths.values()]

    def raw_values(self, line: bytes) -> dict[str, bytes | None] | None:
        """Each wanted field as it is written; None for a line that is no object."""
        try:
            return dict(zip(self._paths, self._raws(line), strict=True))
        except (msgspec.MsgspecError, UnicodeError, RecursionError, _InArray):
            return None

    def lines(self, lines: list[bytes], first_line: int) -> pa.RecordBatch:
        """Lines as they follow one another; blank ones are left out, every other one is a row."""
        numbers = range(first_line, first_line + len(lines))
        if any(not line.strip(_WHITE) for line in lines):
            kept = [place for place, line in enumerate(lines) if line.strip(_WHITE)]
            return self.batch([lines[place] for place in kept], [numbers[place] for place in kept])
        return self.batch(lines, numbers)

    def batch(self, lines: list[bytes], numbers: Sequence[int]) -> pa.RecordBatch:
        count = len(lines)
        values: list[list[bytes | None]] = [[None] * count for _ in self._paths]
        codes = np.zeros(count, np.int8)
        for place, line in enumerate(lines):
            try:
                raws = self._raws(line)
                if not line.isascii():
                    line.decode()
                for index, raw in enumerate(raws):
                    values[index][place] = None if raw is None else _content(raw)
            except _InArray:
                codes[place] = code_of(IN_ARRAY)
            except UnicodeError:
                codes[place] = code_of(BAD_UTF8)
            except msgspec.ValidationError:
                codes[place] = code_of(NO_OBJECT)
            except (msgspec.DecodeError, RecursionError):
                codes[place] = code_of(BAD_JSON if _is_utf8(line) else BAD_UTF8)
        for column in values:
            for place in np.flatnonzero(codes != FINE_ROW).tolist():
                column[place] = None
        spec = self._spec
        arrays = dict(zip(self._paths, (pa.array(column, pa.binary()) for column in values), strict=True))
        arrays |= {name: in_every_row(value, count) for name, value in self._folder.items()}
        payload = arrays[spec["payload"]] if spec.get("payload") else None
        payload_bytes = (
            None
            if payload is None
            else np.array([len(value or b"") for value in payload.to_pylist()], np.int64)
        )
        columns = Columns(
            arrays[spec["key"]],
            arrays[spec["time"]] if spec.get("time") else None,
            arrays[spec["size"]] if spec.get("size") else None,
            payload_bytes,
        )
        return rows_batch(
            columns, np.array(numbers, np.int64), codes, lines.__getitem__, spec.get("time_format")
        )

    def _raws(self, line: bytes) -> list[bytes | None]:
        try:
            row = self._decoder.decode(line)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            plain = plain_numbers(line)
            if plain is line:
                raise
            row = self._decoder.decode(plain)
        found: list[bytes | None] = []
        for getter, rest in self._getters:
            raw = getattr(row, getter)
            found.append(None if raw is msgspec.UNSET else _inside(bytes(raw), rest))
        return found


def _inside(raw: bytes, path: FieldPath) -> bytes | None:
    """What is at the path; None where a step is missing or no object. Raises _InArray."""
    for step in path:
        if raw[:1] == b"[":
            raise _InArray
        if raw[:1] != b"{":
            return None
        found = step_decoder(step).decode(raw).f
        if found is msgspec.UNSET:
            return None
        raw = bytes(found)
    return raw


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

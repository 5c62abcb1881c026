"""JSON: one object a record, mostly one a line. Only the wanted fields are taken out, each as its bytes in the file.

{"user": "n-7", "at": 1357016100}      key "user": the text's bytes      key "at": b"1357016100", as written
{"user": null}   {}                    no key                            {"user": ["a"]}: the list's JSON is the key
{"a": {"b": "x"}}                      key "a.b": x

Arrow reads what has the same simple form in many lines; whatever it refuses is read line by line (json_exact.py), with the
same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from broker_core.events import Json
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.encodings import CP1252, UTF_8
from broker_core.pipeline.sources.files import Block, Part, PartReader
from broker_core.pipeline.sources.folder_columns import FolderColumns, folder_values, in_every_row
from broker_core.pipeline.sources.json_exact import ExactReader
from broker_core.pipeline.sources.json_layout import LINES, VALUES
from broker_core.pipeline.sources.json_paths import FieldPath, columns_in, head_objects, json_paths
from broker_core.pipeline.sources.json_values import split_values
from broker_core.pipeline.sources.rows import Columns, rows_batch, wanted_columns

EXACT_ROWS = 256
"""So few lines are not worth a try with Arrow."""
REFUSALS_MAX = 8
"""After so many refusals within a block the rest of it is read line by line."""


def jsonl_columns(path: Path, encoding: str = UTF_8, layout: str = LINES) -> list[str]:
    """What can be named of the objects in the file's first megabyte, in order of appearance; [] where none is an
    object. Raises CommandError at source.path as `head_of` does."""
    return columns_in(head_objects(path, encoding, layout))


def jsonl_part(spec: Json, part: Part) -> Iterator[pa.RecordBatch]:
    """The rows of a part, in order; blank lines are none."""
    encoding, layout = spec.get("encoding", UTF_8), spec.get("layout", LINES)
    names = list(dict.fromkeys(wanted_columns(spec).values()))
    folder = _folder_values(spec, Path(part.path), names)
    paths = json_paths(Path(part.path), [name for name in names if name not in folder], encoding, layout)
    exact = ExactReader(spec, paths, folder)
    fast = FastReader(spec, paths, folder, exact) if layout == LINES else None
    reader = PartReader(part, encoding=encoding)
    for block in reader.blocks():
        if layout == VALUES:
            spans, end, line = split_values(block.data, block.begin, block.line, is_final=block.is_final)
            reader.consumed(end, line)
            if spans:
                values = [block.data[start:stop] for start, stop, _ in spans]
                yield exact.batch(_decoded(values, encoding), [each for _, _, each in spans])
            continue
        end = lines_end(block)
        content = block.data[block.begin : end]
        reader.consumed(end, block.line + content.count(b"\n"))
        if not content:
            continue
        if fast is not None and (encoding != CP1252 or content.isascii()):
            yield from fast.batches(content, block.line)
        else:
            yield exact.lines(_decoded(content.split(b"\n"), encoding), block.line)


def _folder_values(spec: Json, path: Path, names: Sequence[str]) -> FolderColumns:
    """Those of the wanted columns that the folder's name says, and no object in sight."""
    folder = {name: value for name, value in folder_values(spec, path).items() if name in names}
    own = jsonl_columns(path, spec.get("encoding", UTF_8), spec.get("layout", LINES)) if folder else []
    return {name: value for name, value in folder.items() if name not in own}


def _decoded(values: list[bytes], encoding: str) -> list[bytes]:
    if encoding != CP1252:
        return values
    dialect = Dialect(encoding=encoding)
    return [value if value.isascii() else dialect.text(value).encode() for value in values]


def lines_end(block: Block) -> int:
    """Where the lines that start in the block's part end; the last one may be unfinished, and is left out then."""
    data, begin, limit = block.data, block.begin, block.limit
    if begin >= limit:
        return begin
    # The last line that starts before the limit ends at the first newline at or after limit - 1.
    end = data.find(b"\n", limit - 1) + 1
    if not end:
        end = len(data) if block.is_final else data.rfind(b"\n", begin) + 1
    return max(end, begin)


class FastReader:
    """Reads many lines at once with Arrow, where each wanted field is a text in all of them, or a whole number in all."""

    def __init__(
        self, spec: Json, paths: dict[str, FieldPath], folder: FolderColumns, exact: ExactReader
    ) -> None:
        self._spec, self._paths, self._folder, self._exact = spec, paths, folder, exact
        self._options: pj.ParseOptions | None = None
        self._is_tried = True

    def batches(self, content: bytes, first_line: int) -> Iterator[pa.RecordBatch]:
        """content: whole lines; the last may lack its newline."""
        ends = np.flatnonzero(np.frombuffer(content, np.uint8) == 10) + 1
        if not len(ends) or ends[-1] != len(content):
            ends = np.append(ends, len(content))
        if self._options is None and self._is_tried:
            self._options = self._options_of(content[: ends[min(len(ends), EXACT_ROWS) - 1]])
            self._is_tried = self._options is not None
        left = [REFUSALS_MAX]
        yield from self._halves(content, np.concatenate([[0], ends]), 0, len(ends), first_line, left)

    def _halves(
        self, content: bytes, bounds: Any, low: int, high: int, first_line: int, left: list[int]
    ) -> Iterator[pa.RecordBatch]:
        """Lines [low, high), with Arrow if it takes them all, else each half of them."""
        piece = content[bounds[low] : bounds[high]]
        if high - low > EXACT_ROWS and self._options is not None and left[0]:
            made = self._with_arrow(piece, high - low, first_line + low)
            if made is not None:
                yield made
                return
            left[0] -= 1
            middle = (low + high) // 2
            yield from self._halves(content, bounds, low, middle, first_line, left)
            yield from self._halves(content, bounds, middle, high, first_line, left)
            return
        lines = piece.split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield self._exact.lines(lines, first_line + low)

    def _options_of(self, sample: bytes) -> pj.ParseOptions | None:
        """How Arrow is to read lines like these; None where a field is neither texts nor whole numbers."""
        kinds: dict[str, pa.DataType] = {}
        for line in sample.split(b"\n"):
            values = self._exact.raw_values(line)
            for name, raw in (values or {}).items():
                kind = _kind_of(raw)
                if kind is None or kinds.setdefault(name, kind) != kind:
                    return None
        tree: dict[str, Any] = {}
        for name, path in self._paths.items():
            place = tree
            for step in path[:-1]:
                place = place.setdefault(step, {})
                if not isinstance(place, dict):
                    return None
            if path[-1] in place:
                return None
            place[path[-1]] = kinds.get(name, pa.string())
        return pj.ParseOptions(explicit_schema=pa.schema(_fields(tree)), unexpected_field_behavior="ignore")

    def _with_arrow(self, content: bytes, count: int, first_line: int) -> pa.RecordBatch | None:
        """The rows of so many lines; None where they are not plain objects, one a line, with the fields as expected."""
        trimmed = content.removesuffix(b"\n").removesuffix(b"\r")
        between = content.count(b"}\n{") + content.count(b"}\r\n{")
        if between != count - 1 or trimmed[:1] != b"{" or trimmed[-1:] != b"}":
            return None
        try:
            if not content.isascii():
                content.decode()
            table = pj.read_json(
                pa.BufferReader(content),
                pj.ReadOptions(use_threads=False, block_size=len(content) + 1),
                self._options,
            )
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        if table.num_rows != count:
            return None
        fields = {name: _field(table, path) for name, path in self._paths.items()}
        for column in fields.values():
            # As a number -0 is 0, as a text it is not.
            if pa.types.is_integer(column.type) and b"-0" in content and pc.any(pc.equal(column, 0)).as_py():
                return None
        fields |= {name: in_every_row(value, count) for name, value in self._folder.items()}
        return self._rows(fields, content, first_line, count)

    def _rows(self, fields: dict[str, Any], content: bytes, first_line: int, count: int) -> pa.RecordBatch:
        spec = self._spec
        keys = _as_bytes(fields[spec["key"]])
        payload = fields[spec["payload"]] if spec.get("payload") else None
        payload_bytes = None
        if payload is not None:
            lengths = pc.fill_null(pc.binary_length(_as_bytes(payload)), 0)
            payload_bytes = np.asarray(pc.cast(lengths, pa.int64()))
        columns = Columns(
            keys,
            fields[spec["time"]] if spec.get("time") else None,
            fields[spec["size"]] if spec.get("size") else None,
            payload_bytes,
        )
        lines: list[bytes] = []

        def text_of(place: int) -> bytes:
            if not lines:
                lines.extend(content.split(b"\n"))
            return lines[place]

        numbers = np.arange(first_line, first_line + count, dtype=np.int64)
        return rows_batch(columns, numbers, None, text_of, spec.get("time_format"))


def _kind_of(raw: bytes | None) -> pa.DataType | None:
    if raw is None or raw == b"null" or raw[:1] == b'"':
        return pa.string()
    try:
        return pa.int64() if str(int(raw)).encode() == raw else None
    except ValueError:
        return None


def _fields(tree: dict[str, Any]) -> list[pa.Field]:
    return [
        pa.field(name, pa.struct(_fields(kind)) if isinstance(kind, dict) else kind)
        for name, kind in tree.items()
    ]


def _field(table: pa.Table, path: tuple[str, ...]) -> pa.Array:
    column = table.column(path[0]).combine_chunks()
    for step in path[1:]:
        column = pc.struct_field(column, [step])
    return column


def _as_bytes(column: pa.Array) -> pa.Array:
    if pa.types.is_binary(column.type):
        return column
    return pc.cast(column if pa.types.is_string(column.type) else pc.cast(column, pa.string()), pa.binary())

"""The first rows of a source, for the form that picks its columns. Bounded work, no Spark: the web process
answers with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.lab.workload.weighted_keys import KEY_BYTES_MAX
from broker_core.pipeline.sources.csv_head import (
    column_of,
    csv_columns,
    csv_ensure_rows,
    scan_head,
)
from broker_core.pipeline.sources.dialect import Dialect, dialect_check
from broker_core.pipeline.sources.encodings import CP1252
from broker_core.pipeline.sources.files import FIRST_ROW_TOO_LONG, head_of, source_files
from broker_core.pipeline.sources.folder_columns import folder_values
from broker_core.pipeline.sources.generated import lab_part, lab_workload, made_up_part
from broker_core.pipeline.sources.json_paths import columns_in, flat, plain_numbers
from broker_core.pipeline.sources.json_values import objects_in
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.key_choice import ROWS_LOOKED_AT, column_use, key_proposed, time_proposed
from broker_core.pipeline.sources.parquet_rows import parquet_schema
from broker_core.pipeline.sources.text_kernels import FINE
from broker_core.pipeline.sources.times import DAY_FIRST, MONTH_FIRST, time_us
from broker_core.real_files import open_file

HEAD_BYTES = 1 << 20
CELL_CHARACTERS_MAX = 200
COLUMNS_MAX = 200
_JSON = msgspec.json.Decoder(dict[str, Any])
_GENERATED = ("lab", "flights", "zipf", "uniform")


def source_preview(spec: Json, rows: int = 20) -> Json:
    """`{"columns": [{"name", "type", "use"?}], "key": name or None, "time": name or None,
    "rows": [[text or null]], "bad": n, "bytes": n, "read_as"?: {...}}`.

    spec: as `source_check` takes it; of a file kind and path are enough. key, time: the columns to propose, where
    columns are to be picked, and use: how a column would serve as one (`key_choice.py`), where it was looked
    at. bad: rows among the first megabyte's that would be set aside.
    bytes: of all its files; 0 for what is made up. read_as: of a file of rows, how it is written: what spec says of it,
    and the rest recognised. Raises CommandError as `source_check` does.
    """
    from broker_core.pipeline.sources.spec import SETTINGS, file_settings

    kind = spec.get("kind")
    key = time = None
    read_as: Json = {}
    if kind in ("csv", "jsonl", "parquet"):
        if not isinstance(spec.get("path"), str):
            raise CommandError("source.path", "must name a file or a folder")
        files = source_files(kind, Path(spec["path"]))
        read_as = file_settings(kind, files[0], dialect_check(spec, SETTINGS[kind]))
        spec = spec | read_as
        show = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind]
        columns, shown, bad = _with_folder(spec, files[0], show(files[0], spec, rows))
        if kind == "csv":
            csv_ensure_rows(files, Dialect.of(spec))
        size = sum(file.stat().st_size for file in files)
        key, time = key_proposed(columns), time_proposed(columns)
    elif kind == "kafka_log":
        partitions = partition_folders(Path(str(spec.get("path"))), spec.get("topic"))
        columns, shown, bad = _kafka_log(
            [file for partition in partitions for _, file in partition.segments], rows
        )
        size = sum(file.stat().st_size for partition in partitions for _, file in partition.segments)
    elif kind in _GENERATED:
        columns, shown, bad, size = *_generated(spec, rows), 0
    else:
        raise CommandError(
            "source.kind",
            "must be one of {choices}",
            choices=Names(("csv", "jsonl", "parquet", "kafka_log", *_GENERATED)),
        )
    return {
        "columns": columns[:COLUMNS_MAX],
        "key": key,
        "time": time,
        "rows": [row[:COLUMNS_MAX] for row in shown],
        "bad": bad,
        "bytes": size,
    } | ({"read_as": read_as} if read_as else {})


Shown = tuple[list[Json], list[list[str | None]], int]


def _with_folder(spec: Json, path: Path, made: Shown) -> Shown:
    """With the columns that the folder's name says; whether they may be a key the first file does not tell."""
    columns, shown, bad = made
    own = {column["name"] for column in columns}
    folder = {name: value for name, value in folder_values(spec, path).items() if name not in own}
    kinds = {
        name: "string" if spec["kind"] == "parquet" else _type_of([value]) for name, value in folder.items()
    }
    more = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return [*columns, *more], [[*row, *map(_text, folder.values())] for row in shown], bad


def _csv(path: Path, spec: Json, rows: int) -> Shown:
    dialect = Dialect.of(spec)
    names = csv_columns(path, dialect)[:COLUMNS_MAX]
    head = head_of(path, HEAD_BYTES, dialect.encoding)
    scanned = scan_head(head, dialect, rows + 1 + ROWS_LOOKED_AT, len(names), is_final=len(head) < HEAD_BYTES)
    data, spans, kinds = scanned.data, scanned.spans, scanned.kinds
    first = 1 if dialect.header else 0
    fine = scanned.rows[first:, 4] == FINE
    places = (np.flatnonzero(fine)[:ROWS_LOOKED_AT] + first).tolist()
    cells = [
        column_of(data, spans[places, column], kinds[places, column], dialect).to_pylist()
        for column in range(len(names))
    ]
    shown = [[_text(column[row]) for column in cells] for row in range(min(rows, len(places)))]
    types = [_type_of([row[column] for row in shown]) for column in range(len(names))]
    return _described(names, types, cells), shown, int((~fine).sum())


def _jsonl(path: Path, spec: Json, rows: int) -> Shown:
    encoding, layout = spec["encoding"], spec["layout"]
    head = head_of(path, HEAD_BYTES, encoding)
    lines = objects_in(head, layout, is_final=len(head) < HEAD_BYTES)
    if not lines:
        raise CommandError("source.path", FIRST_ROW_TOO_LONG, bytes=HEAD_BYTES)
    objects: list[dict[str, Any]] = []
    bad = 0
    for raw in lines:
        if not raw.strip():
            continue
        line = Dialect(encoding=CP1252).text(raw).encode() if encoding == CP1252 else raw
        try:
            line.decode()
            row = _JSON.decode(plain_numbers(line))
            objects.append(row | flat(row))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            bad += 1
    names = columns_in(objects[:1_000])
    shown = [[_text(_cell(row.get(name))) for name in names] for row in objects[:rows]]
    types = [_json_type([row.get(name) for row in objects[:rows]]) for name in names]
    cells = [[_cell(row.get(name)) for row in objects[:ROWS_LOOKED_AT]] for name in names[:COLUMNS_MAX]]
    return _described(names, types, cells), shown, bad


def _parquet(path: Path, spec: Json, rows: int) -> Shown:
    schema = parquet_schema(path)
    try:
        with open_file(path) as content, pq.ParquetFile(content) as file:
            first = next(file.iter_batches(rows), None)
            shown = _flat(pa.RecordBatch.from_pylist([], schema) if first is None else first)
            # Not what could be a payload: its first rows say how long it is.
            short = {
                name
                for name, column in zip(shown.schema.names, shown.columns, strict=True)
                if _is_short(column)
            }
            named = [
                name
                for name in schema.names
                if any(each.split(".")[0] == name or each == name for each in short)
            ]
            is_plain = len(set(schema.names)) == len(schema.names) and named and first is not None
            looked = next(file.iter_batches(ROWS_LOOKED_AT, columns=named), None) if is_plain else None
    except MemoryError:  # one of Arrow's exceptions, too: the file is fine, only too large
        raise
    except (pa.ArrowException, OSError) as error:
        raise CommandError("source.path", "cannot be read: {reason}", reason=str(error)[:200]) from error
    columns: list[Json] = [{"name": field.name, "type": str(field.type)} for field in shown.schema]
    if looked is not None:
        flat = _flat(looked)
        for column in columns:
            if column["name"] in short:
                values = flat.column(column["name"]).to_pylist()
                column["use"] = column_use([_cell(value) for value in values])
    cells = [column.to_pylist() for column in shown.columns]
    return columns, [[_text(_cell(column[row])) for column in cells] for row in range(shown.num_rows)], 0


def _flat(batch: pa.RecordBatch) -> pa.Table:
    """Structs as their fields, each by its path."""
    table = pa.Table.from_batches([batch])
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _is_short(column: pa.Array) -> bool:
    """Whether a column may be a key: one value a row, of no more bytes than a lab's key may have."""
    return not pa.types.is_nested(column.type) and column.nbytes <= KEY_BYTES_MAX * max(1, len(column))


def _described(names: list[str], types: list[str], cells: list[list[Any]]) -> list[Json]:
    """cells: of each column its first values, of fewer columns than there are names where there are too
    many."""
    uses = [column_use(column) for column in cells[:COLUMNS_MAX]]
    return [
        {"name": name, "type": kind} | ({"use": uses[place]} if place < len(uses) else {})
        for place, (name, kind) in enumerate(zip(names, types, strict=True))
    ]


def _kafka_log(files: list[Path], rows: int) -> Shown:
    columns = [("offset", "number"), ("timestamp_ms", "number"), ("key", "text"), ("value", "text")]
    shown: list[list[str | None]] = []
    bad = 0
    try:
        for record in _first_records(files, rows):
            shown.append([str(record.offset), str(record.timestamp), _text(record.key), _text(record.value)])
    except LogError:
        bad = 1
    return [{"name": name, "type": kind} for name, kind in columns], shown, bad


def _first_records(files: list[Path], count: int) -> Iterator[Record]:
    for path in files:
        with open_file(path) as file:
            head = file.read(HEAD_BYTES)
        for batch in read_batches(head):
            if isinstance(batch, RecordBatch) and not batch.header.is_control:
                batch.ensure_valid()
                for record in batch.records():
                    yield record
                    count -= 1
                    if not count:
                        return


def _generated(spec: Json, rows: int) -> tuple[list[Json], list[list[str | None]], int]:
    from broker_core.pipeline.sources.spec import source_check

    spec = source_check(spec)
    if spec["kind"] in ("lab", "flights"):
        _, count = lab_workload(spec)
        batches = lab_part(spec, 0, min(rows, count))
    else:
        batches = made_up_part(spec, 0, min(rows, spec["records"]))
    made = [row for batch in batches for row in batch.to_pylist()]
    columns = [
        {"name": "key", "type": "text"},
        {"name": "at_us", "type": "number"},
        {"name": "bytes", "type": "number"},
    ]
    return (
        columns,
        [
            [
                _text(row["key"]),
                *(None if row[name] is None else str(row[name]) for name in ("at_us", "bytes")),
            ]
            for row in made
        ],
        0,
    )


def _cell(value: Any) -> str | bytes | None:
    if value is None or isinstance(value, str | bytes):
        return value
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else str(value)


def _text(value: str | bytes | None) -> str | None:
    if value is None:
        return None
    return (value.decode(errors="backslashreplace") if isinstance(value, bytes) else value)[
        :CELL_CHARACTERS_MAX
    ]


def _type_of(texts: list[str | None]) -> str:
    """number, time or text, as far as the shown rows tell."""
    given = [text for text in texts if text]
    if given and all(_is_number(text) for text in given):
        return "number"
    return "time" if given and all(map(_is_time, given)) else "text"


def _is_time(text: str) -> bool:
    return any(time_us(text, way) is not None for way in (None, DAY_FIRST, MONTH_FIRST))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json_type(values: list[Any]) -> str:
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        return "number"
    return _type_of(given) if given and all(isinstance(value, str) for value in given) else "text"

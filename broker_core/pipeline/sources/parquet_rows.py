"""Parquet: rows by row group. Reads any column type that has a text: numbers and dates become their text, as
they do in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.files import Part
from broker_core.pipeline.sources.folder_columns import folder_values
from broker_core.pipeline.sources.parquet_columns import ensure_parquet_column, values_of
from broker_core.pipeline.sources.rows import Columns, SourceFailed, rows_batch, wanted_columns
from broker_core.real_files import open_file

BATCH_ROWS_MAX = 65_536
BATCH_BYTES = 16 << 20
LONG_BYTES = 1_024


def parquet_schema(path: Path) -> pa.Schema:
    """The file's columns. Raises CommandError at source.path for a file that is not Parquet."""
    return _metadata(path).schema.to_arrow_schema()


def _metadata(path: Path) -> pq.FileMetaData:
    try:
        return _metadata_of(path)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise CommandError(
            "source.path", "{file} is not a Parquet file: {reason}", file=path.name, reason=str(error)[:200]
        ) from error


def _metadata_of(path: Path) -> pq.FileMetaData:
    with open_file(path) as content:
        return pq.read_metadata(content)


def parquet_parts(paths: list[Path]) -> list[Part]:
    """A part for each row group: start, end are its number and the next; first_line the number of its first
    row.

    Raises CommandError as `parquet_schema` does.
    """
    parts: list[Part] = []
    for path in paths:
        metadata = _metadata(path)
        line = 1
        for group in range(metadata.num_row_groups):
            parts.append(Part(str(path), group, group + 1, line))
            line += metadata.row_group(group).num_rows
    return parts


def parquet_part(spec: Json, part: Part) -> Iterator[pa.RecordBatch]:
    """The rows of a row group, in order."""
    wanted = list(dict.fromkeys(wanted_columns(spec).values()))
    try:
        metadata = _metadata_of(Path(part.path))
        schema = metadata.schema.to_arrow_schema()
        folder = folder_values(spec, Path(part.path))
        paths = {name: ensure_parquet_column(Path(part.path), schema, name, folder) for name in wanted}
        names = [".".join(path) for path in paths.values() if path is not None]
        long = _long_in_dictionaries(metadata.row_group(part.start), names)
        with (
            open_file(Path(part.path)) as content,
            pq.ParquetFile(content, metadata=metadata, read_dictionary=long) as file,
        ):
            line = part.first_line
            for whole in file.iter_batches(
                _batch_rows(file, part.start), row_groups=[part.start], columns=names
            ):
                flat = {name: values_of(whole, path, folder.get(name)) for name, path in paths.items()}
                for batch in _cut(pa.RecordBatch.from_pydict(flat)):
                    yield _rows(spec, batch, line)
                    line += batch.num_rows
    except (pa.ArrowException, OSError, KeyError) as error:
        raise SourceFailed("{file}: {reason}", file=Path(part.path).name, reason=str(error)[:200]) from error


def _batch_rows(file: pq.ParquetFile, group: int) -> int:
    metadata = file.metadata.row_group(group)
    row_bytes = max(1, metadata.total_byte_size // max(1, metadata.num_rows))
    return int(max(16, min(BATCH_ROWS_MAX, BATCH_BYTES // row_bytes)))


def _long_in_dictionaries(group: pq.RowGroupMetaData, names: list[str]) -> list[str]:
    """Columns whose pages repeat values of a dictionary that may be long: they are read as they are, as a
    batch may hold far more than the file. Statistics leave long values out."""
    found = []
    for number in range(group.num_columns):
        column = group.column(number)
        if (
            column.path_in_schema in names
            and column.physical_type == "BYTE_ARRAY"
            and column.has_dictionary_page
        ):
            statistics = column.statistics
            if (
                statistics is None
                or not statistics.has_min_max
                or max(len(statistics.min), len(statistics.max)) > LONG_BYTES
            ):
                found.append(column.path_in_schema)
    return found


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in pieces of about BATCH_BYTES once their dictionaries are decoded."""
    sizes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and _has_lengths(column.type.value_type):
            lengths = pc.fill_null(pc.cast(pc.binary_length(column.dictionary), pa.int64()), 0)
            sizes += np.asarray(pc.fill_null(lengths.take(column.indices), 0))
    ends = np.cumsum(sizes)
    start = 0
    while start < batch.num_rows:
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + BATCH_BYTES, side="right")))
        yield batch.slice(start, end - start)
        start = end


def _has_lengths(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_large_string(kind)
    )


def _rows(spec: Json, batch: pa.RecordBatch, line: int) -> pa.RecordBatch:
    def column(field: str) -> pa.Array | None:
        name = spec.get(field)
        return None if not name else _decoded(batch.column(name))

    keys = binary_of(_decoded(batch.column(spec["key"])))
    payload = column("payload")
    payload_bytes = None
    if payload is not None:
        payload_bytes = np.asarray(pc.fill_null(pc.cast(pc.binary_length(binary_of(payload)), pa.int64()), 0))
    times, sizes = column("time"), column("size")
    lines = np.arange(line, line + batch.num_rows, dtype=np.int64)
    # There is no line of text to show: the values that can be wrong are.
    shown = [column for column in (times, sizes) if column is not None]
    return rows_batch(
        Columns(keys, times, sizes, payload_bytes), lines, None,
        lambda place: " ".join(_shown(column[place]) for column in shown).encode(), spec.get("time_format"),
    )  # fmt: skip


def _shown(value: pa.Scalar) -> str:
    try:
        return str(value.as_py())
    except (OverflowError, ValueError):  # a time beyond Python's: its number
        return str(value.value)


def binary_of(column: pa.Array) -> pa.Array:
    """A column as bytes: texts as UTF-8, everything else as the text that Arrow gives it. Raises
    ArrowException for lists and structs."""
    if pa.types.is_binary(column.type):
        return column
    if pa.types.is_string(column.type) or pa.types.is_large_binary(column.type):
        return pc.cast(column, pa.binary())
    if pa.types.is_fixed_size_binary(column.type):
        return pc.cast(column, pa.binary())
    return pc.cast(pc.cast(column, pa.string()), pa.binary())


def _decoded(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_string(column.type):
        column = pc.cast(column, pa.string())
    return column

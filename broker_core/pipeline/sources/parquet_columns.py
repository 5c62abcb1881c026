"""Which columns a Parquet file offers: its own, the fields of its structs by their paths (`value.customer`; a column of
that very name comes first), and those of its folder's name (folder_columns.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.pipeline.sources.folder_columns import FolderColumns, in_every_row
from broker_core.pipeline.sources.rows import SourceFailed, ensure_column

FieldPath = tuple[str, ...]


def columns_of(schema: pa.Schema) -> list[str]:
    """What can be named, columns before fields of structs."""
    found = dict.fromkeys(schema.names)
    for field in schema:
        found |= dict.fromkeys(".".join(path) for path in _leaves(field))
    return list(found)


def _leaves(field: pa.Field) -> list[FieldPath]:
    if not pa.types.is_struct(field.type):
        return [(field.name,)]
    return [(field.name, *path) for each in field.type for path in _leaves(each)]


def ensure_parquet_column(
    path: Path, schema: pa.Schema, name: str, folder: FolderColumns
) -> FieldPath | None:
    """Where a column is in the file; None for one of the folder's name. Raises SourceFailed for a file without it, with
    several of its name, or where it holds more than one value a row."""
    found: FieldPath
    places = schema.get_all_field_indices(name)
    if len(places) > 1:
        raise SourceFailed(
            "{file}: {count} columns have the name {name}", file=path.name, count=len(places), name=name[:100]
        )
    if places:
        found, kind = (name,), schema.field(places[0]).type
    elif name in folder:
        return None
    else:
        found, kind = _inner(path, schema, name, folder)
    if pa.types.is_nested(kind):
        raise SourceFailed(
            "{file}: the column {name} holds {type}; a key, time, size or payload is one value per row",
            file=path.name, name=name[:100], type=" ".join(str(kind).split())[:100],
        )  # fmt: skip
    return found


def _inner(path: Path, schema: pa.Schema, name: str, folder: FolderColumns) -> tuple[FieldPath, pa.DataType]:
    first, *rest = name.split(".")
    kind: Any = schema.field(first).type if schema.names.count(first) == 1 else None
    for step in rest:
        if kind is None or not pa.types.is_struct(kind):
            break
        place = kind.get_field_index(step)
        kind = kind.field(place).type if place >= 0 else None
    else:
        if kind is not None:
            return (first, *rest), kind
    if kind is not None and pa.types.is_nested(kind):
        return (first, *rest), kind
    ensure_column(path, [*columns_of(schema), *folder], name)
    raise AssertionError("a column that is there is found above")


def type_of(schema: pa.Schema, path: FieldPath) -> pa.DataType:
    kind = schema.field(path[0]).type
    for step in path[1:]:
        kind = kind.field(kind.get_field_index(step)).type
    return kind


def values_of(batch: pa.RecordBatch, path: FieldPath | None, constant: str | None) -> pa.Array:
    """A column of the batch. path: None for `constant` in every row."""
    if path is None:
        return in_every_row(constant, batch.num_rows)
    column = batch.column(path[0])
    for step in path[1:]:
        column = pc.struct_field(column, [step])
    return column

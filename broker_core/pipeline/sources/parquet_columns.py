"""Which columns a Parquet file offers: its own, the fields of its structs by their paths (`value.customer`), and those of
its folder's name (`day=2024-01-01/`), as Hive and Spark write partitions. A column of that very name comes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from broker_core.events import Json
from broker_core.pipeline.sources.rows import SourceFailed, ensure_column

FieldPath = tuple[str, ...]


def columns_of(schema: pa.Schema, folder: dict[str, str | None]) -> list[str]:
    """What can be named, the file's own columns first. folder: as `folder_values` gives them."""
    found = dict.fromkeys(schema.names)
    for field in schema:
        found |= dict.fromkeys(".".join(path) for path in _leaves(field))
    return list(found | dict.fromkeys(folder))


def _leaves(field: pa.Field) -> list[FieldPath]:
    if not pa.types.is_struct(field.type):
        return [(field.name,)]
    return [(field.name, *path) for each in field.type for path in _leaves(each)]


def folder_values(spec: Json, path: Path) -> dict[str, str | None]:
    """Values that the names of the folders between the source's and the file give each of its rows."""
    if "path" not in spec:
        return {}
    root = Path(spec["path"]).resolve()
    inner = path.relative_to(root).parent if path.is_relative_to(root) and path != root else Path()
    names = dict.fromkeys(part.partition("=")[0] for part in inner.parts if "=" in part)
    if not names:
        return {}
    partitioning = ds.HivePartitioning(pa.schema([(name, pa.string()) for name in names]))
    values = ds.get_partition_keys(partitioning.parse(f"/{inner}/{path.name}"))
    return {name: values.get(name) for name in names}


def ensure_parquet_column(
    path: Path, schema: pa.Schema, name: str, folder: dict[str, str | None]
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


def _inner(
    path: Path, schema: pa.Schema, name: str, folder: dict[str, str | None]
) -> tuple[FieldPath, pa.DataType]:
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
    ensure_column(path, columns_of(schema, folder), name)
    raise AssertionError("a column that is there is found above")


def type_of(schema: pa.Schema, path: FieldPath) -> pa.DataType:
    kind = schema.field(path[0]).type
    for step in path[1:]:
        kind = kind.field(kind.get_field_index(step)).type
    return kind


def values_of(batch: pa.RecordBatch, path: FieldPath | None, constant: str | None) -> pa.Array:
    """A column of the batch. path: None for `constant` in every row."""
    if path is None:
        return pa.repeat(pa.scalar(constant, pa.string()), batch.num_rows)
    column = batch.column(path[0])
    for step in path[1:]:
        column = pc.struct_field(column, [step])
    return column

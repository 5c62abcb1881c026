"""Columns that the names of the folders say, `day=2024-01-01/part.csv`, as Hive and Spark write partitions: the same for
every kind of file. A column of that very name in the file comes first."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from broker_core.events import Json

FolderColumns = dict[str, str | None]


def folder_values(spec: Json, path: Path) -> FolderColumns:
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


def in_every_row(value: str | None, rows: int) -> pa.Array:
    """A folder's value as the binary column of so many rows."""
    return pa.repeat(pa.scalar(None if value is None else value.encode(), pa.binary()), rows)

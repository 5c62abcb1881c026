"""A study's result: Parquet tables and a manifest in one folder. Read and written here, with pyarrow alone.

    consumers.parquet   a row for each strategy, step and consumer: records, bytes, keys, share
    steps.parquet       a row for each strategy and step: the columns of the measures
    strategies.parquet  a row for each strategy: the totals
    lag.parquet         a row for each strategy, step and moment: records that wait
    hot_keys.parquet    the most frequent keys (of a long one its beginning), with their owner under each strategy after the
                        last step
    bad_rows.parquet    rows of the source that could not be read
    sample.json         the keys of the timed runs as a workload of the lab
    study.json          the manifest; written last, so a folder without it holds no result

Shares are fractions, times seconds, sizes bytes; null means that a figure does not apply. Every table carries
the version in its schema's metadata (`highwater.study`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from broker_core.errors import HighwaterError
from broker_core.events import Json
from broker_core.pipeline.measures import step_columns, total_columns
from broker_core.pipeline.measures.base import WHOLE

VERSION = 1
MANIFEST = "study.json"
SAMPLE = "sample.json"
TABLES = ("consumers", "steps", "strategies", "lag", "hot_keys", "bad_rows")
OWNER = "owner "
"""hot_keys.parquet has a column `owner <strategy id>` for each strategy."""
_METADATA = {"highwater.study": str(VERSION)}


class ResultMissing(HighwaterError):
    """The folder holds no result of this version."""


def table_schemas(strategy_ids: Sequence[str]) -> Mapping[str, Any]:
    """Table -> its Arrow schema."""
    texts, whole, number = pa.string(), pa.int64(), pa.float64()
    measured = {"steps": step_columns(), "strategies": total_columns()}
    measures = {
        table: [(name, whole if kind == WHOLE else number) for name, kind in columns.items()]
        for table, columns in measured.items()
    }
    fields = {
        "consumers": [
            ("strategy", texts),
            ("step", pa.int32()),
            ("consumer", texts),
            ("records", whole),
            ("bytes", whole),
            ("keys", whole),
            ("share", number),
        ],
        "steps": [("strategy", texts), ("step", pa.int32()), ("label", texts), *measures["steps"]],
        "strategies": [
            ("strategy", texts),
            ("model", texts),
            ("algorithm", texts),
            ("document", pa.bool_()),
            *measures["strategies"],
        ],
        "lag": [("strategy", texts), ("step", pa.int32()), ("second", number), ("records", whole)],
        "hot_keys": [
            ("key", texts),
            ("key_hex", texts),
            ("key_bytes", whole),
            ("records", whole),
            ("share", number),
            *((OWNER + name, texts) for name in strategy_ids),
        ],
        "bad_rows": [("line", whole), ("reason", texts), ("text", texts), ("file", texts)],
    }
    return MappingProxyType(
        {name: pa.schema(columns, metadata=_METADATA) for name, columns in fields.items()}
    )


def write_result(folder: Path, manifest: Json, tables: Mapping[str, Sequence[Json]], sample: Json) -> None:
    """Write tables, sample and last the manifest, in place: the caller moves the folder to where it is looked
    for.

    tables: name -> rows as dicts; a missing name is an empty table. Raises OSError where the disk does not
    take it.
    """
    schemas = table_schemas([strategy["id"] for strategy in manifest["strategies"]])
    for name, schema in schemas.items():
        pq.write_table(
            pa.Table.from_pylist(list(tables.get(name, ())), schema=schema), folder / f"{name}.parquet"
        )
    _write_json(folder / SAMPLE, sample)
    _write_json(folder / MANIFEST, manifest)


def _write_json(path: Path, document: Json) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    part.replace(path)


def result_json(folder: Path) -> Json:
    """The whole result as one JSON document, as docs/analyze/study.md describes it. Raises ResultMissing
    where there is none."""
    manifest = manifest_json(folder)
    tables = {
        name: pq.read_table(folder / f"{name}.parquet").to_pylist() for name in TABLES if name != "bad_rows"
    }
    totals = {row.pop("strategy"): row for row in tables["strategies"]}
    consumers: dict[tuple[str, int], Json] = {}
    for row in tables["consumers"]:
        place = row.pop("strategy"), row.pop("step")
        consumers.setdefault(place, {})[row.pop("consumer")] = row
    lags: dict[tuple[str, int], list[list[float]]] = {}
    for row in tables["lag"]:
        lags.setdefault((row["strategy"], row["step"]), []).append([row["second"], row["records"]])
    steps: dict[str, list[Json]] = {}
    for row in tables["steps"]:
        name, step = row.pop("strategy"), row["step"]
        del row["label"]  # it is in the study's own steps
        steps.setdefault(name, []).append(
            row | {"consumers": consumers.get((name, step), {}), "lag": lags.get((name, step), [])}
        )
    strategies = [
        strategy
        | {
            "totals": {column: totals[strategy["id"]][column] for column in total_columns()},
            "steps": steps.get(strategy["id"], []),
        }
        for strategy in manifest["strategies"]
    ]
    return manifest | {"strategies": strategies, "hot_keys": [_hot_key(row) for row in tables["hot_keys"]]}


def manifest_json(folder: Path) -> Json:
    """The manifest alone: request, workload, steps, strategies without their figures. Raises
    ResultMissing."""
    try:
        manifest: Json = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultMissing(f"{folder.name} holds no result of a study") from error
    if manifest.get("version") != VERSION:
        raise ResultMissing(f"{folder.name} holds a result of another version")
    return manifest


def _hot_key(row: Json) -> Json:
    owners = {name.removeprefix(OWNER): row.pop(name) for name in list(row) if name.startswith(OWNER)}
    return row | {"owners": owners}

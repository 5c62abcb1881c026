"""What a source may say, checked as far as bounded work can: the web process asks this before anything is
queued. No pyspark here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.older_names import renamed
from broker_core.lab.workload.flights import KEY_COLUMNS
from broker_core.pipeline.sources.csv_head import csv_columns, csv_ensure_rows, csv_header
from broker_core.pipeline.sources.dialect import FIELDS, Dialect, dialect_check
from broker_core.pipeline.sources.files import FILES_LOOKED_AT_MAX, ensure_text, source_files
from broker_core.pipeline.sources.first_values import first_values, time_format_check, time_format_of
from broker_core.pipeline.sources.folder_columns import folder_values
from broker_core.pipeline.sources.generated import EXPONENT_MAX, KEYS_MAX, RECORDS_MAX, lab_workload
from broker_core.pipeline.sources.json_paths import ensure_no_array, head_objects
from broker_core.pipeline.sources.jsonl_rows import jsonl_columns
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.parquet_columns import columns_of, ensure_parquet_column
from broker_core.pipeline.sources.parquet_rows import parquet_schema
from broker_core.pipeline.sources.recognise import recognised
from broker_core.pipeline.sources.rows import (
    FILE_FIELDS,
    SourceFailed,
    columns_shown,
    ensure_column,
    wanted_columns,
)

SETTINGS: dict[str, tuple[str, ...]] = {"csv": FIELDS, "jsonl": ("encoding", "layout"), "parquet": ()}
"""Of each kind of file, how it may be said to be written."""
KINDS = ("csv", "jsonl", "parquet", "kafka_log", "lab", "flights", "zipf", "uniform")
DEFAULT_SEED = 7
DEFAULT_EXPONENT = 1.1
_SEED_MAX = 2**63 - 1
_TIME_MS_MAX = 2**53


def source_check(raw: object) -> Json:
    """The source, filled in. Raises CommandError at `source` or `source.<field>` for what cannot be read; the
    data's rows are not looked at."""
    if not isinstance(raw, dict):
        raise CommandError("source", "must be an object")
    kind = raw.get("kind")
    if kind not in KINDS:
        raise CommandError("source.kind", "must be one of {choices}", choices=Names(KINDS))
    return _CHECKS[kind](kind, raw)


def file_columns(spec: Json, first: Path) -> list[str]:
    """The columns that the first file of a csv, jsonl or parquet source has; of JSON without an object in sight none."""
    match spec["kind"]:
        case "csv":
            return csv_columns(first, Dialect.of(spec))
        case "jsonl":
            return jsonl_columns(first, spec["encoding"], spec["layout"])
    return columns_of(parquet_schema(first))


def _file(kind: str, raw: Json) -> Json:
    refuse_unknown(raw, {"kind", "path", "time_format", *FILE_FIELDS, *SETTINGS[kind]}, "source.", "source")
    given = dialect_check(raw, SETTINGS[kind])
    time_format = time_format_check(raw.get("time_format"))
    spec: Json = {"kind": kind, "path": _path(raw)}
    first, *others = source_files(kind, Path(spec["path"]))
    spec |= file_settings(kind, first, given)
    if spec.get("key_separator") and raw.get("key") is None:
        raw = raw | {"key": "key"}
    own = file_columns(spec, first)
    columns = [*own, *folder_values(spec, first)]
    for field in FILE_FIELDS:
        name = raw.get(field)
        if name is None and field != "key":
            spec[field] = None
            continue
        if not isinstance(name, str) or not name:
            raise CommandError(
                f"source.{field}",
                "must name a column; the columns are {columns}",
                columns=columns_shown(columns),
            )
        # JSON lines may leave fields out, and a first megabyte without any object says nothing about the
        # rest.
        if name not in columns and (kind != "jsonl" or own):
            if kind == "parquet":
                with _told_at(field, is_alone=True):
                    ensure_parquet_column(first, parquet_schema(first), name, folder_values(spec, first))
            if kind == "jsonl" and "." in name:
                ensure_no_array(field, name, head_objects(first, spec["encoding"], spec["layout"]))
            raise CommandError(
                f"source.{field}",
                "there is no column {name}; the columns are {columns}",
                name=name[:100],
                columns=columns_shown(columns),
            )
        spec[field] = name
    for path in [first, *others][:FILES_LOOKED_AT_MAX]:
        _ensure_file(spec, path, is_alone=not others)
    if kind == "csv":
        csv_ensure_rows([first, *others], Dialect.of(spec))
    if spec["time"] is not None:
        with _told_at("time", is_alone=True):
            values = first_values(spec, first, spec["time"])
        time_format = time_format_of(values, time_format)
        spec |= {} if time_format is None else {"time_format": time_format}
    return spec


def file_settings(kind: str, first: Path, given: Json) -> Json:
    """How a file of rows is written: what a request gives, and the rest as its first rows have it."""
    return recognised(kind, first, given) if SETTINGS[kind] else {}


def _ensure_file(spec: Json, path: Path, *, is_alone: bool) -> None:
    """Refuse a file that lacks what the source names, or holds what no column of it may."""
    columns: list[str] | None = None
    folder = folder_values(spec, path)
    with _told_at("path", is_alone=is_alone):
        if spec["kind"] == "csv":
            columns = csv_header(path, Dialect.of(spec))
        elif spec["kind"] != "parquet":
            ensure_text(path, spec["encoding"])
    schema = parquet_schema(path) if spec["kind"] == "parquet" else None
    for field, name in wanted_columns(spec).items():
        with _told_at(field, is_alone=is_alone):
            if schema is not None:
                ensure_parquet_column(path, schema, name, folder)
            elif columns is not None:
                ensure_column(path, [*columns, *folder], name)


@contextmanager
def _told_at(field: str, *, is_alone: bool) -> Iterator[None]:
    """What its reader says of a file, as a refusal of the request; its name only where there are others."""
    try:
        yield
    except SourceFailed as error:
        template = error.template.removeprefix("{file}: ") if is_alone else error.template
        raise CommandError(f"source.{field}", template, **error.values) from error


def _kafka_log(kind: str, raw: Json) -> Json:
    refuse_unknown(raw, {"kind", "path", "topic", "from_ms", "until_ms"}, "source.", "source")
    spec: Json = {
        "kind": kind,
        "path": _path(raw),
        "topic": raw.get("topic"),
        "from_ms": None,
        "until_ms": None,
    }
    if spec["topic"] is not None and not isinstance(spec["topic"], str):
        raise CommandError("source.topic", "must be text")
    for field in ("from_ms", "until_ms"):
        if raw.get(field) is not None:
            spec[field] = whole(f"source.{field}", raw[field], 0, _TIME_MS_MAX)
    partition_folders(Path(spec["path"]), spec["topic"])
    return spec


def _lab(kind: str, raw: Json) -> Json:
    refuse_unknown(raw, {"kind", "scenario", "records"}, "source.", "source")
    if not isinstance(raw.get("scenario"), dict):
        raise CommandError("source.scenario", "must be an object")
    spec = {
        "kind": kind,
        "scenario": renamed(raw["scenario"], "lanes", "source.scenario."),
        "records": whole("source.records", raw.get("records"), 1, RECORDS_MAX),
    }
    lab_workload(spec)
    return spec


def _flights(kind: str, raw: Json) -> Json:
    refuse_unknown(raw, {"kind", "key", "records"}, "source.", "source")
    key = raw.get("key", "tail_number")
    if key not in KEY_COLUMNS:
        raise CommandError("source.key", "must be one of {choices}", choices=Names(KEY_COLUMNS))
    records = raw.get("records")
    spec = {
        "kind": kind,
        "key": key,
        "records": None if records is None else whole("source.records", records, 1, RECORDS_MAX),
    }
    lab_workload(spec)
    return spec


def _made_up(kind: str, raw: Json) -> Json:
    refuse_unknown(
        raw,
        {"kind", "keys", "records", "seed"} | ({"exponent"} if kind == "zipf" else set()),
        "source.",
        "source",
    )
    spec: Json = {
        "kind": kind,
        "keys": whole("source.keys", raw.get("keys"), 1, KEYS_MAX[kind]),
        "records": whole("source.records", raw.get("records"), 1, RECORDS_MAX),
        "seed": whole("source.seed", raw.get("seed", DEFAULT_SEED), 0, _SEED_MAX),
    }
    if kind == "zipf":
        exponent = raw.get("exponent", DEFAULT_EXPONENT)
        if type(exponent) not in (int, float) or not 0 <= exponent <= EXPONENT_MAX:
            raise CommandError(
                "source.exponent", "must be a number from {low} to {high}", low=0, high=EXPONENT_MAX
            )
        if round(exponent * 1_000) != round(exponent * 1_000, 6):
            raise CommandError("source.exponent", "may have at most {count} decimals", count=3)
        spec["exponent"] = exponent
    return spec


def _path(raw: Json) -> str:
    path = raw.get("path")
    if not isinstance(path, str) or not path or "\0" in path:
        raise CommandError("source.path", "must name a file or a folder")
    return path


_CHECKS: dict[Any, Callable[[str, Json], Json]] = {
    "csv": _file,
    "jsonl": _file,
    "parquet": _file,
    "kafka_log": _kafka_log,
    "lab": _lab,
    "flights": _flights,
    "zipf": _made_up,
    "uniform": _made_up,
}

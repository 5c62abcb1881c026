"""What the names of folders say, as Hive and Spark write partitions: `country=DE/part.csv`, for every kind of file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.pipeline.sources.csv_head import csv_columns
from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.files import Part, source_files
from broker_core.pipeline.sources.jsonl_rows import jsonl_part
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_parts
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.spec import source_check
from tests.pipeline.refusals import refused

KINDS = ["csv", "jsonl", "parquet"]
ORDERS = {
    "country=DE/day=2024-01-01": ["alice", "bob"],
    "country=C%C3%B4te%20d%27Ivoire/day=2024-01-02": ["carol"],
}


def written(folder, kind, columns):
    """A part of a folder, by whatever wrote it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"part-0.{kind}"
    rows = list(zip(*columns.values(), strict=True))
    match kind:
        case "csv":
            path.write_text("\n".join(",".join(row) for row in [tuple(columns), *rows]) + "\n")
        case "jsonl":
            objects = (dict(zip(columns, row, strict=True)) for row in rows)
            path.write_text("".join(str(each).replace("'", '"') + "\n" for each in objects))
        case _:
            pq.write_table(pa.table(columns), path)


def read(path, kind, **given):
    spec = source_check({"kind": kind, "path": str(path)} | given)
    assert source_check(spec) == spec, "a checked source is checked again where it runs"
    files = source_files(kind, Path(path))
    match kind:
        case "csv":
            columns = csv_columns(files[0], Dialect.of(spec))
            batches = (batch for file in files for batch in csv_part(spec, columns, Part(str(file))))
        case "jsonl":
            batches = (batch for file in files for batch in jsonl_part(spec, Part(str(file))))
        case _:
            batches = (batch for part in parquet_parts(files) for batch in parquet_part(spec, part))
    return [row for batch in batches for row in batch.to_pylist()]


def keys(rows):
    return [None if row["key"] is None else row["key"].decode() for row in rows]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def orders(tmp_path, kind):
    for folder, customers in ORDERS.items():
        written(tmp_path / folder, kind, {"customer": customers, "n": ["7"] * len(customers)})
    return tmp_path


def test_a_folders_name_is_a_column_of_its_rows(orders, kind):
    rows = read(orders, kind, key="customer", time="day")
    assert keys(rows) == ["carol", "alice", "bob"]
    assert [row["at_us"] for row in rows] == [1_704_153_600_000_000] + [1_704_067_200_000_000] * 2
    assert keys(read(orders, kind, key="country")) == ["Côte d'Ivoire", "DE", "DE"]
    assert [row["bytes"] for row in read(orders, kind, key="customer", size="n", payload="country")] == [
        7
    ] * 3
    assert [row["bytes"] for row in read(orders, kind, key="customer", payload="country")] == [19, 7, 5]


def test_the_page_shows_it_beside_the_files_own(orders, kind):
    shown = source_preview({"kind": kind, "path": str(orders)})
    assert [column["name"] for column in shown["columns"]] == ["customer", "n", "country", "day"]
    assert shown["rows"] == [["carol", "7", "Côte d'Ivoire", "2024-01-02"]]


def test_a_column_of_that_very_name_in_the_file_comes_first(tmp_path, kind):
    written(tmp_path / "customer=all", kind, {"customer": ["alice", "bob"], "n": ["1", "2"]})
    assert keys(read(tmp_path, kind, key="customer")) == ["alice", "bob"]
    assert [each["name"] for each in source_preview({"kind": kind, "path": str(tmp_path)})["columns"]] == [
        "customer",
        "n",
    ]


def test_hives_word_for_no_value_is_no_key(tmp_path, kind):
    written(tmp_path / "country=__HIVE_DEFAULT_PARTITION__", kind, {"customer": ["alice"], "n": ["1"]})
    assert keys(read(tmp_path, kind, key="country")) == [None]


def test_a_column_that_neither_file_nor_folder_has_is_refused_with_those_that_are_there(orders, kind):
    error = refused({"kind": kind, "path": str(orders), "key": "land"})
    assert (error.field, error.reason) == (
        "source.key", "there is no column land; the columns are customer, n, country, day",
    )  # fmt: skip
    one = next(orders.rglob(f"*.{kind}"))
    assert refused({"kind": kind, "path": str(one), "key": "country"}).field == "source.key"


def test_many_json_lines_are_read_at_once_and_one_by_one_with_the_same_folder(tmp_path):
    written(tmp_path / "country=DE", "jsonl", {"customer": ["alice"] * 1_000, "n": ["1"] * 1_000})
    written(tmp_path / "country=FR", "jsonl", {"customer": ["alice"], "n": ["1"]})
    rows = read(tmp_path, "jsonl", key="customer", payload="country")
    assert {row["bytes"] for row in rows} == {7} and len(rows) == 1_001

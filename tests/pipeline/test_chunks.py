"""A lab's chunks of rows: what a live study finds in the folder while it is being written, and how it asks
for more."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.pipeline import chunks
from broker_core.pipeline.chunks import (
    SPARK_SCHEMA,
    WANTED,
    chunk_names,
    chunk_write,
    last_second,
    want,
    wanted_mark,
)

LANE = {
    "lab": "x",
    "lane": "kafka",
    "kind": "lane",
    "at_us": 1_000_000,
    "arrived": 3,
    "finished": 2,
    "lag": 1,
    "skew": 1.25,
}


def test_a_chunk_is_named_by_the_seconds_that_it_holds(tmp_path):
    assert (chunk_names(tmp_path), last_second(tmp_path)) == ([], -1)
    chunk_write(tmp_path, 0, 4, [LANE])
    chunk_write(tmp_path, 5, 17, [])
    assert chunk_names(tmp_path) == ["000000000000-000000000004.parquet", "000000000005-000000000017.parquet"]
    assert last_second(tmp_path) == 17


def test_a_folder_that_is_not_there_has_no_chunks(tmp_path):
    assert (
        chunk_names(tmp_path / "gone"),
        last_second(tmp_path / "gone"),
        wanted_mark(tmp_path / "gone"),
    ) == ([], -1, None)


def test_a_second_is_a_number_and_not_a_text(tmp_path):
    """The lab's second 1,000 comes after second 999."""
    for second in (1_000, 999, 1_001):
        chunk_write(tmp_path, second, second, [])
    assert last_second(tmp_path) == 1_001
    assert [int(name[:12]) for name in chunk_names(tmp_path)] == [999, 1_000, 1_001]


@pytest.mark.parametrize(
    "name",
    [".000000000001-000000000002.parquet", "wanted", "000000000001-000000000002.parquet.tmp", "1-2.parquet"],
)
def test_what_is_not_a_whole_chunk_is_passed_over(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    assert chunk_names(tmp_path) == []


def test_columns_are_those_that_spark_is_told_of_and_what_a_row_lacks_is_null(tmp_path):
    chunk_write(
        tmp_path,
        1,
        1,
        [
            LANE,
            {"lab": "x", "lane": "kafka", "kind": "turning", "at_us": 5, "units_moved": 4, "stopped_us": 9},
        ],
    )
    table = pq.read_table(tmp_path / chunk_names(tmp_path)[0])
    types = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64()}
    assert [(field.name, field.type) for field in table.schema] == [
        (name, types[kind]) for name, kind in (column.split() for column in SPARK_SCHEMA.split(","))
    ]
    lane, turning = table.to_pylist()
    assert {name: value for name, value in lane.items() if value is not None} == LANE
    assert (turning["arrived"], turning["hw_lag"], turning["units_moved"], turning["stopped_us"]) == (
        None,
        None,
        4,
        9,
    )


def test_an_empty_second_is_a_chunk_with_every_column(tmp_path):
    chunk_write(tmp_path, 3, 3, iter(()))
    assert pq.read_table(tmp_path / chunk_names(tmp_path)[0]).num_columns == len(SPARK_SCHEMA.split(","))


def test_a_chunk_is_written_again_in_place_and_nothing_lies_beside_it(tmp_path):
    chunk_write(tmp_path, 1, 2, [LANE])
    chunk_write(tmp_path, 1, 2, [LANE, LANE])
    assert [file.name for file in tmp_path.iterdir()] == chunk_names(tmp_path)
    assert pq.read_table(tmp_path / chunk_names(tmp_path)[0]).num_rows == 2


def test_the_oldest_chunks_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNKS_KEPT", 3)
    for second in range(5):
        chunk_write(tmp_path, second, second, [])
    assert [int(name[:12]) for name in chunk_names(tmp_path)] == [2, 3, 4]


def test_a_row_of_another_type_is_refused_and_leaves_no_chunk(tmp_path):
    with pytest.raises(pa.ArrowException):
        chunk_write(tmp_path, 1, 1, [LANE | {"lag": "much"}])
    assert chunk_names(tmp_path) == []


def test_a_study_that_asks_makes_the_folder_and_moves_the_mark(tmp_path):
    folder = tmp_path / "chunks" / "lab-1"
    assert wanted_mark(folder) is None
    want(folder)
    first = wanted_mark(folder)
    os.utime(folder / WANTED, ns=(1, first - 5))
    assert wanted_mark(folder) == first - 5
    want(folder)
    assert wanted_mark(folder) >= first, "asking again is newer"
    assert chunk_names(folder) == []

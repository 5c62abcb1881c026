"""What the values of a source are without Spark: Parquet's keys, times and sizes in any unit, and the preview."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.pipeline.sources.dialect import NULL_WORDS, Dialect
from broker_core.pipeline.sources.numbers import parse_sizes
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_parts
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.times import parse_times, time_us


def test_parquet_keys_of_any_type_and_times_of_any_unit(tmp_path):
    at = datetime(2013, 1, 1, tzinfo=UTC)
    table = pa.table(
        {
            "text": ["é", None, ""],
            "raw": [b"\xff", b"", None],
            "number": pa.array([1, None, 3], pa.uint64()),
            "coded": pa.array(["a", "b", "a"]).dictionary_encode(),
            "ns": pa.array([at, None, at], pa.timestamp("ns", "UTC")),
            "s": pa.array([1357000000, None, 1357000005]),
            "size": [1, 2, -3],
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=2)

    def read(key, **more):
        return [
            row
            for part in parquet_parts([path])
            for batch in parquet_part({"key": key} | more, part)
            for row in batch.to_pylist()
        ]

    assert [row["key"] for row in read("text")] == ["é".encode(), None, b""]
    assert [row["key"] for row in read("raw")] == [b"\xff", b"", None]
    assert [row["key"] for row in read("number")] == [b"1", None, b"3"]
    assert [row["key"] for row in read("coded")] == [b"a", b"b", b"a"]
    assert [row["at_us"] for row in read("text", time="ns")] == [1356998400000000, None, 1356998400000000]
    assert [row["at_us"] for row in read("text", time="s")] == [1357000000000000, None, 1357000005000000]
    sized = read("text", size="size")
    assert [(row["line"], row["reason"]) for row in sized] == [(1, None), (2, None), (3, "bad_size")]


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1357016100", 1357016100_000000),
        ("1357016100123", 1357016100_123000),
        ("1357016100123456", 1357016100123456),
        ("1357016100123456789", 1357016100123456),
        ("1357016100.25", 1357016100_250000),
        ("-1357016100", -1357016100_000000),
        ("1", None),
        ("99999999", None),
        ("2013-01-01T04:55:00Z", 1357016100_000000),
        ("2013-01-01 12:55:00+08:00", 1357016100_000000),
        ("2013-01-01", 1356998400_000000),
        ("noon", None),
        ("", None),
        ("nan", None),
        ("99999999999999999999999", None),
    ],
)
def test_time_in_whatever_unit_it_is_written(text, micros):
    assert time_us(text) == micros
    found, is_bad = parse_times(pa.array([text, "1357016100"]))
    assert found.to_pylist() == [micros, 1357016100_000000]
    assert is_bad.tolist() == [micros is None and text != "", False]


@pytest.mark.parametrize(
    ("values", "micros"),
    [
        (
            pa.array([2**64 - 1, 2**63, None, 1357016100, 2**63 - 1], pa.uint64()),
            [None, None, None, 1357016100_000000, 9223372036854775],
        ),
        (
            pa.array([-(2**63), 1357016100, -1_500_000_000_000_000_001]),
            [-9223372036854775, 1357016100_000000, -1_500_000_000_000_000],
        ),
        (
            pa.array([str(2**64 - 1), str(-(2**63)), str(2**63 - 1)]),
            [None, -9223372036854775, 9223372036854775],
        ),
        (pa.array([str(-(2**63)), "1357016100"]), [-9223372036854775, 1357016100_000000]),
        (pa.array([2.0**64, 1357016100.5]), [None, 1357016100_500000]),
        (pa.array([2**62, None, 7], pa.timestamp("s", "UTC")), [None, None, 7_000_000]),
        (pa.array([-(2**63), 7], pa.timestamp("ms")), [None, 7_000]),
        (pa.array([1_999, -1_999], pa.timestamp("ns")), [1, -1]),
        (pa.array([1, None], pa.date32()), [86_400_000_000, None]),
        (pa.array([2**31 - 1, 1], pa.date32()), [None, 86_400_000_000]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_time_that_64_bits_do_not_hold_is_none(values, micros):
    found, is_bad = parse_times(values)
    assert found.to_pylist() == micros
    assert is_bad.tolist() == [
        micro is None and value.is_valid for micro, value in zip(micros, values, strict=True)
    ]


def test_parquet_time_that_is_none_is_a_bad_row_with_its_number(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table(
            {
                "k": ["a", "b"],
                "n": pa.array([2**64 - 1, 1357016100], pa.uint64()),
                "t": pa.array([2**62, 1], pa.timestamp("ms")),
            }
        ),
        path,
    )
    for name, number in (("n", 2**64 - 1), ("t", 2**62)):
        [part] = parquet_parts([path])
        rows = [row for batch in parquet_part({"key": "k", "time": name}, part) for row in batch.to_pylist()]
        assert [(row["reason"], row["text"]) for row in rows] == [("bad_time", str(number)), (None, None)]


def test_sizes_are_whole_numbers_of_zero_or_more():
    found, is_bad, is_rounded = parse_sizes(pa.array(["5", "", None, "-1", "2.0", "2.5", "x", "9" * 30]))
    assert found.to_pylist() == [5, None, None, None, 2, 2, None, None]
    assert is_bad.tolist() == [False, False, False, True, False, False, True, True]
    assert np.flatnonzero(is_rounded).tolist() == [5]


def test_preview_shows_columns_types_rows_and_how_many_are_bad(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"user,at,n\nx,2013-01-01,1\nbroken\n\xe9,2013-01-02,\n")
    shown = source_preview({"kind": "csv", "path": str(path)})
    assert [column.pop("use")["code"] for column in shown["columns"]] == ["unique", "unique", "constant"]
    assert shown == {
        "columns": [
            {"name": "user", "type": "text"},
            {"name": "at", "type": "time"},
            {"name": "n", "type": "number"},
        ],
        "key": None,
        "time": "at",
        "rows": [["x", "2013-01-01", "1"], ["broken", None, None], ["é", "2013-01-02", None]],
        "bad": 0,
        "read_as": Dialect(nulls=NULL_WORDS, encoding="cp1252").to_json(),
        "bytes": path.stat().st_size,
    }


def test_preview_of_made_up_records_names_types_as_a_files():
    shown = source_preview({"kind": "uniform", "keys": 5, "records": 3})
    assert shown["columns"] == [
        {"name": "key", "type": "text"},
        {"name": "at_us", "type": "number"},
        {"name": "bytes", "type": "number"},
    ]


def test_preview_of_json_lines_and_parquet(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"user":"x","n":1}\n{"user":null,"tags":["a"]}\nnonsense\n')
    shown = source_preview({"kind": "jsonl", "path": str(path)})
    assert ([column["name"] for column in shown["columns"]], shown["rows"], shown["bad"]) == (
        ["user", "n", "tags"], [["x", "1", None], [None, None, '["a"]']], 1,
    )  # fmt: skip
    pq.write_table(pa.table({"user": ["x"], "n": [1]}), tmp_path / "a.parquet")
    shown = source_preview({"kind": "parquet", "path": str(tmp_path / "a.parquet")})
    assert [(column["name"], column["type"]) for column in shown["columns"]] == [
        ("user", "string"),
        ("n", "int64"),
    ] and shown["rows"] == [["x", "1"]]


@pytest.mark.parametrize(
    "kind",
    [
        pa.binary(),
        pa.string(),
        pa.dictionary(pa.int32(), pa.binary()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
)
def test_long_keys_that_a_small_parquet_repeats_come_in_small_batches(tmp_path, kind):
    long = [b"a" * 100_000, b"b" * 100_000, None, b"", b"c" * 50_000]
    keys = pa.array([long[number % 5] for number in range(2_001)], pa.binary())
    path = tmp_path / "k.parquet"
    pq.write_table(
        pa.table(
            {
                "k": keys.cast(pa.string()).dictionary_encode().cast(kind)
                if pa.types.is_dictionary(kind)
                else keys.cast(kind)
            }
        ),
        path,
    )
    assert path.stat().st_size < 100_000
    [part] = parquet_parts([path])
    made = list(parquet_part({"key": "k"}, part))
    assert max(batch.nbytes for batch in made) < 18 << 20
    assert pa.Table.from_batches(made)["line"].to_pylist() == list(range(1, 2_002))
    assert pa.Table.from_batches(made)["key"].to_pylist() == keys.to_pylist()

"""Sources as Spark reads them: the same rows, line numbers and ordinals whatever the number of tasks."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from broker_core.lab.workload.parse import workload_from_json
from broker_core.pipeline.sources import files, read, spec
from broker_core.pipeline.sources.generated import made_up_codes, number_keys
from broker_core.pipeline.sources.read import source_failure, source_read


def test_csv_in_many_parts_keeps_ordinals_and_line_numbers(spark, tmp_path, monkeypatch):
    lines = [b"at,k"] + [
        b"%d,key-%d" % (1357016100 + number, number % 7) if number % 10 else b"bad" for number in range(1_000)
    ]
    path = tmp_path / "a.csv"
    path.write_bytes(b"\n".join(lines))
    spec = {"kind": "csv", "path": str(path), "key": "k", "time": "at"}
    whole = source_read(spark, spec, ordinals=True)
    expected = whole.records.toArrow()
    monkeypatch.setattr(read, "cut", lambda paths, is_whole: files.cut(paths, 4_000))
    workload = source_read(spark, spec, ordinals=True)
    found = workload.records.toArrow()
    assert workload.records.rdd.getNumPartitions() == -(-path.stat().st_size // 4_000)
    assert found.sort_by("ordinal") == expected.sort_by("ordinal")
    assert expected["ordinal"].to_pylist() == list(range(900))
    bad = workload.bad.toArrow().sort_by("line")
    assert bad["line"].to_pylist() == list(range(2, 1_002, 10))
    assert set(zip(bad["reason"].to_pylist(), bad["text"].to_pylist(), bad["file"].to_pylist())) == {
        ("wrong_columns", "bad", "a.csv")
    }


def test_stray_quote_hides_no_rows_from_spark(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'k,v\na,1\n"open,2\nc,3\nd,4\n"e",5\nf,6\n')
    workload = source_read(spark, {"kind": "csv", "path": str(path), "key": "k"}, ordinals=True)
    assert [row.key for row in workload.records.orderBy("ordinal").collect()] == [
        b"a",
        b"c",
        b"d",
        b"e",
        b"f",
    ]
    assert [(row.line, row.reason, row.text) for row in workload.bad.collect()] == [
        (3, "text_behind_quote", '"open,2')
    ]


def test_files_of_a_folder_may_order_their_columns_differently(spark, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("k,v\n" + "a,1\n" * 5)
    (tmp_path / "b.csv").write_text("v,k\n" + "2,b\n" * 5)
    monkeypatch.setattr(read, "cut", lambda paths, is_whole: files.cut(paths, 8))
    records = source_read(spark, {"kind": "csv", "path": str(tmp_path), "key": "k"}).records
    assert Counter(row.key for row in records.collect()) == {b"a": 5, b"b": 5}
    monkeypatch.setattr(spec, "FILES_LOOKED_AT_MAX", 1)
    (tmp_path / "b.csv").write_text("v,other\n2,b\n")
    with pytest.raises(Exception) as caught:
        source_read(spark, {"kind": "csv", "path": str(tmp_path), "key": "k"}).records.count()
    assert source_failure(caught.value) == "b.csv: there is no column k; the columns are v, other"


def test_folder_of_json_lines_is_read_in_the_order_of_its_names(spark, tmp_path):
    for name, keys in {"b.jsonl": "cd", "a.jsonl": "ab"}.items():
        (tmp_path / name).write_text("".join(json.dumps({"k": key}) + "\n" for key in keys))
    records = source_read(spark, {"kind": "jsonl", "path": str(tmp_path), "key": "k"}, ordinals=True).records
    assert [row.key for row in records.orderBy("ordinal").collect()] == [b"a", b"b", b"c", b"d"]


@pytest.mark.parametrize("kind", ["zipf", "uniform"])
def test_made_up_records_are_the_labs_own_whatever_the_tasks(spark, monkeypatch, kind):
    spec = {"kind": kind, "keys": 50, "records": 5_000, "seed": 11} | (
        {"exponent": 1.2} if kind == "zipf" else {}
    )
    lab = workload_from_json(
        {key: value for key, value in spec.items() if key not in ("records", "seed")}, seed=11
    )
    expected = [lab.key_bytes(code) for code in lab.key_codes(0, 5_000)]
    monkeypatch.setattr(read, "TASK_RECORDS", 700)
    records = source_read(spark, spec, ordinals=True).records
    assert records.rdd.getNumPartitions() == 8
    found = records.toArrow().sort_by("ordinal")
    assert found["key"].to_pylist() == expected
    assert found["bytes"].to_pylist() == [len(key) for key in expected]


def test_flights_are_one_pass_with_their_keyless_ones(spark):
    records = source_read(spark, {"kind": "flights", "key": "tail_number"}).records
    # The first departure is scheduled for 05:15 on 1 January 2013.
    assert tuple(records.selectExpr("count(*)", "count(key)", "min(at_us)").first()) == (
        336_776,
        336_776 - 2_512,
        1357017300_000000,
    )


def test_lab_source_is_what_the_lab_had(spark):
    scenario = {"seed": 3, "workload": {"kind": "zipf", "keys": 20, "exponent": 1.0, "rate": 50}}
    lab = workload_from_json(scenario["workload"], seed=3)
    found = (
        source_read(spark, {"kind": "lab", "scenario": scenario, "records": 200}, ordinals=True)
        .records.toArrow()
        .sort_by("ordinal")
    )
    assert found["key"].to_pylist() == [lab.key_bytes(lab.key_code(index)) for index in range(200)]
    assert found["at_us"].to_pylist() == [lab.arrival_us(index) for index in range(200)]
    assert found["bytes"].to_pylist() == [
        len(lab.key_bytes(lab.key_code(index))) + len(lab.payload(index)) for index in range(200)
    ]


def test_zipf_draws_follow_the_integer_table_exactly():
    spec = {"kind": "zipf", "keys": 1_000, "exponent": 1.1, "seed": 7}
    lab = workload_from_json({"kind": "zipf", "keys": 1_000, "exponent": 1.1}, seed=7)
    assert Counter(made_up_codes(spec, 0, 50_000).tolist()) == Counter(lab.key_codes(0, 50_000))
    together = np.concatenate([made_up_codes(spec, 0, 777), made_up_codes(spec, 777, 2_000)])
    assert together.tolist() == made_up_codes(spec, 0, 2_000).tolist()


def test_numbers_of_any_length_become_keys():
    numbers = [0, 9, 10, 99, 2**53 - 1]
    assert number_keys(np.array(numbers)).to_pylist() == [b"key-%d" % number for number in numbers]


def test_file_that_breaks_while_it_is_read_says_its_name_and_why(spark, tmp_path):
    path = tmp_path / "torn.csv.gz"
    # The first megabyte, which is looked at beforehand, is sound.
    path.write_bytes(gzip.compress(b"k,v\n" + b"a,1\n" * 500_000)[:-30])
    workload = source_read(spark, {"kind": "csv", "path": str(path), "key": "k"})
    with pytest.raises(Exception) as caught:
        workload.records.count()
    assert source_failure(caught.value).startswith("torn.csv.gz: ")

"""A workload is read once, in one Spark job, and its result is the same to the byte however it is cut."""

import random
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as f

from broker_core.hashing.xxhash64 import xxhash64_column
from broker_core.pipeline.group_tasks import count_by_key, first_of_keys
from broker_core.pipeline.sources import read
from broker_core.pipeline.sources.files import cut
from broker_core.pipeline.study import study_check, study_run

STRATEGIES = ["pulsar.consistent_hash", "kafka.range", "tubemq.modulo", "rabbitmq.queue"]
GIVEN = {"kind": "given", "start": 3, "changes": [{"kind": "join"}, {"kind": "crash", "consumer": "c2"}]}
AT = {
    "kind": "given",
    "start": 3,
    "changes": [{"kind": "join", "at": 300}, {"kind": "leave", "consumer": "c1", "at": 1_500}],
}
SERVICE = {"rate": 100, "consumer_rate": 40, "records_max": 3_000}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three files: more keys than a sample holds, keys too long for a lab, empty keys, bad rows, times."""
    folder, draw = tmp_path_factory.mktemp("orders"), random.Random(7)
    for number in range(3):
        rows = ["customer,at,size"]
        for row in range(1_500):
            key = (
                ""
                if row % 31 == 0 and row % 41
                else f"käse-{int(draw.paretovariate(0.4)) % 6_000}"
                if row % 97
                else "long" * 300
            )
            stray = '"stray"' if row % 41 == 0 else ""
            rows.append(f"{stray}{key},2026-01-01T00:{row % 60:02d}:00Z,{row}")
        (folder / f"{number}.csv").write_text("\n".join(rows) + "\n")
    return folder


def study(spark, path, out, history=GIVEN, **source):
    source = {"kind": "csv", "path": str(path), "key": "customer"} | source
    request = study_check(
        {"source": source, "strategies": STRATEGIES, "history": history, "service": SERVICE}
    )
    study_run(spark, request, out, lambda _: None, lambda: False)
    return {file.name: file.read_bytes() for file in out.iterdir()}


@pytest.mark.parametrize("history", [GIVEN, AT], ids=["whole", "at records"])
def test_however_a_workload_is_cut_its_result_is_the_same_to_the_byte(
    spark, files, tmp_path, monkeypatch, history
):
    """One task does all; several hand the shards of their keys to one another."""
    columns = {"time": "at", "size": "size"}
    together = tmp_path / "together.csv"
    together.write_text(
        "customer,at,size\n"
        + "".join(file.read_text().partition("\n")[2] for file in sorted(files.iterdir()))
    )
    alone = study(spark, together, tmp_path / "alone", history, **columns)
    monkeypatch.setattr(read, "cut", partial(cut, part_bytes=9_000))
    monkeypatch.setattr("broker_core.pipeline.one_pass.SHARDS_MIN", 4)
    cut_up = study(spark, together, tmp_path / "cut up", history, **columns)
    assert alone == cut_up and len(alone) == 8


def test_a_task_that_hands_its_keys_on_early_changes_nothing(spark, files, tmp_path, monkeypatch):
    whole = study(spark, files / "0.csv", tmp_path / "whole")
    monkeypatch.setattr(
        "broker_core.pipeline.one_pass.count_by_key", partial(count_by_key, held_keys=50, pending_rows=60)
    )
    assert study(spark, files / "0.csv", tmp_path / "early") == whole


def test_one_row_takes_one_job_and_its_timed_runs_another(spark, tmp_path):
    (tmp_path / "one.csv").write_text("customer\nalice\n")
    spark.sparkContext.setJobGroup("one row", "one row")
    try:
        study(spark, tmp_path / "one.csv", tmp_path / "out")
        assert len(spark.sparkContext.statusTracker().getJobIdsForGroup("one row")) == 2
    finally:
        spark.sparkContext._jsc.clearJobGroup()


def test_parts_numbered_by_the_driver_and_by_spark_are_the_same(spark, files, tmp_path, monkeypatch):
    monkeypatch.setattr(read, "cut", partial(cut, part_bytes=30_000))
    here = study(spark, files / "0.csv", tmp_path / "here", size="size")
    monkeypatch.setattr(read, "COUNTED_HERE_MAX", 0)
    assert study(spark, files / "0.csv", tmp_path / "in spark", size="size") == here
    lines = pq.read_table(tmp_path / "here" / "bad_rows.parquet")["line"].to_pylist()
    assert lines == [row + 2 for row in range(1_500) if row % 41 == 0]


def test_mix_of_a_key_is_sparks(spark):
    draw = random.Random(11)
    keys = [draw.randbytes(size) for size in range(130)] * 2
    rows = spark.createDataFrame(pa.table({"key": pa.array(keys, pa.binary())})).select(
        f.xxhash64("key").alias("mix")
    )
    assert xxhash64_column(pa.array(keys, pa.binary())).tolist() == [row.mix for row in rows.collect()]
    assert (
        xxhash64_column(pa.array(keys, pa.binary()).slice(7, 9)).tolist()
        == [row.mix for row in rows.collect()][7:16]
    )


def test_first_of_keys_is_where_a_key_comes_first():
    keys = pa.array([b"a", b"b", b"a", None, b"b", None], pa.binary())
    places = pa.array([1, 0, 0, 2, 3, 1]).to_numpy()
    assert first_of_keys(keys, places).tolist() == [0, 1, 1, 0, 0, 1]
    assert first_of_keys(pa.array([], pa.binary()), pa.array([], pa.int64()).to_numpy()).tolist() == []

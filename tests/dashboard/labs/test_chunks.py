"""A lab's rows for live studies: written only while somebody wants them, whole seconds, each once, in bounded
number."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.pipeline import chunks
from broker_core.pipeline.chunks import chunk_names, chunk_write, last_second, want
from dashboard.labs.chunks import ChunkWriter

SECOND = 1_000_000


@pytest.fixture
def writer(settings, tmp_path):
    settings.RUN_DIR = tmp_path
    return ChunkWriter("lab1")


@pytest.fixture
def core():
    return Lab(
        scenario_from_json(
            {"workload": {"kind": "uniform", "keys": 100, "rate": 40}, "consumers": 2, "consumer_rate": 15}
        )
    )


def rows_of(folder):
    return pa.concat_tables([pq.read_table(folder / name) for name in chunk_names(folder)]).to_pylist()


def test_nothing_is_written_for_a_lab_that_nobody_studies(writer, core):
    for second in range(1, 5):
        core.advance_to(second * SECOND)
        writer.write(core, float(second))
    assert not writer.folder.exists()


def test_each_whole_second_is_written_once_with_what_arrived_and_was_finished(writer, core):
    want(writer.folder)
    for tick in range(120):
        core.advance_to(tick * 100_000)
        writer.write(core, tick * 0.1)
    rows = rows_of(writer.folder)
    kafka = [row for row in rows if row["lane"] == "kafka" and row["kind"] == "lane"]
    assert [row["at_us"] // SECOND for row in kafka] == list(range(11))
    # Record i arrives (i + 1) / 40 s after the start: the last of each second belongs to the next.
    assert [row["arrived"] for row in kafka] == [39] + [40] * 10
    for lane in core.lanes:
        owned = [row for row in rows if row["lane"] == lane and row["kind"] == "owner"]
        whole = [row for row in rows if row["lane"] == lane and row["kind"] == "lane"]
        assert {row["owner"] for row in owned} == {"c1", "c2"}
        assert sum(row["finished"] for row in owned) == sum(row["finished"] for row in whole) > 0
    assert all(row["hw_lag"] is None for row in rows)


def test_lag_at_the_end_of_a_second_is_that_of_the_lab_at_that_moment(writer, core):
    want(writer.folder)
    writer.write(core, 0.0)
    lags = {}
    for second in range(1, 6):
        core.advance_to(second * SECOND - 1)
        lags[second - 1] = {lane_id: lane.reads.lag() for lane_id, lane in core.lanes.items()}
    core.advance_to(5 * SECOND + 300_000)
    writer.write(core, 10.0)
    found = {
        (row["at_us"] // SECOND, row["lane"]): row["lag"]
        for row in rows_of(writer.folder)
        if row["kind"] == "lane"
    }
    assert found == {
        (second, lane_id): lag for second, lanes in lags.items() for lane_id, lag in lanes.items()
    }


def test_turning_point_is_told_once_with_its_cost(writer, core):
    want(writer.folder)
    for second in range(1, 11):
        core.advance_to(second * SECOND)
        writer.write(core, float(second))
    core.submit(
        {"kind": "join", "lane": "all", "consumer": None, "args": {"count": 1}, "command_id": "join-1"}
    )
    for second in range(11, 25):
        core.advance_to(second * SECOND)
        writer.write(core, float(second))
    turning = [row for row in rows_of(writer.folder) if row["kind"] == "turning"]
    assert sorted(row["lane"] for row in turning) == sorted(core.lanes)
    [kafka] = [row for row in turning if row["lane"] == "kafka"]
    bill = core.lanes["kafka"].ledger.bill
    assert (kafka["owner"], kafka["units_moved"], kafka["stopped_us"]) == (
        "c3",
        bill.partitions_moved,
        bill.pause_us * bill.partitions_stopped,
    )
    assert kafka["stopped_us"] > 0


def test_worker_that_takes_over_goes_on_behind_the_last_chunk(writer, core):
    want(writer.folder)
    writer.write(core, 0.0)
    core.advance_to(3 * SECOND)
    writer.write(core, 1.0)
    successor = ChunkWriter("lab1")
    core.advance_to(5 * SECOND)
    successor.write(core, 100.0)
    core.advance_to(6 * SECOND)
    successor.write(core, 101.0)
    seconds = [
        row["at_us"] // SECOND
        for row in rows_of(writer.folder)
        if row["kind"] == "lane" and row["lane"] == "kafka"
    ]
    assert seconds == sorted(set(seconds))


def test_writing_ends_when_nobody_asks_any_more(writer, core):
    want(writer.folder)
    for second in range(1, 60):
        core.advance_to(second * SECOND)
        writer.write(core, float(second))
    assert last_second(writer.folder) <= chunks.WANTED_FOR_S + 2


def test_only_the_newest_chunks_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNKS_KEPT", 3)
    for second in range(6):
        chunk_write(
            tmp_path,
            second,
            second,
            [{"lab": "x", "lane": "kafka", "kind": "lane", "at_us": second * SECOND}],
        )
    assert chunk_names(tmp_path) == [f"{second:012d}-{second:012d}.parquet" for second in (3, 4, 5)]
    assert last_second(tmp_path) == 5
    assert {path.name for path in tmp_path.iterdir()} == set(chunk_names(tmp_path))


def test_full_disk_costs_rows_and_not_the_lab(writer, core, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dashboard.labs.chunks.chunk_write", full)
    want(writer.folder)
    core.advance_to(SECOND)
    writer.write(core, 1.0)
    core.advance_to(3 * SECOND)
    writer.write(core, 2.0)
    assert chunk_names(writer.folder) == []

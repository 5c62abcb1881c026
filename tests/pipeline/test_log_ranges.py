"""Which bytes of a log are read for which offsets and times: bounds as laws, over logs whose every record is
known. No Spark."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.offset_index import ROW
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.settings import LogSettings
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.kafka_log_plan import (
    Bounds,
    end_offset,
    index_rows,
    offset_from,
    plan,
    time_rows,
    walk,
)

START_MS = 1_700_000_000_000
COUNT, EVERY_MS = 400, 10
FEW = settings(max_examples=30, deadline=None)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Records 0..399, ten a batch, one every 10 ms, in several segments."""
    folder = tmp_path_factory.mktemp("logs") / "t-0"
    settings = LogSettings(segment_bytes=4_096, index_interval_bytes=512)
    opened = PartitionLog.open(DiskFolder(folder), settings, now_ms=START_MS, was_closed=True)
    for first in range(0, COUNT, 10):
        records = [
            Record(number, START_MS + (first + number) * EVERY_MS, None, b"v" * 30) for number in range(10)
        ]
        opened.append(encode_batch(records).data, now_ms=START_MS)
    opened.close(START_MS)
    (partition,) = partition_folders(folder)
    assert len(partition.segments) > 3
    return partition


def batches(ranges):
    """(first offset, last offset) of every batch in the ranges, in order."""
    found = []
    for each in ranges:
        for position, batch in walk(Path(each.path), each.start):
            if position >= each.end:
                break
            found.append((batch.header.base_offset, batch.header.last_offset))
    return found


ALL = [(first, first + 9) for first in range(0, COUNT, 10)]
OFFSETS = st.integers(-5, COUNT + 20)


# -- bounds --------------------------------------------------------------------------------------------------

BOUNDS = st.builds(
    Bounds,
    st.integers(0, 20),
    st.integers(0, 20),
    st.none() | st.integers(0, 20),
    st.none() | st.integers(0, 20),
)


def holds(bounds, offset, time):
    is_late = bounds.from_ms is None or time >= bounds.from_ms
    return (
        bounds.from_offset <= offset < bounds.until_offset
        and is_late
        and (bounds.until_ms is None or time < bounds.until_ms)
    )


@settings(max_examples=50)
@given(BOUNDS, BOUNDS, st.integers(0, 20), st.integers(0, 20))
def test_what_two_bounds_both_want_is_what_each_wants(one, other, offset, time):
    both = one.within(other)
    assert holds(both, offset, time) == (holds(one, offset, time) and holds(other, offset, time))
    assert both == other.within(one)
    assert one.within(Bounds()) == one


# -- plans ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_bytes", [1, 700, 2_000, 1 << 20])
def test_however_a_log_is_cut_every_batch_is_read_once_and_in_order(log, task_bytes):
    ranges = plan([log], Bounds(), task_bytes=task_bytes)
    assert batches(ranges) == ALL
    assert [each.is_tail for each in ranges] == [False] * (len(ranges) - 1) + [True], (
        "only the log's last bytes may be cut off"
    )
    if task_bytes == 1 << 20:
        assert len(ranges) == len(log.segments)


@FEW
@given(OFFSETS, OFFSETS, st.sampled_from([1, 900, 1 << 20]))
def test_bounds_by_offset_leave_out_nothing_that_is_wanted(log, low, high, task_bytes):
    found = batches(plan([log], Bounds(from_offset=max(0, low), until_offset=high), task_bytes=task_bytes))
    wanted = [(first, last) for first, last in ALL if last >= max(0, low) and first < high]
    assert set(wanted) <= set(found) and found == sorted(set(found))


@FEW
@given(st.integers(-100, COUNT * EVERY_MS + 500))
def test_bounds_by_time_leave_out_nothing_that_is_wanted(log, from_ms):
    found = batches(plan([log], Bounds(from_ms=START_MS + from_ms)))
    wanted = [(first, last) for first, last in ALL if last * EVERY_MS >= from_ms]
    assert set(wanted) <= set(found) and found == sorted(set(found))


def test_bounds_save_most_of_the_reading(log):
    assert len(batches(plan([log], Bounds(from_offset=300, until_offset=310)))) < len(ALL) / 3
    assert len(batches(plan([log], Bounds(from_ms=START_MS + 390 * EVERY_MS)))) < len(ALL) / 3
    assert len(batches(plan([log], Bounds(from_offset=COUNT + 500_000)))) < len(ALL) / 3
    assert batches(plan([log], Bounds(until_offset=0))) == []


def test_without_indexes_a_segment_is_one_range_and_nothing_is_lost(log, tmp_path):
    bare = tmp_path / "t-0"
    bare.mkdir()
    for _, path in log.segments:
        shutil.copy(path, bare)
    (partition,) = partition_folders(bare)
    ranges = plan([partition], Bounds(), task_bytes=1)
    assert len(ranges) == len(log.segments) and batches(ranges) == ALL
    assert index_rows(partition.segments[0][1], 0) == time_rows(partition.segments[0][1], 0) == []


# -- ends ----------------------------------------------------------------------------------------------------


def test_the_end_is_behind_the_last_whole_batch_whatever_the_indexes_say(log, tmp_path):
    assert end_offset(log) == COUNT
    torn = tmp_path / "t-0"
    shutil.copytree(log.folder, torn)
    (partition,) = partition_folders(torn)
    base, path = partition.segments[-1]
    path.write_bytes(path.read_bytes()[:-3])
    assert end_offset(partition) == COUNT - 10
    path.write_bytes(b"")
    assert end_offset(partition) == base, "a segment that has just been rolled is empty"


@FEW
@given(st.integers(-100, COUNT * EVERY_MS + 500))
def test_before_the_offset_of_a_time_no_record_is_as_late(log, from_ms):
    offset = offset_from(log, START_MS + from_ms)
    assert 0 <= offset <= COUNT
    assert all(number * EVERY_MS < from_ms for number in range(offset))


def test_rows_of_an_index_are_believed_as_far_as_they_rise_and_stay_within_the_log(log, tmp_path):
    copied = tmp_path / "t-0"
    shutil.copytree(log.folder, copied)
    (partition,) = partition_folders(copied)
    base, path = partition.segments[0]
    rows = index_rows(path, base)
    assert len(rows) > 2 and rows == sorted(rows)
    index = path.with_suffix(".index")
    whole = index.read_bytes()
    for spoiled in (ROW.pack(0, 0), ROW.pack(rows[-1][0], 5), ROW.pack(rows[-1][0] + 1, path.stat().st_size)):
        index.write_bytes(whole + spoiled + ROW.pack(9_999, 10))
        assert index_rows(path, base) == rows
    index.write_bytes(whole + b"\x00\x01")
    assert index_rows(path, base) == rows, "half a row is none"

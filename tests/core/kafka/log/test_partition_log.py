"""Appending, rolling, reading, cutting: on disk and in memory alike."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.batch_reader import records_only
from broker_core.kafka.log.checkpoints import read_leader_epochs, read_topic_id, write_topic_id
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.errors import (
    InvalidProducerEpoch,
    OffsetOutOfRange,
    OutOfOrderSequence,
)
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import LATEST, MAX_TIMESTAMP, PartitionLog
from broker_core.kafka.log.producer_state import ProducerState
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch, encode_pairs_batch
from broker_core.kafka.log.segment import RollReason
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder

NOW = 1_700_000_000_000
SMALL = LogSettings(segment_bytes=4000, index_interval_bytes=200)


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return DiskFolder(tmp_path / "flights-0") if request.param == "disk" else MemoryFolder(now_ms=lambda: NOW)


def filled(folder: Folder, count: int = 200, settings: LogSettings = SMALL) -> PartitionLog:
    log = PartitionLog.open(folder, settings, now_ms=NOW)
    for number in range(count):
        log.append_pairs([(b"key-%d" % number, b"value-%d" % number)], now_ms=NOW + number)
    return log


def keys(log: PartitionLog) -> list[bytes | None]:
    return [record.key for batch in log.batches() for record in batch.records()]


def test_every_record_is_found_by_its_offset_and_by_its_time(folder: Folder) -> None:
    log = filled(folder)
    assert len(log.segments) > 3
    assert log.log_end_offset == 200
    for offset in range(200):
        fetched = log.read(offset, 1)
        (batch,) = records_only(fetched.data)
        assert fetched.base_offset == offset
        assert [record.value for record in batch.records()] == [b"value-%d" % offset]
        found = log.offset_for_time(NOW + offset)
        assert found is not None and found == (NOW + offset, offset)
    assert log.offset_for_time(NOW + 200) is None
    assert log.offset_for_time(LATEST) == (-1, log.log_end_offset) == (-1, 200)
    assert log.offset_for_time(MAX_TIMESTAMP) == (NOW + 199, 199)


def test_a_closed_log_opens_to_the_same_state(folder: Folder) -> None:
    log = filled(folder)
    log.append_pairs([(b"k", b"v")], now_ms=NOW, producer_id=5, producer_epoch=0, base_sequence=0)
    expected = keys(log)
    log.close(NOW)
    for was_closed in (True, False):
        again = PartitionLog.open(folder, SMALL, now_ms=NOW, was_closed=was_closed)
        assert keys(again) == expected
        assert again.log_end_offset == 201
        assert again.producers.entries[5].last_sequence == 0
        assert [segment.base_offset for segment in again.segments] == [s.base_offset for s in log.segments]
        again.close(NOW)


def test_a_read_keeps_to_its_limits() -> None:
    log = filled(MemoryFolder(), settings=LogSettings(index_interval_bytes=200))
    size = len(log.read(0, 1).data)
    assert size > 1, "the first batch comes whole"
    assert log.read(0, 1, at_least_one=False).data.nbytes == 1
    assert log.read(0, 10 * size).data.nbytes == 10 * size
    assert [batch.header.base_offset for batch in records_only(log.read(3, 10**6, end_offset=7).data)] == [
        3,
        4,
        5,
        6,
    ]
    assert log.read(200, 100).data.nbytes == 0
    for outside in (-1, 201):
        with pytest.raises(OffsetOutOfRange):
            log.read(outside, 100)


ROLLS: list[tuple[RollReason, LogSettings, Callable[[PartitionLog], object]]] = [
    ("size", LogSettings(segment_bytes=400), lambda log: log.append_pairs([(b"k", b"v" * 300)], now_ms=NOW)),
    ("time", LogSettings(segment_ms=10), lambda log: log.append_pairs([(b"k", b"v")], now_ms=NOW + 11)),
    (
        "index_full",
        LogSettings(segment_index_bytes=24, index_interval_bytes=0),
        lambda log: [log.append_pairs([(b"k", b"v")], now_ms=NOW + i) for i in range(2)],
    ),
    (
        "offset_span",
        LogSettings(),
        lambda log: log.append_as_follower(encode_batch([Record(2**31, NOW, b"k", b"v")]).data, now_ms=NOW),
    ),
]


@pytest.mark.parametrize(("reason", "settings_of_topic", "push"), ROLLS, ids=[row[0] for row in ROLLS])
def test_a_segment_rolls_by(
    reason: RollReason, settings_of_topic: LogSettings, push: Callable[[PartitionLog], object]
) -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    log = PartitionLog.open(folder, settings_of_topic, now_ms=NOW)
    log.append_pairs([(b"k", b"v")], now_ms=NOW)
    assert len(log.segments) == 1 and log.roll_reason is None
    push(log)
    assert len(log.segments) == 2 and log.roll_reason == reason
    assert f"{log.active.base_offset:020d}.snapshot" in folder.names()
    assert log.recovery_point == 0, "no producer waits for a flush"
    log.flush_if_due(NOW)
    assert log.recovery_point == log.active.base_offset, "and then what was closed is on disk"


def test_a_segment_whose_index_was_full_takes_appends_again_after_a_cut() -> None:
    log = PartitionLog.open(
        MemoryFolder(), LogSettings(segment_index_bytes=48, index_interval_bytes=0), now_ms=NOW
    )
    while not log.active.is_index_full:
        log.append_pairs([(b"k", b"v")], now_ms=NOW + log.log_end_offset)
    log.truncate_to(2, NOW)
    log.append_pairs([(b"k", b"v")], now_ms=NOW + 2)
    assert len(log.segments) == 1


def test_the_first_append_of_a_segment_has_no_row_and_the_interval_is_strict() -> None:
    log = PartitionLog.open(MemoryFolder(), LogSettings(index_interval_bytes=160), now_ms=NOW)
    for _ in range(6):  # 80 bytes each
        assert log.active.size % 80 == 0
        log.append_pairs([(b"key", b"v" * 9)], now_ms=NOW)
    # 0 and 80 and 160 bytes are not more than 160; behind 240 a row comes, then counting starts again with
    # that batch.
    assert [log.active.offset_index.entry(slot) for slot in range(log.active.offset_index.row_count)] == [
        (3, 240)
    ]


def test_a_client_s_batch_gets_the_next_offsets() -> None:
    log = filled(MemoryFolder(), 3, LogSettings())
    two = encode_pairs_batch([(b"a", b"1"), (b"b", b"2")], timestamp=NOW).data
    assert log.append(two, now_ms=NOW)[:2] == (3, 4)
    assert log.append(two, now_ms=NOW)[:2] == (5, 6)
    assert [b.header.base_offset for b in log.batches(3)] == [3, 5]


def test_an_idempotent_producer_s_batch_stands_in_the_log_once() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)

    def send(sequence: int, epoch: int = 0) -> tuple[int, bool]:
        appended = log.append_pairs(
            [(b"k", b"v")] * 2, now_ms=NOW, producer_id=7, producer_epoch=epoch, base_sequence=sequence
        )
        return appended.first_offset, appended.is_duplicate

    assert send(40) == (0, False), "nothing is known: any sequence will do"
    assert [send(42 + 2 * i) for i in range(5)] == [(2 + 2 * i, False) for i in range(5)]
    assert send(50) == (10, True) and send(42) == (2, True)
    for wrong in (40, 53, 51):  # dropped out of the five; a gap; an overlap
        with pytest.raises(OutOfOrderSequence):
            send(wrong)
    with pytest.raises(OutOfOrderSequence):
        send(1, epoch=1)
    assert send(0, epoch=1) == (12, False)
    with pytest.raises(InvalidProducerEpoch):
        send(52)
    log.producers.forget_expired(NOW + 86_400_000, 86_400_000)
    assert send(99) == (14, False)


def test_sequences_run_from_the_largest_number_to_0() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    for sequence in (2**31 - 2, 1):
        log.append_pairs(
            [(b"k", b"v")] * 3, now_ms=NOW, producer_id=7, producer_epoch=0, base_sequence=sequence
        )
    assert log.log_end_offset == 6


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(50, 2000))
def test_cutting_the_log_leaves_exactly_what_was_before(count: int, end: int, segment_bytes: int) -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    topic = LogSettings(segment_bytes=max(segment_bytes, 120), index_interval_bytes=100)
    log = filled(folder, count, topic)
    before = keys(log)
    log.truncate_to(end, NOW)
    assert log.log_end_offset == min(count, end)
    assert keys(log) == before[:end]
    log.append_pairs([(b"new", b"v")], now_ms=NOW)
    assert keys(log) == [*before[:end], b"new"]
    assert keys(PartitionLog.open(folder, topic, now_ms=NOW)) == [*before[:end], b"new"]


def test_epochs_follow_the_log(folder: Folder) -> None:
    log = filled(folder, 3, LogSettings())
    log.leader_epoch = 4
    log.append_pairs([(b"k", b"v")], now_ms=NOW)
    assert read_leader_epochs(folder) == [(0, 0), (4, 3)]
    assert folder.read("leader-epoch-checkpoint") == b"0\n2\n0 0\n4 3\n"
    log.truncate_to(3, NOW)
    assert read_leader_epochs(folder) == [(0, 0)]


def test_an_old_snapshot_gives_the_same_producers_as_reading_everything() -> None:
    folder = MemoryFolder(now_ms=lambda: NOW)
    log = PartitionLog.open(folder, LogSettings(segment_bytes=500), now_ms=NOW)
    for number in range(30):
        log.append_pairs(
            [(b"k", b"v" * 20)],
            now_ms=NOW,
            producer_id=number % 4,
            producer_epoch=0,
            base_sequence=number // 4,
        )
    state = log.producers.entries
    with_snapshots = PartitionLog.open(folder, now_ms=NOW).producers.entries
    for name in folder.names():
        if name.endswith(".snapshot"):
            folder.remove(name)
    without = PartitionLog.open(folder, now_ms=NOW).producers.entries
    assert without == state
    assert {pid: entry.last_sequence for pid, entry in with_snapshots.items()} == {
        pid: entry.last_sequence for pid, entry in state.items()
    }
    assert len(ProducerState().snapshot()) == 10, "as the article's folder lists it"


def test_partition_metadata_there_and_back(folder: Folder) -> None:
    assert read_topic_id(folder) is None
    write_topic_id(folder, bytes(range(16)))
    assert read_topic_id(folder) == bytes(range(16))
    assert folder.read("partition.metadata") == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"


def test_views_of_a_disk_file_stay_valid_while_it_grows(tmp_path: Path) -> None:
    file = DiskFolder(tmp_path).open("00000000000000000000.log")
    file.append(b"a" * 3_000_000)
    first = file.view(0, 2_000_000)
    file.append(b"b" * 100)
    assert bytes(file.view(2_999_999, 50)) == b"a" + b"b" * 49
    file.append(b"c" * 2_000_000)
    assert bytes(file.view(3_000_099, 2)) == b"bc"
    assert bytes(first) == b"a" * 2_000_000
    file.close()

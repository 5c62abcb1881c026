"""What is deleted, in which order, and what never is."""

import pytest

from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.file_names import TIME_INDEX, file_name
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.retention import delete_old_segments, delete_records
from broker_core.kafka.log.settings import DAY_MS, LogSettings

NOW = 100 * DAY_MS


def log_with_bases(bases: list[int], end: int, **settings: int | bool) -> PartitionLog:
    """A log whose segments begin at those offsets; each holds one batch, a day younger than the one
    before."""
    log = PartitionLog.open(
        MemoryFolder(now_ms=lambda: NOW), LogSettings(segment_ms=DAY_MS // 2, **settings), now_ms=NOW
    )  # fmt: skip
    for index, (base, next_base) in enumerate(zip(bases, [*bases[1:], end], strict=True)):
        log.append_pairs([(b"k", b"v")] * (next_base - base), now_ms=NOW, timestamp=(50 + index) * DAY_MS)
    assert [segment.base_offset for segment in log.segments] == bases
    return log


def test_the_article_s_log_start_offset() -> None:
    """Its segments 0, 3257573, 6506251, 9751854 and log start 7421048, in thousands: the first two go."""
    log = log_with_bases([0, 3257, 6506, 9751], 9800, retention_ms=-1)
    delete_records(log, 7421)
    assert [deletion[::2] for deletion in delete_old_segments(log, NOW)] == [
        (0, "log_start_offset"),
        (3257, "log_start_offset"),
    ]
    assert log.log_start_offset == 7421
    assert log.segments[0].base_offset == 6506
    with pytest.raises(OffsetOutOfRange):
        log.read(7420, 100)
    assert log.epochs.rows == [(0, 7421)]


def test_size_keeps_at_least_what_was_asked_for() -> None:
    log = log_with_bases([0, 10, 20, 30], 40, retention_ms=-1)
    each = log.segments[0].size
    for retention_bytes, gone in ((4 * each, 0), (3 * each + 1, 0), (3 * each, 1), (each, 3), (1, 3), (0, 4)):
        log = log_with_bases([0, 10, 20, 30], 40, retention_ms=-1, retention_bytes=retention_bytes)
        assert [deletion.reason for deletion in delete_old_segments(log, NOW)] == ["size"] * gone
        assert log.size >= min(retention_bytes, 4 * each)


def test_time_looks_at_records_and_not_at_files() -> None:
    log = log_with_bases([0, 10, 20, 30], 40, retention_ms=7 * DAY_MS)
    # Largest times are days 50 to 53; the files are all of day 100.
    assert delete_old_segments(log, 57 * DAY_MS) == []
    assert [d.base_offset for d in delete_old_segments(log, 58 * DAY_MS + 1)] == [0, 10]
    assert log.log_start_offset == 20


def test_when_all_have_expired_an_empty_segment_becomes_the_log() -> None:
    log = log_with_bases([0, 10], 20, retention_ms=7 * DAY_MS)
    assert [d.base_offset for d in delete_old_segments(log, NOW)] == [0, 10]
    assert [segment.base_offset for segment in log.segments] == [20]
    assert (log.log_start_offset, log.log_end_offset, log.size) == (20, 20, 0)
    assert delete_old_segments(log, 2 * NOW) == [], "an empty last segment never goes"
    assert log.append_pairs([(b"k", b"v")], now_ms=NOW).first_offset == 20


def test_nothing_above_the_high_watermark_goes() -> None:
    log = log_with_bases([0, 10, 20], 30, retention_ms=0)
    log.high_watermark = 19
    assert [d.base_offset for d in delete_old_segments(log, NOW)] == [0]


def test_a_compacted_topic_deletes_only_by_its_start() -> None:
    log = log_with_bases([0, 10, 20], 30, retention_ms=0, retention_bytes=0, cleanup_delete=False)
    assert delete_old_segments(log, NOW) == []
    delete_records(log, 15)
    assert [d.base_offset for d in delete_old_segments(log, NOW)] == [0]


def test_files_are_renamed_and_go_after_the_delay() -> None:
    log = log_with_bases([0, 10, 20], 30, retention_ms=45 * DAY_MS, file_delete_delay_ms=60_000)
    delete_old_segments(log, 96 * DAY_MS)
    gone = [name for name in log.folder.names() if name.endswith(".deleted")]
    assert "00000000000000000000.log.deleted" in gone
    assert log.delete_due_files(96 * DAY_MS + 59_999) == []
    assert sorted(log.delete_due_files(96 * DAY_MS + 60_000)) == gone
    assert not [name for name in log.folder.names() if name.endswith(".deleted")]


def test_delete_records_keeps_to_the_high_watermark() -> None:
    log = log_with_bases([0], 10)
    with pytest.raises(OffsetOutOfRange):
        delete_records(log, 11)
    delete_records(log, -1)
    assert log.log_start_offset == 10
    delete_records(log, 3)
    assert log.log_start_offset == 10


def test_delete_records_to_the_log_end_leaves_the_active_segment() -> None:
    log = log_with_bases([0, 3, 6], 9, retention_ms=-1)
    delete_records(log, 9)
    assert [deletion.base_offset for deletion in delete_old_segments(log, NOW)] == [0, 3]
    assert [segment.base_offset for segment in log.segments] == [6] and log.active.size > 0
    assert (log.log_start_offset, log.log_end_offset) == (9, 9)


def test_zeros_behind_a_sealed_time_index_do_not_make_its_segment_old() -> None:
    """KAFKA-10207, KAFKA-19200. Kafka 3.9 reads them as a row of time 0 and deletes the segment; the rows are
    checked here, and rebuilt."""
    settings = LogSettings(segment_bytes=200, index_interval_bytes=50, retention_ms=7 * DAY_MS)
    folder = MemoryFolder(now_ms=lambda: NOW)
    log = PartitionLog.open(folder, settings, now_ms=NOW)
    for number in range(6):
        log.append_pairs([(b"k", b"v" * 10)], now_ms=NOW, timestamp=NOW - DAY_MS + number)
    log.close(NOW)
    name = file_name(0, TIME_INDEX)
    folder.replace(name, bytes(folder.read(name)) + bytes(12))
    log = PartitionLog.open(folder, settings, now_ms=NOW, was_closed=True, recovery_point=log.log_end_offset)
    assert NOW - DAY_MS <= log.segments[0].largest_timestamp < NOW
    assert delete_old_segments(log, NOW) == [] and log.log_start_offset == 0

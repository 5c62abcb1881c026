"""Where a round of the cleaner begins and ends, and what it writes into the indexes, as Kafka 3.9's cleaner
does."""

import pytest

from broker_core.kafka.log.compaction import clean, group_segments, log_to_clean
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.retention import delete_records
from broker_core.kafka.log.settings import LogSettings
from tests.core.kafka.log.small_logs import NOW, new_folder, rows

ROOMY = LogSettings(
    segment_bytes=100_000, index_interval_bytes=100, cleanup_compact=True, cleanup_delete=False
)


def log_of(*segments: str, settings: LogSettings = ROOMY) -> PartitionLog:
    """A log with a segment for each word, a record for each of its letters; the last word is in the active
    one."""
    log = PartitionLog.open(new_folder(), settings, now_ms=NOW)
    for index, keys in enumerate(segments):
        if index:
            log.roll(NOW)
        for key in keys:
            log.append_pairs([(key.encode(), b"v" * 20)], now_ms=NOW)
    return log


def send(log: PartitionLog, key: bytes, sequence: int) -> None:
    log.append_pairs(
        [(key, b"v")],
        now_ms=NOW,
        producer_id=1,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=True,
    )


def test_the_segment_of_an_open_transaction_is_left_alone_whole() -> None:
    log = log_of("ab", "ab")
    send(log, b"t", 0)
    log.append_pairs([(b"a", b"new")], now_ms=NOW)
    log.roll(NOW)
    todo = log_to_clean(log, None, NOW)
    assert (log.last_stable_offset, todo.uncleanable_offset) == (4, 2), "where the segment of offset 4 begins"
    assert todo.cleanable_bytes == log.segments[0].size
    before = rows(log)
    assert clean(log, todo, OffsetMap(2400), NOW).end_offset == 2
    assert rows(log) == before


def test_a_segment_in_which_a_round_ended_counts_as_clean_and_as_cleanable() -> None:
    log = log_of("ab", "cd", "e")
    todo = log_to_clean(log, 3, NOW)
    first, second = (segment.size for segment in log.segments[:2])
    assert (todo.clean_bytes, todo.cleanable_bytes) == (first + second, second)
    assert todo.dirty_per_million == 1_000_000 * second // (first + 2 * second)


def test_a_full_map_ends_the_round_behind_the_last_batch_it_has_read() -> None:
    log = log_of("ab")
    send(log, b"c", 0)
    log.append_marker(ControlType.COMMIT, producer_id=1, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)
    log.append_pairs([(b"d", b"v")], now_ms=NOW)
    log.roll(NOW)
    assert clean(log, log_to_clean(log, None, NOW), OffsetMap(96), NOW).end_offset == 4, (
        "a, b, c fill it; the marker at 3 was read, d not"
    )


def test_nothing_dirty_leaves_every_segment_as_it_is() -> None:
    log = log_of("aaaa")
    delete_records(log, 2)
    todo = log_to_clean(log, None, NOW)
    assert (todo.first_dirty_offset, todo.uncleanable_offset, todo.cleanable_bytes) == (2, 0, 0)
    before = log.active.size
    assert clean(log, todo, OffsetMap(2400), NOW).segments_before == 0
    assert log.active.size == before > 0, "the active segment above all"


def test_max_compaction_lag_asks_when_a_dirty_segment_began() -> None:
    topic = LogSettings(
        cleanup_compact=True, max_compaction_lag_ms=5000, min_cleanable_dirty_ratio_percent=99
    )
    log = PartitionLog.open(new_folder(), topic, now_ms=NOW)
    log.append_pairs([(b"k", b"v")], now_ms=NOW, timestamp=NOW)
    log.append_pairs([(b"k", b"v")], now_ms=NOW, timestamp=NOW + 4000)
    log.roll(NOW)
    assert not log_to_clean(log, None, NOW + 5000).must_clean
    assert log_to_clean(log, None, NOW + 5001).must_clean, "by the first batch's time, not by the latest"


def test_the_time_index_names_the_last_offset_of_a_rewritten_batch() -> None:
    log = PartitionLog.open(new_folder(), ROOMY, now_ms=NOW)
    log.append_pairs([(b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", b"4"), (b"c", b"5")], now_ms=NOW)
    log.append_pairs([(b"c", b"6")], now_ms=NOW, timestamp=NOW - 1)
    log.roll(NOW)
    clean(log, log_to_clean(log, None, NOW), OffsetMap(2400), NOW)
    assert [row[0] for row in rows(log)] == [2, 3, 5]
    assert log.segments[0].time_index.last_entry == (NOW, 4), (
        "the batch still ends at 4, though its record there is gone"
    )


@pytest.mark.parametrize("index_bytes", [24, 36, 48])
def test_a_cleaned_segment_with_more_rows_than_its_index_has_room_for(index_bytes: int) -> None:
    """Segments that end each at one row of the time index: together they would have more than fit."""
    settings = LogSettings(
        segment_bytes=20_000,
        index_interval_bytes=100,
        segment_index_bytes=index_bytes,
        cleanup_compact=True,
        cleanup_delete=False,
    )
    log = PartitionLog.open(new_folder(), settings, now_ms=NOW)
    for number in range(60):
        log.append_pairs([(b"key-%d" % number, b"v" * 50)], now_ms=NOW, timestamp=NOW + number)
        if number % 2:
            log.roll(NOW)
    before = rows(log)
    clean(log, log_to_clean(log, None, NOW), OffsetMap(24_000), NOW)
    assert rows(log) == before
    assert all(segment.time_index.row_count * 12 <= index_bytes for segment in log.segments)
    for offset in range(60):
        assert log.offset_for_time(NOW + offset) == (NOW + offset, offset)


def test_the_article_s_groups() -> None:
    """Its second round: segments of 0.5, 0.4, 0.7 and 0.2 GB with log.segment.bytes of 1 GB become two; here
    in bytes, 1 GB as 10,000."""
    settings = LogSettings(segment_bytes=10_000, cleanup_compact=True, cleanup_delete=False)
    log = PartitionLog.open(new_folder(), settings, now_ms=NOW)
    for size in (5_000, 4_000, 7_000, 2_000):
        log.append_pairs([(b"k", b"v" * (size - 71))], now_ms=NOW)
        log.roll(NOW)
    assert [segment.size for segment in log.segments] == [5_000, 4_000, 7_000, 2_000, 0]
    groups = group_segments(log, log.segments[:-1])
    assert [[segment.size for segment in group] for group in groups] == [[5_000, 4_000], [7_000, 2_000]]

"""Compaction keeps of each key the last record, and everything that readers and producers lean on."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.compaction import Cleaned, clean, log_to_clean
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import ControlType, seal
from broker_core.kafka.log.settings import DAY_MS, LogSettings

NOW = 100 * DAY_MS
TOPIC = LogSettings(segment_bytes=700, index_interval_bytes=100, cleanup_delete=False, cleanup_compact=True)


def compacted(
    log: PartitionLog, now_ms: int = NOW, checkpoint: int | None = None, memory_bytes: int = 48_000
) -> Cleaned:
    return clean(log, log_to_clean(log, checkpoint, now_ms), OffsetMap(memory_bytes), now_ms)


def new_log(settings_of_topic: LogSettings = TOPIC) -> PartitionLog:
    return PartitionLog.open(MemoryFolder(now_ms=lambda: NOW), settings_of_topic, now_ms=NOW)


def rows(log: PartitionLog) -> list[tuple[int, bytes | None, bytes | None]]:
    return [
        (record.offset, record.key, record.value) for batch in log.batches() for record in batch.records()
    ]


def table(log: PartitionLog) -> dict[bytes | None, bytes]:
    """What a reader who keeps the last value of each key ends up with."""
    state: dict[bytes | None, bytes] = {}
    for _, key, value in rows(log):
        state.pop(key, None)
        if value is not None:
            state[key] = value
    return state


pairs = st.tuples(st.integers(0, 9).map(lambda n: b"key-%d" % n), st.none() | st.binary(max_size=12))
batches = st.lists(
    st.tuples(st.lists(pairs, min_size=1, max_size=5), st.sampled_from(Codec)), min_size=1, max_size=30
)


@settings(max_examples=60, deadline=None)
@given(batches, st.integers(120, 1000), st.booleans())
def test_a_reader_ends_up_with_the_same_table(
    drawn: list[tuple[list[tuple[bytes, bytes | None]], Codec]], memory_bytes: int, again_later: bool
) -> None:
    log = new_log()
    for number, (its_pairs, codec) in enumerate(drawn):
        log.append_pairs(its_pairs, now_ms=NOW + number, codec=codec)
    before, expected = rows(log), table(log)
    checkpoint: int | None = None
    for _ in range(40):  # a small map needs several rounds
        cleaned = compacted(log, NOW, checkpoint, memory_bytes)
        assert table(log) == expected
        if cleaned.end_offset == checkpoint:
            break
        checkpoint = cleaned.end_offset
    if again_later:
        compacted(log, NOW + 2 * DAY_MS, 0)
        assert table(log) == expected
    after = rows(log)
    assert set(after) <= set(before)
    assert [row[0] for row in after] == sorted({row[0] for row in after})
    closed = [row for row in after if row[0] < log.active.base_offset]
    keys = [row[1] for row in closed]
    assert len(keys) == len(set(keys)), "one record of each key below the active segment"
    for offset in range(log.log_end_offset):
        fetched = log.read(offset, 1)
        assert fetched.base_offset <= max(
            offset, min((row[0] for row in after if row[0] >= offset), default=offset)
        )
    again = PartitionLog.open(log.folder, TOPIC, now_ms=NOW)
    assert rows(again) == after
    assert again.log_end_offset == log.log_end_offset


def fill(log: PartitionLog, keys: str) -> None:
    for number, key in enumerate(keys):
        value = None if key.isupper() else b"%d" % number * 20
        log.append_pairs([(key.lower().encode(), value)], now_ms=NOW)


def test_tombstones_outlive_one_round_and_a_day() -> None:
    log = new_log(LogSettings(segment_bytes=150, cleanup_compact=True, cleanup_delete=False))
    fill(log, "abaAcdef")
    compacted(log)
    assert [row[:2] for row in rows(log)][:3] == [(1, b"b"), (3, b"a"), (4, b"c")], "the tombstone stays"
    (marked,) = [batch.header for batch in log.batches() if batch.header.delete_horizon_ms is not None]
    assert marked.delete_horizon_ms == NOW + DAY_MS
    compacted(log, NOW + DAY_MS - 1, 0)
    assert (3, b"a", None) in rows(log)
    compacted(log, NOW + DAY_MS, 0)
    assert b"a" not in [row[1] for row in rows(log)]


@pytest.mark.parametrize("base_time", [-(2**63), 2**63 - 1])
def test_a_topic_of_append_times_is_cleaned_whatever_times_a_client_gave(base_time: int) -> None:
    log = new_log(replace(TOPIC, is_log_append_time=True))
    encoded, count = encode_pairs([(b"gone", b"1"), (b"stays", b"1")])
    log.append(seal(encoded, 0, -1, 0, count - 1, base_time, base_time, -1, -1, -1, count), now_ms=NOW)
    log.append_pairs([(b"gone", b"2")], now_ms=NOW)
    log.roll(NOW)
    compacted(log)
    assert [(record.offset, record.timestamp) for batch in log.batches() for record in batch.records()] == [
        (1, NOW),
        (2, NOW),
    ]


def test_small_neighbours_become_one_segment() -> None:
    log = new_log(LogSettings(segment_bytes=600, cleanup_compact=True, cleanup_delete=False))
    fill(log, "ab" * 40)
    first = compacted(log)
    assert first.segments_after == first.segments_before == 15, "each was full: nothing fits beside it"
    second = compacted(log, checkpoint=first.end_offset)
    assert (second.segments_before, second.segments_after) == (15, 1)
    assert [segment.base_offset for segment in log.segments] == [0, first.end_offset]
    assert second.bytes_written == second.bytes_read, "and what stays is copied as it is"


def test_the_ratio_is_strict_and_by_whole_segments() -> None:
    log = new_log(LogSettings(segment_bytes=100, cleanup_compact=True, cleanup_delete=False))
    for _ in range(5):
        log.append_pairs([(b"k", b"v" * 20)], now_ms=NOW)
    todo = log_to_clean(log, 2, NOW)
    assert (todo.first_dirty_offset, todo.uncleanable_offset) == (2, 4)
    assert todo.clean_bytes == todo.cleanable_bytes
    assert not todo.is_due(50) and todo.is_due(49)
    assert log_to_clean(log, 99, NOW).first_dirty_offset == 0, (
        "a checkpoint above the log end is not believed"
    )


def test_lags_hold_back_and_press_on() -> None:
    topic = LogSettings(
        segment_bytes=100, cleanup_compact=True, min_compaction_lag_ms=1000, max_compaction_lag_ms=5000,
        min_cleanable_dirty_ratio_percent=99,
    )  # fmt: skip
    log = new_log(topic)
    for number in range(5):
        log.append_pairs([(b"k", b"v" * 20)], now_ms=NOW, timestamp=NOW + 500 * number)
    todo = log_to_clean(log, None, NOW + 2000)
    assert todo.uncleanable_offset == 3, "the first segment that is younger than a second"
    assert not todo.must_clean
    assert log_to_clean(log, None, NOW + 5001).must_clean


def test_an_open_transaction_is_not_passed() -> None:
    log = new_log(LogSettings(segment_bytes=100, cleanup_compact=True))
    fill(log, "abc")
    log.append_pairs(
        [(b"t", b"1")], now_ms=NOW, producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    fill(log, "abc")
    assert log_to_clean(log, None, NOW).uncleanable_offset == 3


def test_an_aborted_transaction_goes_and_its_marker_two_rounds_later() -> None:
    log = new_log(LogSettings(segment_bytes=100, cleanup_compact=True, cleanup_delete=False))

    def send(producer_id: int, sequence: int, key: bytes) -> None:
        log.append_pairs(
            [(key, b"v")], now_ms=NOW, producer_id=producer_id, producer_epoch=0, base_sequence=sequence,
            is_transactional=True,
        )  # fmt: skip

    fill(log, "a")
    send(1, 0, b"a")
    send(1, 1, b"x")
    log.append_marker(ControlType.ABORT, producer_id=1, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)
    send(2, 0, b"y")
    log.append_marker(ControlType.COMMIT, producer_id=2, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)
    fill(log, "zzz")
    log.producers.forget_expired(NOW + DAY_MS, DAY_MS)

    def kinds() -> str:
        return "".join("m" if batch.header.is_control else "r" for batch in log.batches())

    compacted(log)
    assert (0, b"a", b"0" * 20) in rows(log), "an aborted record hides no earlier one"
    assert kinds() == "rmrmrr"
    assert [aborted.producer_id for aborted in log.aborted_transactions(0, 100)] == [1]
    compacted(log, NOW + 1, 0)  # the records are gone: now the marker gets its horizon
    assert kinds() == "rmrmrr"
    compacted(log, NOW + 1 + DAY_MS, 0)
    assert kinds() == "rrmrr"


def test_a_producer_s_last_batch_stays_as_a_header() -> None:
    log = new_log(LogSettings(segment_bytes=100, cleanup_compact=True, cleanup_delete=False))
    for sequence in range(3):
        log.append_pairs(
            [(b"k", b"v" * 9)], now_ms=NOW, producer_id=7, producer_epoch=0, base_sequence=sequence
        )
    fill(log, "kkk")
    compacted(log)
    (header,) = [batch.header for batch in log.batches() if batch.header.producer_id == 7]
    assert (header.record_count, header.base_sequence, header.base_offset) == (0, 2, 2)
    for name in log.folder.names():
        if name.endswith(".snapshot"):
            log.folder.remove(name)
    again = PartitionLog.open(log.folder, now_ms=NOW)
    assert again.producers.entries[7].last_sequence == 2


def test_the_map_keeps_to_its_memory_and_stops_where_it_is_full() -> None:
    offsets = OffsetMap(24 * 100)
    assert offsets.memory_bytes == 2400
    keys = [b"%d" % n for n in range(50)] + [b"%d" % n for n in range(200)]
    assert offsets.put_all(keys, list(range(250))) == 50 + 90
    assert (offsets.size, offsets.is_full, offsets.latest_offset) == (90, True, 139)
    assert offsets.get_all(keys[50:]).tolist() == [*range(50, 140), *[-1] * 110]


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 5)), max_size=40))
def test_the_map_is_a_dict(chunks: list[tuple[int, int]]) -> None:
    offsets, expected, offset = OffsetMap(24 * 80), {}, 0
    for key, repeats in chunks:
        keys = [b"%d" % ((key + step) % 61) for step in range(repeats)]
        offsets.put_all(keys, list(range(offset, offset + repeats)))
        expected |= {name: offset + step for step, name in enumerate(keys)}
        offset += repeats
    names = [b"%d" % n for n in range(61)]
    assert offsets.get_all(names).tolist() == [expected.get(name, -1) for name in names]
    assert offsets.size == len(expected)

"""A follower writes what its leader gives as one append, however many batches it has."""

import pytest

from broker_core.kafka.log.errors import (
    CorruptRecord,
    LogError,
    OffsetsOutOfOrder,
    RecordBatchTooLarge,
    UnexpectedAppendOffset,
)
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.settings import LogSettings
from tests.core.kafka.log.small_logs import NOW


def batch(offset: int, *, epoch: int = 0, time: int = NOW, count: int = 1) -> bytes:
    records = [Record(offset + number, time, b"k", b"v" * 100) for number in range(count)]
    return bytes(encode_batch(records, partition_leader_epoch=epoch).data)


def test_many_batches_get_one_row_in_each_index() -> None:
    log = PartitionLog.open(MemoryFolder(), LogSettings(index_interval_bytes=100), now_ms=NOW)
    log.append_as_follower(batch(0) + batch(1), now_ms=NOW)
    log.append_as_follower(
        b"".join(batch(offset, time=NOW + (9 if offset == 3 else 0)) for offset in range(2, 8)), now_ms=NOW
    )
    active = log.active
    assert [active.offset_index.entry(slot) for slot in range(active.offset_index.row_count)] == [
        (7, 2 * len(batch(0)))
    ]
    assert [active.time_index.entry(slot) for slot in range(active.time_index.row_count)] == [(NOW + 9, 3)]
    assert [log.read(offset, 1).base_offset for offset in range(8)] == list(range(8))


def test_many_batches_are_rolled_for_at_once() -> None:
    one = len(batch(0))
    log = PartitionLog.open(MemoryFolder(), LogSettings(segment_bytes=4 * one), now_ms=NOW)
    log.append_as_follower(batch(0) + batch(1), now_ms=NOW)
    log.append_as_follower(batch(2) + batch(3) + batch(4), now_ms=NOW)
    assert [(segment.base_offset, segment.size) for segment in log.segments] == [(0, 2 * one), (2, 3 * one)]
    with pytest.raises(RecordBatchTooLarge):
        log.append_as_follower(b"".join(batch(offset) for offset in range(5, 10)), now_ms=NOW)
    assert log.log_end_offset == 5


def test_a_segment_s_age_begins_with_the_largest_time_of_its_first_append() -> None:
    log = PartitionLog.open(MemoryFolder(), LogSettings(segment_ms=10), now_ms=NOW)
    log.append_as_follower(batch(0) + batch(1, time=NOW + 8), now_ms=NOW)
    log.append_as_follower(batch(2, time=NOW + 18), now_ms=NOW)
    assert len(log.segments) == 1
    log.append_as_follower(batch(3, time=NOW + 19), now_ms=NOW)
    assert len(log.segments) == 2


def test_a_batch_without_times_after_one_with_does_not_roll_by_age() -> None:
    log = PartitionLog.open(MemoryFolder(), LogSettings(segment_ms=10), now_ms=NOW)
    log.append_as_follower(batch(0), now_ms=NOW)
    log.append_as_follower(batch(1, time=-1), now_ms=NOW + 1000)
    assert len(log.segments) == 1
    timeless = PartitionLog.open(MemoryFolder(), LogSettings(segment_ms=10), now_ms=NOW)
    timeless.append_as_follower(batch(0, time=-1), now_ms=NOW)
    timeless.append_as_follower(batch(1, time=-1), now_ms=NOW + 11)
    assert len(timeless.segments) == 2, "without record times the segment's own age counts"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (batch(1) + batch(2), UnexpectedAppendOffset),
        (batch(3) + batch(2), OffsetsOutOfOrder),
        (batch(3, count=3) + batch(4), OffsetsOutOfOrder),
        (batch(2) + batch(3)[:-1] + b"?", CorruptRecord),
    ],
)
def test_offsets_that_do_not_rise_are_refused_and_nothing_is_written(
    data: bytes, error: type[LogError]
) -> None:
    folder = MemoryFolder()
    log = PartitionLog.open(folder, now_ms=NOW)
    log.append_as_follower(batch(0) + batch(1), now_ms=NOW)
    before = folder.read("00000000000000000000.log")
    with pytest.raises(error):
        log.append_as_follower(data, now_ms=NOW)
    assert (log.log_end_offset, folder.read("00000000000000000000.log")) == (2, before)
    log.append_as_follower(batch(5) + batch(6)[:-9], now_ms=NOW)
    assert log.log_end_offset == 6, "a gap is what compaction leaves; what a fetch has cut off comes again"


def test_the_epochs_of_all_batches_are_noted_and_an_older_one_removes_newer_ones() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    log.append_as_follower(batch(0, count=2) + batch(2, epoch=1), now_ms=NOW)
    log.append_as_follower(batch(5, epoch=4), now_ms=NOW)
    log.append_as_follower(batch(6, epoch=3), now_ms=NOW)
    assert log.epochs.rows == [(0, 0), (1, 2), (3, 6)]
    log.epochs.assign(3, 9)
    assert log.epochs.rows == [(0, 0), (1, 2), (3, 6)], (
        "the newest epoch again, from a later offset, is no news"
    )
    assert not log.truncate_to(99, NOW)
    log.epochs.assign(5, 7)
    assert not log.truncate_to(7, NOW) and log.epochs.rows[-1] == (3, 6), (
        "a leader that wrote nothing leaves no epoch"
    )

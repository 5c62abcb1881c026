"""What a partition remembers of its producers, over markers, cuts and restarts; as Kafka's own log does."""

import pytest

from broker_core.kafka.log.errors import InvalidProducerEpoch, InvalidTxnState, OutOfOrderSequence
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import Appended, PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import TRANSACTIONAL, ControlType, encode_batch, encode_control_batch
from broker_core.kafka.log.settings import DAY_MS, LogSettings
from tests.core.kafka.log.small_logs import NOW, fill, new_folder


def send(log: PartitionLog, sequence: int, count: int = 1, epoch: int = 0, producer_id: int = 1) -> Appended:
    pairs = [(b"k", b"v")] * count
    return log.append_pairs(
        pairs, now_ms=NOW, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
    )


def marker(log: PartitionLog, epoch: int = 0, producer_id: int = 1) -> None:
    log.append_marker(
        ControlType.COMMIT, producer_id=producer_id, producer_epoch=epoch, coordinator_epoch=0, now_ms=NOW
    )


def replicated(offset: int, *, sequence: int = 0, is_transactional: bool = False) -> bytes:
    attributes = TRANSACTIONAL if is_transactional else 0
    return bytes(
        encode_batch(
            [Record(offset, NOW, b"k", b"v")],
            attributes=attributes,
            producer_id=1,
            producer_epoch=0,
            base_sequence=sequence,
        ).data
    )


def replicated_marker(offset: int, epoch: int) -> bytes:
    marker = encode_control_batch(
        ControlType.ABORT,
        base_offset=offset,
        timestamp=NOW,
        producer_id=1,
        producer_epoch=epoch,
        coordinator_epoch=0,
    )
    return bytes(marker.data)


def marks(log: PartitionLog, producer_id: int = 1) -> list[tuple[int, int]]:
    return [(mark.first_sequence, mark.first_offset) for mark in log.producers.entries[producer_id].batches]


def test_after_a_marker_alone_the_sequence_begins_with_0() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    marker(log)
    with pytest.raises(OutOfOrderSequence):
        send(log, 5)
    assert send(log, 0).first_offset == 1


def test_a_marker_of_a_new_epoch_forgets_the_batches_and_fences_the_old_epoch() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    send(log, 0, 3)
    marker(log, epoch=1)
    with pytest.raises(InvalidProducerEpoch):
        send(log, 3)
    for wrong in (3, 1):
        with pytest.raises(OutOfOrderSequence):
            send(log, wrong, epoch=1)
        with pytest.raises(OutOfOrderSequence):
            send(log, wrong, epoch=2)
    assert send(log, 0, epoch=1).first_offset == 4


def test_a_marker_of_the_same_epoch_keeps_them() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    send(log, 0, 2)
    marker(log)
    assert send(log, 0, 2).is_duplicate
    assert send(log, 2).first_offset == 3


def test_a_follower_takes_any_sequence_and_any_epoch_but_no_plain_batch_inside_a_transaction() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    log.append_as_follower(replicated(0, sequence=40) + replicated(1, sequence=7), now_ms=NOW)
    log.append_as_follower(replicated(2, sequence=8, is_transactional=True), now_ms=NOW)
    for data in (
        replicated(3),
        replicated_marker(3, 0) + replicated(4, sequence=9, is_transactional=True) + replicated(5),
    ):
        with pytest.raises(InvalidTxnState):
            log.append_as_follower(data, now_ms=NOW)
    assert log.log_end_offset == 3 and log.producers.first_undecided_offset() == 2, (
        "nothing of a refused append is noted"
    )
    log.append_as_follower(replicated_marker(3, 0) + replicated(4), now_ms=NOW)
    assert log.log_end_offset == 5


def test_an_epoch_that_comes_and_goes_within_one_append_forgets_nothing() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    send(log, 0, 2, epoch=1)
    log.append_as_follower(replicated_marker(2, 0) + replicated_marker(3, 1), now_ms=NOW)
    assert marks(log) == [(0, 0)] and log.producers.entries[1].producer_epoch == 1
    log.append_as_follower(replicated_marker(4, 0), now_ms=NOW)
    assert marks(log) == [] and log.producers.entries[1].producer_epoch == 0


def test_a_cut_forgets_what_it_takes_and_keeps_of_the_rest_the_snapshot_s_last_batch() -> None:
    log = PartitionLog.open(new_folder(), now_ms=NOW)
    for sequence in range(3):
        send(log, sequence)
    log.roll(NOW)
    for sequence in range(3, 6):
        send(log, sequence)
    log.truncate_to(5, NOW)
    assert marks(log) == [(2, 2), (3, 3), (4, 4)]
    assert send(log, 5).first_offset == 5


def test_below_the_log_start_nothing_is_remembered_after_a_cut() -> None:
    log = PartitionLog.open(new_folder(), now_ms=NOW)
    send(log, 0)
    fill(log, 10)
    log.raise_log_start(5)
    assert 1 in log.producers.entries
    log.truncate_to(8, NOW)
    assert log.producers.entries == {}


def test_a_restart_leaves_out_who_has_been_silent_for_too_long() -> None:
    folder = new_folder()
    log = PartitionLog.open(folder, now_ms=NOW)
    send(log, 0)
    log.close(NOW)
    assert 1 in PartitionLog.open(folder, now_ms=NOW + DAY_MS - 1, was_closed=True).producers.entries
    assert 1 not in PartitionLog.open(folder, now_ms=NOW + DAY_MS, was_closed=True).producers.entries


def test_a_refused_append_has_noted_its_leader_and_may_have_rolled() -> None:
    """Kafka's order: the epoch, then the roll, then the producer's state."""
    log = PartitionLog.open(new_folder(), LogSettings(segment_bytes=100), now_ms=NOW)
    send(log, 0)
    log.leader_epoch = 3
    with pytest.raises(OutOfOrderSequence):
        send(log, 7)
    assert log.epochs.rows == [(0, 0), (3, 1)]
    assert [segment.base_offset for segment in log.segments] == [0, 1]
    assert log.log_end_offset == 1 and log.active.size == 0
    assert send(log, 0).is_duplicate
    assert send(log, 1).first_offset == 1 and len(log.segments) == 2

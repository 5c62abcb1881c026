"""A transaction's first batch and its guard. The cases are those that Kafka's own log was recorded with."""

import pytest

from broker_core.kafka.log.errors import InvalidTxnState, OutOfOrderSequence
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import Appended, PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import TRANSACTIONAL, ControlType, encode_batch
from broker_core.kafka.log.settings import DAY_MS, LogSettings
from tests.core.kafka.log.small_logs import NOW


@pytest.fixture
def log() -> PartitionLog:
    return PartitionLog.open(MemoryFolder(), LogSettings(verifies_transactions=True), now_ms=NOW)


def send(
    log: PartitionLog, sequence: int, guard: int | None = None, *, is_from_coordinator: bool = False
) -> Appended:
    batch = encode_batch(
        [Record(0, NOW, b"k", b"v")],
        attributes=TRANSACTIONAL,
        producer_id=1,
        producer_epoch=0,
        base_sequence=sequence,
    )
    return log.append(
        batch.data, now_ms=NOW, verification_guard=guard, is_from_coordinator=is_from_coordinator
    )


def end(log: PartitionLog) -> None:
    log.append_marker(ControlType.ABORT, producer_id=1, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)


def test_the_first_batch_needs_the_guard_and_the_next_ones_do_not(log: PartitionLog) -> None:
    with pytest.raises(InvalidTxnState):
        send(log, 0)
    guard = log.start_verification(1, 0, 0, NOW)
    assert send(log, 0, guard).first_offset == 0
    assert log.start_verification(1, 0, 1, NOW) is None
    assert send(log, 1).first_offset == 1


def test_a_guard_from_before_the_marker_opens_no_transaction(log: PartitionLog) -> None:
    guard = log.start_verification(1, 0, 0, NOW)
    end(log)
    with pytest.raises(InvalidTxnState):
        send(log, 0, guard)
    again = log.start_verification(1, 0, 0, NOW)
    assert again != guard
    assert send(log, 0, again).first_offset == 1


def test_a_sequence_above_the_lowest_one_seen_waits_for_it(log: PartitionLog) -> None:
    guard = log.start_verification(1, 0, 1, NOW)
    assert log.start_verification(1, 0, 0, NOW) == guard
    with pytest.raises(OutOfOrderSequence):
        send(log, 1, guard)
    assert send(log, 0, guard).first_offset == 0


def test_a_newer_producer_epoch_begins_its_sequences_anew(log: PartitionLog) -> None:
    log.start_verification(1, 0, 0, NOW)
    log.start_verification(1, 1, 7, NOW)
    assert log.verifications.lowest_sequence(1) == 7


def test_a_coordinators_batch_is_checked_for_its_guard_and_not_for_its_sequence(log: PartitionLog) -> None:
    guard = log.start_verification(1, 0, 0, NOW)
    assert send(log, -1, guard, is_from_coordinator=True).first_offset == 0


def test_a_verification_that_is_never_used_is_forgotten_in_the_end(log: PartitionLog) -> None:
    log.start_verification(1, 0, 0, NOW)
    log.forget_expired_producers(NOW + DAY_MS - 1)
    assert log.verifications.under_way
    log.forget_expired_producers(NOW + DAY_MS)
    assert not log.verifications.under_way


def test_a_batch_that_is_copied_or_read_again_uses_the_guard_up_too(log: PartitionLog) -> None:
    guard = log.start_verification(1, 0, 0, NOW)
    send(log, 0, guard)
    end(log)
    log.start_verification(1, 0, 1, NOW)
    log.truncate_to(1, NOW)  # reads the transaction again, which is open now
    assert not log.verifications.under_way
    log.start_verification(2, 0, 0, NOW)
    copied = encode_batch(
        [Record(1, NOW, b"k", b"v")],
        attributes=TRANSACTIONAL,
        producer_id=2,
        producer_epoch=0,
        base_sequence=0,
        partition_leader_epoch=0,
    )
    log.append_as_follower(copied.data, now_ms=NOW)
    assert not log.verifications.under_way

"""How far consumers may read. Each number here was recorded from Kafka's own log, or follows from one that
was."""

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.log.batch_reader import whole_batches
from broker_core.kafka.log.errors import OffsetOutOfRange, TransactionCoordinatorFenced
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.watermarks import Isolation
from tests.core.kafka.log.small_logs import NOW, fill


def opened(folder: MemoryFolder | None = None, **settings: int) -> PartitionLog:
    log = PartitionLog.open(folder or MemoryFolder(), LogSettings(**settings), now_ms=NOW)
    log.high_watermark = 0
    return log


def in_transaction(log: PartitionLog, count: int = 1, sequence: int = 0, producer_id: int = 1) -> None:
    pairs = [(b"t", b"v")] * count
    log.append_pairs(
        pairs,
        now_ms=NOW,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=True,
    )


def end(log: PartitionLog, control_type: ControlType = ControlType.COMMIT, producer_id: int = 1) -> None:
    log.append_marker(
        control_type, producer_id=producer_id, producer_epoch=0, coordinator_epoch=4, now_ms=NOW
    )


def test_until_somebody_sets_it_the_high_watermark_is_the_log_end() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    fill(log, 5)
    assert (log.high_watermark, log.is_replicated) == (5, False)
    log.high_watermark = 3
    fill(log, 1)
    assert (log.high_watermark, log.is_replicated, log.log_end_offset) == (3, True, 6)


def test_the_high_watermark_stays_between_log_start_and_log_end() -> None:
    log = opened()
    fill(log, 5)
    seen = []
    for offset in (-3, 3, 99, 2):
        log.high_watermark = offset
        seen.append(log.high_watermark)
    assert seen == [0, 3, 5, 2]
    assert (log.raise_high_watermark(1), log.raise_high_watermark(4), log.high_watermark) == (False, True, 4)
    with pytest.raises(OffsetOutOfRange):
        log.raise_high_watermark(6)
    assert (log.raise_log_start(3), log.raise_log_start(2), log.log_start_offset, log.recovery_point) == (
        True,
        False,
        3,
        3,
    )
    with pytest.raises(OffsetOutOfRange):
        log.raise_log_start(5)
    log.high_watermark = 0
    assert log.high_watermark == 3


def test_a_cut_takes_the_high_watermark_along() -> None:
    log = opened()
    fill(log, 5)
    log.high_watermark = 5
    assert log.truncate_to(0, NOW)
    assert (log.log_end_offset, log.high_watermark) == (0, 0)
    fill(log, 2)
    assert log.high_watermark == 0
    assert not log.truncate_to(2, NOW)


def test_a_cut_above_the_high_watermark_leaves_it() -> None:
    log = opened()
    fill(log, 5)
    log.high_watermark = 2
    log.truncate_to(4, NOW)
    assert (log.log_end_offset, log.high_watermark) == (4, 2)


def test_a_cut_below_the_log_start_lowers_it() -> None:
    log = opened(segment_bytes=300)
    fill(log, 12)
    log.high_watermark = 12
    log.raise_log_start(7)
    log.truncate_to(5, NOW)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (5, 5, 5)


def test_a_log_that_begins_anew_is_replicated_up_to_there() -> None:
    folder = MemoryFolder()
    log = opened(folder)
    fill(log, 8)
    log.high_watermark = 3
    log.restart_at(20, NOW, log_start_offset=15)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset, log.recovery_point) == (
        15,
        20,
        20,
        0,
    )
    assert [name for name in folder.names() if name.endswith(".snapshot")] == [
        "00000000000000000020.snapshot"
    ]


def test_an_open_transaction_holds_the_last_stable_offset() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW)
    fill(log, 3)
    in_transaction(log)
    fill(log, 1)
    assert (log.last_stable_offset, log.high_watermark) == (3, 5)
    end(log, ControlType.ABORT)
    assert log.last_stable_offset == 6
    assert [aborted[:3] for aborted in log.aborted_transactions(0, 6)] == [(1, 3, 5)]
    with pytest.raises(TransactionCoordinatorFenced):
        log.append_marker(
            ControlType.COMMIT, producer_id=1, producer_epoch=0, coordinator_epoch=3, now_ms=NOW
        )
    assert log.log_end_offset == 6


def test_a_marker_counts_when_the_high_watermark_has_passed_it() -> None:
    log = opened()
    in_transaction(log, 2)
    log.high_watermark = 2
    end(log)
    assert (log.high_watermark, log.last_stable_offset, log.first_unstable_offset) == (2, 0, 0)
    log.high_watermark = 3
    assert (log.last_stable_offset, log.first_unstable_offset) == (3, None)


def test_a_log_start_inside_an_open_transaction_moves_the_last_stable_offset() -> None:
    log = opened()
    in_transaction(log, 6)
    log.high_watermark = 6
    assert log.last_stable_offset == 0
    log.raise_log_start(4)
    assert log.last_stable_offset == 4


def test_a_cut_opens_a_transaction_again() -> None:
    log = opened()
    in_transaction(log)
    end(log)
    log.high_watermark = 2
    assert log.last_stable_offset == 2
    log.truncate_to(1, NOW)
    assert (log.last_stable_offset, log.first_unstable_offset, log.producers.first_undecided_offset()) == (
        0,
        0,
        0,
    )


def test_a_marker_above_the_checkpointed_high_watermark_holds_again_after_a_restart() -> None:
    folder = MemoryFolder()
    log = opened(folder)
    in_transaction(log, 2)
    end(log)
    log.flush(NOW)
    log = PartitionLog.open(folder, now_ms=NOW, high_watermark=2)
    assert (log.high_watermark, log.last_stable_offset) == (2, 0)
    log.raise_high_watermark(3)
    assert log.last_stable_offset == 3


def test_a_high_watermark_without_a_record_around_it_moves_to_the_log_end_when_it_is_looked_up() -> None:
    log = opened()
    log.append_pairs([(b"k", b"v")] * 4, now_ms=NOW)
    log.high_watermark = 1
    log.truncate_to(3, NOW)  # takes the batch whole, and leaves a hole from 0 to 3
    assert (log.high_watermark, log.log_end_offset) == (1, 3)
    assert log.placed_high_watermark() == 3


def test_a_reader_of_committed_records_gets_the_aborted_transactions_that_it_needs() -> None:
    log = opened()
    in_transaction(log)
    end(log, ControlType.ABORT)
    in_transaction(log, sequence=1)
    log.high_watermark = 3
    fetched, aborted = log.read_as(Isolation.TXN_COMMITTED, 0, 1 << 20)
    assert [(row.producer_id, row.first_offset) for row in aborted or ()] == [(1, 0)]
    assert len(whole_batches(fetched.data)) == 2, "the open transaction is not among them"
    assert log.read_as(Isolation.HIGH_WATERMARK, 0, 1 << 20).aborted is None
    assert log.read_as(Isolation.TXN_COMMITTED, 2, 1 << 20).aborted == []
    assert len(whole_batches(log.read_as(Isolation.LOG_END, 0, 1 << 20).fetched.data)) == 3


def test_nothing_can_be_read_below_the_first_segment_whatever_the_log_start_says() -> None:
    log = opened()
    log.restart_at(20, NOW, log_start_offset=15)
    assert log.log_start_offset == 15
    with pytest.raises(OffsetOutOfRange):
        log.read(16, 1 << 20)


def test_a_place_below_the_first_segment_is_none() -> None:
    log = opened()
    log.restart_at(20, NOW, log_start_offset=15)
    fill(log, 1)
    log.high_watermark = 16
    assert (log.placed_high_watermark(), log.position_of(16)) == (16, (16, -1, -1))
    assert log.raise_high_watermark(21)
    assert log.position_of(20) == (20, 20, 0)


def test_a_log_does_not_end_below_nought() -> None:
    log = opened()
    with pytest.raises(CommandError):
        log.truncate_to(-1, NOW)


def test_a_cut_leaves_the_first_unstable_offset_stale_until_the_high_watermark_is_looked_up() -> None:
    log = opened()
    fill(log, 2)
    in_transaction(log)
    log.high_watermark = 1
    log.truncate_to(2, NOW)
    assert (log.first_unstable_offset, log.last_stable_offset) == (2, 1), "above the log end nobody sees it"
    log.read_as(Isolation.LOG_END, 0, 1 << 20)
    assert log.first_unstable_offset == 2
    log.read_as(Isolation.HIGH_WATERMARK, 0, 1 << 20)
    assert log.first_unstable_offset is None

"""A look-up by time, where DeleteRecords has moved the log start offset."""

from broker_core.kafka.log.partition_log import MAX_TIMESTAMP, PartitionLog
from broker_core.kafka.log.retention import delete_records
from tests.core.kafka.log.small_logs import NOW, TOPIC, new_folder


def log_with_late_records_first() -> PartitionLog:
    """Two segments of three records: the first holds the latest time, NOW + 5."""
    log = PartitionLog.open(new_folder(), TOPIC, now_ms=NOW)
    for seconds in (5, 1, 2):
        log.append_pairs([(b"k", b"v")], now_ms=NOW, timestamp=NOW + seconds)
    log.roll(NOW)
    for seconds in (3, 4, 3):
        log.append_pairs([(b"k", b"v")], now_ms=NOW, timestamp=NOW + seconds)
    return log


def test_the_first_segment_that_is_late_enough_decides_alone() -> None:
    log = log_with_late_records_first()
    assert log.offset_for_time(NOW + 3) == (NOW + 5, 0)
    delete_records(log, 1)
    assert log.offset_for_time(NOW + 3) is None, (
        "nothing is left of it above the log start, and no later segment is asked"
    )
    assert log.offset_for_time(NOW + 2) == (NOW + 2, 2)


def test_the_latest_record_is_told_wherever_the_log_starts() -> None:
    log = log_with_late_records_first()
    delete_records(log, 2)
    assert log.offset_for_time(MAX_TIMESTAMP) == (NOW + 5, 0)

"""From where the bytes are counted until the next row of an index is due."""

import pytest

from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from tests.core.kafka.log.small_logs import NOW, new_folder

TOPIC = LogSettings(index_interval_bytes=250)
ONE_BATCH = 72


def append(log: PartitionLog, count: int) -> None:
    for _ in range(count):
        log.append_pairs([(b"k", b"v" * 3)], now_ms=NOW)


@pytest.mark.parametrize("was_closed", [True, False], ids=["closed", "recovered"])
def test_a_reopened_segment_counts_from_its_end(was_closed: bool) -> None:
    folder = new_folder()
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    append(log, 7)
    assert log.active.size == 7 * ONE_BATCH
    assert [position for _, position in log.active.offset_index.rows()] == [4 * ONE_BATCH]
    log.close(NOW)
    again = PartitionLog.open(folder, TOPIC, now_ms=NOW, was_closed=was_closed)
    append(again, 5)
    positions = [position for _, position in again.active.offset_index.rows()]
    assert positions == [4 * ONE_BATCH, 11 * ONE_BATCH], (
        "250 bytes after the reopened end, not after the last row"
    )

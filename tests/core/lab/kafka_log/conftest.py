"""A partition's folder that the tests look into."""

from pathlib import Path

import pytest

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from tests.core.lab.kafka_log.small_log import SETTINGS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """60 records of one key each, a batch a record, time 10 ms apart, in segments of 2,000 bytes."""
    log = PartitionLog.open(DiskFolder(tmp_path / "orders-0"), SETTINGS, now_ms=0)
    for number in range(60):
        log.append_pairs(
            [(b"key-%d" % (number % 7), b"value-%d" % number)], timestamp=1_000 + 10 * number, now_ms=0
        )
    log.close(0)
    return tmp_path / "orders-0"

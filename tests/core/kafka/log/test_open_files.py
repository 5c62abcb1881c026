"""A log holds its files open while it lives, and no longer."""

import gc
from pathlib import Path

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings


def open_in(folder: Path) -> int:
    gc.collect()
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found += str(entry.readlink()).startswith(str(folder))
        except OSError:
            continue
    return found


def test_a_log_that_is_given_up_without_being_closed_lets_go_of_its_files(tmp_path: Path) -> None:
    log = PartitionLog.open(DiskFolder(tmp_path), LogSettings(), now_ms=0)
    assert open_in(tmp_path) == 3
    del log
    assert open_in(tmp_path) == 0


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    file = DiskFolder(tmp_path).open("0.log")
    file.close()
    file.close()
    assert open_in(tmp_path) == 0

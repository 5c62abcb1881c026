"""A folder of partitions, opened again after an orderly end and after a crash."""

from pathlib import Path

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.log_directory import LogDirectory
from broker_core.kafka.log.retention import delete_records
from broker_core.kafka.log.settings import LogSettings

NOW = 1_700_000_000_000
TOPICS = {
    "state": LogSettings(segment_bytes=300, cleanup_compact=True, cleanup_delete=False),
    "flights": LogSettings(segment_bytes=300, retention_bytes=600, file_delete_delay_ms=1_000),
}


def opened(path: Path) -> LogDirectory:
    return LogDirectory(DiskFolder(path), lambda name: DiskFolder(path / name), TOPICS)


def test_an_orderly_end_is_remembered_once(tmp_path: Path) -> None:
    logs = opened(tmp_path)
    assert not logs.was_closed
    flights = logs.open("flights", 1, NOW, topic_id=bytes(16))
    for number in range(10):
        flights.append_pairs([(b"k", b"%d" % number)], now_ms=NOW)
    flights.high_watermark = 8
    delete_records(flights, 4)
    logs.close(NOW)
    assert (tmp_path / "log-start-offset-checkpoint").read_text() == "0\n1\nflights 1 4\n"
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n1\nflights 1 10\n"
    assert (tmp_path / "replication-offset-checkpoint").read_text() == "0\n1\nflights 1 8\n"
    assert (tmp_path / "flights-1" / "partition.metadata").exists()

    again = opened(tmp_path)
    assert again.was_closed
    log = again.open("flights", 1, NOW)
    assert again.open("flights", 1, NOW) is log
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (4, 8, 10)
    assert not opened(tmp_path).was_closed, "and now it would be a crash"


def test_the_dirtiest_log_is_compacted_and_its_end_kept(tmp_path: Path) -> None:
    logs = opened(tmp_path)
    quiet, busy = logs.open("state", 0, NOW), logs.open("state", 1, NOW)
    for _ in range(4):
        quiet.append_pairs([(b"k", b"v" * 100)], now_ms=NOW)
    for number in range(20):
        busy.append_pairs([(b"k%d" % (number % 2), b"v" * 100)], now_ms=NOW)
    assert logs.clean_dirtiest(NOW, 4800) is not None
    while (cleaned := logs.clean_dirtiest(NOW, 4800)) is not None:
        assert cleaned[1].end_offset > 0
    assert busy.size < 1200
    text = (tmp_path / "cleaner-offset-checkpoint").read_text().splitlines()
    assert text[:2] == ["0", "2"]
    assert opened(tmp_path).cleaned_up_to == logs.cleaned_up_to
    logs.close(NOW)


def test_a_damaged_checkpoint_counts_as_missing(tmp_path: Path) -> None:
    logs = opened(tmp_path)
    logs.open("flights", 0, NOW).append_pairs([(b"k", b"v")], now_ms=NOW)
    logs.close(NOW)
    for content in ("", "0\n7\nflights 0 1\n", "1\n0\n", "0\n1\nflights zero one\n", "\udcff"):
        (tmp_path / "recovery-point-offset-checkpoint").write_text(content, errors="surrogateescape")
        again = opened(tmp_path)
        assert again.open("flights", 0, NOW).log_end_offset == 1
        again.close(NOW)


def test_a_name_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    for topic, partition in (("", 0), ("../up", 0), ("flights", -1)):
        with pytest.raises(CommandError):
            opened(tmp_path).open(topic, partition, NOW)


def test_what_a_roll_has_closed_is_flushed_and_not_read_again(tmp_path: Path) -> None:
    logs = opened(tmp_path)
    log = logs.open("state", 0, NOW)
    for number in range(8):
        log.append_pairs([(b"k%d" % number, b"v" * 100)], now_ms=NOW)
    log.flush_if_due(NOW)
    logs.checkpoint()
    assert 0 < log.recovery_point == log.active.base_offset < 8
    again = opened(tmp_path).open("state", 0, NOW)
    assert (again.recovery_point, again.log_end_offset) == (log.recovery_point, 8)

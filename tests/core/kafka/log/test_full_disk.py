"""A disk that is full refuses what is new and harms nothing that was there, whatever the log was doing."""

from collections.abc import Callable

import pytest

from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.settings import DAY_MS
from broker_core.kafka.log.storage import StorageFull
from tests.core.kafka.log.small_logs import (
    NOW,
    TOPIC,
    compact,
    fill,
    is_sound,
    new_folder,
    prepared,
    rows,
    table,
)


def nearly_full(extra: int) -> tuple[MemoryFolder, PartitionLog]:
    """A log that has been flushed, on a device with so many bytes left."""
    folder = new_folder()
    log = prepared(folder)
    log.flush(NOW)
    folder.bytes_max = folder.bytes_used() + extra
    return folder, log


def test_a_full_disk_refuses_and_harms_nothing() -> None:
    for room in range(300, 2600, 61):
        folder = MemoryFolder(now_ms=lambda: NOW, bytes_max=room)
        log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
        with pytest.raises(StorageFull):
            fill(log, 200)
        written = rows(log)
        assert [row[0] for row in written] == list(range(log.log_end_offset))
        with pytest.raises(StorageFull):
            log.append_pairs([(b"k", b"v" * 500)], now_ms=NOW)
        assert rows(log) == written
        folder.bytes_max = None
        assert log.append_pairs([(b"k", b"v")], now_ms=NOW).first_offset == len(written)
        log.flush(NOW)
        again = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert rows(again) == [*written, (len(written), b"k", b"v")]


class RememberingFolder(MemoryFolder):
    """Keeps what a crash before each renaming would leave."""

    def __init__(self) -> None:
        super().__init__(now_ms=lambda: NOW)
        self.crashes: list[MemoryFolder] = []

    def rename(self, old: str, new: str) -> None:
        self.crashes.append(self.after_crash(10**6))
        super().rename(old, new)


def test_a_crash_after_a_round_that_hit_a_full_disk_was_made_up_for() -> None:
    """What the round that failed has left must not stand for the one that a crash interrupts much later."""
    folder = RememberingFolder()
    log = prepared(folder)
    log.flush(NOW)
    folder.bytes_max = folder.bytes_used()
    with pytest.raises(StorageFull):
        compact(log)
    folder.bytes_max = None
    compact(log)
    fill(log, 90, keys=70)
    log.flush(NOW)
    before, folder.crashes = table(rows(log)), []
    compact(log)
    assert len(folder.crashes) > 20
    for left in folder.crashes[::2]:
        assert table(rows(PartitionLog.open(left, TOPIC, now_ms=NOW))) == before


def test_a_round_that_fails_leaves_nothing_behind() -> None:
    """In whichever segment the disk is full, before and after the first of them was put in its place."""
    failed = 0
    for extra in range(0, 4000, 97):
        folder, log = nearly_full(extra)
        before = table(rows(log))
        try:
            compact(log)
        except StorageFull:
            failed += 1
        assert not [name for name in folder.names() if name.endswith((".cleaned", ".swap"))]
        assert table(rows(log)) == before
    assert failed > 3


def roll_and_fill(log: PartitionLog) -> None:
    log.roll(NOW)
    fill(log, 3, keys=7)


def fill_and_flush(log: PartitionLog) -> None:
    fill(log, 3, keys=7)
    log.flush(NOW)


@pytest.mark.parametrize("act", [roll_and_fill, fill_and_flush, compact])
def test_a_disk_that_fills_up_loses_nothing_that_was_flushed(act: Callable[[PartitionLog], object]) -> None:
    """The process goes on and tries again, or the machine stops there: each key that was flushed still has
    its value or a newer one."""
    was_full = 0
    for extra in range(0, 1500, 149):
        folder, log = nearly_full(extra)
        before = table(rows(log))
        try:
            act(log)
        except StorageFull:
            was_full += 1
        stopped = table(rows(PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)))
        folder.bytes_max = None
        act(log)
        done = table(rows(log))
        assert stopped.keys() == done.keys() == before.keys()
        assert all(value in (before[key], done[key]) for key, value in stopped.items())
        log.flush(NOW)
        again = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert rows(again) == rows(log)
        assert is_sound(log) and is_sound(again)
    assert was_full


def test_retention_on_a_full_disk_leaves_a_whole_end_of_the_log() -> None:
    was_full = 0
    for extra in (0, 1, 40, 400):
        folder, log = nearly_full(extra)
        before = rows(log)
        try:
            delete_old_segments(log, NOW + 9 * DAY_MS)
        except StorageFull:
            was_full += 1
            assert rows(log) == before
        again = PartitionLog.open(folder.after_crash(), TOPIC, now_ms=NOW)
        assert rows(again) == before[len(before) - len(rows(again)) :]
        assert again.log_end_offset == 60
        assert is_sound(again)
    assert was_full

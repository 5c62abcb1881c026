"""Opening a folder, step by step: what is put in order, in which words, and which parts of the log are read
again."""

from typing import Any

import pytest

from broker_core.kafka.log.file_names import (
    CLEANED,
    DELETED,
    INDEX,
    LOG,
    SNAPSHOT,
    SWAP,
    TIME_INDEX,
    file_name,
)
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.recovery import load
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LogSettings
from tests.core.kafka.log.small_logs import NOW, Rows, new_folder, rows

TOPIC = LogSettings(segment_bytes=200, index_interval_bytes=100)
"""Two batches of 78 bytes a segment."""


def filled(count: int = 6, *, is_closed: bool = True) -> tuple[MemoryFolder, Rows]:
    """A log whose segments begin at 0, 2, 4 ..."""
    folder = new_folder()
    log = PartitionLog.open(folder, TOPIC, now_ms=NOW)
    for number in range(count):
        log.append_pairs([(b"key", b"value-%d" % number)], now_ms=NOW + number)
    assert [segment.base_offset for segment in log.segments] == list(range(0, count, 2))
    if is_closed:
        log.close(NOW)
    return folder, rows(log)


def opened(folder: MemoryFolder, **how: Any) -> PartitionLog:
    return PartitionLog.open(folder, TOPIC, now_ms=NOW, **how)


def steps(
    folder: MemoryFolder, *, was_closed: bool = True, recovery_point: int = 0, log_start_offset: int = 0
) -> list[str]:
    return load(folder, TOPIC, NOW, was_closed, recovery_point, log_start_offset).steps


def damage(folder: MemoryFolder, base_offset: int) -> None:
    """A byte of the second batch's records is another one: its CRC is wrong."""
    folder.flip_bit(file_name(base_offset, LOG), 8 * 150)


def copied(
    folder: MemoryFolder, base_offset: int, stage: str, suffixes: tuple[str, ...] = (LOG, INDEX, TIME_INDEX)
) -> None:
    """Files beside a segment's own, as compaction makes them."""
    for suffix in suffixes:
        folder.replace(file_name(base_offset, suffix) + stage, folder.read(file_name(base_offset, suffix)))


# --- nothing to do


def test_a_folder_in_order_needs_no_step() -> None:
    folder, before = filled()
    assert steps(folder) == [] and rows(opened(folder, was_closed=True)) == before


def test_an_empty_folder_becomes_a_log_that_begins_where_it_is_told() -> None:
    log = opened(new_folder(), log_start_offset=7)
    assert (log.log_start_offset, log.log_end_offset, [segment.base_offset for segment in log.segments]) == (
        7,
        7,
        [7],
    )


def test_what_is_no_segment_is_left_alone() -> None:
    folder, _ = filled()
    folder.replace("partition.metadata", b"version: 0\n")
    folder.replace("notes.log", b"mine")
    assert steps(folder) == [] and {"partition.metadata", "notes.log"} <= set(folder.names())


# --- what a crash leaves beside the segments


@pytest.mark.parametrize(
    "name", [file_name(2, LOG) + DELETED, file_name(2, LOG) + CLEANED, "leader-epoch-checkpoint.tmp"]
)
def test_what_was_on_its_way_out_or_never_finished_is_removed(name: str) -> None:
    folder, before = filled()
    folder.replace(name, b"whatever")
    assert steps(folder.after_crash()) == [f"{name}: removed"]
    assert rows(opened(folder, was_closed=True)) == before and name not in folder.names()


def test_an_index_whose_log_is_gone_is_removed() -> None:
    folder, before = filled()
    folder.lose(file_name(4, LOG))
    said = steps(folder.after_crash())
    assert said[:2] == [f"{file_name(4, suffix)}: removed, its log is gone" for suffix in (INDEX, TIME_INDEX)]
    assert said[2:] == [f"{file_name(4, SNAPSHOT)}: removed, no segment begins there"]
    assert rows(opened(folder, was_closed=True)) == before[:4]


@pytest.mark.parametrize("suffix", [INDEX, TIME_INDEX])
def test_an_index_that_is_gone_is_made_anew(suffix: str) -> None:
    folder, before = filled()
    whole = folder.read(file_name(2, suffix))
    folder.lose(file_name(2, suffix))
    log = opened(folder, was_closed=True)
    assert rows(log) == before
    assert [log.offset_for_time(NOW + number) for number in range(6)] == [
        (NOW + number, number) for number in range(6)
    ]
    log.close(NOW)
    assert folder.read(file_name(2, suffix)) == whole or suffix == INDEX


# --- a swap that was cut short


def test_a_swap_that_had_begun_is_finished_and_takes_the_place_of_all_that_it_stands_for() -> None:
    folder, before = filled(8)
    merged = Segment(folder, 2, LogSettings(), NOW, SWAP)  # of 2 and 4
    for base in (2, 4):
        content = folder.read(file_name(base, LOG))
        merged.append(base + 1, NOW + base + 1, base + 1, content)
    merged.flush()
    merged.close()
    said = steps(folder.after_crash(1 << 20))
    assert f"{file_name(4, LOG)}: removed, {file_name(2, LOG)}{SWAP} stands for it" in said
    assert f"{file_name(2, LOG)}{SWAP}: took its name" in said
    log = opened(folder, was_closed=True)
    assert rows(log) == before and [segment.base_offset for segment in log.segments] == [0, 2, 6]


def test_a_swap_beside_a_cleaned_one_from_there_on_had_not_begun_and_is_undone() -> None:
    folder, before = filled()
    copied(folder, 2, SWAP)
    copied(folder, 2, CLEANED, (LOG,))
    said = steps(folder.after_crash())
    assert said[0] == f"{file_name(2, LOG)}{CLEANED}: removed"
    assert said[1:] == [
        f"{file_name(2, suffix)}{SWAP}: removed, its swap had not begun in full"
        for suffix in (INDEX, LOG, TIME_INDEX)
    ]
    assert rows(opened(folder, was_closed=True)) == before


def test_a_swap_below_a_cleaned_one_of_a_later_segment_counts() -> None:
    folder, before = filled()
    copied(folder, 0, SWAP)
    copied(folder, 4, CLEANED, (LOG,))
    said = steps(folder.after_crash())
    assert f"{file_name(0, LOG)}{SWAP}: took its name" in said
    assert rows(opened(folder, was_closed=True)) == before


# --- which segments are read


@pytest.mark.parametrize(("recovery_point", "end"), [(0, 3), (1, 3), (2, 3), (3, 3), (4, 6), (5, 6), (6, 6)])
def test_after_a_crash_the_segments_from_the_recovery_point_on_are_read_and_the_log_ends_at_what_is_not_sound(
    recovery_point: int, end: int
) -> None:
    """What lies before is known to be flushed: its damage is found by whoever reads it."""
    folder, before = filled()
    damage(folder, 2)
    log = opened(folder, recovery_point=recovery_point)
    assert log.log_end_offset == end
    if end == 3:
        assert rows(log) == before[:3] and not folder.files.keys() & {file_name(4, LOG), file_name(4, INDEX)}


def test_after_an_end_in_order_nothing_is_read() -> None:
    folder, _ = filled()
    damage(folder, 2)
    assert steps(folder, was_closed=True) == [] and opened(folder, was_closed=True).log_end_offset == 6


def test_what_is_cut_off_is_said_with_the_segments_that_go() -> None:
    folder, _ = filled()
    damage(folder, 2)
    said = steps(folder, was_closed=False)
    assert said[0] == f"{file_name(2, LOG)}: 78 bytes cut off"
    assert said[1] == f"{file_name(4, LOG)}: removed, the log ends before it"


@pytest.mark.parametrize(("recovery_point", "then"), [(3, 3), (9, 6), (0, 0)])
def test_the_recovery_point_is_no_further_than_the_log(recovery_point: int, then: int) -> None:
    folder, _ = filled(is_closed=False)
    assert opened(folder, recovery_point=recovery_point).recovery_point == then


def test_after_an_end_in_order_everything_counts_as_flushed() -> None:
    folder, _ = filled()
    assert opened(folder, was_closed=True, recovery_point=1).recovery_point == 6


# --- where the log starts


@pytest.mark.parametrize(
    ("start", "first", "segments"), [(0, 0, [0, 2, 4]), (3, 3, [0, 2, 4]), (6, 6, [0, 2, 4])]
)
def test_a_log_start_inside_the_log_hides_what_is_below(start: int, first: int, segments: list[int]) -> None:
    folder, before = filled()
    log = opened(folder, was_closed=True, log_start_offset=start)
    assert (log.log_start_offset, log.log_end_offset, [segment.base_offset for segment in log.segments]) == (
        first,
        6,
        segments,
    )
    assert log.epochs.rows == [(0, start)]
    assert [row[0] for row in rows(log) if row[0] >= start] == [row[0] for row in before if row[0] >= start]


def test_a_log_that_lies_wholly_below_its_start_is_begun_anew_there() -> None:
    folder, _ = filled()
    log = opened(folder.after_crash(), was_closed=True, log_start_offset=7)
    assert (log.log_start_offset, log.log_end_offset, rows(log), log.epochs.rows) == (7, 7, [], [])
    assert steps(folder, log_start_offset=7)[0] == "everything is below the log start offset 7: begun anew"


def test_a_start_below_the_first_segment_is_the_first_segments() -> None:
    folder, _ = filled()
    for suffix in (LOG, INDEX, TIME_INDEX):
        folder.lose(file_name(0, suffix))
    assert opened(folder, was_closed=True).log_start_offset == 2


def test_epochs_beyond_the_end_and_below_the_start_are_cut_with_the_log() -> None:
    folder, _ = filled()
    folder.replace("leader-epoch-checkpoint", b"0\n4\n0 0\n1 2\n2 5\n3 9\n")
    assert opened(folder, was_closed=True, log_start_offset=3).epochs.rows == [(1, 3), (2, 5)]


# --- producers


def test_a_producer_is_known_from_the_snapshot_and_what_follows_it() -> None:
    folder = new_folder()
    log = opened(folder)
    for number in range(5):
        log.append_pairs(
            [(b"k", b"v" * 10)],
            now_ms=NOW,
            producer_id=number % 2,
            producer_epoch=0,
            base_sequence=number // 2,
        )
    log.close(NOW)
    for was_closed in (True, False):
        again = opened(folder.after_crash(1 << 20), was_closed=was_closed)
        assert {pid: entry.last_sequence for pid, entry in again.producers.entries.items()} == {0: 2, 1: 1}


def test_a_snapshot_that_cannot_be_read_is_passed_over_for_an_older_one() -> None:
    folder = new_folder()
    log = opened(folder)
    for number in range(6):
        log.append_pairs(
            [(b"k", b"v" * 10)], now_ms=NOW, producer_id=1, producer_epoch=0, base_sequence=number
        )
    log.close(NOW)
    damaged = folder.after_crash(1 << 20)
    damaged.flip_bit(file_name(6, ".snapshot"), 90)
    again = opened(damaged, was_closed=True)
    assert again.producers.entries[1].last_sequence == 5
    assert again.append_pairs(
        [(b"k", b"v")], now_ms=NOW, producer_id=1, producer_epoch=0, base_sequence=5
    ).is_duplicate

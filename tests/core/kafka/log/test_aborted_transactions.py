"""The index of aborted transactions: its rows in the file, which of them a reader needs, and what a cut, a
roll and a torn file leave."""

from typing import Any

import pytest

from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import StorageFull
from broker_core.kafka.log.transaction_index import (
    AbortedTransaction,
    add_aborted,
    read_aborted,
    replace_aborted,
    truncate_aborted,
)
from broker_core.kafka.log.watermarks import Isolation
from tests.core.kafka.log.small_logs import NOW, new_folder

FILE = "00000000000000000000.txnindex"
ROW_BYTES = 34
ROWS = [AbortedTransaction(7, 0, 2, 0), AbortedTransaction(8, 4, 6, 4), AbortedTransaction(7, 5, 9, 8)]


def written(*rows: AbortedTransaction) -> MemoryFolder:
    folder = MemoryFolder()
    for row in rows:
        add_aborted(folder, FILE, row)
    return folder


# --- the file


def test_rows_come_back_as_they_were_written() -> None:
    folder = written(*ROWS)
    assert list(read_aborted(folder, FILE)) == ROWS and len(folder.read(FILE)) == 3 * ROW_BYTES
    assert folder.read(FILE)[:10] == b"\0\0" + (7).to_bytes(8)


def test_a_row_outlives_a_power_cut_with_its_marker() -> None:
    assert list(read_aborted(written(*ROWS).after_crash(), FILE)) == ROWS


@pytest.mark.parametrize(
    ("size", "whole"), [(3 * ROW_BYTES - 1, 2), (ROW_BYTES, 1), (ROW_BYTES - 1, 0), (0, 0)]
)
def test_a_torn_last_row_is_left_out(size: int, whole: int) -> None:
    folder = written(*ROWS)
    folder.tear(FILE, size)
    assert list(read_aborted(folder, FILE)) == ROWS[:whole]


def test_without_a_file_there_is_none() -> None:
    assert list(read_aborted(MemoryFolder(), FILE)) == []


@pytest.mark.parametrize(("offset", "kept"), [(0, 0), (2, 0), (3, 1), (6, 1), (7, 2), (9, 2), (10, 3)])
def test_a_cut_drops_the_transactions_that_ended_at_or_after_it(offset: int, kept: int) -> None:
    folder = written(*ROWS)
    truncate_aborted(folder, FILE, offset)
    assert list(read_aborted(folder, FILE)) == ROWS[:kept]
    assert (FILE in folder.names()) is (kept > 0), "without rows there is no file"


def test_what_is_replaced_is_there_whole_or_not_at_all() -> None:
    folder = written(ROWS[0])
    replace_aborted(folder, FILE, ROWS[1:])
    assert list(read_aborted(folder, FILE)) == ROWS[1:]
    folder.bytes_max = 2 * ROW_BYTES
    with pytest.raises(StorageFull):
        replace_aborted(folder, FILE, [*ROWS, *ROWS])
    assert list(read_aborted(folder, FILE)) == ROWS[1:]


# --- in a log


def log_of(**settings: Any) -> PartitionLog:
    return PartitionLog.open(new_folder(), LogSettings(**settings), now_ms=NOW)


def send(log: PartitionLog, producer_id: int, count: int = 1, value: bytes = b"v") -> None:
    entry = log.producers.entries.get(producer_id)
    sequence = 0 if entry is None else entry.last_sequence + 1
    log.append_pairs(
        [(b"t", value)] * count,
        now_ms=NOW,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=True,
    )


def end(log: PartitionLog, producer_id: int, how: ControlType = ControlType.ABORT) -> None:
    log.append_marker(how, producer_id=producer_id, producer_epoch=0, coordinator_epoch=0, now_ms=NOW)


def two_at_once(**settings: Any) -> PartitionLog:
    """7 writes 0 and 3, 8 writes 1 and 2; 8 is aborted at 4, 7 at 5; 9 writes 6 and commits at 7."""
    log = log_of(**settings)
    send(log, 7)
    send(log, 8, 2)
    send(log, 7)
    end(log, 8)
    end(log, 7)
    send(log, 9)
    end(log, 9, ControlType.COMMIT)
    return log


def test_an_aborted_transaction_spans_from_its_first_record_to_its_marker_and_a_committed_one_is_not_there() -> (
    None
):
    log = two_at_once()
    rows = log.aborted_transactions(0, log.log_end_offset)
    assert [(row.producer_id, row.first_offset, row.last_offset) for row in rows] == [(8, 1, 4), (7, 0, 5)], (
        "in the order of their markers"
    )


def test_the_row_says_what_was_stable_when_the_transaction_ended() -> None:
    log = two_at_once()
    assert [row.last_stable_offset for row in log.aborted_transactions(0, 9)] == [0, 6], (
        "7 was still open when 8 ended"
    )


@pytest.mark.parametrize(
    ("first", "end_exclusive", "producers"),
    [(0, 1, [7]), (0, 0, []), (1, 2, [8, 7]), (4, 5, [8, 7]), (5, 6, [7]), (6, 9, []), (0, 9, [8, 7])],
)
def test_a_reader_needs_those_that_touch_what_it_reads(
    first: int, end_exclusive: int, producers: list[int]
) -> None:
    assert [row.producer_id for row in two_at_once().aborted_transactions(first, end_exclusive)] == producers


def test_a_transaction_over_several_segments_stands_in_the_index_of_its_marker() -> None:
    log = log_of(segment_bytes=300)
    send(log, 7)
    for _ in range(3):
        log.append_pairs([(b"k", b"v" * 100)], now_ms=NOW)
    end(log, 7)
    assert len(log.segments) > 2
    names = [name for name in log.folder.names() if name.endswith(".txnindex")]
    assert names == [f"{log.active.base_offset:020d}.txnindex"]
    (found,) = log.aborted_transactions(0, 1)
    assert (found.first_offset, found.last_offset) == (0, 4), "also who reads the first segment alone is told"
    fetched = log.read_as(Isolation.TXN_COMMITTED, 0, 1)
    assert fetched.aborted == [found]


def test_a_producer_that_aborts_twice_has_two_rows() -> None:
    log = log_of()
    for _ in range(2):
        send(log, 7)
        end(log, 7)
    assert [(row.first_offset, row.last_offset) for row in log.aborted_transactions(0, 9)] == [(0, 1), (2, 3)]


def test_a_marker_without_a_transaction_leaves_no_row() -> None:
    log = log_of()
    end(log, 7)
    log.append_pairs([(b"k", b"v")], now_ms=NOW)
    assert log.aborted_transactions(0, 9) == [] and log.last_stable_offset == 2


@pytest.mark.parametrize(("cut", "rows", "stable"), [(5, [8], 0), (4, [], 0), (6, [8, 7], 6)])
def test_a_cut_log_knows_only_the_transactions_whose_marker_it_still_has(
    cut: int, rows: list[int], stable: int
) -> None:
    log = two_at_once()
    log.truncate_to(cut, NOW)
    assert [row.producer_id for row in log.aborted_transactions(0, 9)] == rows
    assert log.last_stable_offset == stable, "a transaction whose marker is gone is open again"


def test_a_follower_that_copies_a_log_has_the_same_rows() -> None:
    leader, follower = two_at_once(), log_of()
    follower.append_as_follower(leader.read(0, 1 << 20).data, now_ms=NOW)
    assert follower.aborted_transactions(0, 9) == leader.aborted_transactions(0, 9)
    assert follower.last_stable_offset == leader.last_stable_offset == 8

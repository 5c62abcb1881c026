"""What a partition knows of its leaders: which epoch ends where, and what a cut leaves."""

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.log.checkpoints import LEADER_EPOCH
from broker_core.kafka.log.leader_epochs import UNDEFINED, LeaderEpochs
from broker_core.kafka.log.memory_storage import MemoryFolder


def epochs_of(*rows: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs(MemoryFolder())
    epochs.assign_all(rows)
    return epochs


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (0, (0, 6)),  # older than all: the data is gone, and the log begins at 6
        (2, (2, 8)),
        (3, (2, 8)),  # nobody wrote under 3: the epoch before it answers
        (4, (4, 11)),
        (7, (7, 15)),  # the newest one is still being written
        (8, UNDEFINED),
        (-1, UNDEFINED),
    ],
)
def test_an_epoch_ends_where_the_next_one_begins(asked: int, answer: tuple[int, int]) -> None:
    assert epochs_of((2, 6), (4, 8), (7, 11)).end_offset_for(asked, 15) == answer


def test_without_any_epoch_nothing_is_known() -> None:
    assert epochs_of().end_offset_for(0, 15) == UNDEFINED
    assert epochs_of().epoch_of(3) is None


def test_an_offset_belongs_to_the_epoch_that_covers_it() -> None:
    epochs = epochs_of((2, 6), (4, 8))
    assert [epochs.epoch_of(offset) for offset in (5, 6, 7, 8, 99)] == [None, 2, 2, 4, 4]
    assert (epochs.previous_row(4), epochs.next_row(2), epochs.row_of(3), epochs.row_of(4)) == (
        (2, 6),
        (4, 8),
        None,
        (4, 8),
    )
    assert epochs.rows_between(7, 8) == [(2, 7)]


def test_an_older_epoch_removes_the_newer_ones() -> None:
    epochs = epochs_of((1, 5), (2, 6), (3, 7))
    epochs.assign(1, 7)
    assert epochs.rows == [(1, 7)]


def test_a_cut_from_the_start_keeps_the_covering_epoch_even_beyond_the_last_record() -> None:
    epochs = epochs_of((2, 6), (3, 8))
    epochs.truncate_from_start(30)
    assert epochs.rows == [(3, 30)]


@pytest.mark.parametrize("row", [(-1, 0), (0, -1)])
def test_negative_numbers_are_refused_and_change_nothing(row: tuple[int, int]) -> None:
    epochs = epochs_of((0, 0))
    with pytest.raises(CommandError):
        epochs.assign(*row)
    assert epochs.rows == [(0, 0)]


def test_clear_forgets_in_memory_and_clear_and_flush_in_the_file() -> None:
    folder = MemoryFolder()
    epochs = LeaderEpochs(folder)
    epochs.assign(1, 5)
    epochs.clear()
    assert (epochs.rows, LeaderEpochs(folder).rows) == ([], [(1, 5)])
    epochs.clear_and_flush()
    assert folder.read(LEADER_EPOCH) == b"0\n0\n"

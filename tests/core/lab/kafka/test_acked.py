"""Acknowledged records against a leader's log: what a new leader does not have is lost, what was deleted is
not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.replication.light_batch import light_batch
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.lab.kafka.acked import LOOKED_BACK, Acked, is_repeated


def log_of(*batches: tuple[int, int]) -> LightLog:
    """A log with these batches, each of so many records under that leader epoch."""
    log = LightLog.begin(now_ms=0)
    for epoch, count in batches:
        log.append(light_batch(range(count), timestamp=1), now_ms=1, leader_epoch=epoch)
    return log


def acked(log: LightLog, *ranges: tuple[int, int, int]) -> Acked:
    known = Acked()
    for epoch, base, count in ranges:
        known.note("t-0", log, base, count, epoch)
    return known


def test_acks_that_follow_one_another_under_one_leader_are_one_range() -> None:
    assert acked(log_of(), (3, 0, 5), (3, 5, 2), (3, 6, 3)).ranges == {"t-0": [[3, 0, 9]]}


def test_ack_of_what_was_acked_before_makes_the_range_no_shorter() -> None:
    assert acked(log_of(), (3, 0, 5), (3, 1, 2)).ranges == {"t-0": [[3, 0, 5]]}


@pytest.mark.parametrize(
    "other", [(4, 5, 2), (3, 6, 2), (2, 5, 2)], ids=["another leader", "a gap", "an older leader"]
)
def test_ack_that_does_not_follow_is_a_range_of_its_own(other: tuple[int, int, int]) -> None:
    epoch, base, count = other
    assert acked(log_of(), (3, 0, 5), other).ranges["t-0"] == [[3, 0, 5], [epoch, base, base + count]]


def test_ranges_below_the_log_start_are_forgotten_whole() -> None:
    log = log_of((0, 10))
    known = acked(log, (0, 0, 3), (1, 3, 3))
    log.log_start_offset = 3
    known.note("t-0", log, 6, 1, 2)
    assert known.ranges == {"t-0": [[1, 3, 6], [2, 6, 7]]}
    log.log_start_offset = 5
    known.note("t-0", log, 8, 1, 2)
    assert known.ranges == {"t-0": [[1, 3, 6], [2, 6, 7], [2, 8, 9]]}


def test_records_that_the_leader_has_under_the_same_epoch_are_there() -> None:
    log = log_of((0, 5), (2, 4))
    assert acked(log, (0, 0, 5), (2, 5, 4)).missing("t-0", log) == 0
    assert acked(log, (0, 1, 2), (2, 6, 1)).missing("t-0", log) == 0


@pytest.mark.parametrize(
    ("ranges", "missing", "left"),
    [
        ([(0, 0, 7)], 2, [[0, 0, 5]]),
        ([(0, 3, 4)], 2, [[0, 3, 5]]),
        ([(1, 5, 3)], 3, []),
        ([(2, 4, 3)], 1, [[2, 5, 7]]),
        ([(2, 7, 9)], 7, [[2, 7, 9]]),
        ([(0, 5, 2)], 2, []),
        ([(3, 9, 1)], 1, []),
    ],
    ids=[
        "cut off at the end",
        "from within",
        "of an epoch that left nothing",
        "before its epoch began",
        "past the end",
        "another's offsets",
        "after it all",
    ],
)
def test_same_offset_under_another_epoch_is_another_record(
    ranges: list[tuple[int, int, int]], missing: int, left: list[list[int]]
) -> None:
    """The log: offsets 0 to 4 of epoch 0, 5 to 8 of epoch 2."""
    log = log_of((0, 5), (2, 4))
    known = acked(log, *ranges)
    assert known.missing("t-0", log) == missing
    assert known.take_missing("t-0", log) == missing and known.ranges["t-0"] == left
    assert known.take_missing("t-0", log) == 0


def test_looking_takes_nothing_and_a_partition_that_nobody_acked_misses_nothing() -> None:
    log = log_of((0, 5))
    known = acked(log, (1, 0, 5))
    assert known.missing("t-0", log) == known.missing("t-0", log) == 5 and known.missing("other-0", log) == 0
    assert known.take_missing("other-0", log) == 0 and list(known.ranges) == ["t-0"]


def test_what_was_deleted_is_not_lost() -> None:
    log = log_of((0, 5), (1, 5))
    known = acked(log, (0, 0, 8))
    log.log_start_offset = 4
    assert known.missing("t-0", log) == 3, "of 4 to 7 only 4 is there under epoch 0"
    log.log_start_offset = 8
    assert known.missing("t-0", log) == 0


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=5),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=5),
)
def test_lost_are_offsets_of_the_old_log_that_the_new_one_does_not_have(
    old: list[tuple[int, int]], new: list[tuple[int, int]]
) -> None:
    """Two logs, epochs rising in each; all of the first was acknowledged."""

    def epochs(batches: list[tuple[int, int]]) -> list[int]:
        epoch, found = 0, list[int]()
        for step, count in batches:
            epoch += step
            found += [epoch] * count
        return found

    def batches(each: list[int]) -> list[tuple[int, int]]:
        return [(epoch, each.count(epoch)) for epoch in dict.fromkeys(each)]

    was, now = epochs(old), epochs(new)
    log, known, base = log_of(*batches(now)), Acked(), 0
    for epoch, count in batches(was):
        known.note("t-0", log_of(*batches(was)), base, count, epoch)
        base += count
    lost = sum(offset >= len(now) or now[offset] != epoch for offset, epoch in enumerate(was))
    assert known.missing("t-0", log) == lost
    assert known.take_missing("t-0", log) == lost and known.missing("t-0", log) == 0


def test_batch_that_was_sent_twice_is_there_before_itself() -> None:
    log = LightLog.begin(now_ms=0)
    for values in ([1, 2], [3], [1, 2]):
        log.append(light_batch(values, timestamp=1), now_ms=1, leader_epoch=0)
    assert (
        is_repeated(log, 3, 1)
        and is_repeated(log, 3, 3)
        and not is_repeated(log, 0, 1)
        and not is_repeated(log, 2, 3)
    )
    assert not is_repeated(log, 3, 2), "a batch is known by its first record"


def test_first_copy_is_looked_for_among_the_last_2000_offsets() -> None:
    log = LightLog.begin(now_ms=0)
    log.append(light_batch([7], timestamp=1), now_ms=1, leader_epoch=0)
    log.append(light_batch(range(100, 100 + LOOKED_BACK - 1), timestamp=1), now_ms=1, leader_epoch=0)
    log.append(light_batch([9], timestamp=1), now_ms=1, leader_epoch=0)
    assert is_repeated(log, LOOKED_BACK, 7) and not is_repeated(log, LOOKED_BACK + 1, 7)

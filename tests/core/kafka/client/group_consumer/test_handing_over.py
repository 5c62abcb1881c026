"""What poll() gives the program of what was fetched: in which order, how much, and how positions move with
it."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.client.group_consumer.fetches import CompletedFetch
from broker_core.kafka.client.group_consumer.subscription import AWAIT_RESET, AWAIT_VALIDATION, INITIALIZING
from tests.core.kafka.client.group_consumer.test_fetch_sessions import Fetching, P, Q, R


def completed(
    partition: tuple[str, int],
    *offsets: int,
    end: int | None = None,
    epoch: int = 0,
    begins: int | None = None,
) -> CompletedFetch:
    """Records at these offsets, with their offset as value. end: where to go on; begins: the position that it
    was asked at."""
    first = begins if begins is not None else (offsets[0] if offsets else 0)
    return CompletedFetch(
        partition,
        deque((offset, offset) for offset in offsets),
        first,
        end if end is not None else offsets[-1] + 1,
        epoch,
    )


def holding(*fetches: CompletedFetch) -> Fetching:
    reading = Fetching(1, 1, 1)
    reading.state.completed.extend(fetches)
    return reading


def given_by(reading: Fetching, most: int = 500) -> list[tuple[int, int]]:
    return [(partition[1], offset) for partition, offset, _ in reading.fetcher.collect(most)]


def test_the_oldest_answer_is_emptied_first_and_a_poll_goes_on_into_the_next_one() -> None:
    reading = holding(completed(Q, 0, 1), completed(P, 0, 1, 2))
    assert given_by(reading, 3) == [(1, 0), (1, 1), (0, 0)]
    assert (reading.known(Q).position, reading.known(P).position) == (2, 1)
    assert given_by(reading, 3) == [(0, 1), (0, 2)] and not reading.state.completed


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_poll_gives_more_than_max_poll_records(most: int) -> None:
    reading = holding(completed(P, 0, 1, 2, 3, 4, 5))
    assert [len(given_by(reading, most)) for _ in range(6 // most)] == [most] * (6 // most) and given_by(
        reading, most
    ) == []


def test_past_the_last_record_the_position_is_where_the_batches_end() -> None:
    """What was compacted away, and the markers of transactions, are behind it."""
    reading = holding(completed(P, 0, 3, end=9, epoch=4))
    assert given_by(reading, 1) == [(0, 0)] and reading.known().position == 1
    assert given_by(reading, 1) == [(0, 3)] and (reading.known().position, reading.known().offset_epoch) == (
        9,
        4,
    )


def test_batches_in_which_the_reader_sees_nothing_still_move_it_on() -> None:
    reading = holding(completed(P, end=7, epoch=2, begins=0), completed(Q, 0))
    assert given_by(reading) == [(1, 0)] and (reading.known().position, reading.known().offset_epoch) == (
        7,
        2,
    )


def test_a_position_says_of_which_epoch_the_record_before_it_is_also_in_the_middle() -> None:
    reading = holding(completed(P, 0, 1, epoch=6))
    given_by(reading, 1)
    assert reading.known().offset_epoch == 6


@pytest.mark.parametrize("why", [INITIALIZING, AWAIT_RESET, AWAIT_VALIDATION, "revoking", "given up", "seek"])
def test_what_is_no_longer_to_be_read_is_thrown_away_and_the_next_answer_is_given(why: str) -> None:
    reading = holding(completed(P, 0, 1), completed(Q, 0))
    known = reading.known()
    if why == "given up":
        reading.subscribed.give_up([P])
    elif why == "seek":
        known.seek(40)
    elif why == "revoking":
        known.is_revoking = True
    else:
        known.state = why
    before = known.position
    assert given_by(reading) == [(1, 0)] and not reading.state.completed and known.position == before


def test_a_seek_to_where_it_stands_keeps_what_was_fetched() -> None:
    reading = holding(completed(P, 0, 1, 2))
    given_by(reading, 1)
    reading.known().seek(1)
    assert given_by(reading) == [(0, 1), (0, 2)]


def test_what_is_paused_waits_in_its_place_before_what_came_later() -> None:
    reading = holding(completed(P, 0, 1), completed(Q, 0), completed(R, 0))
    for partition in (P, R):
        reading.known(partition).is_paused = True
    assert given_by(reading) == [(1, 0)] and [fetch.partition for fetch in reading.state.completed] == [P, R]
    reading.state.completed.append(completed(Q, 1))
    for partition in (P, R):
        reading.known(partition).is_paused = False
    assert given_by(reading) == [(0, 0), (0, 1), (2, 0), (1, 1)]


def test_one_that_is_paused_in_the_middle_goes_on_there() -> None:
    reading = holding(completed(P, 0, 1, 2))
    given_by(reading, 1)
    reading.known().is_paused = True
    assert given_by(reading) == []
    reading.known().is_paused = False
    assert given_by(reading) == [(0, 1), (0, 2)]


FETCHES = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.booleans()), max_size=8)


@settings(max_examples=50, deadline=None)
@given(FETCHES, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=30))
def test_law_each_partition_is_given_in_order_without_a_gap_whatever_is_paused_meanwhile(
    fetches: list[tuple[int, int, bool]], polls: list[tuple[int, int, bool]]
) -> None:
    """A partition is fetched again when nothing of it is in the buffer; polls take some records, and pause or
    resume a partition before."""
    reading, ends = Fetching(1, 1, 1), [0, 0, 0]
    to_come: dict[tuple[str, int], deque[CompletedFetch]] = {partition: deque() for partition in (P, Q, R)}
    for number, count, has_marker in fetches:
        first = ends[number]
        ends[number] = first + count + has_marker
        to_come["t", number].append(completed(("t", number), *range(first, first + count), end=ends[number]))

    def poll(most: int) -> list[tuple[int, int]]:
        buffered = {fetch.partition for fetch in reading.state.completed}
        reading.state.completed.extend(
            rest.popleft() for partition, rest in to_come.items() if rest and partition not in buffered
        )
        return given_by(reading, most)

    seen: list[tuple[int, int]] = []
    for most, number, is_paused in polls:
        reading.known(("t", number)).is_paused = is_paused
        got = poll(most)
        assert len(got) <= most and not any(reading.known(("t", paused)).is_paused for paused, _ in got)
        seen += got
    for partition in (P, Q, R):
        reading.known(partition).is_paused = False
    while got := poll(3):
        seen += got
    assert len(seen) == sum(count for _, count, _ in fetches)
    assert [reading.known(partition).position for partition in (P, Q, R)] == ends
    for number in range(3):
        offsets = [offset for one, offset in seen if one == number]
        assert offsets == sorted(set(offsets))

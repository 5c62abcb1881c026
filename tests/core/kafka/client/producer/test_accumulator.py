"""Where records wait: what goes into which batch, when one is due, what the buffer holds, and where a batch
that comes back stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.client.producer.accumulator import Accumulator
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.settings import ProducerSettings

P, Q = ("t", 0), ("t", 1)
HEADER = 61
SMALL = ProducerSettings(batch_size=HEADER + 200, linger_us=50)


def filled(*sizes: int, settings: ProducerSettings = SMALL, free: int = 10_000) -> Accumulator:
    """Records of these sizes for one partition, a value each from 0, at times 0, 1, 2 ..."""
    accumulator = Accumulator(free)
    for value, size in enumerate(sizes):
        accumulator.append(P, value, size, value, settings)
    return accumulator


def shape(accumulator: Accumulator) -> list[list[int]]:
    """Values of each waiting batch of the partition."""
    return [accumulator.batches[number].values for number in accumulator.queues.get(P, ())]


# --- what goes into which batch


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ((100, 100), [[0, 1]]),
        ((100, 101), [[0], [1]]),  # one byte more than batch.size, header included
        ((100, 101, 99), [[0], [1, 2]]),
        ((100, 101, 100), [[0], [1], [2]]),
        ((900, 1), [[0], [1]]),  # larger than batch.size: a batch of its own, which is full
        ((50, 900, 50), [[0], [1], [2]]),
    ],
)
def test_a_batch_takes_records_up_to_batch_size_and_one_that_is_larger_is_alone(
    sizes: tuple[int, ...], batches: list[list[int]]
) -> None:
    assert shape(filled(*sizes)) == batches


def test_a_batch_that_has_left_takes_nothing_more() -> None:
    accumulator = filled(10)
    left = accumulator.take(P)
    accumulator.append(P, 1, 10, 5, SMALL)
    assert (left.values, shape(accumulator)) == ([0], [[1]])
    accumulator.put_back(left, None)
    accumulator.append(P, 2, 10, 6, SMALL)
    assert shape(accumulator) == [[0], [1, 2]], "what came back is not filled up"


def test_a_batch_that_came_back_alone_takes_nothing_more() -> None:
    accumulator = filled(10)
    accumulator.put_back(accumulator.take(P), None)
    accumulator.append(P, 1, 10, 5, SMALL)
    assert shape(accumulator) == [[0], [1]]


def test_partitions_have_queues_of_their_own_and_numbers_in_common() -> None:
    accumulator = Accumulator(10_000)
    numbers = []
    for partition in (P, Q, P):
        batch = accumulator.append(partition, 1, 150, 0, SMALL)
        assert batch is not None
        numbers.append(batch.number)
    assert (
        numbers == [1, 2, 3] and list(accumulator.queues[P]) == [1, 3] and list(accumulator.queues[Q]) == [2]
    )


# --- the buffer


def test_a_batch_reserves_batch_size_or_its_record_if_that_is_more() -> None:
    accumulator = Accumulator(10_000)
    for size, reserved in ((10, HEADER + 200), (900, HEADER + 900)):
        before = accumulator.free
        accumulator.append((f"of {size}", 0), 0, size, 0, SMALL)
        assert before - accumulator.free == reserved


@pytest.mark.parametrize(("free", "fits"), [(HEADER + 200, True), (HEADER + 199, False)])
def test_without_room_for_a_whole_batch_nothing_is_taken(free: int, fits: bool) -> None:
    accumulator = Accumulator(free)
    assert (accumulator.append(P, 0, 1, 0, SMALL) is not None) is fits
    if not fits:
        assert accumulator == Accumulator(free), "and nothing has changed"


def test_a_full_buffer_still_takes_what_fits_into_a_batch_that_is_open() -> None:
    accumulator = filled(100, free=HEADER + 200)
    assert accumulator.free == 0
    assert accumulator.append(P, 1, 100, 5, SMALL) is not None
    assert accumulator.append(P, 2, 1, 5, SMALL) is None and shape(accumulator) == [[0, 1]]
    first = accumulator.batches[1]
    assert not first.is_closed, "only a second batch behind it closes it"


def test_bytes_come_back_with_the_last_word_and_once() -> None:
    accumulator = filled(10)
    batch = accumulator.take(P)
    assert accumulator.free == 10_000 - HEADER - 200, "on its way it still takes its place"
    for _ in range(2):
        accumulator.release(batch)
        assert (accumulator.free, accumulator.has_incomplete) == (10_000, False)


def test_a_batch_that_is_decided_while_it_waits_leaves_its_queue() -> None:
    accumulator = filled(150, 150)
    first, second = (accumulator.batches[number] for number in accumulator.queues[P])
    accumulator.release(first)
    assert shape(accumulator) == [[1]]
    accumulator.release(second)
    assert P not in accumulator.queues


# --- when one is due


@pytest.mark.parametrize(
    ("sizes", "due_us"),
    [((10,), 50), ((200,), 0), ((199,), 50), ((10, 200), 0)],
    ids=["lingers", "full", "one byte is left", "a second one stands behind it"],
)
def test_a_new_batch_is_due_when_it_is_full_or_has_lingered(sizes: tuple[int, ...], due_us: int) -> None:
    accumulator = filled(*sizes)
    assert accumulator.due_us(P, SMALL, 0, at_once=False) == due_us
    assert accumulator.due_us(P, SMALL, 0, at_once=True) == 0


def test_one_that_came_back_is_due_after_its_back_off_or_at_once_under_a_newer_leader_epoch() -> None:
    accumulator = filled(10)
    batch = accumulator.take(P)
    batch.attempts, batch.retry_at_us, batch.sent_epoch = 1, 900, 4
    accumulator.put_back(batch, None)
    for epoch, due_us in ((3, 900), (4, 900), (5, 0)):
        assert accumulator.due_us(P, SMALL, epoch, at_once=True) == due_us, (
            "nobody shortens a back-off but a new leader"
        )


def test_only_the_first_of_a_queue_says_when() -> None:
    accumulator = filled(10)
    batch = accumulator.take(P)
    batch.attempts, batch.retry_at_us = 1, 900
    accumulator.append(P, 1, 200, 5, SMALL)
    accumulator.put_back(batch, None)
    assert accumulator.due_us(P, SMALL, -1, at_once=False) == 900, "the full one behind it waits"


# --- where one that comes back stands


def test_without_sequences_it_goes_to_the_front() -> None:
    accumulator = filled(150, 150, 150)
    first, second = accumulator.take(P), accumulator.take(P)
    accumulator.put_back(first, None)
    accumulator.put_back(second, None)
    assert shape(accumulator) == [[1], [0], [2]]


@pytest.mark.parametrize("back", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_with_sequences_it_goes_to_its_place_whichever_comes_back_first(back: tuple[int, ...]) -> None:
    accumulator = filled(150, 150, 150, 150)
    flying = [accumulator.take(P) for _ in range(3)]
    for place in back:
        accumulator.put_back(flying[place], [batch.number for batch in flying])
    assert shape(accumulator) == [[0], [1], [2], [3]]


def test_one_that_is_no_longer_among_the_numbered_goes_to_the_front() -> None:
    accumulator = filled(150, 150)
    first = accumulator.take(P)
    accumulator.put_back(first, [77])
    assert shape(accumulator) == [[0], [1]]


# --- time


def test_those_whose_time_is_over_are_named_oldest_first_on_their_way_or_not() -> None:
    accumulator = filled(150, 150, 150)  # made at 0, 1, 2
    accumulator.take(P)
    assert [batch.values for batch in accumulator.expired(100, 99)] == [[0], [1]]
    assert accumulator.expired(98, 99) == [] and len(accumulator.batches) == 3, "it only names them"


# --- keyless records


def test_they_may_turn_elsewhere_when_their_batch_is_full_or_there_is_none() -> None:
    accumulator = Accumulator(10_000)
    assert accumulator.may_switch(P, SMALL.batch_size)
    accumulator.append(P, 0, 199, 0, SMALL)
    assert not accumulator.may_switch(P, SMALL.batch_size)
    accumulator.append(P, 1, 1, 0, SMALL)
    assert accumulator.may_switch(P, SMALL.batch_size)
    accumulator.append(P, 2, 1, 0, SMALL)
    assert not accumulator.may_switch(P, SMALL.batch_size), "the last one counts"


def test_queues_are_weighed_once_every_partition_has_had_a_batch_and_slow_brokers_come_last() -> None:
    accumulator, leaders = Accumulator(10_000), {0: 5, 1: 6, 2: 5}
    for number in (0, 0, 2):
        accumulator.append(("t", number), 0, 200, 0, SMALL)
    assert (
        accumulator.queue_sizes("t", leaders, {}) is None
        and accumulator.queue_sizes("u", leaders, {}) is None
    )
    accumulator.append(Q, 0, 200, 0, SMALL)
    accumulator.take(Q)
    assert accumulator.queue_sizes("t", leaders, {}) == ([2, 0, 1], [0, 1, 2], 3)
    assert accumulator.queue_sizes("t", leaders, {5: None}) == ([0, 2, 1], [1, 0, 2], 1)
    assert accumulator.queue_sizes("t", leaders, {5: None, 6: None}) == ([2, 0, 1], [0, 1, 2], 0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 1), st.integers(1, 400)),
        st.tuples(st.just("take"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("back"), st.just(0), st.just(0)),
        st.tuples(st.just("decide"), st.integers(0, 5), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_law_every_byte_is_free_or_reserved_and_every_record_is_in_one_batch(
    steps: list[tuple[str, int, int]],
) -> None:
    """Whatever happens: the buffer adds up, a batch is in its queue or on its way, and a partition's records
    keep their order of arrival."""
    accumulator, flying, taken_in, decided = Accumulator(1_500), list[Batch](), list[int](), list[int]()
    for value, (what, number, size) in enumerate(steps):
        partition = ("t", number)
        if what == "append" and accumulator.append(partition, value, size, value, SMALL) is not None:
            taken_in.append(value)
        elif what == "take" and partition in accumulator.queues:
            flying.append(accumulator.take(partition))
        elif what == "back" and flying:
            accumulator.put_back(flying.pop(), None)
        elif what == "decide" and accumulator.batches:
            batch = list(accumulator.batches.values())[number % len(accumulator.batches)]
            flying = [other for other in flying if other is not batch]
            decided += batch.values
            accumulator.release(batch)
        batches = accumulator.batches.values()
        assert accumulator.free + sum(batch.reserved for batch in batches) == 1_500 and accumulator.free >= 0
        assert sorted([value for batch in batches for value in batch.values] + decided) == taken_in
        waiting = [number for queue in accumulator.queues.values() for number in queue]
        assert sorted(waiting + [batch.number for batch in flying]) == list(accumulator.batches) and all(
            accumulator.queues.values()
        )
        assert [batch.created_us for batch in batches] == sorted(batch.created_us for batch in batches)

"""Which partition each record of one producer goes to, where queues are not modelled: by key alone, or a
batch's worth at a time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.producer.partitioner import (
    RoundRobinPartitioner,
    StickyPartitioner,
    next_partition,
    partition_for_key,
    positive_or_zero,
)
from broker_core.kafka.producer.placement import DRAW_LIMIT, KEYLESS_STREAM, Placement

OVERHEAD = 70
"""Bytes of a batch of one beside its value, of 64 bytes to 8 kB."""


def counted(value_size: int) -> int:
    """Bytes of a batch of one without a key."""
    return len(encode_batch([Record(0, 0, None, bytes(value_size))]).data)


class Draws:
    """Random numbers in order, and of what they were asked."""

    def __init__(self, *numbers: int) -> None:
        self.numbers, self.asked = list(numbers), list[tuple[str, int]]()

    def __call__(self, stream: str, limit: int) -> int:
        self.asked.append((stream, limit))
        return self.numbers.pop(0)


def test_the_first_keyless_record_draws_and_then_two_batches_worth() -> None:
    """The batch of a record that is sent at once is never full, so only twice batch.size turns to another
    partition."""
    placement, draws = Placement(5, StickyPartitioner(1_000)), Draws(7, 3, 6)
    went = [placement.of_keyless(400 - OVERHEAD, draws) for _ in range(11)]
    assert went == [2] * 5 + [3] * 5 + [1] and draws.asked == [(KEYLESS_STREAM, DRAW_LIMIT)] * 3


def test_a_record_that_fills_its_batch_goes_where_it_belongs_and_the_next_elsewhere() -> None:
    placement, draws = Placement(2, StickyPartitioner(1_000)), Draws(0, 1)
    assert [placement.of_keyless(size, draws) for size in (1_000 - OVERHEAD, 1)] == [0, 1]
    nearly = Placement(2, StickyPartitioner(1_000))
    assert [nearly.of_keyless(999 - OVERHEAD, Draws(0)) for _ in range(2)] == [0, 0]


def test_the_partition_that_waits_is_half_as_likely_once_each_has_had_a_batch() -> None:
    full = 1_000 - OVERHEAD
    for draw, following in ((0, 0), (1, 1), (2, 1), (3, 0)):
        placement, draws = Placement(2, StickyPartitioner(1_000)), Draws(0, draw)
        placement.saw([1])
        assert [placement.of_keyless(full, draws), placement.of_keyless(1, draws)] == [0, following]


def test_keyed_records_take_no_part_in_it() -> None:
    placement, draws = Placement(4, StickyPartitioner(1_000)), Draws(1)
    placement.of_keyless(50, draws)
    assert {placement.of_key(key) for key in (b"a", b"b", b"c", b"d", b"e")} <= set(
        range(4)
    ) and placement.of_key(b"a") == partition_for_key(b"a", 4)
    assert placement.keyless.produced_bytes == counted(50)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 800), max_size=40),
    st.lists(st.integers(0, DRAW_LIMIT - 1), min_size=45, max_size=45),
    st.integers(2, 6),
)
def test_law_a_partition_gets_at_least_two_batches_before_the_next_draw_and_less_than_one_record_more(
    sizes: list[int], numbers: list[int], partitions: int
) -> None:
    placement, draws = Placement(partitions, StickyPartitioner(1_000)), Draws(*numbers)
    stays: list[list[int]] = [[]]  # bytes of the records that went to one partition
    for size in sizes:
        drawn = len(draws.asked)
        number = placement.of_keyless(size, draws)
        stays[-1].append(counted(size))
        assert 0 <= number < partitions
        if len(draws.asked) > max(drawn, 1):
            stays.append([])
    for stay in stays[:-1]:
        assert sum(stay) >= 2_000 > sum(stay[:-1])
    assert sum(stays[-1]) < 2_000


def test_round_robin_begins_anywhere_and_goes_over_the_largest_integer_without_a_gap() -> None:
    keyless = RoundRobinPartitioner(2**31 - 3)
    assert [keyless.place(range(4), 4) for _ in range(5)] == [(2**31 - 3 + step) % 4 for step in range(3)] + [
        0,
        1,
    ]


def test_draws_are_spread_over_partitions_with_a_leader_only() -> None:
    assert [next_partition(draw, [1, 4], 9) for draw in (0, 1, 2, 2**31 - 1)] == [1, 4, 1, 4]


def test_the_coordinators_absolute_value_is_not_the_producers() -> None:
    assert [positive_or_zero(code) for code in (-(2**31), -1, 0, 2**31 - 1)] == [0, 1, 0, 2**31 - 1]

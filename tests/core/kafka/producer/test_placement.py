"""Which partition each record of one producer goes to, where queues are not modelled: by key alone, or a
batch's worth at a time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.producer.partitioner import (
    RoundRobinPartitioner,
    StickyPartitioner,
    next_partition,
    partition_for_key,
    positive_or_zero,
)
from broker_core.kafka.producer.placement import DRAW_LIMIT, KEYLESS_STREAM, Placement


class Draws:
    """Random numbers in order, and of what they were asked."""

    def __init__(self, *numbers: int) -> None:
        self.numbers, self.asked = list(numbers), list[tuple[str, int]]()

    def __call__(self, stream: str, limit: int) -> int:
        self.asked.append((stream, limit))
        return self.numbers.pop(0)


def test_the_first_keyless_record_draws_and_then_each_batch_s_worth() -> None:
    placement, draws = Placement(5, StickyPartitioner(100)), Draws(7, 3, 6)
    went = [placement.of_keyless(size, draws) for size in (60, 39, 1, 100, 10)]
    assert (
        went == [2, 2, 2, 3, 1] and draws.asked == [(KEYLESS_STREAM, DRAW_LIMIT)] * 3 and placement.last == 1
    )


def test_a_record_that_fills_the_batch_still_goes_where_it_belongs() -> None:
    placement, draws = Placement(2, StickyPartitioner(100)), Draws(0, 1)
    assert [placement.of_keyless(size, draws) for size in (99, 500, 1)] == [0, 0, 1]


def test_keyed_records_take_no_part_in_it() -> None:
    placement, draws = Placement(4, StickyPartitioner(100)), Draws(1)
    placement.of_keyless(50, draws)
    assert {placement.of_key(key) for key in (b"a", b"b", b"c", b"d", b"e")} <= set(
        range(4)
    ) and placement.of_key(b"a") == partition_for_key(b"a", 4)
    assert (placement.keyless.produced_bytes, placement.last) == (50, 1)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 120), max_size=40),
    st.lists(st.integers(0, DRAW_LIMIT - 1), min_size=45, max_size=45),
    st.integers(1, 6),
)
def test_law_a_partition_gets_at_least_a_batch_before_the_next_draw_and_less_than_one_record_more(
    sizes: list[int], numbers: list[int], partitions: int
) -> None:
    placement, draws = Placement(partitions, StickyPartitioner(200)), Draws(*numbers)
    runs: list[tuple[int, int, int]] = []  # of each stay: partition, bytes, size of its last record
    for size in sizes:
        drawn = len(draws.asked)
        number = placement.of_keyless(size, draws)
        if not drawn:
            runs.append((number, 0, 0))
        expected, so_far, _ = runs[-1]
        assert number == expected == numbers[len(runs) - 1] % partitions
        runs[-1] = (number, so_far + size, size)
        if len(draws.asked) > max(drawn, 1):
            runs.append((numbers[len(draws.asked) - 1] % partitions, 0, 0))
    for _, total, last in runs[:-1]:
        assert total >= 200 > total - last


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

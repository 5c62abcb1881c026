"""Keyed, keyless and group partitions: where the edges are."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.producer.partitioner import (
    PartitionLoads,
    RoundRobinPartitioner,
    StickyPartitioner,
    coordinator_partition,
    next_partition,
    partition_for_key,
)


@given(st.binary(max_size=20), st.integers(1, 100))
def test_a_key_always_has_the_same_partition_of_the_topic(key: bytes, partition_count: int) -> None:
    partition = partition_for_key(key, partition_count)
    assert 0 <= partition < partition_count
    assert partition == partition_for_key(key, partition_count)


def test_a_group_whose_hash_is_the_smallest_integer_lives_in_partition_0() -> None:
    assert coordinator_partition("polygenelubricants") == 0


def test_a_topic_without_partitions_is_refused() -> None:
    for ask in (
        lambda: partition_for_key(b"k", 0),
        lambda: coordinator_partition("g", 0),
        lambda: next_partition(1, [], 0),
    ):
        with pytest.raises(CommandError, match="partition_count"):
            ask()


def test_a_shorter_queue_is_drawn_more_often_and_none_never() -> None:
    loads = PartitionLoads.of([0, 3, 1], [0, 1, 2])
    assert loads is not None
    drawn = Counter(next_partition(random, [0, 1, 2], 3, loads) for random in range(loads.range_end))
    assert drawn == {0: 4, 1: 1, 2: 3}


@pytest.mark.parametrize(
    ("queue_sizes", "usable_count"),
    [([5], None), ([5, 5, 5], None), ([5, 2], 0), ([], None)],
)
def test_the_draw_is_plain_where_queues_tell_nothing(
    queue_sizes: list[int], usable_count: int | None
) -> None:
    assert PartitionLoads.of(queue_sizes, list(range(len(queue_sizes))), usable_count) is None


def test_one_usable_partition_takes_all_once_another_is_excluded() -> None:
    loads = PartitionLoads.of([5, 5], [3, 4], usable_count=1)
    assert loads is not None
    assert {next_partition(random, [3, 4], 5, loads) for random in range(20)} == {3}


def test_a_plain_draw_takes_partitions_with_a_leader_or_else_any() -> None:
    assert [next_partition(random, [2, 5], 6) for random in range(3)] == [2, 5, 2]
    assert [next_partition(random, [], 6) for random in (5, 6)] == [5, 0]


def test_keyless_records_stay_until_a_batch_is_full() -> None:
    keyless = StickyPartitioner(batch_size=100)
    assert keyless.partition is None
    keyless.stick_to(4)
    assert [keyless.append(40) for _ in range(3)] == [False, False, True]
    keyless.stick_to(1)
    assert (keyless.partition, keyless.produced_bytes) == (1, 0)


def test_a_switch_that_would_cut_a_batch_waits_but_not_beyond_two_batches() -> None:
    keyless = StickyPartitioner(batch_size=100)
    keyless.stick_to(0)
    assert [keyless.append(60, may_switch=False) for _ in range(4)] == [False, False, False, True]


def test_the_article_s_round_robin_gives_each_partition_as_many_records() -> None:
    keyless = RoundRobinPartitioner()
    assert Counter(keyless.place(range(12), 12) for _ in range(1200)) == dict.fromkeys(range(12), 100)


def test_round_robin_passes_over_partitions_without_a_leader_unless_none_has_one() -> None:
    assert [RoundRobinPartitioner(count).place([1, 3], 4) for count in range(4)] == [1, 3, 1, 3]
    assert [RoundRobinPartitioner(count).place([], 4) for count in range(5)] == [0, 1, 2, 3, 0]


def test_round_robin_counts_on_past_the_largest_integer() -> None:
    keyless = RoundRobinPartitioner(2**31 - 1)
    assert [keyless.place([], 10) for _ in range(3)] == [7, 0, 1], (
        "2147483647, then its sign bit is cleared: 0, 1"
    )


def test_round_robin_refuses_a_topic_without_partitions_and_stays() -> None:
    keyless = RoundRobinPartitioner()
    with pytest.raises(CommandError, match="partition_count"):
        keyless.place([], 0)
    assert keyless.count == 0

"""`send`: which partition a record gets, when it waits, what it waits for, and when the wait is over."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.state import Unsent
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from tests.core.kafka.client.producer.producer_bench import HEADER, RECORD, SECOND, Bench

ONE_BATCH: dict[str, Any] = {"batch_size": HEADER + RECORD, "buffer_memory": HEADER + RECORD}


def places(bench: Bench) -> list[int]:
    """Partition of each batch, oldest first."""
    return [batch.topic_partition[1] for batch in bench.state.accumulator.batches.values()]


def blocked(bench: Bench) -> list[int]:
    return [record.value for record in bench.state.blocked]


# --- which partition


def test_a_given_partition_comes_before_the_key_and_the_key_before_the_sticky_one() -> None:
    bench = Bench((0, 0, 0), linger_us=SECOND)
    bench.send(1, partition=2, key_hash=7)
    bench.send(2, partition=-1, key_hash=7)  # 7 mod 3
    assert places(bench) == [2, 1] and not bench.state.keyless and not bench.state.transaction.new
    bench.send(3, partition=-1)
    assert bench.state.keyless["t"].partition is not None


@pytest.mark.parametrize("leaders", [(0, 0, -1), (0, 0, 0)])
def test_a_key_counts_all_partitions_also_one_without_a_leader(leaders: tuple[int, ...]) -> None:
    bench = Bench(leaders, linger_us=SECOND)
    bench.send(1, partition=-1, key_hash=5)
    assert places(bench) == [2]


def test_a_key_of_hash_zero_is_a_key() -> None:
    bench = Bench((0, 0, 0), linger_us=SECOND)
    bench.send(1, partition=-1, key_hash=0)
    assert places(bench) == [0] and not bench.state.keyless


def test_keyless_records_go_only_where_somebody_leads() -> None:
    bench = Bench((-1, 0, -1), linger_us=SECOND, batch_size=HEADER + RECORD)
    bench.send(*range(4), partition=-1)
    assert set(places(bench)) == {1}


def test_each_topic_has_a_sticky_partition_of_its_own() -> None:
    bench = Bench((0, 0, 0), linger_us=SECOND)
    bench.state.metadata.counts["u"] = 5
    bench.state.topics["u"] = None
    bench.send(1, partition=-1)
    bench.node.send(Unsent(2, "u", -1, -1, RECORD), 0, bench.out)
    assert [batch.topic_partition for batch in bench.state.accumulator.batches.values()] == [
        ("t", 2**30 % 3),
        ("u", 2**30 % 5),
    ]


def test_the_switch_waits_until_the_batch_is_full_so_that_none_is_cut_short() -> None:
    """batch.size bytes of records have gone there, but the last ones opened a second batch, which is not
    full."""
    bench = Bench((0, 0), linger_us=SECOND, batch_size=1_000, max_in_flight=1)
    draws = iter([0, 1, 0, 1])
    bench.out.draw = lambda stream, limit: next(draws)
    bench.send(*range(9), partition=-1, size=100)  # 900 bytes and the header: a tenth does not fit
    assert places(bench) == [0]
    bench.send(9, partition=-1, size=100)
    assert places(bench) == [0, 0], "more than 1,000 bytes, and the batch of the tenth has just begun"
    bench.send(*range(10, 19), partition=-1, size=100)
    assert places(bench) == [0, 0, 0], "no later than twice batch.size, of records and headers"
    bench.send(19, partition=-1, size=100)
    assert places(bench) == [0, 0, 0, 1]


@pytest.mark.parametrize(("is_adaptive", "turns"), [(True, [0, 1, 1, 2, 2, 2]), (False, [0, 1, 2, 0, 1, 2])])
def test_where_queues_differ_the_draw_is_weighed_and_without_adaptive_partitioning_it_is_not(
    is_adaptive: bool, turns: list[int]
) -> None:
    """Queues of 3, 2 and 1: weights 1, 2, 3. Source: BuiltInPartitioner.updatePartitionLoadStats, its
    cumulative frequency table."""
    went = []
    for draw in range(6):
        bench = Bench(
            (0, 0, 0),
            linger_us=SECOND,
            batch_size=HEADER + RECORD,
            max_in_flight=1,
            adaptive_partitioning=is_adaptive,
        )
        bench.send(0)  # on its way, so that the rest waits
        for partition in (0, 0, 0, 1, 1, 2):
            bench.send(9, partition=partition)
        bench.out.draw = lambda stream, limit, draw=draw: draw
        bench.send(5, partition=-1)
        went.append(places(bench)[-1])
    assert went == turns


@pytest.mark.parametrize(("patience_us", "is_used"), [(0, True), (SECOND, False)])
def test_without_an_availability_timeout_a_slow_broker_gets_keyless_records_all_the_same(
    patience_us: int, is_used: bool
) -> None:
    bench = Bench((0, 0, 1), max_in_flight=1, availability_timeout_us=patience_us, batch_size=HEADER + RECORD)
    for number in range(3):
        bench.send(number, partition=number)
    bench.wake(5 * SECOND)
    draws = iter(range(100))
    bench.out.draw = lambda stream, limit: next(draws)
    before = len(places(bench))
    bench.send(*range(12), partition=-1, now_us=5 * SECOND)
    assert bool({0, 1} & set(places(bench)[before:])) is is_used


# --- what is refused at once


def test_a_partition_that_is_not_there_is_refused_and_nothing_is_counted() -> None:
    bench = Bench((0, 0))
    with pytest.raises(CommandError, match="t has 2 partitions") as refused:
        bench.send(1, partition=2)
    assert (
        refused.value.field == "partition"
        and bench.state.counts.sent == 0
        and not bench.state.accumulator.batches
    )
    bench.send(1, partition=1)
    assert bench.state.counts.sent == 1


def test_before_metadata_a_partition_is_not_judged() -> None:
    bench = Bench((0, 0))
    bench.node.send(Unsent(1, "new", -1, 99, RECORD), 0, bench.out)
    assert blocked(bench) == [1]


# --- waiting for metadata


def test_a_record_of_a_new_topic_waits_for_its_metadata_which_are_asked_for() -> None:
    bench = Bench((0, 0))
    bench.node.send(Unsent(1, "new", -1, -1, RECORD), SECOND, bench.out)
    bench.asked += bench.out.take()
    assert [request.topics for request in bench.waiting(r.MetadataRequest)] == [["t", "new"]] and blocked(
        bench
    ) == [1]
    topics = [r.MetadataTopic("new", 0, [r.MetadataPartition(0, 0, 0, 0, [0], [0], [])])]
    bench.answer(r.MetadataRequest, r.MetadataResponse([r.MetadataBroker(0)], 0, topics), SECOND)
    assert blocked(bench) == [] and [
        batch.topic_partition for batch in bench.state.accumulator.batches.values()
    ] == [("new", 0)]


def test_everything_sent_after_a_record_that_waits_waits_with_it() -> None:
    """One thread calls `send`: the second record's topic is known, and it does not get past the first."""
    bench = Bench((0, 0))
    bench.node.send(Unsent(1, "new", -1, -1, RECORD), 0, bench.out)
    bench.send(2)
    assert blocked(bench) == [1, 2] and bench.produces() == []


def test_metadata_that_do_not_know_the_topic_end_in_a_failure_after_max_block() -> None:
    bench = Bench((0, 0), max_block_us=2 * SECOND)
    bench.node.send(Unsent(1, "new", -1, -1, RECORD), 0, bench.out)
    bench.wake(2 * SECOND - 1)
    assert blocked(bench) == [1] and bench.heard.failures == []
    bench.wake(2 * SECOND)
    assert bench.heard.failures == [("REQUEST_TIMED_OUT", [1])] and bench.state.counts.dropped == 1


# --- waiting for memory


def test_without_memory_a_record_waits_and_goes_with_the_bytes_of_an_ack() -> None:
    bench = Bench(**ONE_BATCH)
    bench.send(1, 2, 3)
    assert blocked(bench) == [2, 3] and bench.produces() == [(0, {0: [1]})]
    bench.produced(now_us=SECOND)
    assert blocked(bench) == [3] and bench.produces() == [(0, {0: [2]})]


def test_each_record_has_max_block_from_when_its_turn_comes() -> None:
    bench = Bench(**ONE_BATCH, max_block_us=SECOND)
    bench.send(1)
    bench.send(2, now_us=100)
    bench.send(3, now_us=200)
    bench.wake(SECOND + 99)
    assert blocked(bench) == [2, 3] and bench.deadline == SECOND + 100
    bench.wake(SECOND + 100)
    assert blocked(bench) == [3] and bench.deadline == 2 * SECOND + 100, "the third one's turn has only come"
    bench.wake(2 * SECOND + 100)
    assert blocked(bench) == [] and [values for _, values in bench.heard.failures] == [[2], [3]]


def test_records_that_failed_in_a_row_are_told_once_until_one_gets_in() -> None:
    bench = Bench(**ONE_BATCH, max_block_us=SECOND)
    bench.send(1, 2, 3, 4)
    bench.wake(SECOND)
    bench.wake(2 * SECOND)
    assert bench.kinds() == ["send_failed"] and bench.out.told[0][1] == {"blocked": 3, "free_bytes": 0}
    bench.produced(now_us=2 * SECOND)  # 4 gets in
    bench.send(5, now_us=2 * SECOND)
    bench.wake(3 * SECOND)
    assert bench.kinds() == ["send_failed", "send_failed"] and bench.state.counts.dropped == 3


def test_while_memory_is_short_nobody_lingers() -> None:
    bench = Bench(batch_size=1_000, buffer_memory=1_000, linger_us=9 * SECOND, max_block_us=2 * SECOND)
    bench.send(1)
    assert bench.produces() == []
    bench.send(2, partition=1)
    assert bench.produces() == [(0, {0: [1]})] and blocked(bench) == [2]


@pytest.mark.parametrize(("size", "fits"), [(1_000 - HEADER, True), (1_001 - HEADER, False)])
def test_a_record_that_is_larger_than_batch_size_needs_its_own_bytes(size: int, fits: bool) -> None:
    bench = Bench(batch_size=200, buffer_memory=1_000)
    bench.send(1, size=size)
    assert (blocked(bench) == []) is fits


# --- ends


def test_a_producer_that_closes_takes_nothing_more() -> None:
    bench = Bench()
    bench.order(o.Close())
    with pytest.raises(CommandError, match="closed"):
        bench.send(1)
    assert bench.state.counts.sent == 0


def test_one_that_has_failed_for_good_refuses_what_waits_and_what_comes() -> None:
    bench = Bench(**ONE_BATCH)
    bench.send(1, 2, 3)
    bench.produced(ErrorCode.PRODUCER_FENCED)
    assert bench.heard.failures == [
        ("PRODUCER_FENCED", [1]),
        ("PRODUCER_FENCED", [2]),
        ("PRODUCER_FENCED", [3]),
    ]
    assert blocked(bench) == [] and bench.state.counts.dropped == 2 and bench.state.counts.failed == 1
    with pytest.raises(CommandError, match="PRODUCER_FENCED"):
        bench.send(4)


def test_in_a_transaction_a_record_makes_its_partition_part_of_it_when_it_gets_in() -> None:
    bench = Bench(transactional_id="tx", enable_idempotence=True, **ONE_BATCH)
    transaction: Any = bench.state.transaction
    transaction.phase = type(transaction.phase).IN_TRANSACTION
    transaction.asked = "AddPartitionsToTxn"
    bench.send(1, partition=1)
    bench.send(2, partition=0)
    assert list(transaction.new) == [("t", 1)] and blocked(bench) == [2], "the second one is in no batch yet"


def test_only_a_batch_that_is_new_or_full_wakes_the_sender() -> None:
    """The original's send() leaves the sender asleep for a record that only joins a batch."""
    bench = Bench(linger_us=5 * SECOND, batch_size=HEADER + 3 * RECORD)
    bench.send(1)
    bench.out.deadlines.clear()
    bench.send(2, now_us=6 * SECOND)
    assert bench.produces() == [] and not bench.out.deadlines
    bench.send(3, now_us=6 * SECOND)
    assert bench.produces() == [(0, {0: [1, 2, 3]})]

"""The sender: which batches leave in which produce, who waits for whom, and when it looks again. By
playbook."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.sender import as_sent
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from tests.core.kafka.client.producer.producer_bench import HEADER, MILLISECOND, RECORD, SECOND, Bench

ALONE: dict[str, Any] = {"batch_size": HEADER + RECORD}
"""A record fills a batch."""
NOT_NOW = ErrorCode.NOT_ENOUGH_REPLICAS


def nobody_leads(bench: Bench) -> None:
    """For a moment: what is sent gathers in batches."""
    bench.state.metadata.leaders["t"].clear()


def somebody_leads(bench: Bench) -> None:
    bench.wake(100 * MILLISECOND)
    bench.refresh(100 * MILLISECOND)


# --- who travels together


def test_one_partition_that_is_due_takes_all_others_of_its_broker_along_and_none_of_another_broker() -> None:
    bench = Bench((0, 0, 1), linger_us=SECOND, batch_size=HEADER + 2 * RECORD)
    bench.send(1, partition=1)
    bench.send(2, partition=2)
    assert bench.produces() == []
    bench.send(3, 4, partition=0, now_us=1)
    assert bench.produces() == [(0, {0: [3, 4], 1: [1]})]


def test_a_produce_takes_one_batch_of_each_partition_and_the_next_one_follows_at_once() -> None:
    bench = Bench((0, 0), linger_us=SECOND, **ALONE, max_in_flight=3)
    nobody_leads(bench)
    bench.send(1, 2, 3)
    bench.send(4, partition=1)
    assert bench.produces() == []
    somebody_leads(bench)
    assert bench.produces() == [(0, {0: [1], 1: [4]}), (0, {0: [2]}), (0, {0: [3]})]


def test_max_request_size_cuts_a_produce_and_the_next_one_begins_where_it_ended() -> None:
    """max.request.size of two batches, three partitions, one request in flight: nobody is left out for
    ever."""
    bench = Bench(
        (0, 0, 0), linger_us=SECOND, **ALONE, max_in_flight=1, max_request_size=2 * (HEADER + RECORD)
    )
    nobody_leads(bench)
    for number in range(3):
        bench.send(number, 10 + number, partition=number)
    somebody_leads(bench)
    seen = []
    while bench.produces():
        ((_, parts),) = bench.produces()
        seen.append(sorted(parts))
        bench.produced()
    assert seen == [[0, 1], [0, 2], [1, 2]]


def test_a_batch_that_is_larger_than_max_request_size_still_goes_alone() -> None:
    bench = Bench((0, 0), max_request_size=10, linger_us=SECOND, **ALONE)
    nobody_leads(bench)
    bench.send(1, size=900)
    bench.send(2, partition=1)
    somebody_leads(bench)
    assert bench.produces() == [(0, {0: [1]}), (0, {1: [2]})]


def test_partitions_of_a_produce_are_in_order_whichever_was_sent_to_first() -> None:
    bench = Bench((0, 0, 0), linger_us=SECOND, batch_size=HEADER + 2 * RECORD)
    for number in (2, 1, 0, 0):
        bench.send(number, partition=number)
    assert [list(parts) for _, parts in bench.produces()] == [[0, 1, 2]]


# --- the limit of requests in flight


@pytest.mark.parametrize("most", [1, 2, 5])
def test_no_more_requests_than_allowed_are_in_flight_to_one_broker_and_each_broker_counts_for_itself(
    most: int,
) -> None:
    bench = Bench((0, 1), **ALONE, max_in_flight=most)
    for value in range(7):
        bench.send(value, partition=0)
        bench.send(value, partition=1)
    assert [len(bench.state.links[broker].flights) for broker in (0, 1)] == [most, most]
    bench.produced(broker=1)
    assert [broker for broker, _ in bench.produces()].count(1) == most, (
        "an answer makes room for the next one"
    )


def test_while_no_request_may_go_records_gather_in_one_batch() -> None:
    bench = Bench((0,), max_in_flight=1)
    bench.send(1, 2, 3)
    bench.produced()
    assert bench.produces() == [(0, {0: [2, 3]})]


def test_with_one_in_flight_a_partition_is_muted_until_its_batch_is_decided_and_others_go_on() -> None:
    bench = Bench((0, 1), max_in_flight=1, **ALONE)
    bench.send(1, 2)
    bench.send(3, partition=1)
    assert list(bench.state.accumulator.muted) == [("t", 0), ("t", 1)]
    bench.produced(broker=1)
    assert list(bench.state.accumulator.muted) == [("t", 0)]
    bench.produced(NOT_NOW, broker=0)
    assert not bench.state.accumulator.muted and bench.produces() == [], (
        "the first waits for its back-off, the second for the first"
    )
    bench.wake(100 * MILLISECOND)
    assert bench.produces() == [(0, {0: [1]})]


def test_a_muted_partition_that_moves_to_another_broker_waits_for_the_word_on_its_batch_at_the_old_one() -> (
    None
):
    bench = Bench((0, 1), max_in_flight=1, **ALONE)
    bench.send(1, 2)
    bench.leaders, bench.epoch = (1, 1), 1
    bench.state.metadata.learn_leader(("t", 0), 1, 1)
    bench.send(3, partition=1)
    assert bench.produces() == [(0, {0: [1]}), (1, {1: [3]})]
    bench.produced(broker=0)
    bench.produced(broker=1)
    assert bench.produces() == [(1, {0: [2]})]


def test_acks_0_waits_for_nobody() -> None:
    bench = Bench((0,), acks=0, **ALONE)
    bench.send(*range(9))
    assert len(bench.produces()) == 9 and not bench.state.links[0].flights
    assert bench.heard.acked_batches == [(-1, [value], 0) for value in range(9)], "where it is nobody knows"
    assert bench.state.accumulator.free == bench.state.settings.buffer_memory


@pytest.mark.parametrize(("acks", "timeout_us"), [(1, 2 * SECOND), (-1, 7 * SECOND)])
def test_a_produce_carries_acks_and_how_long_the_leader_may_wait(acks: int, timeout_us: int) -> None:
    bench = Bench((0,), acks=acks, request_timeout_us=timeout_us)
    bench.send(1)
    (request,) = bench.waiting(r.ProduceRequest)
    assert (request.acks, request.timeout_ms, request.transactional_id) == (acks, timeout_us // 1_000, None)


def test_a_batch_travels_with_its_numbers_its_bytes_and_the_time_of_its_first_record() -> None:
    batch = Batch(1, ("t", 0), 7_654, 0, [5, 6], 300)
    batch.number_from(9, 3, 4, True)
    sent = as_sent(batch)
    header = sent.header
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.is_transactional) == (
        9,
        3,
        4,
        True,
    )
    assert (header.base_timestamp, sent.values, len(sent.data)) == (7, (5, 6), 300)


# --- back-off


def test_a_batch_that_backs_off_holds_up_those_behind_it_but_no_other_partition() -> None:
    bench = Bench((0, 0), **ALONE)
    bench.send(1)
    bench.produced(NOT_NOW)
    bench.send(2, now_us=10)
    bench.send(3, partition=1, now_us=20)
    assert bench.produces() == [(0, {1: [3]})]
    bench.wake(100 * MILLISECOND)
    assert bench.produces()[1:] == [(0, {0: [1]}), (0, {0: [2]})]


def test_each_refusal_doubles_the_wait_up_to_its_most() -> None:
    bench = Bench((0,), retry_backoff_us=100, retry_backoff_max_us=450)
    bench.send(1)
    now_us, waits = 0, []
    for _ in range(5):
        bench.produced(NOT_NOW, now_us=now_us)
        (batch,) = bench.state.accumulator.batches.values()
        waits.append(batch.retry_at_us - now_us)
        bench.wake(batch.retry_at_us - 1)
        assert bench.produces() == []
        now_us = batch.retry_at_us
        bench.wake(now_us)
    assert waits == [100, 200, 400, 450, 450]
    bench.produced(now_us=now_us)
    assert bench.heard.acked_batches == [(0, [1], 5)]


def test_a_newer_leader_epoch_ends_the_back_off_and_the_same_one_does_not() -> None:
    bench = Bench((0,), retry_backoff_us=5 * SECOND, retry_backoff_max_us=5 * SECOND)
    bench.send(1)
    bench.produced(ErrorCode.LEADER_NOT_AVAILABLE)
    for epoch, went in ((0, []), (1, [(0, {0: [1]})])):
        bench.epoch = epoch
        bench.state.metadata.is_wanted, bench.state.metadata.allowed_us = True, 0  # that of metadata is over
        bench.wake(SECOND)
        bench.refresh(SECOND)
        assert bench.produces() == went


# --- without a leader


def test_without_a_leader_a_batch_waits_and_metadata_are_asked_for_until_there_is_one() -> None:
    bench = Bench((-1, 0))
    bench.send(1)
    bench.send(2, partition=1)
    assert bench.produces() == [(0, {1: [2]})] and bench.state.metadata.is_wanted
    bench.wake(100 * MILLISECOND)
    bench.produced(now_us=100 * MILLISECOND)
    bench.leaders, bench.epoch = (1, 0), 1
    bench.refresh(200 * MILLISECOND)
    assert bench.produces() == [(1, {0: [1]})]


# --- when it looks again


def test_it_wakes_for_the_earliest_of_what_is_due() -> None:
    bench = Bench((0,), linger_us=40 * MILLISECOND)
    bench.send(1)
    assert bench.deadline == 40 * MILLISECOND
    bench.wake(40 * MILLISECOND)
    assert bench.deadline == 100 * MILLISECOND, "metadata may be asked for again from then on"
    bench.wake(100 * MILLISECOND)
    assert bench.deadline == 40 * MILLISECOND + 30 * SECOND, "request.timeout.ms of the produce"
    bench.produced(now_us=SECOND)
    bench.wake(31 * SECOND)
    assert bench.deadline == 300 * SECOND, "metadata.max.age.ms, with nothing else to do"


def test_a_deadline_that_comes_too_early_is_kept_and_a_later_one_moves_forward() -> None:
    bench = Bench((0,), linger_us=400 * MILLISECOND)
    bench.wake(100 * MILLISECOND)
    assert bench.deadline == 300 * SECOND
    bench.send(1, now_us=150 * MILLISECOND)
    assert bench.deadline == 550 * MILLISECOND
    bench.send(2, now_us=200 * MILLISECOND)
    assert bench.deadline == 550 * MILLISECOND


def test_delivery_timeout_is_watched_though_nobody_can_be_sent_to() -> None:
    bench = Bench((0,), delivery_timeout_us=SECOND, request_timeout_us=SECOND)
    nobody_leads(bench)
    bench.send(1)
    for now_us in (100 * MILLISECOND, SECOND - 1):
        bench.wake(now_us)
    assert bench.heard.failures == [] and bench.deadline == SECOND
    bench.wake(SECOND)
    assert bench.heard.failures == [("REQUEST_TIMED_OUT", [1])]


# --- close


def test_close_sends_what_lingers_waits_for_its_answers_and_then_hangs_up() -> None:
    bench = Bench((0, 1), linger_us=9 * SECOND)
    bench.send(1)
    bench.send(2, partition=1)
    bench.order(o.Close())
    assert bench.produces() == [(0, {0: [1]}), (1, {1: [2]})] and bench.out.closed == []
    bench.produced(broker=1)
    assert bench.out.closed == []
    bench.produced(broker=0)
    assert (
        sorted(bench.out.closed) == [1, 2] and not bench.state.links and "sender" not in bench.out.deadlines
    )


def test_close_waits_for_a_batch_that_backs_off() -> None:
    bench = Bench((0,))
    bench.send(1)
    bench.produced(NOT_NOW)
    bench.order(o.Close(), 50 * MILLISECOND)
    assert bench.produces() == [] and not bench.out.closed
    bench.wake(100 * MILLISECOND)
    bench.produced(now_us=100 * MILLISECOND)
    assert bench.out.closed and bench.heard.acked_batches == [(0, [1], 1)]


# --- other acks


def test_another_producer_opens_when_all_that_the_one_before_had_is_decided_and_nothing_is_sent_meanwhile() -> (
    None
):
    bench = Bench((0,), linger_us=9 * SECOND, acks=1)
    bench.send(1)
    bench.order(o.Reopen(-1, True))
    assert bench.state.settings.acks == 1
    bench.send(2)
    assert bench.state.blocked and bench.produces() == [(0, {0: [1]})]
    bench.produced(now_us=SECOND, base_offset=7)
    assert bench.out.closed and bench.state.settings.acks == -1 and bench.state.is_idempotent
    bench.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 9, 3), SECOND)
    bench.refresh(SECOND)
    assert not bench.state.blocked
    bench.order(o.Close(), SECOND)
    assert bench.produces() == [(0, {0: [2]})]
    bench.produced(now_us=SECOND, base_offset=8)
    assert bench.heard.acked_batches == [(7, [1], 0), (8, [2], 0)] and bench.heard.failures == []


def test_with_acks_0_nothing_is_awaited_and_the_same_acks_change_nothing() -> None:
    bench = Bench((0,), acks=0)
    bench.order(o.Reopen(0, False))
    assert bench.state.next_settings is None
    bench.send(1)
    bench.order(o.Reopen(1, False))
    assert (bench.state.settings.acks, bench.state.next_settings) == (1, None)


def test_who_waits_for_the_next_producer_waits_however_long_the_one_before_takes() -> None:
    bench = Bench((0,), acks=1, max_block_us=SECOND)
    bench.send(1)
    bench.order(o.Reopen(0, False))
    bench.send(2)
    bench.wake(5 * SECOND)
    assert bench.heard.failures == [] and len(bench.state.blocked) == 1


def test_transactions_need_all_acks() -> None:
    with pytest.raises(CommandError):
        Bench((0,), enable_idempotence=True, transactional_id="x").order(o.Reopen(1, False))

"""What each answer to a produce leads to, as docs/kafka/producer.md has it in its table, for a plain and for
an idempotent producer."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode as E
from tests.core.kafka.client.producer.producer_bench import HEADER, MILLISECOND, RECORD, SECOND, Bench

ALONE: dict[str, Any] = {"batch_size": HEADER + RECORD}
IDEMPOTENT: dict[str, Any] = {"enable_idempotence": True}

AGAIN = [
    E.CORRUPT_MESSAGE,
    E.UNKNOWN_TOPIC_OR_PARTITION,
    E.LEADER_NOT_AVAILABLE,
    E.NOT_LEADER_OR_FOLLOWER,
    E.REQUEST_TIMED_OUT,
    E.NETWORK_EXCEPTION,
    E.NOT_ENOUGH_REPLICAS,
    E.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    E.KAFKA_STORAGE_ERROR,
    E.FENCED_LEADER_EPOCH,
    E.UNKNOWN_LEADER_EPOCH,
]
ASKS_METADATA = [
    E.UNKNOWN_TOPIC_OR_PARTITION,
    E.LEADER_NOT_AVAILABLE,
    E.NOT_LEADER_OR_FOLLOWER,
    E.NETWORK_EXCEPTION,
    E.KAFKA_STORAGE_ERROR,
    E.FENCED_LEADER_EPOCH,
]
FINAL = [
    E.MESSAGE_TOO_LARGE,
    E.RECORD_LIST_TOO_LARGE,
    E.INVALID_REQUIRED_ACKS,
    E.INVALID_TIMESTAMP,
    E.INVALID_RECORD,
    E.UNKNOWN_SERVER_ERROR,
    E.INVALID_TXN_STATE,
    E.INVALID_PRODUCER_EPOCH,
]


@pytest.mark.parametrize("options", [{}, IDEMPOTENT], ids=["plain", "idempotent"])
@pytest.mark.parametrize("code", AGAIN, ids=lambda code: code.name)
def test_after_an_error_that_may_pass_the_same_batch_goes_again_after_the_back_off(
    code: E, options: dict[str, bool]
) -> None:
    bench = Bench((0,), **options)
    bench.send(1)
    before = bench.headers()
    bench.produced(code)
    assert bench.produces() == [] and bench.heard.failures == [] and bench.state.counts.errors == {code: 1}
    assert bench.state.metadata.is_wanted is (code in ASKS_METADATA)
    bench.wake(100 * MILLISECOND)
    assert bench.headers() == before and bench.state.counts.retries == 1
    assert bool(bench.waiting(r.MetadataRequest)) is (code in ASKS_METADATA)


@pytest.mark.parametrize("code", FINAL, ids=lambda code: code.name)
def test_after_any_other_error_the_batch_has_failed_and_nothing_is_tried_again(code: E) -> None:
    bench = Bench((0,))
    bench.send(1)
    bench.produced(code)
    assert bench.heard.failures == [(code.name, [1])] and not bench.state.accumulator.batches
    assert bench.kinds() == ["batch_failed"] and bench.state.counts.retries == 0
    assert bench.out.told[0][1] == {"partition": "t-0", "records": 1, "base_sequence": -1, "batch": 1}


@pytest.mark.parametrize("code", FINAL, ids=lambda code: code.name)
def test_an_idempotent_one_raises_its_epoch_with_it_and_goes_on_at_zero(code: E) -> None:
    bench = Bench((0,), **IDEMPOTENT)
    bench.send(1)
    bench.produced(code)
    assert (
        bench.kinds() == ["id_given", "batch_failed", "epoch_bumped"] and bench.state.counts.epoch_bumps == 1
    )
    bench.send(2)
    assert bench.headers() == [(9, 4, 0)]


def test_a_duplicate_counts_as_acked_without_an_offset_and_the_numbers_go_on() -> None:
    bench = Bench((0,), **IDEMPOTENT)
    bench.send(1)
    bench.produced(E.DUPLICATE_SEQUENCE_NUMBER)
    bench.send(2)
    assert bench.heard.acked_batches == [(-1, [1], 0)] and bench.headers() == [(9, 3, 1)]
    assert bench.state.sequences.of(("t", 0)).last_acked_offset == -1


def test_fenced_ends_the_producer_with_everything_that_waits() -> None:
    bench = Bench((0, 0), **IDEMPOTENT, **ALONE, max_in_flight=1)
    bench.send(1, 2)
    bench.send(3, partition=1)
    bench.produced(E.PRODUCER_FENCED)
    assert sorted(bench.heard.failures) == [("PRODUCER_FENCED", [value]) for value in (1, 2, 3)]
    assert (
        bench.kinds()[-1] == "fenced"
        and bench.state.sequences.rewrite == {}
        and not bench.state.sequences.is_bump_required
    )


# --- answers for several partitions, and late ones


def test_each_partition_of_a_produce_has_an_answer_of_its_own() -> None:
    bench = Bench((0, 0, 0), linger_us=SECOND, batch_size=HEADER + 2 * RECORD)
    for number in (0, 1):
        bench.send(number, partition=number)
    bench.send(2, 3, partition=2)
    bench.produced(0, E.NOT_ENOUGH_REPLICAS, E.MESSAGE_TOO_LARGE, base_offset=40)
    assert bench.heard.acked_batches == [(40, [0], 0)] and bench.heard.failures == [
        ("MESSAGE_TOO_LARGE", [2, 3])
    ]
    assert [batch.values for batch in bench.state.accumulator.batches.values()] == [[1]]
    assert (bench.state.counts.acked, bench.state.counts.failed) == (1, 2)


def late_in_flight(**options: Any) -> Bench:
    """Partition 1's batch waited 15 of its 30 s for room on the connection, so it is still on its way when
    its time is over."""
    bench = Bench(
        (0, 0), max_in_flight=1, delivery_timeout_us=30 * SECOND, request_timeout_us=30 * SECOND, **options
    )
    bench.send(1)
    bench.send(2, partition=1)
    bench.produced(now_us=15 * SECOND)
    assert bench.produces() == [(0, {1: [2]})]
    bench.wake(30 * SECOND - 1)
    assert bench.heard.failures == []
    bench.wake(30 * SECOND)
    return bench


def test_a_batch_in_flight_whose_time_is_over_fails_and_its_bytes_come_back() -> None:
    bench = late_in_flight()
    assert (
        bench.heard.failures == [("REQUEST_TIMED_OUT", [2])]
        and bench.kinds() == ["batch_expired"]
        and bench.state.counts.expired == 1
    )
    assert (
        bench.state.accumulator.free == bench.state.settings.buffer_memory
        and not bench.state.accumulator.muted
    )


def test_an_answer_that_comes_later_changes_no_record_but_tells_of_the_leader() -> None:
    bench = late_in_flight()
    answer = r.ProducedPartition("t", 1, E.NOT_LEADER_OR_FOLLOWER, current_leader=1, current_leader_epoch=7)
    bench.answer(r.ProduceRequest, r.ProduceResponse([answer]), 31 * SECOND)
    assert bench.state.metadata.leader(("t", 1)) == (1, 7)
    assert (
        len(bench.heard.failures) == 1 and bench.state.counts.errors == {} and bench.state.counts.retries == 0
    )


def test_the_leader_that_an_answer_names_gets_the_batch_at_once_and_an_older_epoch_is_not_believed() -> None:
    for epoch, went in ((4, [1]), (2, [])):
        bench = Bench((0,), retry_backoff_us=SECOND)
        bench.state.metadata.epochs["t", 0] = 3
        bench.state.metadata.leaders["t"][0] = (0, 3)
        bench.send(1)
        bench.answer(
            r.ProduceRequest,
            r.ProduceResponse([r.ProducedPartition("t", 0, E.FENCED_LEADER_EPOCH, -1, -1, 1, epoch)]),
        )
        assert [broker for broker, _ in bench.produces()] == went


# --- how often, and how long


@pytest.mark.parametrize("retries", [1, 3])
def test_with_retries_used_up_the_batch_fails_with_the_last_error(retries: int) -> None:
    bench = Bench((0,), retries=retries)
    bench.send(1)
    for attempt in range(retries + 1):
        bench.produced(E.NOT_ENOUGH_REPLICAS, now_us=attempt * SECOND)
        bench.wake((attempt + 1) * SECOND)
    assert bench.heard.failures == [("NOT_ENOUGH_REPLICAS", [1])] and bench.kinds() == ["retries_exhausted"]
    assert bench.state.counts.retries == retries and bench.state.counts.requests == retries + 1


def test_an_idempotent_one_keeps_its_epoch_when_retries_are_used_up_because_the_broker_may_have_the_batch() -> (
    None
):
    """Sender.failBatch: numbers are only given again where the last refusal was final."""
    bench = Bench((0,), **IDEMPOTENT, retries=1)
    bench.send(1)
    bench.produced(E.NOT_ENOUGH_REPLICAS)
    bench.wake(SECOND)
    bench.produced(E.NOT_ENOUGH_REPLICAS, now_us=SECOND)
    assert bench.heard.failures == [("NOT_ENOUGH_REPLICAS", [1])] and "epoch_bumped" not in bench.kinds()


def test_no_retry_begins_after_the_delivery_timeout() -> None:
    bench = Bench((0,), delivery_timeout_us=SECOND, request_timeout_us=SECOND)
    bench.send(1)
    bench.produced(E.NOT_ENOUGH_REPLICAS, now_us=SECOND)
    assert bench.heard.failures == [("NOT_ENOUGH_REPLICAS", [1])] and bench.state.counts.retries == 0


# --- sequences of an idempotent producer


def test_an_expired_batch_that_was_sent_once_leaves_no_doubt() -> None:
    """Sender.sendProducerData marks a partition unresolved only for a batch that is in retry."""
    bench = late_in_flight(**IDEMPOTENT)
    assert bench.state.sequences.unresolved == {} and "epoch_bumped" not in bench.kinds()


def test_one_that_was_sent_again_leaves_its_partition_in_doubt_until_the_gap_behind_it_costs_the_epoch() -> (
    None
):
    bench = Bench(
        (0, 0), **IDEMPOTENT, **ALONE, delivery_timeout_us=30 * SECOND, request_timeout_us=30 * SECOND
    )
    bench.send(1)
    bench.produced(E.NOT_ENOUGH_REPLICAS)
    bench.wake(15 * SECOND)
    bench.send(2, now_us=15 * SECOND)
    bench.wake(30 * SECOND)
    assert bench.heard.failures == [("REQUEST_TIMED_OUT", [1])] and bench.state.sequences.unresolved == {
        ("t", 0): 1
    }
    bench.send(3, now_us=30 * SECOND)
    bench.send(4, partition=1, now_us=30 * SECOND)
    assert [parts for _, parts in bench.produces()] == [{0: [1]}, {0: [2]}, {1: [4]}], (
        "nothing new is numbered in the partition in doubt"
    )
    bench.produced(E.NOT_ENOUGH_REPLICAS, now_us=31 * SECOND)  # nobody waits for this answer any more
    bench.produced(E.OUT_OF_ORDER_SEQUENCE_NUMBER, now_us=31 * SECOND)
    assert bench.kinds()[-1] == "epoch_bumped" and bench.state.sequences.unresolved == {}
    bench.produced(now_us=31 * SECOND)
    bench.wake(32 * SECOND)
    assert (bench.produces(), bench.headers()) == ([(0, {0: [2]}), (0, {0: [3]})], [(9, 4, 0), (9, 4, 1)])


def test_out_of_order_behind_one_that_is_still_on_its_way_is_sent_again_under_the_same_number() -> None:
    bench = Bench((0,), **IDEMPOTENT, **ALONE)
    bench.send(1, 2)
    bench.produced(E.NOT_ENOUGH_REPLICAS)
    bench.produced(E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    bench.wake(100 * MILLISECOND)
    assert bench.headers() == [(9, 3, 0)], "the second waits until the first is decided"
    bench.produced(now_us=100 * MILLISECOND)
    bench.wake(200 * MILLISECOND)
    assert bench.headers() == [(9, 3, 1)] and bench.state.counts.epoch_bumps == 0


def test_out_of_order_right_behind_what_was_acked_is_a_gap_and_costs_the_epoch() -> None:
    bench = Bench((0, 0), **IDEMPOTENT, **ALONE)
    bench.send(1)
    bench.produced()
    bench.send(2, 3)
    bench.send(4, partition=1)
    bench.produced(E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert bench.kinds()[-1] == "epoch_bumped" and bench.state.counts.epoch_bumps == 1
    sequences = {
        batch.values[0]: (batch.producer_epoch, batch.base_sequence)
        for batch in bench.state.accumulator.batches.values()
    }
    assert sequences == {2: (4, 0), 3: (4, 1), 4: (3, 0)}, (
        "what is in flight to the other partition keeps its numbers"
    )


def test_before_2_5_a_gap_fails_the_batch_and_costs_the_id_once_nothing_is_in_flight() -> None:
    bench = Bench((0,), **IDEMPOTENT, **ALONE, bumps_epoch=False)
    bench.send(1)
    bench.produced()
    bench.send(2, 3)
    bench.produced(E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert (
        bench.heard.failures == [("OUT_OF_ORDER_SEQUENCE_NUMBER", [2])]
        and bench.state.sequences.producer_id == 9
    ), "another is in flight"
    bench.produced(E.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert bench.kinds()[-1] == "id_given_up" and bench.waiting(t.InitProducerIdRequest) == [
        t.InitProducerIdRequest()
    ]
    bench.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 10, 0))
    bench.send(4)
    assert bench.headers() == [(10, 0, 0)]


def test_a_forgotten_producer_raises_its_epoch_and_sends_the_batch_again_at_zero() -> None:
    bench = Bench((0,), **IDEMPOTENT)
    bench.send(1)
    bench.produced(base_offset=5)
    bench.send(2)
    bench.produced(E.UNKNOWN_PRODUCER_ID, log_start=3)
    assert bench.state.counts.epoch_bumps == 1
    bench.wake(100 * MILLISECOND)
    assert bench.headers() == [(9, 4, 0)]


# --- no answer at all


def test_every_batch_on_a_connection_that_breaks_comes_back_in_order_and_metadata_are_asked_for() -> None:
    bench = Bench((0, 1), **IDEMPOTENT, **ALONE)
    bench.send(1, 2, 3)
    bench.send(4, partition=1)
    bench.breaks(0)
    assert bench.state.counts.lost_answers == 3 and bench.state.counts.errors == {E.NETWORK_EXCEPTION: 3}
    assert [
        bench.state.accumulator.batches[number].values for number in bench.state.accumulator.queues["t", 0]
    ] == [[1], [2], [3]]
    assert bench.waiting(r.MetadataRequest) or bench.state.metadata.is_wanted
    bench.produced(broker=1, now_us=10)
    for now_us in (100 * MILLISECOND, 200 * MILLISECOND, 300 * MILLISECOND):
        bench.wake(now_us)
    assert bench.produces() == [(0, {0: [1]})], "with idempotence those behind it wait until it is decided"
    bench.produced(now_us=300 * MILLISECOND)
    assert bench.heard.acked_batches[-1] == (0, [1], 1)

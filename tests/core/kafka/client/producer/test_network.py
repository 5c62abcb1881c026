"""A producer's connections: whom it asks, what breaks with one, and how long a broker is left alone
afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.producer import network
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import Flight, Link, ProducerState
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import PERSON, Closed
from tests.core.kafka.client.producer.producer_bench import MILLISECOND, SECOND, Bench, Heard, Middle
from tests.core.playbook import play


def of(*busy: int, known: tuple[int, ...] = (), most: int = 2) -> ProducerState:
    """A producer with connections to brokers 0, 1 ... and so many requests on each."""
    state = ProducerState.of(ProducerSettings(max_in_flight=most))
    state.metadata.brokers = list(known)
    for broker, count in enumerate(busy):
        state.links[broker] = Link(10 + broker)
        state.links[broker].flights.extend(Flight("produce", 100 * number) for number in range(count))
    return state


# --- whom it asks what any broker can answer


@pytest.mark.parametrize(
    ("busy", "known", "asked"),
    [
        ((1, 0), (0, 1, 2), 1),  # connected, with the fewest requests; 2 is not connected
        ((1, 1), (0, 1), 0),
        ((2, 2), (0, 1), None),  # none takes another request
        ((2, 2), (0, 1, 7), 7),
        ((), (), None),
    ],
)
def test_the_connected_broker_with_the_fewest_requests_else_another_one(
    busy: tuple[int, ...], known: tuple[int, ...], asked: int | None
) -> None:
    out: Any = Middle("p")
    assert network.least_loaded(of(*busy, known=known), 0, out) == asked


def test_before_metadata_it_asks_a_bootstrap_broker_and_afterwards_only_those_that_are_there() -> None:
    state = of()
    state.bootstrap = [4, 5]
    out: Any = Middle("p")
    assert network.least_loaded(state, 0, out) == 5
    state.metadata.brokers = [8]
    assert network.least_loaded(state, 0, out) == 8


# --- requests without an answer


@pytest.mark.parametrize(("after_us", "is_overdue"), [(30 * SECOND - 1, False), (30 * SECOND, True)])
def test_a_request_without_an_answer_for_request_timeout_breaks_the_connection_and_all_on_it_come_back(
    after_us: int, is_overdue: bool
) -> None:
    bench = Bench((0, 1))
    bench.send(1, now_us=SECOND)
    bench.send(2, now_us=2 * SECOND)
    bench.send(3, partition=1, now_us=2 * SECOND)
    bench.wake(SECOND + after_us)
    assert (bench.out.closed == [1]) is is_overdue and (bench.out.blamed == [1]) is is_overdue
    assert bench.state.counts.lost_answers == (2 if is_overdue else 0) and 1 in bench.state.links


def test_only_the_oldest_request_of_a_connection_has_a_clock() -> None:
    bench = Bench((0,))
    bench.send(1, now_us=SECOND)
    bench.send(2, now_us=20 * SECOND)
    bench.produced(now_us=30 * SECOND)
    bench.wake(31 * SECOND)
    assert bench.out.closed == []
    bench.wake(50 * SECOND)
    assert bench.out.closed == [1]


# --- reconnecting


def test_a_broker_is_left_alone_for_longer_each_time_up_to_a_second_until_it_answers() -> None:
    bench = Bench((0, 1), acks=0)
    waits, now_us = [], SECOND
    for _ in range(7):
        bench.breaks(0, now_us)
        waits.append(bench.state.peers[0].connect_at_us - now_us)
        now_us = bench.state.peers[0].connect_at_us
        bench.send(1, now_us=now_us)  # over a new connection, which answers nothing
    assert waits == [ms * MILLISECOND for ms in (50, 100, 200, 400, 800, 1_000, 1_000)]


def test_an_answer_ends_the_row_of_broken_connections() -> None:
    bench = Bench((0,))
    for now_us in (SECOND, 2 * SECOND, 3 * SECOND):
        bench.breaks(0, now_us)
        bench.wake(now_us + SECOND // 2)
    assert bench.state.peers[0].failures == 3
    bench.refresh(4 * SECOND)
    bench.breaks(0, 5 * SECOND)
    assert bench.state.peers[0].connect_at_us == 5 * SECOND + 50 * MILLISECOND


def test_a_batch_for_a_broker_that_is_left_alone_waits_for_it_and_the_sender_wakes_then() -> None:
    bench = Bench((0,), retry_backoff_us=0, retry_backoff_max_us=0)
    bench.breaks(0, SECOND)
    bench.send(1, now_us=SECOND)
    assert bench.produces() == [] and bench.deadline == SECOND + 50 * MILLISECOND
    bench.wake(bench.deadline)
    assert bench.produces() == [(0, {0: [1]})]


def test_an_answer_on_a_connection_that_was_given_up_says_nothing() -> None:
    bench = Bench((0,))
    bench.send(1)
    connection = bench.state.links[0].connection
    bench.wake(30 * SECOND)
    play(
        bench.node,
        bench.out,
        connection,
        r.ProduceResponse([r.ProducedPartition("t", 0, 0, 0)]),
        now_us=31 * SECOND,
    )
    assert bench.heard.acked_batches == [] and len(bench.state.accumulator.batches) == 1


def test_a_connection_that_nobody_knows_breaks_nothing() -> None:
    bench = Bench((0,))
    bench.send(1)
    play(bench.node, bench.out, 99, Closed("reset"))
    assert list(bench.state.links) == [0] and bench.state.counts.lost_answers == 0


def test_a_broken_connection_is_a_reason_to_ask_who_leads() -> None:
    bench = Bench((0, 1))
    bench.send(1, partition=1)
    bench.wake(SECOND)
    bench.breaks(1, SECOND)
    assert len(bench.waiting(r.MetadataRequest)) == 1


# --- which brokers are slow


def test_a_broker_counts_as_slow_from_when_a_batch_for_it_was_due_and_it_took_none() -> None:
    bench = Bench((0, 0), max_in_flight=1, availability_timeout_us=SECOND)
    bench.send(1)
    there = bench.state.peers[0]
    assert (there.due_us, there.taken_us) == (0, 0)
    bench.send(2, partition=1, now_us=5)
    bench.wake(2 * SECOND)
    assert (there.due_us, there.taken_us) == (2 * SECOND, 0)
    bench.produced(now_us=3 * SECOND)
    assert (there.due_us, there.taken_us) == (3 * SECOND, 3 * SECOND)


@pytest.mark.parametrize(("after_us", "is_used"), [(SECOND, True), (SECOND + 1, False)])
def test_a_slow_broker_gets_no_keyless_records_after_the_availability_timeout(
    after_us: int, is_used: bool
) -> None:
    bench = Bench((0, 0, 1), max_in_flight=1, availability_timeout_us=SECOND, batch_size=161)
    for number in range(3):
        bench.send(number, partition=number)
    bench.wake(after_us)
    draws = iter([0, 1, 2, 3] * 10)
    bench.out.draw = lambda stream, limit: next(draws)
    before = len(bench.state.accumulator.batches)
    bench.send(*range(12), partition=-1, now_us=after_us)
    went = {batch.topic_partition[1] for batch in list(bench.state.accumulator.batches.values())[before:]}
    assert bool(went & {0, 1}) is is_used and (2 in went or is_used)


# --- the first connection of all


def test_with_nobody_there_it_goes_on_asking() -> None:
    node = ClusterProducer(ProducerState.of(ProducerSettings(enable_idempotence=False)), Heard())
    out: Any = Middle("p")
    ((connection, _),) = play(node, out, PERSON, o.Connect([3], ["t"]))
    assert out.connected == {1: "broker-3"}
    assert (
        play(node, out, connection, Closed("refused"), now_us=SECOND) == [] and node.state.metadata.is_wanted
    )
    waits = SECOND + 100 * MILLISECOND  # retry.backoff.ms, which is more than reconnect.backoff.ms
    while not out.sent:
        node.wake("sender", out.deadlines.pop("sender"), out)
    assert node.state.links and node.state.metadata.is_asked and out.connected[2] == "broker-3"
    assert (
        node.state.metadata.allowed_us == waits
        and ErrorCode.NETWORK_EXCEPTION not in node.state.counts.errors
    )

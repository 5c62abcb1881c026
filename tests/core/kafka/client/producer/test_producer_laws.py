"""Laws of the producer against brokers that answer anything at all: every record gets one last word, and
every byte comes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.plain import from_plain, to_plain
from tests.core.kafka.client.producer.producer_bench import HEADER, MILLISECOND, RECORD, SECOND, Bench

CODES = [
    E.NONE,
    E.NONE,
    E.NONE,
    E.NOT_ENOUGH_REPLICAS,
    E.NOT_LEADER_OR_FOLLOWER,
    E.REQUEST_TIMED_OUT,
    E.MESSAGE_TOO_LARGE,
    E.OUT_OF_ORDER_SEQUENCE_NUMBER,
    E.DUPLICATE_SEQUENCE_NUMBER,
    E.UNKNOWN_PRODUCER_ID,
    E.INVALID_TIMESTAMP,
]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(-1, 2)),
        st.tuples(st.just("send"), st.integers(0, 2)),
        st.tuples(st.just("answer"), st.integers(0, len(CODES) - 1)),
        st.tuples(st.just("break"), st.integers(0, 1)),
        st.tuples(st.just("wait"), st.sampled_from([1, 60, 150, 900, 2_500])),
        st.tuples(st.just("move"), st.integers(0, 2)),
    ),
    max_size=40,
)


class Chaos:
    """Three partitions on two brokers, batches of two records, room for six of them."""

    def __init__(self, **options: Any) -> None:
        self.bench = Bench(
            (0, 1, 0),
            batch_size=HEADER + 2 * RECORD,
            buffer_memory=6 * (HEADER + 2 * RECORD),
            max_block_us=SECOND,
            request_timeout_us=2 * SECOND,
            delivery_timeout_us=6 * SECOND,
            **options,
        )
        self.now_us, self.sent = 0, 0
        self.on_wire: dict[tuple[int, ...], list[int]] = {}
        self.most = self.bench.state.settings.max_in_flight

    def step(self, what: str, number: int) -> None:
        bench = self.bench
        match what:
            case "send":
                bench.send(self.sent, partition=number, now_us=self.now_us)
                self.sent += 1
            case "answer":
                self.answer(CODES[number])
            case "break" if number in bench.state.links:
                bench.breaks(number, self.now_us)
            case "wait":
                self.now_us += number * MILLISECOND
                closed = len(bench.out.closed)
                bench.wake(self.now_us)
                gone = set(bench.out.closed[closed:])  # nobody answers on a connection that is closed
                bench.asked = [
                    (connection, message) for connection, message in bench.asked if connection not in gone
                ]
            case "move":
                leaders = list(bench.leaders)
                leaders[number] = 1 - leaders[number]
                bench.leaders, bench.epoch = tuple(leaders), bench.epoch + 1
        self.look()

    def answer(self, code: E) -> None:
        """The oldest request of all is answered; a produce with this code for each partition."""
        bench = self.bench
        if not bench.asked:
            return
        connection, message = bench.asked[0]
        broker = bench.broker_of(connection)
        if isinstance(message, r.ProduceRequest):
            bench.produced(
                *[code] * len(message.partitions), now_us=self.now_us, broker=broker, base_offset=5
            )
        elif isinstance(message, r.MetadataRequest):
            bench.answer(r.MetadataRequest, bench.metadata(), self.now_us, broker)
        else:
            bench.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 50, 0), self.now_us, broker)

    def look(self) -> None:
        """What holds after every step."""
        state, bench = self.bench.state, self.bench
        assert all(len(link.flights) <= self.most for link in state.links.values())
        assert (
            state.accumulator.free + sum(batch.reserved for batch in state.accumulator.batches.values())
            == state.settings.buffer_memory
        )
        for request in bench.waiting(r.ProduceRequest):
            for part in request.partitions:
                header = part.records.header
                if state.is_idempotent:
                    name = (header.producer_id, header.producer_epoch, part.index, header.base_sequence)
                    values = list(part.records.values)
                    assert self.on_wire.setdefault(name, values) == values, (
                        "one number means one batch, also when it is sent again"
                    )

    def settle(self) -> None:
        """All goes well from now on, until every record has its last word."""
        for _ in range(60):
            while self.bench.asked:
                self.answer(E.NONE)
                self.look()
            if not (self.bench.state.accumulator.batches or self.bench.state.blocked):
                return
            self.step("wait", 150)
        raise AssertionError("it does not come to rest")


KINDS = [
    {},
    {"max_in_flight": 1},
    {"enable_idempotence": True},
    {"enable_idempotence": True, "max_in_flight": 2},
]


@pytest.mark.parametrize("options", KINDS, ids=str)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_law_every_record_gets_one_last_word_and_every_byte_comes_back(
    options: dict[str, Any], steps: list[tuple[str, int]]
) -> None:
    chaos = Chaos(**options)
    for what, number in steps:
        chaos.step(what, number)
    chaos.settle()
    bench, state = chaos.bench, chaos.bench.state
    acked = [value for _, values, _ in bench.heard.acked_batches for value in values]
    failed = [value for _, values in bench.heard.failures for value in values]
    assert sorted(acked + failed) == list(range(chaos.sent))
    assert (
        state.accumulator.free == state.settings.buffer_memory
        and not state.accumulator.muted
        and not state.accumulator.queues
    )
    assert state.counts.acked + state.counts.failed + state.counts.dropped == state.counts.sent == chaos.sent
    assert not any(entry.in_flight for entry in state.sequences.partitions.values())
    assert from_plain(to_plain(state), ProducerState) == state


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_law_a_producer_that_is_closed_at_any_moment_comes_to_rest_and_hangs_up(
    steps: list[tuple[str, int]],
) -> None:
    chaos = Chaos(enable_idempotence=True)
    for what, number in steps:
        chaos.step(what, number)
    chaos.bench.order(o.Close(), chaos.now_us)
    chaos.settle()
    chaos.step("wait", 150)
    assert not chaos.bench.state.links and "sender" not in chaos.bench.out.deadlines

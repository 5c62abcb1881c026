"""Records that are written several in a step: the broker, the producer and a group are what one step a record
makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka import requests as r
from broker_core.kafka.broker import Broker, BrokerState, PartitionRecords
from broker_core.kafka.client.consumer import Consumer, ConsumerState, Join
from broker_core.kafka.client.producer import plain
from broker_core.kafka.client.producer.plain import Producer, ProducerState
from broker_core.kafka.producer.partitioner import StickyPartitioner
from broker_core.kafka.producer.placement import Placement
from broker_core.kafka.written import written
from broker_core.sim.keeping import keep
from broker_core.sim.program import Leave, Pace, Pause, Program, Resume
from broker_core.sim.stream import Stream
from broker_core.sim.world import Design, World
from tests.core.playbook import Counted

PARTITIONS = 3
NO_KEY = -1
Records = list[tuple[int, int]]
"""(milliseconds after the one before, key or NO_KEY) of each."""


class Lane:
    """A broker, a producer and so many consumers of one group, whose records come as `kind` has it."""

    def __init__(self, kind: str, consumers: int) -> None:
        self.traffic: Any = Counted()
        kinds: dict[str, tuple[type, Any]] = {
            "broker": (BrokerState, Broker),
            "consumer": (
                ConsumerState,
                lambda own: Consumer(own, self.traffic, lambda number, offset, end: None),
            ),
            "producer": (
                ProducerState,
                lambda own: Producer(own, {key: key % PARTITIONS for key in range(9)}),
            ),
        }
        messages = r.Request | Join | Leave | Pause | Resume | Pace | plain.Connect
        self.world = World("k", Design(kinds, messages, jitter_us=200), 7)
        self.world.start("broker", "broker", BrokerState([PartitionRecords() for _ in range(PARTITIONS)]))
        self.world.start("producer", "producer", ProducerState(Placement(PARTITIONS, StickyPartitioner(300))))
        self.world.order("producer", plain.Connect("broker"))
        for number in range(consumers):
            name = f"c{number}"
            self.world.start(
                name, "consumer", ConsumerState(name, "g", "t", PARTITIONS, "range", Program(2_000))
            )
            self.world.order(name, Join("broker"))
        slot = self.world.slots["producer"]
        node: Any = slot.node

        def publish(number: int, key: int) -> tuple[int, r.ProduceRequest]:
            sent: tuple[int, r.ProduceRequest] = (
                node.send_keyless(number, size_of(number), slot) if key == NO_KEY else node.send(number, key)
            )
            return sent

        self.stream: Stream = (
            written(slot, self.world.slots["broker"], publish, size_of)
            if kind == "written"
            else Stream(slot, publish)
        )

    def run(self, records: Records, stops_ms: list[int]) -> list[Any]:
        """What the logs and the producer are at each stop, and the whole world at the end. Records begin once
        the group is complete."""
        begin_us, times = 8_000_000, list[int]()
        self.world.advance(begin_us)
        for wait_ms, _ in records:
            times.append((times[-1] if times else begin_us) + wait_ms * 1_000)
        seen: list[Any] = []
        handed = 0
        for stop_ms in [*sorted(stops_ms), 500]:
            until_us = begin_us + stop_ms * 1_000
            coming = [at_us for at_us in times[handed:] if at_us <= until_us]
            self.stream.plan(coming, [key for _, key in records[handed : handed + len(coming)]], handed)
            handed += len(coming)
            self.world.advance(until_us, self.stream)
            self.stream.catch_up(until_us + 1)
            broker: Any = self.world.node("broker")
            producer: Any = self.world.node("producer")
            seen.append([(log.end, list(log.records)) for log in broker.state.logs])
            seen.append(
                (
                    producer.state.placement.keyless.partition,
                    producer.state.placement.keyless.produced_bytes,
                    list(self.traffic.log),
                )
            )
        self.world.told.clear()
        return [*seen, keep(self.world)]


def size_of(number: int) -> int:
    return 50 + number % 7 * 20


RECORDS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([NO_KEY, 0, 1, 2, 5])), max_size=30)


@settings(max_examples=15, deadline=None)
@given(RECORDS, st.lists(st.integers(1, 300), max_size=2), st.integers(0, 2))
def test_law_several_records_in_a_step_make_the_world_that_one_step_a_record_makes(
    records: Records, stops_ms: list[int], consumers: int
) -> None:
    assert Lane("written", consumers).run(records, stops_ms) == Lane("stream", consumers).run(
        records, stops_ms
    )


def test_a_fetch_that_waits_is_answered_with_the_record_that_ends_its_wait_and_at_its_moment() -> None:
    lane = Lane("written", 1)
    (*_, logs, (_, _, handled), _) = lane.run([(5, 0), (1, 0), (90, 1)], [])
    assert [records for _, records in logs] == [[0, 1], [2], []]
    assert [number for what, number in handled if what == "handled"] == [0, 1, 2]


@pytest.mark.parametrize("kind", ["written", "stream"])
def test_without_anybody_who_reads_records_are_there_all_the_same(kind: str) -> None:
    (*_, logs, (partition, produced_bytes, handled), _) = Lane(kind, 0).run([(1, NO_KEY)] * 6 + [(1, 2)], [])
    assert sum(end for end, _ in logs) == 7 and logs[2][1][-1] == 6 and handled == []
    assert partition is not None and produced_bytes < 300 + size_of(6)

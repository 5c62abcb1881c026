"""A producer's messages that are written without a step of the world: brokers, consumers and counts are as if
each had been sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.plain import to_plain
from broker_core.sim.keeping import keep
from broker_core.sim.stream import Stream
from broker_core.sim.world import World
from broker_core.sim.written import Unread
from broker_core.tubemq.client.producer import NO_KEY
from broker_core.tubemq.written import written
from tests.core.tubemq.test_faults import KEYS, begun, handled, partitions, state

BEGIN_US = 5 * SECOND_US


class Run:
    """Two consumers that read, and a stream of the producer's. is_written: without steps, else a step for
    each message."""

    def __init__(self, is_written: bool) -> None:
        self.world, self.traffic = begun()
        slot = self.world.slots["producer"]
        producer: Any = slot.node
        self.stream: Stream = written(slot) if is_written else Stream(slot, producer.send)
        self.sent = 0

    def go(self, until_us: int, times: list[int], codes: list[int]) -> None:
        self.stream.plan(times, codes, self.sent)
        self.sent += len(times)
        self.world.advance(until_us, self.stream.steps if isinstance(self.stream, Unread) else self.stream)
        self.stream.catch_up(until_us + 1)

    def seen(self) -> Any:
        self.world.told.clear()
        return keep(self.world), self.traffic.log


MESSAGES = st.lists(
    st.tuples(st.integers(0, 3_000), st.sampled_from((NO_KEY, NO_KEY, 0, 1, 5, 8))), max_size=60
)


@given(MESSAGES, st.lists(st.integers(0, 4_000), max_size=4))
@settings(max_examples=30)
def test_who_looks_finds_what_a_step_a_message_would_have_made(
    messages: list[tuple[int, int]], looks: list[int]
) -> None:
    ordered = sorted(messages, key=lambda message: message[0])
    runs = Run(True), Run(False)
    begin_ms = 0
    for look_ms in [*sorted(looks), 4_500]:
        until_us = BEGIN_US + look_ms * MILLISECOND_US
        part = [message for message in ordered if begin_ms <= message[0] < look_ms]
        for run in runs:
            run.go(
                until_us, [BEGIN_US + at_ms * MILLISECOND_US for at_ms, _ in part], [code for _, code in part]
            )
        assert runs[0].seen() == runs[1].seen()
        begin_ms = max(begin_ms, look_ms)
    assert sorted(handled(runs[0].traffic)) == list(range(len(messages)))


def test_messages_without_a_key_go_round_and_those_of_a_key_stay_with_its_partition() -> None:
    run = Run(True)
    codes = [NO_KEY, 4, NO_KEY, 4, NO_KEY, 10]
    run.go(BEGIN_US + SECOND_US, [BEGIN_US + place for place in range(6)], codes)
    assert {key: partition.end for key, partition in partitions(run.world).items() if partition.end} == {
        KEYS[0]: 1, KEYS[1]: 1, KEYS[2]: 1, KEYS[4]: 3,
    }  # fmt: skip
    assert state(run.world, "producer").sent == {
        key: partition.end for key, partition in partitions(run.world).items()
    }
    assert state(run.world, "producer").turn == 3


@pytest.mark.parametrize("is_written", [True, False])
def test_cut_to_a_broker_holds_its_messages_until_it_heals(is_written: bool) -> None:
    run = Run(is_written)
    world: World = run.world
    connection = world.connection("producer", "b1")
    assert connection is not None
    world.cut(connection)
    run.go(BEGIN_US + SECOND_US, [BEGIN_US + place * 1_000 for place in range(12)], [NO_KEY] * 12)
    ends = {key: partition.end for key, partition in partitions(world).items()}
    assert ends == {key: 0 if key.startswith("1:") else 2 for key in KEYS}
    assert world.slots["producer"].unsent(connection) == 6
    world.heal(connection)
    run.go(BEGIN_US + 3 * SECOND_US, [BEGIN_US + SECOND_US + 5_000], [0])
    assert {key: partition.end for key, partition in partitions(world).items()} == dict.fromkeys(KEYS, 2) | {
        KEYS[0]: 3
    }
    assert sorted(handled(run.traffic)) == list(range(13))


def test_messages_are_numbered_through_all_plans_and_read_in_that_order() -> None:
    run = Run(True)
    for place in range(3):
        begin_us = BEGIN_US + place * SECOND_US
        run.go(begin_us + SECOND_US, [begin_us, begin_us + 1], [3, 3])
    log = partitions(run.world)[KEYS[3]].log
    assert log.messages == [0, 1, 2, 3, 4, 5] and to_plain(log) == {"start": 0, "steps": [0, 1, 1, 1, 1, 1]}
    assert handled(run.traffic) == [0, 1, 2, 3, 4, 5]

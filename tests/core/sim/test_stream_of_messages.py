"""A stream is the same as its publisher sending each message at its time, whatever happens meanwhile."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.sim.arrivals import Arrivals, Stream
from broker_core.sim.design import Design
from broker_core.sim.keeping import keep
from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.sim.world import World

END_US = 30_000


class Word(msgspec.Struct, frozen=True, tag="word", array_like=True):
    number: int


class Open(msgspec.Struct, frozen=True, tag="open", array_like=True):
    """A person starts the publisher."""


@dataclass(slots=True)
class State:
    """connections: of the publisher, to each of the two readers. heard: (when, connection, number) of a
    reader."""

    connections: list[int] = field(default_factory=list)
    heard: list[tuple[int, int, int]] = field(default_factory=list)


class Toy:
    """A publisher that beats beside its stream, and readers that write down what reaches them and speak up at
    each tenth word."""

    def __init__(self, state: State) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case Open():
                self.state.connections = [out.connect("r0"), out.connect("r1")]
                out.deadline("beat", now_us + 3_000)
            case Word(number):
                self.state.heard.append((now_us, connection, number))
                if number % 10 == 0:
                    out.tell("toy.tenth", None, {}, {"number": number})
                    out.deadline("echo", now_us + number % 3)
            case Opened() | Closed():
                pass

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if name == "echo":
            self.state.heard.append((now_us, 0, 0))
            return
        for connection in self.state.connections:
            out.send(connection, Word(-1))
        out.deadline("beat", now_us + 3_000)


DESIGN = Design({"toy": (State, Toy)}, Word | Open, delay_us=700, jitter_us=300)


class Run:
    """One world with a stream of the moments in `times`; `sent` counts what the publisher was handed."""

    def __init__(self, times: list[int]) -> None:
        self.times, self.sent = times, 0
        self.world = World("toy", DESIGN, 7, self.told, self.heard)
        self.seen: list[tuple[int, int]] = []
        for name in ("p", "r0", "r1"):
            self.world.start(name, "toy", State())
        self.world.order("p", Open())
        self.stream = Stream(self.world.slots["p"], self.publish)

    def publish(self, number: int, key: int) -> tuple[int, Word]:
        assert number == self.sent
        self.sent += 1
        return self.world.slots["p"].node.state.connections[key], Word(self.sent)

    def heard(self, event: object) -> None:
        self.stream.catch_up(self.world.now_us)
        self.seen.append((self.world.now_us, self.sent))

    def told(self, events: object) -> None:
        self.stream.catch_up(self.world.now_us)

    def go(self, until_us: int, one_by_one: bool) -> None:
        coming = [at_us for at_us in self.times[self.sent :] if at_us <= until_us]
        self.stream.plan(
            coming, [number * 5 % 3 % 2 for number in range(self.sent, self.sent + len(coming))], self.sent
        )
        self.world.advance(until_us, Arrivals(coming, self.stream.post) if one_by_one else self.stream)
        self.stream.catch_up(until_us + 1)

    def digest(self) -> str:
        return hashlib.sha256(json.dumps([keep(self.world), self.seen]).encode()).hexdigest()


def run(
    times: list[int], faults: list[tuple[int, str, int]], stops: list[int], one_by_one: bool = False
) -> str:
    ran = Run(times)
    for at_us, what, which in sorted([*faults, *((at_us, "", 0) for at_us in stops)]):
        ran.go(at_us, one_by_one)
        connection = ran.world.slots["p"].node.state.connections[which]
        cut = any(link.trouble for link in ran.world.of_connection[connection])
        if what == "cut" and not cut:
            ran.world.cut(connection)
        elif what == "heal" and cut:
            ran.world.heal(connection)
        elif what == "slow":
            ran.world.set_delay(connection, 2_000)
    ran.go(END_US, one_by_one)
    return ran.digest()


moments = st.lists(st.integers(1, END_US), max_size=80).map(sorted)
troubles = st.lists(
    st.tuples(st.integers(0, END_US), st.sampled_from(["cut", "heal", "slow"]), st.integers(0, 1)), max_size=4
)
cuts = st.lists(st.integers(0, END_US), max_size=6)


@given(moments, troubles)
@settings(deadline=None)
def test_a_stream_is_what_the_publisher_would_have_sent_message_by_message(times, faults):
    assert run(times, faults, []) == run(times, faults, [], one_by_one=True)


@given(moments, troubles, cuts)
@settings(deadline=None)
def test_stopping_anywhere_changes_nothing(times, faults, stops):
    assert run(times, faults, stops) == run(times, faults, [])


@given(moments, cuts)
@settings(deadline=None)
def test_the_messages_of_a_connection_arrive_in_the_order_in_which_they_were_sent(times, stops):
    ran = Run(times)
    for at_us in (*sorted(stops), END_US, END_US + 5_000):
        ran.go(at_us, one_by_one=False)
    for name in ("r0", "r1"):
        words = [number for _, _, number in ran.world.slots[name].node.state.heard if number > 0]
        assert words == sorted(words)
    assert sum(
        1 for name in ("r0", "r1") for _, _, number in ran.world.slots[name].node.state.heard if number > 0
    ) == len(times)

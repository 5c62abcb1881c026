"""Messages that are written several in a step: the world is the one that one step a message makes, whenever
somebody looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.events import Json
from broker_core.sim.keeping import keep
from broker_core.sim.network import CUT
from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.sim.stream import Stream
from broker_core.sim.world import Design, World
from broker_core.sim.written import Written

END_US = 6_000
BROKERS = ("b0", "b1")
WAITED_FOR = 4
"""Of so many messages one answers who waits, in a world in which somebody does."""


class Word(msgspec.Struct, frozen=True, tag="word", array_like=True):
    number: int


class Ask(msgspec.Struct, frozen=True, tag="ask", array_like=True):
    """How many words have been written?"""


class Answer(msgspec.Struct, frozen=True, tag="answer", array_like=True):
    count: int


class Open(msgspec.Struct, frozen=True, tag="open", array_like=True):
    """A person starts the publisher, or a reader (period_us: between two questions)."""

    period_us: int


@dataclass(slots=True)
class State:
    """connections: to the brokers. period_us: of a reader. written: of a broker; waits: connection on which
    somebody waits. heard: by a reader."""

    has_waiters: bool = False
    connections: list[int] = field(default_factory=list)
    period_us: int = 0
    written: list[int] = field(default_factory=list)
    waits: int = 0
    heard: list[tuple[int, int]] = field(default_factory=list)


class Toy:
    def __init__(self, state: State) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        match message:
            case Open(period_us):
                state.connections = [out.connect(name) for name in BROKERS]
                state.period_us = period_us
                if period_us:
                    out.deadline("ask", period_us)
            case Word(number):
                self.write(number, out)
            case Ask():
                state.waits = connection
                out.send(connection, Answer(len(state.written)))
            case Answer(count):
                state.heard.append((now_us, count))
                if count % 5 == 0:
                    out.tell("toy.fifth", None, {}, {"count": count})
            case Opened() | Closed():
                pass

    def write(self, number: int, out: Outbox) -> bool:
        """Whether something followed from it."""
        state = self.state
        state.written.append(number)
        if state.has_waiters and state.waits and number % WAITED_FOR == 0:
            out.send(state.waits, Answer(-len(state.written)))
            return True
        return False

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        for connection in self.state.connections:
            out.send(connection, Ask())
        out.deadline("ask", now_us + self.state.period_us)


KINDS = {"toy": (State, Toy)}


class Run:
    def __init__(
        self, kind: type[Stream], times: list[int], period_us: int, jitter_us: int, *, has_waiters: bool
    ) -> None:
        self.times, self.seen, self.has_waiters = times, list[Json](), has_waiters
        design = Design(KINDS, Word | Ask | Answer | Open, delay_us=700, jitter_us=jitter_us)
        self.world = world = World("toy", design, 7, self.look, self.look)
        for name in ("p", "r", *BROKERS):
            world.start(name, "toy", State(has_waiters))
        world.order("p", Open(0))
        world.order("r", Open(period_us))
        self.publisher, self.handed = world.slots["p"], 0
        self.stream: Stream = (
            kind(self.publisher, self.publish, self.write)
            if kind is not Stream
            else Stream(self.publisher, self.publish)
        )  # type: ignore[call-arg, arg-type]

    def publish(self, number: int, key: int) -> tuple[int, Word]:
        return self.publisher.node.state.connections[key], Word(number)

    def write(self, number: int, keys: Sequence[int], times: Sequence[int], place: int, until_us: int) -> int:
        while place < len(times) and times[place] < until_us:
            link = self.publisher.links[self.publisher.node.state.connections[keys[place]]]
            link.last_us = times[place]
            if self.has_waiters:
                self.world.now_us = times[place]
            place += 1
            if link.to.node.write(number + place - 1, link.to):  # type: ignore[union-attr]
                break
        return place

    def look(self, _: object) -> None:
        """In the middle of a step of the world, as a lane does when something is reported."""
        self.stream.catch_up(self.world.now_us)
        self.seen.append(
            [self.world.now_us, *(slot.node.state.written[:] for slot in self.world.slots.values())]
        )

    def go(self, until_us: int) -> None:
        coming = [at_us for at_us in self.times[self.handed :] if at_us <= until_us]
        stream = self.stream
        stream.plan(
            coming,
            [number * 5 % 3 % 2 for number in range(self.handed, self.handed + len(coming))],
            self.handed,
        )
        self.handed += len(coming)
        for stop_us in (until_us - 1, until_us):  # as a lane does at the end of a second
            self.world.advance(stop_us, stream)
            stream.catch_up(stop_us + 1)
            self.seen.append([slot.node.state.written[:] for slot in self.world.slots.values()])
        assert stream.place == len(coming)
        self.seen.append(keep(self.world) if not self.world.told else None)


def run(
    kind: type[Stream],
    times: list[int],
    faults: list[tuple[int, str, int]],
    period_us: int,
    jitter_us: int,
    *,
    has_waiters: bool,
) -> list[Json]:
    ran = Run(kind, times, period_us, jitter_us, has_waiters=has_waiters)
    for at_us, what, which in sorted(faults):
        if at_us > ran.world.now_us:
            ran.go(at_us)
        world, connection = ran.world, ran.publisher.node.state.connections[which]
        cut = any(link.trouble & CUT for link in world.of_connection[connection])
        if what == "cut" and not cut:
            world.cut(connection)
        elif what == "heal" and cut:
            world.heal(connection)
        elif what == "slow":
            world.set_delay(connection, 2_000)
        elif what == "pause" and world.condition(BROKERS[which]) == "running":
            world.pause(BROKERS[which])
        elif what == "resume" and world.condition(BROKERS[which]) == "paused":
            world.resume(BROKERS[which])
    ran.go(END_US)
    return ran.seen


# On a grid, so that without jitter much happens in one microsecond.
moment = st.integers(0, END_US // 50).map(lambda place: place * 50)
moments = st.lists(moment, min_size=20, max_size=80).map(sorted)
kinds = st.sampled_from(["look", "look", "cut", "heal", "slow", "pause", "resume"])
troubles = st.lists(st.tuples(moment, kinds, st.integers(0, 1)), max_size=6)
worlds = moments, troubles, st.sampled_from([0, 100, 700]), st.sampled_from([0, 300])


@given(*worlds, st.booleans())
@settings(deadline=None)
def test_what_is_written_up_to_the_next_event_is_as_if_each_message_had_been_a_step(
    times, faults, period_us, jitter_us, has_waiters
):
    world = times, faults, period_us, jitter_us
    assert run(Written, *world, has_waiters=has_waiters) == run(Stream, *world, has_waiters=has_waiters)

"""What waits at a node's door goes in at the moments, and in the order, in which it would have been
received."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, InvariantError
from broker_core.sim.keeping import keep, restored
from broker_core.sim.network import DOOR
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.world import Design, World

END_US = 60_000


class Fed(msgspec.Struct, frozen=True, tag="fed", array_like=True):
    number: int


class Word(msgspec.Struct, frozen=True, tag="word", array_like=True):
    """It is received, and what is fed after it does not overtake it."""

    number: int


class Say(msgspec.Struct, frozen=True, tag="say", array_like=True):
    """A person lets the feeder send. what: "feed" or "say"."""

    what: str
    number: int


class Begin(msgspec.Struct, frozen=True, tag="begin", array_like=True):
    """A person connects the feeder to the eater."""


@dataclass(slots=True)
class State:
    """room: how many may wait at the eater's door, 0: it has none. eaten: (when, number)."""

    room: int = 0
    connection: int = 0
    eaten: list[tuple[int, int]] = field(default_factory=list)


class Toy:
    """A feeder, or an eater that opens its door wider with whatever it receives."""

    def __init__(self, state: State) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        self.settle(now_us, out)
        match message:
            case Begin():
                self.state.connection = out.connect("eater")
            case Say() if not self.state.connection:
                pass  # the connection was reset
            case Say("feed", number):
                out.feed(self.state.connection, Fed(number))
            case Say("say", number):
                out.send(self.state.connection, Word(number))
            case Fed(number) | Word(number):
                self.state.eaten.append((now_us, number))
                if self.state.room:
                    out.open_door(connection, self.state.room)
            case Closed():
                self.state.connection = 0

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        raise AssertionError("nobody set a deadline")

    def settle(self, now_us: int, out: Outbox) -> None:
        door = out.door
        while door is not None and door.times and door.times[0] <= now_us:
            self.state.eaten.append((door.times.popleft(), door.queue.popleft()[0].number))

    def thaw(self, now_us: int, out: Outbox) -> None: ...


DESIGN = Design({"toy": (State, Toy)}, Fed | Word | Say | Begin, delay_us=3_000)


def begun(room: int, design: Design = DESIGN) -> World:
    world = World("toy", design, 7)
    world.start("eater", "toy", State(room))
    world.start("feeder", "toy", State())
    world.order("feeder", Begin())
    return world


def do(world: World, what: str, number: int) -> None:
    connection = world.node("feeder").state.connection
    match what:
        case "feed" | "say":
            world.order("feeder", Say(what, number))
        case "cut":
            world.cut(connection, "feeder")
        case "heal":
            world.heal(connection)
        case "fill" | "empty":
            world.fill(connection, "feeder", what == "fill")
        case "slow":
            world.set_delay(connection, 1_000 + number * 700 % 9_000)
        case "pause" | "resume":
            getattr(world, what)("eater")
        case "reset":
            world.reset(connection)


def eaten(
    room: int, steps: list[tuple[int, str]], looks: list[int], kept_at: int = -1
) -> list[tuple[int, int]]:
    """What the eater has when all is over. looks: moments at which somebody looks; at one of them the world
    is kept and restored."""
    world = begun(room)
    numbered = [(at_us, number, what) for number, (at_us, what) in enumerate(sorted(steps))]
    for at_us, number, what in sorted([*numbered, *((at_us, -1, "look") for at_us in looks)]):
        world.advance(at_us)
        if at_us == kept_at:
            world = restored("toy", DESIGN, 7, keep(world))
        try:
            do(world, what, number)
        except CommandError:  # it is cut already, or not paused: nothing has changed
            continue
    world.advance(END_US)
    return world.node("eater").state.eaten


STEPS = st.lists(
    st.tuples(
        st.integers(0, END_US // 2),
        st.sampled_from(
            (
                "feed",
                "feed",
                "feed",
                "feed",
                "say",
                "cut",
                "heal",
                "fill",
                "empty",
                "slow",
                "pause",
                "resume",
                "reset",
            )
        ),
    ),
    max_size=30,
)


@given(steps=STEPS, room=st.integers(1, 5), looks=st.lists(st.integers(0, END_US), max_size=5))
@settings(max_examples=150, deadline=None)
def test_a_door_changes_neither_what_goes_in_nor_when(steps, room, looks):
    plain = eaten(0, steps, looks)
    assert eaten(room, steps, looks) == plain
    assert eaten(room, steps, []) == plain, "looking leaves no trace"
    if looks:
        assert eaten(room, steps, looks, kept_at=looks[0]) == plain


def link_to_eater(world: World) -> Any:
    return next(link for link in world.links.values() if link.to is world.slots["eater"])


def test_what_waits_at_the_door_needs_no_ticket():
    world = begun(10)
    do(world, "feed", 1)
    world.advance(10_000)  # received, and the door is open
    for number in (2, 3):
        do(world, "feed", number)
    link = link_to_eater(world)
    assert (
        world.heap == [] and list(link.times) == [13_000, 13_000] and len(link.queue) == 2 and link.room == 8
    )
    world.advance(12_999)
    assert len(world.node("eater").state.eaten) == 1
    world.advance(13_000)
    assert world.node("eater").state.eaten == [(3_000, 1), (13_000, 2), (13_000, 3)] and not link.queue


def test_several_doors_are_shut_in_the_order_of_their_connections_however_they_opened():
    world = begun(10)
    world.start("other", "toy", State())
    world.order("other", Begin())
    world.advance(10_000)
    for number, feeder in enumerate(("other", "feeder", "feeder", "other")):
        world.order(feeder, Say("feed", number))
        world.advance(10_000 * (number + 2) if number < 2 else world.now_us)
    twin = restored("toy", DESIGN, 7, keep(world))
    assert [list(each.slots["eater"].doors) for each in (world, twin)] == [[2, 1], [1, 2]]
    for each in (world, twin):
        each.slots["eater"].shut_door()
    assert keep(twin) == keep(world) and [link.connection for _, _, link, _ in world.heap] == [1, 2]


def test_a_full_door_and_a_word_send_the_next_ones_the_long_way():
    world = begun(1)
    do(world, "feed", 1)
    world.advance(10_000)
    do(world, "feed", 2)
    assert not world.heap
    do(world, "feed", 3)
    assert len(world.heap) == 1, "there was room for one"
    world.advance(20_000)
    do(world, "say", 4)
    do(world, "feed", 5)
    assert len(world.heap) == 2 and not link_to_eater(world).times
    world.advance(30_000)
    assert [number for _, number in world.node("eater").state.eaten] == [1, 2, 3, 4, 5]


def test_a_cut_holds_who_has_not_reached_the_door():
    world = begun(10)
    do(world, "feed", 1)
    world.advance(10_000)
    do(world, "feed", 2)
    world.advance(11_000)
    do(world, "feed", 3)
    world.advance(13_500)
    do(world, "cut", 0)
    link = link_to_eater(world)
    assert not link.trouble & DOOR and not link.room and len(link.queue) == 1
    world.advance(20_000)
    assert [number for _, number in world.node("eater").state.eaten] == [1, 2]
    do(world, "heal", 0)
    world.advance(30_000)
    assert world.node("eater").state.eaten[-1] == (23_000, 3)


def test_a_crash_takes_in_what_has_arrived_and_no_more():
    world = begun(10)
    do(world, "feed", 1)
    world.advance(10_000)
    do(world, "feed", 2)
    world.advance(12_000)
    do(world, "feed", 3)
    world.advance(14_000)
    world.crash("eater")
    world.advance(END_US)
    assert world.node("eater").state.eaten == [(3_000, 1), (13_000, 2)]


def test_a_quiet_node_cannot_have_a_clock_of_its_own():
    with pytest.raises(InvariantError, match="quiet"):
        begun(1, Design(DESIGN.kinds, DESIGN.messages, ahead_us=5))

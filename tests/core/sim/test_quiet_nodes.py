"""When the world asks a node that works on its own how far it is, and when it makes one that plans take back
what it planned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from broker_core.events import Cause
from broker_core.sim.keeping import keep, restored
from broker_core.sim.network import DOOR
from broker_core.sim.node import Outbox
from broker_core.sim.routes import cut_route, heal_route, slow_route
from broker_core.sim.world import Design, World
from tests.core.sim.puppet import Note, Puppet, PuppetState, cause, say, slot, texts


@dataclass(slots=True)
class QuietState(PuppetState):
    """asked: (when, what) the world asked of it."""

    asked: list[tuple[int, str]] = field(default_factory=list)


class Quiet(Puppet):
    """It writes down when it is asked, and takes in what waits at its door."""

    state: QuietState

    def settle(self, now_us: int, out: Outbox) -> None:
        self.state.asked.append((now_us, "settle"))
        door = out.door
        while door is not None and door.times and door.times[0] <= now_us:
            self.state.diary.append((door.times.popleft(), door.queue.popleft()[0].text))

    def thaw(self, now_us: int, out: Outbox) -> None:
        self.state.asked.append((now_us, "thaw"))


class Planner(Quiet):
    def recall(self, now_us: int, out: Outbox) -> None:
        self.state.asked.append((now_us, "recall"))


class Expecting(Planner):
    """It also writes down what it hears to expect, with its cause."""

    def expect(self, message: Any, at_us: int, because: Cause | None, out: Outbox) -> None:
        self.state.diary.append(
            (at_us, f"expects {message.text} because {because.command if because else None}")
        )


def design(acts: Any = None) -> Design:
    kinds = {
        kind.__name__: (QuietState, lambda state, kind=kind: kind(state, acts or {}))
        for kind in (Quiet, Planner, Expecting)
    }
    return Design({**kinds, "puppet": (PuppetState, lambda state: Puppet(state, acts or {}))}, Note)


def pair(kind: type[Quiet] = Quiet, acts: Any = None, **world: Any) -> tuple[World, int]:
    """A puppet `a` connected to `q`, which is of that kind; at 10,000, and nothing asked yet."""
    made = World("w", design(acts), 7, **world)
    made.start("a", "puppet", PuppetState())
    made.start("q", kind.__name__, QuietState())
    connection = slot(made, "a").connect("q")
    made.advance(10_000)
    state(made).asked.clear()
    state(made).diary.clear()
    return made, connection


def state(world: World) -> QuietState:
    written: QuietState = slot(world, "q").node.state
    return written


def asked(world: World) -> list[tuple[int, str]]:
    return state(world).asked


# -- who looks -----------------------------------------------------------------------------------------------


def test_it_is_asked_at_the_end_of_each_stretch_and_at_no_step_in_between() -> None:
    world, connection = pair()
    say(world, "a", connection, "one", "two")
    slot(world, "a").deadline("due", 10_700)
    world.advance(15_000)
    assert asked(world) == [(15_000, "settle")] and texts(world, "q") == ["one", "two"]


@pytest.mark.parametrize("way", ["listener", "witness"])
def test_it_is_asked_before_a_listener_hears_and_before_a_witness_sees(way: str) -> None:
    def tell(node: Puppet, connection: int, out: Outbox) -> None:
        out.tell("toy.told", None, {}, {})

    looks: list[int] = []

    def look(_: object) -> None:
        looks.append(len(asked(world)))

    world: World = pair(
        acts={"due: due": tell},
        listener=look if way == "listener" else None,
        witness=look if way == "witness" else None,
    )[0]
    slot(world, "a").deadline("due", 10_700)
    world.advance(15_000)
    assert looks == [1] and asked(world) == [(10_700, "settle"), (15_000, "settle")]


@pytest.mark.parametrize("end", ["pause", "crash"])
def test_one_that_does_not_run_is_asked_when_it_stops_and_not_after(end: str) -> None:
    world, _ = pair()
    getattr(world, end)("q")
    world.advance(20_000)
    assert asked(world) == [(10_000, "settle")]


def test_one_that_goes_on_is_thawed_first() -> None:
    world, _ = pair()
    world.pause("q")
    world.advance(20_000)
    world.resume("q")
    world.advance(21_000)
    assert asked(world) == [(10_000, "settle"), (20_000, "thaw"), (21_000, "settle")]


def test_one_that_is_gone_is_asked_no_more() -> None:
    world, _ = pair()
    node_asked = asked(world)
    world.exit("q")
    world.advance(20_000)
    assert node_asked == [(10_000, "settle")] and world.quiet == {}


def test_restored_world_asks_it_as_well() -> None:
    world, _ = pair()
    twin = restored("w", design(), 7, keep(world))
    twin.advance(20_000)
    assert asked(twin) == [(20_000, "settle")]


# -- a door --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["cut", "fill", "reset", "pause", "crash", "cut_route"])
def test_what_has_reached_the_door_goes_in_before_anything_becomes_the_matter(fault: str) -> None:
    world, connection = pair()
    slot(world, "q").open_door(connection, 5)
    slot(world, "a").feed(connection, Note("in"))
    world.now_us = 10_600
    slot(world, "a").feed(connection, Note("on its way"))
    world.now_us = 11_000
    match fault:
        case "cut" | "reset":
            getattr(world, fault)(connection)
        case "fill":
            world.fill(connection, "a", True)
        case "cut_route":
            cut_route(world, "a", "q")
        case _:
            getattr(world, fault)("q")
    assert state(world).diary == [(11_000, "in")] and asked(world)[0] == (11_000, "settle")
    assert slot(world, "q").door is None and not any(
        link.trouble & DOOR or link.room or link.times for link in world.links.values()
    )
    world.advance(11_599)
    match fault:
        case "cut":
            world.heal(connection)
        case "fill":
            world.fill(connection, "a", False)
        case "cut_route":
            heal_route(world, "a", "q")
        case "pause":
            world.resume("q")
    world.advance(20_000)
    lost = fault in ("reset", "crash")
    assert [text for _, text in state(world).diary] == [
        "in",
        *([] if lost else ["on its way"]),
        *(["reset"] if fault == "reset" else []),
    ]


def test_message_that_is_received_finds_everybody_before_it_inside() -> None:
    world, connection = pair()
    slot(world, "q").open_door(connection, 5)
    slot(world, "a").feed(connection, Note("fed"))
    say(world, "a", connection, "sent")
    world.advance(20_000)
    assert state(world).diary == [(11_000, "fed"), (11_000, "sent")]


# -- a plan --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["set_delay", "slow_route", "pause", "crash", "exit"])
def test_one_that_plans_takes_its_plan_back_before_its_link_or_its_process_changes(act: str) -> None:
    world, connection = pair(Planner)
    node_asked = asked(world)
    match act:
        case "set_delay":
            world.set_delay(connection, 5_000)
        case "slow_route":
            slow_route(world, "q", "a", 5_000)
        case _:
            getattr(world, act)("q")
    assert node_asked == [(10_000, "recall")]


@pytest.mark.parametrize("act", ["the other way", "another's", "while it is stopped"])
def test_what_does_not_touch_its_sending_leaves_its_plan_alone(act: str) -> None:
    world, _ = pair(Planner)
    match act:
        case "the other way":
            slow_route(world, "a", "q", 5_000)
        case "another's":
            world.pause("a")
        case "while it is stopped":
            world.pause("q")
            asked(world).clear()
            slow_route(world, "q", "a", 5_000)
    assert asked(world) == []


def test_what_is_fed_to_one_that_expects_is_told_at_once_with_its_moment_and_its_cause() -> None:
    world, connection = pair(Expecting)
    slot(world, "q").open_door(connection, 2)
    world.cause = cause(3)
    for text in ("one", "two", "three"):
        slot(world, "a").feed(connection, Note(text))
    assert state(world).diary == [(11_000, "expects one because 3"), (11_000, "expects two because 3")], (
        "there was room for two"
    )
    world.advance(20_000)
    assert state(world).diary[2:] == [(11_000, "three")]

"""A toy model for the laws of a world: nodes that talk to each other by their own rules, and keep a diary of
all that reached them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.sim.design import Design
from broker_core.sim.keeping import keep
from broker_core.sim.node import PERSON, Closed, Opened, Outbox
from broker_core.sim.world import World


class Say(msgspec.Struct, frozen=True, tag="say", array_like=True):
    number: int


class Answer(msgspec.Struct, frozen=True, tag="answer", array_like=True):
    number: int


class Talk(msgspec.Struct, frozen=True, tag="talk", array_like=True):
    """A person's order. to: connect to it first; empty: only talk on. every_us: say something that often."""

    to: str
    every_us: int


class Hush(msgspec.Struct, frozen=True, tag="hush", array_like=True):
    pass


@dataclass(slots=True)
class ChatterState:
    name: str
    open: list[int] = field(default_factory=list)
    every_us: int = 0
    said: dict[int, int] = field(default_factory=dict)
    diary: list[tuple[int, str, int, int]] = field(default_factory=list)  # (when, what, connection, number)


class Chatter:
    def __init__(self, state: ChatterState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        match message:
            case Opened():
                state.open.append(connection)
                state.diary.append((now_us, "opened", connection, 0))
            case Closed():
                state.open.remove(connection)
                state.diary.append((now_us, "closed", connection, 0))
                out.tell("toy.closed", None, {}, {"connection": connection})
            case Say(number):
                state.diary.append((now_us, "said", connection, number))
                if number % 3 == 0:
                    out.send(connection, Answer(number))
                if number % 7 == 0:
                    out.deadline("late", now_us + out.draw("late", 5_000))
            case Answer(number):
                state.diary.append((now_us, "answered", connection, number))
            case Talk(to, every_us):
                assert connection == PERSON
                if to:
                    state.open.append(out.connect(to))
                state.every_us = every_us
                out.deadline("talk", now_us)
            case Hush():
                out.cancel("talk")
                out.cancel("late")
                state.diary.append((now_us, "hushed", 0, 0))

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        state.diary.append((now_us, name, 0, 0))
        if name == "talk":
            for connection in state.open:
                number = state.said[connection] = state.said.get(connection, 0) + 1
                out.send(connection, Say(number))
            out.deadline("talk", now_us + state.every_us)


NAMES = ("a", "b", "c")
DESIGN = Design({"chatter": (ChatterState, Chatter)}, Say | Answer | Talk | Hush, delay_us=700, jitter_us=400)


def new_world(seed: int = 7) -> World:
    world = World("toy", DESIGN, seed)
    for name in NAMES:
        world.start(name, "chatter", ChatterState(name))
    return world


def act(world: World, action: tuple[str, int, int]) -> None:
    """One act from outside; what makes no sense now is refused by the world, and changes nothing."""
    what, one, other = action
    name, peer = NAMES[one], NAMES[other]
    before = digest(world)
    try:
        match what:
            case "talk":
                world.order(name, Talk(peer if name != peer else "", 900 + 100 * other), Cause(command=1))
            case "hush":
                world.order(name, Hush(), Cause(command=2))
            case "crash":
                world.crash(name)
            case "kill":
                world.kill(name)
            case "pause":
                world.pause(name)
            case "resume":
                world.resume(name)
            case "exit":
                world.exit(name)
            case "forget":
                world.forget(name)
            case "start":
                world.start(name, "chatter", ChatterState(name))
            case _:
                connection = world.connection(name, peer)
                if connection is not None:
                    on_link(world, what, connection, name)
    except CommandError:
        assert digest(world) == before


def on_link(world: World, what: str, connection: int, sender: str) -> None:
    match what:
        case "cut":
            world.cut(connection)
        case "cut one way":
            world.cut(connection, sender)
        case "heal":
            world.heal(connection)
        case "fill":
            world.fill(connection, sender, True)
        case "drain":
            world.fill(connection, sender, False)
        case "reset":
            world.reset(connection)
        case "slow":
            world.set_delay(connection, 5_000)
        case "fast":
            world.set_delay(connection, 0)


ACTIONS = (
    "talk",
    "hush",
    "crash",
    "kill",
    "pause",
    "resume",
    "exit",
    "forget",
    "start",
    "cut",
    "cut one way",
    "heal",
    "fill",
    "drain",
    "reset",
    "slow",
    "fast",
)


def take(world: World) -> list[Json]:
    """The turning points so far."""
    told = [event.to_json(place) for place, event in enumerate(world.told)]
    world.told.clear()
    return told


def digest(world: World) -> str:
    """Everything about a world, as one short text. Takes no turning points."""
    told, world.told = world.told, []
    plain = keep(world)
    world.told = told
    return hashlib.sha256(json.dumps([plain, [event.to_json(0) for event in told]]).encode()).hexdigest()

"""A world of puppets: nodes that write down what reaches them, and act only where a test says so. Without
jitter, so every moment is exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.events import Cause
from broker_core.sim.design import Design
from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.sim.slot import Slot
from broker_core.sim.world import World

DELAY_US = 1_000
Act = Callable[["Puppet", int, Outbox], object]
"""What a puppet does in answer: itself, the connection (0 for a deadline), its outbox."""


class Note(msgspec.Struct, frozen=True, tag="note", array_like=True):
    text: str


@dataclass(slots=True)
class PuppetState:
    """diary: (when, what): a note's text, "opened by a", "closed", "reset", or "due: name" of a deadline."""

    diary: list[tuple[int, str]] = field(default_factory=list)


class Puppet:
    def __init__(self, state: PuppetState, acts: Mapping[str, Act]) -> None:
        self.state = state
        self.acts = acts

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case Note(text):
                self.note(text, connection, now_us, out)
            case Opened(peer):
                self.note(f"opened by {peer}", connection, now_us, out)
            case Closed(reason):
                self.note(reason, connection, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        self.note(f"due: {name}", 0, now_us, out)

    def note(self, text: str, connection: int, now_us: int, out: Outbox) -> None:
        self.state.diary.append((now_us, text))
        if text in self.acts:
            self.acts[text](self, connection, out)


def design_of(acts: Mapping[str, Act] | None = None, delay_us: int = DELAY_US) -> Design:
    return Design({"puppet": (PuppetState, lambda state: Puppet(state, acts or {}))}, Note, delay_us=delay_us)


def stage(*names: str, acts: Mapping[str, Act] | None = None, **world: Any) -> World:
    """A world with these puppets, at its time 0."""
    made = World("w", design_of(acts), 7, **world)
    for name in names or ("a", "b"):
        made.start(name, "puppet", PuppetState())
    return made


def joined(one: str = "a", other: str = "b", **more: Any) -> tuple[World, int]:
    """Two puppets, and a connection that both know of; the world stands at 10,000, and the diaries are
    empty."""
    world = stage(one, other, **more)
    connection = world.slots[one].connect(other)
    world.advance(10_000)
    diary(world, other).clear()
    return world, connection


def diary(world: World, name: str) -> list[tuple[int, str]]:
    written: list[tuple[int, str]] = slot(world, name).node.state.diary
    return written


def texts(world: World, name: str) -> list[str]:
    return [text for _, text in diary(world, name)]


def slot(world: World, name: str) -> Slot:
    return world.slots[name]


def say(world: World, name: str, connection: int, *words: str) -> None:
    """This puppet sends notes, now."""
    for word in words:
        slot(world, name).send(connection, Note(word))


def cause(number: int) -> Cause:
    return Cause(command=number)

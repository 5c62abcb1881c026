"""Nodes whose clocks are ahead of the world's: what they see, and when what they ask for happens. And records
that are only handed over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.sim import keeping
from broker_core.sim.arrivals import Handed
from broker_core.sim.design import Design
from broker_core.sim.world import World


class Note(msgspec.Struct, frozen=True, tag="note", array_like=True):
    text: str


@dataclass
class ClockState:
    seen: list[tuple[str, int]] = field(default_factory=list)


class Clock:
    """Notes when it was asked, and asks to be woken 5 us later."""

    def __init__(self, state: ClockState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        self.state.seen.append((message.text, now_us))
        out.deadline("later", now_us + 5)

    def wake(self, name: str, now_us: int, out: Any) -> None:
        self.state.seen.append((name, now_us))
        out.tell("clock.woke", None, {}, {})


def world_of(ahead_us: int) -> World:
    world = World("w", Design({"clock": (ClockState, Clock)}, Note, ahead_us=ahead_us), 1)
    world.now_us = -100
    world.start("clock", "clock", ClockState())
    return world


def test_a_node_sees_its_own_clock_and_is_woken_when_it_asked() -> None:
    world = world_of(1_000)
    world.order("clock", Note("now"))
    world.advance(0)
    assert world.slots["clock"].node.state.seen == [("now", 900), ("later", 905)]
    assert [event.at_us for event in world.told] == [-95], "a turning point stands at the world's time"


def test_it_goes_on_the_same_after_a_restore() -> None:
    world = world_of(1_000)
    world.order("clock", Note("now"))
    restored = keeping.restored("w", world.design, 1, keeping.keep(world))
    restored.advance(0)
    assert restored.slots["clock"].node.state.seen == [("now", 900), ("later", 905)]


def test_what_is_handed_over_comes_at_its_time_with_number_and_key() -> None:
    world = world_of(0)
    got = []
    handed = Handed(lambda number, key: got.append((world.now_us, number, key)))
    handed.plan([-90, -80, 10], [7, 8, 9], 40)
    world.advance(0, handed)
    assert got == [(-90, 40, 7), (-80, 41, 8)] and handed.place == 2

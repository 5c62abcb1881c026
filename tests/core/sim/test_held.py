"""A node's deadline whose answer another process works on: the world puts it back, and what comes of it is
the same whenever that is there."""

from __future__ import annotations

import pytest

from broker_core.held import Held
from broker_core.sim.node import Outbox
from broker_core.sim.world import World
from tests.core.sim.puppet import Puppet, diary, slot, stage


class Later(Held):
    is_ready = True

    def wait(self) -> None:
        """It is there."""


class Desk:
    """Answers at the `at`-th call."""

    def __init__(self, at: int) -> None:
        self.at, self.asked = at, 0

    def ask(self, node: Puppet, connection: int, out: Outbox) -> None:
        self.asked += 1
        if self.asked < self.at:
            # a puppet has written before it asks; a node that may be held changes nothing before
            node.state.diary.pop()
            raise Later
        out.deadline("after", out.world.now_us)  # type: ignore[attr-defined]


def played(at: int, pieces: tuple[int, ...]) -> tuple[World, int]:
    desk = Desk(at)
    world = stage("a", "b", acts={"due: ask": desk.ask})
    for name, at_us in (("first", 10), ("ask", 10), ("last", 10), ("later", 12)):
        slot(world, "a").deadline(name, at_us)
    slot(world, "b").deadline("other", 11)
    stops = 0
    for until_us in pieces:
        world.advance(until_us)
        while world.is_midway:
            assert (
                world.held is not None
                and diary(world, "a")[-1] == (10, "due: first")
                and not diary(world, "b")
            )
            stops += 1
            world.advance(until_us)
    return world, stops


@pytest.mark.parametrize("pieces", [(20,), (10, 20), (3, 10, 11, 20)])
@pytest.mark.parametrize("at", [1, 2, 5])
def test_what_is_held_comes_first_when_it_goes_on_and_nothing_differs_for_it(
    at: int, pieces: tuple[int, ...]
) -> None:
    world, stops = played(at, pieces)
    assert stops == at - 1 and world.held is None
    assert diary(world, "a") == [
        (10, "due: first"),
        (10, "due: ask"),
        (10, "due: last"),
        (10, "due: after"),
        (12, "due: later"),
    ]
    assert diary(world, "b") == [(11, "due: other")] and world.made == played(1, (20,))[0].made

"""A world kept in the middle of things and restored: what is under way, what is the matter, and what is owed
is there, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from broker_core.errors import CommandError, InvariantError
from broker_core.events import TurningPoint
from broker_core.lab import checkpoint
from broker_core.sim.keeping import KEPT_AT_ONCE, in_parts, keep, restored
from broker_core.sim.world import World
from tests.core.sim.puppet import PuppetState, cause, design_of, diary, joined, say, slot, stage, texts

Fault = Callable[[World, int], Any]

FAULTS: dict[str, Fault] = {
    "nothing": lambda world, connection: None,
    "slow": lambda world, connection: world.set_delay(connection, 7_000),
    "cut": lambda world, connection: world.cut(connection, None, cause(4)),
    "cut one way": lambda world, connection: world.cut(connection, "a", cause(4)),
    "full": lambda world, connection: world.fill(connection, "a", True),
    "reset": lambda world, connection: world.reset(connection, cause(4)),
    "closed": lambda world, connection: slot(world, "a").close(connection),
    "paused": lambda world, connection: world.pause("b", cause(4)),
    "silent": lambda world, connection: world.crash("b", cause(4)),
    "killed": lambda world, connection: world.kill("b", cause(4)),
    "ended": lambda world, connection: world.exit("b", cause(4)),
}


def mend(world: World, connection: int) -> None:
    """Whatever of it there is."""
    acts: list[Callable[[], object]] = [
        lambda: world.heal(connection),
        lambda: world.fill(connection, "a", False),
        lambda: world.resume("b"),
        lambda: world.forget("b"),
    ]
    for act in acts:
        try:
            act()
        except CommandError:
            continue


def through_a_checkpoint(world: World) -> World:
    return restored("w", design_of(), 7, checkpoint.decode(checkpoint.encode(keep(world))))


def last(world: World, name: str) -> list[tuple[int, str]]:
    return diary(world, name) if name in world.slots else []


@pytest.mark.parametrize("what", FAULTS)
@pytest.mark.parametrize("kept_us", [10_000, 10_500, 13_000])
def test_world_restored_in_the_middle_of_a_fault_goes_on_the_same(what: str, kept_us: int) -> None:
    world, connection = joined()
    say(world, "a", connection, "one", "two")
    say(world, "b", connection, "back")
    slot(world, "b").deadline("due", 10_800, because=cause(9))
    FAULTS[what](world, connection)
    world.advance(kept_us)
    twin = through_a_checkpoint(world)
    assert keep(twin) == keep(world)
    for each in (world, twin):
        each.advance(20_000)
        mend(each, connection)
        if connection in slot(each, "a").links:
            say(each, "a", connection, "three")
        each.advance(40_000)
    assert keep(twin) == keep(world) and [last(twin, name) for name in "ab"] == [
        last(world, name) for name in "ab"
    ]


def test_numbers_go_on_and_are_never_given_twice() -> None:
    world, connection = joined()
    world.crash("b")
    world.forget("b")
    world.tell("toy.told", None, {}, {})
    world.told.clear()
    world.advance(12_000)
    twin = through_a_checkpoint(world)
    for each in (world, twin):
        each.start("b", "puppet", PuppetState())
        assert slot(each, "b").number == 3 and slot(each, "a").connect("b") == connection + 1
        each.tell("toy.told", None, {}, {})
        assert each.told[0].id == "w:2"
    assert keep_told(twin) == keep_told(world)


def keep_told(world: World) -> Any:
    told, world.told = world.told, []
    return keep(world), told


def test_world_with_turning_points_that_nobody_has_taken_cannot_be_kept() -> None:
    world = stage("a")
    world.tell("toy.told", None, {}, {})
    with pytest.raises(InvariantError, match="nobody has taken"):
        keep(world)


def test_restored_world_reports_to_its_new_listener_and_witness() -> None:
    world = stage("a")
    slot(world, "a").deadline("due", 50, because=cause(9))
    heard: list[list[TurningPoint]] = []
    seen: list[str] = []
    design = design_of({"due: due": lambda node, connection, out: out.tell("toy.told", None, {}, {})})
    twin = restored("w", design, 7, keep(world), heard.append, lambda event: seen.append(event.kind))
    twin.advance(100)
    assert [[event.cause for event in told] for told in heard] == [[cause(9)]] and seen == ["toy.told"]


def test_what_can_come_due_no_more_is_left_out() -> None:
    world, _ = joined("a", "b")
    slot(world, "a").deadline("cancelled", 90_000)
    slot(world, "b").deadline("gone with its node", 90_000)
    world.exit("b")
    world.advance(20_000)
    plain = keep(world)
    assert (
        plain["links"] == []
        and [entry[3] for entry in plain["heap"]] == ["cancelled"]
        and list(plain["nodes"]) == ["a"]
    )


def test_disk_and_random_streams_are_kept() -> None:
    world = stage("a")
    disk = slot(world, "a").disk
    disk.write_us, disk.capacity_bytes = 30, 100
    disk.write(60, 0)
    drawn = [slot(world, "a").draw("dice", 1_000) for _ in range(3)]
    twin = through_a_checkpoint(world)
    again = slot(twin, "a").disk
    assert (again.write(41, 0), again.write(40, 0), again.free_us) == ("full", 60, 60)
    more = [slot(twin, "a").draw("dice", 1_000) for _ in range(3)]
    assert more == [slot(world, "a").draw("dice", 1_000) for _ in range(3)] != drawn


@pytest.mark.parametrize("count", [1, KEPT_AT_ONCE - 1, KEPT_AT_ONCE, KEPT_AT_ONCE + 1, 3 * KEPT_AT_ONCE])
def test_large_world_is_kept_in_parts_of_which_the_last_is_the_whole(count: int) -> None:
    world = stage(*(f"n{number}" for number in range(count)))
    for number in range(1, count):
        slot(world, f"n{number}").connect("n0")
    sizes = [(len(plain["nodes"]), len(plain["links"])) for plain in in_parts(world)]
    links = 2 * (count - 1)
    steps = [(nodes, 0) for nodes in range(KEPT_AT_ONCE, count + 1, KEPT_AT_ONCE)]
    steps += [(count, some) for some in range(KEPT_AT_ONCE, links + 1, KEPT_AT_ONCE)]
    assert sizes == [*steps, (count, links)]


def test_kept_world_is_a_copy() -> None:
    world, connection = joined()
    say(world, "a", connection, "one")
    plain = keep(world)
    before = json.dumps(plain, sort_keys=True)
    world.advance(30_000)
    say(world, "a", connection, "two")
    assert json.dumps(plain, sort_keys=True) == before
    twin = restored("w", design_of(), 7, plain)
    twin.advance(30_000)
    assert texts(twin, "b") == ["one"] and json.dumps(plain, sort_keys=True) == before

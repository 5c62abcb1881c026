"""A world in a checkpoint: its nodes' declared state, what is under way, and nothing that follows from
either.

world ─ keeping ─► plain JSON types, in parts          restored ─► the same world, which goes on the same
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.plain import from_plain, kept, take_back, to_plain
from broker_core.sim.design import Counters, Design
from broker_core.sim.network import Link, LinkState, Route
from broker_core.sim.node import Closed, Opened
from broker_core.sim.slot import SlotState
from broker_core.sim.world import World

KEPT_AT_ONCE = 64
"""Nodes, or links, in a part of what is kept."""


@dataclass(slots=True)
class WorldState:
    """A world in a checkpoint. heap: (when, order of making, number of the link, or minus that of the node,
    name of the deadline).
    links: plain, because what travels on them is the model's."""

    counters: Json
    draws: dict[str, int]
    heap: list[tuple[int, int, int, str]]
    nodes: dict[str, SlotState] = field(default_factory=dict)
    links: list[Any] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)


def keep(world: World) -> Json:
    """The whole state as plain JSON types (integer keys of dicts stay integers). Turning points must have
    been taken."""
    *_, plain = in_parts(world)
    return plain


def in_parts(world: World) -> Iterator[Json]:
    """`keep` in parts: the same dict each time, with some more nodes or links in it; the last time it is
    whole."""
    if world.told:
        raise InvariantError("a world with turning points that nobody has taken cannot be kept")
    heap = [
        (at_us, made, target.number if type(target) is Link else -target.number, name)
        for at_us, made, target, name in sorted(world.heap)
        if (target.number in world.links if type(target) is Link else target.number in world.by_number)
    ]
    plain: Json = to_plain(
        WorldState(kept(world, Counters), world.random.draws, heap, routes=list(world.routes.values()))
    )
    for place, slot in enumerate(world.slots.values(), 1):
        plain["nodes"][slot.name] = to_plain(
            SlotState(
                slot.number,
                slot.kind,
                slot.condition,
                slot.silenced_by,
                slot.deadlines,
                slot.deferred,
                {connection: link.number for connection, link in slot.links.items()},
                slot.disk,
                slot.node.state,
                slot.has_machine,
            )
        )
        if place % KEPT_AT_ONCE == 0:
            yield plain
    for place, link in enumerate(world.links.values(), 1):
        plain["links"].append(to_plain(link))
        if place % KEPT_AT_ONCE == 0:
            yield plain
    yield plain


def restored(
    name: str,
    design: Design,
    seed: int,
    plain: Json,
    listener: Callable[[list[TurningPoint]], None] | None = None,
    witness: Callable[[TurningPoint], None] | None = None,
) -> World:
    """The world that `keep` described; it goes on the same."""
    stops = restored_in_parts(name, design, seed, plain, listener, witness)
    while True:
        try:
            next(stops)
        except StopIteration as end:
            world: World = end.value
            return world


def restored_in_parts(
    name: str,
    design: Design,
    seed: int,
    plain: Json,
    listener: Callable[[list[TurningPoint]], None] | None = None,
    witness: Callable[[TurningPoint], None] | None = None,
) -> Generator[None, None, World]:
    """`restored` with a stop after some nodes or links."""
    state = from_plain(plain, WorldState)
    world = World(name, design, seed, listener, witness)
    take_back(world, Counters, state.counters)
    world.random.draws = state.draws
    world.routes = {(route.sender, route.receiver): route for route in state.routes}
    message_type: Any = design.messages | Opened | Closed
    for place, entry in enumerate(state.links, 1):
        if place % KEPT_AT_ONCE == 0:
            yield
        kept_link = from_plain({**entry, "queue": []}, LinkState)
        link = Link(*(getattr(kept_link, part.name) for part in fields(LinkState)))
        link.queue.extend(
            (from_plain(message, message_type), from_plain(cause, Cause | None))
            for message, cause in entry["queue"]
        )
        world.links[link.number] = link
        world.of_connection.setdefault(link.connection, []).append(link)
    for place, (node_name, each) in enumerate(state.nodes.items(), 1):
        if place % KEPT_AT_ONCE == 0:
            yield
        slot = world.add(each.number, node_name, each.kind, from_plain(each.node, design.kinds[each.kind][0]))
        slot.condition, slot.silenced_by, slot.disk = each.condition, each.silenced_by, each.disk
        slot.deadlines, slot.deferred, slot.has_machine = each.deadlines, each.deferred, each.has_machine
        slot.links = {connection: world.links[number] for connection, number in each.links.items()}
    for link in world.links.values():
        link.to = world.by_number.get(link.receiver)
    world.heap = [
        (at_us, made, target, name)
        for at_us, made, number, name in state.heap
        if (target := world.links.get(number) if number > 0 else world.by_number.get(-number)) is not None
    ]
    return world

"""The cable from one node to another: what is done to it holds for the connections of today and of later.

cut_route(a, b) ─► each link from a to b is cut, and so is every new one, until heal_route
"""

from __future__ import annotations

from typing import Any, Protocol

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.sim.network import CUT, Link, Route


class RoutedWorld(Protocol):
    """What routes ask of their world (`World`)."""

    routes: dict[tuple[str, str], Route]
    links: dict[int, Link]
    slots: dict[str, Any]
    by_number: dict[int, Any]
    design: Any

    def release(self, link: Link) -> None: ...


def cut_route(world: RoutedWorld, sender: str, receiver: str, cause: Cause | None = None) -> None:
    """Nothing that one node sends to another is delivered any more, on this connection or a later one. Raises
    CommandError if it is cut."""
    route = world.routes.get((sender, receiver)) or Route(sender, receiver)
    if route.is_cut:
        raise CommandError("link", "the link is cut already")
    links = _on_route(world, sender, receiver)
    world.routes[sender, receiver] = route
    route.is_cut, route.cut_by = True, cause
    for link in links:
        link.trouble |= CUT
        link.cut_by = cause


def heal_route(world: RoutedWorld, sender: str, receiver: str) -> None:
    """What was held is on its way again. Raises CommandError if it was not cut."""
    route = world.routes.get((sender, receiver))
    if route is None or not route.is_cut:
        raise CommandError("link", "the link is not cut")
    route.is_cut, route.cut_by = False, None
    for link in _on_route(world, sender, receiver):
        link.trouble &= ~CUT
        link.cut_by = None
        world.release(link)


def slow_route(world: RoutedWorld, sender: str, receiver: str, delay_us: int | None) -> None:
    """What one node sends to another takes this long, on this connection or a later one; None: as long as by
    the design again."""
    links = _on_route(world, sender, receiver)
    route = world.routes.setdefault((sender, receiver), Route(sender, receiver))
    route.delay_us = delay_us
    for link in links:
        link.delay_us = world.design.delay_us if delay_us is None else delay_us


def follow_route(world: RoutedWorld, link: Link) -> None:
    """A new link takes the way that its nodes' route says."""
    ends = world.by_number.get(link.sender), link.to
    route = (
        world.routes.get((ends[0].name, ends[1].name))
        if ends[0] is not None and ends[1] is not None
        else None
    )
    if route is not None:
        link.delay_us = world.design.delay_us if route.delay_us is None else route.delay_us
        if route.is_cut:
            link.trouble |= CUT
            link.cut_by = route.cut_by


def _on_route(world: RoutedWorld, sender: str, receiver: str) -> list[Link]:
    for name in (sender, receiver):
        if name not in world.slots:
            raise CommandError("node", "there is no {name}", name=name)
    numbers = world.slots[sender].number, world.slots[receiver].number
    return [link for link in world.links.values() if (link.sender, link.receiver) == numbers]

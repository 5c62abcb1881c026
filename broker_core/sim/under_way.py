"""What is on its way on a link, and when it arrives: for whoever says beforehand what will follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from broker_core.sim.network import Link
    from broker_core.sim.world import World


def under_way(world: World, link: Link) -> list[tuple[object, int]]:
    """(message, when it arrives) in the order of sending; of a link that is held those before the fault
    only."""
    tickets = sorted(entry[:2] for entry in world.heap if entry[2] is link)
    moments = [*link.times, *(at_us for at_us, _ in tickets)]
    return [(message, at_us) for (message, _), at_us in zip(link.queue, moments, strict=False)]

"""Consumers that have nothing to do because they own no partition: a group of n partitions keeps at most n of
them busy."""

from typing import TYPE_CHECKING

from broker_core.events import Json

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

COUNTED = ("live", "slow", "paused", "crashed")
"""Those who still wait for a restart, and those who are gone, are idle for another reason. A silent one keeps
its partitions and its place in the group until it is given up."""


def idle_view(lane: "Lane") -> Json | None:
    """`{"count", "of", "partitions"}`: how many of how many consumers have none of the partitions.

    None: nobody, or this model has no partitions, or a change is under way that still hands them out.
    """
    units = lane.reads.units()
    if units is None or not lane.reads.is_settled():
        return None
    owners = set(units.values())
    counted = [name for name, consumer in lane.consumers.items() if lane.state_word(consumer) in COUNTED]
    count = sum(name not in owners for name in counted)
    return {"count": count, "of": len(counted), "partitions": len(units)} if count else None

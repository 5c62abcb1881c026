"""How the load is shared out among a lane's consumers, and how evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.lab.consumer import GONE

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def shares(lane: Lane) -> dict[str, int]:
    """Consumer -> its share of the load in millionths."""
    weights = lane.weights()
    total = sum(weights.values())
    return {name: weights.get(name, 0) * 1_000_000 // total if total else 0 for name in lane.consumers}


def skew_milli(lane: Lane) -> int | None:
    """Largest share over mean share, in thousandths, over all consumers that the broker still counts; None
    with nothing to share."""
    weights = lane.weights()
    most = count = total = 0
    for name, consumer in lane.consumers.items():
        weight = weights.get(name, 0)
        if weight or consumer.state != GONE:
            count += 1
            total += weight
            if weight > most:
                most = weight
    return most * count * 1000 // total if total else None


def units_of(lane: Lane, name: str) -> int:
    """How many partitions are this consumer's; 0 in a model without partitions."""
    return sum(owner == name for owner in (lane.units() or {}).values())

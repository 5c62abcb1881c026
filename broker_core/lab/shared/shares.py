"""How the load is shared out among a lane's consumers, and how evenly."""

from __future__ import annotations

from broker_core.lab.consumer import GONE
from broker_core.lab.shared.observed import ObservedLane


def shares(lane: ObservedLane) -> dict[str, int]:
    """Consumer -> its share of the load in millionths."""
    weights = lane.reads.weights()
    total = sum(weights.values())
    return {name: weights.get(name, 0) * 1_000_000 // total if total else 0 for name in lane.consumers}


def skew_milli(lane: ObservedLane) -> int | None:
    """Largest share over mean share, in thousandths, over all consumers that the broker still counts; None
    with nothing to share."""
    weights = lane.reads.weights()
    most = count = total = 0
    for name, consumer in lane.consumers.items():
        weight = weights.get(name, 0)
        if weight or consumer.state != GONE:
            count += 1
            total += weight
            if weight > most:
                most = weight
    return most * count * 1000 // total if total else None


def units_of(lane: ObservedLane, name: str) -> int:
    """How many partitions are this consumer's; 0 in a model without partitions."""
    return sum(owner == name for owner in (lane.reads.units() or {}).values())

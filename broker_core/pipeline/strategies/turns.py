"""Strategies whose consumers take turns: keys have no owner, and a table says only who is there."""

from collections.abc import Sequence

import numpy as np

from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.lane import Lane
from broker_core.pipeline.strategies.base import RouteTable, SlotRule, Step, Strategy
from broker_core.pipeline.strategies.headless import lane_states, live_names


def turn_routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    """A table for each step, without owners."""
    names: dict[str, int] = {}

    def read(lane: Lane, bill: Bill | None) -> RouteTable:
        for name in lane.consumers:
            names.setdefault(name, len(names))
        nobody, no_bounds = np.array([], np.int16), np.array([], np.int64)
        return RouteTable(
            "none", tuple(names), live_names(lane), owners=nobody, bounds=no_bounds, rule=SlotRule(0)
        )

    return lane_states(strategy.lane_spec(topic=topic), steps, seed, read)

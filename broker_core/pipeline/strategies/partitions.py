"""Models that share by partition: the table is partition -> owner, read off the lane."""

from collections.abc import Sequence

import numpy as np

from broker_core.errors import InvariantError
from broker_core.lab.settings import PARTITIONS_MAX
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.lane import Lane
from broker_core.pipeline.strategies.base import NOBODY, Param, RouteTable, SlotRule, Step, Strategy
from broker_core.pipeline.strategies.headless import lane_states, live_names

PARTITIONS = Param("partitions", 12, 1, PARTITIONS_MAX)
_NO_BOUNDS = np.array([], np.int64)


def partition_routes(
    strategy: Strategy, steps: Sequence[Step], seed: int, topic: str, mask: int
) -> list[RouteTable]:
    """A table for each step. mask: of the bits of the hash that the producer takes modulo the number of
    partitions."""
    names: dict[str, int] = {}

    def read(lane: Lane, bill: Bill | None) -> RouteTable:
        units = lane.reads.units()
        if units is None:
            raise InvariantError(f"{strategy.id} does not share by partition")
        for name in lane.consumers:
            names.setdefault(name, len(names))
        owners = [NOBODY if name is None else names[name] for name in units.values()]
        return RouteTable(
            kind="modulo",
            names=tuple(names),
            live=live_names(lane),
            owners=np.array(owners, np.int16),
            bounds=_NO_BOUNDS,
            rule=SlotRule(mask, len(owners)),
            units=tuple(units),
            partitions_moved=None if bill is None else bill.partitions_moved,
        )

    return lane_states(strategy.lane_spec(topic=topic), steps, seed, read)

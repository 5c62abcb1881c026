"""Key_Shared: a key's murmur3 falls into a slot, and the slot belongs to a consumer. What the families of
Pulsar have in common."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.hash_range import Owner
from broker_core.hashing.murmur3 import MASK_31
from broker_core.lab.pulsar.reading import PulsarReading
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.lane import Lane
from broker_core.pipeline.strategies.base import Family, Param, RouteTable, SlotRule, Step, Strategy
from broker_core.pipeline.strategies.headless import lane_states, live_names
from broker_core.pulsar.selectors import Selector
from broker_core.pulsar.selectors.consistent_hash import RingSelector

HASH = "murmur3"
KEY_SHARED = "subscriptionKeySharedEnable=true"
USE_RING = "subscriptionKeySharedUseConsistentHashing"
MASK_32 = 0xFFFFFFFF
PROBES = (0, 1, 65_535, 65_536, 131_070, 964_695_987, MASK_31, MASK_31 + 1, 3_112_179_635, MASK_32)


def pulsar_family(
    algorithm: str, *, params: tuple[Param, ...] = (), document: bool = False, is_default: bool = True,
    config: Callable[[Strategy, RouteTable], list[Json]] | None = None, drawn: str | None = None,
) -> Family:  # fmt: skip
    """A family that runs the lab's lane under `algorithm`; its parameters are options of the lane by the same
    names."""

    def lane(given: Mapping[str, int]) -> tuple[str, Json]:
        return algorithm, dict(given)

    return Family(
        "pulsar",
        algorithm,
        HASH,
        params,
        lane,
        pulsar_routes,
        document,
        is_default,
        config=config,
        drawn=drawn,
    )


def pulsar_routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    names: dict[str, int] = {}

    def read(lane: Lane, bill: Bill | None) -> RouteTable:
        if not isinstance(lane, Lane) or not isinstance(lane.reads, PulsarReading):
            raise InvariantError(f"{strategy.id} is no lane of Pulsar")
        bounds, owners, space, first_slot = lane.reads.space()
        for name in lane.consumers:
            names.setdefault(name, len(names))
        shared: dict[tuple[int, ...], int] = {}
        return RouteTable(
            kind="ranges",
            names=tuple(names),
            live=live_names(lane),
            bounds=np.array(bounds, np.int64),
            owners=np.array([_owner(owner, names, shared) for owner in owners], np.int16),
            rule=slot_rule(lane.reads.owners.nobody),
            space=space,
            first_slot=first_slot,
            shared=tuple(shared),
            space_moved=None if bill is None else bill.space_moved_millionths,
        )

    return lane_states(strategy.lane_spec(topic=topic), steps, seed, read)


def _owner(owner: Owner, names: Mapping[str, int], shared: dict[tuple[int, ...], int]) -> int:
    if owner is None:
        return -1
    if isinstance(owner, str):
        return names[owner]
    holders = tuple(names[name] for name in owner)
    return -2 - shared.setdefault(holders, len(shared))


def slot_rule(selector: Selector) -> SlotRule:
    """`selector.slot` in the form that the array kernels take, tried against it."""
    if isinstance(selector, RingSelector):
        fold = selector.rule.fold
        rule = SlotRule(selector.rule.mask, fold or 0, 0 if fold is None else 1)
    elif (MASK_31 + 1) % selector.space == 0 and selector.slot(MASK_32) == MASK_31 % selector.space:
        rule = SlotRule(MASK_31, selector.space)
    else:
        rule = SlotRule(MASK_32, selector.space)
    if any(rule(probe) != selector.slot(probe) for probe in PROBES):
        raise InvariantError(f"{type(selector).__name__} has a rule for slots that the kernels do not know")
    return rule

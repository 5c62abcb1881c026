"""Units: the smallest pieces of a hash space that never part, whatever the step. Counting by unit once tells
everything about all steps.

    step 0   |------------ c1 ------------|---------- c2 ----------|
    step 1   |----- c1 -----|--- c3 ------|---------- c2 ----------|
    units    |      0       |      1      |           2            |      keys[unit], records[unit], bytes[unit]: counted once
    step 1's move: unit 1 went from c1 to c3, so keys[1] keys have moved

For models with partitions a unit is a partition; where keys jump to buckets, all slots that have the same owner in every
step. Several consumers at one ring point split its slots by slot mod their number; there a unit is what is left of such a
cell at one remainder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from broker_core.hashing.jump_columns import jump_slots
from broker_core.pipeline.strategies.base import NOBODY, Int64s, RouteTable, SlotRule

Int32s = NDArray[np.int32]
BUCKETS_PER_CELL = 16
"""A look-up then meets one cell, seldom two: a wrong guess of the processor costs more than the look-up."""
SLOTS_MAX = 1 << 16
"""Where slots in ranges are no more, the unit of each is written down: 256 KB."""


@dataclass(frozen=True, slots=True)
class UnitMap:
    """From a hash to a unit, as arrays that the kernels take.

    hash: which hash. rule: hash -> slot. slots: the unit of each slot; empty where slots are too many, then
    cells tell it.
    uppers: inclusive upper bound of each cell, ascending, the last one the highest slot. first_units: of each
    cell. parts: units of each cell, 1 but at shared points. buckets: slot >> shift -> the first cell that can
    hold it. count: units.
    """

    hash: str
    rule: SlotRule
    slots: Int32s
    uppers: Int64s
    first_units: Int32s
    parts: Int32s
    buckets: Int32s
    shift: int
    count: int


_NONE = np.zeros(0, np.int32)


def _by_slot(hash_name: str, rule: SlotRule, slots: Int32s, count: int) -> UnitMap:
    return UnitMap(hash_name, rule, slots, np.zeros(0, np.int64), _NONE, _NONE, _NONE, 0, count)


ONE_UNIT = _by_slot("murmur3", SlotRule(0), np.zeros(1, np.int32), 1)
"""All keys as one: to count them where no strategy tells them apart."""


def unit_map(hash_name: str, tables: Sequence[RouteTable]) -> tuple[UnitMap, NDArray[np.int16]]:
    """The units of a history, or of several with one rule, and who owns each of them in each table:
    owners[table, unit], -1 for nobody.

    All tables are of one kind, rule and space.
    """
    first = tables[0]
    if first.kind == "modulo":
        count = len(first.owners)
        return _by_slot(hash_name, first.rule, np.arange(count, dtype=np.int32), count), np.stack(
            [table.owners for table in tables]
        )
    if first.kind == "buckets":
        return _by_owners(hash_name, first, [_owners_by_slot(table) for table in tables])
    uppers = np.unique(np.concatenate([*(table.bounds for table in tables), [first.space - 1]])).astype(
        np.int64
    )
    slices = [np.searchsorted(table.bounds, uppers) % len(table.bounds) for table in tables]
    parts = _parts(tables, slices, len(uppers))
    first_units = np.concatenate([[0], np.cumsum(parts)[:-1]]).astype(np.int32)
    count = int(parts.sum())
    if first.space <= SLOTS_MAX:
        slots = np.arange(first.space)
        at_cell = np.searchsorted(uppers, slots)
        units = _by_slot(
            hash_name, first.rule, (first_units[at_cell] + slots % parts[at_cell]).astype(np.int32), count
        )
    else:
        shift, buckets = _buckets(uppers, first.space)
        units = UnitMap(hash_name, first.rule, _NONE, uppers, first_units, parts, buckets, shift, count)
    cells = np.repeat(np.arange(len(uppers)), parts)
    remainders = np.arange(units.count) - first_units[cells]
    return units, np.stack(
        [_owners(table, at[cells], remainders) for table, at in zip(tables, slices, strict=True)]
    )


def _owners_by_slot(table: RouteTable) -> NDArray[np.int16]:
    count = len(table.owners)
    return table.owners[jump_slots(count)] if count else np.full(table.space, NOBODY, np.int16)


def _by_owners(
    hash_name: str, first: RouteTable, by_slot: Sequence[NDArray[np.int16]]
) -> tuple[UnitMap, NDArray[np.int16]]:
    """A unit for each history of owners that a slot has. by_slot: of each table, the owner of each slot."""
    slots = np.zeros(first.space, np.int64)
    for owners in by_slot:
        width = int(owners.max()) + 2
        together = slots * width + owners + 1
        is_used = np.bincount(together) > 0
        slots = (np.cumsum(is_used) - 1)[together]
    count = int(slots.max()) + 1
    # Any slot of a unit tells who owns all of it.
    of_unit = np.zeros(count, np.int64)
    of_unit[slots] = np.arange(first.space)
    held = np.stack([owners[of_unit] for owners in by_slot])
    return _by_slot(hash_name, first.rule, slots.astype(np.int32), count), held


def _parts(tables: Sequence[RouteTable], slices: Sequence[Int64s], count: int) -> Int32s:
    """Units of each cell: as many as all the ways of sharing it need, so that each remainder has one owner in
    every step."""
    parts = np.ones(count, np.int32)
    for table, at in zip(tables, slices, strict=True):
        owners = table.owners[at]
        for cell in np.flatnonzero(owners <= -2).tolist():
            parts[cell] = lcm(int(parts[cell]), len(table.shared[-2 - int(owners[cell])]))
    return parts


def _owners(table: RouteTable, slices: Int64s, remainders: Int64s) -> NDArray[np.int16]:
    owners = table.owners[slices]
    for unit in np.flatnonzero(owners <= -2).tolist():
        holders = table.shared[-2 - int(owners[unit])]
        owners[unit] = holders[int(remainders[unit]) % len(holders)]
    return owners


def _buckets(uppers: Int64s, space: int) -> tuple[int, Int32s]:
    """The shift and, for each bucket of 2**shift slots, the first cell that reaches into it."""
    bits = (space - 1).bit_length()
    shift = max(0, bits - (BUCKETS_PER_CELL * len(uppers)).bit_length())
    first_slots = np.arange(((space - 1) >> shift) + 1, dtype=np.int64) << shift
    return shift, np.searchsorted(uppers, first_slots).astype(np.int32)

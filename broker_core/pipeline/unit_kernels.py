"""The loops of counting: a hash finds its unit and adds to it."""

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled, inlined


@inlined
def slot_of(hashed: Any, mask: Any, modulo: Any, offset: Any) -> Any:
    """`SlotRule` of one hash, all unsigned 32 bits: numba's signed remainder takes twice as long."""
    slot = np.uint32(hashed & mask)
    if modulo:
        slot = np.uint32(slot % modulo)
    return np.uint32(slot + offset)


@compiled
def find_slots(hashes: Any, mask: Any, modulo: Any, offset: Any, slots: Any, out: Any) -> None:
    """The unit of each hash where slots are few: units by slot."""
    mask, modulo, offset = np.uint32(mask), np.uint32(modulo), np.uint32(offset)
    for row in range(len(hashes)):
        out[row] = slots[slot_of(hashes[row], mask, modulo, offset)]


@compiled
def find_cells(
    hashes: Any,
    mask: Any,
    modulo: Any,
    offset: Any,
    uppers: Any,
    first_units: Any,
    parts: Any,
    buckets: Any,
    shift: Any,
    out: Any,
) -> None:
    """The unit of each hash where slots are in cells: of the cell, and within a shared cell of the
    remainder."""
    mask, modulo, offset, shift = np.uint32(mask), np.uint32(modulo), np.uint32(offset), np.uint32(shift)
    for row in range(len(hashes)):
        slot = slot_of(hashes[row], mask, modulo, offset)
        cell = np.uint32(buckets[np.uint32(slot >> shift)])
        while uppers[cell] < slot:
            cell = np.uint32(cell + np.uint32(1))
        unit = first_units[cell]
        if parts[cell] > 1:
            unit += np.int32(np.int64(slot) % parts[cell])
        out[row] = unit


@compiled
def count_rows(
    units: Any, keys: Any, records: Any, sizes: Any, places: Any, unit_count: Any, counts: Any
) -> None:
    """counts[place * unit_count + unit] += (keys, records, bytes) of each row."""
    for row in range(len(units)):
        at = np.uint64(places[row] * unit_count + units[row])
        counts[at, 0] += keys[row]
        counts[at, 1] += records[row]
        counts[at, 2] += sizes[row]

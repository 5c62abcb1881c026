"""The loops of counting: a hash finds its unit and adds to it; the prints of keys are sorted into shards, and
those seen twice are found."""

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled, inlined

PRINT_WORDS = 3
"""A key's print: its murmur3, its murmur2 and its Java hash."""
SHARD_BITS = 10
SHARDS = 1 << SHARD_BITS
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


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


@compiled
def count_each(units: Any, sizes: Any, counts: Any) -> None:
    """counts[unit] += (1, 1, bytes) of each row."""
    for row in range(len(units)):
        at = np.uint64(units[row])
        counts[at, 0] += 1
        counts[at, 1] += 1
        counts[at, 2] += sizes[row]


@inlined
def mixed(one: Any, other: Any) -> Any:
    """Two hashes as one number with all bits stirred."""
    return ((np.uint64(one) << np.uint64(32)) | np.uint64(other)) * _SPREAD


@inlined
def shard_of(one: Any, other: Any) -> Any:
    """The shard of a print; it must not depend on the low bits of one hash alone, as those decide the place
    in the table of a shard."""
    return np.int64(mixed(one, other) >> np.uint64(64 - SHARD_BITS))


@compiled
def shard_sizes(prints: Any, sizes: Any) -> None:
    """How many prints fall into each shard, added to `sizes`."""
    for row in range(len(prints)):
        sizes[shard_of(prints[row, 0], prints[row, 1])] += 1


@compiled
def shard_fill(prints: Any, ends: Any, out: Any) -> None:
    """Sort prints by shard into `out`. ends: where the next print of each shard goes; moved on."""
    for row in range(len(prints)):
        shard = shard_of(prints[row, 0], prints[row, 1])
        at = ends[shard]
        ends[shard] = at + 1
        out[at, 0], out[at, 1], out[at, 2] = prints[row, 0], prints[row, 1], prints[row, 2]


@compiled
def find_repeats(prints: Any, table: Any, repeats: Any) -> Any:
    """Write the places of prints that repeat an earlier one into `repeats`; return how many.

    table: a power of two of slots, more than twice as many as prints, all -1; holds the place of each print
    that came first.
    """
    last_slot = np.uint64(len(table) - 1)
    found = 0
    for row in range(len(prints)):
        # The top bits chose the shard, so the slot is made of those below.
        slot = (mixed(prints[row, 0], prints[row, 1]) >> np.uint64(16)) & last_slot
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = row
                break
            if (
                prints[other, 0] == prints[row, 0]
                and prints[other, 1] == prints[row, 1]
                and prints[other, 2] == prints[row, 2]
            ):
                repeats[found] = row
                found += 1
                break
            slot = (slot + np.uint64(1)) & last_slot
    return found

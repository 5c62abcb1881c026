"""The orders in which Scala's hash maps hand out their keys; Kafka's old coordinator keeps its members in
one.

mutable.HashMap: slots as in Java, doubled one key earlier, and within a slot by hash. immutable.HashMap: a
tree of 32-way nodes, by five bits of another mix at a time; a node gives its own keys before those of its
children.
Source: scala.collection.mutable.HashMap, immutable.HashMap, Hashing of Scala 2.13. Vectors:
kafka/group/classic_old_scala.json.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.hashing.java_hash import string_hash_unsigned
from broker_core.hashing.java_map import FIRST_SLOT_COUNT, spread_hash

_MASK = 0xFFFFFFFF
_BITS = 5


def scala_order(keys: Iterable[str], size_peak: int = 0) -> list[str]:
    """Give `keys` in the order of a mutable.HashMap. size_peak: how many it has held at once, if that was
    more.

    >>> scala_order(["C2", "C0", "C1"])
    ['C0', 'C1', 'C2']
    """
    listed = list(dict.fromkeys(keys))
    slot_count = FIRST_SLOT_COUNT
    while max(len(listed), size_peak) >= slot_count * 3 // 4:
        slot_count *= 2
    hashes = {key: spread_hash(string_hash_unsigned(key)) for key in listed}
    return sorted(listed, key=lambda key: (hashes[key] & slot_count - 1, _signed(hashes[key])))


def scala_tree_order(keys: Iterable[str]) -> list[str]:
    """Give `keys` in the order of an immutable.HashMap. Left out: keys of one hash, which stand in order of
    insertion.

    >>> scala_tree_order(["range", "roundrobin"])
    ['roundrobin', 'range']
    """
    return [
        key
        for key, _ in _node_order([(key, _mixed(string_hash_unsigned(key))) for key in dict.fromkeys(keys)])
    ]


def _node_order(entries: list[tuple[str, int]]) -> list[tuple[str, int]]:
    slots: dict[int, list[tuple[str, int]]] = {}
    for key, mixed in entries:
        slots.setdefault(mixed & (1 << _BITS) - 1, []).append((key, mixed >> _BITS))
    own = [slots[slot][0] for slot in sorted(slots) if len(slots[slot]) == 1]
    below = [entry for slot in sorted(slots) if len(slots[slot]) > 1 for entry in _child_order(slots[slot])]
    return own + below


def _child_order(entries: list[tuple[str, int]]) -> list[tuple[str, int]]:
    is_collision = len({mixed for _, mixed in entries}) == 1
    return entries if is_collision else _node_order(entries)


def _mixed(hash_code: int) -> int:
    mixed = (hash_code + (~(hash_code << 9) & _MASK)) & _MASK
    mixed ^= mixed >> 14
    mixed = (mixed + (mixed << 4)) & _MASK
    return mixed ^ mixed >> 10


def _signed(hashed: int) -> int:
    return hashed - (1 << 32) if hashed & 0x80000000 else hashed

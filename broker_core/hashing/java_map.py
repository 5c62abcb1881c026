"""The order in which java.util.HashMap and HashSet hand out their keys.

Kafka's sticky assignors walk such maps, so which of two over-full members keeps the extra partition depends
on this order. It is repeatable: the table has a power of two of slots, a key sits in slot `(h ^ h >>> 16) &
(slots - 1)`, keys of one slot stay in order of insertion, and the table doubles when it holds more than three
quarters of its slots. `computeIfAbsent`, by which partitions are grouped by topic, puts a new key first in
its slot, and doubles one key later.

    slots 16, keys C0 C1 C2:   hash 2093, 2094, 2095  ->  slot 13  14  15  ->  C0 C1 C2

Left out: slots of nine and more keys in tables of 64 and more, which Java turns into trees with their own
order.
Source: java.util.HashMap of JDK 17 (putVal, computeIfAbsent, resize, treeifyBin). Vectors:
kafka/assignors.json, results `hash_order`.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from broker_core.hashing.java_hash import string_hash_unsigned

Key = TypeVar("Key")

FIRST_SLOT_COUNT = 16
SLOT_KEYS_MAX = 8
TREE_SLOT_COUNT_MIN = 64


def spread_hash(hash_code: int) -> int:
    """Mix the upper half of an unsigned 32-bit hash into the lower, as only the lower bits choose the slot.

    >>> spread_hash(0x00010000)
    65537
    """
    return hash_code ^ hash_code >> 16


def java_order(keys: Iterable[str], size_peak: int = 0) -> list[str]:
    """Give `keys`, inserted in the order given, in the order in which a HashMap iterates over them.

    A key that comes again keeps its first place. Putting the result into a second map gives the same order
    again. size_peak: how many keys the map has held at once, if that was more: its table grew for them and
    never shrinks.

    >>> java_order(["C2", "C0", "C1"])
    ['C0', 'C1', 'C2']
    >>> java_order(["consumer", "orders", "payments"])
    ['payments', 'orders', 'consumer']
    """
    table: JavaHashSet[str] = JavaHashSet(string_hash_unsigned, size_peak)
    for key in keys:
        table.add(key)
    return table.in_order()


def copied_order(
    copied: Iterable[str], removed: Iterable[str] = (), computed: Iterable[str] = ()
) -> list[str]:
    """Give the keys of a HashMap that was made as a copy of another map, from which some were removed and
    then some put in by `compute`.

    A copy's table is as small as its keys allow, not of 16 slots; what `compute` puts in comes first in its
    slot.

    >>> java_order(["range", "uniform"]), copied_order(["uniform"], computed=["range"])
    (['uniform', 'range'], ['range', 'uniform'])
    """
    keys = list(copied)
    slot_count = FIRST_SLOT_COUNT
    if keys:
        slot_count = 1
        while slot_count < 4 * len(keys) // 3 + 1:
            slot_count *= 2
    table: JavaHashSet[str] = _ComputedKeys(string_hash_unsigned, slot_count=slot_count)
    # The copied keys keep their order, so they go in from the last to the first.
    for key in reversed(keys):
        table.add(key)
    for key in removed:
        table.remove(key)
    for key in computed:
        table.add(key)
    return table.in_order()


def computed_order(keys: Iterable[str]) -> list[str]:
    """Give `keys` in the iteration order of a HashMap filled by computeIfAbsent: a newcomer comes first in
    its slot.

    keys: one for each call, so a key that comes again belongs in: the call looks at the size before it finds
    the key, and may double the table.

    >>> java_order(["Aa", "BB"]), computed_order(["Aa", "BB"])
    (['Aa', 'BB'], ['BB', 'Aa'])
    """
    table = _ComputedKeys(string_hash_unsigned)
    for key in keys:
        table.add(key)
    return table.in_order()


class JavaHashSet(Generic[Key]):
    """A set that answers in Java's order; `hash_code` gives the unsigned 32-bit hash of a key.

    >>> numbers = JavaHashSet(int)
    >>> for number in (18, 17, 1, 2): numbers.add(number)
    >>> numbers.in_order(), numbers.first()
    ([17, 1, 18, 2], 17)
    """

    __slots__ = ("_hash_code", "_hashes", "_slot_count", "_slot_sizes")

    def __init__(
        self, hash_code: Callable[[Key], int], size_peak: int = 0, slot_count: int = FIRST_SLOT_COUNT
    ) -> None:
        self._hash_code = hash_code
        self._hashes: dict[Key, int] = {}  # in order of insertion
        self._slot_count = slot_count
        while 4 * size_peak > 3 * self._slot_count:
            self._slot_count *= 2
        self._slot_sizes: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, key: Key) -> None:
        """Put `key` in; a key that is in already keeps its place."""
        if key in self._hashes:
            return
        spread = self._hashes[key] = spread_hash(self._hash_code(key))
        slot = spread & self._slot_count - 1
        size = self._slot_sizes[slot] = self._slot_sizes.get(slot, 0) + 1
        # A crowded slot of a small table doubles the table, once per key that comes too many.
        if size > SLOT_KEYS_MAX and self._slot_count < TREE_SLOT_COUNT_MIN:
            self._double()
        if 4 * len(self._hashes) > 3 * self._slot_count:
            self._double()

    def remove(self, key: Key) -> None:
        """Take `key` out; the table never shrinks. Raises KeyError for a key that is not in."""
        slot = self._hashes.pop(key) & self._slot_count - 1
        self._slot_sizes[slot] -= 1

    def in_order(self) -> list[Key]:
        """Give all keys in Java's order: by slot, and within a slot by insertion (the sort is stable)."""
        last_slot = self._slot_count - 1
        return sorted(self._hashes, key=lambda key: self._hashes[key] & last_slot)

    def first(self) -> Key:
        """Give the key that Java's iterator gives first. Raises ValueError when empty."""
        last_slot = self._slot_count - 1
        return min(self._hashes, key=lambda key: self._hashes[key] & last_slot)

    def _double(self) -> None:
        self._slot_count *= 2
        self._slot_sizes = {}
        for spread in self._hashes.values():
            slot = spread & self._slot_count - 1
            self._slot_sizes[slot] = self._slot_sizes.get(slot, 0) + 1


class _ComputedKeys(JavaHashSet[Key]):
    """The keys of a map that was filled by computeIfAbsent, which looks at the size before it puts the key
    in."""

    __slots__ = ()

    def add(self, key: Key) -> None:
        if 4 * len(self._hashes) > 3 * self._slot_count:  # also for a key that is in already
            self._double()
        if key in self._hashes:
            return
        spread = self._hashes[key] = spread_hash(self._hash_code(key))
        slot = spread & self._slot_count - 1
        size = self._slot_sizes[slot] = self._slot_sizes.get(slot, 0) + 1
        if size >= SLOT_KEYS_MAX and self._slot_count < TREE_SLOT_COUNT_MIN:
            self._double()

    def in_order(self) -> list[Key]:
        last_slot = self._slot_count - 1
        newest_first = list(self._hashes)[::-1]
        return sorted(newest_first, key=lambda key: self._hashes[key] & last_slot)

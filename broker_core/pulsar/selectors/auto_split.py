"""Auto-split hash range: each newcomer takes the lower half of the largest range.

    c1 connects   |------------------------- c1 -------------------------|  0 .. 65536
    c2 connects   |---------- c2 -----------|------------ c1 ------------|
    c3 connects   |--- c3 ---|---- c2 ------|------------ c1 ------------|
    c2 leaves     |--- c3 ---|-------------------- c1 -------------------|  its right neighbour takes it

A range is (previous upper bound, upper bound]; the first also holds slot 0, and the highest bound is the
range size, which no key reaches. A consumer's coming or going touches one other consumer only, at the price
of sizes that differ by powers of two.

Source: Pulsar 3.2.0 `HashRangeAutoSplitStickyKeyConsumerSelector`; the same rule in master of April 2026.
Vectors: pulsar/auto_split.json.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Self

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import MASK_31
from broker_core.pulsar.selectors.protocol import AssignRefused, Range, Ranges, Slices

RANGE_SIZE = 65536
"""Upstream's default (StickyKeyConsumerSelector.DEFAULT_RANGE_SIZE), hence at most 65,536 consumers."""


class AutoSplitSelector:
    """Ranges that split at a join and merge at a leave.

    range_size: slots, a power of two, 2 or more; else CommandError, where the original throws
    IllegalArgumentException.

    >>> selector = AutoSplitSelector()
    >>> for consumer in ("C1", "C2", "C3", "C4"): selector.add(consumer)
    >>> selector.uppers, selector.owners
    ([16384, 32768, 49152, 65536], ['C3', 'C2', 'C4', 'C1'])
    >>> selector.slot(3112179635), selector.select(3112179635)   # the hash of "Order-3459134"
    (6067, 'C3')
    """

    algorithm = "auto_split"
    first_slot = 0

    def __init__(self, range_size: int = RANGE_SIZE) -> None:
        if range_size < 2 or range_size & (range_size - 1):
            raise CommandError("range_size", "must be a power of two, 2 or more")
        self.space = range_size
        self.uppers: list[int] = []
        self.owners: list[str] = []

    def add(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> None:
        """Split the largest range, the lowest of equals; the newcomer gets the lower half, rounded up.

        Raises AssignRefused when the largest range is a single slot.
        """
        if consumer in self.owners:
            raise CommandError("consumer", "is connected already")
        if not self.uppers:
            self.uppers.append(self.space)
            self.owners.append(consumer)
            return
        lowers = [0, *self.uppers[:-1]]
        sizes = [upper - lower for lower, upper in zip(lowers, self.uppers, strict=True)]
        size = max(sizes)
        if size < 2:
            message = f"No more range can assigned to new consumer, assigned consumers {len(self.owners)}"
            raise AssignRefused(message, "no_more_ranges")
        at = sizes.index(size)
        self.uppers.insert(at, self.uppers[at] - (size >> 1))
        self.owners.insert(at, consumer)

    def remove(self, consumer: str) -> None:
        """The right neighbour takes the leaver's range; of the rightmost one, the left neighbour."""
        if consumer not in self.owners:
            return
        at = self.owners.index(consumer)
        if at == len(self.owners) - 1 and at > 0:
            del self.uppers[at - 1]
        else:
            del self.uppers[at]
        del self.owners[at]

    def slot(self, hash32: int) -> int:
        """The hash without its top bit, modulo the range size."""
        return (hash32 & MASK_31) % self.space

    def select(self, hash32: int) -> str | None:
        """The consumer of a key with this hash; None without consumers."""
        return self.owner_at(self.slot(hash32))

    def owner_at(self, slot: int) -> str | None:
        """The owner of the smallest upper bound at or above the slot."""
        return self.owners[bisect_left(self.uppers, slot)] if self.owners else None

    def slices(self) -> Slices:
        """One slice per range that a key can reach."""
        if not self.owners:
            return [self.space - 1], [None]
        if len(self.uppers) > 1 and self.uppers[-2] == self.space - 1:
            # The last range is the range size alone, which keys never have.
            return self.uppers[:-1], list(self.owners[:-1])
        return [*self.uppers[:-1], self.space - 1], list(self.owners)

    def ranges(self) -> dict[str, Ranges]:
        """As reported: from the previous bound + 1 (the first from 0), the last up to the range size
        itself."""
        out: dict[str, Ranges] = {}
        start = 0
        for owner, upper in zip(self.owners, self.uppers, strict=True):
            out[owner] = [(start, upper)]
            start = upper + 1
        return out

    def to_json(self) -> dict[str, Any]:
        """Bounds and owners."""
        return {
            "algorithm": self.algorithm,
            "space": self.space,
            "uppers": list(self.uppers),
            "owners": list(self.owners),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The selector that wrote `state`."""
        selector = cls(state["space"])
        selector.uppers = list(state["uppers"])
        selector.owners = list(state["owners"])
        return selector

"""Sticky ranges as the 3.2 documentation tells them: [start, end) in 0..65536, no overlaps, gaps allowed.

Differs from the real rule (`sticky_ranges.py`) in the ends: the documentation's own example, sent to the real
broker, would conflict at each border, because there both ends belong to a range. A newcomer without ranges,
or with ranges that overlap (another's or its own), is refused and "reverted as if it had never tried". The
documentation prints no texts for that, so the refusals use the broker's.

Source: Pulsar documentation 3.2, "Sticky" (article 000).
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from broker_core.errors import CommandError
from broker_core.pulsar.selectors.protocol import AssignRefused, Range, Ranges, Slices, merged_slices

RANGE_SIZE = 65536


class StickyDocumentSelector:
    """[start, end) ranges that consumers name themselves.

    >>> selector = StickyDocumentSelector()
    >>> selector.add("C1", ranges=[(0, 16384), (32768, 49152)])
    >>> selector.add("C2", ranges=[(16384, 32768), (49152, 65536)])
    >>> selector.slot(3112179635), selector.select(3112179635)   # the hash of "Order-3459134"
    (6067, 'C1')
    """

    algorithm = "sticky_document"
    first_slot = 0

    def __init__(self, range_size: int = RANGE_SIZE) -> None:
        if range_size < 1:
            raise CommandError("range_size", "must be greater than 0")
        self.space = range_size
        self.taken: dict[
            str, Ranges
        ] = {}  # consumer -> its ranges, as [start, end), ascending; consumers in arrival order
        self._by_start: list[tuple[int, int, str]] = []  # start, end (exclusive), consumer

    def add(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> None:
        """Give the newcomer its [start, end) ranges, all or none."""
        if consumer in self.taken:
            raise CommandError("consumer", "is connected already")
        if not ranges:
            raise AssignRefused("Ranges for KeyShared policy must not be empty.", "empty_ranges")
        for start, end in ranges:
            if start >= end:
                raise AssignRefused("Fixed hash range start >= end", "start_gt_end")
            if start < 0 or end > self.space:
                raise AssignRefused(
                    f"Ranges must be [0, {self.space}) but provided range is [{start}, {end})",
                    "out_of_bounds",
                )
        ascending = sorted((start, end) for start, end in ranges)
        if any(low_end > high_start for (_, low_end), (high_start, _) in pairwise(ascending)):
            raise AssignRefused("Consumer's own ranges conflict", "own_ranges_overlap")
        for start, end in ranges:
            for low, high, owner in self._by_start:
                if start < high and low < end:
                    raise AssignRefused(f"Range conflict with consumer {owner}", "range_conflict", owner)
        self._enter(consumer, ascending)

    def remove(self, consumer: str) -> None:
        """All ranges of the leaver become a gap."""
        if self.taken.pop(consumer, None) is not None:
            self._by_start = [entry for entry in self._by_start if entry[2] != consumer]

    def slot(self, hash32: int) -> int:
        """The whole unsigned hash modulo the range size, as the documentation computes it."""
        return hash32 % self.space

    def select(self, hash32: int) -> str | None:
        """The consumer whose range holds the slot of this key; None: nobody."""
        slot = self.slot(hash32)
        at = bisect_right(self._by_start, slot, key=lambda entry: entry[0]) - 1
        return self._by_start[at][2] if at >= 0 and slot < self._by_start[at][1] else None

    def slices(self) -> Slices:
        """A slice per range, a slice per gap."""
        pieces: list[tuple[int, str | None]] = []
        low = 0
        for start, end, owner in self._by_start:
            if low < start:
                pieces.append((start - 1, None))
            pieces.append((end - 1, owner))
            low = end
        if low < self.space:
            pieces.append((self.space - 1, None))
        return merged_slices(pieces)

    def ranges(self) -> dict[str, Ranges]:
        """Consumer -> its ranges, both ends inclusive, ascending."""
        return {
            consumer: [(start, end - 1) for start, end in ranges] for consumer, ranges in self.taken.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Consumers with their ranges."""
        taken = [[consumer, [list(pair) for pair in ranges]] for consumer, ranges in self.taken.items()]
        return {"algorithm": self.algorithm, "space": self.space, "taken": taken}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The selector that wrote `state`."""
        selector = cls(state["space"])
        for consumer, ranges in state["taken"]:
            selector._enter(consumer, [(start, end) for start, end in ranges])
        return selector

    def _enter(self, consumer: str, ascending: Ranges) -> None:
        self.taken[consumer] = ascending
        self._by_start = sorted([*self._by_start, *((start, end, consumer) for start, end in ascending)])

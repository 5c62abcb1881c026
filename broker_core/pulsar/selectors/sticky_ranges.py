"""Sticky ranges: every consumer says which slots it wants, and gets just these or is refused.

    c1 asks for 0..16383 and 32768..49151          |-- c1 --|  gap   |-- c1 --|  gap   |
    c2 asks for 16384..32767 and 49152..65535      |-- c1 --|-- c2 --|-- c1 --|-- c2 --|

Ranges hold both ends. Nobody checks that all slots are covered: a key in a gap waits for a consumer that
covers it. A refused consumer leaves no trace; a leaver's ranges become a gap.

Two versions. 3.2 remembers only the ends of ranges, so a hole between two ranges of one consumer is served by
that consumer, and ranges of one consumer that overlap are taken although parts get lost. Current (#24730)
remembers whole ranges and has neither effect.

Source: Pulsar 3.2 and master of April 2026 `HashRangeExclusiveStickyKeyConsumerSelector`; the client's check
is `KeySharedPolicy.KeySharedPolicySticky.validate`. Vectors: pulsar/sticky_ranges.json.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import Any, Self

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import MASK_31
from broker_core.pulsar.selectors.protocol import AssignRefused, Range, Ranges, Slices, merged_slices

RANGE_SIZE = 65536


def check_client_ranges(ranges: Sequence[Range], range_size: int = RANGE_SIZE) -> None:
    """What Pulsar's client refuses before anything is sent; the broker checks neither bounds nor, in 3.2,
    overlaps of one's own.

    Raises AssignRefused (empty_ranges, start_gt_end, out_of_bounds or own_ranges_overlap) for the first range
    that is wrong; overlaps are named in the order of the list.
    """
    if not ranges:
        raise AssignRefused("Ranges for KeyShared policy must not be empty.", "empty_ranges")
    for start, end in ranges:
        # The client cannot even make such a range: the check sits in the constructor of Range.
        if end < start:
            raise AssignRefused("Range end must >= range start.", "start_gt_end")
    for index, (start, end) in enumerate(ranges):
        if start < 0 or end > range_size - 1:
            text = f"Ranges must be [0, {range_size - 1}] but provided range is [{start}, {end}]"
            raise AssignRefused(text, "out_of_bounds")
        for other, (low, high) in enumerate(ranges):
            if other != index and start <= high and low <= end:
                text = (
                    f"Ranges for KeyShared policy with overlap between [{start}, {end}] and [{low}, {high}]"
                )
                raise AssignRefused(text, "own_ranges_overlap")


class _StickySelector(ABC):
    """What the two versions share: who asked for what, the slot of a key, the texts of a refusal."""

    algorithm: str
    first_slot = 0

    def __init__(self, range_size: int = RANGE_SIZE) -> None:
        if range_size < 1:
            raise CommandError("range_size", "must be greater than 0")
        self.space = range_size
        self.asked: dict[
            str, Ranges
        ] = {}  # consumer -> ranges in the order it named them; consumers in arrival order

    def add(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> None:
        """Give the newcomer its ranges, all or none. ranges: both ends inclusive; None: the consumer sent no
        key- shared policy.
        """
        if consumer in self.asked:
            raise CommandError("consumer", "is connected already")
        if ranges is None:
            raise AssignRefused("Must specify key shared meta for consumer.", "no_key_shared_meta")
        if not ranges:
            raise AssignRefused("Ranges for KeyShared policy must not be empty.", "empty_ranges")
        self._check(ranges)
        conflict = self._conflict(ranges)
        if conflict is not None:
            raise AssignRefused(f"Range conflict with consumer {conflict}", "range_conflict", conflict)
        self._enter(consumer, [(start, end) for start, end in ranges])

    def slot(self, hash32: int) -> int:
        """The hash without its top bit, modulo the range size."""
        return (hash32 & MASK_31) % self.space

    def select(self, hash32: int) -> str | None:
        """The consumer that covers the slot of this key; None: nobody."""
        return self.owner_at(self.slot(hash32))

    def to_json(self) -> dict[str, Any]:
        """Consumers with the ranges they asked for; all else follows."""
        asked = [[consumer, [list(pair) for pair in ranges]] for consumer, ranges in self.asked.items()]
        return {"algorithm": self.algorithm, "space": self.space, "asked": asked}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The selector that wrote `state`."""
        selector = cls(state["space"])
        for consumer, ranges in state["asked"]:
            selector._enter(consumer, [(start, end) for start, end in ranges])
        return selector

    @abstractmethod
    def owner_at(self, slot: int) -> str | None:
        """The consumer that covers a slot."""

    @abstractmethod
    def _check(self, ranges: Sequence[Range]) -> None:
        """Raise AssignRefused where the broker refuses the newcomer's own list."""

    @abstractmethod
    def _conflict(self, ranges: Sequence[Range]) -> str | None:
        """The consumer whose ranges are in the way; None: nobody's."""

    @abstractmethod
    def _enter(self, consumer: str, ranges: Ranges) -> None:
        """Take the ranges in; they have been checked."""


class StickySelector(_StickySelector):
    """The 3.2 rule: a map of range ends.

    >>> selector = StickySelector()
    >>> selector.add("C1", ranges=[(0, 16383), (32768, 49151)])
    >>> selector.add("C2", ranges=[(16384, 32767), (49152, 65535)])
    >>> selector.select(3112179635)   # "Order-3459134": slot 6067
    'C1'
    """

    algorithm = "sticky"

    def __init__(self, range_size: int = RANGE_SIZE) -> None:
        super().__init__(range_size)
        self._ends: list[int] = []
        self._owners: dict[int, str] = {}  # range end (first or last slot of a range) -> consumer

    def remove(self, consumer: str) -> None:
        """All ranges of the leaver become a gap."""
        if self.asked.pop(consumer, None) is not None:
            self._ends = [end for end in self._ends if self._owners[end] != consumer]
            self._owners = {end: self._owners[end] for end in self._ends}

    def owner_at(self, slot: int) -> str | None:
        """The consumer that owns both the nearest end at or below the slot and the nearest at or above it."""
        above = bisect_left(self._ends, slot)
        below = bisect_right(self._ends, slot) - 1
        if above == len(self._ends) or below < 0:
            return None
        owner = self._owners[self._ends[above]]
        return owner if owner == self._owners[self._ends[below]] else None

    def slices(self) -> Slices:
        """The space from end to end: each end a slice, what is between two ends of one consumer is its
        own."""
        pieces: list[tuple[int, str | None]] = []
        previous: int | None = None
        for end in self._ends:
            owner = self._owners[end]
            between = owner if previous is not None and self._owners[previous] == owner else None
            pieces += [(end - 1, between), (end, owner)]
            previous = end
        return _clipped(pieces, self.space)

    def ranges(self) -> dict[str, Ranges]:
        """As reported: ends are taken in pairs from the left, and a pair of two consumers is dropped.

        So ranges of a single slot, which have one end, are missing and upset what follows.
        """
        out: dict[str, Ranges] = {}
        for low, high in zip(self._ends[::2], self._ends[1::2], strict=False):
            if self._owners[low] == self._owners[high]:
                out.setdefault(self._owners[low], []).append((low, high))
        return out

    def _check(self, ranges: Sequence[Range]) -> None:
        if any(start > end for start, end in ranges):
            raise AssignRefused("Fixed hash range start > end", "start_gt_end")

    def _conflict(self, ranges: Sequence[Range]) -> str | None:
        """The consumer that the original names: the first range in the given order that conflicts, its upper
        neighbour first.
        """
        ends = self._ends
        for start, end in ranges:
            at_or_above, at_or_below = bisect_left(ends, start), bisect_right(ends, end) - 1
            floor = ends[at_or_below] if at_or_below >= 0 else None
            ceiling = ends[at_or_above] if at_or_above < len(ends) else None
            if floor is not None and floor >= start:
                return self._owners[floor]
            if floor is None or ceiling is None or self._owners[floor] != self._owners[ceiling]:
                continue
            # No end inside, both neighbours of one consumer: a hole of its, or the inside of one of its
            # ranges.
            owner = self._owners[floor]
            if any(start <= high and low <= end for low, high in self.asked[owner]):
                return owner
        return None

    def _enter(self, consumer: str, ranges: Ranges) -> None:
        self.asked[consumer] = ranges
        for end in (end for pair in ranges for end in pair):
            if end not in self._owners:
                insort(self._ends, end)
            self._owners[end] = consumer


class StickyCurrentSelector(_StickySelector):
    """The rule of master since #24730: whole ranges.

    >>> selector = StickyCurrentSelector()
    >>> selector.add("c1", ranges=[(0, 10), (20, 30)])
    >>> [selector.owner_at(slot) for slot in (10, 15, 20)]
    ['c1', None, 'c1']
    """

    algorithm = "sticky_current"
    first_slot = 1

    def __init__(self, range_size: int = RANGE_SIZE) -> None:
        super().__init__(range_size)
        self._starts: list[int] = []
        self._by_start: dict[int, tuple[int, str]] = {}  # first slot of a range -> its last slot, consumer

    def slot(self, hash32: int) -> int:
        """As in 3.2, but 0 means "no hash" and becomes 1."""
        return super().slot(hash32) or 1

    def remove(self, consumer: str) -> None:
        """All ranges of the leaver become a gap."""
        if self.asked.pop(consumer, None) is not None:
            self._starts = [start for start in self._starts if self._by_start[start][1] != consumer]
            self._by_start = {start: self._by_start[start] for start in self._starts}

    def owner_at(self, slot: int) -> str | None:
        """The consumer of the range that starts nearest below the slot, if that reaches it."""
        at = bisect_right(self._starts, slot) - 1
        if at < 0:
            return None
        end, owner = self._by_start[self._starts[at]]
        return owner if slot <= end else None

    def slices(self) -> Slices:
        """A slice per range, a slice per gap. Slot 0, which no key has, is part of the slice after it."""
        pieces: list[tuple[int, str | None]] = []
        for start in self._starts:
            end, owner = self._by_start[start]
            pieces += [(start - 1, None), (end, owner)] if start > self.first_slot else [(end, owner)]
        return _clipped(pieces, self.space)

    def ranges(self) -> dict[str, Ranges]:
        """Consumer -> its ranges, ascending, those that touch reported as one."""
        out: dict[str, Ranges] = {}
        for start in self._starts:
            end, owner = self._by_start[start]
            mine = out.setdefault(owner, [])
            if mine and mine[-1][1] == start - 1:
                start = mine.pop()[0]
            mine.append((start, end))
        return out

    def _check(self, ranges: Sequence[Range]) -> None:
        by_start = sorted(ranges, key=lambda pair: pair[0])
        for index, (start, end) in enumerate(by_start):
            if start > end:
                raise AssignRefused(
                    f"Fixed hash range start > end for range: [{start},{end}]", "start_gt_end"
                )
            if index + 1 < len(by_start):
                low, high = by_start[index + 1]
                if low <= min(end, high):
                    text = f"Consumer's own ranges conflict: [{start},{end}] overlaps with [{low},{high}]"
                    raise AssignRefused(text, "own_ranges_overlap")

    def _conflict(self, ranges: Sequence[Range]) -> str | None:
        """The consumer that the original names: per range in the given order, the neighbour from below first,
        then the one above.
        """
        for start, end in ranges:
            below, above = bisect_right(self._starts, start) - 1, bisect_left(self._starts, start)
            for at in (below, above):
                if 0 <= at < len(self._starts):
                    low = self._starts[at]
                    high, owner = self._by_start[low]
                    if low <= end and start <= high:
                        return owner
        return None

    def _enter(self, consumer: str, ranges: Ranges) -> None:
        self.asked[consumer] = ranges
        for start, end in ranges:
            insort(self._starts, start)
            self._by_start[start] = (end, consumer)


def _clipped(pieces: Sequence[tuple[int, str | None]], space: int) -> Slices:
    """Pieces as slices of 0 .. space - 1: the broker takes ranges that reach outside, where no key is; the
    rest is a gap.
    """
    inside: list[tuple[int, str | None]] = []
    last = -1
    for bound, owner in [*pieces, (space - 1, None)]:
        bound = min(bound, space - 1)
        if bound > last:
            inside.append((bound, owner))
            last = bound
    return merged_slices(inside)

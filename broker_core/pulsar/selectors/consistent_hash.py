"""Consistent hashing: every consumer marks points on a ring; a key belongs to the next point clockwise.

             c1-0
          . - ~ - .   c2-7       key at 12 o'clock -> c2-7, the first point at or after its hash;
        c2-3       c1-5          past the highest point the ring begins again
          ' - _ - '
             c2-0

A newcomer's points take a small piece from everybody, so loads stay even and every consumer is touched a
little. The versions differ in the strings that are hashed, the size of the ring, and in what happens where
two consumers hit one point; `RingRule` says how.

Source: Pulsar `ConsistentHashingStickyKeyConsumerSelector`, 3.2.0 (before #22053), 3.2.1 (after it) and
master of April 2026.
Vectors: pulsar/consistent_hash.json. The documentation's own ring: `ring_document.py`.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, Self

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import MASK_31, murmur3_32
from broker_core.hashing.ring import HashRing
from broker_core.pulsar.selectors.protocol import Range, Ranges, Slices

SharedSlices = tuple[list[int], list[str | tuple[str, ...] | None]]
POINTS = 100
"""Upstream's default (subscriptionKeySharedConsistentHashingReplicaPoints); fewer make the arcs visibly
uneven."""


class SharedPoint(Enum):
    """What consumers do that hit the same point."""

    NAME_ORDER = "by name (Java's string order), a key goes to holders[hash mod count]"
    ARRIVAL_ORDER = "in arrival order, a key goes to holders[hash mod count]"
    QUEUE = (
        "the first to come serves it alone, later ones (itself too) queue behind it and take over when it "
        "leaves"
    )


@dataclass(frozen=True, slots=True)
class RingRule:
    """One version of the ring.

    mask, fold: the slot of a hash is its bits under the mask, folded to 1 .. fold where there is a fold (0
    then means "no hash"). point_text: (consumer name, its index among live namesakes, point index) -> the
    string that is hashed; point indices count from first_index. merges_ranges: neighbouring ranges are
    reported as one.
    """

    algorithm: str
    mask: int
    fold: int | None
    point_text: Callable[[str, int, int], str]
    first_index: int
    shared: SharedPoint
    merges_ranges: bool

    @property
    def space(self) -> int:
        """Slots of the ring: 0 .. space - 1."""
        return (self.mask if self.fold is None else self.fold) + 1

    @property
    def first_slot(self) -> int:
        """1 where 0 means "no hash"."""
        return 0 if self.fold is None else 1

    def slot(self, hash32: int) -> int:
        """The place of an unsigned 32-bit hash on the ring."""
        slot = hash32 & self.mask
        return slot if self.fold is None else slot % self.fold + 1


def _text_3_2_0(name: str, _: int, index: int) -> str:
    return f"{name}{index}"


def _text_3_2_1(name: str, _: int, index: int) -> str:
    # 3.2.0 is ambiguous for names that end in digits: "c1" + "11" is "c11" + "1". #22053 put the NUL between.
    return f"{name}\0{index}"


def _text_current(name: str, name_index: int, index: int) -> str:
    return f"{name}\0{name_index}\0{index}"


RING_3_2_0 = RingRule("consistent_hash_3_2_0", MASK_31, None, _text_3_2_0, 0, SharedPoint.NAME_ORDER, False)
RING_3_2_1 = RingRule("consistent_hash", MASK_31, None, _text_3_2_1, 0, SharedPoint.NAME_ORDER, False)
RING_CURRENT = RingRule("consistent_hash_current", MASK_31, 65535, _text_current, 0, SharedPoint.QUEUE, True)


@dataclass(frozen=True, slots=True)
class RingMember:
    """A connected consumer: its name, and the smallest index that was free among live consumers of that
    name."""

    name: str
    name_index: int


@lru_cache(maxsize=1024)  # the lanes of a lab, and a lane under its next rule, have the same consumers
def _points_of(rule: RingRule, member: RingMember, count: int) -> tuple[int, ...]:
    """The points of a consumer, by index."""
    slot, text, name, name_index = rule.slot, rule.point_text, member.name, member.name_index
    return tuple(
        slot(murmur3_32(text(name, name_index, i))) for i in range(rule.first_index, rule.first_index + count)
    )


class RingSelector:
    """A ring under one `RingRule`, `point_count` points per consumer.

    >>> selector = RingSelector(RING_3_2_0)
    >>> selector.add("c1", "orders-aggregator-pod-2345-consumer")
    >>> 1003084738 in selector.ring.points and 373317202 in selector.ring.points, len(selector.ring)
    (True, 100)
    """

    rules: ClassVar[tuple[RingRule, ...]] = (RING_3_2_0, RING_3_2_1, RING_CURRENT)

    def __init__(self, rule: RingRule = RING_3_2_1, point_count: int = POINTS) -> None:
        if point_count < 1:
            raise CommandError("points", "must be 1 or more")
        self.rule = rule
        self.point_count = point_count
        self.space = rule.space
        self.first_slot = rule.first_slot
        self.ring = HashRing(rule.space)
        self._mask, self._fold = rule.mask, rule.fold
        self._is_split = rule.shared is not SharedPoint.QUEUE
        self.members: dict[str, RingMember] = {}  # in arrival order
        self._slices: Slices | None = (
            None  # until the next consumer comes or goes: a large ring has tens of thousands
        )
        self._shared_slices: SharedSlices | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # A rule holds functions, which cannot be pickled; its name can. A ring is rebuilt from its members.
        return type(self).from_json, (self.to_json(),)

    def add(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> None:
        """Mark the newcomer's points. CommandError when this consumer is connected already."""
        if consumer in self.members:
            raise CommandError("consumer", "is connected already")
        name = consumer if name is None else name
        taken = {member.name_index for member in self.members.values() if member.name == name}
        index = next(i for i in range(len(taken) + 1) if i not in taken)
        self._enter(consumer, RingMember(name, index))

    def remove(self, consumer: str) -> None:
        """Take the leaver's points away; at a shared point those after it move up."""
        member = self.members.pop(consumer, None)
        if member is not None:
            self._slices = self._shared_slices = None
            self.ring.remove(consumer, self._points(member))

    def slot(self, hash32: int) -> int:
        """The place of a key on this ring."""
        return self.rule.slot(hash32)

    def select(self, hash32: int) -> str | None:
        """The consumer of the next point clockwise; None on an empty ring."""
        slot = hash32 & self._mask
        return self.ring.holder_at(slot if self._fold is None else slot % self._fold + 1, self._is_split)

    def slices(self) -> Slices:
        """One slice per point, with its first holder. For reading: the same lists until a consumer comes or
        goes."""
        if self._slices is None:
            points = self.ring.points
            self._slices = (points, [*self.ring.first_holders]) if points else ([self.space - 1], [None])
        return self._slices

    def shared_slices(self) -> SharedSlices:
        """Like `slices`, but a point that splits its keys among several holders has the tuple of them.

        For `moved_share`, which then counts such points exactly.
        """
        if self._shared_slices is None:
            bounds, first = self.slices()
            owners: list[str | tuple[str, ...] | None] = [*first]
            for point, holders in self.ring.shared.items() if self._is_split else ():
                owners[bisect_left(bounds, point)] = tuple(holders)
            self._shared_slices = bounds, owners
        return self._shared_slices

    def ranges(self) -> dict[str, Ranges]:
        """As each version reports them.

        3.2: one range per point and holder, without what wraps over above the highest point. Current:
        neighbours merged, wrap included.
        """
        out: dict[str, Ranges] = {}
        # One range per point and holder: a 3.2 point with three holders reports the same range three times.
        start = self.first_slot
        points = self.ring.points
        for point in points:
            holders = self.ring.holders(point)
            for holder in holders[:1] if self.rule.merges_ranges else holders:
                self._report(out.setdefault(holder, []), start, point)
            start = point + 1
        if self.rule.merges_ranges and points and start < self.space:
            self._report(out.setdefault(self.ring.first_holder[points[0]], []), start, self.space - 1)
        return out

    def to_json(self) -> dict[str, Any]:
        """Members in arrival order; the ring follows from them."""
        members = [[consumer, member.name, member.name_index] for consumer, member in self.members.items()]
        return {"algorithm": self.rule.algorithm, "points": self.point_count, "members": members}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The selector that wrote `state`.

        Holders of a point are in arrival or name order, so entering again in order restores them.
        """
        rule = next(rule for rule in cls.rules if rule.algorithm == state["algorithm"])
        selector = cls(rule, state["points"])
        for consumer, name, name_index in state["members"]:
            selector._enter(consumer, RingMember(name, name_index))
        return selector

    def _enter(self, consumer: str, member: RingMember) -> None:
        self.members[consumer] = member
        self._slices = self._shared_slices = None
        by_name = self._name_order if self.rule.shared is SharedPoint.NAME_ORDER else None
        self.ring.add(consumer, self._points(member), by_name, self.rule.shared is SharedPoint.QUEUE)

    def _points(self, member: RingMember) -> Sequence[int]:
        return _points_of(self.rule, member, self.point_count)

    def _name_order(self, consumer: str) -> bytes:
        # Java compares strings by UTF-16 code units, Python by code points.
        return self.members[consumer].name.encode("utf-16-be", "surrogatepass")

    def _report(self, ranges: Ranges, start: int, end: int) -> None:
        if self.rule.merges_ranges and ranges and ranges[-1][1] == start - 1:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))

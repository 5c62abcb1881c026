"""Positions that wait to be sent again, and the hashes of their keys, which block newer messages of the same
keys.

    order    . . . 12 15 16 20 21 ...      what comes is appended, what goes is mostly at the front
                   ^ start                 take 12 and 16 away: . . . . . 15 20 21, and nothing behind them has moved

So neither costs more where thousands wait. Source: Pulsar 3.2 `MessageRedeliveryController`.
"""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from broker_core.plain import from_steps, to_steps


class ReplaySet:
    """blocks: whether hashes are kept; not where order is nobody's wish (allowOutOfOrderDelivery). waiting:
    position -> the hash that it blocks, None for none; in no order. counts: hash -> how many positions of it
    wait."""

    def __init__(self, *, blocks: bool = True) -> None:
        self.blocks = blocks
        self.waiting: dict[int, int | None] = {}
        self.counts: dict[int, int] = {}
        self._order: list[int] = []  # ascending; those before `_start` are gone
        self._start = 0

    def __len__(self) -> int:
        return len(self.waiting)

    def __contains__(self, position: int) -> bool:
        return position in self.waiting

    def __iter__(self) -> Iterator[int]:
        """Ascending."""
        return islice(self._order, self._start, None)

    @property
    def positions(self) -> list[int]:
        """All of them, ascending."""
        return self._order[self._start :]

    def add(self, position: int, hash32: int | None = None) -> None:
        """hash32: None blocks nothing, as after a redelivery that a client asked for. A position that is in
        keeps the hash it has."""
        if not self.blocks:
            hash32 = None
        waiting = self.waiting
        if position not in waiting:
            order = self._order
            if not order or position > order[-1]:
                order.append(position)
            else:
                insort(order, position, self._start)
        elif hash32 is None or waiting[position] is not None:
            return
        waiting[position] = hash32
        if hash32 is not None:
            self.counts[hash32] = self.counts.get(hash32, 0) + 1

    def remove(self, positions: Iterable[int]) -> None:
        """Take these away, all of which are in."""
        waiting, counts, last = self.waiting, self.counts, -1
        for position in positions:
            hash32 = waiting.pop(position)
            if position > last:
                last = position
            if hash32 is not None:
                if counts[hash32] == 1:
                    del counts[hash32]
                else:
                    counts[hash32] -= 1
        if last < 0:
            return
        # Those that stay close up to the last one that goes: what is behind it, usually most of them, keeps
        # its place.
        order, start = self._order, self._start
        stop = bisect_right(order, last, start)
        staying = [position for position in order[start:stop] if position in waiting]
        start = stop - len(staying)
        order[start:stop] = staying
        if start * 2 > len(order):
            del order[:start]
            start = 0
        self._start = start

    def clear(self) -> None:
        self.waiting.clear()
        self.counts.clear()
        self._order.clear()
        self._start = 0

    def has_hash(self, hashes: Iterable[int]) -> bool:
        """Whether a position with one of these hashes waits."""
        return any(hash32 in self.counts for hash32 in hashes)

    def first(self, count: int) -> list[int]:
        """The lowest positions, at most so many."""
        return self._order[self._start : self._start + count]

    def to_json(self, hash_of: Callable[[int], int]) -> dict[str, Any]:
        """positions: ascending. free: those of them that block nothing; hashes: of those that block another one
        than their entry has. hash_of: position -> the hash of its entry."""
        positions, waiting = self.positions, self.waiting
        return {
            "positions": to_steps(positions),
            "free": to_steps(each for each in positions if waiting[each] is None),
            "hashes": {
                each: hash32 for each in positions if (hash32 := waiting[each]) not in (None, hash_of(each))
            },
        }

    def restore(self, kept: Mapping[str, Any], hash_of: Callable[[int], int]) -> None:
        """Become the set that wrote `kept`."""
        self.clear()
        self._order = from_steps(kept["positions"])
        self.waiting = dict(zip(self._order, map(hash_of, self._order), strict=True))
        self.waiting.update(kept["hashes"])
        self.waiting.update(dict.fromkeys(from_steps(kept["free"])))
        self.counts = dict(Counter(hash32 for hash32 in self.waiting.values() if hash32 is not None))

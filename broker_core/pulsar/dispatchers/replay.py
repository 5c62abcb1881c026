"""Positions that wait to be sent again, and the hashes of their keys, which block newer messages of the same keys.

Source: Pulsar 3.2 `MessageRedeliveryController`.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import Any

from broker_core.plain import from_steps, to_steps


class ReplaySet:
    """blocks: whether hashes are kept; not where order is nobody's wish (allowOutOfOrderDelivery). positions: ascending. counts: hash -> how
    many positions of it wait."""

    def __init__(self, *, blocks: bool = True) -> None:
        self.blocks = blocks
        self.positions: list[int] = []
        self.counts: dict[int, int] = {}
        self._known: set[int] = set()
        self._hash_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.positions)

    def __contains__(self, position: int) -> bool:
        return position in self._known

    def add(self, position: int, hash32: int | None = None) -> None:
        """hash32: None blocks nothing, as after a redelivery that a client asked for. A position that is in keeps the hash it has."""
        if position not in self._known:
            self._known.add(position)
            if not self.positions or position > self.positions[-1]:
                self.positions.append(position)
            else:
                insort(self.positions, position)
        if self.blocks and hash32 is not None and position not in self._hash_of:
            self._hash_of[position] = hash32
            self.counts[hash32] = self.counts.get(hash32, 0) + 1

    def remove(self, position: int) -> None:
        if position not in self._known:
            return
        self._known.remove(position)
        del self.positions[bisect_left(self.positions, position)]
        hash32 = self._hash_of.pop(position, None)
        if hash32 is not None:
            self.counts[hash32] -= 1
            if not self.counts[hash32]:
                del self.counts[hash32]

    def clear(self) -> None:
        self.positions.clear()
        self.counts.clear()
        self._known.clear()
        self._hash_of.clear()

    def has_hash(self, hashes: Iterable[int]) -> bool:
        """Whether a position with one of these hashes waits."""
        return any(hash32 in self.counts for hash32 in hashes)

    def first(self, count: int) -> list[int]:
        """The lowest positions, at most so many."""
        return self.positions[:count]

    def to_json(self) -> dict[str, Any]:
        """positions: ascending; hashes: position -> hash, of those that block."""
        return {"positions": to_steps(self.positions), "hashes": {each: self._hash_of[each] for each in self.positions if each in self._hash_of}}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Become the set that wrote `kept`."""
        self.clear()
        for position in from_steps(kept["positions"]):
            self.add(position, kept["hashes"].get(position))

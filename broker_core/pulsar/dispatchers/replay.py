"""Positions that wait to be sent again, and the hashes of their keys, which block newer messages of the same keys.

Source: Pulsar 3.2 `MessageRedeliveryController`.
"""

from collections.abc import Iterable


class ReplaySet:
    """blocks: whether hashes are kept; not where order is nobody's wish (allowOutOfOrderDelivery)."""

    def __init__(self, *, blocks: bool = True) -> None:
        self.blocks = blocks
        self._positions: set[int] = set()
        self._hash_of: dict[int, int] = {}
        self._count_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._positions)

    def add(self, position: int, hash32: int | None = None) -> None:
        """hash32: None blocks nothing, as after a redelivery that a client asked for. A position that is in keeps the hash it has."""
        self._positions.add(position)
        if self.blocks and hash32 is not None and position not in self._hash_of:
            self._hash_of[position] = hash32
            self._count_of[hash32] = self._count_of.get(hash32, 0) + 1

    def remove(self, position: int) -> None:
        self._positions.discard(position)
        hash32 = self._hash_of.pop(position, None)
        if hash32 is not None:
            self._count_of[hash32] -= 1
            if not self._count_of[hash32]:
                del self._count_of[hash32]

    def clear(self) -> None:
        self._positions.clear()
        self._hash_of.clear()
        self._count_of.clear()

    def has_hash(self, hashes: Iterable[int]) -> bool:
        """Whether a position with one of these hashes waits."""
        return any(hash32 in self._count_of for hash32 in hashes)

    def first(self, count: int) -> list[int]:
        """The lowest positions, at most so many."""
        return sorted(self._positions)[:count]

"""java.util.Random, number by number: a 48-bit linear congruence, of which the upper bits are given out.

Kafka's controller places replicas with it. A generator's whole state is one number.

Source: java.util.Random and java.util.Collections.shuffle of JDK 17. Vectors:
kafka/replication/controller.json, kind `placer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")

_MULTIPLIER = 0x5DEECE66D
_MASK = (1 << 48) - 1


@dataclass(slots=True)
class JavaRandom:
    """One generator. state: 48 bits; made by `seeded`.

    >>> random = JavaRandom.seeded(42)
    >>> [random.below(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    state: int

    @classmethod
    def seeded(cls, seed: int) -> JavaRandom:
        """As `new Random(seed)`."""
        return cls((seed ^ _MULTIPLIER) & _MASK)

    def below(self, limit: int) -> int:
        """As `nextInt(limit)`: 0 to limit - 1; limit: 1 or more."""
        if limit & -limit == limit:
            return (limit * self._bits()) >> 31
        while True:
            bits = self._bits()
            number = bits % limit
            if (
                bits - number + limit - 1 < 1 << 31
            ):  # else the last, shorter run of numbers: its members would come more often
                return number

    def shuffle(self, items: list[Item]) -> None:
        """As `Collections.shuffle`, in place."""
        for size in range(len(items), 1, -1):
            other = self.below(size)
            items[size - 1], items[other] = items[other], items[size - 1]

    def _bits(self) -> int:
        self.state = (self.state * _MULTIPLIER + 0xB) & _MASK
        return self.state >> 17

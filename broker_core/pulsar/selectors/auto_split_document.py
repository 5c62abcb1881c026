"""Auto-split hash range as the 3.2 documentation tells it: ranges are [low, high).

Differs from the real rule (`auto_split.py`) in three places: the bounds belong to the range above them, a
range of odd size gives its *smaller* half to the newcomer (split at the floor of its middle), and the last
slot is owned like any other. The text says that a leaver's range merges to its right; its example of the
rightmost one shows that this merges to the left.

Source: Pulsar documentation 3.2, "Auto-split Hash Range" (article 000).
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Self

from broker_core.errors import CommandError
from broker_core.pulsar.selectors.protocol import AssignRefused, Range, Ranges, Slices

RANGE_SIZE = 65536


class AutoSplitDocumentSelector:
    """[low, high) ranges that split at a join and merge at a leave.

    >>> selector = AutoSplitDocumentSelector()
    >>> for consumer in ("C1", "C2", "C3", "C4"): selector.add(consumer)
    >>> selector.lows, selector.owners
    ([0, 16384, 32768, 49152], ['C3', 'C2', 'C4', 'C1'])
    >>> selector.remove("C4"); selector.remove("C1")
    >>> selector.lows, selector.owners
    ([0, 16384], ['C3', 'C2'])
    """

    algorithm = "auto_split_document"
    first_slot = 0

    def __init__(self, range_size: int = RANGE_SIZE) -> None:
        if range_size < 1:
            raise CommandError("range_size", "must be 1 or more")
        self.space = range_size
        self.lows: list[int] = []
        self.owners: list[str] = []

    def add(self, consumer: str, name: str | None = None, ranges: Sequence[Range] | None = None) -> None:
        """Split the largest range, the lowest of equals, at the floor of its middle; the lower half is the
        newcomer's.
        """
        if consumer in self.owners:
            raise CommandError("consumer", "is connected already")
        if not self.lows:
            self.lows.append(0)
            self.owners.append(consumer)
            return
        highs = [*self.lows[1:], self.space]
        sizes = [high - low for low, high in zip(self.lows, highs, strict=True)]
        size = max(sizes)
        if size < 2:
            message = f"No more range can assigned to new consumer, assigned consumers {len(self.owners)}"
            raise AssignRefused(message, "no_more_ranges")
        at = sizes.index(size)
        self.lows.insert(at + 1, (self.lows[at] + highs[at]) // 2)
        self.owners.insert(at, consumer)

    def remove(self, consumer: str) -> None:
        """The right neighbour's range grows down over the leaver's; the rightmost one's goes to the left."""
        if consumer not in self.owners:
            return
        at = self.owners.index(consumer)
        # The neighbour that takes over keeps one low end of the two: the leaver's when it sits to the right,
        # else its own.
        del self.lows[at + 1 if at + 1 < len(self.lows) else at]
        del self.owners[at]

    def slot(self, hash32: int) -> int:
        """The whole unsigned hash modulo the range size, as the documentation computes it."""
        return hash32 % self.space

    def select(self, hash32: int) -> str | None:
        """The owner of the range [low, high) that holds the slot; None without consumers."""
        return self.owners[bisect_right(self.lows, self.slot(hash32)) - 1] if self.owners else None

    def slices(self) -> Slices:
        """One slice per range."""
        if not self.owners:
            return [self.space - 1], [None]
        return [*(low - 1 for low in self.lows[1:]), self.space - 1], list(self.owners)

    def ranges(self) -> dict[str, Ranges]:
        """Consumer -> its one range, both ends inclusive."""
        bounds = self.slices()[0]
        return {
            owner: [(low, bound)] for owner, low, bound in zip(self.owners, self.lows, bounds, strict=False)
        }

    def to_json(self) -> dict[str, Any]:
        """Low ends and owners."""
        return {
            "algorithm": self.algorithm,
            "space": self.space,
            "lows": list(self.lows),
            "owners": list(self.owners),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The selector that wrote `state`."""
        selector = cls(state["space"])
        selector.lows = list(state["lows"])
        selector.owners = list(state["owners"])
        return selector

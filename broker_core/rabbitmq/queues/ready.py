"""The order of a queue's ready messages: by priority, and within one by the place in publish order.

Delivery takes the lowest position of a level first, so a message that comes back is below everything of its level
that was never delivered. Two containers hold a level's order: what came back, a heap (all of it redelivered), then
what is fresh, as it came.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Self


class Positions(deque[int]):
    """Ascending positions; in a checkpoint each unbroken run is one pair, so a backlog of a million is no
    more than that."""

    def to_json(self) -> list[list[int]]:
        """(first, count) of each run."""
        runs: list[list[int]] = []
        for position in self:
            if runs and position == runs[-1][0] + runs[-1][1]:
                runs[-1][1] += 1
            else:
                runs.append([position, 1])
        return runs

    @classmethod
    def from_json(cls, runs: list[list[int]]) -> Self:
        """The positions that wrote `runs`."""
        return cls(position for first, count in runs for position in range(first, first + count))


class Bodies:
    """at: position -> the message there; in a checkpoint each run in which both go up by one is one entry."""

    __slots__ = ("at",)

    def __init__(self, at: dict[int, int] | None = None) -> None:
        self.at = at or {}

    def to_json(self) -> list[list[int]]:
        """(first position, first message, count) of each run."""
        runs: list[list[int]] = []
        for position, message in self.at.items():
            if runs and [position, message] == [runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]]:
                runs[-1][2] += 1
            else:
                runs.append([position, message, 1])
        return runs

    @classmethod
    def from_json(cls, runs: list[list[int]]) -> Self:
        """The messages that wrote `runs`."""
        return cls(
            {position + place: message + place for position, message, count in runs for place in range(count)}
        )


class Level:
    """Ready messages of one priority."""

    __slots__ = ("fresh", "requeued")

    def __init__(self, requeued: Iterable[int] = (), fresh: Positions | None = None) -> None:
        self.requeued, self.fresh = list(requeued), Positions() if fresh is None else fresh

    def to_json(self) -> list[Any]:
        """What came back is a heap, and sorted it is the same one in every process."""
        return [sorted(self.requeued), self.fresh.to_json()]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Self:
        requeued, fresh = plain
        return cls(requeued, Positions.from_json(fresh))

    def __len__(self) -> int:
        return len(self.requeued) + len(self.fresh)

    def requeue(self, positions: list[int]) -> None:
        """One heap operation a message for a few, one pass over all for many."""
        if len(positions) * 8 < len(self.requeued):
            for position in positions:
                heapq.heappush(self.requeued, position)
        else:
            self.requeued.extend(positions)
            heapq.heapify(self.requeued)

    def first(self) -> tuple[int, bool]:
        """(position, redelivered) of the next one."""
        return (self.requeued[0], True) if self.requeued else (self.fresh[0], False)

    def take(self) -> tuple[int, bool]:
        """The next one leaves."""
        return (heapq.heappop(self.requeued), True) if self.requeued else (self.fresh.popleft(), False)

    def head(self, count: int) -> list[tuple[int, bool]]:
        """The next `count`."""
        messages = [(position, True) for position in smallest(self.requeued, count)]
        messages += [(position, False) for position in islice(self.fresh, count - len(messages))]
        return messages

    def __iter__(self) -> Iterator[int]:
        yield from self.requeued
        yield from self.fresh


def smallest(heap: list[int], count: int) -> list[int]:
    """The `count` lowest of a heap in order, without a look at the rest: a parent is never above its
    children."""
    found: list[int] = []
    frontier = [(heap[0], 0)] if heap else []
    while frontier and len(found) < count:
        value, index = heapq.heappop(frontier)
        found.append(value)
        for child in (2 * index + 1, 2 * index + 2):
            if child < len(heap):
                heapq.heappush(frontier, (heap[child], child))
    return found

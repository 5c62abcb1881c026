"""A subscription's place in its topic: what is acknowledged, with holes, and what is read next.

    0 1 2 3 4 5 6 7 8        mark-delete 2: all up to it is acknowledged
    # # # . # # . . .        acknowledged ahead of it: 4, 5
          ^     ^            read position 6: what a normal read begins with

Source: Pulsar 3.2 `ManagedCursorImpl` (asyncDelete, rewind, getNumberOfEntriesSinceFirstNotAckedMessage); one ledger, so positions are entry
numbers from 0.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Cursor:
    """mark_delete: -1 while nothing is acknowledged. ahead: acknowledged positions above it. end: one past the last entry of the topic.

    >>> cursor = Cursor(end=10)
    >>> for position in range(1, 10):
    ...     cursor.ack(position)
    >>> cursor.mark_delete, cursor.ranges, cursor.backlog
    (-1, [(0, 9)], 1)
    >>> cursor.ack(0); cursor.mark_delete, cursor.ranges
    (9, [])
    """

    mark_delete: int = -1
    ahead: set[int] = field(default_factory=set)
    read_position: int = 0
    end: int = 0

    def ack(self, position: int) -> None:
        """Acknowledge one entry; one that is acknowledged already, or does not exist, changes nothing."""
        if self.is_acked(position) or not 0 <= position < self.end:
            return
        self.ahead.add(position)
        while self.mark_delete + 1 in self.ahead:
            self.mark_delete += 1
            self.ahead.remove(self.mark_delete)

    def is_acked(self, position: int) -> bool:
        return position <= self.mark_delete or position in self.ahead

    def read(self, count: int) -> list[int]:
        """The next entries from the read position on, at most so many; what is acknowledged is passed over."""
        found: list[int] = []
        while len(found) < count and self.read_position < self.end:
            if not self.is_acked(self.read_position):
                found.append(self.read_position)
            self.read_position += 1
        return found

    def rewind(self) -> None:
        """Read again from the first entry after mark-delete."""
        self.read_position = self.mark_delete + 1

    @property
    def since_first_unacked(self) -> int:
        """Entries from mark-delete to the read position: 1 when all that was read is acknowledged."""
        return self.read_position - self.mark_delete

    @property
    def backlog(self) -> int:
        """Entries that are not acknowledged."""
        return self.end - 1 - self.mark_delete - len(self.ahead)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Acknowledged ahead of mark-delete, as the original keeps it: open below, closed above."""
        ranges: list[tuple[int, int]] = []
        for position in sorted(self.ahead):
            if ranges and ranges[-1][1] == position - 1:
                ranges[-1] = (ranges[-1][0], position)
            else:
                ranges.append((position - 1, position))
        return ranges

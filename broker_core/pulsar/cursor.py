"""A subscription's place in its topic: what is acknowledged, with holes, and what is read next.

    0 1 2 3 4 5 6 7 8        mark-delete 2: all up to it is acknowledged
    # # # . # # . . .        acknowledged ahead of it: 4, 5
          ^     ^            read position 6: what a normal read begins with

Of a batch single messages may be acknowledged: their places are kept until the last one of the entry is, and
only the others are sent again.

Source: Pulsar 3.2 `ManagedCursorImpl` (asyncDelete, asyncMarkDelete, batchDeletedIndexes, asyncResetCursor,
rewind, getNumberOfEntriesSinceFirstNotAckedMessage); one ledger, so positions are entry numbers from 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(slots=True)
class Cursor:
    """mark_delete: -1 while nothing is acknowledged. ahead: acknowledged positions above it. end: one past
    the last entry of the topic.
    acked_in_batch: position -> places in its batch that are acknowledged, ascending, of entries that are not
    acknowledged as a whole.

    >>> cursor = Cursor(end=10)
    >>> for position in range(1, 10):
    ...     _ = cursor.ack(position)
    >>> cursor.mark_delete, cursor.ranges, cursor.backlog
    (-1, [(0, 9)], 1)
    >>> cursor.ack(0), cursor.mark_delete, cursor.ranges
    (True, 9, [])
    """

    mark_delete: int = -1
    ahead: dict[int, None] = field(default_factory=dict)
    read_position: int = 0
    end: int = 0
    acked_in_batch: dict[int, list[int]] = field(default_factory=dict)

    def ack(self, position: int) -> bool:
        """Acknowledge one entry. False, and nothing changes: it is acknowledged already, or does not
        exist."""
        mark_delete, ahead = self.mark_delete, self.ahead
        if position <= mark_delete or position >= self.end or position in ahead:
            return False
        if self.acked_in_batch:
            self.acked_in_batch.pop(position, None)
        if position != mark_delete + 1:
            ahead[position] = None
            return True
        mark_delete = position
        while mark_delete + 1 in ahead:
            mark_delete += 1
            del ahead[mark_delete]
        self.mark_delete = mark_delete
        return True

    def ack_places(self, position: int, places: Iterable[int]) -> int:
        """Acknowledge these places in an entry's batch. Returns how many of them were not acknowledged
        before; 0, and nothing changes, where the entry is acknowledged or does not exist. Whoever knows the
        batch's size acknowledges the entry with its last place."""
        if position >= self.end or self.is_acked(position):
            return 0
        before = self.acked_in_batch.get(position, ())
        acked = sorted({*before, *places})
        if len(acked) > len(before):
            self.acked_in_batch[position] = acked
        return len(acked) - len(before)

    def left(self, position: int, size: int) -> int:
        """How many messages of an entry that is not acknowledged, and holds so many, are not."""
        return size - len(self.acked_in_batch[position]) if position in self.acked_in_batch else size

    def places_left(self, position: int, size: int) -> tuple[int, ...]:
        """Their places; empty where that is the whole entry."""
        if position not in self.acked_in_batch:
            return ()
        acked = self.acked_in_batch[position]
        return tuple(place for place in range(size) if place not in acked)

    def ack_cumulative(self, position: int) -> bool:
        """Acknowledge this entry and all before it. False, and nothing changes: it is at or below
        mark-delete, or does not exist."""
        if not self.mark_delete < position < self.end:
            return False
        for acked in [acked for acked in self.ahead if acked <= position]:
            del self.ahead[acked]
        for partly in [partly for partly in self.acked_in_batch if partly <= position]:
            del self.acked_in_batch[partly]
        self.mark_delete = position - 1
        return self.ack(position)

    def reset(self, position: int) -> None:
        """Seek: nothing from this entry on is acknowledged, everything before it is."""
        self.mark_delete = position - 1
        self.ahead.clear()
        self.acked_in_batch.clear()
        self.read_position = position

    def is_acked(self, position: int) -> bool:
        return position <= self.mark_delete or position in self.ahead

    def read(self, count: int) -> list[int]:
        """The next entries from the read position on, at most so many; what is acknowledged is passed
        over."""
        found: list[int] = []
        position, end, mark_delete, ahead = self.read_position, self.end, self.mark_delete, self.ahead
        while len(found) < count and position < end:
            if position > mark_delete and position not in ahead:
                found.append(position)
            position += 1
        self.read_position = position
        return found

    def rewind(self) -> None:
        """Read again from the first entry after mark-delete."""
        self.read_position = self.mark_delete + 1

    def unacked_read(self) -> list[int]:
        """Entries that were read and are not acknowledged, ascending."""
        return [
            position
            for position in range(self.mark_delete + 1, self.read_position)
            if position not in self.ahead
        ]

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

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain, with `ranges`."""
        return {
            "mark_delete": self.mark_delete,
            "ranges": self.ranges,
            "read_position": self.read_position,
            "end": self.end,
            "acked_in_batch": {position: list(places) for position, places in self.acked_in_batch.items()},
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The cursor that wrote `state`."""
        ahead = dict.fromkeys(
            position for below, last in state["ranges"] for position in range(below + 1, last + 1)
        )
        acked_in_batch = {position: list(places) for position, places in state["acked_in_batch"].items()}
        return cls(state["mark_delete"], ahead, state["read_position"], state["end"], acked_in_batch)

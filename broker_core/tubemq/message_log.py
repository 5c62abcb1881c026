"""The messages of one partition that may still be read, in the order in which they were written.

    start                       end
      | 40 41 43 44 47 52 53 60 |        numbers of the messages at the offsets start, start + 1, ...
          ▲ lowest offset that a group has stored: what is before it goes, some at a time

A checkpoint holds the numbers as steps from one to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from broker_core.plain import from_steps, to_steps

GONE_AT_ONCE = 64
"""So many that nobody reads any more go together: each time the rest moves up."""
HEADER_BYTES = 52
"""What a store puts before a message's data: length, mark, checksum, partition, offset, time of arrival, sender,
kind, id and flag. Source: TubeMQ (InLong) MessageStore.appendMsg."""


class MessageLog:
    """start: offset of the first message that is kept. sizes: of each message with its header, in bytes.

    >>> log = MessageLog(40)
    >>> for number in (7, 8, 9):
    ...     log.append(number, 100)
    >>> log.between(41, 43), log.batch_end(40, 43, 300), log.to_json()
    ([8, 9], 42, {'start': 40, 'steps': [7, 1, 1], 'sizes': [152, 152, 152]})
    """

    __slots__ = ("messages", "sizes", "start")

    def __init__(
        self, start: int = 0, messages: list[int] | None = None, sizes: list[int] | None = None
    ) -> None:
        self.start = start
        self.messages, self.sizes = messages or [], sizes or []

    def append(self, message: int, size: int) -> None:
        """A message with so many bytes of data is written at the end."""
        self.messages.append(message)
        self.sizes.append(HEADER_BYTES + size)

    def between(self, first: int, stop: int) -> list[int]:
        """Numbers of the messages at the offsets first..stop-1."""
        return self.messages[first - self.start : stop - self.start]

    def size(self, first: int, stop: int) -> int:
        """Of the messages at these offsets, with their headers, in bytes."""
        return sum(self.sizes[first - self.start : stop - self.start])

    def batch_end(self, first: int, end: int, bytes_max: int) -> int:
        """The offset after the message with which a batch from `first` on reaches `bytes_max`, at most `end`.

        Source: TubeMQ (InLong) MsgMemStore.getMessages, MsgFileStore.getMessages: the message that goes over
        the limit is the batch's last.
        """
        total = 0
        for offset in range(first, end):
            total += self.sizes[offset - self.start]
            if total >= bytes_max:
                return offset + 1
        return end

    def forget(self, until: int) -> None:
        """Nobody will read what is before this offset."""
        if until - self.start >= GONE_AT_ONCE:
            del self.messages[: until - self.start], self.sizes[: until - self.start]
            self.start = until

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain."""
        return {"start": self.start, "steps": to_steps(self.messages), "sizes": self.sizes[:]}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The log that wrote `state`."""
        return cls(state["start"], from_steps(state["steps"]), list(state["sizes"]))

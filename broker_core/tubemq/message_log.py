"""The messages of one partition that somebody may still read, in the order in which they were written.

    start                       end
      | 40 41 43 44 47 52 53 60 |        numbers of the messages at the offsets start, start + 1, ...
          ▲ lowest offset that a group has stored: what is before it goes, some at a time

A checkpoint holds them as steps from one to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from broker_core.plain import from_steps, to_steps

GONE_AT_ONCE = 64
"""So many that nobody reads any more go together: each time the rest moves up."""


class MessageLog:
    """start: offset of the first message that is kept.

    >>> log = MessageLog(40, [7, 8, 9])
    >>> log.between(41, 43), log.to_json()
    ([8, 9], {'start': 40, 'steps': [7, 1, 1]})
    """

    __slots__ = ("messages", "start")

    def __init__(self, start: int = 0, messages: list[int] | None = None) -> None:
        self.start = start
        self.messages = messages or []

    def between(self, first: int, stop: int) -> list[int]:
        """Numbers of the messages at the offsets first..stop-1."""
        return self.messages[first - self.start : stop - self.start]

    def forget(self, until: int) -> None:
        """Nobody will read what is before this offset."""
        if until - self.start >= GONE_AT_ONCE:
            del self.messages[: until - self.start]
            self.start = until

    def to_json(self) -> dict[str, Any]:
        """Whole state, plain."""
        return {"start": self.start, "steps": to_steps(self.messages)}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """The log that wrote `state`."""
        return cls(state["start"], from_steps(state["steps"]))

"""Messages that the broker holds: those with content of their own, by id, until the last queue lets go of them.

A workload's message that goes through the default exchange has nothing to store: its number is its id, and its
routing key is the name of the queue it is in. So a backlog of a million of them is a million numbers, and in a
checkpoint one entry for each run.

    0 ...... numbers of the workload, people and programs ...... 2**60 ...... ids that the broker gives
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from broker_core.rabbitmq.properties import PERSISTENT, Content

FIRST_STORED = 1 << 60
NEVER = 1 << 62


@dataclass(slots=True)
class Stored:
    """routing_keys: the publish's own first, then those of CC and BCC. origin: of a dead-lettered copy, the id of
    the message that died, -1 for others. holders: queues that hold it, ready or unacked. written_us: when it is on
    disk, 0 where it is not meant to be, NEVER where the disk did not take it."""

    content: Content
    exchange: str
    routing_keys: list[str]
    origin: int = -1
    holders: int = 0
    written_us: int = 0
    written_bytes: int = 0

    @property
    def priority(self) -> int:
        return self.content.properties.priority or 0

    @property
    def is_persistent(self) -> bool:
        return self.content.properties.delivery_mode == PERSISTENT

    @property
    def expiration_ms(self) -> int | None:
        text = self.content.properties.expiration
        return None if text is None else int(text)


@dataclass(slots=True)
class Messages:
    """at: id -> message. last: ids given so far. freed_bytes: on disk, of messages that are gone, for the disk to hear."""

    at: dict[int, Stored] = field(default_factory=dict)
    last: int = 0
    freed_bytes: int = 0

    def add(self, message: Stored) -> int:
        """Its id. Who adds a message releases it when all queues have it, or none."""
        number = FIRST_STORED + self.last
        self.last += 1
        message.holders = 1
        self.at[number] = message
        return number

    def record(self, message: int) -> int:
        """The number of the workload's or a person's message that this is, -1 for a body of its own."""
        return message if message < FIRST_STORED else self.at[message].content.message

    def hold(self, message: int) -> None:
        if message >= FIRST_STORED:
            self.at[message].holders += 1

    def release(self, message: int) -> None:
        """One holder less; with the last one the message is gone."""
        if message >= FIRST_STORED:
            stored = self.at[message]
            stored.holders -= 1
            if not stored.holders:
                self.freed_bytes += stored.written_bytes
                del self.at[message]


def size_of(messages: Messages, message: int, workload_size: Callable[[int], int]) -> int:
    """Bytes of the message's body."""
    if message < FIRST_STORED:
        return workload_size(message)
    content = messages.at[message].content
    return len(content.body) if content.message < 0 else workload_size(content.message)

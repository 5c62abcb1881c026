"""What a consumer remembers, and what redelivery and letters ask of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from broker_core.pulsar.client.config import ConsumerConfig, Part
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.selectors.protocol import Range
from broker_core.sim.node import Outbox
from broker_core.sim.program import Program, Traffic

Tracked = tuple[int, int, int, int]
"""A clock of the ack time-out: (moment at which its time is over, consumer id, entry, place in its batch or
`timeouts.WHOLE`)."""


@dataclass(slots=True)
class ConsumerState:
    """queue: messages received and not yet taken by the program; hand: the one that it works on. broker:
    where it connects to. ranges: sticky ranges of its configuration, else empty. request_id: of the last
    command that is answered. parts: consumer id -> part. waits_again: (when it is asked for again, consumer
    id, entry); is_looking: ASK_AGAIN is set. tracked: see `timeouts.py`; ticks_from_us: from when its ticks
    are counted. letters: producer id -> next sequence id, of its producers of retry and dead letters.
    holds_acks: it is stuck; held: what it has handled since. refused_acks: acknowledgements that its client
    refused."""

    name: str
    program: Program
    config: ConsumerConfig = field(default_factory=ConsumerConfig)
    broker: str = ""
    ranges: list[Range] = field(default_factory=list)
    connection: int = 0
    request_id: int = 0
    parts: dict[int, Part] = field(default_factory=dict)
    queue: deque[CommandMessage] = field(default_factory=deque)
    hand: CommandMessage | None = None
    waits_again: list[tuple[int, int, int]] = field(default_factory=list)
    tracked: list[Tracked] = field(default_factory=list)
    letters: dict[int, int] = field(default_factory=dict)
    holds_acks: bool = False
    held: list[CommandMessage] = field(default_factory=list)
    refused_acks: int = 0
    is_looking: bool = False
    ticks_from_us: int = 0

    @property
    def is_subscribed(self) -> bool:
        """Whether the broker has let every part in."""
        return bool(self.parts) and all(part.is_subscribed for part in self.parts.values())

    @property
    def has_unsubscribed(self) -> bool:
        """Whether it has taken its subscription away, and not subscribed again."""
        return any(part.unsubscribe_id and not part.is_subscribed for part in self.parts.values())

    @property
    def refused(self) -> str:
        """Name of the error with which a part was refused last, or nothing."""
        return next((part.refused for part in self.parts.values() if part.refused), "")

    @property
    def unreported(self) -> int:
        """Entries that were handled and acknowledged, and of which the broker has not been told."""
        return sum(len(part.acks) for part in self.parts.values())


class RedeliveringConsumer(Protocol):
    """A consumer, as redelivery and letters see it."""

    state: ConsumerState
    traffic: Traffic
    key_of: Callable[[int], int]

    def clear_queue(self, consumer_id: int, now_us: int, out: Outbox) -> int:
        """Drop what a part has received and the program has not taken. Returns how many messages."""
        ...

    def grant(self, consumer_id: int, count: int, out: Outbox) -> None:
        """The queue of a part has room for so many more."""
        ...

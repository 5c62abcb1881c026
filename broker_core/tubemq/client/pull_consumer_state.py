"""What a consumer remembers whose partitions its master gives out, and what a person orders of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from broker_core.tubemq import requests as r
from broker_core.tubemq.client.reading_program import ReadingProgram


class StartPull(msgspec.Struct, frozen=True, tag="tubemq.pull_consumer.start", array_like=True):
    """A person starts the process. masters: node names. brokers: node name of each broker id. boot_us: until it
    registers."""

    masters: list[str]
    brokers: dict[int, str]
    boot_us: int


@dataclass(slots=True)
class Binding:
    """Of a bound group: what this member asks for. required: "key=offset,key=offset"."""

    session_key: str
    source_count: int
    select_big: bool
    required: str


@dataclass(slots=True)
class PullConsumerState(ReadingProgram):
    # Where a partition without a stored offset begins, with its first register request.
    position: int = r.FROM_FIRST
    binding: Binding | None = None
    started_us: int = -1  # when the master took it
    events: deque[r.ConsumerEvent] = field(default_factory=deque)  # from the master; the first is under way
    calls: deque[str] = field(default_factory=deque)  # partitions of it that are still to be registered
    calling: str = ""  # the one that is asked for
    again: list[str] = field(default_factory=list)  # those that failed in this round
    rounds: int = 0  # that are over
    done: deque[int] = field(default_factory=deque)  # ids of events that are to be reported
    tries: int = 0  # of registering at the master
    is_not_allocated: bool = True  # as the master says
    is_first: bool = True  # no event to connect is carried out

    @property
    def is_busy(self) -> bool:
        """Whether it carries out an event of the master."""
        return bool(self.events or self.done)

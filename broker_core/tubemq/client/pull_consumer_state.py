"""What a consumer remembers whose partitions its master gives out, and what a person orders of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from broker_core.sim.program import Program
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.master_link import MasterLink
from broker_core.tubemq.client.program_state import BOOTING
from broker_core.tubemq.client.reader import ReaderState


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
class PullConsumerState:
    client_id: str
    group: str
    reader: ReaderState
    topics: list[str] = field(default_factory=list)
    position: int = (
        r.FROM_FIRST
    )  # where a partition without a stored offset begins, with its first register request
    binding: Binding | None = None
    phase: str = BOOTING  # as of a client that balances for itself
    refused_code: int = 0  # of the master's last refusal
    masters: MasterLink = field(default_factory=MasterLink)
    launched_us: int | None = None  # when its process started
    first_start_us: int | None = None  # when it first registered at the master
    started_us: int = -1  # when the master took it
    events: deque[r.ConsumerEvent] = field(default_factory=deque)  # from the master; the first is under way
    calls: deque[str] = field(default_factory=deque)  # partitions of it that are still to be registered
    calling: str = ""  # the one that is asked for
    again: list[str] = field(default_factory=list)  # those that failed in this round
    rounds: int = 0  # that are over
    done: deque[int] = field(default_factory=deque)  # ids of events that are to be reported
    beats: int = 0  # heartbeats since it last reported what it holds
    failed_beats: int = 0  # in a row
    silent: list[int] = field(default_factory=list)  # brokers whose heartbeat has no answer
    tries: int = 0  # of registering at the master
    asked: list[str] = field(default_factory=list)  # partitions whose first register request is over
    is_not_allocated: bool = True  # as the master says
    is_first: bool = True  # no event to connect is carried out

    @property
    def program(self) -> Program:
        return self.reader.program

    @property
    def registered(self) -> list[str]:
        """Partitions that it holds, in order of registering."""
        return [*self.reader.held]

    @property
    def reading(self) -> str:
        """Partition of the batch that is out, "" for none."""
        return self.reader.reading

    @property
    def batch(self) -> deque[int]:
        """Messages of it that are not handled yet."""
        return self.reader.batch

    @property
    def links(self) -> dict[int, int]:
        """Its connections to brokers, by their ids."""
        return self.reader.connections

    @property
    def is_busy(self) -> bool:
        """Whether it carries out an event of the master."""
        return bool(self.events or self.done)

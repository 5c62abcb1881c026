"""What a program around a ClientBalanceConsumer remembers, and what a person orders of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from broker_core.tubemq.assignment import Connect, Disconnect
from broker_core.tubemq.client.call_results import LastAnswer
from broker_core.tubemq.client.consumer_object import ASSIGNER, ConsumerObject
from broker_core.tubemq.client.reading_program import ReadingProgram


class Start(msgspec.Struct, frozen=True, tag="tubemq.consumer.start", array_like=True):
    """A person starts the process. boot_us: until it calls start(). masters: their node names; brokers: node name of
    each broker id."""

    masters: list[str]
    brokers: dict[int, str]
    boot_us: int


class Shutdown(msgspec.Struct, frozen=True, tag="tubemq.consumer.shutdown", array_like=True):
    """A person ends the process: it calls shutdown() and exits."""


class Share(msgspec.Struct, frozen=True, tag="tubemq.consumer.share", array_like=True):
    """From now on the client takes these partitions, None: those of the modulo rule. bootstrap: key -> offset in bytes
    with which it connects the next time. It makes a pass at once."""

    partitions: list[str] | None
    bootstrap: dict[str, int] = {}


class MakeCall(msgspec.Struct, frozen=True, tag="tubemq.consumer.call", array_like=True):
    """A person makes one of the 17 calls, in a thread of its own. name: the original's. key: partition, topic or confirm
    context; number: offset, waiting time in ms, source count or 1 for consumed; second: node id; filters: of start()'s
    topics, with commas."""

    name: str
    key: str = ""
    number: int = 0
    second: int = 0
    filters: str = ""


class Hold(msgspec.Struct, frozen=True, tag="tubemq.consumer.hold", array_like=True):
    """The next batch (of `partition`, "" for any) is handled and not confirmed."""

    partition: str


class LetGo(msgspec.Struct, frozen=True, tag="tubemq.consumer.let_go", array_like=True):
    """The batches that are held are confirmed now. is_consumed: False has them come again."""

    is_consumed: bool


Orders = Start | Shutdown | Share | MakeCall | Hold | LetGo


@dataclass(slots=True)
class PassResult:
    """A pass of the assigner: the set difference that it computed, and the code of each call that was refused."""

    at_us: int
    releases: list[str]
    registers: list[str]
    refused: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class ProgramState(ReadingProgram):
    """consumer: the object of the 17 calls. topics, source_count, node_id: the arguments of its start().

    share: what a person or the group's operator gives it, None: by the modulo rule. bootstrap: key -> offset for the
    next connect. todo: calls that the pass under way has still to make; last_pass: the last one. next_pass_us: when
    the next one begins. map_us: when the master last answered its query.
    answers: of a person's calls, the last one by name.
    mapped_us: when it first had a map. given_us: when a pass
    first had something to register; asked_us: when that began which registered its first partition: the pass, or
    after tries that failed the last one. is_leaving: it ends
    when its start() has been answered.
    """

    consumer: ConsumerObject
    source_count: int
    node_id: int
    share: list[str] | None = None
    bootstrap: dict[str, int] = field(default_factory=dict)
    todo: deque[Disconnect | Connect] = field(default_factory=deque)
    last_pass: PassResult | None = None
    next_pass_us: int | None = None
    map_us: int | None = None
    answers: dict[str, LastAnswer] = field(default_factory=dict)
    mapped_us: int | None = None
    given_us: int | None = None
    asked_us: int | None = None
    is_leaving: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether a pass is under way."""
        return bool(self.todo) or ASSIGNER in self.consumer.calls

"""What a program remembers that reads one batch at a time, whoever gives its client partitions, and the phases of its
life."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from broker_core.sim.program import Program
from broker_core.tubemq.client.consumer_object import BaseConsumer

BOOTING, STARTING, STARTED, REFUSED, STOPPING, STOPPED = (
    "booting",
    "starting",
    "started",
    "refused",
    "stopping",
    "stopped",
)


@dataclass(slots=True)
class ReadingProgram:
    """consumer: the client library's object. topics: that it subscribes. phase: one of the six above. refused_code: of the
    last refusal, by the master or (410) by a broker whose partition another client has; 0 when it has all that it asked for.

    batch: messages read and not yet handled; reading, context: their partition and confirm context. holds: partition
    whose next batch is held back, "" for any, None for none; unconfirmed: partition -> context of a batch held back.
    seen: how many partitions it held when it last looked; told: those that it has told of.
    launched_us: of the process. first_start_us: when it first asked the master to take it; start_us: when it did so last before its first
    record. first_record_us: when the first
    record came."""

    consumer: BaseConsumer
    program: Program
    topics: list[str]
    phase: str = field(default=BOOTING, kw_only=True)
    refused_code: int = field(default=0, kw_only=True)
    batch: deque[int] = field(default_factory=deque, kw_only=True)
    reading: str = field(default="", kw_only=True)
    context: str = field(default="", kw_only=True)
    holds: str | None = field(default=None, kw_only=True)
    unconfirmed: dict[str, str] = field(default_factory=dict, kw_only=True)
    seen: int = field(default=0, kw_only=True)
    told: list[str] = field(default_factory=list, kw_only=True)
    launched_us: int | None = field(default=None, kw_only=True)
    first_start_us: int | None = field(default=None, kw_only=True)
    start_us: int | None = field(default=None, kw_only=True)
    first_record_us: int | None = field(default=None, kw_only=True)

    @property
    def client_id(self) -> str:
        return self.consumer.client_id

    @property
    def registered(self) -> list[str]:
        """Partitions that it holds, in order of registering."""
        return [*self.consumer.held]

    @property
    def links(self) -> dict[int, int]:
        """Its connections to brokers, by their ids."""
        return self.consumer.links

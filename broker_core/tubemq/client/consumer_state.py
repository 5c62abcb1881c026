"""What a balancing consumer remembers, and what a person orders of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from broker_core.sim.program import Program
from broker_core.tubemq.assignment import Connect, Disconnect
from broker_core.tubemq.metadata import PartitionMetadata

BOOTING, STARTING, STARTED, REFUSED, STOPPING, STOPPED = (
    "booting",
    "starting",
    "started",
    "refused",
    "stopping",
    "stopped",
)


class Start(msgspec.Struct, frozen=True, tag="tubemq.consumer.start", array_like=True):
    """A person starts the process. boot_us: until it calls start(). brokers: node name of each broker id."""

    master: str
    brokers: dict[int, str]
    boot_us: int


class Shutdown(msgspec.Struct, frozen=True, tag="tubemq.consumer.shutdown", array_like=True):
    """A person ends it in order: everything is released, the master is informed."""


@dataclass(slots=True)
class ConsumerState:
    """client_id: made by the process, new with each start. phase: one of the six above. refused_code: of the
    last refusal, by the master or (410) by a broker whose partition another client has; 0 when it has all
    that it asked for.

    master: connection. brokers, connections: broker id -> node name, connection. metadata: what the master
    said of the topics.
    registered: partition keys in order of registering; is_told: whether it has told of them. idle: those in
    turn to be read.
    calls: of the pass under way, the first one waits for its answer; tries: how often it was made. guarded:
    partition -> until when it is not tried. waiting: partition whose read is under way. batch: messages read
    and not yet handled; reading: their partition. next_pass_us: when the next pass begins. topics: that it subscribes. beats: heartbeats so far.
    reported: what it last said to the master that it holds.
    """

    client_id: str
    group: str
    source_count: int
    node_id: int
    program: Program
    phase: str = BOOTING
    refused_code: int = 0
    master_name: str = ""
    master: int = 0
    broker_names: dict[int, str] = field(default_factory=dict)
    connections: dict[int, int] = field(default_factory=dict)
    metadata: PartitionMetadata = field(default_factory=PartitionMetadata)
    registered: list[str] = field(default_factory=list)
    is_told: bool = True
    idle: deque[str] = field(default_factory=deque)
    calls: deque[Disconnect | Connect] = field(default_factory=deque)
    tries: int = 0
    guarded: dict[str, int] = field(default_factory=dict)
    waiting: str = ""
    reading: str = ""
    batch: deque[int] = field(default_factory=deque)
    next_pass_us: int | None = None
    topics: list[str] = field(default_factory=list)
    beats: int = 0
    reported: list[str] = field(default_factory=list)

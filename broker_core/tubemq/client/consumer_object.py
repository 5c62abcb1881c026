"""What a ClientBalanceConsumer remembers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.call_results import Call, LastAnswer
from broker_core.tubemq.metadata import UNDEFINED, PartitionMetadata

MASTER_LINK = -1
"""Instead of a broker's id."""
NOT_RUNNING, STARTING, STARTED, STOPPING = 0, 1, 2, 3
FIRST, LATEST, MAX_ALWAYS = -1, 0, 1
"""Consume positions."""
ASSIGNER, READER, PERSON = "assigner", "reader", "person"
"""Threads that make calls; each waits for its own."""
REST_AFTER_US = {
    r.NOT_FOUND: 400 * MILLISECOND_US,
    r.FORBIDDEN: 2 * SECOND_US,
    r.SERVICE_UNAVAILABLE: 300 * MILLISECOND_US,
    r.MOVED: 200 * MILLISECOND_US,
}
"""How long a partition rests after a read that brought this code."""


@dataclass(slots=True)
class ConsumerConfig:
    """position: where a group without a stored offset begins. release_wait_us: how long a release waits for the batch
    that is out; ready_wait_us: how long getMessage waits for a partition. start_tries: requests to masters until
    start() gives up."""

    position: int = LATEST
    query_period_us: int = 10 * SECOND_US
    release_wait_us: int = 3 * SECOND_US
    ready_wait_us: int = 90 * SECOND_US
    start_tries: int = 5


@dataclass(slots=True)
class ConsumerObject:
    """masters: their node names, in the order in which they are tried. brokers: node names by broker id.
    master: place of the one that it talks to. links: connection of each broker, and under MASTER_LINK that of the
    master; one that is missing is opened with the next request.

    is_used: it was started once. held: the registered partitions, each with the token of the batch that is out, 0 for
    none. offsets: key -> current and maximum, in bytes, of the last answer, and its time. idle: of them, in turn to be read; resting: those
    that are not, because of what a read brought. guarded: refused key -> until when it is not asked for. asked: keys
    whose first register request is over. tokens: how many batches were asked for.
    calls: under way, by thread. last: the last answer of each call by its name. is_watched: whether a look at requests
    without an answer is planned.
    beats: heartbeats so far. unanswered: connections whose last heartbeat has no answer yet. reported: what the
    master last heard that it holds."""

    client_id: str
    group: str
    config: ConsumerConfig = field(default_factory=ConsumerConfig)
    masters: list[str] = field(default_factory=list)
    brokers: dict[int, str] = field(default_factory=dict)
    master: int = 0
    links: dict[int, int] = field(default_factory=dict)
    phase: int = NOT_RUNNING
    is_used: bool = False
    topics: dict[str, list[str]] = field(default_factory=dict)
    source_count: int = UNDEFINED
    node_id: int = UNDEFINED
    metadata: PartitionMetadata = field(default_factory=PartitionMetadata)
    next_query_us: int = 0
    held: dict[str, int] = field(default_factory=dict)
    offsets: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    idle: deque[str] = field(default_factory=deque)
    resting: dict[str, int] = field(default_factory=dict)
    guarded: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: int = 0
    calls: dict[str, Call] = field(default_factory=dict)
    last: dict[str, LastAnswer] = field(default_factory=dict)
    is_watched: bool = False
    beats: int = 0
    unanswered: list[int] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)

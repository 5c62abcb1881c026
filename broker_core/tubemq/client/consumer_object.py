"""What a ClientBalanceConsumer remembers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.call_results import Call
from broker_core.tubemq.metadata import UNDEFINED, PartitionMetadata

NOT_RUNNING, STARTING, STARTED, STOPPING = 0, 1, 2, 3
FIRST, LATEST, MAX_ALWAYS = -1, 0, 1
"""Consume positions."""
REST_AFTER_US = {
    r.NOT_FOUND: 400 * MILLISECOND_US,
    r.FORBIDDEN: 2 * SECOND_US,
    r.SERVICE_UNAVAILABLE: 300 * MILLISECOND_US,
    r.MOVED: 200 * MILLISECOND_US,
}
"""How long a partition rests after a read that brought this code."""


@dataclass(slots=True)
class ConsumerConfig:
    """position: where a group without a stored offset begins."""

    position: int = LATEST
    query_period_us: int = 10 * SECOND_US
    release_wait_us: int = 3 * SECOND_US


@dataclass(slots=True)
class HeldPartition:
    """token: of the batch that is out, 0 for none. rests_until_us: 0 if it does not rest."""

    token: int = 0
    rests_until_us: int = 0


@dataclass(slots=True)
class ConsumerObject:
    """master, brokers: connections, brokers by id. is_used: it was started once. held: the registered partitions.
    offsets: key -> current and maximum, in bytes, of the last answer.
    idle: of them, in turn to be read. guarded: refused key -> until when it is not asked for. asked: keys whose first
    register request is over. tokens: how many batches were asked for. call: under way."""

    client_id: str
    group: str
    config: ConsumerConfig
    master: int
    brokers: dict[int, int]
    phase: int = NOT_RUNNING
    is_used: bool = False
    topics: dict[str, list[str]] = field(default_factory=dict)
    source_count: int = UNDEFINED
    node_id: int = UNDEFINED
    metadata: PartitionMetadata = field(default_factory=PartitionMetadata)
    next_query_us: int = 0
    held: dict[str, HeldPartition] = field(default_factory=dict)
    offsets: dict[str, tuple[int, int]] = field(default_factory=dict)
    idle: deque[str] = field(default_factory=deque)
    guarded: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: int = 0
    call: Call | None = None

"""What a consumer remembers, of either kind, and what only a ClientBalanceConsumer does.

Source: TubeMQ (InLong a6c7a6a670) BaseMessageConsumer, SimpleClientBalanceConsumer, RmtDataCache (which both have)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from broker_core.clock import SECOND_US
from broker_core.tubemq.client.call_results import Call, LastAnswer
from broker_core.tubemq.client.master_link import MasterLink
from broker_core.tubemq.flow_control import Pace
from broker_core.tubemq.metadata import UNDEFINED, PartitionMetadata

NOT_RUNNING, STARTING, STARTED, STOPPING = 0, 1, 2, 3
FIRST, LATEST, MAX_ALWAYS = -1, 0, 1
"""Consume positions."""
ASSIGNER, READER, PERSON = "assigner", "reader", "person"
"""Threads that make calls; each waits for its own."""


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
class BaseConsumer:
    """masters: how it reaches the active one. brokers: node names by broker id. links: connection of each broker; one
    that is missing is opened with the next request.

    held: the registered partitions, in the order of registering, each with the token of the read or batch that is out, 0 for
    none. offsets: key -> current and maximum, in bytes, of the last answer, and its time. idle: of them, in turn to be
    read; resting: those that are not, because of what a read brought, with until when. used_us: of those that are out,
    since when. asked: keys whose first register request is over. tokens: how many batches were asked for.
    calls: under way, by thread. last: the last answer of each call by its name. is_watched: whether a look at requests
    without an answer is planned.
    beats: heartbeats to the master so far; failed_beats: in a row. silent: brokers whose heartbeat has no answer.
    flow_id, flow_rules, paces: rules that the master handed out, the default ones and the group's, their number, and how
    fast each partition was read under them."""

    client_id: str
    group: str
    config: ConsumerConfig = field(default_factory=ConsumerConfig)
    masters: MasterLink = field(default_factory=MasterLink)
    brokers: dict[int, str] = field(default_factory=dict)
    links: dict[int, int] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    offsets: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    idle: deque[str] = field(default_factory=deque)
    resting: dict[str, int] = field(default_factory=dict)
    used_us: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: int = 0
    calls: dict[str, Call] = field(default_factory=dict)
    last: dict[str, LastAnswer] = field(default_factory=dict)
    is_watched: bool = False
    beats: int = 0
    failed_beats: int = 0
    silent: list[int] = field(default_factory=list)
    flow_id: int = UNDEFINED
    flow_rules: list[str] = field(default_factory=lambda: ["", ""])
    paces: dict[str, Pace] = field(default_factory=dict)


@dataclass(slots=True)
class ConsumerObject(BaseConsumer):
    """is_used: it was started once. from_max_id: of the operator's last order to consume from the end that it knows.
    guarded: refused key -> until when it is not asked for. reported: what the master
    last heard that it holds."""

    phase: int = NOT_RUNNING
    is_used: bool = False
    topics: dict[str, list[str]] = field(default_factory=dict)
    source_count: int = UNDEFINED
    node_id: int = UNDEFINED
    metadata: PartitionMetadata = field(default_factory=PartitionMetadata)
    next_query_us: int = 0
    guarded: dict[str, int] = field(default_factory=dict)
    reported: list[str] = field(default_factory=list)
    from_max_id: int = UNDEFINED

"""What the parts of a consumer share: its state, its connections, and who coordinates its group.

Source: Kafka 3.9 clients AbstractCoordinator (lookupCoordinator, markCoordinatorUnknown), Metadata.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import MILLISECOND_US
from broker_core.events import Cause
from broker_core.kafka.client.group_consumer.consumer_metadata import ClusterView
from broker_core.kafka.client.group_consumer.fetches import FetchState
from broker_core.kafka.client.group_consumer.network import COORDINATOR, Network, NetworkState
from broker_core.kafka.client.group_consumer.settings import CONSUMER, ConsumerSettings
from broker_core.kafka.client.group_consumer.subscription import Subscribed, TopicPartition
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import MetadataRequest, MetadataResponse
from broker_core.kafka.cluster.transaction_requests import (
    GROUP,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from broker_core.kafka.group.messages import JoinGroupResponse, TopicPartitions
from broker_core.kafka.group.overhearing import Overhears
from broker_core.sim.node import Outbox
from broker_core.sim.program import Program

NO_GENERATION = -1
METADATA, FIND, RETRY, ASSIGN = "metadata", "find", "retry", "assign"

OUT, COMMITTING, JOINING, SYNCING, IN = "out", "committing", "joining", "syncing", "in"
"""A classic member: OUT before its first JoinGroup and after a rebalance that failed, COMMITTING before the
next one until it has given up, IN with an assignment."""
FAILED, CLOSING, CLOSED = "failed", "closing", "closed"
"""Refused for good; in close(), which waits for its commit and its LeaveGroup; and after it."""


@dataclass(slots=True)
class Fault:
    """What a user's own assignor raised in the leader, and ended it by. line: of its text, 0 for none. code,
    params: as `AssignorFailed`."""

    line: int
    reason: str
    code: str = ""
    params: dict[str, int | str] = field(default_factory=dict)


@dataclass(slots=True)
class Membership:
    """phase: as above; of the consumer protocol IN from the first answer on. generation: or member epoch.
    joined: the topics of its last request. given: the assignment that arrived and is not taken up yet;
    unresolved: one with topics that it does not know. answer: a JoinGroup's answer that poll() has not looked
    at, or that the leader's own assignor works on. previous, previous_generation: the last assignment that it
    took, which sticky assignors remember; max_generation: the newest that this leader has seen. must_rejoin:
    the next poll joins again. counts: what the leader assigned by, topic -> partitions. because: cause of
    must_rejoin and given. is_reporting: the next heartbeat says what it holds; is_beating: one is under way,
    or, of a classic member, its heartbeats go on; was_told: the coordinator knows all of it. code: why it
    FAILED; exception: what poll() threw, by the name of its class, "" for that of its assignor, which is the
    fault."""

    phase: str = OUT
    member_id: str = ""
    generation: int = NO_GENERATION
    leader: str = ""
    protocol: str = ""
    joined: list[str] = field(default_factory=list)
    given: list[TopicPartition] | None = None
    unresolved: list[TopicPartitions] = field(default_factory=list)
    answer: JoinGroupResponse | None = None
    previous: list[TopicPartition] = field(default_factory=list)
    previous_generation: int = NO_GENERATION
    max_generation: int = NO_GENERATION
    must_rejoin: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    because: Cause = field(default_factory=Cause)
    interval_ms: int = 0
    is_reporting: bool = False
    is_beating: bool = False
    was_told: bool = False
    code: int = 0
    exception: str = ""
    fault: Fault | None = None

    @property
    def is_assigning(self) -> bool:
        """poll() is inside the leader's own assignor."""
        return self.phase == SYNCING and self.answer is not None


@dataclass(slots=True)
class Coordinator:
    """node_id: -1 while it is unknown. is_asked: an answer is under way. retry_us: nobody is asked before."""

    node_id: int = -1
    is_asked: bool = False
    retry_us: int = 0


@dataclass(slots=True)
class Loop:
    """The program between two polls. taken: records polled and not handled, (partition, offset, value), the
    one in hand first. polled_us: when poll() was called last. is_booting: its process comes up. is_stuck: the
    program does not come back from a record; is_overdue: the one in hand would be done. awaits_commit:
    commitSync() has not returned. late_us: by how much its heartbeats are late. retry_us: the deadline at
    which it looks again."""

    taken: deque[tuple[TopicPartition, int, int]] = field(default_factory=deque)
    polled_us: int = 0
    is_booting: bool = False
    is_stuck: bool = False
    is_overdue: bool = False
    awaits_commit: bool = False
    late_us: int = 0
    retry_us: int = -1


@dataclass(slots=True)
class Commits:
    """is_due: the interval is over. done: how many were answered well; failed: refused."""

    is_due: bool = False
    done: int = 0
    failed: int = 0


@dataclass(slots=True)
class ConsumerState:
    """All of a consumer. was_in: it was a member when close() began."""

    settings: ConsumerSettings
    program: Program
    network: NetworkState = field(default_factory=NetworkState)
    cluster: ClusterView = field(default_factory=ClusterView)
    subscribed: Subscribed = field(default_factory=Subscribed)
    fetches: FetchState = field(default_factory=FetchState)
    coordinator: Coordinator = field(default_factory=Coordinator)
    member: Membership = field(default_factory=Membership)
    commits: Commits = field(default_factory=Commits)
    loop: Loop = field(default_factory=Loop)
    was_in: bool = False

    @property
    def is_working(self) -> bool:
        """The program is not in poll(): it has a record in hand, or waits for a commit."""
        return bool(self.loop.taken) or self.loop.awaits_commit

    @property
    def may_commit(self) -> bool:
        """Whether it is a member with an assignment: in a rebalance, or out of the group, a classic member's
        commit fails unsent. One of the consumer protocol sends its epoch, which the coordinator judges."""
        return self.settings.group_protocol == CONSUMER or (
            self.member.phase in (IN, COMMITTING) and self.member.generation != NO_GENERATION
        )  # fmt: skip

    @property
    def owned(self) -> list[TopicPartition]:
        """What it reads now, in the order of its assignment."""
        return list(self.subscribed.assigned)

    def handled(self) -> dict[TopicPartition, int]:
        """Partition -> the next offset that the program has not handled; those whose position is not known
        are left out. Of one that was sought the position counts, whatever is still in hand from before."""
        assigned = self.subscribed.assigned
        offsets = {partition: known.position for partition, known in assigned.items() if known.position >= 0}
        for partition, offset, _ in reversed(self.loop.taken):
            if partition in offsets and not assigned[partition].is_sought:
                offsets[partition] = offset
        return offsets


class Core:
    """What every part is given."""

    def __init__(self, state: ConsumerState, overhears: Overhears | None = None) -> None:
        self.state = state
        self.settings = state.settings
        self.network = Network(
            state.network, state.settings.request_timeout_ms, state.settings.client_id, overhears
        )
        # The node's: a connection is no more, with these requests on it; and poll() has thrown, so the
        # program closes its consumer and ends.
        self.failed: Callable[[int, list[str], int, Outbox], None]
        self.ended: Callable[[int, Outbox], None]

    @property
    def backoff_us(self) -> int:
        return self.settings.retry_backoff_ms * MILLISECOND_US

    def later(self, out: Outbox, now_us: int) -> None:
        """Look again after the back-off."""
        loop = self.state.loop
        if loop.retry_us <= now_us:
            loop.retry_us = now_us + self.backoff_us
            out.deadline(RETRY, loop.retry_us)

    def refresh_metadata(self, now_us: int, out: Outbox) -> None:
        """Ask for metadata if the picture is old and nobody is asked; not twice within the back-off."""
        cluster = self.state.cluster
        if not cluster.is_stale or cluster.is_asked:
            return
        if cluster.asked_us >= 0 and cluster.asked_us + self.backoff_us > now_us:
            self.later(out, now_us)
            return
        broker = self.network.least_loaded(cluster.in_turn(self.settings.bootstrap), now_us)
        if broker is None:
            self.later(out, now_us)
            return
        cluster.is_stale, cluster.is_asked, cluster.asked_us = False, True, now_us
        topics = (
            None
            if self.settings.pattern is not None
            else sorted({*self.state.subscribed.topics, *cluster.wanted})
        )
        self.network.ask(broker, MetadataRequest(topics), MetadataResponse, METADATA, now_us, out)
        out.deadline(METADATA, now_us + self.settings.metadata_max_age_ms * MILLISECOND_US)

    def has_coordinator(self, now_us: int, out: Outbox) -> bool:
        """Whether the coordinator is known; if not, somebody is asked for it."""
        coordinator = self.state.coordinator
        if coordinator.node_id >= 0:
            return True
        if coordinator.retry_us > now_us:
            self.later(out, now_us)
        elif not coordinator.is_asked:
            broker = self.network.least_loaded(self.state.cluster.in_turn(self.settings.bootstrap), now_us)
            if broker is None:
                self.later(out, now_us)
                return False
            coordinator.is_asked = True
            request = FindCoordinatorRequest(self.settings.group_id, GROUP)
            self.network.ask(broker, request, FindCoordinatorResponse, FIND, now_us, out)
        return False

    def lose_coordinator(self, now_us: int, out: Outbox) -> None:
        """It says that it is not the coordinator, or cannot be one now: break with it, and look for another
        after the back-off."""
        self.state.coordinator.node_id = -1
        self.failed(COORDINATOR, self.network.close(COORDINATOR, out), now_us, out)

    def ask_coordinator(
        self, request: Any, answer: type, what: str, now_us: int, out: Outbox, *, longer_us: int = 0
    ) -> None:
        node = broker_node(self.state.coordinator.node_id)
        self.network.ask(COORDINATOR, request, answer, what, now_us, out, node=node, longer_us=longer_us)

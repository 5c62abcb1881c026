"""Fetching ahead: one long poll to each leader that the consumer reads from, and what came back and was not
polled yet.

    partitions without buffered records ──► one request a leader ──► completed fetches, in the order of their answers ──► poll()

Each connection has a fetch session: after the first request only what changed is named. A partition with
records in the buffer is not asked for again until poll() has taken them; the next requests go out before
poll() hands records over.

Source: Kafka 3.9 clients AbstractFetch, FetchSessionHandler, FetchCollector, CompletedFetch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import MILLISECOND_US
from broker_core.kafka.client.group_consumer.consumer_metadata import ClusterView
from broker_core.kafka.client.group_consumer.network import Network
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.client.group_consumer.subscription import (
    FETCHING,
    PartitionState,
    Subscribed,
    TopicPartition,
)
from broker_core.kafka.cluster.requests import (
    READ_COMMITTED,
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import NO_PRODUCER_ID, ControlType
from broker_core.kafka.log.transaction_index import AbortedTransaction
from broker_core.kafka.replication.replica_log import LightBatch
from broker_core.sim.node import Outbox

FETCH = "fetch"
FINAL_EPOCH = -1


@dataclass(slots=True)
class Session:
    """epoch: of the next request. sent: what the broker has been told that is wanted, partition -> (offset,
    leader epoch)."""

    epoch: int = 0
    sent: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class CompletedFetch:
    """records: (offset, value), those that the reader may see; end_offset: to go on at after them. epoch: of
    the last batch."""

    partition: TopicPartition
    records: deque[tuple[int, Any]]
    next_offset: int
    end_offset: int
    epoch: int


@dataclass(slots=True)
class FetchState:
    """sessions, pending: by broker id; pending: a request is under way. completed: the oldest answer
    first."""

    sessions: dict[int, Session] = field(default_factory=dict)
    pending: dict[int, None] = field(default_factory=dict)
    completed: deque[CompletedFetch] = field(default_factory=deque)


class Fetcher:
    def __init__(
        self,
        state: FetchState,
        settings: ConsumerSettings,
        subscribed: Subscribed,
        cluster: ClusterView,
        network: Network,
    ) -> None:
        self.state, self.settings = state, settings
        self.subscribed, self.cluster, self.network = subscribed, cluster, network

    # --- asking

    def send(self, now_us: int, out: Outbox) -> None:
        """A request to each leader that has something to be asked for and no request under way."""
        state = self.state
        buffered = {completed.partition for completed in state.completed} if state.completed else ()
        wanted: dict[int, list[tuple[TopicPartition, PartitionState]]] = {}
        for partition, known in self.subscribed.assigned.items():
            if (
                known.state != FETCHING
                or known.is_paused
                or known.is_revoking
                or partition in buffered
                or known.retry_us > now_us
            ):
                continue
            leader = self.cluster.leader(partition)
            if leader is None:
                self.cluster.is_stale = True
                continue
            broker = (
                leader.node_id
                if known.preferred_replica < 0
                else self._read_from(known, leader.node_id, now_us)
            )
            if broker not in state.pending and not self.network.is_backing_off(broker, now_us):
                wanted.setdefault(broker, []).append((partition, known))
        for broker, partitions in wanted.items():
            state.pending[broker] = None
            request = self._request(broker, partitions)
            self.network.ask(broker, request, FetchResponse, FETCH, now_us, out)

    def _read_from(self, known: PartitionState, leader: int, now_us: int) -> int:
        """The preferred replica, while it is one and among the brokers; else the leader. Source:
        AbstractFetch.selectReadReplica."""
        is_there = known.preferred_replica in self.cluster.brokers
        if is_there and now_us <= known.preferred_until_us:
            return known.preferred_replica
        if not is_there:
            self.cluster.is_stale = True
        known.preferred_replica = -1
        return leader

    def _request(self, broker: int, partitions: list[tuple[TopicPartition, PartitionState]]) -> FetchRequest:
        settings = self.settings
        session = self.state.sessions.get(broker)
        if session is None:
            session = self.state.sessions[broker] = Session()
        sent = session.sent
        offsets: dict[TopicPartition, tuple[int, int]] = {}
        named = []
        for partition, known in partitions:
            wanted = offsets[partition] = (known.position, known.leader_epoch)
            if session.epoch <= 0 or sent.get(partition) != wanted:
                named.append(
                    FetchPartition(
                        partition[0],
                        partition[1],
                        known.position,
                        known.leader_epoch,
                        partition_max_bytes=settings.max_partition_fetch_bytes,
                    )
                )
        forgotten = [partition for partition in sent if partition not in offsets]
        session.sent = offsets
        return FetchRequest(
            settings.fetch_max_wait_ms,
            named,
            settings.fetch_min_bytes,
            settings.fetch_max_bytes,
            settings.isolation_level,
            session_epoch=session.epoch,
            forgotten=forgotten,
            rack_id=settings.client_rack,
        )

    # --- answers

    def lost(self, broker: int) -> None:
        """The connection to a broker broke: its session is over, and what was read from it is read from the
        leader (handleFetchFailure)."""
        self.state.pending.pop(broker, None)
        session = self.state.sessions.pop(broker, None)
        for partition in () if session is None else session.sent:
            known = self.subscribed.assigned.get(partition)
            if known is not None:
                known.preferred_replica = -1

    def answered(self, broker: int, answer: FetchResponse, now_us: int) -> list[TopicPartition]:
        """Buffer what came. Returns the partitions whose offset was out of range: their position is to be
        reset."""
        state = self.state
        state.pending.pop(broker, None)
        session = state.sessions.get(broker)
        if session is None:
            return []
        if answer.error_code:
            # The broker has forgotten the session, or another request of it was lost: begin a new one.
            state.sessions[broker] = Session()
            return []
        session.epoch = session.epoch + 1 if session.epoch >= 0 else 0
        out_of_range = []
        for part in answer.partitions:
            partition = (part.topic, part.partition)
            known = self.subscribed.assigned.get(partition)
            asked = session.sent.get(partition)
            if known is None or asked is None or known.state != FETCHING or known.position != asked[0]:
                continue
            if part.error_code:
                if self._refused(part, known, broker, now_us):
                    out_of_range.append(partition)
            else:
                self._take(part, partition, known, now_us)
        return out_of_range

    def _refused(self, part: FetchedPartition, known: PartitionState, broker: int, now_us: int) -> bool:
        """Whether the position is out of the log's range."""
        if part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            if known.preferred_replica != broker:
                return True
            known.preferred_replica = -1  # a follower may be behind: ask the leader
            return False
        known.preferred_replica = -1
        known.retry_us = now_us + self.settings.retry_backoff_ms * MILLISECOND_US
        self.cluster.is_stale = True
        return False

    def _take(
        self, part: FetchedPartition, partition: TopicPartition, known: PartitionState, now_us: int
    ) -> None:
        known.high_watermark, known.last_stable = part.high_watermark, part.last_stable_offset
        known.log_start = part.log_start_offset
        if part.preferred_read_replica >= 0:
            known.preferred_replica = part.preferred_read_replica
            known.preferred_until_us = now_us + self.settings.metadata_max_age_ms * MILLISECOND_US
        if part.records:
            last = part.records[-1].header
            records = deque(
                visible(part.records, known.position, self.settings.isolation_level, part.aborted or ())
            )
            self.state.completed.append(
                CompletedFetch(
                    partition, records, known.position, last.last_offset + 1, last.partition_leader_epoch
                )
            )

    # --- handing over

    def collect(self, most: int) -> list[tuple[TopicPartition, int, Any]]:
        """Up to `most` records, (partition, offset, value): the oldest answer is emptied first. Positions
        move past them."""
        taken: list[tuple[TopicPartition, int, Any]] = []
        completed, aside = self.state.completed, []
        while completed and len(taken) < most:
            first = completed[0]
            known = self.subscribed.assigned.get(first.partition)
            if (
                known is None
                or known.state != FETCHING
                or known.is_revoking
                or known.position != first.next_offset
            ):
                completed.popleft()  # of an assignment, or a position, from before
                continue
            if known.is_paused:
                aside.append(completed.popleft())
                continue
            records = first.records
            while records and len(taken) < most:
                offset, value = records.popleft()
                taken.append((first.partition, offset, value))
                first.next_offset = offset + 1
            if not records:
                first.next_offset = first.end_offset
                completed.popleft()
            known.position, known.offset_epoch, known.is_sought = first.next_offset, first.epoch, False
        completed.extendleft(reversed(aside))
        return taken


def visible(
    batches: Iterable[LightBatch], offset: int, isolation: int, aborted: Iterable[AbortedTransaction]
) -> Iterator[tuple[int, Any]]:
    """The records of whole batches that a reader at `offset` sees: no control records, none that compaction
    has taken, and with read_committed none that was aborted."""
    is_committed_only = isolation == READ_COMMITTED
    waiting = sorted(aborted, key=lambda entry: entry.first_offset, reverse=True) if is_committed_only else []
    open_producers: set[int] = set()
    for batch in batches:
        header = batch.header
        if is_committed_only and header.producer_id != NO_PRODUCER_ID:
            while waiting and waiting[-1].first_offset <= header.last_offset:
                open_producers.add(waiting.pop().producer_id)
            if header.is_control and batch.control_type()[0] == ControlType.ABORT:
                open_producers.discard(header.producer_id)
            elif header.is_transactional and header.producer_id in open_producers:
                continue
        if header.is_control:
            continue
        base = header.base_offset
        for delta, value in enumerate(batch.values):
            if base + delta >= offset and value is not None:
                yield base + delta, value

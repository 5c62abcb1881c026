"""All that a producer is: what a checkpoint holds, and what a page may show.

accumulator.queues     batches that wait, by partition       links[broker].flights   requests on their way, with the numbers of their batches
accumulator.batches    both, by number: sequence, attempts   sequences               id, epoch, next and last acked sequence of each partition
transaction            phase, partitions, coordinator        counts                  what came of the records
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.client.producer.accumulator import Accumulator
from broker_core.kafka.client.producer.sequences import Sequences
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.transaction import Question, Transaction
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.producer.partitioner import StickyPartitioner


class Deliveries(Protocol):
    """Who hears, once for each batch, what came of its records; it changes nothing. values: as they were
    sent."""

    def acked(
        self,
        producer: str,
        partition: TopicPartition,
        base_offset: int,
        values: list[int],
        attempts: int,
        now_us: int,
    ) -> None:
        """The broker has them, as far as acks says. base_offset: -1 with acks=0, and where a repeated batch's
        place is no longer known. attempts: how often it had come back before."""
        ...

    def failed(
        self, producer: str, partition: TopicPartition, error: ErrorCode, values: list[int], now_us: int
    ) -> None:
        """The application learns that they failed. REQUEST_TIMED_OUT: they may be in the log all the
        same."""
        ...


@dataclass(slots=True)
class Flight:
    """A request on its way. kind: produce, metadata or transaction. batches: numbers, in the order of the
    request."""

    kind: str
    sent_us: int
    batches: list[int] = field(default_factory=list)
    request: Question | None = None


@dataclass(slots=True)
class Link:
    """The connection to a broker. flights: without an answer so far, oldest first: answers come in that
    order."""

    connection: int
    flights: deque[Flight] = field(default_factory=deque)


@dataclass(slots=True)
class Peer:
    """What is known of a broker's side. failures: connections lost in a row. connect_at_us: no new one
    before.

    due_us, taken_us: when a batch for it was last due, and last taken by it; apart, it is slow.
    """

    failures: int = 0
    connect_at_us: int = 0
    due_us: int = 0
    taken_us: int = 0
    next_partition: int = 0


@dataclass(slots=True)
class Metadata:
    """leaders: topic -> partition -> (broker, leader epoch), of those that have one. counts: topic ->
    partitions. brokers: to ask.

    epochs: the highest leader epoch seen of each partition; what says less is old. is_asked: a request is on
    its way. refreshed_us: of the last answer or failure; unchanged: answers, or failures, in a row that
    brought nothing new.
    """

    leaders: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    brokers: list[int] = field(default_factory=list)
    epochs: dict[TopicPartition, int] = field(default_factory=dict)
    is_wanted: bool = False
    is_asked: bool = False
    refreshed_us: int = 0
    allowed_us: int = 0
    unchanged: int = 0

    def leader(self, partition: TopicPartition) -> tuple[int, int] | None:
        of_topic = self.leaders.get(partition[0])
        return None if of_topic is None else of_topic.get(partition[1])

    def learn_leader(self, partition: TopicPartition, leader: int, epoch: int) -> bool:
        """Somebody says who leads. Tells whether that was news; an older epoch is not."""
        if epoch < self.epochs.get(partition, -1) or self.leader(partition) == (leader, epoch):
            return False
        self.epochs[partition] = epoch
        of_topic = self.leaders.setdefault(partition[0], {})
        if leader < 0:
            of_topic.pop(partition[1], None)
        else:
            of_topic[partition[1]] = (leader, epoch)
        return True


@dataclass(slots=True)
class Unsent:
    """A record that waits in `send`, for memory or metadata. key_hash, partition: -1 for none."""

    value: int
    topic: str
    key_hash: int
    partition: int
    size: int


@dataclass(slots=True)
class Counts:
    """Records: sent, acked, failed, dropped (the wait in `send` was over). requests: produces. Batches:
    retries, of those after a lost answer, expired. committed, aborted: transactions. errors: code -> answers
    with it."""

    sent: int = 0
    acked: int = 0
    failed: int = 0
    dropped: int = 0
    requests: int = 0
    retries: int = 0
    lost_answers: int = 0
    expired: int = 0
    epoch_bumps: int = 0
    committed: int = 0
    aborted: int = 0
    errors: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class ProducerState:
    """bootstrap: brokers to ask first. blocked: records in `send`, oldest first; blocked_since_us: since when
    the first of them waits.

    is_dropping: the last record found no memory in time. wake_us: the deadline that is set, 0 for none.
    next_settings: of the producer that the application opens when this one has closed.
    """

    settings: ProducerSettings
    accumulator: Accumulator
    bootstrap: list[int] = field(default_factory=list)
    sequences: Sequences = field(default_factory=Sequences)
    transaction: Transaction = field(default_factory=Transaction)
    metadata: Metadata = field(default_factory=Metadata)
    links: dict[int, Link] = field(default_factory=dict)
    peers: dict[int, Peer] = field(default_factory=dict)
    keyless: dict[str, StickyPartitioner] = field(default_factory=dict)
    topics: dict[str, None] = field(default_factory=dict)
    blocked: deque[Unsent] = field(default_factory=deque)
    blocked_since_us: int = 0
    is_dropping: bool = False
    is_closing: bool = False
    next_settings: ProducerSettings | None = None
    wake_us: int = 0
    counts: Counts = field(default_factory=Counts)

    @classmethod
    def of(cls, settings: ProducerSettings) -> ProducerState:
        """A producer that has not started."""
        return cls(settings, Accumulator(settings.buffer_memory))

    def open_next(self, now_us: int) -> None:
        """Everything is decided, and the application's next producer begins: it knows nothing of what the one
        before it did. Its counts and the numbers of its batches go on, for those who look."""
        assert self.next_settings is not None
        self.settings, self.next_settings = self.next_settings, None
        self.accumulator = Accumulator(self.settings.buffer_memory, last_number=self.accumulator.last_number)
        self.sequences, self.transaction = Sequences(), Transaction()
        self.metadata = Metadata(is_wanted=True)
        self.links, self.peers, self.keyless = {}, {}, {}
        self.blocked_since_us = now_us

    @property
    def is_idempotent(self) -> bool:
        return self.settings.enable_idempotence

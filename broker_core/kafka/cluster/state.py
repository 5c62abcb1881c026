"""What a broker is made of: its disk, which outlives the process, and the process.

    disk      logs, replication-offset-checkpoint, log-start-offset-checkpoint
    process   its registration, its copy of the metadata, a replica per partition, a fetcher per leader, and who waits for what

Source: Kafka 3.9 core BrokerServer, ReplicaManager, LogManager.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from broker_core.events import Json
from broker_core.kafka.cluster.control_requests import ControlMessage
from broker_core.kafka.cluster.hosted_groups import HostedGroups
from broker_core.kafka.cluster.requests import (
    ClientMessage,
    FetchRequest,
    FetchResponse,
    ProducedPartition,
    ProduceRequest,
)
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.transaction_requests import TransactionMessage
from broker_core.kafka.group.messages import GroupMessage
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.replication.brokers import Brokers
from broker_core.kafka.replication.delayed_produce import DelayedProduces
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.fetcher import (
    EpochQuestion,
    Fetcher,
    FetchState,
    OffsetQuestion,
    Truncation,
)
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.kafka.txn.coordinator import CoordinatorState, Marker
from broker_core.plain import from_plain, to_plain

TopicPartition = tuple[str, int]
Request = ClientMessage | ControlMessage | TransactionMessage | GroupMessage
"""What may wait on a connection: named, so that a checkpoint gives back what it was given."""

STARTING, RECOVERING, RUNNING, SHUTTING_DOWN, DOWN = (
    "starting",
    "recovering",
    "running",
    "shutting_down",
    "down",
)
"""A broker's life: not registered yet; registered, and reading the metadata log; serving; in controlled
shutdown; stopped in order."""


@dataclass(slots=True)
class BrokerDisk:
    """What is still there when the process is not. folder: the log directory's own files."""

    folder: MemoryFolder = field(default_factory=MemoryFolder)
    logs: dict[TopicPartition, LightLog] = field(default_factory=dict)


class Replica:
    """One partition's replica on this broker, leading or following. has_refused: a produce was refused for
    too few in sync, and it was told.

    In a checkpoint the log is on the disk and the brokers are in the metadata, so `BrokerState.rejoin` puts
    them in again.
    """

    __slots__ = ("fetcher", "has_refused", "partition", "produces")

    def __init__(self, partition: Partition, fetcher: Fetcher) -> None:
        self.partition, self.fetcher = partition, fetcher
        self.produces = DelayedProduces()
        self.has_refused = False

    def to_json(self) -> Json:
        fetcher = self.fetcher
        return {
            "partition": to_plain(replace(self.partition, brokers={}, log=None)),
            "truncation": fetcher.truncation.value,
            "fetch": to_plain(fetcher.state),
            "is_failed": fetcher.is_failed,
            "produces": to_plain(self.produces),
            "has_refused": self.has_refused,
        }

    @classmethod
    def from_json(cls, plain: Json) -> Replica:
        partition: Partition = from_plain(plain["partition"], Partition)
        fetch = from_plain(plain["fetch"], FetchState | None)
        replica = cls(
            partition, Fetcher(partition, Truncation(plain["truncation"]), fetch, plain["is_failed"])
        )
        replica.produces, replica.has_refused = (
            from_plain(plain["produces"], DelayedProduces),
            plain["has_refused"],
        )
        return replica


@dataclass(slots=True)
class PendingProduce:
    """A produce whose answer waits. left: how many partitions are not decided yet. answers: in the order of
    the request.

    write: the transaction coordinator's number of a record of its own; 0: it is none. marker_ids: of a
    WriteTxnMarkers, the producer of each answer; None: it is none. connection: 0: nobody waits."""

    connection: int
    answers: list[ProducedPartition]
    left: int
    write: int = 0
    marker_ids: list[int] | None = None


@dataclass(slots=True)
class FetchSession:
    """What a connection fetches, and how far it was told.

    wanted: each partition's fetch. told: high watermark and log start offset of the last answer. active:
    partitions of which the next answer may have something to say; of all others the reader has everything.
    read_ms: when it asked last. until_us: end of a long poll; 0: no fetch waits.
    """

    request: FetchRequest
    wanted: dict[TopicPartition, PartitionFetch] = field(default_factory=dict)
    told: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    active: dict[TopicPartition, None] = field(default_factory=dict)
    read_ms: int = 0
    until_us: int = 0
    is_timed: bool = False  # a deadline is set, perhaps of an earlier fetch


@dataclass(slots=True)
class LeaderFetcher:
    """The fetcher thread for all partitions that one other broker leads.

    connection: 0: none yet. todo: partitions whose next request may be another one. sent: the leader's
    session, as it was told.
    is_asking: a request is under way since `sent_us`; epochs_asked, offsets_asked: its questions, if it is
    one for epochs or offsets. delayed: partition -> when it is tried again.
    """

    leader: int
    connection: int = 0
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    todo: dict[TopicPartition, None] = field(default_factory=dict)
    sent: dict[TopicPartition, PartitionFetch] = field(default_factory=dict)
    is_asking: bool = False
    epochs_asked: dict[TopicPartition, EpochQuestion] = field(default_factory=dict)
    offsets_asked: dict[TopicPartition, OffsetQuestion] = field(default_factory=dict)
    sent_us: int = 0
    has_session: bool = False
    delayed: dict[TopicPartition, int] = field(default_factory=dict)


@dataclass(slots=True)
class MarkerLink:
    """Where the transaction coordinator sends markers to one broker. connection: 0: none. asked: those on
    their way, since `sent_us`."""

    connection: int = 0
    asked: list[Marker] = field(default_factory=list)
    sent_us: int = 0


@dataclass(slots=True)
class ProducerIds:
    """A block of producer ids, as the controller gave it. next: given next; end: one past the last. asked_on:
    the control connection on which another one was asked for; 0: none was."""

    next: int = 0
    end: int = 0
    asked_on: int = 0


@dataclass(slots=True)
class Verification:
    """A produce that waits for a coordinator's word. guards: of each partition that needs one. errors: what
    the producer hears of others."""

    request: ProduceRequest
    guards: dict[TopicPartition, int]
    errors: dict[TopicPartition, int] = field(default_factory=dict)


@dataclass(slots=True)
class QuestionLink:
    """The connection to a coordinator that is asked to verify. asked: connections of the produces, and since
    when, oldest first."""

    connection: int
    asked: deque[tuple[int, int]] = field(default_factory=deque)


@dataclass(slots=True)
class Transactions:
    """The broker's part in transactions. links: by broker. questions: by coordinator. verifying: by the
    produce's connection.

    is_timed: the round that looks for those that last too long is set."""

    coordinator: CoordinatorState = field(default_factory=lambda: CoordinatorState(0))
    links: dict[int, MarkerLink] = field(default_factory=dict)
    questions: dict[int, QuestionLink] = field(default_factory=dict)
    verifying: dict[int, Verification] = field(default_factory=dict)
    producer_ids: ProducerIds = field(default_factory=ProducerIds)
    is_timed: bool = False


@dataclass(slots=True)
class BrokerState:
    """One broker. skew_ms: how far its clock is ahead of the world's.

    control: connection to the controller; 0: none. asked_us: since when a registration or heartbeat waits for
    its answer; 0: none does.
    metadata_offset: how far the metadata log was read. brokers, topics (min.insync.replicas), configs (of
    topics that set something for their logs), registrations: what it says. clients: connections that others
    have opened, and who they are. held: connection -> requests that wait, as a broker reads the next one when
    the last was answered. writing: (when it is on disk, connection, what is appended then), of a slow disk.
    clean_at_us, retain_at_us: when the cleaner, and retention, look next.
    """

    broker_id: int
    settings: ClusterSettings
    rack: str | None = None
    disk: BrokerDisk = field(default_factory=BrokerDisk)
    skew_ms: int = 0
    stage: str = STARTING
    incarnation_id: int = 0
    broker_epoch: int = -1
    is_fenced: bool = True
    control: int = 0
    asked_us: int = 0
    attempts: int = 0
    stopping_until_us: int = 0
    metadata_offset: int = -1
    brokers: Brokers = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    configs: dict[str, TopicConfig] = field(default_factory=dict)
    registrations: dict[TopicPartition, PartitionRegistration] = field(default_factory=dict)
    replicas: dict[TopicPartition, Replica] = field(default_factory=dict)
    fetchers: dict[int, LeaderFetcher] = field(default_factory=dict)
    sessions: dict[int, FetchSession] = field(default_factory=dict)
    clients: dict[int, str] = field(default_factory=dict)
    held: dict[int, deque[Request]] = field(default_factory=dict)
    produces: dict[int, PendingProduce] = field(default_factory=dict)
    writing: deque[tuple[int, int, ProduceRequest | FetchResponse]] = field(default_factory=deque)
    produce_count: int = 0
    produce_timer_us: int = 0
    groups: HostedGroups = field(default_factory=HostedGroups)
    transactions: Transactions = field(default_factory=Transactions)
    clean_at_us: int = 0
    retain_at_us: int = 0

    def rejoin(self) -> None:
        """After a restore, and when the disk is lost: every replica has its log from the disk, if it is
        there, and the brokers from the metadata."""
        for key, replica in self.replicas.items():
            replica.partition.log, replica.partition.brokers = self.disk.logs.get(key), self.brokers

    def now_ms(self, now_us: int) -> int:
        """What this broker's clock says."""
        return now_us // 1_000 + self.skew_ms

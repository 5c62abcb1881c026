"""What clients and followers ask brokers: produce, fetch, offsets, epochs, metadata. Kafka's names, fields in
snake_case, times in ms.

A connection answers in the order of its requests, so no correlation ids are carried; a produce with acks=0
has no answer. Topics go by name where Kafka has ids. What brokers and the controller say to one another:
control_requests.py; transactions: transaction_requests.py.

A batch travels as a `LightBatch`: one batch for a partition in a produce, a tuple of them in a fetch's
answer.

Source: Kafka 3.9 clients/src/main/resources/common/message.
"""

from __future__ import annotations

import msgspec

from broker_core.kafka.log.transaction_index import AbortedTransaction
from broker_core.kafka.replication.replica_log import LightBatch

CONSUMER = -1
"""`replica_id` of a fetch, or of a question for offsets, that comes from no replica."""
NO_EPOCH = -1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
BYTES_MAX = 2**31 - 1


class Message(msgspec.Struct, array_like=True, gc=False):
    """What travels on a connection of a Kafka cluster."""


# --- produce


class ProducePartition(Message, tag="kafka.cluster.ProducePartition"):
    """A partition's part of a produce: one batch, with base offset 0, and producer id, epoch and sequence in
    its header."""

    topic: str
    index: int
    records: LightBatch


class ProduceRequest(Message, tag="kafka.cluster.Produce"):
    """acks: 0 (no answer comes), 1, -1. timeout_ms: how long the leader waits for its followers, with
    acks=-1.

    transactional_id: of whom all batches that are transactional are; None: they are not.
    """

    acks: int
    timeout_ms: int
    partitions: list[ProducePartition]
    transactional_id: str | None = None


class ProducedPartition(Message, tag="kafka.cluster.ProducedPartition"):
    """base_offset: of the batch, -1 with an error; of a duplicate, where it was written before.
    current_leader, current_leader_epoch: with NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH, as far as the
    broker knows (KIP-951). error_message: why, in words."""

    topic: str
    index: int
    error_code: int
    base_offset: int = -1
    log_start_offset: int = -1
    current_leader: int = -1
    current_leader_epoch: int = NO_EPOCH
    error_message: str = ""


class ProduceResponse(Message, tag="kafka.cluster.Produced"):
    """In the order of the request."""

    partitions: list[ProducedPartition]


# --- fetch


class FetchPartition(Message, tag="kafka.cluster.FetchPartition"):
    """What is wanted of a partition. current_leader_epoch, last_fetched_epoch: -1: not said.
    log_start_offset: a follower's own."""

    topic: str
    partition: int
    fetch_offset: int
    current_leader_epoch: int = NO_EPOCH
    last_fetched_epoch: int = NO_EPOCH
    log_start_offset: int = -1
    partition_max_bytes: int = BYTES_MAX


class FetchRequest(Message, tag="kafka.cluster.Fetch"):
    """A long poll over many partitions, by a replica or a consumer.

    session_epoch: 0: `partitions` are all that is wanted, now and in the session that begins; above 0: those
    of the session, where `partitions` names what is new or has changed, and `forgotten` what is wanted no
    more; -1: all that is wanted, once, without a session. A connection has one session at most, so a session
    needs no id. replica_epoch: broker epoch of the replica, -1: not said.
    """

    max_wait_ms: int
    partitions: list[FetchPartition]
    min_bytes: int = 1
    max_bytes: int = BYTES_MAX
    isolation_level: int = READ_UNCOMMITTED
    replica_id: int = CONSUMER
    replica_epoch: int = NO_EPOCH
    session_epoch: int = -1
    forgotten: list[tuple[str, int]] = []
    rack_id: str = ""


class FetchedPartition(Message, tag="kafka.cluster.FetchedPartition"):
    """What there is of a partition. high_watermark and the other offsets: -1 with an error.

    diverging: (epoch, its end offset) where the reader's log is another one. preferred_read_replica: a
    consumer is to fetch from this broker; -1: from the leader. aborted: in a read_committed consumer's
    answer, else None. current_leader as in `ProducedPartition`.
    """

    topic: str
    partition: int
    error_code: int
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    records: tuple[LightBatch, ...] = ()
    diverging: tuple[int, int] | None = None
    preferred_read_replica: int = -1
    aborted: list[AbortedTransaction] | None = None
    current_leader: int = -1
    current_leader_epoch: int = NO_EPOCH


class FetchResponse(Message, tag="kafka.cluster.Fetched"):
    """In a session: those partitions of it of which there is something to say; else all, in the order of the
    request.

    error_code: of the whole request, as INVALID_FETCH_SESSION_EPOCH.
    """

    partitions: list[FetchedPartition]
    error_code: int = 0


# --- offsets and epochs


class ListOffsetsPartition(Message, tag="kafka.cluster.ListOffsetsPartition"):
    """timestamp: -1 latest, -2 earliest, else the first record at or after it."""

    topic: str
    partition: int
    timestamp: int
    current_leader_epoch: int = NO_EPOCH


class ListOffsetsRequest(Message, tag="kafka.cluster.ListOffsets"):
    partitions: list[ListOffsetsPartition]
    replica_id: int = CONSUMER
    isolation_level: int = READ_UNCOMMITTED


class ListedOffset(Message, tag="kafka.cluster.ListedOffset"):
    """offset, timestamp, leader_epoch: -1 where there is none."""

    topic: str
    partition: int
    error_code: int
    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = NO_EPOCH


class ListOffsetsResponse(Message, tag="kafka.cluster.ListedOffsets"):
    partitions: list[ListedOffset]


class EpochPartition(Message, tag="kafka.cluster.EpochPartition"):
    """Where does `leader_epoch` end? current_leader_epoch: who is asked, by the sender's idea of it."""

    topic: str
    partition: int
    current_leader_epoch: int
    leader_epoch: int


class OffsetsForLeaderEpochRequest(Message, tag="kafka.cluster.OffsetsForLeaderEpoch"):
    partitions: list[EpochPartition]
    replica_id: int = CONSUMER


class EpochEnd(Message, tag="kafka.cluster.EpochEnd"):
    """leader_epoch: the largest known one at or below what was asked for; -1, -1: none."""

    topic: str
    partition: int
    error_code: int
    leader_epoch: int = NO_EPOCH
    end_offset: int = -1


class OffsetsForLeaderEpochResponse(Message, tag="kafka.cluster.EpochEnds"):
    partitions: list[EpochEnd]


class DeleteRecordsRequest(Message, tag="kafka.cluster.DeleteRecords"):
    """partitions: (topic, partition, offset below which nothing is needed; -1: up to the high watermark)."""

    timeout_ms: int
    partitions: list[tuple[str, int, int]]


class DeletedRecords(Message, tag="kafka.cluster.DeletedRecords"):
    """low_watermark: the smallest log start offset of the replicas that are alive; -1 with an error."""

    topic: str
    partition: int
    error_code: int
    low_watermark: int = -1


class DeleteRecordsResponse(Message, tag="kafka.cluster.RecordsDeleted"):
    partitions: list[DeletedRecords]


# --- metadata


class MetadataRequest(Message, tag="kafka.cluster.Metadata"):
    """topics: None: all."""

    topics: list[str] | None = None


class MetadataBroker(Message, tag="kafka.cluster.MetadataBroker"):
    """A broker that is not fenced, where `cluster.names.broker_node(node_id)` is to be connected to."""

    node_id: int
    rack: str | None = None


class MetadataPartition(Message, tag="kafka.cluster.MetadataPartition"):
    """error_code: LEADER_NOT_AVAILABLE where nobody leads, or the leader is not alive; then leader_id is
    -1."""

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    offline_replicas: list[int]


class MetadataTopic(Message, tag="kafka.cluster.MetadataTopic"):
    """error_code: UNKNOWN_TOPIC_OR_PARTITION where this broker knows no such topic."""

    name: str
    error_code: int
    partitions: list[MetadataPartition]


class MetadataResponse(Message, tag="kafka.cluster.MetadataAnswer"):
    """As far as this broker has read the metadata log: it may be behind. controller_id: a broker that takes a
    client's requests for it."""

    brokers: list[MetadataBroker]
    controller_id: int
    topics: list[MetadataTopic]


ClientMessage = (
    ProduceRequest
    | ProduceResponse
    | FetchRequest
    | FetchResponse
    | ListOffsetsRequest
    | ListOffsetsResponse
    | OffsetsForLeaderEpochRequest
    | OffsetsForLeaderEpochResponse
    | DeleteRecordsRequest
    | DeleteRecordsResponse
    | MetadataRequest
    | MetadataResponse
)

"""What a transactional or idempotent producer asks a broker, and what its coordinator asks the leaders.
Kafka's names, times in ms.

    FindCoordinator ─► InitProducerId ─► AddPartitionsToTxn ─► Produce ... ─► EndTxn ─► WriteTxnMarkers to each leader
                                     ─► AddOffsetsToTxn ─► TxnOffsetCommit to the group's coordinator (group/messages.py)

Source: Kafka 3.9 clients/src/main/resources/common/message.
"""

from __future__ import annotations

from broker_core.kafka.cluster.requests import Message

GROUP, TRANSACTION = 0, 1
"""`key_type` of a FindCoordinator."""
NO_PRODUCER_ID, NO_PRODUCER_EPOCH = -1, -1


class FindCoordinatorRequest(Message, tag="kafka.cluster.FindCoordinator"):
    """key: a group's id, or a transactional id."""

    key: str
    key_type: int = TRANSACTION


class FindCoordinatorResponse(Message, tag="kafka.cluster.FoundCoordinator"):
    """node_id: -1 with an error (COORDINATOR_NOT_AVAILABLE)."""

    error_code: int
    node_id: int = -1
    error_message: str = ""


class InitProducerIdRequest(Message, tag="kafka.cluster.InitProducerId"):
    """transactional_id: None: idempotence alone. producer_id, producer_epoch: what the producer had, where it
    asks for a new epoch (KIP-360)."""

    transactional_id: str | None = None
    transaction_timeout_ms: int = 60_000
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


class InitProducerIdResponse(Message, tag="kafka.cluster.InitedProducerId"):
    error_code: int
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


class AddPartitionsToTxnRequest(Message, tag="kafka.cluster.AddPartitionsToTxn"):
    """partitions: (topic, partition). verify_only: a leader asks whether they are part of the transaction
    (KIP-890); nothing is added."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: list[tuple[str, int]]
    verify_only: bool = False


class AddPartitionsToTxnResponse(Message, tag="kafka.cluster.AddedPartitionsToTxn"):
    """results: (topic, partition, error code), in the order of the request."""

    results: list[tuple[str, int, int]]


class AddOffsetsToTxnRequest(Message, tag="kafka.cluster.AddOffsetsToTxn"):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str


class AddOffsetsToTxnResponse(Message, tag="kafka.cluster.AddedOffsetsToTxn"):
    error_code: int


class EndTxnRequest(Message, tag="kafka.cluster.EndTxn"):
    """committed: False: abort."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool


class EndTxnResponse(Message, tag="kafka.cluster.EndedTxn"):
    error_code: int


class TxnMarker(Message, tag="kafka.cluster.TxnMarker"):
    """One producer's transaction has ended, in these partitions of the broker that gets this.
    transaction_result: True: committed."""

    producer_id: int
    producer_epoch: int
    transaction_result: bool
    partitions: list[tuple[str, int]]
    coordinator_epoch: int


class WriteTxnMarkersRequest(Message, tag="kafka.cluster.WriteTxnMarkers"):
    markers: list[TxnMarker]


class WriteTxnMarkersResponse(Message, tag="kafka.cluster.WroteTxnMarkers"):
    """results: (producer id, topic, partition, error code), in the order of the request."""

    results: list[tuple[int, str, int, int]]


TransactionMessage = (
    FindCoordinatorRequest
    | FindCoordinatorResponse
    | InitProducerIdRequest
    | InitProducerIdResponse
    | AddPartitionsToTxnRequest
    | AddPartitionsToTxnResponse
    | AddOffsetsToTxnRequest
    | AddOffsetsToTxnResponse
    | EndTxnRequest
    | EndTxnResponse
    | WriteTxnMarkersRequest
    | WriteTxnMarkersResponse
)

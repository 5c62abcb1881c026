"""The states of a producer, as far as ids and transactions go, and what leads from one to another: one table.

    UNINITIALIZED ─init─► INITIALIZING ─id given─► READY ─begin─► IN_TRANSACTION ─commit─► COMMITTING ─ended─► READY
                                                     ▲               │ abort, or after an abortable error         │
                                                     └─── ended ─── ABORTING ◄── ABORTABLE_ERROR ◄────────────────┘
    any ─fatal─► FATAL_ERROR: only closing is left. A fenced producer is there.

Source: Kafka 3.9 clients TransactionManager.State.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from broker_core.kafka.error_codes import ErrorCode


class Phase(Enum):
    UNINITIALIZED = "uninitialized"
    INITIALIZING = "initializing"
    READY = "ready"
    IN_TRANSACTION = "in_transaction"
    COMMITTING = "committing_transaction"
    ABORTING = "aborting_transaction"
    ABORTABLE_ERROR = "abortable_error"
    FATAL_ERROR = "fatal_error"


class Step(Enum):
    """What leads on. INIT: the id is asked for. ENDED: the coordinator has taken the end. BUMP: an abort goes
    on with a new epoch. EXHAUSTED: an idempotent producer gives up its id."""

    INIT = "init"
    ID_GIVEN = "id_given"
    BEGIN = "begin"
    COMMIT = "commit"
    ABORT = "abort"
    ENDED = "ended"
    BUMP = "bump"
    ABORTABLE = "abortable"
    FATAL = "fatal"
    EXHAUSTED = "exhausted"


TRANSITIONS: Mapping[tuple[Phase, Step], Phase] = MappingProxyType({
    (Phase.UNINITIALIZED, Step.INIT): Phase.INITIALIZING,
    (Phase.INITIALIZING, Step.ID_GIVEN): Phase.READY,
    (Phase.READY, Step.EXHAUSTED): Phase.UNINITIALIZED,
    (Phase.READY, Step.BEGIN): Phase.IN_TRANSACTION,
    (Phase.IN_TRANSACTION, Step.COMMIT): Phase.COMMITTING,
    (Phase.IN_TRANSACTION, Step.ABORT): Phase.ABORTING,
    (Phase.IN_TRANSACTION, Step.ABORTABLE): Phase.ABORTABLE_ERROR,
    (Phase.COMMITTING, Step.ABORTABLE): Phase.ABORTABLE_ERROR,
    (Phase.COMMITTING, Step.ENDED): Phase.READY,
    (Phase.ABORTABLE_ERROR, Step.ABORTABLE): Phase.ABORTABLE_ERROR,
    (Phase.ABORTABLE_ERROR, Step.ABORT): Phase.ABORTING,
    (Phase.ABORTING, Step.ABORTABLE): Phase.ABORTING,
    (Phase.ABORTING, Step.ENDED): Phase.READY,
    (Phase.ABORTING, Step.BUMP): Phase.INITIALIZING,
    **{(phase, Step.FATAL): Phase.FATAL_ERROR for phase in Phase},
})  # fmt: skip

RETRIABLE = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
)
"""Codes after which the same request is sent again. Source: the subclasses of RetriableException in
common/errors."""

STALE_METADATA = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
    }
)
"""Codes that say that the metadata is old. Source: the subclasses of InvalidMetadataException."""

FATAL = frozenset({ErrorCode.PRODUCER_FENCED})
"""Codes in a produce's answer that end the producer. Source:
TransactionManager.maybeTransitionToErrorState."""

SEARCH_COORDINATOR = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
ASK_AGAIN = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})
ID_LOST = frozenset({ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_ID_MAPPING})

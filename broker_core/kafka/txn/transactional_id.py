"""What the coordinator knows of one transactional id, and its decisions on each request: the next state, or
the refusal.

    init     state at rest: epoch + 1, or a new producer id after epoch 32766       ONGOING: fence, then abort, the client asks again
    add      right id and epoch, nothing being completed                            end: right id and epoch, ONGOING, or answered before

A decision is a copy with what is to be, which holds once its record is in the log of `__transaction_state` on
all of the ISR; meanwhile `pending` says so, and every other request is CONCURRENT_TRANSACTIONS.
Source: Kafka 3.9 core TransactionMetadata, TransactionCoordinator (prepareInitProducerIdTransit,
handleAddPartitionsToTransaction, endTransaction).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from broker_core.errors import InvariantError
from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from broker_core.kafka.txn.states import PREPARED, TRANSITIONS, TransactionState, TransactionStep

EPOCH_EXHAUSTED = 2**15 - 2
"""No client gets a higher one, so that the coordinator can still fence it."""


@dataclass(slots=True)
class TransactionalId:
    """last_producer_id, last_producer_epoch: before the last InitProducerId of the same producer, whose
    answer may be lost; -1: none.

    partitions: of the transaction; while it is being completed, those without a marker so far. started_ms: -1
    for no transaction.
    pending: the state that is being written to the log, None: nothing is.
    has_failed_fence: an epoch was raised and could not be written, so the next fence does not raise it again.
    """

    transactional_id: str
    producer_id: int
    timeout_ms: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    last_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    state: TransactionState = TransactionState.EMPTY
    partitions: dict[TopicPartition, None] = field(default_factory=dict)
    started_ms: int = -1
    updated_ms: int = -1
    pending: TransactionState | None = None
    has_failed_fence: bool = False

    @property
    def is_exhausted(self) -> bool:
        return self.producer_epoch >= EPOCH_EXHAUSTED

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether its open transaction has lasted too long."""
        return (
            self.state is TransactionState.ONGOING
            and self.pending is None
            and self.started_ms + self.timeout_ms < now_ms
        )


def stepped(known: TransactionalId, step: TransactionStep, now_ms: int) -> TransactionalId:
    """A copy in the next state. Raises InvariantError where the table has none."""
    state = TRANSITIONS.get((known.state, step))
    if state is None:
        raise InvariantError(f"{step} in {known.state}")
    return replace(known, state=state, partitions=dict(known.partitions), updated_ms=now_ms, pending=None)


def init(
    known: TransactionalId, timeout_ms: int, expected: tuple[int, int], new_producer_id: int, now_ms: int
) -> TransactionalId | ErrorCode:
    """InitProducerId, unless a transaction is open. expected: id and epoch that the producer had, -1 for a
    newcomer.

    A newcomer gets the next epoch, which fences all before. A producer that had an epoch gets the next one
    only if it is still the newest; if it asks again because the answer was lost, the same one.
    """
    producer_id, epoch = expected
    refusal = fits(known, expected)
    if refusal is not ErrorCode.NONE:
        return refusal
    if known.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    wanted = stepped(known, TransactionStep.INIT, now_ms)
    wanted.timeout_ms, wanted.started_ms, wanted.last_producer_id = timeout_ms, -1, known.producer_id
    wanted.partitions.clear()
    is_newcomer = producer_id == NO_PRODUCER_ID
    if known.is_exhausted and (is_newcomer or epoch == known.producer_epoch):
        wanted.producer_id, wanted.producer_epoch = new_producer_id, 0
        wanted.last_producer_epoch = NO_PRODUCER_EPOCH if is_newcomer else known.producer_epoch
    elif is_newcomer:
        wanted.producer_epoch, wanted.last_producer_epoch = known.producer_epoch + 1, NO_PRODUCER_EPOCH
    elif known.producer_epoch == NO_PRODUCER_EPOCH or epoch == known.producer_epoch:
        wanted.producer_epoch, wanted.last_producer_epoch = known.producer_epoch + 1, known.producer_epoch
    elif epoch != known.last_producer_epoch:
        return ErrorCode.PRODUCER_FENCED
    return wanted


def fits(known: TransactionalId, expected: tuple[int, int]) -> ErrorCode:
    """Whether this producer may ask for an epoch at all."""
    producer_id, epoch = expected
    if known.pending is not None:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    is_known = producer_id in (NO_PRODUCER_ID, known.producer_id) or known.producer_epoch == NO_PRODUCER_EPOCH
    is_retry = producer_id == known.last_producer_id and epoch >= EPOCH_EXHAUSTED
    return ErrorCode.NONE if is_known or is_retry else ErrorCode.PRODUCER_FENCED


def add(
    known: TransactionalId, producer: tuple[int, int], partitions: Sequence[TopicPartition], now_ms: int
) -> TransactionalId | ErrorCode:
    """AddPartitionsToTxn. NONE: they are part of it already."""
    refusal = _of_producer(known, producer)
    if refusal is not ErrorCode.NONE:
        return refusal
    if known.pending is not None or known.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    is_open = known.state is TransactionState.ONGOING
    if is_open and all(partition in known.partitions for partition in partitions):
        return ErrorCode.NONE
    wanted = stepped(known, TransactionStep.ADD, now_ms)
    if not is_open:
        wanted.partitions.clear()
        wanted.started_ms = now_ms
    wanted.partitions.update(dict.fromkeys(partitions))
    return wanted


def verify(known: TransactionalId, producer: tuple[int, int], partition: TopicPartition) -> ErrorCode:
    """A partition's leader asks whether the partition is part of the transaction that is open now."""
    refusal = _of_producer(known, producer)
    if refusal is not ErrorCode.NONE:
        return refusal
    if (known.pending is not None and known.pending in PREPARED) or known.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return ErrorCode.NONE if partition in known.partitions else ErrorCode.INVALID_TXN_STATE


def end(
    known: TransactionalId, producer: tuple[int, int], is_commit: bool, now_ms: int
) -> TransactionalId | ErrorCode:
    """EndTxn. NONE: it ended so before, and the answer was lost."""
    refusal = _of_producer(known, producer)
    if refusal is not ErrorCode.NONE:
        return refusal
    if known.pending is not None:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    match known.state:
        case TransactionState.ONGOING:
            return stepped(known, TransactionStep.COMMIT if is_commit else TransactionStep.ABORT, now_ms)
        case TransactionState.PREPARE_COMMIT | TransactionState.PREPARE_ABORT:
            is_same = is_commit == (known.state is TransactionState.PREPARE_COMMIT)
            return ErrorCode.CONCURRENT_TRANSACTIONS if is_same else ErrorCode.INVALID_TXN_STATE
        case TransactionState.COMPLETE_COMMIT | TransactionState.COMPLETE_ABORT:
            is_same = is_commit == (known.state is TransactionState.COMPLETE_COMMIT)
            return ErrorCode.NONE if is_same else ErrorCode.INVALID_TXN_STATE
    return ErrorCode.INVALID_TXN_STATE


def fence(known: TransactionalId, now_ms: int) -> TransactionalId:
    """Abort an open transaction on the coordinator's own account: a higher epoch, which no client ever gets,
    shuts the old producer out."""
    wanted = stepped(known, TransactionStep.ABORT, now_ms)
    if not known.has_failed_fence:
        wanted.producer_epoch = known.producer_epoch + 1
    wanted.last_producer_epoch = NO_PRODUCER_EPOCH
    return wanted


def _of_producer(known: TransactionalId, producer: tuple[int, int]) -> ErrorCode:
    if producer[0] != known.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if producer[1] == known.producer_epoch else ErrorCode.PRODUCER_FENCED

"""What the coordinators' answers lead to: the id is given, partitions are part of the transaction, it has
ended, or it cannot be.

Source: Kafka 3.9 clients TransactionManager (InitProducerIdHandler, FindCoordinatorHandler,
AddPartitionsToTxnHandler, AddOffsetsToTxnHandler, TxnOffsetCommitHandler, EndTxnHandler).
"""

from __future__ import annotations

from broker_core.kafka.client.producer import answers, network
from broker_core.kafka.client.producer.settings import JITTER, backoff_us
from broker_core.kafka.client.producer.state import Flight, ProducerState
from broker_core.kafka.client.producer.states import ASK_AGAIN, FENCED, ID_LOST, SEARCH_COORDINATOR, Step
from broker_core.kafka.client.producer.transaction import Question
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Outbox

_KNOWN = frozenset(code.value for code in ErrorCode)
GONE_ON_WITHOUT_IT = frozenset(
    {
        codes.ILLEGAL_GENERATION,
        codes.UNKNOWN_MEMBER_ID,
        codes.FENCED_INSTANCE_ID,
        ErrorCode.TRANSACTION_ABORTABLE.value,
    }
)
"""Of a TxnOffsetCommit: the group has gone on without this member, so the transaction is to be aborted. Any
other refusal for good is fatal."""
FIRST_ADD_BACKOFF_US = 20_000
"""While the transaction before is still being completed, the first AddPartitionsToTxn of the next is tried
again soon."""


def answered(
    state: ProducerState,
    flight: Flight,
    message: t.TransactionMessage | m.TxnOffsetCommitResponse,
    now_us: int,
    out: Outbox,
) -> None:
    """A coordinator has answered what was asked."""
    state.transaction.asked = ""
    request = flight.request
    match message:
        case t.InitProducerIdResponse():
            _id_given(state, request, message, now_us, out)
        case t.FindCoordinatorResponse():
            _found(state, request, message, now_us, out)
        case t.AddPartitionsToTxnResponse():
            _added(state, request, message, now_us, out)
        case t.AddOffsetsToTxnResponse():
            if _is_done(state, request, ErrorCode(message.error_code), now_us, out):
                state.transaction.is_started = True
                if state.transaction.offsets:
                    state.transaction.offsets[0].is_added = True
        case m.TxnOffsetCommitResponse():
            _offsets_committed(state, request, message, now_us, out)
        case t.EndTxnResponse():
            if _is_done(state, request, ErrorCode(message.error_code), now_us, out):
                answers.transaction_over(state)


def unanswered(state: ProducerState, flight: Flight, now_us: int, out: Outbox) -> None:
    """The connection broke first: look for the coordinator again, and ask again."""
    state.transaction.asked = ""
    if flight.request is not None:
        answers.forget_coordinator(state, flight.request)
    _later(state, now_us, out)


def _id_given(
    state: ProducerState,
    request: Question | None,
    message: t.InitProducerIdResponse,
    now_us: int,
    out: Outbox,
) -> None:
    if not _is_done(state, request, ErrorCode(message.error_code), now_us, out):
        return
    sequences, before = state.sequences, state.sequences.producer_epoch
    sequences.adopt(message.producer_id, message.producer_epoch)
    if before >= 0 or state.settings.transactional_id is not None:
        sequences.forget()
    state.transaction.step(Step.ID_GIVEN)
    out.tell(
        "kafka.producer.id_given", None, {"transactional_id": state.settings.transactional_id or ""},
        {"producer_id": message.producer_id, "epoch": message.producer_epoch},
    )  # fmt: skip


def _found(
    state: ProducerState,
    request: Question | None,
    message: t.FindCoordinatorResponse,
    now_us: int,
    out: Outbox,
) -> None:
    if not isinstance(request, t.FindCoordinatorRequest):
        return
    if message.error_code != ErrorCode.NONE:
        if ErrorCode(message.error_code) is ErrorCode.COORDINATOR_NOT_AVAILABLE:
            _later(state, now_us, out)
        else:
            answers.fatal(state, ErrorCode(message.error_code), out)
    elif request.key_type == t.GROUP:
        state.transaction.group_coordinators[request.key] = message.node_id
    else:
        state.transaction.coordinator = message.node_id


def _added(
    state: ProducerState,
    request: Question | None,
    message: t.AddPartitionsToTxnResponse,
    now_us: int,
    out: Outbox,
) -> None:
    transaction = state.transaction
    errors = {(topic, number): ErrorCode(code) for topic, number, code in message.results}
    # OPERATION_NOT_ATTEMPTED only says that another partition was refused.
    decisive = [
        error for error in errors.values() if error not in (ErrorCode.NONE, ErrorCode.OPERATION_NOT_ATTEMPTED)
    ]
    if decisive and decisive[0] is ErrorCode.CONCURRENT_TRANSACTIONS and not transaction.added:
        transaction.retry_at_us = now_us + min(FIRST_ADD_BACKOFF_US, state.settings.retry_backoff_us)
    elif decisive:
        _is_done(state, request, decisive[0], now_us, out)
    else:
        for partition in errors:
            transaction.pending.pop(partition, None)
            transaction.added[partition] = None
        transaction.is_started = True
        transaction.failures = 0


def _offsets_committed(
    state: ProducerState,
    request: Question | None,
    message: m.TxnOffsetCommitResponse,
    now_us: int,
    out: Outbox,
) -> None:
    transaction = state.transaction
    for code in [partition.error_code for topic in message.topics for partition in topic.partitions]:
        if code in GONE_ON_WITHOUT_IT:
            counts, error = (
                state.counts,
                ErrorCode(code) if code in _KNOWN else ErrorCode.UNKNOWN_SERVER_ERROR,
            )
            counts.errors[error] = counts.errors.get(error, 0) + 1
            transaction.offsets.clear()  # the application aborts
            answers.abortable(state, error, out)
            return
        if code != ErrorCode.NONE:
            _is_done(
                state,
                request,
                ErrorCode(code) if code in _KNOWN else ErrorCode.UNKNOWN_SERVER_ERROR,
                now_us,
                out,
            )
            return
    transaction.failures = 0
    if transaction.offsets:
        transaction.offsets.pop(0)


def _is_done(
    state: ProducerState, request: Question | None, error: ErrorCode, now_us: int, out: Outbox
) -> bool:
    """Whether it went well; if not: ask again, or an error of the transaction or of the producer."""
    if error is ErrorCode.NONE:
        state.transaction.failures = 0
        return True
    counts = state.counts
    counts.errors[error] = counts.errors.get(error, 0) + 1
    is_of_group = isinstance(request, m.TxnOffsetCommitRequest)
    if error in SEARCH_COORDINATOR or (is_of_group and error is ErrorCode.REQUEST_TIMED_OUT):
        if request is not None:
            answers.forget_coordinator(state, request)
        _later(state, now_us, out)
    elif error in ASK_AGAIN:
        _later(state, now_us, out)
    elif error in FENCED and not is_of_group:
        answers.fatal(state, ErrorCode.PRODUCER_FENCED, out)
    elif error in ID_LOST and not (is_of_group or isinstance(request, t.InitProducerIdRequest)):
        state.transaction.is_id_lost = state.sequences.is_bump_required = True  # also while it commits
        answers.abortable(state, error, out)
    else:
        answers.fatal(state, error, out)
    return False


def _later(state: ProducerState, now_us: int, out: Outbox) -> None:
    settings, transaction = state.settings, state.transaction
    wait = backoff_us(
        settings.retry_backoff_us,
        settings.retry_backoff_max_us,
        transaction.failures,
        out.draw(network.BACKOFF_STREAM, JITTER),
    )
    transaction.failures += 1
    transaction.retry_at_us = now_us + wait

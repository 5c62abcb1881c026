"""What an answer to a produce leads to, and what happens to batches that get none.

    NONE ─► acked                 retriable, in time, retries left ─► back off, send again       NOT_LEADER ─► and ask for metadata
    DUPLICATE_SEQUENCE ─► acked   OUT_OF_ORDER, UNKNOWN_PRODUCER_ID ─► sequences.may_retry       else ─► failed
    no answer ─► NETWORK_EXCEPTION, which is retriable: the batch may have been written

Source: Kafka 3.9 clients Sender (completeBatch, canRetry, failBatch, handleProduceResponse),
TransactionManager (handleFailedBatch, maybeTransitionToErrorState). Left out: splitting a batch after
MESSAGE_TOO_LARGE.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.kafka.client.producer import network
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.settings import JITTER, backoff_us
from broker_core.kafka.client.producer.state import Deliveries, Flight, ProducerState
from broker_core.kafka.client.producer.states import FATAL, RETRIABLE, STALE_METADATA, Phase, Step
from broker_core.kafka.client.producer.transaction import Question
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Outbox


def produced(
    state: ProducerState,
    deliveries: Deliveries,
    flight: Flight,
    response: r.ProduceResponse,
    now_us: int,
    out: Outbox,
) -> None:
    """A produce was answered."""
    for number, answer in zip(flight.batches, response.partitions, strict=True):
        batch = state.accumulator.batches.get(number)
        if answer.current_leader >= 0:
            state.metadata.learn_leader(
                (answer.topic, answer.index), answer.current_leader, answer.current_leader_epoch
            )
        if batch is None:
            continue  # its time was over before the answer came
        error = ErrorCode(answer.error_code)
        if error is ErrorCode.NONE:
            completed(state, deliveries, batch, answer.base_offset, now_us, out)
        else:
            refused(state, deliveries, batch, error, answer.log_start_offset, now_us, out)


def unanswered(
    state: ProducerState, deliveries: Deliveries, flight: Flight, now_us: int, out: Outbox
) -> None:
    """The connection broke before the answer: the broker may have written the batches or not."""
    for number in flight.batches:
        batch = state.accumulator.batches.get(number)
        if batch is not None:
            state.counts.lost_answers += 1
            refused(state, deliveries, batch, ErrorCode.NETWORK_EXCEPTION, -1, now_us, out)


def completed(
    state: ProducerState, deliveries: Deliveries, batch: Batch, base_offset: int, now_us: int, out: Outbox
) -> None:
    """The broker has it."""
    if batch.has_sequence:
        state.sequences.acked(batch, base_offset)
    state.counts.acked += len(batch.values)
    _decided(state, batch)
    deliveries.acked(out.name, batch.topic_partition, base_offset, batch.values, batch.attempts, now_us)


def refused(
    state: ProducerState,
    deliveries: Deliveries,
    batch: Batch,
    error: ErrorCode,
    log_start_offset: int,
    now_us: int,
    out: Outbox,
) -> None:
    """An error, or no answer at all: send it again, or give it up."""
    counts = state.counts
    counts.errors[error] = counts.errors.get(error, 0) + 1
    if error in STALE_METADATA:
        state.metadata.is_wanted = True
    if _may_retry(state, batch, error, log_start_offset, now_us):
        counts.retries += 1
        _again(state, batch, now_us, out)
    elif error is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
        # It was written before, so long ago that the broker no longer knows where.
        completed(state, deliveries, batch, -1, now_us, out)
    else:
        is_exhausted = error in RETRIABLE and batch.attempts >= state.settings.retries
        kind = "kafka.producer.retries_exhausted" if is_exhausted else "kafka.producer.batch_failed"
        if state.transaction.phase is not Phase.ABORTING:
            out.tell(kind, None, {"attempts": batch.attempts, "error": error.name}, _facts(batch))
        # With retries left the refusal is final: the broker does not have it, and the numbers behind it may
        # move up.
        fail(
            state,
            deliveries,
            batch,
            error,
            now_us,
            out,
            is_known_lost=batch.attempts < state.settings.retries,
        )


def expire(state: ProducerState, deliveries: Deliveries, now_us: int, out: Outbox) -> None:
    """Batches whose delivery.timeout.ms is over fail; of those that were sent again the broker may have
    records."""
    for batch in state.accumulator.expired(now_us, state.settings.delivery_timeout_us):
        state.counts.expired += 1
        out.tell(
            "kafka.producer.batch_expired",
            None,
            {"attempts": batch.attempts, "delivery_timeout_us": state.settings.delivery_timeout_us},
            _facts(batch),
        )
        fail(state, deliveries, batch, ErrorCode.REQUEST_TIMED_OUT, now_us, out, is_known_lost=False)
        if batch.attempts and batch.has_sequence:
            state.sequences.mark_unresolved(batch)


def abort(
    state: ProducerState,
    deliveries: Deliveries,
    batches: Sequence[Batch],
    error: ErrorCode,
    now_us: int,
    out: Outbox,
) -> None:
    """These are given up with their transaction, or with the producer."""
    for batch in batches:
        state.sequences.drop(batch)
        _fail(state, deliveries, batch, error, now_us, out)


def fail(
    state: ProducerState,
    deliveries: Deliveries,
    batch: Batch,
    error: ErrorCode,
    now_us: int,
    out: Outbox,
    *,
    is_known_lost: bool,
) -> None:
    """The last word on a batch is an error. is_known_lost: the broker certainly does not have it."""
    is_transactional = state.settings.transactional_id is not None
    if error in FATAL:
        fatal(state, error, out)
    elif is_transactional:
        abortable(state, error, out)
    if state.is_idempotent and batch.has_sequence:
        sequences = state.sequences
        sequences.drop(batch)
        if state.transaction.phase is not Phase.FATAL_ERROR:
            if error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and not is_transactional:
                sequences.ask_bump(batch.topic_partition)
            elif error is ErrorCode.UNKNOWN_PRODUCER_ID:
                sequences.partitions.pop(batch.topic_partition, None)
                sequences.unresolved.pop(batch.topic_partition, None)
            elif is_known_lost and is_transactional:
                sequences.close_gap(batch, state.accumulator.batches)
            elif is_known_lost:
                sequences.ask_bump(batch.topic_partition)
    _fail(state, deliveries, batch, error, now_us, out)


def fatal(state: ProducerState, error: ErrorCode, out: Outbox) -> None:
    """The producer is of no more use: a newer instance of it is at work, or the coordinator refuses it."""
    if state.transaction.phase is Phase.FATAL_ERROR:
        return
    sequences = state.sequences
    state.transaction.step(Step.FATAL, error)
    kind = "kafka.producer.fenced" if error is ErrorCode.PRODUCER_FENCED else "kafka.producer.failed"
    inputs = {"producer_id": sequences.producer_id, "epoch": sequences.producer_epoch}
    if kind == "kafka.producer.fenced":
        out.tell(
            "kafka.producer.fenced",
            "kafka.transaction.newer_epoch",
            inputs,
            {"transactional_id": state.settings.transactional_id or ""},
        )
    else:
        out.tell("kafka.producer.failed", None, inputs, {"error": error.name})


def abortable(state: ProducerState, error: ErrorCode, out: Outbox) -> None:
    """The transaction cannot be committed any more; the application must abort it, and the next one gets a
    new epoch."""
    transaction = state.transaction
    if not transaction.is_completing:
        state.sequences.is_bump_required = True
    if transaction.phase in (Phase.IN_TRANSACTION, Phase.COMMITTING):
        out.tell(
            "kafka.producer.transaction_failed",
            None,
            {"error": error.name},
            {"partitions": len(transaction.added)},
        )
    if transaction.phase in (Phase.IN_TRANSACTION, Phase.COMMITTING, Phase.ABORTABLE_ERROR, Phase.ABORTING):
        transaction.step(Step.ABORTABLE, error)


def transaction_over(state: ProducerState) -> None:
    """EndTxn was answered, or was not needed."""
    transaction = state.transaction
    if transaction.phase is Phase.COMMITTING:
        state.counts.committed += 1
    else:
        state.counts.aborted += 1
    transaction.over(is_bump_required=state.sequences.is_bump_required)
    state.sequences.is_bump_required = False


def forget_coordinator(state: ProducerState, request: Question) -> None:
    """The broker that was to be asked is gone or no longer the coordinator."""
    if isinstance(request, m.TxnOffsetCommitRequest):
        state.transaction.group_coordinators.pop(request.group_id, None)
    elif not isinstance(request, t.FindCoordinatorRequest):
        state.transaction.coordinator = -1


def _may_retry(
    state: ProducerState, batch: Batch, error: ErrorCode, log_start_offset: int, now_us: int
) -> bool:
    settings = state.settings
    if now_us - batch.created_us >= settings.delivery_timeout_us or batch.attempts >= settings.retries:
        return False
    if state.is_idempotent and settings.bumps_epoch:
        decided = state.sequences.may_retry(
            error,
            batch,
            log_start_offset,
            state.accumulator.batches,
            is_transactional=settings.transactional_id is not None,
        )
        if decided is not None:
            return decided
    return error in RETRIABLE


def _again(state: ProducerState, batch: Batch, now_us: int, out: Outbox) -> None:
    settings = state.settings
    wait = backoff_us(
        settings.retry_backoff_us,
        settings.retry_backoff_max_us,
        batch.attempts,
        out.draw(network.BACKOFF_STREAM, JITTER),
    )
    batch.attempts += 1
    batch.retry_at_us = now_us + wait
    state.accumulator.muted.pop(batch.topic_partition, None)
    in_flight = state.sequences.of(batch.topic_partition).in_flight if state.is_idempotent else None
    state.accumulator.put_back(batch, in_flight)


def _fail(
    state: ProducerState, deliveries: Deliveries, batch: Batch, error: ErrorCode, now_us: int, out: Outbox
) -> None:
    state.counts.failed += len(batch.values)
    _decided(state, batch)
    deliveries.failed(out.name, batch.topic_partition, error, batch.values, now_us)


def _decided(state: ProducerState, batch: Batch) -> None:
    state.accumulator.release(batch)
    state.accumulator.muted.pop(batch.topic_partition, None)


def _facts(batch: Batch) -> dict[str, int | str]:
    topic, number = batch.topic_partition
    return {
        "partition": f"{topic}-{number}",
        "records": len(batch.values),
        "base_sequence": batch.base_sequence,
        "batch": batch.number,
    }

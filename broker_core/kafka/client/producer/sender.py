"""The sender: looks at everything that may be due, sends it, and says when to look again. It runs after
whatever happens to the producer.

    resolve sequences ─► epoch or id needed? ─► ask a coordinator ─► expire ─► take in blocked records ─► drain ─► metadata ─► deadline

Source: Kafka 3.9 clients producer.internals.Sender.runOnce, sendProducerData.
"""

from __future__ import annotations

from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.client.producer import answers, intake, network, producer_metadata
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.state import Deliveries, Flight, ProducerState
from broker_core.kafka.client.producer.states import Phase, Step
from broker_core.kafka.cluster.requests import ProducePartition, ProduceRequest
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from broker_core.sim.node import Outbox

SENDER = "sender"
NEVER = 1 << 62


def run(state: ProducerState, deliveries: Deliveries, now_us: int, out: Outbox) -> None:
    """Do all that is due now."""
    if state.is_idempotent:
        _care_for_ids(state, out)
    transaction = state.transaction
    if transaction.phase is Phase.FATAL_ERROR:
        answers.abort(
            state, deliveries, list(state.accumulator.batches.values()), transaction.error, now_us, out
        )
        intake.refuse_blocked(state, deliveries, transaction.error, now_us, out)
    else:
        if state.is_idempotent:
            _ask_coordinator(state, deliveries, now_us, out)
        answers.expire(state, deliveries, now_us, out)
    if state.blocked:
        intake.take_in(state, deliveries, now_us, out)
    while state.accumulator.queues and _drain(state, deliveries, now_us, out):
        pass
    if state.next_settings is not None and not state.accumulator.has_incomplete:
        for link in state.links.values():
            out.close(link.connection)
        state.open_next(now_us)
        run(state, deliveries, now_us, out)
        return
    producer_metadata.refresh(state, now_us, out)
    is_done = not (state.accumulator.has_incomplete or state.blocked)
    if (
        state.is_closing
        and is_done
        and transaction.phase in (Phase.READY, Phase.UNINITIALIZED, Phase.FATAL_ERROR)
    ):
        for link in state.links.values():
            out.close(link.connection)
        state.links.clear()
        out.cancel(SENDER)
        return
    _set_deadline(state, now_us, out)


def _care_for_ids(state: ProducerState, out: Outbox) -> None:
    """Give up sequences that are no longer known, raise the epoch, ask for an id."""
    sequences, transaction = state.sequences, state.transaction
    is_transactional = state.settings.transactional_id is not None
    given_up = sequences.settled() if sequences.unresolved else []
    for partition in given_up:
        if is_transactional:
            # Also while the transaction is aborted already: its end then goes on with the next epoch.
            sequences.is_bump_required = True
            answers.abortable(state, ErrorCode.UNKNOWN_PRODUCER_ID, out)
        else:
            sequences.ask_bump(partition)
    if is_transactional:
        return
    if sequences.is_bump_required:
        lost = [f"{topic}-{number}" for topic, number in sequences.rewrite]
        before = sequences.producer_epoch
        if state.settings.bumps_epoch:
            sequences.bump(state.accumulator.batches)
        elif any(entry.in_flight for entry in sequences.partitions.values()):
            return  # a new id begins everywhere at 0, so nothing of the old one may be on its way
        else:
            sequences.adopt(-1, -1)
            sequences.forget()
        state.counts.epoch_bumps += 1
        if sequences.has_producer_id:
            out.tell(
                "kafka.producer.epoch_bumped",
                "kafka.producer.lost_sequence",
                {"epoch_before": before, "partitions": lost[:16]},
                {"producer_id": sequences.producer_id, "epoch": sequences.producer_epoch},
            )
        else:
            out.tell(
                "kafka.producer.id_given_up",
                "kafka.producer.lost_sequence",
                {"epoch_before": before, "partitions": lost[:16]},
                {},
            )
            transaction.step(Step.EXHAUSTED)
    if not sequences.has_producer_id and transaction.phase is Phase.UNINITIALIZED:
        transaction.step(Step.INIT)


def _ask_coordinator(state: ProducerState, deliveries: Deliveries, now_us: int, out: Outbox) -> None:
    """Send the next request about ids and transactions, unless one is on its way."""
    transaction, settings, sequences = state.transaction, state.settings, state.sequences
    if transaction.asked or now_us < transaction.retry_at_us or transaction.phase is Phase.READY:
        return
    if transaction.phase in (Phase.ABORTABLE_ERROR, Phase.ABORTING):
        waiting = [batch for batch in state.accumulator.batches.values() if not batch.is_drained]
        answers.abort(
            state, deliveries, waiting, transaction.error or ErrorCode.INVALID_TXN_STATE, now_us, out
        )
    if transaction.is_completing and not (
        transaction.is_started or transaction.new or transaction.pending or transaction.offsets
    ):
        if not state.accumulator.has_incomplete:
            answers.transaction_over(state)
    elif transaction.is_completing and transaction.is_id_lost and not state.accumulator.has_incomplete:
        answers.transaction_over(state)
    found = transaction.next_request(
        settings.transactional_id,
        settings.transaction_timeout_us // 1_000,
        (sequences.producer_id, sequences.producer_epoch),
        has_incomplete=state.accumulator.has_incomplete,
    )
    if found is None:
        return
    broker, request = found
    if broker is None:
        broker = network.least_loaded(state, now_us, out)
    if broker is None:
        state.metadata.is_wanted = True
        transaction.retry_at_us = now_us + settings.retry_backoff_us
        return
    if network.usable(state, broker, now_us, out) is None:
        if network.peer(state, broker).connect_at_us > now_us:
            answers.forget_coordinator(state, request)
            transaction.retry_at_us = now_us + settings.retry_backoff_us
        return
    transaction.asked = type(request).__name__.removesuffix("Request")
    network.send(state, broker, request, Flight("transaction", now_us, request=request), out)


def _drain(state: ProducerState, deliveries: Deliveries, now_us: int, out: Outbox) -> bool:
    """Send one produce to every broker that has a batch due and takes it. Tells whether there was one."""
    accumulator, settings = state.accumulator, state.settings
    ready: dict[int, None] = {}
    at_once = _is_hurried(state)
    for partition in accumulator.queues:
        found = state.metadata.leader(partition)
        if found is None:
            state.metadata.is_wanted = True
        elif partition not in accumulator.muted:
            leader, epoch = found
            if (
                leader not in ready
                and accumulator.due_us(partition, settings, epoch, at_once=at_once) <= now_us
            ):
                ready[leader] = None
    is_sent = False
    for leader in ready:
        link = network.usable(state, leader, now_us, out)
        there = network.peer(state, leader)
        there.due_us = now_us
        if link is None:
            continue
        there.taken_us = now_us
        batches = _take(state, leader, now_us)
        if batches:
            is_sent = True
            _send(state, leader, batches, now_us, out)
            if settings.acks == 0:
                for batch in batches:  # nobody will say more of them
                    answers.completed(state, deliveries, batch, -1, now_us, out)
    return is_sent


def _is_hurried(state: ProducerState) -> bool:
    """Whether batches that have not lingered long enough go at once."""
    is_ending = state.is_closing or state.next_settings is not None
    return bool(state.blocked) or is_ending or state.transaction.is_completing


def _take(state: ProducerState, leader: int, now_us: int) -> list[Batch]:
    """The first batch of every partition that this broker leads, up to max.request.size, beginning where the
    last produce ended."""
    accumulator, settings, metadata_ = state.accumulator, state.settings, state.metadata
    there = network.peer(state, leader)
    partitions = [
        partition
        for partition in accumulator.queues
        if (metadata_.leader(partition) or (-1, -1))[0] == leader
    ]
    partitions.sort()
    start = there.next_partition % len(partitions) if partitions else 0
    taken: list[Batch] = []
    size = 0
    for partition in partitions[start:] + partitions[:start]:
        if partition in accumulator.muted:
            continue
        batch = accumulator.batches[accumulator.queues[partition][0]]
        epoch = (metadata_.leader(partition) or (-1, -1))[1]
        if batch.attempts and batch.retry_at_us > now_us and epoch <= batch.sent_epoch:
            continue
        if taken and size + batch.size > settings.max_request_size:
            break
        if state.is_idempotent and not _may_go(state, partition, batch):
            continue
        accumulator.take(partition)
        batch.sent_epoch = epoch
        if state.is_idempotent and not batch.has_sequence:
            state.sequences.give(batch, settings.transactional_id is not None)
        if settings.max_in_flight == 1:
            accumulator.muted[partition] = None
        there.next_partition += 1
        taken.append(batch)
        size += batch.size
    return taken


def _may_go(state: ProducerState, partition: TopicPartition, batch: Batch) -> bool:
    if state.settings.transactional_id is not None and partition not in state.transaction.added:
        return False
    return state.sequences.may_drain(batch, state.accumulator.batches)


def _send(state: ProducerState, leader: int, batches: list[Batch], now_us: int, out: Outbox) -> None:
    settings = state.settings
    request = ProduceRequest(
        settings.acks, settings.request_timeout_us // 1_000,
        [ProducePartition(*batch.topic_partition, as_sent(batch)) for batch in batches],
        settings.transactional_id,
    )  # fmt: skip
    state.counts.requests += 1
    flight = Flight("produce", now_us, [batch.number for batch in batches]) if settings.acks else None
    network.send(state, leader, request, flight, out)


def as_sent(batch: Batch) -> LightBatch:
    """A batch as it travels."""
    return light_batch(
        batch.values,
        timestamp=batch.created_us // 1_000,
        size_in_bytes=batch.size,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
    )


def _set_deadline(state: ProducerState, now_us: int, out: Outbox) -> None:
    """Wake when the next thing is due. One that comes too early finds nothing to do, which is cheaper than
    moving it each time.

    With nothing waiting only answers can be missing, and those not before request.timeout.ms is over.
    """
    is_waiting = (
        state.accumulator.queues
        or state.blocked
        or state.metadata.is_wanted
        or state.transaction.retry_at_us > now_us
    )
    if not is_waiting and now_us < state.wake_us <= now_us + state.settings.request_timeout_us:
        return
    at_us = _next_due_us(state, now_us)
    if at_us < NEVER and (state.wake_us <= now_us or at_us < state.wake_us):
        state.wake_us = at_us
        out.deadline(SENDER, at_us)


def _next_due_us(state: ProducerState, now_us: int) -> int:
    settings, accumulator, metadata_ = state.settings, state.accumulator, state.metadata
    later = [] if state.transaction.asked else [state.transaction.retry_at_us]
    if not metadata_.is_asked:
        later += (metadata_.allowed_us, metadata_.refreshed_us + settings.metadata_max_age_us)
    at_once = _is_hurried(state)
    for partition, queue in accumulator.queues.items():
        if settings.linger_us or accumulator.batches[queue[0]].attempts:  # else it is due now
            found = metadata_.leader(partition)
            if found is not None and partition not in accumulator.muted:
                later.append(accumulator.due_us(partition, settings, found[1], at_once=at_once))
    for there in (
        state.peers.values()
    ):  # what is left alone for now: a batch, or a question for metadata, may be waiting for it
        later.append(there.connect_at_us)
    for link in state.links.values():
        if link.flights:
            later.append(link.flights[0].sent_us + settings.request_timeout_us)
    oldest = next(iter(accumulator.batches.values()), None)
    if oldest is not None:
        later.append(oldest.created_us + settings.delivery_timeout_us)
    if state.blocked:
        later.append(state.blocked_since_us + settings.max_block_us)
    first_us = NEVER
    for at_us in later:
        if now_us < at_us < first_us:
            first_us = at_us
    return first_us

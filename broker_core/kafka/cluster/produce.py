"""Produce: append on the leader, and answer at once, or when the ISR has it.

    acks=0    no answer; an error closes the connection, which is how the producer learns that its metadata are old
    acks=1    answered after the append
    acks=-1   waits in the purgatory until the high watermark has passed the batch, or its time is over

Source: Kafka 3.9 core KafkaApis.handleProduceRequest, ReplicaManager.appendRecords, DelayedProduce.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.kafka.cluster import changes, slow_disk, verification
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.names import INTERNAL_TOPICS
from broker_core.kafka.cluster.requests import (
    ProducedPartition,
    ProducePartition,
    ProduceRequest,
    ProduceResponse,
)
from broker_core.kafka.cluster.state import PendingProduce, Replica, TopicPartition, Verification
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.partition_log import Appended
from broker_core.kafka.replication.delayed_produce import WaitingProduce
from broker_core.kafka.replication.light_batch import LightBatch
from broker_core.kafka.replication.partition import ACKS_ALL, AppendedToLeader
from broker_core.sim.node import Outbox

_NAMES_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def produce(host: Host, connection: int, request: ProduceRequest, now_us: int, out: Outbox) -> None:
    """Append each partition's batch, when the coordinator has said that it is part of the transaction. Of two
    batches for one partition the later one counts."""
    name = request.transactional_id
    parts = request.partitions
    if len(parts) > 1 and len(last := {(part.topic, part.index): part for part in parts}) < len(parts):
        request = ProduceRequest(request.acks, request.timeout_ms, list(last.values()), name)
    if name is None and any(part.records.header.is_transactional for part in parts):
        _refuse_all(host, connection, request, out)
    elif name is None or not verification.is_asked(host, connection, request, name, now_us, out):
        write(host, connection, request, now_us, out)


def write(host: Host, connection: int, request: ProduceRequest, now_us: int, out: Outbox) -> None:
    """Append at once, or when a slow disk has taken it."""
    size = 0
    for part in request.partitions:
        size += len(part.records.data)
    if slow_disk.is_written_later(host, connection, request, size, now_us, out):
        if connection not in host.state.held:
            host.hold(connection)
    else:
        append(host, connection, request, now_us, out)


def append(host: Host, connection: int, request: ProduceRequest, now_us: int, out: Outbox) -> None:
    """An error concerns its own partition alone."""
    acks = request.acks
    verified = host.state.transactions.verifying.pop(connection, None)
    answers: list[ProducedPartition] = []
    written: list[tuple[TopicPartition, Replica, Appended, bool]] = []
    for part in request.partitions:
        key = (part.topic, part.index)
        try:
            replica, (appended, is_raised) = _append(
                host, key, part, acks, verified, host.state.now_ms(now_us), out
            )
        except (Refused, LogError) as error:
            answers.append(_refusal(host, key, int(error.code), str(error)))
            continue
        written.append((key, replica, appended, is_raised))
        log = replica.partition.log
        answers.append(
            ProducedPartition(
                part.topic, part.index, 0, appended.first_offset, 0 if log is None else log.log_start_offset
            )
        )
    waits = [(replica, appended.last_offset + 1) for _, replica, appended, _ in written]
    if acks == ACKS_ALL and waits:
        if connection not in host.state.held:
            host.hold(connection)
        wait(host, PendingProduce(connection, answers, len(waits)), waits, request.timeout_ms, now_us, out)
    elif acks:
        host.answer(connection, ProduceResponse(answers), now_us, out)
    elif any(answer.error_code for answer in answers):
        host.refuse_connection(connection, out)
    elif connection in host.state.held:
        host.go_on(connection, now_us, out)
    for key, replica, _, is_raised in written:
        follow_up(host, key, replica, now_us, out, is_raised=is_raised)


def wait(
    host: Host,
    pending: PendingProduce,
    waits: Sequence[tuple[Replica, int]],
    timeout_ms: int,
    now_us: int,
    out: Outbox,
) -> None:
    """Keep what was appended with acks=-1 until the ISR has it, or its time is over. waits: (replica, one
    past its last record)."""
    state = host.state
    until_us = now_us + timeout_ms * 1_000
    state.produce_count += 1
    state.produces[state.produce_count] = pending
    for replica, end_offset in waits:
        replica.produces.add(WaitingProduce(state.produce_count, end_offset, until_us // 1_000))
    if state.produce_timer_us == 0 or until_us < state.produce_timer_us:
        state.produce_timer_us = until_us
        out.deadline("produces", until_us)
    for replica, _ in waits:
        changes.complete_produces(host, replica, now_us, out)


def follow_up(
    host: Host, key: TopicPartition, replica: Replica, now_us: int, out: Outbox, *, is_raised: bool
) -> None:
    """Something was appended: who waited for that gets it. is_raised: the high watermark moved with it."""
    changes.appended(host, key, replica, now_us, out)
    if is_raised:
        changes.high_watermark_moved(host, key, replica, now_us, out)


def produces_over(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """The time of a waiting produce is over: its records stay, and nobody knows whether they are lost."""
    state = host.state
    now_ms, next_ms = now_us // 1_000, 0
    state.produce_timer_us = 0
    for replica in state.replicas.values():
        waiting = replica.produces
        if waiting.waiting:
            changes.answer_produces(host, replica.produces.expire(now_ms), replica, now_us, out)
            for produce in waiting.waiting:
                if produce.until_ms is not None and (next_ms == 0 or produce.until_ms < next_ms):
                    next_ms = produce.until_ms
    if next_ms:
        state.produce_timer_us = next_ms * 1_000
        out.deadline("produces", state.produce_timer_us)


# --- inside


def _append(
    host: Host,
    key: TopicPartition,
    part: ProducePartition,
    acks: int,
    verified: Verification | None,
    now_ms: int,
    out: Outbox,
) -> tuple[Replica, AppendedToLeader]:
    """Raises Refused, LogError."""
    if acks not in (ACKS_ALL, 0, 1):
        raise Refused(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}")
    if key[0] in INTERNAL_TOPICS and key in host.state.registrations:
        raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, "clients do not write to internal topics")
    replica = host.state.replicas.get(key)
    if replica is None:
        raise Refused(host.replica_error(key), "there is no replica here")
    _check_batch(part.records)
    _check_keys(host, key, replica, part, acks)
    guard = None
    if verified is not None:
        if key in verified.errors:
            raise Refused(
                ErrorCode(verified.errors[key]), "the transaction's coordinator does not confirm it"
            )
        guard = verified.guards.get(key)
    host.touch_followers(key, replica.partition)
    try:
        appended = replica.partition.append_as_leader(part.records, acks, now_ms, verification_guard=guard)  # type: ignore[arg-type]  # light batches
    except Refused as error:
        if error.code is ErrorCode.NOT_ENOUGH_REPLICAS and not replica.has_refused:
            replica.has_refused = True
            changes.tell_refusal(host, key, replica.partition, out)
        raise
    replica.has_refused = replica.has_refused and replica.partition.is_under_min_isr
    return replica, appended


def _refuse_all(host: Host, connection: int, request: ProduceRequest, out: Outbox) -> None:
    """Batches of a transaction, and no transactional id to write them with."""
    if not request.acks:
        host.refuse_connection(connection, out)
        return
    code = int(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    parts = [ProducedPartition(part.topic, part.index, code) for part in request.partitions]
    out.send(connection, ProduceResponse(parts))


def _check_batch(batch: LightBatch) -> None:
    """What no producer may send. Raises Refused.

    Source: UnifiedLog.analyzeAndValidateRecords, LogValidator.validateBatch.
    """
    header, payload = batch
    if header.base_offset:
        raise Refused(ErrorCode.INVALID_RECORD, "a producer's batch begins at offset 0")
    if header.is_control:
        raise Refused(ErrorCode.INVALID_RECORD, "clients do not write control batches")
    count: int = len(payload.values)  # type: ignore[union-attr]  # a light batch's
    if header.record_count != count or count < 1 or header.last_offset_delta != count - 1:
        raise Refused(ErrorCode.INVALID_RECORD, "the batch does not hold as many records as it says")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise Refused(ErrorCode.INVALID_RECORD, "a batch with a producer id has a sequence number")


def _check_keys(host: Host, key: TopicPartition, replica: Replica, part: ProducePartition, acks: int) -> None:
    """A compacted topic takes no record without a key. What is decided before the log sees the batch, who
    leads and who is in sync, is left to the replica. Raises Refused.

    Source: LogValidator.validateKey.
    """
    partition = replica.partition
    log = partition.log
    if (
        log is not None
        and log.settings.cleanup_compact
        and partition.is_leader
        and not (acks == ACKS_ALL and partition.is_under_min_isr)
        and any(host.contents.key(value) is None for value in part.records.values)
    ):
        raise Refused(
            ErrorCode.INVALID_RECORD, f"{key[0]}-{key[1]} is compacted and takes no record without a key"
        )


def _refusal(host: Host, key: TopicPartition, code: int, reason: str) -> ProducedPartition:
    leader, epoch = host.leader_known(key) if code in _NAMES_LEADER else (-1, -1)
    return ProducedPartition(*key, code, -1, -1, leader, epoch, reason)

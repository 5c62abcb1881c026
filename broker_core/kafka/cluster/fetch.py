"""Fetch: read for a follower or a consumer, and wait where there is too little.

    fetch ─► read all partitions that may have news ─► enough, an error, a divergence, another replica to read from ─► answered
                                                   └► wait: until fetch.min.bytes are there, or fetch.max.wait.ms is over

A fetch session holds what a connection wants, so that a request names only what has changed, and an answer
only what is new. The broker, too, looks only at partitions in which something has happened: of all others the
reader has everything.

Source: Kafka 3.9 core ReplicaManager.fetchMessages, readFromLog, DelayedFetch, FetchSession.
"""

from __future__ import annotations

from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.requests import (
    NO_EPOCH,
    READ_COMMITTED,
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from broker_core.kafka.cluster.state import FetchSession, Replica, TopicPartition
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.delayed_fetch import WaitingFetch
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.read_replica import preferred_read_replica
from broker_core.sim.node import Outbox

NO_SESSION = -1
_NAMES_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def fetch(host: Host, connection: int, request: FetchRequest, now_us: int, out: Outbox) -> None:
    """Note what is wanted, read, and answer or wait."""
    state = host.state
    if request.replica_id >= 0 and not host.has_cluster_action(connection):
        code = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        parts = [FetchedPartition(part.topic, part.partition, code) for part in request.partitions]
        out.send(connection, FetchResponse(parts))
        return
    session = state.sessions.get(connection)
    if request.session_epoch in (0, NO_SESSION):
        host.end_session(connection)
        session = state.sessions[connection] = FetchSession(request)
    elif session is None or request.session_epoch < 0:
        out.send(connection, FetchResponse([], ErrorCode.INVALID_FETCH_SESSION_EPOCH))
        return
    session.request = request
    for part in request.partitions:
        key = (part.topic, part.partition)
        session.wanted[key] = _as_wanted(part)
        session.active[key] = None
        host.watch(key, connection, session)
    for topic, number in request.forgotten:
        key = (topic, number)
        for table in (session.wanted, session.told, session.active):
            table.pop(key, None)
        host.unwatch(key, connection)
    session.read_ms = state.now_ms(now_us)
    host.hold(connection)
    answers, is_enough = _read(host, session, now_us, out, is_first=True)
    if is_enough or request.max_wait_ms <= 0 or not session.wanted:
        _answer(host, connection, session, answers, now_us, out)
        return
    session.until_us = now_us + request.max_wait_ms * 1_000
    if not session.is_timed:
        session.is_timed = True
        out.deadline(f"fetch:{connection}", session.until_us)


def is_ready(host: Host, session: FetchSession, key: TopicPartition) -> bool:
    """Whether a fetch that waits is to be answered, now that this partition has changed."""
    replica = host.state.replicas.get(key)
    if replica is None:
        return True
    needs_leader, isolation, bytes_min = _reader(session.request)
    if bytes_min <= 1:
        if _has_more(replica.partition, session.wanted[key], isolation):
            return True  # as the rule below says, without its arithmetic
        keys = [key]
    else:
        keys = [each for each in session.active if each in host.state.replicas]
    fetches = {each: session.wanted[each] for each in keys}
    partitions = {each: host.state.replicas[each].partition for each in keys}
    try:
        waiting = WaitingFetch.of(0, fetches, partitions, isolation, bytes_min, 0, needs_leader=needs_leader)
    except Refused:
        return True
    return waiting.is_ready(partitions)


def complete(host: Host, connection: int, session: FetchSession, now_us: int, out: Outbox) -> None:
    """Answer a fetch that waits with what there is now. What its reader has is as the request said, and is
    not noted again."""
    answers, _ = _read(host, session, now_us, out, is_first=False)
    _answer(host, connection, session, answers, now_us, out)


def fetch_over(host: Host, rest: str, now_us: int, out: Outbox) -> None:
    """A deadline of a waiting fetch: this one's, or that of an earlier one which was answered in time."""
    connection = int(rest)
    session = host.state.sessions.get(connection)
    if session is None:
        return
    if session.until_us > now_us:
        out.deadline(f"fetch:{connection}", session.until_us)
        return
    session.is_timed = False
    if session.until_us:
        complete(host, connection, session, now_us, out)


# --- inside


def _as_wanted(part: FetchPartition) -> PartitionFetch:
    epoch, last = part.current_leader_epoch, part.last_fetched_epoch
    return PartitionFetch(
        part.fetch_offset,
        None if epoch == NO_EPOCH else epoch,
        None if last == NO_EPOCH else last,
        part.log_start_offset,
        part.partition_max_bytes,
    )


def _reader(request: FetchRequest) -> tuple[bool, Isolation, int]:
    """Whether only the leader may answer, how far it may read, and how much there must be."""
    if request.replica_id >= 0:
        return True, Isolation.LOG_END, request.min_bytes
    isolation = (
        Isolation.TXN_COMMITTED if request.isolation_level == READ_COMMITTED else Isolation.HIGH_WATERMARK
    )
    return False, isolation, request.min_bytes


def _answer(
    host: Host,
    connection: int,
    session: FetchSession,
    answers: list[FetchedPartition],
    now_us: int,
    out: Outbox,
) -> None:
    session.until_us = 0
    if session.request.session_epoch == NO_SESSION:
        host.end_session(connection)
    for answer in answers:
        if not answer.error_code:
            session.told[answer.topic, answer.partition] = (answer.high_watermark, answer.log_start_offset)
    host.answer(connection, FetchResponse(answers), now_us, out)


def _read(
    host: Host, session: FetchSession, now_us: int, out: Outbox, *, is_first: bool
) -> tuple[list[FetchedPartition], bool]:
    """Give what there is to say, and whether it is enough to say it at once."""
    request, state = session.request, host.state
    now_ms = state.now_ms(now_us)
    left, size, is_enough = request.max_bytes, 0, False
    answers: list[FetchedPartition] = []
    quiet: list[tuple[TopicPartition, PartitionLog]] = []
    is_noted = is_first and request.replica_id >= 0
    named = {(part.topic, part.partition) for part in request.partitions} if is_noted else ()
    for key in list(session.active):
        wanted = session.wanted[key]
        replica = state.replicas.get(key)
        log = None if replica is None else replica.partition.log
        try:
            if (
                replica is not None
                and log is not None
                and _is_at_end(request, replica.partition, log, wanted)
            ):
                told, was_at, is_named = session.told.get(key), log.high_watermark, key in named
                is_told = told == (was_at, log.log_start_offset)
                if is_told or not is_named:
                    if is_noted:
                        replica.partition.note_fetch(
                            request.replica_id, request.replica_epoch, wanted, session.read_ms
                        )
                        if is_named:
                            host.consequences.fetched_by_follower(host, key, replica, was_at, now_us, out)
                        is_told = told == (log.high_watermark, log.log_start_offset)
                    if is_told:
                        del session.active[key]
                    elif not is_named:
                        quiet.append((key, log))
                    continue
            if replica is None:
                raise Refused(host.replica_error(key), "there is no replica here")
            if left <= 0:
                break
            answer = _read_one(host, session, key, replica, wanted, left, now_ms, now_us, out, is_first)
        except (Refused, LogError) as error:
            leader, epoch = host.leader_known(key) if error.code in _NAMES_LEADER else (-1, -1)
            answers.append(
                FetchedPartition(*key, int(error.code), current_leader=leader, current_leader_epoch=epoch)
            )
            session.told.pop(key, None)
            is_enough = True
            continue
        if answer.records:
            for batch in answer.records:
                size += len(batch.data)
            left = request.max_bytes - size
        is_enough = is_enough or answer.diverging is not None or answer.preferred_read_replica >= 0
        if _has_news(session, key, answer) or request.session_epoch == NO_SESSION:
            answers.append(answer)
        elif _has_all(session, key, wanted, replica):
            del session.active[key]
    is_enough = is_enough or size >= request.min_bytes
    if is_enough or not is_first or request.max_wait_ms <= 0:
        answers += [
            FetchedPartition(*key, 0, log.high_watermark, log.last_stable_offset, log.log_start_offset)
            for key, log in quiet
        ]
    return answers, is_enough


def _has_more(partition: Partition, wanted: PartitionFetch, isolation: Isolation) -> bool:
    """Whether there is plainly something to read: same epoch, no divergence, and the end lies further."""
    log = partition.log
    if (
        log is None
        or isolation is Isolation.TXN_COMMITTED
        or (wanted.leader_epoch is not None and wanted.leader_epoch != partition.leader_epoch)
    ):
        return False
    if isolation is Isolation.LOG_END:
        return (
            partition.is_leader
            and wanted.last_fetched_epoch == log.epochs.latest
            and wanted.offset < log.log_end_offset
        )
    return wanted.last_fetched_epoch is None and wanted.offset < log.high_watermark


def _is_at_end(
    request: FetchRequest, partition: Partition, log: PartitionLog, wanted: PartitionFetch
) -> bool:
    """Whether a read would plainly bring no records and no error: only what the offsets are."""
    if wanted.leader_epoch is not None and wanted.leader_epoch != partition.leader_epoch:
        return False
    if request.replica_id < 0:
        is_plain = (
            request.isolation_level != READ_COMMITTED
            and not request.rack_id
            and request.session_epoch != NO_SESSION
        )
        return (
            is_plain
            and wanted.last_fetched_epoch is None
            and wanted.offset == log.high_watermark >= log.log_start_offset
        )
    return (
        wanted.offset == log.log_end_offset
        and partition.is_leader
        and wanted.last_fetched_epoch == log.epochs.latest
        and request.replica_id in partition.isr_state.isr
        and request.replica_id in partition.followers
    )


def _read_one(
    host: Host,
    session: FetchSession,
    key: TopicPartition,
    replica: Replica,
    wanted: PartitionFetch,
    left: int,
    now_ms: int,
    now_us: int,
    out: Outbox,
    is_first: bool,
) -> FetchedPartition:
    """Read one partition. Raises Refused, LogError."""
    partition, request = replica.partition, session.request
    if wanted.bytes_max > left:
        wanted = wanted._replace(bytes_max=left)
    needs_leader, isolation, _ = _reader(request)
    if request.replica_id >= 0 and is_first:
        was_at = -1 if partition.log is None else partition.log.high_watermark
        read = partition.fetch_as_follower(request.replica_id, request.replica_epoch, wanted, now_ms)
        host.consequences.fetched_by_follower(host, key, replica, was_at, now_us, out)
    else:
        if request.replica_id < 0 and request.rack_id and host.state.settings.is_rack_aware:
            partition.log_for(wanted.leader_epoch, needs_leader=False)
            near = preferred_read_replica(partition, request.rack_id, wanted.offset, now_ms)
            log = partition.log
            if near is not None and log is not None:
                return FetchedPartition(
                    *key,
                    0,
                    log.high_watermark,
                    log.last_stable_offset,
                    log.log_start_offset,
                    preferred_read_replica=near,
                )
        read = partition.fetch_as_consumer(wanted, isolation, needs_leader=needs_leader)
    records = tuple(read.data) if read.data else ()
    return FetchedPartition(
        *key,
        0,
        read.high_watermark,
        read.last_stable_offset,
        read.log_start_offset,
        records,  # type: ignore[arg-type]  # light batches
        read.diverging,
        -1,
        read.aborted,
    )


def _has_news(session: FetchSession, key: TopicPartition, answer: FetchedPartition) -> bool:
    """Whether an answer must name this partition."""
    told = (answer.high_watermark, answer.log_start_offset)
    return (
        bool(answer.records)
        or answer.diverging is not None
        or answer.preferred_read_replica >= 0
        or session.told.get(key) != told
    )


def _has_all(session: FetchSession, key: TopicPartition, wanted: PartitionFetch, replica: Replica) -> bool:
    """Whether the reader has everything, so that the next look can wait until something happens. A follower
    outside the ISR may join at any fetch."""
    log, reader = replica.partition.log, session.request.replica_id
    if log is None or (reader >= 0 and reader not in replica.partition.isr_state.isr):
        return False
    # This very fetch may have moved the high watermark, of which its answer does not say.
    is_told = session.told.get(key) == (log.high_watermark, log.log_start_offset)
    return is_told and (reader < 0 or wanted.offset == log.log_end_offset)

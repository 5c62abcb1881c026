"""ListOffsets, OffsetsForLeaderEpoch, DeleteRecords: small questions to a leader.

Source: Kafka 3.9 core KafkaApis, ReplicaManager (fetchOffset, lastOffsetForLeaderEpoch, deleteRecords).
"""

from __future__ import annotations

from broker_core.kafka.cluster import changes
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.names import INTERNAL_TOPICS
from broker_core.kafka.cluster.requests import (
    CONSUMER,
    NO_EPOCH,
    READ_COMMITTED,
    DeletedRecords,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    EpochEnd,
    ListedOffset,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from broker_core.kafka.cluster.state import Replica, TopicPartition
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.watermarks import Isolation
from broker_core.sim.node import Outbox


def list_offsets(host: Host, connection: int, request: ListOffsetsRequest, now_us: int, out: Outbox) -> None:
    """A replica hears of the log end, a consumer of the high watermark or the last stable offset. A partition
    that is named twice is refused each time."""
    keys = [(part.topic, part.partition) for part in request.partitions]
    doubled = {key for key in keys if keys.count(key) > 1} if len(keys) > len({*keys}) else ()
    if request.replica_id != CONSUMER:
        isolation = Isolation.LOG_END
    else:
        isolation = (
            Isolation.TXN_COMMITTED if request.isolation_level == READ_COMMITTED else Isolation.HIGH_WATERMARK
        )
    answers: list[ListedOffset] = []
    for part in request.partitions:
        key = (part.topic, part.partition)
        if key in doubled:
            answers.append(ListedOffset(*key, ErrorCode.INVALID_REQUEST))
            continue
        try:
            found = _replica(host, key).partition.list_offset(
                part.timestamp, isolation, _epoch(part.current_leader_epoch)
            )
        except (Refused, LogError) as error:
            answers.append(ListedOffset(*key, int(error.code)))
            continue
        if found is None:
            answers.append(ListedOffset(*key, 0))
        else:
            (timestamp, offset), epoch = found
            answers.append(ListedOffset(*key, 0, offset, timestamp, NO_EPOCH if epoch is None else epoch))
    out.send(connection, ListOffsetsResponse(answers))


def offsets_for_leader_epoch(
    host: Host, connection: int, request: OffsetsForLeaderEpochRequest, now_us: int, out: Outbox
) -> None:
    """Where an epoch ends in the leader's log."""
    answers: list[EpochEnd] = []
    for part in request.partitions:
        key = (part.topic, part.partition)
        try:
            epoch, end = _replica(host, key).partition.last_offset_for_epoch(
                part.leader_epoch, _epoch(part.current_leader_epoch)
            )
        except (Refused, LogError) as error:
            answers.append(EpochEnd(*key, int(error.code)))
            continue
        answers.append(EpochEnd(*key, 0, epoch, end))
    out.send(connection, OffsetsForLeaderEpochResponse(answers))


def delete_records(
    host: Host, connection: int, request: DeleteRecordsRequest, now_us: int, out: Outbox
) -> None:
    """Move log starts. Answered at once with the low watermark of now; the original waits until every
    follower has moved its own."""
    answers: list[DeletedRecords] = []
    for topic, number, before in request.partitions:
        key = (topic, number)
        if topic in INTERNAL_TOPICS:
            answers.append(DeletedRecords(*key, ErrorCode.INVALID_TOPIC_EXCEPTION))
            continue
        try:
            replica = _replica(host, key)
            host.touch_followers(key, replica.partition)
            low = replica.partition.delete_records(before)
        except (Refused, LogError) as error:
            answers.append(DeletedRecords(*key, int(error.code)))
            continue
        answers.append(DeletedRecords(*key, 0, low))
        changes.role_changed(host, key, now_us, out)
    out.send(connection, DeleteRecordsResponse(answers))


# --- inside


def _replica(host: Host, key: TopicPartition) -> Replica:
    """Raises Refused."""
    replica = host.state.replicas.get(key)
    if replica is None:
        raise Refused(host.replica_error(key), "there is no replica here")
    return replica


def _epoch(told: int) -> int | None:
    return None if told == NO_EPOCH else told

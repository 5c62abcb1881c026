"""OffsetCommit and TxnOffsetCommit: a member says how far it has come.

A group that does not exist is made by a commit without generation: a simple consumer, which commits and never
joins. In a classic group the old generation may still commit while a rebalance is prepared: that is how
members hand over.
Source: Kafka 3.9 OffsetMetadataManager.commitOffset, commitTransactionalOffset,
ClassicGroup.validateOffsetCommit.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.hashing.java_hash import utf16_length
from broker_core.kafka.group import old
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.rebalance import restart_session
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.codes import (
    GROUP_ID_NOT_FOUND,
    ILLEGAL_GENERATION,
    NONE,
    OFFSET_METADATA_TOO_LARGE,
    REBALANCE_IN_PROGRESS,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    Refused,
)  # fmt: skip
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import (
    CommittedTopic,
    OffsetCommitRequest,
    OffsetCommitResponse,
    PartitionResult,
    RequestContext,
    TopicResult,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    WriteTxnMarkers,
    WriteTxnMarkersResponse,
)  # fmt: skip
from broker_core.kafka.group.records import (
    NO_PRODUCER_ID,
    EndOfTransaction,
    LogRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)
from broker_core.kafka.group.runtime import CoordinatorRuntime

EPOCH_VERSION = 9


def commit_offsets(
    c: CoordinatorRuntime, context: RequestContext, request: OffsetCommitRequest
) -> CoordinatorResult:
    """Store offsets. A valid commit also shows that the member lives."""
    generation = request.generation_id_or_member_epoch
    group = c.state.groups.get(request.group_id)
    if group is None:
        if generation >= 0:
            is_known = context.api_version >= EPOCH_VERSION and not c.settings.is_old
            raise Refused(GROUP_ID_NOT_FOUND if is_known else ILLEGAL_GENERATION)
        group = c.classic_group(request.group_id, makes=True)
    _check(group, request.member_id, request.group_instance_id, generation, False, context.api_version)
    if isinstance(group, ClassicGroup) and group.state in (STABLE, PREPARING):
        restart_session(c, group, group.members[request.member_id])
    expire_at_ms = None if request.retention_time_ms == -1 else c.now_ms + request.retention_time_ms
    records, topics = _records(c, request.group_id, request.topics, expire_at_ms)
    return CoordinatorResult(records, OffsetCommitResponse(topics))


def commit_transactional_offsets(
    c: CoordinatorRuntime, context: RequestContext, request: TxnOffsetCommitRequest
) -> CoordinatorResult:
    """Store offsets that count once the producer's transaction is committed."""
    group = c.state.groups.get(request.group_id)
    if group is None:
        if request.generation_id >= 0 and not c.settings.is_old:
            raise Refused(ILLEGAL_GENERATION)
        group = c.classic_group(request.group_id, makes=True)
    try:
        _check(
            group,
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            True,
            context.api_version,
        )
    except Refused as refused:
        raise Refused(ILLEGAL_GENERATION if refused.code == STALE_MEMBER_EPOCH else refused.code) from None
    records, topics = _records(
        c, request.group_id, request.topics, None, request.producer_id, request.producer_epoch
    )
    return CoordinatorResult(records, TxnOffsetCommitResponse(topics))


def write_transaction_marker(
    c: CoordinatorRuntime, context: RequestContext, request: WriteTxnMarkers
) -> CoordinatorResult:
    """The transaction coordinator ends a transaction on this partition."""
    del c, context
    return CoordinatorResult(
        [EndOfTransaction(request.producer_id, request.producer_epoch, request.commit)],
        WriteTxnMarkersResponse(),
    )


def _check(
    group: ClassicGroup | ConsumerGroup,
    member_id: str,
    instance_id: str | None,
    generation: int,
    is_transactional: bool,
    version: int,
) -> None:
    """Refuse a commit that the group does not allow. Order: member, generation, then an assignment that is
    not there yet."""
    if isinstance(group, ConsumerGroup):
        group.check_commit(member_id, generation, is_transactional, version)
        return
    if generation < 0 and group.state == EMPTY:
        return
    if generation >= 0 or member_id or instance_id is not None:
        group.check_member(member_id, instance_id)
        if generation != group.generation:
            raise Refused(ILLEGAL_GENERATION)
    elif not is_transactional:
        raise Refused(UNKNOWN_MEMBER_ID)
    if not is_transactional and group.state == COMPLETING:
        raise Refused(REBALANCE_IN_PROGRESS)


def _records(
    c: CoordinatorRuntime, group_id: str, topics: Sequence[CommittedTopic], expire_at_ms: int | None,
    producer_id: int = NO_PRODUCER_ID, producer_epoch: int = -1,
) -> tuple[list[LogRecord], list[TopicResult]]:  # fmt: skip
    """A record and a code per partition; one whose metadata is too long is left out."""
    records: list[LogRecord] = []
    results = []
    if c.settings.is_old:
        topics = old.committed_once(topics)
    for topic in topics:
        codes = []
        for partition in topic.partitions:
            metadata = partition.committed_metadata or ""
            if utf16_length(metadata) > c.settings.offset_metadata_max_bytes:
                codes.append(PartitionResult(partition.partition_index, OFFSET_METADATA_TOO_LARGE))
                continue
            codes.append(PartitionResult(partition.partition_index, NONE))
            value = OffsetCommitValue(
                partition.committed_offset, partition.committed_leader_epoch, metadata, c.now_ms, expire_at_ms
            )
            records.append(
                Record(
                    OffsetCommitKey(group_id, topic.name, partition.partition_index),
                    value,
                    producer_id,
                    producer_epoch,
                )
            )
        results.append(TopicResult(topic.name, codes))
    return records, results

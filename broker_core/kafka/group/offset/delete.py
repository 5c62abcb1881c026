"""OffsetDelete, and the offsets that go with a group or with a topic. A deleted offset is a tombstone; so is
one that a transaction held.

Source: Kafka 3.9 OffsetMetadataManager.deleteOffsets, deleteAllOffsets, onPartitionsDeleted,
ClassicGroup.validateOffsetDelete.
"""

from __future__ import annotations

from broker_core.kafka.group import old
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import EMPTY
from broker_core.kafka.group.codes import (
    GROUP_ID_NOT_FOUND,
    GROUP_SUBSCRIBED_TO_TOPIC,
    NON_EMPTY_GROUP,
    NONE,
    Refused,
)
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    PartitionResult,
    PartitionsDeleted,
    PartitionsDeletedResponse,
    RequestContext,
    TopicResult,
)  # fmt: skip
from broker_core.kafka.group.offset.store import Place
from broker_core.kafka.group.records import LogRecord, OffsetCommitKey, Record
from broker_core.kafka.group.runtime import CoordinatorRuntime


def delete_offsets(
    c: CoordinatorRuntime, context: RequestContext, request: OffsetDeleteRequest
) -> CoordinatorResult:
    """Delete offsets of topics that no member reads. A group with members must be one of consumers, whose
    topics can be told."""
    del context
    group = c.state.groups.get(request.group_id)
    if group is None:
        raise Refused(GROUP_ID_NOT_FOUND)
    if isinstance(group, ClassicGroup) and group.state != EMPTY and not group.uses_consumer_protocol:
        raise Refused(NON_EMPTY_GROUP)
    store = c.state.offsets
    if c.settings.is_old and isinstance(group, ClassicGroup):
        return _delete_as_old(c, request, group)
    records: list[LogRecord] = []
    topics = []
    for topic in request.topics:
        code = GROUP_SUBSCRIBED_TO_TOPIC if group.is_subscribed(topic.name) else NONE
        topics.append(
            TopicResult(
                topic.name,
                [PartitionResult(partition.partition_index, code) for partition in topic.partitions],
            )
        )
        for partition in topic.partitions:
            place = (request.group_id, topic.name, partition.partition_index)
            if code == NONE and (store.visible.get(place) is not None or store.is_pending(place)):
                records.append(tombstone(place))
    return CoordinatorResult(records, OffsetDeleteResponse(topics=topics))


def partitions_deleted(
    c: CoordinatorRuntime, context: RequestContext, request: PartitionsDeleted
) -> CoordinatorResult:
    """Topics were deleted: so are the offsets of every group in them."""
    del context
    store = c.state.offsets
    gone = set(request.partitions)
    if c.settings.is_old:
        records: list[LogRecord] = []
        for group in list(c.state.groups.present.values()):
            if isinstance(group, ClassicGroup):
                records += old.delete_offsets(
                    c, group, [(group.group_id, *partition) for partition in request.partitions]
                )
        return CoordinatorResult(records, PartitionsDeletedResponse())
    held = [place for groups in store.pending.values() for places in groups.values() for place in places]
    places = [*store.visible.present, *held]
    return CoordinatorResult(
        [tombstone(place) for place in places if place[1:] in gone], PartitionsDeletedResponse()
    )


def _delete_as_old(
    c: CoordinatorRuntime, request: OffsetDeleteRequest, group: ClassicGroup
) -> CoordinatorResult:
    topics = []
    deleted: dict[Place, None] = {}
    for topic in request.topics:
        code = GROUP_SUBSCRIBED_TO_TOPIC if group.state != EMPTY and group.is_subscribed(topic.name) else NONE
        topics.append(
            TopicResult(
                topic.name,
                [PartitionResult(partition.partition_index, code) for partition in topic.partitions],
            )
        )
        if code == NONE:
            deleted |= {
                (request.group_id, topic.name, partition.partition_index): None
                for partition in topic.partitions
            }
    return CoordinatorResult(
        old.delete_offsets(c, group, deleted) if deleted else [], OffsetDeleteResponse(topics=topics)
    )


def group_tombstones(c: CoordinatorRuntime, group_id: str) -> list[LogRecord]:
    """The tombstones of all offsets of a group that is deleted."""
    store = c.state.offsets
    places = list(store.by_group.get(group_id, ()))
    known = set(places)
    return [
        tombstone(place)
        for place in [*places, *(place for place in store.pending_places(group_id) if place not in known)]
    ]


def tombstone(place: Place) -> Record:
    return Record(OffsetCommitKey(*place), None)

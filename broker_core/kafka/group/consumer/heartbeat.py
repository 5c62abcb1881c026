"""ConsumerGroupHeartbeat: the one request of KIP-848. A member says who it is, what it reads and what it
holds, and learns what it may hold.

Epoch 0 joins, -1 leaves, -2 leaves for a while. A member at another epoch than ours is fenced, unless it is
one behind and reports nothing but what it was given: then our last answer was lost. Source: Kafka 3.9
GroupMetadataManager.consumerGroupHeartbeat.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.codes import (
    FENCED_MEMBER_EPOCH,
    GROUP_ID_NOT_FOUND,
    GROUP_MAX_SIZE_REACHED,
    INVALID_REQUEST,
    UNKNOWN_MEMBER_ID,
    UNRELEASED_INSTANCE_ID,
    UNSUPPORTED_ASSIGNOR,
    Refused,
)  # fmt: skip
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.leave import leave, own_static_member
from broker_core.kafka.group.consumer.member import LEAVE_EPOCH, STATIC_LEAVE_EPOCH, ConsumerMember, listed
from broker_core.kafka.group.consumer.migration import can_upgrade, upgrade
from broker_core.kafka.group.consumer.sessions import member_tombstones, start_session
from broker_core.kafka.group.consumer.target import take_up, target_record
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    RequestContext,
    TopicPartitions,
)  # fmt: skip
from broker_core.kafka.group.records import GroupMetadataKey, LogRecord, Record
from broker_core.kafka.group.runtime import CoordinatorRuntime


def consumer_group_heartbeat(
    c: CoordinatorRuntime, context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> CoordinatorResult:
    """Take a heartbeat; every answer names the member and its epoch, and its assignment when that changed or
    was asked for."""
    _check(c, request)
    if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
        return leave(c, request)
    is_join = request.member_epoch == 0
    records: list[LogRecord] = []
    group = _group(c, request.group_id, is_join, records)
    check_room(c, group, request.member_id)
    member_id = request.member_id or c.out.draw_id(is_classic=False)
    if request.instance_id is None:
        member = _dynamic_member(group, member_id, request)
    else:
        member = _static_member(group, member_id, request.instance_id, request, records)
    described = member.with_(
        instance_id=request.instance_id if request.instance_id is not None else member.instance_id,
        rack_id=request.rack_id if request.rack_id is not None else member.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms
        if request.rebalance_timeout_ms != -1
        else member.rebalance_timeout_ms,
        server_assignor=request.server_assignor
        if request.server_assignor is not None
        else member.server_assignor,
        subscribed=member.subscribed
        if request.subscribed_topic_names is None
        else frozenset(request.subscribed_topic_names),
        client_id=context.client_id,
        client_host=context.client_host,
        classic=None,
    )
    updated = take_up(c, group, member, described, request.topic_partitions, records)
    start_session(c, request.group_id, member_id)
    response = ConsumerGroupHeartbeatResponse(
        0, updated.member_id, updated.epoch, c.settings.consumer_heartbeat_interval_ms
    )
    tells_all = (
        request.rebalance_timeout_ms != -1
        and request.subscribed_topic_names is not None
        and request.topic_partitions is not None
    )
    if is_join or tells_all or updated.assigned != member.assigned:
        response.assignment = Assignment(listed(updated.assigned))
    return CoordinatorResult(records, response)


def check_room(c: CoordinatorRuntime, group: ConsumerGroup, member_id: str) -> None:
    """Refuse a newcomer to a full group."""
    if len(group.members) >= c.settings.consumer_max_size and member_id not in group.members:
        raise Refused(GROUP_MAX_SIZE_REACHED)


def replace_static_member(
    group: ConsumerGroup, known: ConsumerMember, member_id: str, records: list[LogRecord]
) -> ConsumerMember:
    """The instance came back under a new id: it takes the old place, with the old target and what it held."""
    member = known.with_(member_id=member_id, epoch=0, previous_epoch=0)
    records += member_tombstones(group.group_id, known.member_id)
    records.append(member.subscription_record(group.group_id))
    records.append(target_record(group.group_id, member_id, group.target_of(known.member_id)))
    records.append(member.assignment_record(group.group_id))
    return member


def _check(c: CoordinatorRuntime, request: ConsumerGroupHeartbeatRequest) -> None:
    """Refuse what is no valid request, before any group is looked at."""
    epoch = request.member_epoch
    texts = [request.group_id, request.instance_id, request.rack_id]
    if epoch != 0:
        texts.append(request.member_id)
    is_valid = (
        not any(text is not None and not text.strip() for text in texts) and epoch >= STATIC_LEAVE_EPOCH
    )
    if epoch == 0:
        is_valid = (
            is_valid
            and request.rebalance_timeout_ms != -1
            and request.topic_partitions == []
            and bool(request.subscribed_topic_names)
        )
    if epoch == STATIC_LEAVE_EPOCH:
        is_valid = is_valid and request.instance_id is not None
    if not is_valid:
        raise Refused(INVALID_REQUEST)
    if request.server_assignor is not None and request.server_assignor not in c.settings.consumer_assignors:
        raise Refused(UNSUPPORTED_ASSIGNOR)


def _group(c: CoordinatorRuntime, group_id: str, makes: bool, records: list[LogRecord]) -> ConsumerGroup:
    """The group: there, new, in place of an empty classic one, or made of a classic one with members."""
    group = c.state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    if not makes:
        raise Refused(GROUP_ID_NOT_FOUND)
    if group is None:
        return ConsumerGroup(group_id)
    if group.is_empty:
        records.append(Record(GroupMetadataKey(group_id), None))
        return ConsumerGroup(group_id)
    return _upgraded(c, group, records)


def _upgraded(c: CoordinatorRuntime, group: ClassicGroup, records: list[LogRecord]) -> ConsumerGroup:
    if not can_upgrade(c, group):
        raise Refused(GROUP_ID_NOT_FOUND)
    converted, made = upgrade(c, group)
    records += made
    return converted


def _dynamic_member(
    group: ConsumerGroup, member_id: str, request: ConsumerGroupHeartbeatRequest
) -> ConsumerMember:
    member = group.members.get(member_id)
    if member is None:
        if request.member_epoch != 0:
            raise Refused(UNKNOWN_MEMBER_ID)
        member = ConsumerMember(member_id)
    _check_epoch(member, request.member_epoch, request.topic_partitions)
    return member


def _static_member(
    group: ConsumerGroup,
    member_id: str,
    instance_id: str,
    request: ConsumerGroupHeartbeatRequest,
    records: list[LogRecord],
) -> ConsumerMember:
    if request.member_epoch != 0:
        member = own_static_member(group, instance_id, member_id)
        _check_epoch(member, request.member_epoch, request.topic_partitions)
        return member
    known = group.static_member(instance_id)
    if known is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if known.epoch != STATIC_LEAVE_EPOCH:
        # Its process still has it, or its session is not over.
        raise Refused(UNRELEASED_INSTANCE_ID)
    return replace_static_member(group, known, member_id, records)


def _check_epoch(member: ConsumerMember, epoch: int, owned: Sequence[TopicPartitions] | None) -> None:
    """Refuse a member that is at another epoch than we know, unless it just missed our last answer."""
    if epoch == member.epoch:
        return
    missed_answer = epoch < member.epoch and epoch == member.previous_epoch and _is_part(owned, member)
    if not missed_answer:
        raise Refused(FENCED_MEMBER_EPOCH)


def _is_part(owned: Sequence[TopicPartitions] | None, member: ConsumerMember) -> bool:
    return owned is not None and all(
        topic.topic_id in member.assigned and set(topic.partitions) <= member.assigned[topic.topic_id]
        for topic in owned
    )

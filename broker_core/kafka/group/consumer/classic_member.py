"""Members of the classic protocol inside a group of the consumer protocol: their requests, answered from the
same epochs.

They join at once, their generation is the member epoch, and what a heartbeat of the new protocol would tell
them they fetch with SyncGroup. REBALANCE_IN_PROGRESS tells them that there is something to fetch. Source:
Kafka 3.9 GroupMetadataManager.classicGroupJoinToConsumerGroup, classicGroupSyncToConsumerGroup,
classicGroupHeartbeatToConsumerGroup, classicGroupLeaveToConsumerGroup.
"""

from __future__ import annotations

from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.assignors.subscription_bytes import (
    CONSUMER_PROTOCOL_TYPE,
    SubscriptionData,
    read_subscription,
    read_version,
    write_assignment,
)  # fmt: skip
from broker_core.kafka.group.codes import (
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    MEMBER_ID_REQUIRED,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
    Refused,
)  # fmt: skip
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.heartbeat import check_room, replace_static_member
from broker_core.kafka.group.consumer.leave import after_removal, own_static_member
from broker_core.kafka.group.consumer.member import (
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerMember,
)
from broker_core.kafka.group.consumer.migration import named_partitions
from broker_core.kafka.group.consumer.sessions import (
    cancel_timers,
    join_name,
    member_tombstones,
    start_join_timeout_if_absent,
    start_session,
    start_sync_timeout,
    sync_name,
)  # fmt: skip
from broker_core.kafka.group.consumer.target import take_up
from broker_core.kafka.group.coordinator_result import (
    ClassicJoined,
    ClassicSynced,
    CoordinatorResult,
    answered,
)
from broker_core.kafka.group.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
    RequestContext,
    SyncGroupRequest,
    SyncGroupResponse,
    TopicPartitions,
)  # fmt: skip
from broker_core.kafka.group.records import ClassicMemberMetadata, LogRecord, SupportedProtocol
from broker_core.kafka.group.runtime import CoordinatorRuntime
from broker_core.kafka.group.topics import TopicsImage

KNOWN_ID_VERSION = 4


def join_group(
    c: CoordinatorRuntime, context: RequestContext, request: JoinGroupRequest, group: ConsumerGroup
) -> CoordinatorResult:
    """A classic member joins a group that has members of the consumer protocol; it is answered at once."""
    is_unknown = not request.member_id
    member_id = request.member_id or c.out.draw_id(is_classic=False)
    check_room(c, group, member_id)
    if not group.supports_classic(request.protocol_type, (protocol.name for protocol in request.protocols)):
        raise Refused(INCONSISTENT_GROUP_PROTOCOL)
    instance_id = request.group_instance_id
    if is_unknown and instance_id is None and context.api_version >= KNOWN_ID_VERSION:
        c.answer(context, JoinGroupResponse(member_id, MEMBER_ID_REQUIRED))
        return CoordinatorResult()
    records: list[LogRecord] = []
    member = _joining(group, member_id, instance_id, is_unknown, records)
    subscription = _subscription(request)
    offered = [SupportedProtocol(protocol.name, protocol.metadata) for protocol in request.protocols]
    described = member.with_(
        instance_id=instance_id if instance_id is not None else member.instance_id,
        rack_id=subscription.rack if subscription.rack is not None else member.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms
        if request.rebalance_timeout_ms != -1
        else member.rebalance_timeout_ms,
        subscribed=frozenset(subscription.topics),
        client_id=context.client_id,
        client_host=context.client_host,
        classic=ClassicMemberMetadata(request.session_timeout_ms, offered),
    )
    updated = take_up(c, group, member, described, _owned(subscription, c.topics), records)
    response = JoinGroupResponse(
        updated.member_id, NONE, updated.epoch, CONSUMER_PROTOCOL_TYPE, offered[0].name
    )
    return CoordinatorResult(records, then=ClassicJoined(context, request, response))


def joined(c: CoordinatorRuntime, then: ClassicJoined) -> None:
    """The join is stored: the member has its rebalance timeout to sync."""
    group_id, member_id = then.request.group_id, then.response.member_id
    c.cancel(join_name(group_id, member_id))
    start_session(c, group_id, member_id, then.request.session_timeout_ms)
    start_sync_timeout(c, group_id, member_id, then.request.rebalance_timeout_ms)
    c.answer(then.context, then.response)


def sync_group(
    c: CoordinatorRuntime, context: RequestContext, request: SyncGroupRequest, group: ConsumerGroup
) -> CoordinatorResult:
    """A classic member fetches its assignment. Refused in this order: who it is, generation, protocol, a
    newer epoch to join for."""
    member = _known(group, request.member_id, request.group_instance_id)
    if member.classic is None:
        raise Refused(UNKNOWN_MEMBER_ID)
    if request.generation_id != member.epoch:
        raise Refused(ILLEGAL_GENERATION)
    offered = member.classic.supported_protocols[0].name
    if request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or request.protocol_name not in (
        None,
        offered,
    ):
        raise Refused(INCONSISTENT_GROUP_PROTOCOL)
    if group.epoch > member.epoch and member.state != UNREVOKED_PARTITIONS:
        start_join_timeout_if_absent(c, group.group_id, member)
        raise Refused(REBALANCE_IN_PROGRESS)
    return CoordinatorResult(then=ClassicSynced(context, request))


def synced(c: CoordinatorRuntime, then: ClassicSynced) -> None:
    """What the member may hold is stored: it gets it, in the version of the protocol that it wrote."""
    request = then.request
    group = c.state.groups.get(request.group_id)
    member = group.members.get(request.member_id) if isinstance(group, ConsumerGroup) else None
    if not isinstance(member, ConsumerMember) or member.classic is None:
        return
    c.cancel(sync_name(request.group_id, request.member_id))
    start_session(c, request.group_id, request.member_id, member.classic.session_timeout_ms)
    version = read_version(member.classic.supported_protocols[0].metadata)
    assignment = write_assignment(named_partitions(member.assigned, c.topics), version=version)
    c.answer(then.context, SyncGroupResponse(NONE, request.protocol_type, request.protocol_name, assignment))


def heartbeat(c: CoordinatorRuntime, request: HeartbeatRequest, group: ConsumerGroup) -> CoordinatorResult:
    """A classic member shows that it lives, and learns whether there is something to join for."""
    member = _known(group, request.member_id, request.group_instance_id)
    if member.classic is None:
        raise Refused(UNKNOWN_MEMBER_ID)
    if request.generation_id != member.epoch:
        raise Refused(ILLEGAL_GENERATION)
    start_session(c, group.group_id, member.member_id, member.classic.session_timeout_ms)
    can_take = member.state == UNRELEASED_PARTITIONS and not group.waits_for_release(member)
    if member.epoch < group.epoch or member.state == UNREVOKED_PARTITIONS or can_take:
        start_join_timeout_if_absent(c, group.group_id, member)
        return answered(HeartbeatResponse(REBALANCE_IN_PROGRESS))
    return answered(HeartbeatResponse())


def leave_group(c: CoordinatorRuntime, request: LeaveGroupRequest, group: ConsumerGroup) -> CoordinatorResult:
    """Classic members leave; each has its own code."""
    records: list[LogRecord] = []
    removed: list[ConsumerMember] = []
    responses = []
    for leaving in request.members:
        try:
            member = _leaving(group, leaving)
        except Refused as refused:
            responses.append(MemberResponse(leaving.member_id, leaving.group_instance_id, refused.code))
            continue
        records += member_tombstones(group.group_id, member.member_id)
        cancel_timers(c, group.group_id, member.member_id)
        removed.append(member)
        responses.append(MemberResponse(member.member_id, leaving.group_instance_id))
        c.tell("kafka.group.member_left", None, {}, {"member_id": member.member_id}, group=group.group_id)
    if len({member.member_id for member in removed}) < len(removed):
        # Applying the second removal of one member fails in the original, and with it the whole request.
        raise Refused(UNKNOWN_MEMBER_ID)
    if removed:
        records += after_removal(c, group, removed)
    return CoordinatorResult(records, LeaveGroupResponse(members=responses))


def _joining(
    group: ConsumerGroup, member_id: str, instance_id: str | None, is_unknown: bool, records: list[LogRecord]
) -> ConsumerMember:
    if instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if not is_unknown:
        return own_static_member(group, instance_id, member_id)
    known = group.static_member(instance_id)
    if known is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    return replace_static_member(group, known, member_id, records)


def _known(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    return (
        group.member(member_id) if instance_id is None else own_static_member(group, instance_id, member_id)
    )


def _leaving(group: ConsumerGroup, leaving: MemberIdentity) -> ConsumerMember:
    instance_id = leaving.group_instance_id
    if instance_id is None:
        member = group.member(leaving.member_id)
    elif leaving.member_id:
        member = own_static_member(group, instance_id, leaving.member_id)
    else:
        known = group.static_member(instance_id)
        if known is None:
            raise Refused(UNKNOWN_MEMBER_ID)
        member = known
    if member.classic is None:
        raise Refused(UNKNOWN_MEMBER_ID)
    return member


def _subscription(request: JoinGroupRequest) -> SubscriptionData:
    """The subscription of the protocol that the member likes best; the original fails on one that it cannot
    read."""
    try:
        return read_subscription(request.protocols[0].metadata)
    except MalformedBytes:
        raise Refused(UNKNOWN_SERVER_ERROR) from None


def _owned(subscription: SubscriptionData, image: TopicsImage) -> list[TopicPartitions]:
    owned: dict[str, list[int]] = {}
    for topic, number in subscription.owned:
        if topic in image.by_name:
            owned.setdefault(image.by_name[topic].topic_id, []).append(number)
    return [TopicPartitions(topic_id, numbers) for topic_id, numbers in owned.items()]

"""A member of the consumer protocol goes: it leaves, or it is fenced. The epoch rises; the next heartbeat of
anybody computes the target.

A static member that leaves for a while (epoch -2) keeps its place until its session is over. When the last
member that speaks the consumer protocol goes and the rest are classic, the group may become a classic one.
Source: Kafka 3.9 GroupMetadataManager.consumerGroupLeave.
"""

from __future__ import annotations

from typing import Any

from broker_core.kafka.group.codes import FENCED_INSTANCE_ID, GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, Refused
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import STATIC_LEAVE_EPOCH, ConsumerMember
from broker_core.kafka.group.consumer.migration import can_downgrade, downgrade
from broker_core.kafka.group.consumer.sessions import cancel_timers, known_member, member_tombstones
from broker_core.kafka.group.consumer.target import epoch_record, topics_record
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from broker_core.kafka.group.records import LogRecord
from broker_core.kafka.group.runtime import CoordinatorRuntime


def leave(c: CoordinatorRuntime, request: ConsumerGroupHeartbeatRequest) -> CoordinatorResult:
    """Take a heartbeat with epoch -1 or -2."""
    group = c.state.groups.get(request.group_id)
    if not isinstance(group, ConsumerGroup):
        raise Refused(GROUP_ID_NOT_FOUND)
    if request.instance_id is None:
        member = group.member(request.member_id)
    else:
        member = own_static_member(group, request.instance_id, request.member_id)
        if request.member_epoch == STATIC_LEAVE_EPOCH:
            away = member.with_(epoch=STATIC_LEAVE_EPOCH, revoking={})
            response = ConsumerGroupHeartbeatResponse(
                member_id=member.member_id, member_epoch=STATIC_LEAVE_EPOCH
            )
            return CoordinatorResult([away.assignment_record(group.group_id)], response)
    c.tell("kafka.group.member_left", None, {}, {"member_id": member.member_id}, group=group.group_id)
    return fence(
        c,
        group,
        member,
        ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch),
    )


def own_static_member(group: ConsumerGroup, instance_id: str, member_id: str) -> ConsumerMember:
    """The member of this instance id. Refuses an unknown instance, and one that another member id has
    taken."""
    member = group.static_member(instance_id)
    if member is None:
        raise Refused(UNKNOWN_MEMBER_ID)
    if member.member_id != member_id:
        raise Refused(FENCED_INSTANCE_ID)
    return member


def fence(
    c: CoordinatorRuntime, group: ConsumerGroup, member: ConsumerMember, response: Any
) -> CoordinatorResult:
    """Remove a member, or with it the consumer protocol."""
    if can_downgrade(c, group, member.member_id):
        return downgrade(c, group, member.member_id, response)
    records = member_tombstones(group.group_id, member.member_id)
    records += after_removal(c, group, [member])
    cancel_timers(c, group.group_id, member.member_id)
    return CoordinatorResult(records, response)


def after_removal(
    c: CoordinatorRuntime, group: ConsumerGroup, removed: list[ConsumerMember]
) -> list[LogRecord]:
    """What is written of a group whose members went: its topics if they differ now, and the next epoch."""
    records: list[LogRecord] = []
    topics = group.topics_for(group.subscribers_with(removed, None), c.topics)
    if topics != group.topics:
        records.append(topics_record(group.group_id, topics))
    return [*records, epoch_record(group.group_id, group.epoch + 1)]


def fence_member(c: CoordinatorRuntime, group_id: str, member_id: str, rule: str) -> CoordinatorResult:
    """A member's time is over. rule: which time."""
    found = known_member(c, group_id, member_id)
    if found is None:
        return CoordinatorResult()
    c.tell("kafka.group.member_expired", rule, {}, {"member_id": member_id}, group=group_id)
    return fence(c, *found, None)


def rebalance_over(c: CoordinatorRuntime, group_id: str, member_id: str, epoch: int) -> CoordinatorResult:
    """The rebalance timeout: who is still at the epoch at which it was told to let go has not done so."""
    found = known_member(c, group_id, member_id)
    if found is None or found[1].epoch != epoch:
        return CoordinatorResult()
    c.tell(
        "kafka.group.member_expired",
        "kafka.group.rebalance_timeout",
        {},
        {"member_id": member_id},
        group=group_id,
    )
    return fence(c, *found, None)

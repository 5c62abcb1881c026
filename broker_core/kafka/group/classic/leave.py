"""LeaveGroup in a classic group: members leave on purpose, several at once, and those who stay share again.

All are removed first, then the group is updated once. A parked JoinGroup of one who leaves is answered
UNKNOWN_MEMBER_ID; a parked SyncGroup is never answered, in the original as here. Source: Kafka 3.9
GroupMetadataManager.classicGroupLeaveToClassicGroup.
"""

from __future__ import annotations

from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.rebalance import (
    answer_join,
    complete_if_all_joined,
    prepare_rebalance,
    session_name,
)
from broker_core.kafka.group.classic.states import COMPLETING, PREPARING, STABLE
from broker_core.kafka.group.codes import NONE, UNKNOWN_MEMBER_ID, Refused
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import (
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from broker_core.kafka.group.runtime import CoordinatorRuntime


def leave_group(c: CoordinatorRuntime, request: LeaveGroupRequest, group: ClassicGroup) -> CoordinatorResult:
    """Take members out; each has its own code. A static member may be named by its instance id alone."""
    responses = [
        MemberResponse(member.member_id, member.group_instance_id, _leave(c, group, member))
        for member in request.members
    ]
    written = CoordinatorResult()
    if any(response.error_code == NONE for response in responses):
        if group.state in (STABLE, COMPLETING):
            written = prepare_rebalance(c, group, "kafka.group.leave")
        elif group.state == PREPARING:
            written = complete_if_all_joined(c, group)
    written.response = LeaveGroupResponse(members=responses)
    return written


def _leave(c: CoordinatorRuntime, group: ClassicGroup, leaving: MemberIdentity) -> int:
    """Take one member out. Returns its code."""
    member_id, instance_id = leaving.member_id, leaving.group_instance_id
    if not member_id:
        known = None if instance_id is None else group.static_members.get(instance_id)
        if known is None:
            return UNKNOWN_MEMBER_ID
        member_id = known
    elif member_id in group.pending_joins:
        group.drop(member_id)
        c.cancel(session_name(group.group_id, member_id))
        return NONE
    else:
        try:
            group.check_member(member_id, instance_id)
        except Refused as refused:
            return refused.code
    c.cancel(session_name(group.group_id, member_id))
    answer_join(c, group, group.members[member_id], JoinGroupResponse("", UNKNOWN_MEMBER_ID))
    group.drop(member_id)
    c.tell("kafka.group.member_left", None, {}, {"member_id": member_id}, group=group.group_id)
    return NONE

"""Heartbeat in a classic group: a member shows that it lives, and learns of a rebalance. And what happens
when it does not.

`session_over` is where a session timeout is noticed; for a group of KIP-848 that is `../consumer/sessions.py`.

Source: Kafka 3.9 GroupMetadataManager.classicGroupHeartbeatToClassicGroup, expireClassicGroupMemberHeartbeat.
"""

from __future__ import annotations

from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.rebalance import (
    answer_join,
    complete_if_all_joined,
    complete_join,
    prepare_rebalance,
    restart_session,
)
from broker_core.kafka.group.classic.states import PREPARING
from broker_core.kafka.group.codes import (
    ILLEGAL_GENERATION,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
    Refused,
)
from broker_core.kafka.group.coordinator_result import CoordinatorResult, answered
from broker_core.kafka.group.messages import HeartbeatRequest, HeartbeatResponse, JoinGroupResponse
from broker_core.kafka.group.runtime import CoordinatorRuntime


def heartbeat(c: CoordinatorRuntime, request: HeartbeatRequest, group: ClassicGroup) -> CoordinatorResult:
    """Answer a heartbeat. Refused in this order: unknown or fenced member (an Empty group has none), other
    generation."""
    group.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise Refused(ILLEGAL_GENERATION)
    restart_session(c, group, group.members[request.member_id])
    if group.state != PREPARING:
        return answered(HeartbeatResponse(NONE))
    # The member learns of the rebalance here and nowhere else.
    c.because(group.because)
    return answered(HeartbeatResponse(REBALANCE_IN_PROGRESS))


def session_over(c: CoordinatorRuntime, group_id: str, member_id: str) -> CoordinatorResult:
    """Nothing was heard of a member for its session timeout. A known one whose request is parked is waiting,
    not silent."""
    try:
        group = c.classic_group(group_id)
    except Refused:
        return CoordinatorResult()
    if member_id in group.pending_joins:
        group.drop(member_id)
        return _complete_if_all_joined(c, group)
    member = group.members.get(member_id)
    if member is None or member.is_waiting:
        return CoordinatorResult()
    c.tell(
        "kafka.group.member_expired",
        "kafka.group.session_timeout",
        {"session_timeout_ms": member.session_timeout_ms},
        {"member_id": member_id},
        group=group.group_id,
    )
    answer_join(c, group, member, JoinGroupResponse("", UNKNOWN_MEMBER_ID))
    group.drop(member_id)
    if group.state == PREPARING:
        return _complete_if_all_joined(c, group)
    return prepare_rebalance(c, group, "kafka.group.session_timeout")


def _complete_if_all_joined(c: CoordinatorRuntime, group: ClassicGroup) -> CoordinatorResult:
    if c.settings.is_old:
        return complete_if_all_joined(c, group)
    # Unlike the end of a join, this looks at nothing but who is there: it can cut the initial delay short.
    return (
        complete_join(c, group)
        if group.state == PREPARING and group.has_all_joined()
        else CoordinatorResult()
    )

"""SyncGroup in a classic group: the leader brings the assignment, the others wait for their part of it.

The assignment is written before anybody gets it; when that fails, the group prepares a rebalance. Once
Stable, a SyncGroup is answered with what is stored, and its session is not prolonged. Source: Kafka 3.9
GroupMetadataManager.classicGroupSyncToClassicGroup.
"""

from __future__ import annotations

from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.rebalance import (
    clear_assignments,
    hand_out,
    rebalance_or_complete_join,
    restart_session,
    sync_name,
)
from broker_core.kafka.group.classic.states import COMPLETING, LEADER_SYNCED, PREPARING
from broker_core.kafka.group.codes import (
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    NONE,
    REBALANCE_IN_PROGRESS,
    Refused,
    group_answered_as,
)  # fmt: skip
from broker_core.kafka.group.coordinator_result import CoordinatorResult, LeaderSynced, answered
from broker_core.kafka.group.messages import RequestContext, SyncGroupRequest, SyncGroupResponse
from broker_core.kafka.group.runtime import CoordinatorRuntime


def sync_group(
    c: CoordinatorRuntime, context: RequestContext, request: SyncGroupRequest, group: ClassicGroup
) -> CoordinatorResult:
    """Take a SyncGroup. Refused in this order: unknown or fenced member, other generation, other protocol, a
    rebalance in preparation."""
    group.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise Refused(ILLEGAL_GENERATION)
    is_old = c.settings.is_old
    if _is_other(request.protocol_type, group.protocol_type, is_old) or _is_other(
        request.protocol_name, group.protocol, is_old
    ):
        raise Refused(INCONSISTENT_GROUP_PROTOCOL)
    if group.state == PREPARING:
        raise Refused(REBALANCE_IN_PROGRESS)
    member = group.members[request.member_id]
    group.pending_syncs.pop(request.member_id, None)
    if not group.pending_syncs:
        c.cancel(sync_name(group.group_id))
    if group.state != COMPLETING:
        if c.settings.is_old:
            restart_session(c, group, member)
        return answered(SyncGroupResponse(NONE, group.protocol_type, group.protocol, member.assignment))
    member.awaits_sync = context
    if group.leader != member.member_id:
        return CoordinatorResult()
    given = {part.member_id: part.assignment for part in request.assignments}
    assignments = {member_id: given.get(member_id, b"") for member_id in group.members}
    then = LeaderSynced(group.group_id, group.generation, assignments)
    return CoordinatorResult([group.to_record(assignments)], then=then, replay=False)


def assignment_written(c: CoordinatorRuntime, then: LeaderSynced) -> None:
    """The assignment is stored: everybody who waits gets its part, and the group is Stable."""
    group = _group_of(c, then)
    if group is None:
        return
    for member in group.members.values():
        member.assignment = then.assignments.get(member.member_id, b"")
    hand_out(c, group, NONE)
    group.enter(LEADER_SYNCED, c.now_ms)
    c.tell(
        "kafka.group.assigned",
        f"kafka.assignor.{group.protocol}",
        {"members": len(group.members)},
        {"generation": group.generation},
        group=group.group_id,
    )


def assignment_not_written(c: CoordinatorRuntime, then: LeaderSynced, code: int) -> None:
    """The assignment could not be stored: nobody gets it, the group begins again."""
    group = _group_of(c, then)
    if group is None:
        return
    clear_assignments(c, group, group_answered_as(code, c.settings.is_old))
    rebalance_or_complete_join(c, group, "kafka.group.append_failed")


def _group_of(c: CoordinatorRuntime, then: LeaderSynced) -> ClassicGroup | None:
    """The group, if it still waits for this assignment."""
    group = c.state.groups.get(then.group_id)
    if isinstance(group, ClassicGroup) and group.state == COMPLETING and group.generation == then.generation:
        return group
    return None


def _is_other(asked: str | None, known: str | None, is_old: bool) -> bool:
    """Whether the member speaks of another protocol. One that is not chosen yet agrees with any; the old
    coordinator disagrees."""
    return asked is not None and asked != known and (known is not None or is_old)

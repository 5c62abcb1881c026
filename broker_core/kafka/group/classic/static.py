"""A static member restarts: the same `group.instance.id` comes with an empty member id and takes its old
place under a new one.

In a Stable group whose chosen protocol stays nothing is rebalanced: the group is written with the new id and
the member gets its old assignment. An old client must not learn that it leads, or it would compute an
assignment; from version 9 it is told to skip that.
Source: Kafka 3.9 GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin,
ClassicGroup.replaceStaticMember.
"""

from __future__ import annotations

from broker_core.errors import InvariantError
from broker_core.kafka.group.classic.group import ClassicGroup, ClassicMember
from broker_core.kafka.group.classic.rebalance import (
    answer_join,
    answer_sync,
    complete_if_all_joined,
    joined,
    park_join,
    prepare_rebalance,
    rebalance_or_complete_join,
    restart_session,
)  # fmt: skip
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, STABLE
from broker_core.kafka.group.codes import FENCED_INSTANCE_ID, group_answered_as
from broker_core.kafka.group.coordinator_result import CoordinatorResult, StaticReplaced
from broker_core.kafka.group.messages import (
    JoinGroupRequest,
    JoinGroupResponse,
    RequestContext,
    SyncGroupResponse,
)
from broker_core.kafka.group.runtime import CoordinatorRuntime

SKIPPING_VERSION = 9


def restart_static_member(
    c: CoordinatorRuntime,
    context: RequestContext,
    request: JoinGroupRequest,
    group: ClassicGroup,
    old_member_id: str,
    member_id: str,
) -> CoordinatorResult:
    """Replace a static member by its restarted self. Raises InvariantError for an Empty group, which has no
    members."""
    old_leader = group.leader
    member = _replace(c, group, old_member_id, member_id)
    restart_session(c, group, member)
    instance_id = request.group_instance_id or ""
    before = JoinGroupRequest(
        group.group_id, member.session_timeout_ms, old_member_id, member.protocol_type, member.protocols,
        member.rebalance_timeout_ms, instance_id,
    )  # fmt: skip
    group.update(member, request)
    park_join(group, member, context)
    if group.state == STABLE:
        if group.select_protocol() == (group.protocol or ""):
            then = StaticReplaced(
                context, group.group_id, instance_id, old_member_id, member_id, old_leader, before
            )
            return CoordinatorResult([group.to_record()], then=then, replay=False)
        return rebalance_or_complete_join(c, group, "kafka.group.rejoin")
    if group.state == COMPLETING:
        return prepare_rebalance(c, group, "kafka.group.rejoin")
    if group.state == EMPTY:
        raise InvariantError(f"static member {instance_id} in the empty group {group.group_id}")
    return complete_if_all_joined(c, group)


def static_member_written(c: CoordinatorRuntime, then: StaticReplaced) -> None:
    """The group is stored with the new id: the member gets its answer."""
    group = c.state.groups.get(then.group_id)
    if not isinstance(group, ClassicGroup) or (member := group.members.get(then.new_member_id)) is None:
        return
    if then.context.api_version >= SKIPPING_VERSION:
        response = joined(group, member)
        response.skip_assignment = group.leader == member.member_id
    else:
        response = joined(group, member, lists_members=False)
        response.leader = then.old_leader
    answer_join(c, group, member, response)


def static_member_not_written(c: CoordinatorRuntime, then: StaticReplaced, code: int) -> None:
    """The append failed: the old id is back, with the old protocols and timeouts."""
    group = c.state.groups.get(then.group_id)
    if not isinstance(group, ClassicGroup) or (member := group.members.get(then.new_member_id)) is None:
        return
    group.update(member, then.old_request)
    if member.awaits_join is not None:
        member.awaits_join = None
        group.waiting_count -= 1
    restart_session(c, group, _replace(c, group, then.new_member_id, then.old_member_id))
    told = group_answered_as(code, c.settings.is_old)
    response = JoinGroupResponse(
        "", told, group.generation, group.protocol_type, group.protocol, then.old_leader
    )
    c.answer(then.context, response)


def _replace(c: CoordinatorRuntime, group: ClassicGroup, old_member_id: str, member_id: str) -> ClassicMember:
    """Put the member under a new id; what waits under the old one is answered that it is fenced."""
    old = group.members.pop(old_member_id)
    answer_join(c, group, old, JoinGroupResponse(old_member_id, FENCED_INSTANCE_ID))
    answer_sync(c, old, SyncGroupResponse(FENCED_INSTANCE_ID))
    member = ClassicMember(
        member_id,
        old.instance_id,
        old.client_id,
        old.client_host,
        old.rebalance_timeout_ms,
        old.session_timeout_ms,
        old.protocol_type,
        old.protocols,
        old.assignment,
    )
    group.members[member_id] = member
    if group.leader == old_member_id:
        group.leader = member_id
    if old.instance_id is not None:
        group.static_members[old.instance_id] = member_id
    return member

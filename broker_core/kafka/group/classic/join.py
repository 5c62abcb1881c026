"""JoinGroup in a classic group: members gather, and are parked until the join phase ends.

A new dynamic member first gets an id and must come again with it (MEMBER_ID_REQUIRED, from version 4). Who
comes again in a Stable group starts a rebalance if it leads or its protocols changed; a follower that is
unchanged is answered at once.
Source: Kafka 3.9 GroupMetadataManager.classicGroupJoinToClassicGroup. Vectors: kafka/group/classic.json.
"""

from __future__ import annotations

from broker_core.kafka.group.classic.group import ClassicGroup, ClassicMember
from broker_core.kafka.group.classic.rebalance import (
    complete_if_all_joined,
    joined,
    park_join,
    rebalance_or_complete_join,
    restart_session,
    start_session,
)  # fmt: skip
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.group.classic.static import restart_static_member
from broker_core.kafka.group.codes import (
    GROUP_MAX_SIZE_REACHED,
    INCONSISTENT_GROUP_PROTOCOL,
    MEMBER_ID_REQUIRED,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
    Refused,
    answered_as,
)  # fmt: skip
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.coordinator_result import CoordinatorResult, GroupMade
from broker_core.kafka.group.messages import JoinGroupRequest, JoinGroupResponse, RequestContext
from broker_core.kafka.group.records import GroupMetadataKey, GroupMetadataValue, LogRecord, Record
from broker_core.kafka.group.runtime import CoordinatorRuntime

KNOWN_ID_VERSION = 4


def join_group(
    c: CoordinatorRuntime, context: RequestContext, request: JoinGroupRequest
) -> CoordinatorResult:
    """Take a JoinGroup for a group that is classic, missing, or empty of consumer-protocol members."""
    records: list[LogRecord] = []
    group_id = request.group_id
    known = c.state.groups.get(group_id)
    if isinstance(known, ConsumerGroup) and known.is_empty:
        # An empty group changes its kind; its offsets stay.
        records += known.tombstones()
        c.state.groups.remove(group_id)
    is_new = c.state.groups.get(group_id) is None
    try:
        group = c.classic_group(group_id, makes=not request.member_id)
    except Refused as refused:
        c.answer(context, JoinGroupResponse(request.member_id, refused.code))
        return CoordinatorResult()
    if not _has_room(c, group, request.member_id):
        group.drop(request.member_id)
        c.answer(context, JoinGroupResponse("", GROUP_MAX_SIZE_REACHED))
        written = CoordinatorResult()
    elif not request.member_id:
        written = _join_new(c, context, request, group)
    else:
        written = _join_known(c, context, request, group)
    if c.settings.is_old:
        # It looks again whenever a join was handled: a newcomer that was refused a place may have been the
        # last one missing.
        return written if written.records else complete_if_all_joined(c, group)
    if is_new and not written.records:
        since_ms = -1 if group.state_since_ms is None else group.state_since_ms
        records.append(
            Record(GroupMetadataKey(group_id), GroupMetadataValue("", 0, None, None, since_ms, []))
        )
        return CoordinatorResult(records, then=GroupMade(context), replay=False)
    return written


def group_not_written(c: CoordinatorRuntime, then: GroupMade, code: int) -> None:
    """The first record of a group failed: the request is answered with the error, whatever it was waiting
    for."""
    c.answer(then.context, JoinGroupResponse(error_code=answered_as(code)))


def _has_room(c: CoordinatorRuntime, group: ClassicGroup, member_id: str) -> bool:
    """While a rebalance is prepared, those who already wait are counted: a newcomer may take the place of a
    slow member."""
    if group.state == EMPTY:
        return True
    member = group.members.get(member_id)
    if group.state == PREPARING:
        return (
            member is not None and member.awaits_join is not None
        ) or group.waiting_count < c.settings.max_size
    return member is not None or len(group.members) < c.settings.max_size


def _join_new(
    c: CoordinatorRuntime, context: RequestContext, request: JoinGroupRequest, group: ClassicGroup
) -> CoordinatorResult:
    if not group.supports(request.protocol_type, request.protocols):
        c.answer(context, JoinGroupResponse("", INCONSISTENT_GROUP_PROTOCOL))
        return CoordinatorResult()
    instance_id = request.group_instance_id
    member_id = (
        f"{context.client_id if instance_id is None else instance_id}-{c.out.draw_id(is_classic=True)}"
    )
    if instance_id is not None:
        old_member_id = group.static_members.get(instance_id)
        if old_member_id is not None:
            return restart_static_member(c, context, request, group, old_member_id, member_id)
        return _add(c, context, request, group, member_id)
    if context.api_version >= KNOWN_ID_VERSION:
        group.pending_joins[member_id] = None
        start_session(c, group, member_id, request.session_timeout_ms)
        c.answer(context, JoinGroupResponse(member_id, MEMBER_ID_REQUIRED))
        return CoordinatorResult()
    return _add(c, context, request, group, member_id)


def _join_known(
    c: CoordinatorRuntime, context: RequestContext, request: JoinGroupRequest, group: ClassicGroup
) -> CoordinatorResult:
    member_id = request.member_id
    if not group.supports(request.protocol_type, request.protocols):
        return _refuse(c, context, member_id, INCONSISTENT_GROUP_PROTOCOL)
    if member_id in group.pending_joins:
        if request.group_instance_id is not None:
            # The original throws here: an id that was given to a dynamic member cannot be a static one's.
            raise Refused(UNKNOWN_SERVER_ERROR)
        return _add(c, context, request, group, member_id)
    try:
        group.check_member(member_id, request.group_instance_id)
    except Refused as refused:
        return _refuse(c, context, member_id, refused.code)
    member = group.members[member_id]
    is_same = member.protocols == request.protocols
    if group.state == PREPARING:
        return _rejoin(c, context, request, group, member)
    if group.state == COMPLETING:
        if not is_same:
            return _rejoin(c, context, request, group, member)
        c.answer(context, joined(group, member))
        return CoordinatorResult()
    if group.state == STABLE:
        if group.leader == member_id or not is_same:
            return _rejoin(c, context, request, group, member)
        c.answer(context, joined(group, member, lists_members=False))
        return CoordinatorResult()
    return _refuse(c, context, member_id, UNKNOWN_MEMBER_ID)


def _add(
    c: CoordinatorRuntime,
    context: RequestContext,
    request: JoinGroupRequest,
    group: ClassicGroup,
    member_id: str,
) -> CoordinatorResult:
    """A new member is parked; it has five minutes, whatever its session timeout, until its first answer."""
    member = ClassicMember(
        member_id,
        request.group_instance_id,
        context.client_id,
        context.client_host,
        request.rebalance_timeout_ms,
        request.session_timeout_ms,
        request.protocol_type,
        request.protocols,
        is_new=True,
    )
    if group.state == PREPARING and (
        group.generation == 0 if c.settings.is_old else group.previous_state == EMPTY
    ):
        group.has_newcomer = True
    group.add(member, context)
    restart_session(c, group, member, c.settings.new_member_join_timeout_ms)
    c.tell(
        "kafka.group.member_joined",
        None,
        {},
        {"client": context.client_id, "member_id": member_id},
        group=group.group_id,
    )
    return rebalance_or_complete_join(c, group, "kafka.group.join")


def _rejoin(
    c: CoordinatorRuntime,
    context: RequestContext,
    request: JoinGroupRequest,
    group: ClassicGroup,
    member: ClassicMember,
) -> CoordinatorResult:
    group.update(member, request)
    park_join(group, member, context)
    return rebalance_or_complete_join(c, group, "kafka.group.rejoin")


def _refuse(c: CoordinatorRuntime, context: RequestContext, member_id: str, code: int) -> CoordinatorResult:
    c.answer(context, JoinGroupResponse(member_id, code))
    return CoordinatorResult()

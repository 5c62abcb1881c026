"""Which function serves which request, timer, or end of an append: the coordinator's tables, and what a
take-over does to all groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from broker_core.kafka.group import admin, old
from broker_core.kafka.group import coordinator_result as w
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic import heartbeat, join, leave, rebalance, static, sync
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import COMPLETING, PREPARING, STABLE
from broker_core.kafka.group.codes import NOT_COORDINATOR, UNKNOWN_MEMBER_ID, Refused
from broker_core.kafka.group.consumer import classic_member, sessions
from broker_core.kafka.group.consumer import leave as consumer_leave
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.heartbeat import consumer_group_heartbeat
from broker_core.kafka.group.consumer.member import UNREVOKED_PARTITIONS
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import RequestContext
from broker_core.kafka.group.offset import commit, delete, expiry, fetch
from broker_core.kafka.group.runtime import CoordinatorRuntime


def join_group(
    c: CoordinatorRuntime, context: RequestContext, request: m.JoinGroupRequest
) -> CoordinatorResult:
    group = c.state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup) and not group.is_empty:
        return classic_member.join_group(c, context, request, group)
    return join.join_group(c, context, request)


def sync_group(
    c: CoordinatorRuntime, context: RequestContext, request: m.SyncGroupRequest
) -> CoordinatorResult:
    group = c.state.groups.get(request.group_id)
    if group is None or group.is_empty:
        raise Refused(UNKNOWN_MEMBER_ID)
    if isinstance(group, ConsumerGroup):
        return classic_member.sync_group(c, context, request, group)
    return sync.sync_group(c, context, request, group)


def take_heartbeat(
    c: CoordinatorRuntime, context: RequestContext, request: m.HeartbeatRequest
) -> CoordinatorResult:
    del context
    group = c.state.groups.get(request.group_id)
    if group is None:
        raise Refused(UNKNOWN_MEMBER_ID)
    if isinstance(group, ConsumerGroup):
        return classic_member.heartbeat(c, request, group)
    return heartbeat.heartbeat(c, request, group)


def leave_group(
    c: CoordinatorRuntime, context: RequestContext, request: m.LeaveGroupRequest
) -> CoordinatorResult:
    del context
    group = c.state.groups.get(request.group_id)
    if group is None:
        raise Refused(UNKNOWN_MEMBER_ID)
    if isinstance(group, ConsumerGroup):
        return classic_member.leave_group(c, request, group)
    return old.leave_group(c, request, group) if c.settings.is_old else leave.leave_group(c, request, group)


def fetch_offsets(
    c: CoordinatorRuntime, context: RequestContext, request: m.OffsetFetchRequest
) -> CoordinatorResult:
    return fetch.fetch_stable_offsets(c, context, request)


WRITERS: Mapping[type, Callable[[CoordinatorRuntime, RequestContext, Any], CoordinatorResult]] = (
    MappingProxyType(
        {
            m.JoinGroupRequest: join_group,
            m.SyncGroupRequest: sync_group,
            m.HeartbeatRequest: take_heartbeat,
            m.LeaveGroupRequest: leave_group,
            m.DeleteGroupsRequest: admin.delete_groups,
            m.ConsumerGroupHeartbeatRequest: consumer_group_heartbeat,
            m.OffsetCommitRequest: commit.commit_offsets,
            m.TxnOffsetCommitRequest: commit.commit_transactional_offsets,
            m.WriteTxnMarkers: commit.write_transaction_marker,
            m.OffsetFetchRequest: fetch_offsets,
            m.OffsetDeleteRequest: delete.delete_offsets,
            m.PartitionsDeleted: delete.partitions_deleted,
        }
    )
)
"""What may write, and what waits for earlier writes."""

READERS: Mapping[type, Callable[[CoordinatorRuntime, Any], Any]] = MappingProxyType({
    m.DescribeGroupsRequest: admin.describe_groups, m.ListGroupsRequest: admin.list_groups,
    m.ConsumerGroupDescribeRequest: admin.describe_consumer_groups, m.OffsetFetchRequest: fetch.fetch_offsets,
})  # fmt: skip
"""What reads below the high watermark."""

TIMERS: Mapping[str, Callable[..., CoordinatorResult]] = MappingProxyType(
    {
        "session_over": heartbeat.session_over,
        "initial_delay_over": rebalance.initial_delay_over,
        "join_phase_over": rebalance.join_phase_over,
        "sync_phase_over": rebalance.sync_phase_over,
        "expire_offsets": expiry.expire_offsets,
        "fence_member": consumer_leave.fence_member,
        "rebalance_over": consumer_leave.rebalance_over,
    }
)

COMMITTED: Mapping[type, Callable[[CoordinatorRuntime, Any], None]] = MappingProxyType(
    {
        w.LeaderSynced: sync.assignment_written,
        w.StaticReplaced: static.static_member_written,
        w.GroupMade: lambda c, then: None,
        w.ClassicJoined: classic_member.joined,
        w.ClassicSynced: classic_member.synced,
    }
)
"""What follows when a write is below the high watermark."""

FAILED: Mapping[type, Callable[[CoordinatorRuntime, Any, int], None]] = MappingProxyType(
    {
        w.LeaderSynced: sync.assignment_not_written,
        w.StaticReplaced: static.static_member_not_written,
        w.GroupMade: join.group_not_written,
        # The request itself is answered with the error.
        w.ClassicJoined: lambda c, then, code: None,
        w.ClassicSynced: lambda c, then, code: None,
    }
)
"""What follows when a write was refused, or was not confirmed in time."""


def loaded(c: CoordinatorRuntime) -> None:
    """The log is replayed: every session begins again. A group that is larger than the settings now allow
    must rebalance."""
    if c.settings.is_old:
        old.settle_loaded_groups(c)
    for group in list(c.state.groups.present.values()):
        if isinstance(group, ClassicGroup):
            for member in group.in_order():
                rebalance.restart_session(c, group, member)
            if len(group.members) > c.settings.max_size:
                rebalance.prepare_rebalance(c, group, "kafka.group.max_size")
            continue
        for consumer in group.in_order():
            sessions.start_session(c, group.group_id, consumer.member_id)
            if consumer.state == UNREVOKED_PARTITIONS:
                sessions.start_rebalance_timeout(c, group.group_id, consumer)


def unloaded(c: CoordinatorRuntime) -> None:
    """Another coordinator has the groups now: who waits is sent there."""
    for group in list(c.state.groups.present.values()):
        if not isinstance(group, ClassicGroup):
            continue
        for member in group.in_order():
            if group.state == PREPARING:
                rebalance.answer_join(
                    c, group, member, m.JoinGroupResponse(member.member_id, NOT_COORDINATOR)
                )
            elif group.state in (COMPLETING, STABLE):
                rebalance.answer_sync(c, member, m.SyncGroupResponse(NOT_COORDINATOR))


def topics_changed(c: CoordinatorRuntime, changed: Iterable[str]) -> None:
    """Topics were made, deleted or changed: groups that read them look them up with their next heartbeat."""
    names = set(changed)
    for group in c.state.groups.present.values():
        if isinstance(group, ConsumerGroup) and names & group.subscriber_counts.keys():
            group.refresh_at_ms = group.refresh_epoch = 0

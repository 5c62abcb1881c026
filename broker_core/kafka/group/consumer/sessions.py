"""The timers of a member of the consumer protocol, and what happens when one is over: the member is fenced.

session: nothing heard. rebalance: it did not let go of what it was told to. join, sync: a member of the
classic protocol did not come back.
Source: Kafka 3.9 GroupMetadataManager.scheduleConsumerGroupSessionTimeout and its neighbours,
consumerGroupFenceMember.
"""

from __future__ import annotations

from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import ConsumerMember
from broker_core.kafka.group.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    LogRecord,
    Record,
)  # fmt: skip
from broker_core.kafka.group.runtime import CoordinatorRuntime


def session_name(group_id: str, member_id: str) -> str:
    return f"session-timeout-{group_id}-{member_id}"


def rebalance_name(group_id: str, member_id: str) -> str:
    return f"rebalance-timeout-{group_id}-{member_id}"


def join_name(group_id: str, member_id: str) -> str:
    return f"join-{group_id}-{member_id}"


def sync_name(group_id: str, member_id: str) -> str:
    return f"sync-{group_id}-{member_id}"


def start_session(
    c: CoordinatorRuntime, group_id: str, member_id: str, timeout_ms: int | None = None
) -> None:
    """Something was heard of a member. timeout_ms: None for the group's; a classic member brings its own."""
    timeout_ms = c.settings.consumer_session_timeout_ms if timeout_ms is None else timeout_ms
    timer = c.timer("fence_member", group_id, member_id, "kafka.group.session_timeout", retries=True)
    c.schedule(session_name(group_id, member_id), timeout_ms, timer)


def start_rebalance_timeout(c: CoordinatorRuntime, group_id: str, member: ConsumerMember) -> None:
    """The member was told to let go of partitions, at its epoch."""
    timer = c.timer("rebalance_over", group_id, member.member_id, member.epoch, retries=True)
    c.schedule(rebalance_name(group_id, member.member_id), member.rebalance_timeout_ms, timer)


def cancel_rebalance_timeout(c: CoordinatorRuntime, group_id: str, member_id: str) -> None:
    c.cancel(rebalance_name(group_id, member_id))


def start_join_timeout_if_absent(c: CoordinatorRuntime, group_id: str, member: ConsumerMember) -> None:
    """A classic member was told to rejoin; the first time counts."""
    name = join_name(group_id, member.member_id)
    if name not in c.state.timers:
        timer = c.timer(
            "fence_member", group_id, member.member_id, "kafka.group.rebalance_timeout", retries=True
        )
        c.schedule(name, member.rebalance_timeout_ms, timer)


def start_sync_timeout(c: CoordinatorRuntime, group_id: str, member_id: str, timeout_ms: int) -> None:
    """A classic member has joined and must fetch its assignment."""
    timer = c.timer("fence_member", group_id, member_id, "kafka.group.sync_timeout", retries=True)
    c.schedule(sync_name(group_id, member_id), timeout_ms, timer)


def cancel_timers(c: CoordinatorRuntime, group_id: str, member_id: str) -> None:
    for name in (session_name, rebalance_name, join_name, sync_name):
        c.cancel(name(group_id, member_id))


def member_tombstones(group_id: str, member_id: str) -> list[LogRecord]:
    """What removes a member: first it holds nothing, then it is given nothing, then it is gone."""
    return [
        Record(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        Record(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None),
        Record(ConsumerGroupMemberMetadataKey(group_id, member_id), None),
    ]


def known_member(
    c: CoordinatorRuntime, group_id: str, member_id: str
) -> tuple[ConsumerGroup, ConsumerMember] | None:
    """The group and the member that a timer is about, if both are still there."""
    group = c.state.groups.get(group_id)
    if isinstance(group, ConsumerGroup) and member_id in group.members:
        return group, group.members[member_id]
    return None

"""Builders for playbooks of classic groups: requests that wait, groups of static members, a rebalance in
which everybody is back but one."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.states import COMPLETING, STABLE
from tests.core.kafka.group.desk import Desk, join, sync


def park(desk: Desk, request: Any, version: int = 9, client: str = "c") -> int:
    """Send a request that is not answered at once. Returns its ticket."""
    before = set(desk.answers)
    waiting = set(desk.coordinator.state.unanswered)
    assert desk.send(request, version, client) is None
    (ticket,) = desk.coordinator.state.unanswered - waiting - before
    return ticket


def beat(member_id: str, generation: int = 1, instance: str | None = None) -> m.HeartbeatRequest:
    return m.HeartbeatRequest("g", generation, member_id, instance)


def leave(*members: str | tuple[str, str | None]) -> m.LeaveGroupRequest:
    """Members by id, or by (id, instance id)."""
    named = [
        m.MemberIdentity(member) if isinstance(member, str) else m.MemberIdentity(*member)
        for member in members
    ]
    return m.LeaveGroupRequest("g", members=named)


def static_group(*instances: str, synced: bool = True, **settings: Any) -> tuple[Desk, list[str]]:
    """A group of static members in generation 1. Returns the ids in the order of the instances; the first one
    leads. synced: Stable, each with its own id as its assignment; else CompletingRebalance."""
    desk = Desk(**settings)
    for instance in instances:
        desk.send(join(instance=instance), 5, instance)
    desk.pass_until(6_000 if len(instances) > 1 else 3_000)
    group = desk.group()
    ids = [group.static_members[instance] for instance in instances]
    assert group.state == COMPLETING and group.leader == ids[0]
    if synced:
        for member_id in reversed(ids):
            desk.send(
                sync(1, member_id, {known: known.encode() for known in ids} if member_id == ids[0] else None)
            )
        assert group.state == STABLE
    return desk, ids


def completing_group(*clients: str, **settings: Any) -> tuple[Desk, list[str]]:
    """A group of dynamic members in generation 1 whose leader has not synced. Returns the ids, the leader
    first."""
    desk = Desk(**settings)
    for client in clients:
        desk.send(join(), 3, client)
    desk.pass_until(6_000 if len(clients) > 1 else 3_000)
    group = desk.group()
    assert group.state == COMPLETING and group.leader == next(iter(group.members))
    return desk, list(group.members)


def session_of(member_id: str) -> str:
    """The name of a member's session timer."""
    return f"heartbeat-g-{member_id}"

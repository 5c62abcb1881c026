"""Bound groups: a server-balanced group whose members bring the partitions that they want, with offsets.

    members ask ─► of two that ask for one partition the bigger (or smaller) offset wins ─► all `total_count` are there
        ─► the plan: each partition to the member that won it ─► one member has carried it out ─► ordinary cycles

Before that a bound group gets nothing, unless none of its members asks for a partition: then it is balanced as any.
Source: TubeMQ (InLong) ConsumeGroupInfo.bookPartitionInfo, DefaultLoadBalancer.inReBalanceCluster. [read]
"""

from __future__ import annotations

from collections.abc import Collection

from broker_core.tubemq.group import BOUND, Group, Member
from broker_core.tubemq.server_balance import Plan, change_to

PLANS_MAX = 2


def required_of(text: str) -> dict[str, int]:
    """Key -> offset, of a text that `registration.are_offsets` takes.

    >>> required_of("1:t:0=100, 2:t:0=-1"), required_of(" ")
    ({'1:t:0': 100, '2:t:0': -1}, {})
    """
    parts = [part.split("=") for part in text.split(",") if part.strip()]
    return {key.strip(): int(offset) for key, offset in parts}


def choose(group: Group, member: Member) -> None:
    """A member has come: who gets what it asks for?"""
    for key, offset in member.required.items():
        holder = group.members.get(group.chosen.get(key, ""))
        theirs = None if holder is None else holder.required.get(key)
        if theirs is None or (offset >= theirs if group.terms.select_big else offset < theirs):
            group.chosen[key] = member.client_id


def forget(group: Group, client_id: str) -> None:
    """A member is gone: what was chosen for it is nobody's."""
    group.chosen = {key: holder for key, holder in group.chosen.items() if holder != client_id}


def is_binding(group: Group) -> bool:
    """Whether the group still waits for its plan, or for the word that one was carried out."""
    is_open = not group.is_allocated and bool(group.chosen) and group.plans < PLANS_MAX
    return group.terms.kind == BOUND and is_open


def bound_plan(group: Group, subscribable: Collection[str]) -> Plan:
    """What each member has to give and take; nothing until all of them are there. Only topics of which a member gets
    a partition are changed for it."""
    if len(group.members) < group.terms.source_count:
        return Plan()
    group.plans += 1
    assigned: dict[str, list[str]] = {}
    for key, client_id in group.chosen.items():
        if key in subscribable:
            assigned.setdefault(client_id, []).append(key)
    held = {}
    for client_id, keys in assigned.items():
        topics = {key.split(":")[1] for key in keys}
        held[client_id] = [key for key in group.members[client_id].held if key.split(":")[1] in topics]
    return change_to(assigned, held)

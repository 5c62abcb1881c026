"""JoinGroup: members gather, and with the last of them the next generation begins.

A request is parked until every known member has joined, or the rebalance timeout is over; the first members
of an empty group wait for `group.initial.rebalance.delay.ms`, again as long as somebody new arrives. Who
joins without an id is given one, and joins again with it (KIP-394): so a program that goes before it is
answered can still leave. Source: Kafka 3.9 GroupMetadataManager.classicGroupJoin..., docs/kafka/facts.md. The
lane's broker runs this one; no recorded answer is run against it (docs/decisions/two-group-coordinators.md).
"""

from __future__ import annotations

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import (
    INITIAL_REBALANCE_DELAY_US,
    NEW_MEMBER_JOIN_TIMEOUT_US,
    Group,
    Member,
    join_name,
    session_name,
    sync_name,
)  # fmt: skip
from broker_core.kafka.group.states import (
    ALL_JOINED,
    ALL_LEFT,
    COMPLETING,
    EMPTY,
    PREPARING,
    REBALANCE,
    STABLE,
)
from broker_core.sim.node import Outbox


def join_group(group: Group, connection: int, request: r.JoinGroupRequest, now_us: int, out: Outbox) -> None:
    """Take a JoinGroup: answer at once where nothing changes, else park it and begin or go on with a
    rebalance."""
    member = group.members.get(request.member_id)
    if member is None:
        member_id = request.member_id
        if not member_id:
            member_id = f"{request.client_id}-{out.draw('kafka.member', 1 << 32):08x}"
            group.pending[member_id] = connection
            out.deadline(session_name(group, member_id), now_us + request.session_timeout_us)
            refuse(connection, r.MEMBER_ID_REQUIRED, member_id, out)
            return
        if group.pending.pop(member_id, None) is None:
            refuse(connection, r.UNKNOWN_MEMBER_ID, member_id, out)
            return
        member = Member(
            member_id,
            connection,
            request.session_timeout_us,
            request.rebalance_timeout_us,
            request.subscription,
        )
        group.add(member)
        group.protocol = request.protocol
        group.has_newcomer = True
        group.cause = out.tell(
            "kafka.group.member_joined", None, {}, {"client": request.client_id, "member_id": member_id}
        )
        rule = "kafka.group.join"
    else:
        is_same = member.subscription == request.subscription and group.protocol == request.protocol
        is_leader = group.leader == member.member_id
        member.connection = connection
        if is_same and (group.state == COMPLETING or (group.state == STABLE and not is_leader)):
            answer_join(group, member, out)
            return
        member.subscription, group.protocol = request.subscription, request.protocol
        member.session_timeout_us, member.rebalance_timeout_us = (
            request.session_timeout_us,
            request.rebalance_timeout_us,
        )
        rule = "kafka.group.rejoin"
    member.awaits_join = True
    out.deadline(
        session_name(group, member.member_id),
        now_us + (NEW_MEMBER_JOIN_TIMEOUT_US if member.is_new else member.session_timeout_us),
    )
    if group.state != PREPARING:
        prepare_rebalance(group, rule, now_us, out)
    complete_if_all_joined(group, now_us, out)


def prepare_rebalance(group: Group, rule: str, now_us: int, out: Outbox) -> None:
    """The group prepares a rebalance. Members learn it from the answers to their heartbeats; who waits in
    SyncGroup, at once."""
    was = group.state
    group.enter(REBALANCE)
    if was == COMPLETING:
        for member in group.members.values():
            member.assignment = []
            if member.awaits_sync:
                member.awaits_sync = False
                member.answer(r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []), out)
    out.cancel(sync_name(group))
    if was == EMPTY:
        delay_us = min(
            INITIAL_REBALANCE_DELAY_US, max(group.rebalance_timeout_us(), INITIAL_REBALANCE_DELAY_US)
        )
        group.initial_left_us = max(0, group.rebalance_timeout_us() - delay_us)
        group.has_newcomer = False
        out.deadline(join_name(group), now_us + delay_us)
        group.cause = out.tell(
            "kafka.group.rebalance_started",
            "kafka.group.initial_rebalance_delay",
            {"delay_us": delay_us},
            {"members": len(group.members), "generation": group.generation},
        )
        return
    out.deadline(join_name(group), now_us + group.rebalance_timeout_us())
    group.cause = out.tell(
        "kafka.group.rebalance_started",
        rule,
        {"rebalance_timeout_us": group.rebalance_timeout_us()},
        {"members": len(group.members), "generation": group.generation},
    )


def join_phase_over(group: Group, now_us: int, out: Outbox) -> None:
    """The deadline of the join phase: an initial delay that newcomers prolong, or the rebalance timeout."""
    out.because(group.cause)
    if group.initial_left_us is not None:
        delay_us = min(INITIAL_REBALANCE_DELAY_US, group.initial_left_us)
        if group.has_newcomer and delay_us:
            group.has_newcomer = False
            group.initial_left_us -= delay_us
            out.deadline(join_name(group), now_us + delay_us)
            return
        group.initial_left_us = None
    missing = [member.member_id for member in group.members.values() if not member.awaits_join]
    for member_id in missing:
        out.cancel(session_name(group, member_id))
        group.drop(member_id)
        group.cause = out.tell(
            "kafka.group.member_removed", "kafka.group.rebalance_timeout", {}, {"member_id": member_id}
        )
    complete_join(group, now_us, out)


def complete_if_all_joined(group: Group, now_us: int, out: Outbox) -> None:
    """End the join phase if nobody is missing."""
    if group.state == PREPARING and group.has_all_joined():
        complete_join(group, now_us, out)


def complete_join(group: Group, now_us: int, out: Outbox) -> None:
    """The next generation begins with those who have joined: an answer for everybody, and the list of members
    for the leader."""
    out.cancel(join_name(group))
    group.generation += 1
    if not group.members:
        group.enter(ALL_LEFT)
        return
    group.enter(ALL_JOINED)
    out.because(group.cause)
    group.cause = out.tell(
        "kafka.group.generation_started",
        "kafka.group.all_members_joined",
        {"members": len(group.members)},
        {"generation": group.generation, "leader": group.leader},
    )
    out.deadline(sync_name(group), now_us + group.rebalance_timeout_us())
    for member in group.members.values():
        member.awaits_join = member.is_new = False
        out.deadline(session_name(group, member.member_id), now_us + member.session_timeout_us)
        answer_join(group, member, out)


def answer_join(group: Group, member: Member, out: Outbox) -> None:
    is_leader = group.leader == member.member_id
    members = [(other.member_id, other.subscription) for other in group.members.values()] if is_leader else []
    member.answer(
        r.JoinGroupResponse(
            r.NONE, group.generation, group.protocol, group.leader or "", member.member_id, members
        ),
        out,
    )


def refuse(connection: int, code: int, member_id: str, out: Outbox) -> None:
    out.send(connection, r.JoinGroupResponse(code, r.NO_GENERATION, "", "", member_id, []))

"""SyncGroup: the leader brings the assignment, the others wait for their part of it.

Source: Kafka 3.9 GroupMetadataManager.classicGroupSync; docs/kafka/facts.md.
"""

from __future__ import annotations

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group, session_name, sync_name
from broker_core.kafka.group.join import prepare_rebalance
from broker_core.kafka.group.states import COMPLETING, LEADER_SYNCED, PREPARING, STABLE
from broker_core.sim.node import Outbox


def sync_group(group: Group, connection: int, request: r.SyncGroupRequest, now_us: int, out: Outbox) -> None:
    """Take a SyncGroup. Refused in this order: unknown member, other generation, a rebalance that has begun
    meanwhile."""
    member = group.members.get(request.member_id)
    if member is None:
        out.send(connection, r.SyncGroupResponse(r.UNKNOWN_MEMBER_ID, []))
        return
    if request.generation_id != group.generation:
        out.send(connection, r.SyncGroupResponse(r.ILLEGAL_GENERATION, []))
        return
    out.because(group.cause)
    if group.state == PREPARING:
        out.send(connection, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []))
        return
    member.connection = connection
    if group.state == STABLE:
        out.send(connection, r.SyncGroupResponse(r.NONE, member.assignment))
        return
    member.awaits_sync = True
    if group.leader != request.member_id:
        return
    for known in group.members.values():
        known.assignment = request.assignments.get(known.member_id, [])
    group.enter(LEADER_SYNCED)
    out.cancel(sync_name(group))
    group.cause = out.tell(
        "kafka.group.assigned",
        f"kafka.assignor.{group.protocol}",
        {"members": len(group.members)},
        {
            "generation": group.generation,
            "assignment": {known.member_id: known.assignment for known in group.members.values()},
        },
    )
    for known in group.members.values():
        if known.awaits_sync:
            known.awaits_sync = False
            out.deadline(session_name(group, known.member_id), now_us + known.session_timeout_us)
            known.answer(r.SyncGroupResponse(r.NONE, known.assignment), out)


def sync_phase_over(group: Group, now_us: int, out: Outbox) -> None:
    """The sync deadline: a member that has not synced is removed, and the others begin again."""
    if group.state != COMPLETING:
        return
    out.because(group.cause)
    missing = [member.member_id for member in group.members.values() if not member.awaits_sync]
    for member_id in missing:
        out.cancel(session_name(group, member_id))
        group.drop(member_id)
        group.cause = out.tell(
            "kafka.group.member_removed", "kafka.group.sync_timeout", {}, {"member_id": member_id}
        )
    prepare_rebalance(group, "kafka.group.sync_timeout", now_us, out)

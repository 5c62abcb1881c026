"""Heartbeat: a member shows that it lives, and learns of a rebalance. And what happens when it does not.

`session_over` is where a Kafka lane without a cluster notices a session timeout, as studies and labs from
before the cluster have it; a cluster's lane, which the Stage shows, notices it in `classic/heartbeat.py`, and
for KIP-848 in `consumer/sessions.py`.

Source: Kafka 3.9 GroupMetadataManager.classicGroupHeartbeat, expireClassicGroupMemberHeartbeat;
docs/kafka/facts.md.
"""

from __future__ import annotations

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group, session_name
from broker_core.kafka.group.join import complete_if_all_joined
from broker_core.kafka.group.leave import remove_member
from broker_core.kafka.group.states import PREPARING
from broker_core.sim.node import Outbox


def heartbeat(group: Group, connection: int, request: r.HeartbeatRequest, now_us: int, out: Outbox) -> None:
    """Answer a heartbeat. Refused in this order: unknown member, other generation."""
    member = group.members.get(request.member_id)
    if member is None:
        out.send(connection, r.HeartbeatResponse(r.UNKNOWN_MEMBER_ID))
        return
    if request.generation_id != group.generation:
        out.send(connection, r.HeartbeatResponse(r.ILLEGAL_GENERATION))
        return
    out.deadline(session_name(group, member.member_id), now_us + member.session_timeout_us)
    if group.state == PREPARING:
        # The member learns of the rebalance here and nowhere else.
        out.because(group.cause)
        out.send(connection, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    else:
        out.send(connection, r.HeartbeatResponse(r.NONE))


def session_over(group: Group, member_id: str, now_us: int, out: Outbox) -> None:
    """Nothing was heard of a member for its session timeout. One whose JoinGroup is parked is waiting, not
    silent, once it is known; one that never came back with the id that it was given is no member yet."""
    if group.pending.pop(member_id, None) is not None:
        complete_if_all_joined(group, now_us, out)
        return
    member = group.members[member_id]
    if member.awaits_join and not member.is_new:
        return
    out.blame_silence(member.connection)
    group.cause = out.tell(
        "kafka.group.member_expired",
        "kafka.group.session_timeout",
        {"session_timeout_us": member.session_timeout_us},
        {"member_id": member_id, "partitions": member.assignment},
    )
    remove_member(group, member_id, "kafka.group.session_timeout", now_us, out)

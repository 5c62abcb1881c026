"""OffsetCommit and OffsetFetch: how far the group has come, by partition.

Source: Kafka 3.9 OffsetMetadataManager.validateOffsetCommit; docs/kafka/facts.md. Left out: metadata, expiry,
the offsets topic (groups' issue).
"""

from __future__ import annotations

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group, session_name
from broker_core.kafka.group.states import COMPLETING, EMPTY
from broker_core.sim.node import Outbox


def offset_commit(
    group: Group, connection: int, request: r.OffsetCommitRequest, now_us: int, out: Outbox
) -> None:
    """Store offsets. Refused in this order: unknown member, other generation, an assignment that is not there
    yet. While the group prepares a rebalance the old generation may still commit: that is how members hand
    over. A simple consumer, which never joins, commits without a generation to a group that has no
    members."""
    if request.generation_id < 0 and group.state == EMPTY:
        group.offsets.update(request.offsets)
        out.send(connection, r.OffsetCommitResponse(r.NONE))
        return
    member = group.members.get(request.member_id)
    if member is None:
        code = r.UNKNOWN_MEMBER_ID
    elif request.generation_id != group.generation:
        code = r.ILLEGAL_GENERATION
    elif group.state == COMPLETING:
        code = r.REBALANCE_IN_PROGRESS
    else:
        code = r.NONE
        group.offsets.update(request.offsets)
        out.deadline(session_name(group, member.member_id), now_us + member.session_timeout_us)
    out.send(connection, r.OffsetCommitResponse(code))


def offset_fetch(
    group: Group, connection: int, request: r.OffsetFetchRequest, now_us: int, out: Outbox
) -> None:
    out.send(
        connection,
        r.OffsetFetchResponse({number: group.offsets.get(number, -1) for number in request.partitions}),
    )

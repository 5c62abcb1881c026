"""LeaveGroup: a member leaves on purpose, and the others share its partitions again.

Source: Kafka 3.9 GroupMetadataManager.classicGroupLeave; docs/kafka/facts.md.
"""

from __future__ import annotations

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group, session_name
from broker_core.kafka.group.join import complete_if_all_joined, prepare_rebalance
from broker_core.kafka.group.states import PREPARING
from broker_core.sim.node import Outbox


def leave_group(
    group: Group, connection: int, request: r.LeaveGroupRequest, now_us: int, out: Outbox
) -> None:
    if group.pending.pop(request.member_id, None) is not None:
        out.cancel(session_name(group, request.member_id))
        out.send(connection, r.LeaveGroupResponse(r.NONE))
        complete_if_all_joined(group, now_us, out)
        return
    if request.member_id not in group.members:
        out.send(connection, r.LeaveGroupResponse(r.UNKNOWN_MEMBER_ID))
        return
    group.cause = out.tell("kafka.group.member_left", None, {}, {"member_id": request.member_id})
    out.send(connection, r.LeaveGroupResponse(r.NONE))
    remove_member(group, request.member_id, "kafka.group.leave", now_us, out)


def hang_up(group: Group, connection: int) -> None:
    """A connection closed: its members stay until their sessions are over, and are answered no more."""
    for member in group.members.values():
        if member.connection == connection:
            member.connection = 0


def forget_pending(group: Group, connection: int, now_us: int, out: Outbox) -> None:
    """A connection closed: an id that was given out on it, and with which nobody has joined, goes too.

    Kafka keeps such an id for the session timeout, and a join phase waits for it: a program that is stopped
    before it hears its id holds up its group for that long. Ours does not keep it, because only that
    connection was ever told of it.
    """
    for member_id in [member_id for member_id, given_on in group.pending.items() if given_on == connection]:
        del group.pending[member_id]
        out.cancel(session_name(group, member_id))
        complete_if_all_joined(group, now_us, out)


def remove_member(group: Group, member_id: str, rule: str, now_us: int, out: Outbox) -> None:
    """A member goes; who is left rebalances, or has now all joined."""
    out.cancel(session_name(group, member_id))
    group.drop(member_id)
    if group.state != PREPARING:
        prepare_rebalance(group, rule, now_us, out)
    complete_if_all_joined(group, now_us, out)

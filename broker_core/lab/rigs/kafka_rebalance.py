"""What is true of a rebalance at one moment: who has joined, what is paused, who holds it up.

    announced -> joining, member by member -> assigned, while members with a record in hand still give up what moves -> over

Nothing is paused before a member has learnt of the rebalance from its heartbeat and acted on it; eager members then pause all they
have, one after the other, cooperative ones only what moves.
"""

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.kafka.group.coordinator import COMPLETING, PREPARING
from broker_core.lab.rigs.kafka_pause import paused_count

if TYPE_CHECKING:
    from broker_core.lab.rigs.kafka_group import KafkaGroupRig

HOLD_UPS = ("kafka.held_up", "kafka.leader_silent")
"""Everybody waits for one who is silent, until its session times out."""


def rebalance_sentence(rig: "KafkaGroupRig", consumer: str, count: int = 1) -> Json:
    """`{"code", "params"}` for the rebalance that runs now. consumer: whose coming or going began it; count: how many came with it.

    Numbers: `joined` of `members` members' JoinGroup requests wait, `paused` of `partitions` partitions are read by nobody.
    """
    group = rig.group
    joined = sum(group.members.values())
    params: Json = {
        "consumer": consumer, "count": count, "members": len(group.members), "joined": joined, "paused": paused_count(rig),
        "partitions": len(rig.partitions), "silent": None,
    }  # fmt: skip
    silent = [client.name for client in rig.clients.values() if not rig.is_alive(client)]
    if group.state == COMPLETING:
        # Everybody has joined; the leader, who should bring the assignment, is the one who is silent.
        return {"code": "kafka.leader_silent", "params": params | {"silent": rig.name_of(group.leader)}}
    if group.state != PREPARING:
        return {"code": "kafka.handing_over", "params": params}
    waited_for = [client.name for client in rig.clients.values() if not group.members[client.member_id] and client.name in silent]
    if waited_for and len(waited_for) == len(group.members) - joined:
        return {"code": "kafka.held_up", "params": params | {"silent": waited_for[0]}}
    if rig.assignor.cooperative:
        return {"code": "kafka.cooperating" if params["paused"] else "kafka.cooperating_unpaused", "params": params}
    return {"code": "kafka.rebalancing" if params["paused"] else "kafka.announced", "params": params}

"""What is true of a rebalance at one moment: who has joined, what is paused, who holds it up.

    announced -> joining, member by member -> assigned, while members with a record in hand still give up what
    moves -> over

Nothing is paused before a member has learnt of the rebalance from its heartbeat and acted on it; eager
members then pause all they have, one after the other, cooperative ones only what moves.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.core import IN, SYNCING
from broker_core.kafka.group.classic.states import COMPLETING, PREPARING
from broker_core.lab.kafka.group import Shared, consumer_state
from broker_core.sim.slot import RUNNING

HOLD_UPS = ("kafka.held_up", "kafka.held_up_first", "kafka.leader_silent", "kafka.leader_silent_first")
"""Everybody waits for one who is silent, until its session times out; first: no partition has had a consumer
yet, so none is paused."""


def rebalance_sentence(shared: Shared, paused: int, cooperative: bool, consumer: str, count: int = 1) -> Json:
    """`{"code", "params"}` for the rebalance that runs now. paused: partitions that are. consumer: whose
    coming or going began it; count: how many came with it.

    Numbers: `joined` of `members` members' JoinGroup requests wait, `paused` of `partitions` partitions are
    read by nobody.
    """
    group, members = shared.group, shared.group.members.values()
    joined = sum(member.awaits_join for member in members)
    params: Json = {
        "consumer": consumer, "count": count, "members": len(members), "joined": joined, "paused": paused,
        "partitions": len(shared.logs), "silent": None,
    }  # fmt: skip
    if group.state == COMPLETING:
        params["joined"] = len(members)
        leader = group.members.get(group.leader or "")
        if leader is not None and not shared.is_alive(leader):
            # Everybody has joined; the leader, who should bring the assignment, is the one who is silent.
            return hold_up("kafka.leader_silent", leader.client_id, shared.readers, params)
    elif group.state == PREPARING:
        missing = [member for member in members if not member.awaits_join]
        silent = [member for member in missing if not shared.is_alive(member)]
        if silent and len(silent) == len(missing):
            return hold_up("kafka.held_up", silent[0].client_id, shared.readers, params)
    elif not is_starting(shared):
        params["joined"] = len(members)
        if not cooperative:
            return {"code": "kafka.handing_over", "params": params}
    if cooperative:
        return {"code": "kafka.cooperating" if paused else "kafka.cooperating_unpaused", "params": params}
    return {"code": "kafka.rebalancing" if paused else "kafka.announced", "params": params}


def hold_up(code: str, silent: str, readers: Mapping[int, object], params: Json) -> Json:
    """The sentence that all wait for this one, who is silent. readers: partition -> who reads it now."""
    is_first = not readers and not params["paused"]
    return {"code": f"{code}_first" if is_first else code, "params": params | {"silent": silent}}


def is_starting(shared: Shared) -> bool:
    """Whether a rebalance is on its way that the coordinator does not know of yet: the request that begins it
    is under way."""
    if any(shared.slot_of(member) is None for member in shared.group.members.values()):
        return True
    programs = (consumer_state(slot).member for slot in shared.programs if slot.condition == RUNNING)
    return any(member.must_rejoin or member.phase not in (SYNCING, IN) for member in programs)

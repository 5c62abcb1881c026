"""What a master does in a cycle for a server-balanced group: plan, and bring the plan to the consumers as events.

A consumer hears of one event with the answer to a heartbeat, once, and reports with a later one that it is done.
While one member of a group has still to disconnect, none is asked to connect: that is what keeps a partition with one
owner. A group with open events is left out of balancing; ten cycles later they are thrown away.
Source: TubeMQ (InLong a6c7a6a670) TMaster.processRebalance, processResetbalance, getNeedToBalanceGroups,
ConsumerEventManager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_core.tubemq import requests as r
from broker_core.tubemq.bound_groups import bound_plan, is_binding
from broker_core.tubemq.group import CLIENT_REBALANCE, UNBOUND, Group, Member
from broker_core.tubemq.metadata import expand_topic_meta
from broker_core.tubemq.server_balance import Plan, by_hash, change_to, in_runs, next_cycle

EVENT_CYCLES_MAX = 10
RECORDED, ARTICLE = "recorded", "article"
"""Rules of server-side balance: the code's, and the one that the article names (hash modulo)."""


def balance(
    group: Group,
    *,
    topic_meta: Iterable[str],
    broker_ids: Iterable[int],
    rule: str,
    is_first: bool,
    allowed_rate: int,
    draw: Callable[[int], int],
) -> None:
    """One cycle of a group. topic_meta, broker_ids: of now. is_first: since the master's start."""
    if group.terms.kind == CLIENT_REBALANCE or is_waiting(group):
        return
    status = expand_topic_meta(topic_meta, set(broker_ids))
    subscribable = [key for key, is_subscribable in status.items() if is_subscribable]
    if is_binding(group):
        ask(group, bound_plan(group, subscribable))
        return
    if group.terms.kind == UNBOUND and not group.check.is_passed(
        subscribable, len(group.members), allowed_rate
    ):
        return
    held = {client_id: member.held for client_id, member in group.members.items()}
    if rule == ARTICLE:
        plan = change_to(by_hash(subscribable, held), held)
    elif is_first:
        plan = change_to(in_runs(subscribable, held), held)
    else:
        plan = next_cycle(held, subscribable, draw)
    ask(group, plan)


def is_waiting(group: Group) -> bool:
    """Whether a member has still to do what an earlier cycle asked of it."""
    if not any(member.events for member in group.members.values()):
        group.cycles_waited = 0
        return False
    if group.cycles_waited < EVENT_CYCLES_MAX:
        group.cycles_waited += 1
        return True
    for member in group.members.values():
        member.events.clear()
    group.cycles_waited = 0
    return False


def ask(group: Group, plan: Plan) -> None:
    """Make the plan into events: first those who lose, then those who gain. The kind says who does both."""
    both = plan.disconnect.keys() & plan.connect.keys()
    for changes, kind, alone in (
        (plan.disconnect, r.DISCONNECT, r.ONLY_DISCONNECT),
        (plan.connect, r.CONNECT, r.ONLY_CONNECT),
    ):
        for client_id, keys in changes.items():
            group.event_id += 1
            event = r.ConsumerEvent(group.event_id, kind if client_id in both else alone, keys)
            group.members[client_id].events.append(event)


def report(group: Group, member: Member, request: r.HeartRequestC2M) -> r.ConsumerEvent | None:
    """A member says what it holds and what it has done. Gives what it is to do next, if it may already."""
    if request.partitions is not None:
        member.held = request.partitions[:]
    if request.done > 0:
        group.is_allocated = True
        del member.events[:1]  # the first, whichever was carried out
    if not member.events or member.events[0].event_id == member.pushed:
        return None
    event = member.events[0]
    if not is_loss(event) and any(any(map(is_loss, other.events)) for other in group.members.values()):
        return None
    member.pushed = event.event_id
    return event


def is_loss(event: r.ConsumerEvent) -> bool:
    return event.kind in (r.DISCONNECT, r.ONLY_DISCONNECT)

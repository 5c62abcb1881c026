"""The master: who is in which group, and which partitions a topic has. It balances nothing for a client-balanced
group; for the others, see `balancing.py`.

A member that does not agree with its group is refused (`group.py`); the dead are members until the master has not
heard of them for 30 s. Clean joins and leaves are reported by the client itself. What is configured, and what of it
may be subscribed, reaches a group once a cycle.

    standby ─TakeOver─► active: knows the configuration (its store is replicated), and of groups nothing: its clients
       ▲                   │    get 411 with their next heartbeat, register, and say what they hold
       └─────StepDown──────┘

A standby master answers no client of a group. Which one is active the replicated store elects. How it does is no part of
what was recorded; here a standby that has lost the active one is elected ELECTION_US later, and a person may have them
change places.
Source: TubeMQ (InLong a6c7a6a670) TMaster, ConsumeGroupInfo; docs/tubemq/facts.md, "Master".
Left out: users' passwords, the store's replication.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.tubemq import bound_groups, waits
from broker_core.tubemq import requests as r
from broker_core.tubemq.balancing import RECORDED, balance, report
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.configuration import ConfiguredBroker, deployed_topics, topic_meta
from broker_core.tubemq.group import CLIENT_REBALANCE, Group, Member
from broker_core.tubemq.metadata import UNDEFINED
from broker_core.tubemq.queries import client_balance_groups, group_detail
from broker_core.tubemq.registration import Register, terms_of, topics_refusal
from broker_core.tubemq.server_balance import ALLOWED_RATE

BALANCE_PERIOD_US = 30 * SECOND_US
"""consumerBalancePeriodMs of the shipped master.ini; the code's own default is 60 s."""
ELECTION_US = 5 * SECOND_US
"""From the death of the active master to the standby's election: the lab's own, for what the store needs to miss its
peer and to vote."""
BALANCE, ELECTION = "balance", "election"


class TakeOver(msgspec.Struct, frozen=True, tag="tubemq.master.take_over", array_like=True):
    """The store of the masters has elected this one."""


class StepDown(msgspec.Struct, frozen=True, tag="tubemq.master.step_down", array_like=True):
    """It has elected another one."""


class PeerLost(msgspec.Struct, frozen=True, tag="tubemq.master.peer_lost", array_like=True):
    """No master is active: this one is alone, and will be elected."""


Order = TakeOver | StepDown | PeerLost


@dataclass(slots=True)
class MasterState:
    """brokers: by id. groups: by name. topic_meta_id: the last number given to a group's metadata,
    by the clock in ms, so that another master gives no number again.
    authorized: topic under access control -> groups that may read it. black_lists: group -> topics that it may not
    subscribe now. started_us: from here cycles are counted. active_us: since when it is active, if it is. balance_rule:
    of server-balanced groups. allowed_rates: group -> brokers for each client at most, where it is not ALLOWED_RATE.
    flow_rules: group -> its rules (`flow_control.parse_rules`), "" -> those of the cluster; flow_id: their number."""

    brokers: dict[int, ConfiguredBroker]
    topic_meta_id: int = 0
    groups: dict[str, Group] = field(default_factory=dict)
    is_standby: bool = False
    authorized: dict[str, list[str]] = field(default_factory=dict)
    black_lists: dict[str, list[str]] = field(default_factory=dict)
    started_us: int = 0
    active_us: int = 0
    balance_rule: str = RECORDED
    allowed_rates: dict[str, int] = field(default_factory=dict)
    flow_rules: dict[str, str] = field(default_factory=dict)
    flow_id: int = UNDEFINED


class Master:
    def __init__(self, state: MasterState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        handler = HANDLERS.get(type(message))
        if handler is not None:
            handler(self.state, connection, message, now_us, out)
        elif type(message) is TakeOver:
            take_over(self.state, now_us, out)
        elif type(message) is StepDown:
            step_down(self.state, out)
        elif type(message) is PeerLost:
            out.deadline(ELECTION, now_us + ELECTION_US)
        elif type(message) not in (Opened, Closed):
            out.send(connection, r.NO_METHOD)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """A cycle is due, or a member's 30 s are over, unless it has been heard of since."""
        if name == BALANCE:
            run_cycle(self.state, now_us, out)
            return
        if name == ELECTION:
            take_over(self.state, now_us, out)
            return
        _, quoted, client_id = name.split(":", 2)
        group_name = unquote(quoted)
        member = self.state.groups[group_name].members[client_id]
        if now_us < member.deadline_us:
            out.deadline(name, member.deadline_us)
            return
        out.blame_silence(member.connection)
        remove(self.state, group_name, client_id)
        out.tell(
            "tubemq.master.consumer_timed_out",
            "tubemq.timeout",
            {"timeout_us": r.TIMEOUT_US},
            {"consumer": host_of(client_id), "client": client_id, "node_id": member.node_id},
        )


def timeout_name(group: str, client_id: str) -> str:
    return f"consumer:{quote(group, safe='')}:{client_id}"


def remove(state: MasterState, group_name: str, client_id: str) -> None:
    """A member goes, and the group with its last one."""
    group = state.groups[group_name]
    del group.members[client_id]
    bound_groups.forget(group, client_id)
    if not group.members:
        del state.groups[group_name]


def take_over(state: MasterState, now_us: int, out: Outbox) -> None:
    """It is the active master from here on; its first cycle is as that after a start."""
    out.cancel(ELECTION)
    if state.is_standby:
        state.is_standby, state.active_us = False, now_us
        out.tell("tubemq.master.took_over", "tubemq.master.elected", {}, {"master": out.name})


def step_down(state: MasterState, out: Outbox) -> None:
    """It answers no client any more, and forgets those that it knew: they will register elsewhere."""
    if state.is_standby:
        return
    for name, group in state.groups.items():
        for client_id in group.members:
            out.cancel(timeout_name(name, client_id))
    out.cancel(BALANCE)
    state.groups.clear()
    state.is_standby = True
    out.tell("tubemq.master.stepped_down", "tubemq.master.elected", {}, {"master": out.name})


def is_first_cycle(state: MasterState, now_us: int) -> bool:
    """Whether this is the first cycle since the master became active. Cycles go on being counted from its start."""
    past = (state.active_us - state.started_us) // BALANCE_PERIOD_US
    return (now_us - state.started_us) // BALANCE_PERIOD_US <= past + 1


def run_cycle(state: MasterState, now_us: int, out: Outbox) -> None:
    """Every group's metadata is computed again, and the server-balanced ones are balanced, as long as there are
    groups."""
    for name, group in state.groups.items():
        refresh(state, name, group, now_us)
        balance(
            group,
            topic_meta=group.topic_meta,
            broker_ids=state.brokers,
            rule=state.balance_rule,
            is_first=is_first_cycle(state, now_us),
            allowed_rate=state.allowed_rates.get(name, ALLOWED_RATE),
            draw=partial(out.draw, "tubemq.balance"),
        )
        waits.note_plan(group, now_us)
    if state.groups:
        out.deadline(BALANCE, now_us + BALANCE_PERIOD_US)


def refresh(state: MasterState, name: str, group: Group, now_us: int) -> None:
    """Compute a group's metadata; other content gets another number."""
    computed = topic_meta(state.brokers, group.terms.topics, state.black_lists.get(name, ()))
    if computed != group.topic_meta:
        state.topic_meta_id = max(state.topic_meta_id + 1, now_us // MILLISECOND_US)
        group.topic_meta, group.topic_meta_id = computed, state.topic_meta_id


def register(state: MasterState, connection: int, request: Register, now_us: int, out: Outbox) -> None:
    if not (r.is_name(request.client_id) and r.is_name(request.group)):
        out.send(connection, r.RegisterResponseM2C(r.BAD_REQUEST))
    elif state.is_standby:
        out.send(connection, r.STANDBY)
    else:
        code = admit(state, connection, request, now_us, out)
        group = state.groups.get(request.group)
        answer = r.RegisterResponseM2C(code, group is None or not group.is_allocated)
        answer.from_max_id = UNDEFINED if group is None else group.from_max_id
        if code == r.SUCCESS:
            add_flow_rules(state, request, answer)
        out.send(connection, answer)


def add_flow_rules(
    state: MasterState,
    request: Register | r.HeartRequestC2M | r.HeartRequestC2MV2,
    answer: r.RegisterResponseM2C | r.HeartResponseM2C,
) -> None:
    """The rules, unless the client has them."""
    answer.flow_id = state.flow_id
    if request.flow_id != state.flow_id:
        answer.flow_rules = [state.flow_rules.get("", ""), state.flow_rules.get(request.group, "")]


def admit(state: MasterState, connection: int, request: Register, now_us: int, out: Outbox) -> int:
    """Take a client into its group, or give the code of the first check that refuses it."""
    code = topics_refusal(request.topics, deployed_topics(state.brokers))
    if code != r.SUCCESS:
        return code
    terms = terms_of(request)
    if terms is None:
        return r.BAD_REQUEST
    if any(request.group not in state.authorized.get(topic, (request.group,)) for topic in terms.topics):
        return r.CONSUME_GROUP_FORBIDDEN
    group = state.groups.get(request.group)
    node_id = request.node_id if isinstance(request, r.RegisterRequestC2MV2) else UNDEFINED
    if group is not None:
        code = group.refusal(request.client_id, terms, node_id)
        if code != r.SUCCESS:
            return code
    else:
        if not state.groups:  # cycles are counted from the master's start
            past = (now_us - state.started_us) // BALANCE_PERIOD_US
            out.deadline(BALANCE, state.started_us + (past + 1) * BALANCE_PERIOD_US)
        group = state.groups[request.group] = Group(terms)
    known = group.members.get(request.client_id)
    member = known or Member(request.client_id, connection, node_id, 0)
    member.connection, member.node_id, member.deadline_us = connection, node_id, now_us + r.TIMEOUT_US
    if request.partitions:
        member.held = request.partitions[:]
    group.members[request.client_id] = member
    if isinstance(request, r.RegisterRequestC2M) and request.require_bound:
        member.required = bound_groups.required_of(request.required_partition)
        bound_groups.choose(group, member)
    out.deadline(timeout_name(request.group, request.client_id), member.deadline_us)
    return r.SUCCESS


def part_meta(
    state: MasterState, connection: int, request: r.GetPartMetaRequestC2M, now_us: int, out: Outbox
) -> None:
    """Topics and brokers, unless the client has them already. 411 for a client that is not a member."""
    if state.is_standby:
        out.send(connection, r.STANDBY)
        return
    if member_of(state, request.group, request.client_id) is None:
        out.send(connection, r.GetPartMetaResponseM2C(r.HB_NO_NODE, UNDEFINED, [], []))
        return
    group = state.groups[request.group]
    if group.topic_meta_id == UNDEFINED:
        refresh(state, request.group, group, now_us)
    answer = r.GetPartMetaResponseM2C(r.SUCCESS, group.topic_meta_id, [], [])
    if request.topic_meta_id != group.topic_meta_id:
        answer.topic_meta, answer.broker_ids = group.topic_meta[:], sorted(state.brokers)
    out.send(connection, answer)


def heartbeat(
    state: MasterState,
    connection: int,
    request: r.HeartRequestC2M | r.HeartRequestC2MV2,
    now_us: int,
    out: Outbox,
) -> None:
    """A member is alive, and says what it holds; a server-balanced one hears what it is to do."""
    if state.is_standby:
        out.send(connection, r.STANDBY)
        return
    member = member_of(state, request.group, request.client_id)
    if member is None:
        out.send(connection, r.HeartResponseM2C(r.HB_NO_NODE))
        return
    member.deadline_us = now_us + r.TIMEOUT_US
    group, event = state.groups[request.group], None
    if isinstance(request, r.HeartRequestC2M):
        event = report(group, member, request)
        waits.note_report(group, member, event, now_us)
    elif request.partitions is not None:
        member.held = request.partitions[:]
    answer = r.HeartResponseM2C(r.SUCCESS, event, not group.is_allocated, from_max_id=group.from_max_id)
    add_flow_rules(state, request, answer)
    out.send(connection, answer)


def close(state: MasterState, connection: int, request: r.CloseRequestC2M, now_us: int, out: Outbox) -> None:
    if member_of(state, request.group, request.client_id) is not None:
        out.cancel(timeout_name(request.group, request.client_id))
        remove(state, request.group, request.client_id)


def query(
    state: MasterState,
    connection: int,
    request: r.QueryConsumeGroupDetail | r.QueryClientBalanceGroupSet,
    now_us: int,
    out: Outbox,
) -> None:
    """An operator asks."""
    if state.is_standby:
        out.send(connection, r.STANDBY)
    elif isinstance(request, r.QueryConsumeGroupDetail):
        out.send(connection, group_detail(request.group, state.groups.get(request.group)))
    else:
        out.send(connection, r.ClientBalanceGroupSet(client_balance_groups(state.groups)))


def set_from_max(
    state: MasterState,
    connection: int,
    request: r.SetClientBalanceGroupConsumeFromMax,
    now_us: int,
    out: Outbox,
) -> None:
    """An operator has a group that balances for itself begin at the end; its members hear of it with their next
    heartbeat."""
    group = state.groups.get(request.group)
    if state.is_standby:
        out.send(connection, r.STANDBY)
    elif group is None or group.terms.kind != CLIENT_REBALANCE:
        out.send(connection, r.ConsumeFromMaxSet(r.NOT_FOUND))
    else:
        group.from_max_id = max(group.from_max_id + 1, now_us // MILLISECOND_US)
        out.send(connection, r.ConsumeFromMaxSet(r.SUCCESS, group.from_max_id))


def member_of(state: MasterState, group_name: str, client_id: str) -> Member | None:
    group = state.groups.get(group_name)
    return None if group is None else group.members.get(client_id)


HANDLERS: Mapping[type, Callable[[MasterState, int, Any, int, Outbox], None]] = MappingProxyType(
    {
        r.RegisterRequestC2MV2: register,
        r.RegisterRequestC2M: register,
        r.GetPartMetaRequestC2M: part_meta,
        r.HeartRequestC2MV2: heartbeat,
        r.HeartRequestC2M: heartbeat,
        r.CloseRequestC2M: close,
        r.QueryConsumeGroupDetail: query,
        r.QueryClientBalanceGroupSet: query,
        r.SetClientBalanceGroupConsumeFromMax: set_from_max,
    }
)

"""The master: who is in which client-balanced group, and which partitions a topic has. It balances nothing
for such a group.

A member is refused whose source count differs from the group's (429) or whose node id another member has
(430); the dead are members until the master has not heard of them for 30 s. Clean joins and leaves are
reported by the client itself.
Source: TubeMQ (InLong a6c7a6a670) TMaster, ConsumeGroupInfo; docs/tubemq/facts.md, "Master".
Left out: server-balanced groups, topic and filter sets, authorisation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.metadata import UNDEFINED


@dataclass(slots=True)
class Member:
    """connection: on which it registered. node_id: UNDEFINED if its group does not count its sources.
    deadline_us: when it counts as dead."""

    client_id: str
    connection: int
    node_id: int
    deadline_us: int


@dataclass(slots=True)
class Group:
    """source_count: the first member's, UNDEFINED for none. members: client id -> member, in order of
    registering."""

    source_count: int = UNDEFINED
    members: dict[str, Member] = field(default_factory=dict)

    def refusal(self, request: r.RegisterRequestC2M) -> int:
        """The code of the first check that fails, SUCCESS if none does.

        >>> group = Group(2, {"a": Member("a", 1, 0, 30_000_000)})
        >>> [group.refusal(r.RegisterRequestC2M("b", "g", count, node)) for count, node in ((3, 1), (2, 0), (2, 1))]
        [429, 430, 200]
        """
        if not (r.is_name(request.client_id) and r.is_name(request.group)):
            return r.BAD_REQUEST
        if request.source_count > 0 and not 0 <= request.node_id < request.source_count:
            return r.BAD_REQUEST
        if not self.members or self.source_count <= 0:
            return r.SUCCESS  # a group whose first member did not count its sources checks nobody
        if request.source_count != self.source_count:
            return r.SOURCE_COUNT_DIFFERS
        others = [member for client_id, member in self.members.items() if client_id != request.client_id]
        return r.NODE_ID_TAKEN if any(member.node_id == request.node_id for member in others) else r.SUCCESS


@dataclass(slots=True)
class MasterState:
    """topic_meta: entries as `metadata.expand_topic_meta` reads them; topic_meta_id: their number, raised
    with each change."""

    topic_meta: list[str]
    broker_ids: list[int]
    topic_meta_id: int = 1
    groups: dict[str, Group] = field(default_factory=dict)


class Master:
    def __init__(self, state: MasterState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        handler = HANDLERS.get(type(message))
        if handler is not None:
            handler(self.state, connection, message, now_us, out)
        elif type(message) not in (Opened, Closed):
            out.send(connection, r.NO_METHOD)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """A member's 30 s are over, unless it has been heard of since."""
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
    if not group.members:
        del state.groups[group_name]


def register(
    state: MasterState, connection: int, request: r.RegisterRequestC2M, now_us: int, out: Outbox
) -> None:
    group = state.groups.get(request.group) or Group()
    code = group.refusal(request)
    if code == r.SUCCESS:
        if not group.members:
            group.source_count = request.source_count
        state.groups[request.group] = group
        member = Member(request.client_id, connection, request.node_id, now_us + r.TIMEOUT_US)
        group.members[request.client_id] = member
        out.deadline(timeout_name(request.group, request.client_id), member.deadline_us)
    out.send(connection, r.RegisterResponseM2C(code))


def part_meta(
    state: MasterState, connection: int, request: r.GetPartMetaRequestC2M, now_us: int, out: Outbox
) -> None:
    """Topics and brokers, unless the client has them already. 411 for a client that is not a member."""
    if member_of(state, request.group, request.client_id) is None:
        out.send(connection, r.GetPartMetaResponseM2C(r.HB_NO_NODE, UNDEFINED, [], []))
    elif request.topic_meta_id == state.topic_meta_id:
        out.send(connection, r.GetPartMetaResponseM2C(r.SUCCESS, state.topic_meta_id, [], []))
    else:
        out.send(
            connection,
            r.GetPartMetaResponseM2C(r.SUCCESS, state.topic_meta_id, state.topic_meta, state.broker_ids),
        )


def heartbeat(
    state: MasterState, connection: int, request: r.HeartRequestC2M, now_us: int, out: Outbox
) -> None:
    member = member_of(state, request.group, request.client_id)
    if member is not None:
        member.deadline_us = now_us + r.TIMEOUT_US
    out.send(connection, r.HeartResponseM2C(r.SUCCESS if member is not None else r.HB_NO_NODE))


def close(state: MasterState, connection: int, request: r.CloseRequestC2M, now_us: int, out: Outbox) -> None:
    if member_of(state, request.group, request.client_id) is not None:
        out.cancel(timeout_name(request.group, request.client_id))
        remove(state, request.group, request.client_id)


def member_of(state: MasterState, group_name: str, client_id: str) -> Member | None:
    group = state.groups.get(group_name)
    return None if group is None else group.members.get(client_id)


HANDLERS: Mapping[type, Callable[[MasterState, int, Any, int, Outbox], None]] = MappingProxyType(
    {
        r.RegisterRequestC2M: register,
        r.GetPartMetaRequestC2M: part_meta,
        r.HeartRequestC2M: heartbeat,
        r.CloseRequestC2M: close,
    }
)

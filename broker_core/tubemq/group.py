"""A consumer group at the master: who is in it, and what all of its members have in common.

The first member sets the group's kind, topics, filters and counts; whoever comes later has to agree, in this order:

    kind 424 ─► topics 425 ─► filters 426 ─► client-balanced, if it counts its sources: count 429 ─► node id 430
                                         └─► bound: session key 427 ─► select big 428 ─► count 429

Source: TubeMQ (InLong a6c7a6a670) ConsumeGroupInfo. Vectors: tubemq/master_register.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.tubemq import requests as r
from broker_core.tubemq.metadata import UNDEFINED
from broker_core.tubemq.server_balance import ResourceCheck

UNBOUND, BOUND, CLIENT_REBALANCE = "unbound", "bound", "client-rebalance"


@dataclass(slots=True)
class Wait:
    """When the member was first given partitions by a cycle, the last loser of them heard of it and reported, and the
    member heard; -1: not yet."""

    planned_us: int = -1
    heard_us: int = -1
    done_us: int = -1
    gained_us: int = -1


@dataclass(slots=True)
class Member:
    """connection: on which it registered. node_id: UNDEFINED if its group does not count its sources.
    deadline_us: when it counts as dead. held: partition keys as it last reported them. events: of a server-balanced
    group, what it has still to do; the first one is open. pushed: id of the last event that it was given. required:
    of a bound group, key -> offset of the partitions that it asks for. wait: of a server-balanced one (`waits.py`)."""

    client_id: str
    connection: int
    node_id: int
    deadline_us: int
    held: list[str] = field(default_factory=list)
    events: list[r.ConsumerEvent] = field(default_factory=list)
    pushed: int = 0
    required: dict[str, int] = field(default_factory=dict)
    wait: Wait = field(default_factory=Wait)


@dataclass(slots=True)
class Terms:
    """What a client brings that all members of a group have to have in common. topics: by name. filters: topic ->
    its filters, by text, of those that have any. session_key, select_big: of bound groups."""

    kind: str = CLIENT_REBALANCE
    topics: list[str] = field(default_factory=list)
    filters: dict[str, list[str]] = field(default_factory=dict)
    source_count: int = UNDEFINED
    session_key: str = ""
    select_big: bool = True


@dataclass(slots=True)
class Group:
    """terms: the first member's. members: client id -> member, in order of registering. topic_meta: what members
    are given, computed at the first query and then once a cycle; topic_meta_id: its number. check: of server-balanced
    groups. cycles_waited: how many cycles have passed it over because of events that are not done. event_id: of the
    last event. chosen: of a bound group, key -> member that gets it. plans: how many plans were made of `chosen`;
    is_allocated: one was carried out by a member. from_max_id: of the operator's last order to consume from the end."""

    terms: Terms
    members: dict[str, Member] = field(default_factory=dict)
    topic_meta: list[str] = field(default_factory=list)
    topic_meta_id: int = UNDEFINED
    check: ResourceCheck = field(default_factory=ResourceCheck)
    cycles_waited: int = 0
    event_id: int = 0
    chosen: dict[str, str] = field(default_factory=dict)
    plans: int = 0
    is_allocated: bool = False
    from_max_id: int = UNDEFINED

    def refusal(self, client_id: str, terms: Terms, node_id: int) -> int:
        """The code of the first rule that a client breaks, SUCCESS if none.

        >>> group = Group(Terms(source_count=2), {"a": Member("a", 1, 0, 30_000_000)})
        >>> [group.refusal("b", Terms(source_count=count), node) for count, node in ((3, 1), (2, 0), (2, 1))]
        [429, 430, 200]
        """
        own = self.terms
        if terms.kind != own.kind:
            return r.CONSUME_KIND_DIFFERS
        if terms.topics != own.topics:
            return r.TOPICS_DIFFER
        if terms.filters != own.filters:
            return r.FILTERS_DIFFER
        if own.kind == BOUND:
            return self.refusal_if_bound(terms)
        if own.kind == UNBOUND or own.source_count <= 0:
            return r.SUCCESS  # a group whose first member did not count its sources checks nobody
        if terms.source_count != own.source_count:
            return r.SOURCE_COUNT_DIFFERS
        others = [member for name, member in self.members.items() if name != client_id]
        return r.NODE_ID_TAKEN if any(member.node_id == node_id for member in others) else r.SUCCESS

    def refusal_if_bound(self, terms: Terms) -> int:
        if terms.session_key != self.terms.session_key:
            return r.SESSION_KEY_DIFFERS
        if terms.select_big != self.terms.select_big:
            return r.SELECT_BIG_DIFFERS
        return r.SUCCESS if terms.source_count == self.terms.source_count else r.SOURCE_COUNT_DIFFERS

"""One classic consumer group at its coordinator: its members, its generation, and what waits for an answer.

The coordinator knows nothing of partitions: the group's leader, a consumer, assigns them. The lane's broker
runs this one, with the steps in `join.py`, `sync.py`, `heartbeat.py`, `leave.py` and `offsets.py`;
`group_coordinator.py` is the other one, which a cluster's brokers host.
Source: Kafka 3.9 ClassicGroup, ClassicGroupMember. Left out until the groups' own issue: static members, the
vote between protocols.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.events import Cause
from broker_core.hashing.java_map import java_order
from broker_core.kafka.assignors.protocol import Subscription
from broker_core.kafka.group.states import EMPTY, next_state
from broker_core.sim.node import Outbox

INITIAL_REBALANCE_DELAY_US = 3 * SECOND_US
NEW_MEMBER_JOIN_TIMEOUT_US = 300 * SECOND_US


@dataclass(slots=True)
class Member:
    """connection: of its last request, on which it is answered; 0 once that has closed. awaits_join,
    awaits_sync: that request of it is parked. is_new: it has not had its first answer. assignment:
    partitions, once the leader has synced."""

    member_id: str
    connection: int
    session_timeout_us: int
    rebalance_timeout_us: int
    subscription: Subscription
    awaits_join: bool = False
    awaits_sync: bool = False
    is_new: bool = True
    assignment: list[int] = field(default_factory=list)

    def answer(self, response: Any, out: Outbox) -> None:
        """Answer a request that was parked; to a closed connection it is lost."""
        if self.connection:
            out.send(self.connection, response)


@dataclass(slots=True)
class Group:
    """members: by id, in the order in which they were added. pending: ids that were given out and with which
    nobody has joined yet -> connection. protocol: name of the assignor. initial_left_us: by how much the
    initial delay may still be prolonged, None while none runs;
    has_newcomer: somebody joined during it. offsets: partition -> committed. cause: the last turning point of
    the group, from which the next one follows."""

    group_id: str
    state: str = EMPTY
    generation: int = 0
    leader: str | None = None
    protocol: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    initial_left_us: int | None = None
    has_newcomer: bool = False
    offsets: dict[int, int] = field(default_factory=dict)
    cause: Cause = field(default_factory=Cause)

    def enter(self, event: str) -> None:
        self.state = next_state(self.state, event)

    def add(self, member: Member) -> None:
        self.members[member.member_id] = member
        if self.leader is None:
            self.leader = member.member_id

    def drop(self, member_id: str) -> Member:
        """Take a member out; if it led, another one leads."""
        member = self.members.pop(member_id)
        if self.leader == member_id:
            # The first key of a java.util.HashMap, so not the one who joined first.
            self.leader = java_order(list(self.members))[0] if self.members else None
        return member

    def rebalance_timeout_us(self) -> int:
        return max((member.rebalance_timeout_us for member in self.members.values()), default=0)

    def has_all_joined(self) -> bool:
        """Whether every member has joined. One that is dead holds up the others until its session or the
        rebalance times out."""
        return (
            self.initial_left_us is None
            and not self.pending
            and all(member.awaits_join for member in self.members.values())
        )


def session_name(group: Group, member_id: str) -> str:
    """The deadline at which a member's session is over."""
    return f"session:{group.group_id}:{member_id}"


def join_name(group: Group) -> str:
    """The deadline at which the join phase ends, even if members are missing."""
    return f"join:{group.group_id}"


def sync_name(group: Group) -> str:
    """The deadline until which everybody must have synced."""
    return f"sync:{group.group_id}"

"""One classic group: its members, its generation, and what waits for an answer.

The coordinator knows nothing of partitions: the group's leader, a consumer, assigns them. The order in which
the original walks its members is that of a java.util.HashMap; it decides who leads after a leader left, so it
is kept. Source: Kafka 3.9 ClassicGroup, ClassicGroupMember. Vectors: kafka/group/classic.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_core.errors import InvariantError
from broker_core.events import Cause
from broker_core.hashing.java_map import java_order
from broker_core.hashing.scala_map import scala_order, scala_tree_order
from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.assignors.subscription_bytes import (
    CONSUMER_PROTOCOL_TYPE,
    SchemaError,
    read_subscription,
)
from broker_core.kafka.group.classic.states import ALL_JOINED, ALL_LEFT, DEAD, EMPTY, STABLE, next_state
from broker_core.kafka.group.codes import FENCED_INSTANCE_ID, UNKNOWN_MEMBER_ID, UNKNOWN_SERVER_ERROR, Refused
from broker_core.kafka.group.messages import (
    DescribedGroupMember,
    JoinGroupMember,
    JoinGroupRequest,
    Protocol,
    RequestContext,
)
from broker_core.kafka.group.records import GroupMetadataKey, GroupMetadataValue, Record, StoredMember


@dataclass(slots=True)
class ClassicMember:
    """protocols: what it offers, in its own order of preference. awaits_join, awaits_sync: that request of it
    is parked.
    is_new: it has not had its first answer. client_host: as Kafka stores it."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: list[Protocol]
    assignment: bytes = b""
    awaits_join: RequestContext | None = None
    awaits_sync: RequestContext | None = None
    is_new: bool = False

    def metadata(self, protocol: str | None) -> bytes:
        """Its subscription for one of its protocols."""
        for offered in self.protocols:
            if offered.name == protocol:
                return offered.metadata
        # The original throws, and the request or the timer that led here fails.
        raise Refused(UNKNOWN_SERVER_ERROR)

    def vote(self, candidates: Iterable[str]) -> str:
        """The candidate that it prefers."""
        for offered in self.protocols:
            if offered.name in candidates:
                return offered.name
        # A member that names a protocol twice is counted twice, so that no protocol is offered by all: the
        # original throws.
        raise Refused(UNKNOWN_SERVER_ERROR)

    @property
    def is_waiting(self) -> bool:
        """Whether it is waiting for us, so that its silence tells nothing."""
        return not self.is_new and (self.awaits_join is not None or self.awaits_sync is not None)

    def described(self, protocol: str | None, assignment: bytes | None = None) -> DescribedGroupMember:
        """How DescribeGroups shows it. protocol: None to leave the subscription out."""
        return DescribedGroupMember(
            self.member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.metadata(protocol) if protocol is not None else b"",
            self.assignment if assignment is None else assignment,
        )


@dataclass(slots=True)
class ClassicGroup:
    """members: by id, in the order in which they were added. static_members: instance id -> member id.
    pending_joins: ids that were given out with MEMBER_ID_REQUIRED; pending_syncs: who has not synced.
    waiting_count: members whose JoinGroup is parked.
    offered_counts: protocol -> how many members offer it. subscribed_topics: None when it is not known, or
    its members are no consumers. initial_delay_ms, initial_left_ms: of the initial delay that is running, and
    by how much it may still be prolonged.
    member_peak: the most members there ever were; Java's map never shrinks. state_since_ms: None if a record
    did not tell.
    is_old: of the old coordinator, whose maps are Scala's. because: what began the rebalance that is being
    prepared."""

    group_id: str
    state: str = EMPTY
    previous_state: str = DEAD
    state_since_ms: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    generation: int = 0
    leader: str | None = None
    members: dict[str, ClassicMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    pending_joins: dict[str, None] = field(default_factory=dict)
    pending_syncs: dict[str, None] = field(default_factory=dict)
    waiting_count: int = 0
    offered_counts: dict[str, int] = field(default_factory=dict)
    subscribed_topics: set[str] | None = None
    has_newcomer: bool = False
    initial_delay_ms: int = 0
    initial_left_ms: int = 0
    member_peak: int = 0
    is_old: bool = False
    because: Cause = field(default_factory=Cause)

    def enter(self, event: str, now_ms: int) -> None:
        """Go where the table of states leads."""
        self.previous_state, self.state = self.state, next_state(self.state, event)
        self.state_since_ms = now_ms

    @property
    def is_empty(self) -> bool:
        return self.state == EMPTY

    @property
    def uses_consumer_protocol(self) -> bool:
        """Whether its members are consumers, so that their subscriptions can be read."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def in_order(self) -> list[ClassicMember]:
        """The members in the order of the original's map."""
        return [self.members[member_id] for member_id in self.order_of_ids()]

    def order_of_ids(self) -> list[str]:
        """The members' ids in the order of the original's map, which is Scala's in the old coordinator."""
        return (scala_order if self.is_old else java_order)(self.members, self.member_peak)

    def supports(self, protocol_type: str, protocols: Iterable[Protocol]) -> bool:
        """Whether a member with these protocols can be in the group: an Empty one takes any, another needs
        one that all members offer."""
        names = {protocol.name for protocol in protocols}
        if self.state == EMPTY:
            return bool(protocol_type and names)
        count = len(self.members)
        return self.protocol_type == protocol_type and any(
            self.offered_counts.get(name, 0) == count for name in names
        )

    def add(self, member: ClassicMember, awaits_join: RequestContext | None) -> None:
        """Take a member in; the first one leads and sets the protocol type."""
        if member.instance_id is not None:
            if member.instance_id in self.static_members:
                raise InvariantError(f"instance {member.instance_id} is in group {self.group_id} already")
            self.static_members[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.protocol_type != member.protocol_type or not self.supports(
            member.protocol_type, member.protocols
        ):
            # A join is checked before; members of a consumer group that becomes a classic one need not agree.
            raise Refused(UNKNOWN_SERVER_ERROR)
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self.member_peak = max(self.member_peak, len(self.members))
        self.count_protocols(member, 1)
        member.awaits_join = awaits_join
        if awaits_join is not None:
            self.waiting_count += 1
        self.pending_joins.pop(member.member_id, None)

    def count_protocols(self, member: ClassicMember, step: int) -> None:
        for protocol in member.protocols:
            self.offered_counts[protocol.name] = self.offered_counts.get(protocol.name, 0) + step

    def update(self, member: ClassicMember, request: JoinGroupRequest) -> None:
        """Take what a member says of itself now."""
        self.count_protocols(member, -1)
        member.protocols = request.protocols
        self.count_protocols(member, 1)
        member.rebalance_timeout_ms, member.session_timeout_ms = (
            request.rebalance_timeout_ms,
            request.session_timeout_ms,
        )

    def drop(self, member_id: str) -> None:
        """Forget a member or a pending id. If it led, the first one in Java's order leads."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self.count_protocols(member, -1)
            if member.awaits_join is not None:
                self.waiting_count -= 1
            if member.instance_id is not None:
                self.static_members.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = self.order_of_ids()[0] if self.members else None
        self.pending_joins.pop(member_id, None)
        self.pending_syncs.pop(member_id, None)

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it joined, else take the first that did. False: there is nobody to lead."""
        if self.leader is None:
            return False
        if self.members[self.leader].awaits_join is not None:
            return True
        for member in self.in_order():
            if member.awaits_join is not None:
                self.leader = member.member_id
                return True
        return False

    def has_all_joined(self) -> bool:
        return len(self.members) == self.waiting_count and not self.pending_joins

    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """Refuse who is not in the group, or was replaced by another process with the same instance id."""
        if instance_id is not None:
            known = self.static_members.get(instance_id)
            if known is None:
                raise Refused(UNKNOWN_MEMBER_ID)
            if known != member_id:
                raise Refused(FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise Refused(UNKNOWN_MEMBER_ID)

    def select_protocol(self) -> str:
        """The vote: each member for its first protocol that all offer; on a tie the first one in Java's order
        wins."""
        count = len(self.members)
        candidates = {name for name, offered in self.offered_counts.items() if offered == count}
        votes: dict[str, int] = {}
        for member in self.in_order():
            choice = member.vote(candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max((scala_tree_order if self.is_old else java_order)(votes), key=votes.__getitem__)

    def begin_generation(self, now_ms: int) -> None:
        """The join phase is over: the next generation, with the protocol that the members chose, or without
        members."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed_topics = self.read_subscribed_topics()
        if self.state == EMPTY:
            # The timer of a group of this name that could not be written. The original counts on before it
            # sees that nothing is to be done.
            raise Refused(UNKNOWN_SERVER_ERROR)
        self.enter(ALL_JOINED if self.members else ALL_LEFT, now_ms)
        self.pending_syncs.clear()

    def read_subscribed_topics(self) -> set[str] | None:
        """The topics of all subscriptions; None for other protocols than consumers', or when one has no
        version or is cut off.

        Refuses, as the original throws, when a length in one does not fit.
        """
        if not self.uses_consumer_protocol:
            return None
        if not self.members:
            return set()
        if self.protocol is None:
            return None
        topics: set[str] = set()
        try:
            for member in self.members.values():
                # The fields of version 0 are all that is looked at, whatever version the member wrote.
                topics.update(read_subscription(member.metadata(self.protocol), version=0).topics)
        except SchemaError:
            return None
        except MalformedBytes:
            raise Refused(UNKNOWN_SERVER_ERROR) from None
        return topics

    def is_subscribed(self, topic: str) -> bool:
        """Whether a member reads `topic`. While that is not known, every topic of a consumers' group
        counts."""
        return (
            self.uses_consumer_protocol if self.subscribed_topics is None else topic in self.subscribed_topics
        )

    def joined_members(self) -> list[JoinGroupMember]:
        """What the leader learns of every member."""
        return [
            JoinGroupMember(m.member_id, m.instance_id, m.metadata(self.protocol)) for m in self.in_order()
        ]

    def to_record(self, assignments: dict[str, bytes] | None = None) -> Record:
        """The group as it is written. assignments: by member; None: those that the members have."""
        members = [
            StoredMember(
                m.member_id,
                m.instance_id,
                m.client_id,
                m.client_host,
                m.rebalance_timeout_ms,
                m.session_timeout_ms,
                m.metadata(self.protocol),
                m.assignment if assignments is None else assignments[m.member_id],
            )
            for m in self.in_order()
        ]
        since_ms = -1 if self.state_since_ms is None else self.state_since_ms
        value = GroupMetadataValue(
            self.protocol_type or "", self.generation, self.protocol, self.leader, since_ms, members
        )
        return Record(GroupMetadataKey(self.group_id), value)

    @classmethod
    def from_value(cls, group_id: str, value: GroupMetadataValue, is_old: bool = False) -> ClassicGroup:
        """The group as the log has it: Stable with members, else Empty."""
        since_ms = None if value.current_state_timestamp == -1 else value.current_state_timestamp
        group = cls(
            group_id,
            STABLE if value.members else EMPTY,
            state_since_ms=since_ms,
            protocol_type=value.protocol_type or None,
            protocol=value.protocol,
            generation=value.generation,
            leader=value.leader,
            is_old=is_old,
        )
        for stored in value.members:
            member = ClassicMember(
                stored.member_id,
                stored.group_instance_id,
                stored.client_id,
                stored.client_host,
                stored.session_timeout if stored.rebalance_timeout == -1 else stored.rebalance_timeout,
                stored.session_timeout,
                value.protocol_type,
                [Protocol(value.protocol or "", stored.subscription)],
                stored.assignment,
            )
            group.add(member, None)
        group.subscribed_topics = group.read_subscribed_topics()
        return group

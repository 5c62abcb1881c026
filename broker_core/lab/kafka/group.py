"""What the nodes of a Kafka cluster's lane say together: the group at its coordinator, the programs, whose a
partition is, where its log ends.

reads   the program is alive and owns the partition now                      a partition that nobody reads is dark
holds   it was assigned the partition last, by the newest generation of those who claim it; so between a revoke and the next assignment
        a partition is still its former owner's, as a person sees it, and with the coordinator's removal of a
        member it is nobody's
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.assignors.custom import CUSTOM, custom_assignor
from broker_core.kafka.assignors.subscription_bytes import read_assignment
from broker_core.kafka.client.group_consumer.core import FAILED, ConsumerState
from broker_core.kafka.client.group_consumer.network import COORDINATOR
from broker_core.kafka.client.group_consumer.settings import CLASSIC
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.rebalance import session_name
from broker_core.kafka.group.classic.states import EMPTY, PREPARING
from broker_core.kafka.group.consumer import sessions
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.runtime import CoordinatorState
from broker_core.kafka.group.topics import topic_id
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.lab.shared.readers import OWN_GROUP
from broker_core.sim.slot import RUNNING, Slot
from broker_core.sim.world import World

GROUP_ID, CONSUMER = OWN_GROUP, "consumer"


@dataclass(slots=True)
class MemberView:
    """A member as its coordinator has it. assignment: partition numbers. awaits_join: its JoinGroup is
    parked. instance_id: of a static one."""

    member_id: str
    client_id: str
    assignment: list[int]
    awaits_join: bool = False
    session_timeout_ms: int = 45_000
    instance_id: str | None = None


@dataclass(slots=True)
class GroupView:
    """The group at its coordinator. generation: or group epoch. pending: ids that were given out and not
    used. offsets: committed.
    is_first: its first members are still being gathered. coordinator: the broker, None while nobody
    coordinates."""

    state: str = EMPTY
    generation: int = 0
    leader: str | None = None
    members: dict[str, MemberView] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    offsets: dict[int, int] = field(default_factory=dict)
    is_first: bool = False
    coordinator: int | None = None


@dataclass(slots=True)
class LogView:
    """A partition's log on its leader; of one without a leader, on who led it last. high_watermark: consumers
    read to there;
    stable: those with read_committed to the last stable offset, where the oldest open transaction begins."""

    start: int
    end: int
    high_watermark: int
    stable: int
    leader: int | None


@dataclass(slots=True)
class Shared:
    """Found once after each change. programs: slots of the consuming programs, alive or silent. by_member:
    member id -> the same.
    readers: partition -> slot of who reads it. holders: of each partition, the program's name."""

    topic: str
    group: GroupView
    logs: list[LogView]
    programs: list[Slot]
    by_member: dict[str, Slot]
    readers: dict[int, Slot]
    holders: list[str | None] = field(default_factory=list)

    def slot_of(self, member: MemberView) -> Slot | None:
        """The program that a member is; None if its node is gone."""
        return self.by_member.get(member.member_id)

    def is_alive(self, member: MemberView) -> bool:
        slot = self.slot_of(member)
        return slot is not None and slot.condition == RUNNING

    def waiting(self, number: int, position: int | None) -> int:
        """Records of a partition that a reader at this position has still to read, of those that are still
        there; None: its position is not known, so it begins at the committed offset."""
        at = self.committed(number) if position is None else position
        return self.logs[number].end - max(at, self.logs[number].start)

    def assigned_to_silent(self) -> int:
        """Partitions that are assigned to silent members: they wait for a session timeout."""
        return sum(
            len(member.assignment) for member in self.group.members.values() if not self.is_alive(member)
        )

    def member_of(self, slot: Slot) -> MemberView | None:
        """The member that a program is at the coordinator."""
        return self.group.members.get(consumer_state(slot).member.member_id)

    def committed(self, number: int) -> int:
        return self.group.offsets.get(number, 0)

    def begins_at(self, number: int) -> int:
        """Where a member that is given the partition finds the next record that is still there."""
        return max(self.committed(number), self.logs[number].start)

    def positions(self) -> dict[int, int]:
        """Of each partition that a program holds, alive or silent, the next offset that it polls."""
        silent_first = sorted(self.programs, key=lambda slot: slot.condition == RUNNING)
        found: dict[int, int] = {}
        for slot in silent_first:
            found |= positions(consumer_state(slot), self.topic)
        return found


def is_cooperative(shared: Shared, otherwise: bool) -> bool:
    """Whether members keep what does not move: all that are alive are of the consumer protocol or ask for
    cooperative assignors alone.
    otherwise: while nobody is alive."""
    settings = [consumer_state(slot).settings for slot in shared.programs if slot.condition == RUNNING]
    if not settings:
        return otherwise
    classic = [each for each in settings if each.group_protocol == CLASSIC]
    assignors = [
        custom_assignor(each.assignor_source) if name == CUSTOM else ASSIGNORS[name]
        for each in classic
        for name in each.assignors or ()
    ]
    return all(assignor.cooperative for assignor in assignors)


def consumer_state(slot: Slot) -> ConsumerState:
    state: ConsumerState = slot.node.state
    return state


def positions(state: ConsumerState, topic: str) -> dict[int, int]:
    """Partition of the topic -> the next offset that the program polls, where it is known."""
    return {
        number: known.position
        for (name, number), known in state.subscribed.assigned.items()
        if name == topic and known.position >= 0
    }


def owned(state: ConsumerState, topic: str) -> list[int]:
    """The partitions of the topic that the program has."""
    return [number for name, number in state.subscribed.assigned if name == topic]


def brokers_of(world: World) -> dict[int, Slot]:
    """The brokers of the cluster, whatever their condition."""
    found: dict[int, Slot] = {}
    for slot in world.slots.values():
        if slot.kind == "broker":
            found[slot.node.state.broker_id] = slot
    return found


def coordinating(world: World, group_id: str = GROUP_ID) -> tuple[Slot, CoordinatorState] | None:
    """The broker that coordinates a group, the lab's, and the coordinator's state; of several that think so,
    who leads by the newest epoch."""
    best: tuple[int, Slot, CoordinatorState] | None = None
    for slot in brokers_of(world).values():
        state: BrokerState = slot.node.state
        count = sum(topic == OFFSETS_TOPIC for topic, _ in state.registrations)
        if slot.condition == RUNNING and count:
            number = coordinator_partition(group_id, count)
            shard, replica = state.groups.shards.get(number), state.replicas.get((OFFSETS_TOPIC, number))
            if (
                shard is not None
                and replica is not None
                and (best is None or replica.partition.leader_epoch > best[0])
            ):
                best = (replica.partition.leader_epoch, slot, shard)
    return None if best is None else best[1:]


def group_of(world: World, topic: str, group_id: str = GROUP_ID) -> GroupView:
    """A group, the lab's, as its coordinator has it; an empty one before anybody has asked for it, or while
    nobody coordinates."""
    found = coordinating(world, group_id)
    if found is None:
        return GroupView()
    slot, state = found
    broker: BrokerState = slot.node.state
    offsets = {
        number: committed.offset
        for (group, name, number), committed in state.offsets.visible.present.items()
        if group == group_id and name == topic
    }
    match state.groups.get(group_id):
        case ClassicGroup() as group:
            members = {
                member.member_id: MemberView(
                    member.member_id,
                    member.client_id,
                    numbers_of(member.assignment, topic),
                    member.awaits_join is not None,
                    member.session_timeout_ms,
                    member.instance_id,
                )
                for member in group.members.values()
            }
            is_first = group.generation == 0 or (group.state == PREPARING and group.previous_state == EMPTY)
            return GroupView(
                group.state,
                group.generation,
                group.leader,
                members,
                list(group.pending_joins),
                offsets,
                is_first,
                broker.broker_id,
            )
        case ConsumerGroup() as group:
            members = {
                member.member_id: MemberView(
                    member.member_id, member.client_id, sorted(member.assigned.get(topic_id(topic), ())),
                    session_timeout_ms=broker.settings.groups.consumer_session_timeout_ms,
                )
                for member in group.members.values()
            }  # fmt: skip
            return GroupView(group.state, group.epoch, None, members, [], offsets, False, broker.broker_id)
    return GroupView(offsets=offsets, coordinator=broker.broker_id)


def numbers_of(assignment: bytes, topic: str) -> list[int]:
    """The partitions in the bytes of an assignment."""
    return (
        [number for name, number in read_assignment(assignment).partitions if name == topic]
        if assignment
        else []
    )


def logs_of(world: World, topic: str, count: int) -> list[LogView]:
    """Each partition's log, as its leader has it. Before the topic is there: empty logs."""
    best: dict[int, tuple[tuple[bool, int, int], LightLog, int | None]] = {}
    for broker_id, slot in brokers_of(world).items():
        state: BrokerState = slot.node.state
        for (name, number), replica in state.replicas.items():
            log = replica.partition.log
            if name != topic or not isinstance(log, LightLog):
                continue
            leads = replica.partition.is_leader and slot.condition == RUNNING
            rank = (leads, replica.partition.leader_epoch, log.log_end_offset)
            if number not in best or rank > best[number][0]:
                best[number] = (rank, log, broker_id if leads else None)
    views = []
    for number in range(count):
        if number in best:
            _, log, leader = best[number]
            views.append(
                LogView(
                    log.log_start_offset,
                    log.log_end_offset,
                    log.high_watermark,
                    log.last_stable_offset,
                    leader,
                )
            )
        else:
            views.append(LogView(0, 0, 0, 0, None))
    return views


def look(world: World, topic: str, count: int) -> Shared:
    """The state of the world's nodes, put together."""
    group = group_of(world, topic)
    programs = [slot for slot in world.slots.values() if slot.kind == CONSUMER]
    by_member = {
        consumer_state(slot).member.member_id: slot
        for slot in programs
        if consumer_state(slot).member.member_id
    }
    # A static member that starts learns its id with the answer to its JoinGroup: until then its instance id
    # alone says whose it is. One that does not poll has forgotten its id when max.poll.interval.ms is over,
    # and sends no LeaveGroup: its place is kept until its session ends.
    nameless = {
        consumer_state(slot).settings.group_instance_id: slot
        for slot in programs if slot.condition == RUNNING and not consumer_state(slot).member.member_id
    }  # fmt: skip
    for member_id, member in group.members.items():
        slot = None if member.instance_id is None else nameless.get(member.instance_id)
        if slot is not None and (member.awaits_join or consumer_state(slot).loop.is_stuck):
            by_member.setdefault(member_id, slot)
    # Of two that claim a partition the member of the group reads it, not who was put out and does not know
    # yet, or who is stuck. A program whose poll() has thrown reads nothing, whatever it had assigned.
    running = [
        slot for slot in programs if slot.condition == RUNNING and consumer_state(slot).member.phase != FAILED
    ]
    running.sort(
        key=lambda slot: (
            consumer_state(slot).member.member_id in group.members,
            not consumer_state(slot).loop.is_stuck,
        )
    )
    readers = {number: slot for slot in running for number in owned(consumer_state(slot), topic)}
    shared = Shared(topic, group, logs_of(world, topic, count), programs, by_member, readers)
    shared.holders = _holders(shared)
    return shared


def _holders(shared: Shared) -> list[str | None]:
    holders: list[str | None] = [None] * len(shared.logs)
    claims: list[tuple[int, str, list[int]]] = []
    for member in shared.group.members.values():
        slot = shared.slot_of(member)
        if slot is not None and slot.condition == RUNNING:
            state = consumer_state(slot)
            taken = [number for name, number in state.member.previous if name == shared.topic] or owned(
                state, shared.topic
            )
            claims.append((state.member.previous_generation, member.client_id, taken))
        else:
            # A silent program takes nothing any more; what it has is what the coordinator believes.
            claims.append((shared.group.generation, member.client_id, member.assignment))
    for _, name, numbers in sorted(claims, key=lambda claim: claim[0]):
        for number in numbers:
            if number < len(holders):
                holders[number] = name
    return holders


_RENEWS = (m.HeartbeatRequest, m.SyncGroupRequest, m.OffsetCommitRequest, m.ConsumerGroupHeartbeatRequest)


def session_ends_us(world: World, shared: Shared, slot: Slot) -> int | None:
    """When the coordinator will find out that this silent program is dead; what it has sent still arrives.
    None: not known yet, because its JoinGroup waits or is under way, and its session begins with the answer,
    or because nobody coordinates the group."""
    member, found = shared.member_of(slot), coordinating(world)
    if member is None or member.awaits_join or found is None:
        return None
    broker, state = found[0], consumer_state(slot)
    number = coordinator_partition(
        GROUP_ID, sum(topic == OFFSETS_TOPIC for topic, _ in broker.node.state.registrations)
    )
    names = (session_name(GROUP_ID, member.member_id), sessions.session_name(GROUP_ID, member.member_id))
    made = next(
        (
            broker.deadlines[name][0]
            for name in (f"group:{number}:{name}" for name in names)
            if name in broker.deadlines
        ),
        0,
    )
    ends_us = next((at_us for at_us, order, _, _ in world.heap if order == made), None)
    connection = state.network.connections.get(COORDINATOR, 0)
    link = slot.links.get(connection)
    if link is None or link.to is not broker:
        return ends_us
    for message, at_us in world.under_way(link):
        if isinstance(message, m.JoinGroupRequest):
            return None
        if isinstance(message, _RENEWS):
            ends_us = at_us + member.session_timeout_ms * 1_000
    return ends_us

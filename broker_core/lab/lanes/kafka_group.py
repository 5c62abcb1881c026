"""What the nodes of a Kafka lane say together: which member is which program, who reads a partition, and
whose it is.

reads   the program is alive and owns the partition now                      a partition that nobody reads is dark
holds   it was assigned the partition last, by the newest generation of those who claim it; so between a revoke and the next assignment
        a partition is still its former owner's, as a person sees it, and with the coordinator's removal of a
        member it is nobody's
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.kafka import requests as r
from broker_core.kafka.broker import BrokerState, PartitionRecords
from broker_core.kafka.client.consumer import ConsumerState
from broker_core.kafka.group.group import Group, Member, session_name
from broker_core.lab.observers.kafka_names import consumer_name
from broker_core.sim.slot import RUNNING, Slot
from broker_core.sim.under_way import under_way
from broker_core.sim.world import World

BROKER, GROUP_ID = "broker", "lab"
CONSUMER = "consumer"


@dataclass(slots=True)
class Shared:
    """Found once after each change. programs: slots of the consuming programs, alive or silent.
    by_connection: connection -> the same;
    members: connection -> member. readers: partition -> slot of who reads it. holders: of each partition, the
    program's name."""

    broker: BrokerState
    group: Group
    programs: list[Slot]
    by_connection: dict[int, Slot]
    members: dict[int, Member]
    readers: dict[int, Slot]
    holders: list[str | None] = field(default_factory=list)

    @property
    def logs(self) -> list[PartitionRecords]:
        return self.broker.logs

    def slot_of(self, member: Member) -> Slot | None:
        """The program that a member is; None if its node is gone."""
        return self.by_connection.get(member.connection)

    def is_alive(self, member: Member) -> bool:
        slot = self.slot_of(member)
        return slot is not None and slot.condition == RUNNING

    def assigned_to_silent(self) -> int:
        """Partitions that are assigned to silent members: they wait for a session timeout."""
        return sum(
            len(member.assignment) for member in self.group.members.values() if not self.is_alive(member)
        )

    def member_of(self, slot: Slot) -> Member | None:
        """The member that a program is at the coordinator."""
        return self.members.get(consumer_state(slot).connection)

    def committed(self, number: int) -> int:
        return self.group.offsets.get(number, 0)

    def positions(self) -> dict[int, int]:
        """Of each partition that a program holds, alive or silent, the next offset that it handles."""
        silent_first = sorted(self.programs, key=lambda slot: slot.condition == RUNNING)
        positions: dict[int, int] = {}
        for slot in silent_first:
            positions |= consumer_state(slot).positions
        return positions


def consumer_state(slot: Slot) -> ConsumerState:
    state: ConsumerState = slot.node.state
    return state


def group_of(world: World) -> Group:
    """The group at its coordinator; an empty one before anybody has asked for it."""
    broker: BrokerState = world.slots[BROKER].node.state
    return broker.groups.get(GROUP_ID) or Group(GROUP_ID)


def look(world: World) -> Shared:
    """The state of the world's nodes, put together."""
    broker: BrokerState = world.slots[BROKER].node.state
    group = group_of(world)
    programs: list[Slot] = []
    by_connection: dict[int, Slot] = {}
    readers: dict[int, Slot] = {}
    for slot in world.slots.values():
        if slot.kind == CONSUMER:
            state = consumer_state(slot)
            programs.append(slot)
            if state.connection:
                by_connection[state.connection] = slot
            if slot.condition == RUNNING:
                for number in state.owned:
                    readers[number] = slot
    members = {member.connection: member for member in group.members.values()}
    shared = Shared(broker, group, programs, by_connection, members, readers)
    shared.holders = _holders(shared)
    return shared


def _holders(shared: Shared) -> list[str | None]:
    holders: list[str | None] = [None] * len(shared.logs)
    claims: list[tuple[int, str, list[int]]] = []
    for member in shared.group.members.values():
        slot = shared.slot_of(member)
        if slot is not None and slot.condition == RUNNING:
            state = consumer_state(slot)
            claims.append((state.assigned, state.client_id, state.previous))
        else:
            # A silent program takes nothing any more; what it has is what the coordinator believes.
            claims.append((shared.group.generation, consumer_name(member.member_id), member.assignment))
    for _, name, numbers in sorted(claims, key=lambda claim: claim[0]):
        for number in numbers:
            holders[number] = name
    return holders


_RENEWS = (r.HeartbeatRequest, r.SyncGroupRequest, r.OffsetCommitRequest)


def session_ends_us(world: World, shared: Shared, slot: Slot) -> int | None:
    """When the coordinator will find out that this silent program is dead; what it has sent still arrives.
    None: not known yet, because its JoinGroup waits or is under way, and its session begins with the
    answer."""
    member = shared.member_of(slot)
    if member is None or member.awaits_join:
        return None
    made = world.slots[BROKER].deadlines.get(session_name(shared.group, member.member_id), (0, None))[0]
    ends_us = next((at_us for at_us, number, _, _ in world.heap if number == made), None)
    link = slot.links.get(member.connection)
    for message, at_us in [] if link is None else under_way(world, link):
        if isinstance(message, r.JoinGroupRequest):
            return None
        if isinstance(message, _RENEWS):
            ends_us = at_us + member.session_timeout_us
    return ends_us

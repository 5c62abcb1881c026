"""The picture of a consumer group: its members as the coordinator has them and as their programs are, its
partitions, its timers, what is said.

    {"state": "Stable", "generation": 3, "members": {"c1": ...}, "partitions": {"0": ...}, "timers": {...},
    "exchanges": {"41": ...}}

Members are keyed by the node of their program (`c1`, in its next life `c1~2`); one whose program is no more,
by its member id. A static member that restarts is one member, with the node of its next life: the coordinator
keeps its place for that one. A classic group has a generation; one of the consumer protocol a group epoch,
the assignment epoch that follows it, and an epoch for each member.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.core import FAILED, ConsumerState
from broker_core.kafka.client.group_consumer.settings import CLASSIC, EARLIEST, READ_UNCOMMITTED
from broker_core.kafka.client.group_consumer.settings import CONSUMER as CONSUMER_PROTOCOL
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import STATE_NAMES, Partitions
from broker_core.kafka.group.decoded import code_name
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.topics import topic_id
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.lab.consumer import CRASHED, GONE
from broker_core.lab.kafka.group import (
    GROUP_ID,
    Shared,
    brokers_of,
    consumer_state,
    coordinating,
    numbers_of,
)
from broker_core.lab.kafka.readers import readers_view
from broker_core.lab.kafka.views.cluster import is_shown, partition_name
from broker_core.lab.kafka.views.group_timers import timers_view
from broker_core.lab.kafka.views.group_verbs import (
    group_partition_verbs,
    group_verbs,
    member_verbs,
    partition_verbs,
)
from broker_core.plain import to_plain
from broker_core.sim.slot import RUNNING, Slot
from broker_core.sim.world import World

if TYPE_CHECKING:
    from broker_core.lab.kafka.faults import ClusterNotes
    from broker_core.lab.kafka.passed_over import PassedOver
    from broker_core.lab.kafka.reading import KafkaClusterReading
    from broker_core.lab.shared.lane import Lane

EXCHANGES_US = 120_000_000
"""How far back the exchanges of a view reach."""
Group = ClassicGroup | ConsumerGroup | None


def group_view(lane: Lane, reads: KafkaClusterReading, notes: ClusterNotes) -> Json:
    """The whole picture. While nobody coordinates there are programs and no members; state and generation are
    None, as nobody knows them."""
    shared = reads.look()
    group = known_group(lane.world)
    keys = member_keys(shared, group)
    settings = settings_of(lane.world)
    is_consumer = isinstance(group, ConsumerGroup) or (
        group is None and lane.options.get("group_protocol") == CONSUMER_PROTOCOL
    )
    return {
        "group_id": GROUP_ID,
        "topic": reads.topic,
        "topics": topics_of(lane.world),
        "protocol": "consumer" if is_consumer else "classic",
        "is_cooperative": reads.is_cooperative() and not is_consumer,
        "is_old": settings.is_old,
        "assignor": assignor_of(group, settings),
        "is_own": "assignor_source" in lane.set_to,
        "isolation_level": lane.options.get("isolation_level", READ_UNCOMMITTED),
        "auto_offset_reset": lane.options.get("auto_offset_reset", EARLIEST),
        "state": None if shared.group.coordinator is None else shared.group.state,
        "coordinator": shared.group.coordinator,
        "offsets_partition": offsets_partition(lane.world),
        "generation": None if shared.group.coordinator is None else shared.group.generation,
        "assignment_epoch": group.assignment_epoch if isinstance(group, ConsumerGroup) else None,
        "pending": len(shared.group.pending),
        "members": members_view(lane, shared, group, keys, reads.topic),
        "partitions": partitions_view(shared, notes.paused_us, keys, notes.passed),
        "timers": timers_view(lane.world, group, keys, shared.programs, settings),
        "groups": readers_view(lane, shared),
        "exchanges": notes.traffic.view(lane.now_us - EXCHANGES_US),
        "verbs": group_verbs(),
        "partition_verbs": group_partition_verbs(),
        "delay_us": lane.delay_us,
    }  # fmt: skip


def known_group(world: World) -> Group:
    """The group at its coordinator; None before it is there, or while nobody coordinates."""
    found = coordinating(world)
    return None if found is None else found[1].groups.get(GROUP_ID)


def topics_of(world: World) -> list[str]:
    """The topics of the cluster that can be subscribed to."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    return [name for name in controller.rules.topics if is_shown(name)]


def settings_of(world: World) -> GroupSettings:
    """What the coordinators are set to; all brokers are set alike."""
    settings: GroupSettings = next(iter(brokers_of(world).values())).node.state.settings.groups
    return settings


def offsets_partition(world: World) -> int | None:
    """The partition of the offsets topic that keeps the group; None before the topic is there."""
    for slot in brokers_of(world).values():
        count = sum(topic == OFFSETS_TOPIC for topic, _ in slot.node.state.registrations)
        if count:
            return coordinator_partition(GROUP_ID, count)
    return None


def assignor_of(group: Group, settings: GroupSettings) -> str | None:
    """Who shares the partitions out: the strategy that a classic group has elected, or the server's assignor;
    None before."""
    if isinstance(group, ClassicGroup):
        return group.protocol
    return (
        None
        if group is None or not group.members
        else group.preferred_assignor() or settings.consumer_assignors[0]
    )


def member_keys(shared: Shared, group: Group) -> dict[str, str]:
    """Member id -> its key in the view."""
    ids = () if group is None else group.members
    slots = {**next_lives(shared, group), **shared.by_member}
    return {member_id: slots[member_id].name if member_id in slots else member_id for member_id in ids}


def next_lives(shared: Shared, group: Group) -> dict[str, Slot]:
    """Id of a static member whose process is over -> the process that starts under its group.instance.id and
    has not joined yet."""
    starting = {
        consumer_state(slot).settings.group_instance_id: slot
        for slot in shared.programs
        if slot.condition == RUNNING
        and not consumer_state(slot).member.member_id
        and consumer_state(slot).member.phase != FAILED
    }
    members = {} if group is None else group.members
    return {
        member_id: starting[member.instance_id]
        for member_id, member in members.items()
        if member_id not in shared.by_member
        and member.instance_id is not None
        and member.instance_id in starting
    }


def members_view(lane: Lane, shared: Shared, group: Group, keys: Mapping[str, str], topic: str) -> Json:
    """Members in the order in which they came, then programs that are no member yet, or no more, then
    consumers of which nothing is left. A dead process that is no member any more is not shown beside its next
    life."""
    views: Json = {}
    starting = next_lives(shared, group)
    members = {} if group is None else group.members
    for member_id, key in keys.items():
        views[key] = {
            "consumer": members[member_id].client_id,
            "member_id": member_id,
            "instance_id": members[member_id].instance_id,
            **at_coordinator(group, member_id, topic),
            **of_program(shared.by_member.get(member_id), topic),
        }
        if member_id in starting:
            views[key] |= {
                name: of_program(starting[member_id], topic)[name] for name in ("topics", "pattern")
            }
    for slot in shared.programs:
        state = consumer_state(slot)
        whose = lane.consumers.get(state.settings.client_id)
        is_former = slot.condition != RUNNING and whose is not None and whose.incarnation != slot.name
        if slot.name not in views and not is_former:
            views[slot.name] = {
                "consumer": state.settings.client_id,
                "member_id": None,
                "instance_id": state.settings.group_instance_id,
                **OUTSIDE,
                **of_program(slot, topic),
            }
    shown = {view["consumer"] for view in views.values()}
    for name, consumer in lane.consumers.items():
        if consumer.state in (CRASHED, GONE) and name not in shown:
            views[consumer.incarnation] = {
                "consumer": name,
                "member_id": None,
                "instance_id": None,
                **OUTSIDE,
                **of_program(None, topic),
                "condition": CRASHED,
            }
    for key, view in views.items():
        whose = lane.consumers.get(view["consumer"])
        view["verbs"] = [] if whose is None or whose.incarnation != key else member_verbs(whose)
        view["partition_verbs"] = [] if whose is None or whose.incarnation != key else partition_verbs(whose)
    return views


OUTSIDE: Json = {
    "is_leader": False,
    "awaits": None,
    "epoch": None,
    "state": None,
    "assigned": [],
    "target": None,
    "revoking": [],
    "assignors": [],
    "protocol": None,
}
"""Of a program that is no member at the coordinator."""


def at_coordinator(group: Group, member_id: str, topic: str) -> Json:
    """A member as its coordinator has it. epoch: in the consumer protocol, of the target that it has taken
    up; target: what it is to have in the end, revoking: what it was told to give up. awaits: a request of it
    is parked. protocol: what it speaks; in a group of the consumer protocol the coordinator assigns to the
    classic members, too, and asks none of their assignors."""
    if isinstance(group, ClassicGroup):
        member = group.members[member_id]
        awaits = (
            "join" if member.awaits_join is not None else "sync" if member.awaits_sync is not None else None
        )
        return {
            "is_leader": group.leader == member_id, "awaits": awaits, "epoch": None, "state": None,
            "assigned": sorted(numbers_of(member.assignment, topic)), "target": None, "revoking": [],
            "assignors": [offered.name for offered in member.protocols], "protocol": CLASSIC,
        }  # fmt: skip
    assert group is not None
    consumer = group.members[member_id]
    return {
        "is_leader": False,
        "awaits": None,
        "epoch": consumer.epoch,
        "state": STATE_NAMES[consumer.state],
        "assigned": numbers_in(consumer.assigned, topic),
        "target": sorted(group.target_of(member_id).get(topic_id(topic), ())),
        "revoking": numbers_in(consumer.revoking, topic),
        "assignors": [] if consumer.server_assignor is None else [consumer.server_assignor],
        "protocol": CONSUMER_PROTOCOL if consumer.classic is None else CLASSIC,
    }


def numbers_in(partitions: Partitions, topic: str) -> list[int]:
    return sorted(partitions.get(topic_id(topic), ()))


def of_program(slot: Slot | None, topic: str) -> Json:
    """The consuming program behind a member. condition: of its process, "gone" if there is none. generation:
    or epoch, as it knows it.
    paused: what it owns and has paused.
    topics: that it subscribes to, pattern: by which regular expression, None: by name.
    is_starting: its process comes up. is_searching: it knows of no coordinator. finished: records that this
    life has handled. failed: with which error or exception poll() ended it; "" for an exception of its
    assignor, whose fault it is then: {"line", "reason", "code", "params"}."""
    if slot is None:
        return {
            "condition": "gone",
            "phase": None,
            "generation": None,
            "owned": [],
            "paused": [],
            "topics": [],
            "pattern": None,
            "is_stuck": False,
            "is_starting": False,
            "is_searching": False,
            "finished": None,
            "failed": None,
            "fault": None,
        }
    state = consumer_state(slot)
    return {
        "condition": slot.condition,
        "phase": state.member.phase,
        "generation": state.member.generation,
        "owned": sorted(number for name, number in state.owned if name == topic),
        "paused": paused_in(state, topic),
        "topics": list(state.subscribed.topics),
        "pattern": state.settings.pattern,
        "is_stuck": state.loop.is_stuck,
        "is_starting": state.loop.is_booting,
        "is_searching": state.coordinator.node_id < 0,
        "finished": state.program.finished,
        "failed": None
        if state.member.phase != FAILED
        else code_name(state.member.code)
        if state.member.code
        else state.member.exception,
        "fault": None if state.member.fault is None else to_plain(state.member.fault),
    }


def paused_in(state: ConsumerState, topic: str) -> list[int]:
    """The partitions that the program owns and has paused."""
    return sorted(
        number
        for (name, number), known in state.subscribed.assigned.items()
        if name == topic and known.is_paused
    )


def partitions_view(
    shared: Shared, paused_us: Mapping[int, int], keys: Mapping[str, str], passed: PassedOver
) -> Json:
    """Each partition. owner: key of the member that reads it now, None: nobody does, since dark_us. given:
    whose it is by the coordinator.
    passed_over: records that the group's position jumped beyond, and nobody has read.
    Lag is in the group's health (`kafka/views/group_health.py`)."""
    given = {
        number: keys.get(member_id)
        for member_id, member in shared.group.members.items()
        for number in member.assignment
    }
    known = shared.positions()
    readers = {number: slot.name for number, slot in shared.readers.items()}
    views: Json = {}
    for number, log in enumerate(shared.logs):
        views[str(number)] = {
            "owner": readers.get(number),
            "given": given.get(number),
            "dark_us": None if number in readers else paused_us.get(number),
            "start": log.start,
            "end": log.end,
            "high_watermark": log.high_watermark,
            "stable": log.stable,
            "leader": log.leader,
            "committed": shared.group.offsets.get(number),
            "position": known.get(number),
            "passed_over": passed.count(partition_name(shared.topic, number)),
        }
    return views

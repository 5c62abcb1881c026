"""How a consumer group is: lag in records and in time, a status with the rule that decided it, and what holds
the group up.

    passed_over  records of all topics that the group's position jumped beyond, and nobody has read
    lag          to the high watermark, as Kafka's tools have it        stable_lag   to the last stable offset: what read_committed may read

    {"lag": 12, "status": "warning", "partitions": {"0": {"lag": 12, "lag_us": 400000, "status": "warning",
    "rule": "falling", "commits": [...]}},
     "findings": [{"code": "stuck_owner", "member": "c2", "timer": "max.poll.interval.ms", "ends_us":
     61000000, ...}],
     "history": {"12": [5, 7]},                           the lag in each partition at the end of the last seconds
     "owned": {"c1": ["flights-0", "audit-1"]}}          what each program believes to own, of all topics

The rules: `broker_core/kafka/group/lag.py`, `broker_core/kafka/group/diagnosis.py`. Here only what the nodes
know is gathered for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.classic import HEARTBEAT
from broker_core.kafka.client.group_consumer.core import CLOSING, FAILED, IN, METADATA, ConsumerState
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.group import diagnosis as d
from broker_core.kafka.group.classic import rebalance
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer import sessions
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import STATIC_LEAVE_EPOCH, ConsumerMember
from broker_core.kafka.group.lag import FALLING, OK, STOPPED, WINDOW, Status, lag_of, status_of, worst
from broker_core.kafka.group.topics import topic_id
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.lab.kafka.group import (
    GROUP_ID,
    Shared,
    brokers_of,
    consumer_state,
    coordinating,
    owned,
)
from broker_core.lab.kafka.views.group import offsets_partition, paused_in
from broker_core.lab.kafka.views.takeover import takeover_us
from broker_core.sim.slot import PAUSED, RUNNING, Slot
from broker_core.sim.world import World

if TYPE_CHECKING:
    from broker_core.lab.kafka.faults import ClusterNotes
    from broker_core.lab.kafka.reading import KafkaClusterReading
    from broker_core.lab.shared.lane import Lane


def health_view(lane: Lane, reads: KafkaClusterReading, notes: ClusterNotes) -> Json:
    """Everything of the group `lab` and the lane's topic."""
    shared, world = reads.look(), lane.world
    now_us = world.now_us + world.design.ahead_us
    partitions: Json = {}
    statuses: dict[int, Status] = {}
    for number, log in enumerate(shared.logs):
        committed = shared.group.offsets.get(number)
        lag = lag_of(log.high_watermark, committed, log.start)
        window = notes.commits.get(number, [])
        status = statuses[number] = status_of(window, lag, now_us // 1_000)
        written_us = record_time_us(world, (reads.topic, number), log.leader, committed) if lag else None
        partitions[str(number)] = {
            "lag": lag,
            "stable_lag": lag_of(log.stable, committed, log.start),
            "lag_us": 0 if not lag else None if written_us is None else max(0, now_us - written_us),
            "status": status.status,
            "rule": status.rule,
            "commits": [
                [commit.at_ms * 1_000 - world.design.ahead_us, commit.offset, commit.lag] for commit in window
            ],
        }
    facts = facts_of(lane, shared, reads.topic, partitions, notes.last_since_us)
    return {
        "lag": sum(part["lag"] for part in partitions.values()),
        "stable_lag": sum(part["stable_lag"] for part in partitions.values()),
        "passed_over": notes.passed.total(),
        "lag_us": max((part["lag_us"] or 0 for part in partitions.values()), default=0),
        "status": worst(status.status for status in statuses.values()),
        "window": WINDOW,
        "partitions": partitions,
        "history": notes.history.lags_view(),
        "findings": [
            {**asdict(finding), "partitions": list(finding.partitions)} for finding in d.diagnose(facts)
        ],
        "owned": {
            consumer_state(slot).settings.client_id: [
                f"{topic}-{number}" for topic, number in consumer_state(slot).owned
            ]
            for slot in shared.programs
            if slot.condition == RUNNING
        },
    }


def record_time_us(
    world: World, partition: tuple[str, int], leader: int | None, offset: int | None
) -> int | None:
    """When the record at an offset was written, by its own time stamp; None where it cannot be read."""
    slot = None if leader is None else brokers_of(world).get(leader)
    if slot is None:
        return None
    replica = slot.node.state.replicas.get(partition)
    log = None if replica is None else replica.partition.log
    if not isinstance(log, LightLog):
        return None
    at = max(offset or 0, log.log_start_offset)
    if at >= log.log_end_offset:
        return None
    batches: Any = log.read(at, 1).data  # of a light log: batches
    return int(batches[0].header.base_timestamp) * 1_000 if batches else None


def facts_of(
    lane: Lane, shared: Shared, topic: str, partitions: Json, since_us: Mapping[int, int]
) -> d.GroupFacts:
    """What the diagnosis asks. partitions: of the view; since_us: since when each has had its owner."""
    found = coordinating(lane.world)
    parts = [
        d.PartitionFacts(
            number,
            shared.holders[number],
            log.leader,
            is_left_behind=partitions[str(number)]["status"] != OK
            and is_left_behind(partitions[str(number)], since_us.get(number, 0), lane.now_us),
            takeover_us=takeover_us(lane.world, topic, number) if log.leader is None else None,
            is_read=number in shared.readers,
            **{name: partitions[str(number)][name] for name in ("lag", "status", "rule")},
        )
        for number, log in enumerate(shared.logs)
    ]
    if found is None:
        kept = offsets_partition(lane.world)
        next_us = None if kept is None else takeover_us(lane.world, OFFSETS_TOPIC, kept)
        return d.GroupFacts(shared.group.state, None, partitions=parts, takeover_us=next_us)
    broker, state = found
    group = state.groups.get(GROUP_ID)
    timers = _Timers(lane.world, broker)
    members: list[d.MemberFacts] = []
    join_us = sync_us = None
    if isinstance(group, ClassicGroup):
        join_us, sync_us = (
            timers.ends_us(rebalance.join_name(GROUP_ID)),
            timers.ends_us(rebalance.sync_name(GROUP_ID)),
        )
        for member_id, member in group.members.items():
            members.append(
                _member(
                    lane.world,
                    shared,
                    topic,
                    member_id,
                    member.client_id,
                    timers.ends_us(rebalance.session_name(GROUP_ID, member_id)),
                    is_classic=True,
                    beat=d.CLASSIC_HEARTBEAT,
                    has_joined=member.awaits_join is not None,
                    has_synced=member_id not in group.pending_syncs,
                    is_leader=group.leader == member_id,
                    is_static=member.instance_id is not None,
                )
            )
    elif isinstance(group, ConsumerGroup):
        for member_id, each in group.members.items():
            members.append(
                _member(
                    lane.world,
                    shared,
                    topic,
                    member_id,
                    each.client_id,
                    timers.ends_us(sessions.session_name(GROUP_ID, member_id)),
                    revokes=tuple(sorted(each.revoking.get(topic_id(topic), ()))),
                    surplus=beyond(each, group, topic),
                    free=free_for(each, group, topic),
                    rebalance_us=timers.ends_us(sessions.rebalance_name(GROUP_ID, member_id)),
                    is_static=each.instance_id is not None,
                    session=d.BROKER_SESSION if each.classic is None else d.SESSION,
                    beat=d.HEARTBEAT if each.classic is None else d.CLASSIC_HEARTBEAT,
                    is_away=each.epoch == STATIC_LEAVE_EPOCH,
                    is_behind=0 <= each.epoch < group.assignment_epoch,
                )
            )
    is_server_assigned = isinstance(group, ConsumerGroup)
    pending = shared.group.pending
    pending_us = max(
        (timers.ends_us(rebalance.session_name(GROUP_ID, member_id)) or 0 for member_id in pending),
        default=None,
    )
    leader = None if shared.group.leader is None else shared.by_member.get(shared.group.leader)
    return d.GroupFacts(
        shared.group.state,
        shared.group.coordinator,
        members,
        parts,
        join_us,
        sync_us,
        shared.group.is_first,
        len(pending),
        pending_us,
        is_unassigned=isinstance(group, ConsumerGroup) and group.assignment_epoch < group.epoch,
        is_server_assigned=is_server_assigned,
        known=None if leader is None else consumer_state(leader).member.counts.get(topic),
        metadata_us=ends_us(lane.world, leader, METADATA),
    )


LATE_US = 10_000_000
"""Two auto.commit.interval.ms, 5 s each by default: commits of rebalances stand closer together, and nobody
is late who commits by the clock."""


def is_left_behind(part: Json, since_us: int, now_us: int) -> bool:
    """Whether the owner of a partition does not keep up, as `PartitionFacts` has it. part: of the view, whose
    status is not ok; since_us: since when it has been the owner."""
    commits = part["commits"]
    if since_us > commits[-2][0]:
        return bool(now_us - since_us > commits[-1][0] - commits[0][0])
    if part["rule"] == STOPPED:
        return bool(now_us - commits[-1][0] > LATE_US)
    return bool(
        part["rule"] != FALLING or (part["lag_us"] is not None and now_us - part["lag_us"] < commits[-2][0])
    )


def _member(
    world: World,
    shared: Shared,
    topic: str,
    member_id: str,
    name: str,
    session_us: int | None,
    *,
    has_joined: bool = True,
    has_synced: bool = True,
    is_leader: bool = False,
    is_static: bool = False,
    revokes: tuple[int, ...] = (),
    surplus: tuple[int, ...] = (),
    free: tuple[int, ...] = (),
    rebalance_us: int | None = None,
    session: str = d.SESSION,
    is_classic: bool = False,
    beat: str = d.HEARTBEAT,
    is_away: bool = False,
    is_behind: bool = False,
) -> d.MemberFacts:
    slot = shared.by_member.get(member_id)
    program = None if slot is None else consumer_state(slot)
    is_back = any(
        other is not slot and other.condition == RUNNING and consumer_state(other).settings.client_id == name
        for other in shared.programs
    )
    is_stuck = program is not None and program.loop.is_stuck and program.is_working
    given = shared.group.members[member_id].assignment
    joins_again = (
        program is not None and is_classic and (program.member.must_rejoin or program.member.phase != IN)
    )
    return d.MemberFacts(
        name,
        process_of(slot, is_static=is_static, is_back=is_back),
        is_stuck,
        is_stuck and program is not None and (is_away or (is_classic and not program.member.is_beating)),
        program is not None and program.member.phase == CLOSING,
        program is None or joins_again,
        joins_again or (program is not None and is_classic and not set(owned(program, topic)) <= set(given)),
        has_joined,
        has_synced,
        is_leader,
        program is None or topic in program.subscribed.topics,
        revokes,
        surplus,
        free,
        is_behind,
        tuple(given),
        () if program is None else tuple(paused_in(program, topic)),
        program is not None and any(name != topic for name, _ in program.owned),
        session,
        beat,
        session_us,
        poll_ends_us(world, program),
        rebalance_us,
        ends_us(world, slot, HEARTBEAT),
    )


def beyond(member: ConsumerMember, group: ConsumerGroup, topic: str) -> tuple[int, ...]:
    """What a member has and is not to have."""
    target = group.target_of(member.member_id).get(topic_id(topic), ())
    return tuple(sorted(member.assigned.get(topic_id(topic), frozenset()).difference(target)))


def free_for(member: ConsumerMember, group: ConsumerGroup, topic: str) -> tuple[int, ...]:
    """What a member is to have and nobody has."""
    had = {
        number
        for other in group.members.values()
        for parts in (other.assigned, other.revoking)
        for number in parts.get(topic_id(topic), ())
    }
    return tuple(
        number
        for number in sorted(group.target_of(member.member_id).get(topic_id(topic), ()))
        if number not in had
    )


def process_of(slot: Slot | None, *, is_static: bool, is_back: bool) -> str:
    """What the diagnosis calls a member's process. A program that has failed is as dead as its machine: it
    beats no more. is_back: a new process runs under its name."""
    if slot is None:
        return d.GONE if is_static else d.GHOST
    if consumer_state(slot).member.phase == FAILED:
        return d.SILENT
    if slot.condition != RUNNING and is_back:
        return d.GHOST
    return d.ALIVE if slot.condition == RUNNING else d.FROZEN if slot.condition == PAUSED else d.SILENT


def poll_ends_us(world: World, program: ConsumerState | None) -> int | None:
    """When max.poll.interval.ms is over for a program that works on a record, virtual time; None for one that
    polls."""
    if program is None or not program.is_working:
        return None
    return program.loop.polled_us - world.design.ahead_us + program.settings.max_poll_interval_ms * 1_000


def ends_us(world: World, slot: Slot | None, deadline: str) -> int | None:
    """When a deadline of a program's own is due: its next heartbeat, its next look at the metadata. None
    where there is none."""
    made = None if slot is None else slot.deadlines.get(deadline)
    return (
        None
        if made is None
        else next(
            (at_us for at_us, order, place, _ in world.heap if place is slot and order == made[0]), None
        )
    )


class _Timers:
    """The timers of the group's coordinator."""

    def __init__(self, world: World, broker: Slot) -> None:
        state: BrokerState = broker.node.state
        number = coordinator_partition(
            GROUP_ID, sum(topic == OFFSETS_TOPIC for topic, _ in state.registrations)
        )
        self.prefix, self.deadlines = f"group:{number}:", broker.deadlines
        self.at_us = {order: at_us for at_us, order, place, _ in world.heap if place is broker}

    def ends_us(self, name: str) -> int | None:
        made = self.deadlines.get(self.prefix + name)
        return None if made is None else self.at_us.get(made[0])

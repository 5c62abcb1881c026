"""What a crash of a broker would cost now: of each partition that it leads, who would lead next, and which
acknowledged records that one does not have.

    leader   |#####################|  LEO 231          acks=1     228 to 230 are acknowledged, and exist only there
    next     |##################|     LEO 228          acks=all   only what is below the HW is, and the next one has it

Told from the logs as they are, by the controller's own rule of election (`leader_without`). With the acks that
its producers use now, what counts as acknowledged is what they were told (`kafka/acked.py`), exactly as the
card after the crash counts it; with the other acks, what the leader would have answered: acks=1 all that it has
appended, acks=all what is below its high watermark. Nothing that is on its way counts: a broken connection
loses it.
"""

from __future__ import annotations

from broker_core.events import Json
from broker_core.kafka.client.producer.settings import ACKS_ALL
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.state import RUNNING as SERVING
from broker_core.kafka.cluster.state import BrokerState, TopicPartition
from broker_core.kafka.replication.registration import NO_LEADER
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.lab.kafka.acked import Acked
from broker_core.lab.kafka.views.cluster import brokers_of, is_shown, partition_name
from broker_core.sim.slot import PAUSED, RUNNING
from broker_core.sim.world import World


def crashes_view(world: World, acked: Acked, own_topic: str, acks: int) -> Json:
    """By broker: `lost`, partition -> {leader: the next one, acks_1, acks_all: acknowledged records that are lost,
    first, last: what only this broker has}, of partitions that lose some; `offline`: partitions that would have no
    leader, whose records come back with the broker. None: it is down.

    acks: of the producer of the lane's own topic; whatever else writes waits for all.
    """
    controller: ControllerState = world.slots[CONTROLLER].node.state
    brokers = brokers_of(world)
    views: Json = {str(broker): {"lost": {}, "offline": []} for broker in brokers}
    for name, topic in controller.rules.topics.items():
        for number, registration in enumerate(topic.partitions) if is_shown(name) else ():
            leader, key = registration.leader, (name, number)
            log = None if leader not in brokers else brokers[leader].disk.logs.get(key)
            if log is None or leader == NO_LEADER:
                continue
            following = controller.rules.leader_without(key, leader, lambda other: _is_heard(world, other))
            known = views[str(leader)]
            if following == NO_LEADER:
                known["offline"].append(partition_name(name, number))
            elif lost := _lost(key, log, brokers[following], acked, acks if name == own_topic else ACKS_ALL):
                known["lost"][partition_name(name, number)] = {"leader": following, **lost}
    return {broker: view if _can_crash(world, int(broker)) else None for broker, view in views.items()}


def _lost(key: TopicPartition, log: LightLog, following: BrokerState, acked: Acked, acks: int) -> Json | None:
    """What the next leader lacks of what was acknowledged; None: nothing."""
    other = following.disk.logs.get(key) or LightLog.begin(now_ms=0)
    name, appended = partition_name(*key), _appended(log)
    told = acked.missing(name, other)
    counts = {
        "acks_1": told if acks == 1 else _missing(appended, log.log_end_offset, other),
        "acks_all": told if acks == ACKS_ALL else _missing(appended, log.high_watermark, other),
    }
    if not any(counts.values()):
        return None
    return {**counts, "first": _parts_at(log, other), "last": log.log_end_offset - 1}


def _appended(log: LightLog) -> list[list[int]]:
    """[leader epoch, first offset, one past the last] of all that a log has."""
    rows = log.epochs.rows
    ends = [start for _, start in [*rows, (0, log.log_end_offset)][1:]]
    return [[epoch, start, end] for (epoch, start), end in zip(rows, ends, strict=True)]


def _parts_at(log: LightLog, other: LightLog) -> int:
    """The first offset from which on the two have different records, or one of them has none."""
    ends = {epoch: end for epoch, _, end in _appended(other)}
    for epoch, start, end in _appended(log):
        if ends.get(epoch, start) < end:
            return max(start, ends.get(epoch, start))
    return log.log_end_offset


def _missing(ranges: list[list[int]], below: int, other: LightLog) -> int:
    """How many records below that offset another log does not have."""
    clipped = [[epoch, start, min(end, below)] for epoch, start, end in ranges if start < below]
    return Acked({"": clipped}).missing("", other)


def _is_heard(world: World, broker: int) -> bool:
    """Whether the controller would still count on it when it notices the crash."""
    node, controller = broker_node(broker), world.slots[CONTROLLER].node.state
    slot = world.slots.get(node)
    if slot is None or slot.condition != RUNNING or slot.node.state.stage != SERVING:
        return False
    ways = (world.routes.get((node, CONTROLLER)), world.routes.get((CONTROLLER, node)))
    return controller.rules.is_active(broker) and not any(way is not None and way.is_cut for way in ways)


def _can_crash(world: World, broker: int) -> bool:
    slot = world.slots[broker_node(broker)]
    return slot.condition == PAUSED or (slot.condition == RUNNING and slot.node.state.stage == SERVING)

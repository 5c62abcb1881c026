"""The other topics that a group's members subscribe to, beside the lane's own: whose their partitions are,
and how far they are read.

{"audit": {"partitions": {"0": {"owner": "c3", "lag": 0, "lag_us": 0, ...}}, "members": {"c3": {"assigned":
[0], "owned": [0], ...}}}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.group.lag import lag_of
from broker_core.lab.kafka.group import consumer_state, look
from broker_core.lab.kafka.views.group import (
    at_coordinator,
    known_group,
    member_keys,
    of_program,
    partitions_view,
)
from broker_core.lab.kafka.views.group_health import record_time_us

if TYPE_CHECKING:
    from broker_core.lab.kafka.reading import KafkaClusterReading
    from broker_core.lab.shared.lane import Lane


def topics_view(lane: Lane, reads: KafkaClusterReading) -> Json:
    """Each topic that a program subscribes to or has partitions of. partitions: as of the lane's own, with
    their lag, which the own topic has in the group's health; members: what a member has there, by its key."""
    world, shared = lane.world, reads.look()
    group = known_group(world)
    keys = member_keys(shared, group)
    controller: ControllerState = world.slots[CONTROLLER].node.state
    wanted = {name for slot in shared.programs for name in consumer_state(slot).subscribed.topics}
    wanted |= {name for slot in shared.programs for name, _ in consumer_state(slot).subscribed.assigned}
    views: Json = {}
    for topic, kept in controller.rules.topics.items():
        if topic == shared.topic or topic not in wanted:
            continue
        own = look(world, topic, len(kept.partitions))
        partitions = partitions_view(own, {}, keys, reads.notes.passed)
        for number, part in partitions.items():
            part["lag"] = lag_of(part["high_watermark"], part["committed"], part["start"])
            part["stable_lag"] = lag_of(part["stable"], part["committed"], part["start"])
            written_us = (
                record_time_us(world, (topic, int(number)), part["leader"], part["committed"])
                if part["lag"]
                else None
            )
            part["lag_us"] = (
                0
                if not part["lag"]
                else None
                if written_us is None
                else max(0, world.now_us + world.design.ahead_us - written_us)
            )
        members = {}
        for slot in own.programs:
            program = of_program(slot, topic)
            members[slot.name] = {
                "assigned": [],
                "target": None,
                "revoking": [],
                "owned": program["owned"],
                "paused": program["paused"],
            }
        for member_id, key in keys.items():
            found = at_coordinator(group, member_id, topic)
            members.setdefault(key, {"owned": [], "paused": []}).update(
                {name: found[name] for name in ("assigned", "target", "revoking")}
            )
        views[topic] = {"partitions": partitions, "members": members}
    return views

"""When another broker takes over from one that is dead: when its session at the controller
(`broker.session.timeout.ms`) is over.

The controller fences it then and elects another leader of its partitions, also of those of
__consumer_offsets: with one the group's coordinator.
"""

from __future__ import annotations

from broker_core.clock import MILLISECOND_US
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.lab.kafka.group import brokers_of
from broker_core.sim.slot import RUNNING
from broker_core.sim.world import World


def takeover_us(world: World, topic: str, number: int) -> int | None:
    """Of a partition whose leader is silent, virtual time. None: there is no such partition, its leader runs
    or is fenced already, no other replica in sync is alive, or the controller is not."""
    controller = world.slots[CONTROLLER]
    state: ControllerState = controller.node.state
    rules, brokers = state.rules, brokers_of(world)
    if (
        controller.condition != RUNNING
        or topic not in rules.topics
        or number >= len(rules.topics[topic].partitions)
    ):
        return None
    kept = rules.topics[topic].partitions[number]
    alive = [broker for broker in kept.isr if broker in brokers and brokers[broker].condition == RUNNING]
    if kept.leader in alive or kept.leader not in rules.sessions.unfenced or not alive:
        return None
    ends_ms = rules.sessions.last_contact_ms[kept.leader] + rules.sessions.timeout_ms + 1
    return max(world.now_us, ends_ms * MILLISECOND_US - world.design.ahead_us)

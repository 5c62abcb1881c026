"""What a server has on its disk, and comes back with: users and virtual hosts, durable exchanges and queues, bindings
between durable ends, and persistent messages that the disk had when it stopped. Nothing else.

Messages come back to their old places; those that were out or had come back are redelivered. An acknowledgement is
taken to be on disk at once, which the original does not promise.
Source: RabbitMQ 3.10 rabbit_queue_index, rabbit_recovery; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from dataclasses import replace

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.messages import FIRST_STORED, NEVER, Messages
from broker_core.rabbitmq.operator import Start, Stop
from broker_core.rabbitmq.queues.classic import ClassicQueue, QueueState
from broker_core.rabbitmq.queues.ready import Level
from broker_core.rabbitmq.vhost import QUEUE, Vhost, made
from broker_core.sim.slot import CRASHED, Slot
from broker_core.sim.world import World

LOST = "lost"
"""Why a message is gone that was not on disk."""


def stop(world: World, name: str, cause: Cause | None = None) -> None:
    """The server stops clean: it closes its connections, and the disk gets what it is still owed."""
    world.order(name, Stop(), cause)
    state_of(world, name).stopped_us = NEVER - 1
    world.kill(name, cause)


def crash(world: World, name: str, cause: Cause | None = None) -> None:
    """The process dies: its connections break, and what was on its way to the disk is lost."""
    state_of(world, name).stopped_us = world.node_us
    world.kill(name, cause)


def state_of(world: World, name: str) -> BrokerState:
    state: BrokerState = world.slots[name].node.state
    return state


def come_back(world: World, name: str, cause: Cause | None = None) -> None:
    """A server that has stopped or crashed starts with what its disk has. Raises CommandError for one that runs."""
    slot = world.slots.get(name)
    if slot is None or slot.condition != CRASHED:
        raise CommandError("broker", "{name} is running", name=name)
    disk, state = slot.disk, on_disk(slot)
    if disk.is_lost:
        disk.replace()
    world.forget(name)
    world.start(name, slot.kind, state)
    disk.free_us = world.node_us
    world.slots[name].disk = disk
    world.order(name, Start(), cause)


def on_disk(slot: Slot) -> BrokerState:
    """What a server that is down would start with now; its state is untouched."""
    former: BrokerState = slot.node.state
    if slot.disk.is_lost:
        return BrokerState(former.heartbeat_us, former.consumer_timeout_us)
    return survivors(former, former.stopped_us)


def survivors(former: BrokerState, stopped_us: int) -> BrokerState:
    """The state after a restart. stopped_us: what was to be written later is lost; NEVER - 1 after a clean stop."""
    state = BrokerState(
        former.heartbeat_us, former.consumer_timeout_us, vhosts={}, users=former.users,
        messages=Messages(last=former.messages.last), last_queue=former.last_queue,
        redelivered=former.redelivered, kept=former.kept,
    )  # fmt: skip
    for name, vhost in former.vhosts.items():
        state.vhosts[name] = surviving_vhost(vhost, former.messages, state.messages, stopped_us)
    return state


def surviving_vhost(vhost: Vhost, former: Messages, messages: Messages, stopped_us: int) -> Vhost:
    """messages: takes those that survive."""
    durable = {name: each for name, each in vhost.exchanges.items() if each.is_durable}
    found = Vhost(vhost.name, {}, {})
    for name, each in durable.items():
        exchange = found.exchanges[name] = made(
            name, each.type_, True, each.is_auto_delete, each.is_internal, each.arguments
        )
        exchange.published, exchange.unroutable = each.published, each.unroutable
    for name, queue in vhost.queues.items():
        if queue.state.is_durable:
            found.queues[name] = surviving_queue(queue, former, messages, stopped_us)
    for name, each in durable.items():
        # In the order of the original's table of bindings, which a consistent-hash exchange makes its buckets from.
        for binding in sorted(each.bindings, key=lambda found: (found.routing_key, found.destination)):
            kind, destination = binding.destination
            if destination in (found.queues if kind == QUEUE else found.exchanges):
                routed = each.bindings.routed(binding)
                found.bind(name, kind, destination, binding.routing_key, binding.arguments, routed)
    found.changes = vhost.changes + (found.declared() != vhost.declared())
    return found


def surviving_queue(
    queue: ClassicQueue, former: Messages, messages: Messages, stopped_us: int
) -> ClassicQueue:
    state = queue.state
    found = ClassicQueue(
        QueueState(
            state.number, state.name, state.vhost, True, state.is_auto_delete, 0, state.arguments,
            state.published, state.refused, state.nacked, state.acked, dict(state.dropped), state.named,
        )
    )  # fmt: skip
    fresh = {position for level in state.levels for position in level.fresh}
    levels: list[Level] = found.state.levels
    for position, message in queue.bodies.items():
        stored = former.at.get(message) if message >= FIRST_STORED else None
        if stored is None or not stored.written_us or stored.written_us > stopped_us:
            found.state.dropped[LOST] = found.state.dropped.get(LOST, 0) + 1
            continue
        if message not in messages.at:
            messages.at[message] = replace(stored, holders=0)
        messages.at[message].holders += 1
        found.bodies[position] = message
        level = levels[min(stored.priority, len(levels) - 1)]
        if position in fresh:
            level.fresh.append(position)
        else:
            level.requeue([position])
        if position in state.expiry:
            found.state.expiry[position] = state.expiry[position]
        if queue.settings.max_bytes is not None:
            found.state.ready_bytes += len(stored.content.body)
    return found

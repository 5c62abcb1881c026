"""Who works on a queue of a RabbitMQ lane, and how. When that changes, what was measured before says nothing of those who
work on it now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from broker_core.lab.consumer import Consumer as LabConsumer
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.rabbitmq.client.roles import ConsumerRole
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.queues.consumers import Consumer

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def working(queue: ClassicQueue) -> list[Consumer]:
    """Its consumers, of a single active consumer's queue that one alone."""
    consumers = list(queue.consumers.by_key.values())
    if queue.settings.is_single_active:
        return [each for each in consumers if each.key == queue.consumers.active]
    return consumers


def crews_of(lane: Lane, reads: RabbitMqReading) -> Callable[[ClassicQueue], str]:
    """A queue -> who works on it, with what each is set to: equal as long as nothing of it changes."""
    programs = {reads.connection_of(each.incarnation): each for each in lane.consumers.values()}
    dead = reads.dead()

    def crew(queue: ClassicQueue) -> str:
        return "\n".join(one(each) for each in working(queue))

    def one(consumer: Consumer) -> str:
        connection = connection_of(consumer)
        program = programs.get(connection)
        known = f"{consumer.key} {consumer.prefetch} {consumer.priority} {connection in dead}"
        return known if program is None else f"{known} {_way(lane, program)}"

    return crew


def _way(lane: Lane, program: LabConsumer) -> str:
    slot = lane.world.slots.get(program.incarnation)
    role: ConsumerRole | None = None if slot is None else slot.node.state.role
    how = "" if role is None else f"{role.ack} {role.only}"
    return f"{program.state} {program.service_us} {how}"


def connection_of(consumer: Consumer) -> int:
    """The connection of the channel that it consumes on."""
    return int(consumer.channel.partition(".")[0])

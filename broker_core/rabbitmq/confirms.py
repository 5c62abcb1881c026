"""When a publisher hears that its message is safe: at once for one that is not meant for a disk, else when the disk
has it.

    publish ─► queue ─► disk ─► ack            a queue at its limit ─► nack

Source: RabbitMQ 3.10 rabbit_channel; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.messages import NEVER
from broker_core.sim.node import Outbox

DISK = "disk"
"""The alarm that a full disk raises."""


def written(broker: BrokerBase, message: int, now_us: int, out: Outbox) -> int:
    """When a message that a durable queue took is on disk: 0 for one that is transient, and is never, NEVER where the
    disk does not take it, which raises the alarm."""
    stored = broker.messages.at.get(message)
    if stored is None or not stored.is_persistent:
        return 0
    if not stored.written_us:
        size = broker.size_of(message)
        at = out.disk.write(size, now_us)
        if isinstance(at, int):
            stored.written_us, stored.written_bytes = at, size
        else:
            stored.written_us = NEVER
        if stored.written_us == NEVER and DISK not in broker.state.alarms:
            broker.state.alarms.append(DISK)
    return stored.written_us


def free_disk(broker: BrokerBase, out: Outbox) -> bool:
    """Messages that are gone give their bytes back. Returns whether that ends the alarm."""
    out.disk.free(broker.messages.freed_bytes)
    broker.messages.freed_bytes = 0
    capacity = out.disk.capacity_bytes
    is_full = out.disk.is_lost or (capacity is not None and out.disk.used_bytes >= capacity)
    if is_full or DISK not in broker.state.alarms:
        return False
    broker.state.alarms.remove(DISK)
    return True


def confirm(
    channel: Channel, number: int, is_refused: bool, written_us: int, now_us: int, out: Outbox
) -> None:
    """Answer a publish, or keep it until the disk has it. A nack says multiple where nothing older waits."""
    if is_refused:
        multiple = not any(other < number for other in channel.unconfirmed)
        out.send(channel.connection, m.BasicNack(channel.number, number, multiple, True))
    elif written_us > now_us:
        channel.unconfirmed.append(number)
        if written_us != NEVER:
            out.deadline(f"confirm:{channel.name}.{number}", written_us)
    else:
        out.send(channel.connection, m.BasicAck(channel.number, number))


def confirm_written(channel: Channel, number: int, out: Outbox) -> None:
    """The disk has it."""
    if number in channel.unconfirmed:
        channel.unconfirmed.remove(number)
        out.send(channel.connection, m.BasicAck(channel.number, number))

"""basic.ack, nack, reject and recover: what a channel does with what it was sent.

Source: RabbitMQ 3.10 rabbit_channel; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json, sessions.json.gz.
"""

from __future__ import annotations

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import TX, Channel, Settlement, Unacked
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.refusals import Refused, precondition
from broker_core.sim.node import Outbox

ACK, REQUEUE, DISCARD = "ack", "requeue", "discard"


def basic_ack(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicAck, now_us: int, out: Outbox
) -> None:
    answer(broker, channel, method.delivery_tag, method.multiple, ACK, now_us, out)


def basic_nack(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicNack, now_us: int, out: Outbox
) -> None:
    how = REQUEUE if method.requeue else DISCARD
    answer(broker, channel, method.delivery_tag, method.multiple, how, now_us, out)


def basic_reject(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicReject, now_us: int, out: Outbox
) -> None:
    answer(broker, channel, method.delivery_tag, False, REQUEUE if method.requeue else DISCARD, now_us, out)


def basic_recover(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    method: m.BasicRecover | m.BasicRecoverAsync,
    now_us: int,
    out: Outbox,
) -> None:
    """All that the channel holds goes back to its queues."""
    if not method.requeue:
        raise Refused(codes.NOT_IMPLEMENTED, "requeue=false")
    settled = dict(channel.unacked)
    channel.unacked.clear()
    if type(method) is m.BasicRecover:
        out.send(channel.connection, m.BasicRecoverOk(channel.number))
    settle(broker, channel, settled, REQUEUE, now_us, out)


def answer(
    broker: BrokerBase, channel: Channel, tag: int, multiple: bool, how: str, now_us: int, out: Outbox
) -> None:
    """Settle deliveries, or keep that for the commit."""
    if channel.mode != TX:
        if not multiple:  # the common one, without a list of one
            unacked = channel.unacked.pop(tag, None)
            if unacked is None:
                raise precondition(f"unknown delivery tag {tag}")
            settle_one(broker, channel, unacked, how, now_us, out)
            return
    settled = channel.settle(tag, multiple)
    if settled is None:
        raise precondition(f"unknown delivery tag {tag}")
    if channel.mode != TX:
        settle(broker, channel, settled, how, now_us, out)
    elif settled:
        if channel.settlements and channel.settlements[-1].how == how:
            channel.settlements[-1].settled |= settled
        else:
            channel.settlements.append(Settlement(how, settled))


def settle_one(
    broker: BrokerBase, channel: Channel, unacked: Unacked, how: str, now_us: int, out: Outbox
) -> None:
    number, consumer_tag, position, _ = unacked
    queue = broker.queues.get(number)
    if queue is not None:
        at_queue(broker, queue, channel, consumer_tag, [position], how, now_us, out)
    if channel.limiter.limit and consumer_tag:
        free_limit(broker, channel, 1, now_us, out)


def settle(
    broker: BrokerBase, channel: Channel, settled: dict[int, Unacked], how: str, now_us: int, out: Outbox
) -> None:
    """As the queues receive it: a group for each queue and consumer, by their names and not by delivery tag; each
    group is settled, and what it sets free goes out, before the next one. What belongs to a queue that is gone is
    settled with it.

    Source: RabbitMQ 3.10 rabbit_channel, foreach_per_queue (a gb_tree by queue and consumer tag).
    """
    groups: dict[tuple[int, str], list[int]] = {}
    for number, consumer_tag, position, _ in settled.values():
        groups.setdefault((number, consumer_tag), []).append(position)
    there = [(broker.queues[number].name, tag, number) for number, tag in groups if number in broker.queues]
    for _, tag, number in sorted(there):
        if number in broker.queues:
            at_queue(broker, broker.queues[number], channel, tag, groups[number, tag], how, now_us, out)
    count = sum(1 for _, consumer_tag, _, _ in settled.values() if consumer_tag)
    if channel.limiter.limit and count:
        free_limit(broker, channel, count, now_us, out)


def at_queue(
    broker: BrokerBase,
    queue: ClassicQueue,
    channel: Channel,
    consumer_tag: str,
    positions: list[int],
    how: str,
    now_us: int,
    out: Outbox,
) -> None:
    key = channel.consumer_key(consumer_tag)
    if broker.ear is not None:
        program, state = broker.connections[channel.connection].name, queue.state
        for position in positions:
            broker.ear.settled(program, state.vhost, queue.bodies[position], state.name, how)
    if how == ACK:
        deliveries = queue.ack(channel.name, key, positions, now_us)
    elif how == REQUEUE:
        deliveries = queue.requeue(channel.name, key, positions, now_us)
    else:
        deliveries = queue.discard(channel.name, key, positions, now_us)
    broker.carry_out(queue, deliveries, now_us, out)


def free_limit(broker: BrokerBase, channel: Channel, count: int, now_us: int, out: Outbox) -> None:
    """The channel's own limit has room for so many more."""
    limiter = channel.limiter
    limiter.volume = limiter.volume - count if limiter.volume else 0
    resume(broker, channel, now_us, out)


def resume(broker: BrokerBase, channel: Channel, now_us: int, out: Outbox) -> None:
    """The queues that were refused room by the channel's limit, if there is some now, go on."""
    for number in channel.limiter.freed():
        queue = broker.queues.get(number)
        if queue is not None:
            queue.consumers.resume(channel.name)
            broker.carry_out(queue, queue.dispatch(now_us), now_us, out)

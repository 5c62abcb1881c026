"""basic.qos, consume, cancel and get.

Source: RabbitMQ 3.10 rabbit_channel, rabbit_amqqueue_process; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json,
sessions.json.gz.
"""

from __future__ import annotations

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.arguments import check_priority_of_consumer
from broker_core.rabbitmq.broker_base import BrokerBase, made_name
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.direct_reply import REPLY_TO
from broker_core.rabbitmq.handlers.names import existing_queue, meant_queue, queue_text
from broker_core.rabbitmq.handlers.settle import resume
from broker_core.rabbitmq.messages import FIRST_STORED
from broker_core.rabbitmq.permissions import READ
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.queues.consumers import Consumer
from broker_core.rabbitmq.refusals import Refused, access_refused, precondition
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE
from broker_core.sim.node import Outbox


def basic_qos(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicQos, now_us: int, out: Outbox
) -> None:
    """With global, one limit for the channel, at once; without it, one for each consumer made from now on, and the
    channel's is lifted."""
    if method.prefetch_size:
        raise Refused(codes.NOT_IMPLEMENTED, f"prefetch_size!=0 ({method.prefetch_size})")
    limiter = channel.limiter
    if not method.global_ or not method.prefetch_count:
        limiter.limit = 0
        if not method.global_:
            channel.prefetch_count = method.prefetch_count
    else:
        was_unlimited = not limiter.limit
        limiter.limit, limiter.volume = method.prefetch_count, len(channel.unacked)
        if was_unlimited:
            for number in set(channel.consumers.values()):
                broker.queues[number].consumers.channels[channel.name].asks = True
    out.send(channel.connection, m.BasicQosOk(channel.number))
    resume(broker, channel, now_us, out)


def basic_consume(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicConsume, now_us: int, out: Outbox
) -> None:
    """The consumer joins at the back of the queue's ring, and takes of the ready messages what it has room
    for.

    A tag that the channel has already is a connection exception, a queue that is not there one of the
    channel. An empty tag asks the broker for one; an empty queue is the one that was declared last here.
    """
    if method.consumer_tag and method.consumer_tag in (*channel.consumers, channel.reply_tag):
        raise Refused(codes.NOT_ALLOWED, f"attempt to reuse consumer tag '{method.consumer_tag}'")
    if method.queue == REPLY_TO:
        consume_replies(channel, method, out)
        return
    name = meant_queue(channel, method.queue)
    broker.check_access(known, READ, "queue", name)
    queue = existing_queue(broker, known, channel, name)
    text = queue_text(known, name)
    priority = check_priority_of_consumer(method.arguments, text)
    consumers = queue.consumers
    in_use = any(each.is_exclusive for each in consumers.by_key.values())
    if in_use or (method.exclusive and (consumers.by_key or consumers.is_single)):
        raise access_refused(f"{text} in exclusive use")
    tag = method.consumer_tag or made_name("amq.ctag-", out)
    channel.consumers[tag] = queue.number
    if not method.nowait:
        out.send(channel.connection, m.BasicConsumeOk(channel.number, tag))
    consumer = Consumer(
        channel.consumer_key(tag),
        channel.name,
        tag,
        channel.prefetch_count,
        needs_ack=not method.no_ack,
        priority=priority,
        is_exclusive=method.exclusive,
    )
    turns = [broker.name_of(queue, other) for other in queue.turn_order] + [known.name]
    deliveries = queue.consume(consumer, channel.limiter.limit > 0, now_us)
    broker.used(queue, now_us, out)
    out.tell(
        "rabbitmq.consumer.subscribed",
        "rabbitmq.queue.joins_at_the_end_of_the_ring",
        {"prefetch": channel.prefetch_count},
        {
            "consumer": known.name,
            "connection": channel.connection,
            "consumers": len(consumers.by_key),
            "delivered": len(deliveries),
            **broker.turn_facts(turns, deliveries, broker.passed_over(queue)),
        },
    )
    broker.carry_out(queue, deliveries, now_us, out)


def consume_replies(channel: Channel, method: m.BasicConsume, out: Outbox) -> None:
    if not method.no_ack:
        raise precondition("reply consumer cannot acknowledge")
    if channel.reply_tag:
        raise precondition("reply consumer already set")
    channel.reply_tag = method.consumer_tag or made_name("amq.ctag-", out)
    channel.reply_key = made_name("", out)
    if not method.nowait:
        out.send(channel.connection, m.BasicConsumeOk(channel.number, channel.reply_tag))


def basic_cancel(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicCancel, now_us: int, out: Outbox
) -> None:
    """The consumer takes nothing more; what it holds stays with the channel. Of a tag that is not there: as
    if it had been."""
    tag = method.consumer_tag
    if not method.nowait:
        out.send(channel.connection, m.BasicCancelOk(channel.number, tag))
    if tag == channel.reply_tag:
        channel.reply_tag = channel.reply_key = ""
    number = channel.consumers.pop(tag, None)
    if number is not None:
        queue = broker.queues[number]
        queue.cancel(channel.consumer_key(tag))
        broker.consumers_left(queue, now_us, out)


def basic_get(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicGet, now_us: int, out: Outbox
) -> None:
    name = meant_queue(channel, method.queue)
    broker.check_access(known, READ, "queue", name)
    queue = existing_queue(broker, known, channel, name)
    broker.used(queue, now_us, out)
    found = queue.get(channel.name, method.no_ack, now_us)
    if found is None:
        out.send(channel.connection, m.BasicGetEmpty(channel.number))
    else:
        send_got(broker, queue, channel, method, found, now_us, out)
    broker.carry_out(queue, (), now_us, out)


def send_got(
    broker: BrokerBase,
    queue: ClassicQueue,
    channel: Channel,
    method: m.BasicGet,
    found: tuple[int, int, bool],
    now_us: int,
    out: Outbox,
) -> None:
    position, message, redelivered = found
    if redelivered:
        broker.state.redelivered += 1
    if method.no_ack:
        channel.last_tag += 1
    else:
        channel.deliver(queue.number, "", position, now_us)
    exchange, key, content = DEFAULT_EXCHANGE, queue.name, message
    got = m.BasicGetOk(channel.number, channel.last_tag, redelivered, exchange, key, queue.ready, content)
    if message >= FIRST_STORED:
        stored = broker.messages.at[message]
        got.exchange, got.routing_key, got.message = stored.exchange, stored.routing_keys[0], stored.content
    if broker.ear is not None:
        program, vhost = broker.program_of(channel.name), queue.state.vhost
        broker.ear.delivered(program, vhost, message, queue.name, redelivered, not method.no_ack, got)
    if message >= FIRST_STORED and method.no_ack:
        broker.messages.release(message)
    out.send(channel.connection, got)

"""A handler for each method that a client sends: what it checks, and what it does.

Source: RabbitMQ 3.10.8, docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq import wire_fields
from broker_core.rabbitmq.broker_base import UNEXPECTED, BrokerBase
from broker_core.rabbitmq.channel import TICK_INTERVAL_US, Channel, Unacked
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.properties import number_of
from broker_core.rabbitmq.queue import WorkQueue
from broker_core.sim.node import Outbox

VHOST = "/"
NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def connection_start_ok(
    broker: BrokerBase,
    known: Connection,
    connection: int,
    method: m.ConnectionStartOk,
    now_us: int,
    out: Outbox,
) -> None:
    """The client's first method, which names it."""
    if known.is_running:
        unexpected(broker, known, connection, method, now_us, out)
    else:
        known.name = str(method.client_properties.get("connection_name", known.name))
        known.is_running = True


def connection_close(
    broker: BrokerBase,
    known: Connection,
    connection: int,
    method: m.ConnectionClose,
    now_us: int,
    out: Outbox,
) -> None:
    out.send(connection, m.ConnectionCloseOk())
    out.close(connection)
    broker.drop(connection, "rabbitmq.connection.closed_by_client", now_us, out)


def unexpected(
    broker: BrokerBase, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
) -> None:
    """A method of the connection itself that has its place in no running one.

    Source: RabbitMQ 3.10 rabbit_reader, handle_method0. Recorded for methods of a channel on channel 0.
    """
    broker.refuse_connection(connection, codes.CHANNEL_ERROR, UNEXPECTED, now_us, out)


def unimplemented(
    broker: BrokerBase, known: Connection, channel: Channel, method: Any, now_us: int, out: Outbox
) -> None:
    """A method that only a broker sends, or an answer that it does not wait for, on an open channel.

    Source: RabbitMQ 3.10 rabbit_channel, the last clause of handle_method; not recorded.
    """
    text = "COMMAND_INVALID - unimplemented method"
    broker.refuse_connection(channel.connection, codes.COMMAND_INVALID, text, now_us, out)


def heartbeat(
    broker: BrokerBase, known: Connection, connection: int, method: m.Heartbeat, now_us: int, out: Outbox
) -> None:
    """It was heard; that is all it says."""


def channel_open(
    broker: BrokerBase, known: Connection, connection: int, method: m.ChannelOpen, now_us: int, out: Outbox
) -> None:
    """A number that is open already is a connection exception, and so is one channel too many. On one that the
    broker has just closed it is dropped."""
    known.is_running = True
    number = method.channel
    if number == 0:
        unexpected(broker, known, connection, method, now_us, out)
    elif not 0 <= number <= wire_fields.SHORT_MAX:
        broker.refuse_field(connection, "channel", number, now_us, out)
    elif number in known.channels:
        broker.refuse_connection(
            connection, codes.CHANNEL_ERROR, "CHANNEL_ERROR - second 'channel.open' seen", now_us, out
        )
    elif number not in known.closing and len(known.channels) >= m.CHANNEL_MAX:
        text = (
            f"NOT_ALLOWED - number of channels opened ({len(known.channels)}) has reached the negotiated "
            f"channel_max ({m.CHANNEL_MAX})"
        )
        broker.refuse_connection(connection, codes.NOT_ALLOWED, text, now_us, out)
    elif number not in known.closing:
        channel = known.channels[number] = Channel(connection, number)
        out.deadline(channel.tick, now_us + TICK_INTERVAL_US)


def channel_close_ok(
    broker: BrokerBase, known: Connection, connection: int, method: m.ChannelCloseOk, now_us: int, out: Outbox
) -> None:
    """The client knows that the broker closed the channel: its number is free again."""
    known.is_running = True
    channel = known.channels.get(method.channel)
    if method.channel in known.closing:
        known.closing.remove(method.channel)
    elif channel is not None:
        unimplemented(broker, known, channel, method, now_us, out)
    else:
        broker.without_channel(known, connection, method, now_us, out)


def channel_close(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.ChannelClose, now_us: int, out: Outbox
) -> None:
    broker.close_channels(known, [channel], "rabbitmq.channel.closed_by_client", now_us, out)
    out.send(channel.connection, m.ChannelCloseOk(channel.number))


def queue_declare(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.QueueDeclare, now_us: int, out: Outbox
) -> None:
    """An empty name asks the broker for one. Line ends are no part of a name, and what begins with "amq." is the
    broker's own."""
    if not wire_fields.is_short_text(method.queue):
        broker.refuse_field(channel.connection, "queue", method.queue, now_us, out)
        return
    name = method.queue.replace("\n", "").replace("\r", "") or made_name("amq.gen-", out)
    queues = broker.state.queues
    if name not in queues and method.queue and name.startswith("amq."):
        text = f"ACCESS_REFUSED - queue name '{name}' contains reserved prefix 'amq.*'"
        broker.refuse(known, channel, codes.ACCESS_REFUSED, text, now_us, out)
        return
    queues.setdefault(name, WorkQueue())
    channel.last_queue = name


def basic_qos(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicQos, now_us: int, out: Outbox
) -> None:
    if 0 <= method.prefetch_count <= wire_fields.SHORT_MAX:
        channel.prefetch_count = method.prefetch_count
    else:
        broker.refuse_field(channel.connection, "prefetch_count", method.prefetch_count, now_us, out)


def basic_consume(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicConsume, now_us: int, out: Outbox
) -> None:
    """The consumer joins at the back of the queue's ring, and takes of the ready messages what it has room
    for.

    A tag that the channel has already is a connection exception, a queue that is not there one of the
    channel. An empty tag asks the broker for one; an empty queue is the one that was declared last here.
    """
    tag, queue_name = method.consumer_tag or made_name("amq.ctag-", out), method.queue or channel.last_queue
    if not wire_fields.is_short_text(tag):
        broker.refuse_field(channel.connection, "consumer_tag", tag, now_us, out)
        return
    if tag in channel.consumers:
        text = f"NOT_ALLOWED - attempt to reuse consumer tag '{tag}'"
        broker.refuse_connection(channel.connection, codes.NOT_ALLOWED, text, now_us, out)
        return
    queue = broker.state.queues.get(queue_name)
    if queue is None:
        missing = (
            f"no queue '{queue_name}' in vhost '{VHOST}'" if queue_name else "no previously declared queue"
        )
        broker.refuse(known, channel, codes.NOT_FOUND, f"NOT_FOUND - {missing}", now_us, out)
        return
    channel.consumers[tag] = queue_name
    key = channel.consumer_key(tag)
    broker.consumers[key] = (channel, tag, queue)
    turns = [broker.name_of(other) for other in (*queue.turn_order, key)]
    deliveries = queue.consume(key, channel.prefetch_count)
    out.tell(
        "rabbitmq.consumer.subscribed",
        "rabbitmq.queue.joins_at_the_end_of_the_ring",
        {"prefetch": channel.prefetch_count},
        {
            "consumer": known.name,
            "connection": channel.connection,
            "consumers": len(queue.ring),
            "delivered": len(deliveries),
            **broker.turn_facts(turns, deliveries, broker.passed_over(queue)),
        },
    )
    broker.deliver(deliveries, now_us, out)


def basic_cancel(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicCancel, now_us: int, out: Outbox
) -> None:
    """The consumer takes nothing more; what it holds stays with the channel. Of a tag that is not there: as
    if it had been.

    Unlike the original's, the tag of a consumer that still holds messages stays taken until the channel
    closes.
    """
    key = channel.consumer_key(method.consumer_tag)
    if key in broker.consumers:
        queue = broker.consumers[key][2]
        if queue.unacked_count(key):
            queue.cancel(key)
        else:
            queue.cancel_and_close(key)
            del broker.consumers[key], channel.consumers[method.consumer_tag]


def basic_publish(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicPublish, now_us: int, out: Outbox
) -> None:
    """Here an exchange of another type (direct, fanout, topic, headers) would come in: its bindings give the
    queues, and each of them gets the message as `BrokerBase.route` gives it to one. It needs its name in
    `methods.BasicPublish`, its declare and bind among the methods, its bindings in `BrokerState`, and its
    routing rule in a file of its own.
    """
    broker.route(method.routing_key, number_of(method.message), now_us, out)


def basic_ack(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicAck, now_us: int, out: Outbox
) -> None:
    settled = channel.settle(method.delivery_tag, method.multiple)
    if settled is None:
        refuse_tag(broker, known, channel, method, now_us, out)
        return
    for key, messages in by_queue_and_consumer(channel, settled):
        broker.deliver(broker.consumers[key][2].ack(key, *messages), now_us, out)


def basic_nack(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicNack, now_us: int, out: Outbox
) -> None:
    settled = channel.settle(method.delivery_tag, method.multiple)
    if settled is None:
        refuse_tag(broker, known, channel, method, now_us, out)
        return
    for key, messages in by_queue_and_consumer(channel, settled):
        broker.deliver(broker.consumers[key][2].nack(key, *messages), now_us, out)


def made_name(prefix: str, out: Outbox) -> str:
    """A name that the broker makes: 22 letters of URL-safe base64 behind the prefix."""
    return prefix + "".join(NAME_LETTERS[out.draw("rabbitmq.names", 64)] for _ in range(22))


def by_queue_and_consumer(channel: Channel, settled: Sequence[Unacked]) -> list[tuple[str, list[int]]]:
    """What one ack or nack settles, as the queues receive it: a group for each queue and consumer, by their
    names and not by delivery tag; each group is settled, and what it sets free goes out, before the next one.

    Source: RabbitMQ 3.10 rabbit_channel, foreach_per_queue (a gb_tree by queue and consumer tag).
    """
    groups: dict[str, list[int]] = {}
    for key, message, _ in settled:
        groups.setdefault(key, []).append(message)
    order = {channel.consumer_key(tag): (queue, tag) for tag, queue in channel.consumers.items()}
    return sorted(groups.items(), key=lambda group: order[group[0]])


def refuse_tag(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    method: m.BasicAck | m.BasicNack,
    now_us: int,
    out: Outbox,
) -> None:
    broker.refuse(
        known,
        channel,
        codes.PRECONDITION_FAILED,
        f"PRECONDITION_FAILED - unknown delivery tag {method.delivery_tag}",
        now_us,
        out,
    )


CONNECTION_HANDLERS: Mapping[type, Callable[[BrokerBase, Connection, int, Any, int, Outbox], None]] = (
    MappingProxyType(
        {
            m.ConnectionStartOk: connection_start_ok,
            m.ConnectionClose: connection_close,
            m.ConnectionCloseOk: unexpected,
            m.Heartbeat: heartbeat,
            m.ChannelOpen: channel_open,
            m.ChannelCloseOk: channel_close_ok,
        }
    )
)
CHANNEL_HANDLERS: Mapping[type, Callable[[BrokerBase, Connection, Channel, Any, int, Outbox], None]] = (
    MappingProxyType(
        {
            m.ChannelClose: channel_close,
            m.QueueDeclare: queue_declare,
            m.BasicQos: basic_qos,
            m.BasicConsume: basic_consume,
            m.BasicCancel: basic_cancel,
            m.BasicPublish: basic_publish,
            m.BasicAck: basic_ack,
            m.BasicNack: basic_nack,
            m.BasicDeliver: unimplemented,
        }
    )
)
"""Methods that need their channel to be open."""

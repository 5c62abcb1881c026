"""The broker as a node: connections and their channels in front, queues at the back, a handler for each
method.

    connection ─ channel ─ consumer ──► queue (whose turn, prefetch, requeue: queue.py)

Source: RabbitMQ 3.10.8, docs/rabbitmq/facts.md. Vectors of its queue: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from broker_core.events import Json, capped
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.channel import CONSUMER_TIMEOUT_US, TICK_INTERVAL_US, Channel, Unacked
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.methods import BasicDeliver
from broker_core.rabbitmq.queue import Delivery, WorkQueue
from broker_core.sim.node import Closed, Opened, Outbox

VHOST = "/"
TIMED_OUT = "rabbitmq.channel.consumer_timeout"
LISTED_MAX = 8
"""Programs that a turning point lists."""


@dataclass(slots=True)
class BrokerState:
    """connections: number -> connection. queues: name -> queue; its consumers go by `Channel.consumer_key`.

    redelivered: messages sent a second time so far. heartbeat_us: the interval both sides agreed on.
    consumer_timeout_us: how long a delivery may wait for its acknowledgement, None: for ever.
    """

    heartbeat_us: int = m.HEARTBEAT_US
    consumer_timeout_us: int | None = CONSUMER_TIMEOUT_US
    connections: dict[int, Connection] = field(default_factory=dict)
    queues: dict[str, WorkQueue] = field(default_factory=dict)
    redelivered: int = 0


class Broker:
    def __init__(self, state: BrokerState) -> None:
        self.state = state
        self.handler_of = dict(CHANNEL_HANDLERS).get  # a plain dict is twice as fast
        self.connections, self.queues = state.connections, state.queues
        # Who a queue's consumer is, by its key there, and the queue: derived from the channels, for speed.
        self.consumers: dict[str, tuple[Channel, str, WorkQueue]] = {
            channel.consumer_key(tag): (channel, tag, state.queues[queue])
            for connection in state.connections.values() for channel in connection.channels.values()
            for tag, queue in channel.consumers.items()
        }  # fmt: skip

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        handler = self.handler_of(type(message))
        if handler is not None:
            known = self.connections[connection]
            known.was_heard = True
            channel = known.channels.get(message.channel)
            if channel is not None:
                handler(self, known, channel, message, now_us, out)
            else:
                self.without_channel(known, connection, message, now_us, out)
        elif (connection_handler := CONNECTION_HANDLERS.get(type(message))) is not None:
            known = self.connections[connection]
            known.was_heard = True
            connection_handler(self, known, connection, message, now_us, out)
        elif type(message) is Opened:
            self.state.connections[connection] = Connection(message.peer, now_us)
            out.deadline(f"heartbeat:{connection}", now_us + self.state.heartbeat_us)
        elif type(message) is Closed:
            self.drop(connection, "rabbitmq.connection.closed_by_peer", now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        kind, _, of = name.partition(":")
        if kind == "tick":
            connection, number = map(int, of.split("."))
            self.look_at_oldest_delivery(self.connections[connection].channels[number], now_us, out)
        else:
            self.look_for_signs_of_life(int(of), now_us, out)

    def look_for_signs_of_life(self, connection: int, now_us: int, out: Outbox) -> None:
        known = self.connections[connection]
        if not known.look():
            out.deadline(f"heartbeat:{connection}", now_us + self.state.heartbeat_us)
            return
        out.blame_silence(connection)
        out.tell(
            "rabbitmq.connection.missed_heartbeats",
            "rabbitmq.heartbeat.two_silent_checks",
            {"heartbeat_us": self.state.heartbeat_us},
            {
                "consumer": known.name,
                "connection": connection,
                "unacked": known.unacked_count(),
                "unacked_in_all": sum(other.unacked_count() for other in self.state.connections.values()),
            },
        )
        out.close(connection)
        self.drop(connection, "rabbitmq.connection.missed_heartbeats", now_us, out)

    def look_at_oldest_delivery(self, channel: Channel, now_us: int, out: Outbox) -> None:
        """One tick of a channel. Where its oldest delivery has waited for too long, that is a channel
        exception."""
        timeout_us = self.state.consumer_timeout_us
        if timeout_us is None or not channel.is_timed_out(timeout_us, now_us):
            out.deadline(channel.tick, now_us + TICK_INTERVAL_US)
            return
        text = (
            f"PRECONDITION_FAILED - delivery acknowledgement on channel {channel.number} timed out. "
            f"Timeout value used: {timeout_us // 1_000} ms. "
            "This timeout value can be configured, see consumers doc guide to learn more"
        )
        known = self.connections[channel.connection]
        out.tell(
            "rabbitmq.channel.timed_out",
            TIMED_OUT,
            {"consumer_timeout_us": timeout_us},
            {"consumer": known.name, "connection": channel.connection, "unacked": len(channel.unacked)},
        )
        self.refuse(known, channel, m.PRECONDITION_FAILED, text, now_us, out, TIMED_OUT)

    def drop(self, connection: int, rule: str, now_us: int, out: Outbox) -> None:
        """The connection is gone, and all its channels with it."""
        known = self.state.connections[connection]
        out.cancel(f"heartbeat:{connection}")
        self.close_channels(known, list(known.channels.values()), rule, now_us, out)
        del self.state.connections[connection]

    def close_channels(
        self, known: Connection, channels: Sequence[Channel], rule: str, now_us: int, out: Outbox
    ) -> None:
        """Channels of one connection close together. What they held goes back to its old places, marked
        redelivered, and on to the consumer whose turn it is: never to one that closes with them."""
        leavers: dict[str, list[str]] = {}  # queue -> its consumers on these channels
        for channel in channels:
            for tag, queue_name in channel.consumers.items():
                leavers.setdefault(queue_name, []).append(channel.consumer_key(tag))
        requeued = sum(len(channel.unacked) for channel in channels)
        moved: list[Delivery] = []
        turns: list[str] = []
        skipped: list[Json] = []
        ready = 0
        for queue_name, keys in leavers.items():
            queue = self.state.queues[queue_name]
            turns += [self.name_of(key) for key in queue.turn_order if key not in keys]
            moved += queue.cancel_and_close(*keys)
            skipped += self.passed_over(queue)
            ready += queue.ready
            for key in keys:
                del self.consumers[key]
        for channel in channels:
            del known.channels[channel.number]
            out.cancel(channel.tick)
        if leavers:
            out.tell(
                "rabbitmq.channel.closed",
                "rabbitmq.queue.requeue_in_original_order",
                {"unacked": requeued, "reason": rule},
                {
                    "consumer": known.name,
                    "connection": channels[0].connection,
                    "delivered": len(moved),
                    "ready": ready,
                    **self.turn_facts(turns, moved, skipped),
                },
            )
        self.deliver(moved, now_us, out)

    def name_of(self, key: str) -> str:
        """The name of the program that runs a queue's consumer."""
        return self.state.connections[self.consumers[key][0].connection].name

    def passed_over(self, queue: WorkQueue) -> list[Json]:
        """Who lost its place in the ring because its prefetch was full, and how many messages it holds."""
        return [
            {
                "consumer": self.name_of(key),
                "connection": self.consumers[key][0].connection,
                "unacked": queue.unacked_count(key),
            }
            for key in queue.passed_over
        ]

    def turn_facts(
        self, turns: Sequence[str], deliveries: Sequence[Delivery], skipped: Sequence[Json]
    ) -> Json:
        """Whose turn it was, who got what, and who was passed over. turns: programs, the next one first."""
        received = Counter(self.name_of(key) for key, _, _ in deliveries)
        return {
            **capped("turns", list(turns), LISTED_MAX),
            **capped(
                "received",
                [{"consumer": name, "records": count} for name, count in received.items()],
                LISTED_MAX,
            ),
            **capped("skipped", list(skipped), LISTED_MAX),
        }

    def route(self, routing_key: str, message: int, now_us: int, out: Outbox) -> None:
        """By the default exchange, to the queue that the routing key names; where there is none, the message
        is dropped."""
        queue = self.queues.get(routing_key)
        if queue is not None:
            self.deliver(queue.publish(message), now_us, out)

    def deliver(self, deliveries: Sequence[Delivery], now_us: int, out: Outbox) -> None:
        """Send what a queue gave out, in its order."""
        consumers = self.consumers
        for key, message, redelivered in deliveries:
            channel, tag, _ = consumers[key]
            if redelivered:
                self.state.redelivered += 1
            delivery_tag = channel.deliver(key, message, now_us)
            out.send(
                channel.connection, BasicDeliver(channel.number, tag, delivery_tag, redelivered, message)
            )

    def without_channel(
        self, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
    ) -> None:
        """A method for a channel that is not open. On one that the broker has just closed, what was on its
        way is dropped; else it is a connection exception."""
        if method.channel not in known.closing:
            text = (
                "unexpected method in connection state running"
                if method.channel == 0
                else "expected 'channel.open'"
            )
            self.refuse_connection(connection, m.CHANNEL_ERROR, f"CHANNEL_ERROR - {text}", now_us, out)
        elif type(method) is m.ChannelClose:  # both ends closed it at once: each answers the other
            out.send(connection, m.ChannelCloseOk(method.channel))

    def refuse(
        self,
        known: Connection,
        channel: Channel,
        code: int,
        text: str,
        now_us: int,
        out: Outbox,
        rule: str = "rabbitmq.channel.exception",
    ) -> None:
        """A channel exception: the channel is closed, the client receives the code and the text."""
        self.close_channels(known, [channel], rule, now_us, out)
        known.closing.append(channel.number)
        out.send(channel.connection, m.ChannelClose(channel.number, code, text))

    def refuse_connection(self, connection: int, code: int, text: str, now_us: int, out: Outbox) -> None:
        """A connection exception: the client receives the code and the text, and the connection is closed
        with all its channels."""
        out.send(connection, m.ConnectionClose(code, text))
        out.close(connection)
        self.drop(connection, "rabbitmq.connection.exception", now_us, out)


def connection_start_ok(
    broker: Broker, known: Connection, connection: int, method: m.ConnectionStartOk, now_us: int, out: Outbox
) -> None:
    known.name = method.connection_name


def heartbeat(
    broker: Broker, known: Connection, connection: int, method: m.Heartbeat, now_us: int, out: Outbox
) -> None:
    """It was heard; that is all it says."""


def channel_open(
    broker: Broker, known: Connection, connection: int, method: m.ChannelOpen, now_us: int, out: Outbox
) -> None:
    """A number that is open already is a connection exception. On one that the broker has just closed it is
    dropped."""
    if method.channel in known.channels:
        broker.refuse_connection(
            connection, m.CHANNEL_ERROR, "CHANNEL_ERROR - second 'channel.open' seen", now_us, out
        )
    elif method.channel not in known.closing:
        channel = known.channels[method.channel] = Channel(connection, method.channel)
        out.deadline(channel.tick, now_us + TICK_INTERVAL_US)


def channel_close_ok(
    broker: Broker, known: Connection, connection: int, method: m.ChannelCloseOk, now_us: int, out: Outbox
) -> None:
    """The client knows that the broker closed the channel: its number is free again."""
    if method.channel in known.closing:
        known.closing.remove(method.channel)


def channel_close(
    broker: Broker, known: Connection, channel: Channel, method: m.ChannelClose, now_us: int, out: Outbox
) -> None:
    broker.close_channels(known, [channel], "rabbitmq.channel.closed_by_client", now_us, out)
    out.send(channel.connection, m.ChannelCloseOk(channel.number))


def queue_declare(
    broker: Broker, known: Connection, channel: Channel, method: m.QueueDeclare, now_us: int, out: Outbox
) -> None:
    broker.state.queues.setdefault(method.queue, WorkQueue())


def basic_qos(
    broker: Broker, known: Connection, channel: Channel, method: m.BasicQos, now_us: int, out: Outbox
) -> None:
    channel.prefetch_count = method.prefetch_count


def basic_consume(
    broker: Broker, known: Connection, channel: Channel, method: m.BasicConsume, now_us: int, out: Outbox
) -> None:
    """The consumer joins at the back of the queue's ring, and takes of the ready messages what it has room
    for.

    A tag that the channel has already is a connection exception, a queue that is not there one of the
    channel.
    """
    tag = method.consumer_tag
    if tag in channel.consumers:
        text = f"NOT_ALLOWED - attempt to reuse consumer tag '{tag}'"
        broker.refuse_connection(channel.connection, m.NOT_ALLOWED, text, now_us, out)
        return
    queue = broker.state.queues.get(method.queue)
    if queue is None:
        broker.refuse(
            known,
            channel,
            m.NOT_FOUND,
            f"NOT_FOUND - no queue '{method.queue}' in vhost '{VHOST}'",
            now_us,
            out,
        )
        return
    channel.consumers[tag] = method.queue
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
    broker: Broker, known: Connection, channel: Channel, method: m.BasicCancel, now_us: int, out: Outbox
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
    broker: Broker, known: Connection, channel: Channel, method: m.BasicPublish, now_us: int, out: Outbox
) -> None:
    """Here an exchange of another type (direct, fanout, topic, headers) would come in: its bindings give the
    queues, and each of them gets the message as `Broker.route` gives it to one. It needs its name in
    `methods.BasicPublish`, its declare and bind among the methods, its bindings in `BrokerState`, and its
    routing rule in a file of its own.
    """
    broker.route(method.routing_key, method.message, now_us, out)


def basic_ack(
    broker: Broker, known: Connection, channel: Channel, method: m.BasicAck, now_us: int, out: Outbox
) -> None:
    settled = channel.settle(method.delivery_tag, method.multiple)
    if settled is None:
        refuse_tag(broker, known, channel, method, now_us, out)
        return
    for key, messages in by_queue_and_consumer(channel, settled):
        broker.deliver(broker.consumers[key][2].ack(key, *messages), now_us, out)


def basic_nack(
    broker: Broker, known: Connection, channel: Channel, method: m.BasicNack, now_us: int, out: Outbox
) -> None:
    settled = channel.settle(method.delivery_tag, method.multiple)
    if settled is None:
        refuse_tag(broker, known, channel, method, now_us, out)
        return
    for key, messages in by_queue_and_consumer(channel, settled):
        broker.deliver(broker.consumers[key][2].nack(key, *messages), now_us, out)


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
    broker: Broker,
    known: Connection,
    channel: Channel,
    method: m.BasicAck | m.BasicNack,
    now_us: int,
    out: Outbox,
) -> None:
    broker.refuse(
        known,
        channel,
        m.PRECONDITION_FAILED,
        f"PRECONDITION_FAILED - unknown delivery tag {method.delivery_tag}",
        now_us,
        out,
    )


CONNECTION_HANDLERS: Mapping[type, Callable[[Broker, Connection, int, Any, int, Outbox], None]] = (
    MappingProxyType(
        {
            m.ConnectionStartOk: connection_start_ok,
            m.Heartbeat: heartbeat,
            m.ChannelOpen: channel_open,
            m.ChannelCloseOk: channel_close_ok,
        }
    )
)
CHANNEL_HANDLERS: Mapping[type, Callable[[Broker, Connection, Channel, Any, int, Outbox], None]] = (
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
        }
    )
)
"""Methods that need their channel to be open."""

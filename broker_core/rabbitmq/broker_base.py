"""What the broker's handlers share: its state, and what happens to connections and channels whatever the method
was: a delivery, a close, a refusal.

Source: RabbitMQ 3.10.8, docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.events import Json, capped
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.channel import CONSUMER_TIMEOUT_US, Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.methods import BasicDeliver
from broker_core.rabbitmq.queue import Delivery, WorkQueue
from broker_core.sim.node import Outbox

UNEXPECTED = "CHANNEL_ERROR - unexpected method in connection state running"
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


class BrokerBase:
    def __init__(self, state: BrokerState) -> None:
        self.state = state
        self.connections, self.queues = state.connections, state.queues
        # Who a queue's consumer is, by its key there, and the queue: derived from the channels, for speed.
        self.consumers: dict[str, tuple[Channel, str, WorkQueue]] = {
            channel.consumer_key(tag): (channel, tag, state.queues[queue])
            for connection in state.connections.values() for channel in connection.channels.values()
            for tag, queue in channel.consumers.items()
        }  # fmt: skip

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
        for key, position, redelivered in deliveries:
            channel, tag, queue = consumers[key]
            if redelivered:
                self.state.redelivered += 1
            delivery_tag = channel.deliver(key, position, now_us)
            message = queue.message(position)
            out.send(
                channel.connection,
                BasicDeliver(
                    channel.number, tag, delivery_tag, redelivered, "", channel.consumers[tag], message
                ),
            )

    def without_channel(
        self, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
    ) -> None:
        """A method for a channel that is not open. On one that the broker has just closed, what was on its
        way is dropped; else it is a connection exception."""
        if method.channel not in known.closing:
            text = UNEXPECTED if method.channel == 0 else "CHANNEL_ERROR - expected 'channel.open'"
            self.refuse_connection(connection, codes.CHANNEL_ERROR, text, now_us, out)
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

    def refuse_field(self, connection: int, name: str, value: Any, now_us: int, out: Outbox) -> None:
        """A value that the field cannot carry on the wire, where the codec of a real connection refuses it: the
        specification's syntax-error, a connection exception."""
        text = f"SYNTAX_ERROR - {name} {value!r:.80} does not fit its field"
        self.refuse_connection(connection, codes.SYNTAX_ERROR, text, now_us, out)

    def refuse_connection(self, connection: int, code: int, text: str, now_us: int, out: Outbox) -> None:
        """A connection exception: the client receives the code and the text, and the connection is closed
        with all its channels."""
        out.send(connection, m.ConnectionClose(code, text))
        out.close(connection)
        self.drop(connection, "rabbitmq.connection.exception", now_us, out)

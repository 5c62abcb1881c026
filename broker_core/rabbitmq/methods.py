"""AMQP 0-9-1 methods that our nodes exchange, by the names of the specification.

channel: the channel's number, from 1; 0 is the connection itself. message: the published message's number
(its body is the workload's).
Left out: what no lane plays (exchanges other than the default one, transactions, confirms, basic.get), and
the answers that our programs do not wait for: channel.open-ok, queue.declare-ok, basic.qos-ok,
basic.consume-ok, basic.cancel-ok. A subscription so takes some round trips less than the original's.
Source: AMQP 0-9-1 specification; refusals and their texts as RabbitMQ 3.10.8 gives them
(docs/rabbitmq/facts.md).
"""

from __future__ import annotations

import msgspec

from broker_core.clock import SECOND_US

SHORT_MAX, SHORTSTR_BYTES_MAX = 65_535, 255
"""What a field for a short number or name carries on the wire."""


def is_short_text(text: str) -> bool:
    """Whether a field for a short name carries this text.

    >>> is_short_text("q" * 255), is_short_text("é" * 128)
    (True, False)
    """
    return len(text.encode()) <= SHORTSTR_BYTES_MAX


class _Method(msgspec.Struct, array_like=True, gc=False):
    pass


class ConnectionStartOk(_Method, tag="connection.start-ok"):
    """connection_name: of the client properties, by which people know the program."""

    connection_name: str


class ConnectionClose(_Method, tag="connection.close"):
    """From the broker: a connection exception; the connection is closed at once, and no answer is awaited. From a
    client: it is done."""

    reply_code: int
    reply_text: str


class ConnectionCloseOk(_Method, tag="connection.close-ok"):
    """The broker has closed the connection, as the client asked."""


class ChannelOpen(_Method, tag="channel.open"):
    channel: int


class QueueDeclare(_Method, tag="queue.declare"):
    channel: int
    queue: str


class BasicQos(_Method, tag="basic.qos"):
    """prefetch_count: for each consumer made on this channel from now on (global=false); 0 for no limit."""

    channel: int
    prefetch_count: int


class BasicConsume(_Method, tag="basic.consume"):
    channel: int
    queue: str
    consumer_tag: str


class BasicCancel(_Method, tag="basic.cancel"):
    channel: int
    consumer_tag: str


class BasicPublish(_Method, tag="basic.publish"):
    """To the default exchange: routing_key is the queue's name."""

    channel: int
    routing_key: str
    message: int


class BasicDeliver(_Method, tag="basic.deliver"):
    channel: int
    consumer_tag: str
    delivery_tag: int
    redelivered: bool
    message: int


class BasicAck(_Method, tag="basic.ack"):
    """multiple: all outstanding tags up to this one; with tag 0, all."""

    channel: int
    delivery_tag: int
    multiple: bool = False


class BasicNack(_Method, tag="basic.nack"):
    """With requeue: the messages take their old places again."""

    channel: int
    delivery_tag: int
    multiple: bool = False


class ChannelClose(_Method, tag="channel.close"):
    channel: int
    reply_code: int
    reply_text: str


class ChannelCloseOk(_Method, tag="channel.close-ok"):
    channel: int


class Heartbeat(_Method, tag="heartbeat"):
    """The frame that says no more than that the peer is there."""


Method = (
    ConnectionStartOk
    | ConnectionClose
    | ConnectionCloseOk
    | ChannelOpen
    | QueueDeclare
    | BasicQos
    | BasicConsume
    | BasicCancel
    | BasicPublish
    | BasicDeliver
    | BasicAck
    | BasicNack
    | ChannelClose
    | ChannelCloseOk
    | Heartbeat
)

HEARTBEAT_US = 60 * SECOND_US
"""The interval that server and client agree on by default."""
HEARTBEAT_SEND_US = HEARTBEAT_US // 2
"""A client sends a frame this often, so that one that is late is no silence."""

CHANNEL_MAX = 2_047
"""Channels of one connection, as server and client agree on by default."""

SUCCESS, ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED = 200, 403, 404, 406
SYNTAX_ERROR, COMMAND_INVALID, CHANNEL_ERROR, NOT_ALLOWED = 502, 503, 504, 530

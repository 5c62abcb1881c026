"""Every method of AMQP 0-9-1 with RabbitMQ's extensions, by the names of the specification and with its fields in
its order.

channel: the channel's number, from 1; methods of the connection itself have none, it is 0. Methods that carry a
message have it as their last field: the number of a workload's message, which has no properties and whose payload
is not here, or a `Content`. Reserved fields are left out; they are empty on the wire. `type_` and `global_` are the
specification's type and global.
Source: AMQP 0-9-1 specification and amqp0-9-1.extended.xml of RabbitMQ 3.10.
"""

from __future__ import annotations

import msgspec

from broker_core.clock import SECOND_US
from broker_core.rabbitmq.properties import Content
from broker_core.rabbitmq.values import Table, Value


class _Method(msgspec.Struct, array_like=True, gc=False):
    pass


class ConnectionStart(_Method, tag="connection.start"):
    version_major: int = 0
    version_minor: int = 9
    server_properties: Table = {}
    mechanisms: Value = "AMQPLAIN PLAIN"
    locales: Value = "en_US"


class ConnectionStartOk(_Method, tag="connection.start-ok"):
    """response: `\\0user\\0password`; of AMQPLAIN, too, whose table the codec reads. A long string need not be text."""

    client_properties: Table = {}
    mechanism: str = "PLAIN"
    response: Value = "\0guest\0guest"
    locale: str = "en_US"


class ConnectionSecure(_Method, tag="connection.secure"):
    challenge: Value = ""


class ConnectionSecureOk(_Method, tag="connection.secure-ok"):
    response: Value = ""


class ConnectionTune(_Method, tag="connection.tune"):
    channel_max: int = 2_047
    frame_max: int = 131_072
    heartbeat: int = 60


class ConnectionTuneOk(_Method, tag="connection.tune-ok"):
    channel_max: int = 2_047
    frame_max: int = 131_072
    heartbeat: int = 60


class ConnectionOpen(_Method, tag="connection.open"):
    virtual_host: str = "/"


class ConnectionOpenOk(_Method, tag="connection.open-ok"):
    pass


class ConnectionClose(_Method, tag="connection.close"):
    """From the broker: a connection exception; class_id, method_id: of the method that caused it, or 0."""

    reply_code: int = 200
    reply_text: str = ""
    class_id: int = 0
    method_id: int = 0


class ConnectionCloseOk(_Method, tag="connection.close-ok"):
    pass


class ConnectionBlocked(_Method, tag="connection.blocked"):
    """The broker takes no more publishes for now."""

    reason: str = ""


class ConnectionUnblocked(_Method, tag="connection.unblocked"):
    pass


class ConnectionUpdateSecret(_Method, tag="connection.update-secret"):
    new_secret: Value = ""
    reason: str = ""


class ConnectionUpdateSecretOk(_Method, tag="connection.update-secret-ok"):
    pass


class ChannelOpen(_Method, tag="channel.open"):
    channel: int


class ChannelOpenOk(_Method, tag="channel.open-ok"):
    channel: int
    channel_id: Value = ""


class ChannelFlow(_Method, tag="channel.flow"):
    channel: int
    active: bool = False


class ChannelFlowOk(_Method, tag="channel.flow-ok"):
    channel: int
    active: bool = False


class ChannelClose(_Method, tag="channel.close"):
    """From the broker: a channel exception; class_id, method_id: of the method that caused it."""

    channel: int
    reply_code: int = 200
    reply_text: str = ""
    class_id: int = 0
    method_id: int = 0


class ChannelCloseOk(_Method, tag="channel.close-ok"):
    channel: int


class ExchangeDeclare(_Method, tag="exchange.declare"):
    channel: int
    exchange: str
    type_: str = "direct"
    passive: bool = False
    durable: bool = False
    auto_delete: bool = False
    internal: bool = False
    nowait: bool = False
    arguments: Table = {}


class ExchangeDeclareOk(_Method, tag="exchange.declare-ok"):
    channel: int


class ExchangeDelete(_Method, tag="exchange.delete"):
    channel: int
    exchange: str
    if_unused: bool = False
    nowait: bool = False


class ExchangeDeleteOk(_Method, tag="exchange.delete-ok"):
    channel: int


class ExchangeBind(_Method, tag="exchange.bind"):
    channel: int
    destination: str
    source: str
    routing_key: str = ""
    nowait: bool = False
    arguments: Table = {}


class ExchangeBindOk(_Method, tag="exchange.bind-ok"):
    channel: int


class ExchangeUnbind(_Method, tag="exchange.unbind"):
    channel: int
    destination: str
    source: str
    routing_key: str = ""
    nowait: bool = False
    arguments: Table = {}


class ExchangeUnbindOk(_Method, tag="exchange.unbind-ok"):
    channel: int


class QueueDeclare(_Method, tag="queue.declare"):
    channel: int
    queue: str
    passive: bool = False
    durable: bool = False
    exclusive: bool = False
    auto_delete: bool = False
    nowait: bool = False
    arguments: Table = {}


class QueueDeclareOk(_Method, tag="queue.declare-ok"):
    channel: int
    queue: str
    message_count: int = 0
    consumer_count: int = 0


class QueueBind(_Method, tag="queue.bind"):
    channel: int
    queue: str
    exchange: str
    routing_key: str = ""
    nowait: bool = False
    arguments: Table = {}


class QueueBindOk(_Method, tag="queue.bind-ok"):
    channel: int


class QueueUnbind(_Method, tag="queue.unbind"):
    channel: int
    queue: str
    exchange: str
    routing_key: str = ""
    arguments: Table = {}


class QueueUnbindOk(_Method, tag="queue.unbind-ok"):
    channel: int


class QueuePurge(_Method, tag="queue.purge"):
    channel: int
    queue: str
    nowait: bool = False


class QueuePurgeOk(_Method, tag="queue.purge-ok"):
    channel: int
    message_count: int = 0


class QueueDelete(_Method, tag="queue.delete"):
    channel: int
    queue: str
    if_unused: bool = False
    if_empty: bool = False
    nowait: bool = False


class QueueDeleteOk(_Method, tag="queue.delete-ok"):
    channel: int
    message_count: int = 0


class BasicQos(_Method, tag="basic.qos"):
    """global_: one limit for the whole channel; else for each consumer made on it from now on. 0 for no limit."""

    channel: int
    prefetch_size: int = 0
    prefetch_count: int = 0
    global_: bool = False


class BasicQosOk(_Method, tag="basic.qos-ok"):
    channel: int


class BasicConsume(_Method, tag="basic.consume"):
    channel: int
    queue: str
    consumer_tag: str = ""
    no_local: bool = False
    no_ack: bool = False
    exclusive: bool = False
    nowait: bool = False
    arguments: Table = {}


class BasicConsumeOk(_Method, tag="basic.consume-ok"):
    channel: int
    consumer_tag: str


class BasicCancel(_Method, tag="basic.cancel"):
    """From the broker: the consumer's queue is gone."""

    channel: int
    consumer_tag: str
    nowait: bool = False


class BasicCancelOk(_Method, tag="basic.cancel-ok"):
    channel: int
    consumer_tag: str


class BasicPublish(_Method, tag="basic.publish"):
    channel: int
    exchange: str
    routing_key: str
    mandatory: bool = False
    immediate: bool = False
    message: int | Content = Content()


class BasicReturn(_Method, tag="basic.return"):
    channel: int
    reply_code: int
    reply_text: str
    exchange: str
    routing_key: str
    message: int | Content


class BasicDeliver(_Method, tag="basic.deliver"):
    channel: int
    consumer_tag: str
    delivery_tag: int
    redelivered: bool
    exchange: str
    routing_key: str
    message: int | Content


class BasicGet(_Method, tag="basic.get"):
    channel: int
    queue: str
    no_ack: bool = False


class BasicGetOk(_Method, tag="basic.get-ok"):
    channel: int
    delivery_tag: int
    redelivered: bool
    exchange: str
    routing_key: str
    message_count: int
    message: int | Content


class BasicGetEmpty(_Method, tag="basic.get-empty"):
    channel: int


class BasicAck(_Method, tag="basic.ack"):
    """multiple: all outstanding tags up to this one; with tag 0, all. From the broker: a confirm."""

    channel: int
    delivery_tag: int
    multiple: bool = False


class BasicReject(_Method, tag="basic.reject"):
    channel: int
    delivery_tag: int
    requeue: bool = False


class BasicRecoverAsync(_Method, tag="basic.recover-async"):
    channel: int
    requeue: bool = False


class BasicRecover(_Method, tag="basic.recover"):
    channel: int
    requeue: bool = False


class BasicRecoverOk(_Method, tag="basic.recover-ok"):
    channel: int


class BasicNack(_Method, tag="basic.nack"):
    """requeue: the messages take their old places again; else they are discarded, or dead-lettered. From the broker:
    publishes that it refused."""

    channel: int
    delivery_tag: int
    multiple: bool = False
    requeue: bool = False


class ConfirmSelect(_Method, tag="confirm.select"):
    channel: int
    nowait: bool = False


class ConfirmSelectOk(_Method, tag="confirm.select-ok"):
    channel: int


class TxSelect(_Method, tag="tx.select"):
    channel: int


class TxSelectOk(_Method, tag="tx.select-ok"):
    channel: int


class TxCommit(_Method, tag="tx.commit"):
    channel: int


class TxCommitOk(_Method, tag="tx.commit-ok"):
    channel: int


class TxRollback(_Method, tag="tx.rollback"):
    channel: int


class TxRollbackOk(_Method, tag="tx.rollback-ok"):
    channel: int


class Heartbeat(_Method, tag="heartbeat"):
    """The frame that says no more than that the peer is there. Not a method on the wire."""


class Unreadable(_Method, tag="unreadable"):
    """A peer's bytes are none of the protocol; 0: the connection just ends. Not a method on the wire."""

    reply_code: int = 0
    reply_text: str = ""
    class_id: int = 0
    method_id: int = 0


Method = (
    ConnectionStart | ConnectionStartOk | ConnectionSecure | ConnectionSecureOk | ConnectionTune | ConnectionTuneOk
    | ConnectionOpen | ConnectionOpenOk | ConnectionClose | ConnectionCloseOk | ConnectionBlocked
    | ConnectionUnblocked | ConnectionUpdateSecret | ConnectionUpdateSecretOk
    | ChannelOpen | ChannelOpenOk | ChannelFlow | ChannelFlowOk | ChannelClose | ChannelCloseOk
    | ExchangeDeclare | ExchangeDeclareOk | ExchangeDelete | ExchangeDeleteOk | ExchangeBind | ExchangeBindOk
    | ExchangeUnbind | ExchangeUnbindOk
    | QueueDeclare | QueueDeclareOk | QueueBind | QueueBindOk | QueuePurge | QueuePurgeOk | QueueDelete
    | QueueDeleteOk | QueueUnbind | QueueUnbindOk
    | BasicQos | BasicQosOk | BasicConsume | BasicConsumeOk | BasicCancel | BasicCancelOk | BasicPublish
    | BasicReturn | BasicDeliver | BasicGet | BasicGetOk | BasicGetEmpty | BasicAck | BasicReject
    | BasicRecoverAsync | BasicRecover | BasicRecoverOk | BasicNack
    | ConfirmSelect | ConfirmSelectOk | TxSelect | TxSelectOk | TxCommit | TxCommitOk | TxRollback | TxRollbackOk
    | Heartbeat | Unreadable
)  # fmt: skip

HEARTBEAT_US = 60 * SECOND_US
"""The interval that server and client agree on by default."""
HEARTBEAT_SEND_US = HEARTBEAT_US // 2
"""A client sends a frame this often, so that one that is late is no silence."""

CHANNEL_MAX = 2_047
"""Channels of one connection, as server and client agree on by default."""

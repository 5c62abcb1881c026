"""basic.publish: what is checked, where the message goes, and what the publisher hears of it.

    return (mandatory, no queue) ─► the message to each queue ─► ack, or nack where one refused it

Source: RabbitMQ 3.10 rabbit_channel; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json, sessions.json.gz.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import permissions
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.arguments import expiration_ms
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import CONFIRM, TX, Channel, Publish
from broker_core.rabbitmq.confirms import confirm, written
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.dead_letters import carried_keys
from broker_core.rabbitmq.direct_reply import REPLY_TO, answered_by, is_reply_key, reply_to_of
from broker_core.rabbitmq.messages import FIRST_STORED, Stored
from broker_core.rabbitmq.permissions import IMPERSONATOR, WRITE
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.refusals import Refused, access_refused, not_found, precondition
from broker_core.rabbitmq.values import type_name, type_of
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE, Exchange
from broker_core.sim.node import Outbox


def basic_publish(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.BasicPublish, now_us: int, out: Outbox
) -> None:
    message = method.message
    exchange = check_publish(broker, known, method)
    if channel.mode == CONFIRM:
        channel.last_publish += 1
    if isinstance(message, int) and exchange.name == DEFAULT_EXCHANGE:
        # The workload's: its id says all. Its one queue, if there is one, is named by the key.
        queues: Sequence[ClassicQueue] = named_queue(broker, known, exchange, method.routing_key)
    else:
        content = message if isinstance(message, Content) else Content(message=message)
        stored = made_message(known, channel, exchange, method.routing_key, content)
        if exchange.name == DEFAULT_EXCHANGE and is_reply_key(method.routing_key):
            reply(broker, channel, method.routing_key, stored, method.mandatory, out)
            return
        queues = broker.vhost_of(known).route(exchange.name, stored.routing_keys, stored.content.properties)
        message = broker.messages.add(stored)
    if channel.mode == TX:
        numbers = [queue.number for queue in queues]
        channel.publishes.append(Publish(message, numbers, method.mandatory, method.routing_key))
        return
    deliver_to_queues(broker, channel, message, queues, method.mandatory, now_us, out, method.routing_key)


def check_publish(broker: BrokerBase, known: Connection, method: m.BasicPublish) -> Exchange:
    """Raises Refused. Gives the exchange."""
    if method.immediate:
        raise Refused(codes.NOT_IMPLEMENTED, "immediate=true")
    name, message = method.exchange, method.message
    if type(message) is int and not 0 <= message < FIRST_STORED:
        raise Refused(codes.SYNTAX_ERROR, f"message {message!r:.80} does not fit its field")
    broker.check_access(known, WRITE, "exchange", name)
    exchange = broker.vhost_of(known).exchanges.get(name)
    if exchange is None:
        raise not_found(f"no exchange '{name}' in vhost '{known.vhost}'")
    if exchange.is_internal:
        raise access_refused(f"cannot publish to internal exchange '{name}' in vhost '{known.vhost}'")
    if exchange.type_ == "topic":
        user = broker.state.users[known.user]
        permissions.check_topic_access(user, known.vhost, WRITE, name, method.routing_key)
    if type(message) is Content:
        check_properties(broker, known, message.properties)
    return exchange


def check_properties(broker: BrokerBase, known: Connection, properties: Properties) -> None:
    """Raises Refused."""
    user_id = properties.user_id
    if user_id is not None and user_id != known.user:
        if IMPERSONATOR not in broker.state.users[known.user].tags:
            raise precondition(
                f"user_id property set to '{user_id}' but authenticated user was '{known.user}'"
            )
    if properties.expiration is not None:
        expiration_ms(properties.expiration)


def made_message(
    known: Connection, channel: Channel, exchange: Exchange, routing_key: str, content: Content
) -> Stored:
    """The message as the broker holds it: BCC is taken out of its headers, and a wish for direct replies gets the
    address that it stands for. Raises Refused."""
    properties = content.properties
    if properties.delivery_mode not in (None, 1, 2):
        raise precondition(f"invalid message: {{delivery_mode_unknown,{properties.delivery_mode}}}")
    headers = properties.headers or {}
    for name in ("CC", "BCC"):
        if name in headers and type_of(headers[name]) != "A":
            kind = type_name(headers[name])
            raise precondition(f'invalid message: {{unacceptable_type_in_header,"{name}",{kind}}}')
    keys = [routing_key, *carried_keys(headers)] if headers else [routing_key]
    if "BCC" in headers:
        headers = {name: value for name, value in headers.items() if name != "BCC"}
        properties = msgspec.structs.replace(properties, headers=headers)
    if properties.reply_to == REPLY_TO:
        properties = msgspec.structs.replace(properties, reply_to=reply_to_of(channel))
    if properties is not content.properties:
        content = Content(properties, content.body, content.message)
    return Stored(content, exchange.name, keys)


def named_queue(
    broker: BrokerBase, known: Connection, default: Exchange, routing_key: str
) -> tuple[ClassicQueue, ...]:
    """The queue that the default exchange leads to: `Vhost.route_by_name` for one key."""
    queue = broker.state.vhosts[known.vhost].queues.get(routing_key)
    default.published += 1
    if queue is None:
        default.unroutable += 1
        return ()
    queue.state.named += 1
    return (queue,)


def deliver_to_queues(
    broker: BrokerBase,
    channel: Channel,
    message: int,
    queues: Sequence[ClassicQueue],
    mandatory: bool,
    now_us: int,
    out: Outbox,
    routing_key: str = "",
) -> None:
    """A published message comes to its queues. Its publisher lets go of it then. routing_key: of a workload's message
    that has no queue."""
    number = channel.last_publish
    if mandatory and not queues:
        return_message(broker, channel, message, routing_key, out)
    if broker.ear is not None:
        names = [queue.state.name for queue in queues]
        program, is_returned = broker.connections[channel.connection].name, mandatory and not queues
        broker.ear.published(
            channel.connection, program, channel.vhost, message, routing_key, names, is_returned
        )
    is_refused, written_us = False, 0
    for queue in queues:
        if not broker.publish_to(queue, message, now_us, out):
            is_refused = True
            queue.state.nacked += channel.mode == CONFIRM
        elif message >= FIRST_STORED and queue.state.is_durable:
            written_us = max(written_us, written(broker, message, now_us, out))
    broker.messages.release(message)
    if channel.mode == CONFIRM:
        confirm(channel, number, is_refused, written_us, now_us, out)


def return_message(broker: BrokerBase, channel: Channel, message: int, routing_key: str, out: Outbox) -> None:
    """A mandatory message that reaches no queue goes back."""
    exchange, content = DEFAULT_EXCHANGE, Content(message=message) if message < FIRST_STORED else None
    if content is None:
        stored = broker.messages.at[message]
        exchange, routing_key, content = stored.exchange, stored.routing_keys[0], stored.content
    out.send(
        channel.connection,
        m.BasicReturn(channel.number, codes.NO_ROUTE, "NO_ROUTE", exchange, routing_key, content),
    )


def reply(
    broker: BrokerBase, channel: Channel, routing_key: str, stored: Stored, mandatory: bool, out: Outbox
) -> None:
    """A direct reply goes straight to the channel that waits for it."""
    asker = answered_by(broker.channels, routing_key)
    default = broker.state.vhosts[channel.vhost].exchanges[DEFAULT_EXCHANGE]
    default.published += 1
    default.unroutable += asker is None
    if asker is not None:
        asker.last_tag += 1
        out.send(
            asker.connection,
            m.BasicDeliver(
                asker.number,
                asker.reply_tag,
                asker.last_tag,
                False,
                DEFAULT_EXCHANGE,
                routing_key,
                stored.content,
            ),
        )
    elif mandatory:
        out.send(
            channel.connection,
            m.BasicReturn(
                channel.number, codes.NO_ROUTE, "NO_ROUTE", DEFAULT_EXCHANGE, routing_key, stored.content
            ),
        )
    if channel.mode == CONFIRM:
        out.send(channel.connection, m.BasicAck(channel.number, channel.last_publish))

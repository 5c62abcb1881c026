"""exchange.* and queue.*: declaring, deleting, binding, purging.

Source: RabbitMQ 3.10 rabbit_channel, rabbit_exchange, rabbit_amqqueue, rabbit_binding; docs/rabbitmq/facts.md. Vectors:
rabbitmq/topology.json, sessions.json.gz.
"""

from __future__ import annotations

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import permissions
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.arguments import (
    QUEUE_ARGUMENTS,
    check_queue_arguments,
    check_queue_type,
    check_same_arguments,
    check_same_property,
    named_exchange,
)
from broker_core.rabbitmq.broker_base import BrokerBase, made_name
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.handlers.names import (
    check_not_default,
    check_not_reserved,
    check_owner,
    exchange_text,
    existing_queue,
    locked,
    meant_queue,
    queue_text,
    stripped,
)
from broker_core.rabbitmq.permissions import CONFIGURE, READ, WRITE
from broker_core.rabbitmq.queues.classic import ClassicQueue, QueueState
from broker_core.rabbitmq.refusals import Refused, access_refused, not_found, precondition
from broker_core.rabbitmq.values import Table
from broker_core.rabbitmq.vhost import EXCHANGE, QUEUE, made
from broker_core.sim.node import Outbox

QUEUE_KEYS = tuple(QUEUE_ARGUMENTS)


def exchange_declare(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    method: m.ExchangeDeclare,
    now_us: int,
    out: Outbox,
) -> None:
    name, vhost = stripped(method.exchange), broker.vhost_of(known)
    text = exchange_text(known, name)
    if method.passive:
        check_not_default(name)
        if name not in vhost.exchanges:
            raise not_found(f"no {text}")
    else:
        if method.type_ not in EXCHANGE_TYPES:
            what = "unknown" if method.type_ else "invalid"
            raise Refused(codes.COMMAND_INVALID, f"{what} exchange type '{method.type_}'")
        check_not_default(name)
        broker.check_access(known, CONFIGURE, "exchange", name)
        exchange = vhost.exchanges.get(name)
        if exchange is None:
            check_not_reserved("exchange", name)
            alternate = named_exchange(method.arguments, "alternate-exchange", text)
            if alternate is not None:
                broker.check_access(known, READ, "exchange", name)
                broker.check_access(known, WRITE, "exchange", alternate)
            EXCHANGE_TYPES[method.type_].check_exchange(method.arguments)
            vhost.exchanges[name] = made(
                name, method.type_, method.durable, method.auto_delete, method.internal, method.arguments
            )
        else:
            check_same_property("type", exchange.type_, method.type_, text)
            check_same_property("durable", exchange.is_durable, method.durable, text)
            check_same_property("auto_delete", exchange.is_auto_delete, method.auto_delete, text)
            check_same_property("internal", exchange.is_internal, method.internal, text)
            check_same_arguments(exchange.arguments, method.arguments, ["alternate-exchange"], text)
    if not method.nowait:
        out.send(channel.connection, m.ExchangeDeclareOk(channel.number))


def exchange_delete(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    method: m.ExchangeDelete,
    now_us: int,
    out: Outbox,
) -> None:
    """In use is what is the source of a binding."""
    name, vhost = stripped(method.exchange), broker.vhost_of(known)
    text = exchange_text(known, name)
    check_not_default(name)
    if name.startswith("amq."):
        raise access_refused(f"deletion of system {text} not allowed")
    broker.check_access(known, CONFIGURE, "exchange", name)
    exchange = vhost.exchanges.get(name)
    if exchange is not None:
        if method.if_unused and len(exchange.bindings):
            raise precondition(f"{text} in use")
        vhost.delete_exchange(name)
    if not method.nowait:
        out.send(channel.connection, m.ExchangeDeleteOk(channel.number))


def queue_declare(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.QueueDeclare, now_us: int, out: Outbox
) -> None:
    """An empty name asks the broker for one."""
    name, vhost = stripped(method.queue), broker.vhost_of(known)
    if method.passive:
        queue = existing_queue(broker, known, channel, name)
    else:
        if name:
            check_not_reserved("queue", name)
        else:
            name = made_name("amq.gen-", out)
        broker.check_access(known, CONFIGURE, "queue", name)
        found = vhost.queues.get(name)
        if found is None:
            queue = new_queue(broker, known, channel, name, method)
        else:
            check_same_queue(found, known, channel, method)
            queue = found
    channel.last_queue = name
    broker.used(queue, now_us, out)
    if not method.nowait:
        ok = m.QueueDeclareOk(channel.number, name, queue.ready, len(queue.consumers.by_key))
        out.send(channel.connection, ok)


def new_queue(
    broker: BrokerBase, known: Connection, channel: Channel, name: str, method: m.QueueDeclare
) -> ClassicQueue:
    """Raises Refused for arguments that the server does not take, or for a dead letter exchange that the user may not
    write to."""
    text = queue_text(known, name)
    dead_letters = named_exchange(method.arguments, "x-dead-letter-exchange", text)
    if dead_letters is not None:
        broker.check_access(known, READ, "queue", name)
        broker.check_access(known, WRITE, "exchange", dead_letters)
    check_queue_type(method.arguments, method.durable, text)
    check_queue_arguments(method.arguments, text)
    broker.state.last_queue += 1
    owner = channel.connection if method.exclusive else 0
    queue = ClassicQueue(
        QueueState(
            broker.state.last_queue,
            name,
            known.vhost,
            method.durable and not method.exclusive,
            method.auto_delete,
            owner,
            method.arguments,
        )
    )
    broker.vhost_of(known).queues[name] = queue
    broker.add_queue(queue)
    return queue


def check_same_queue(
    queue: ClassicQueue, known: Connection, channel: Channel, method: m.QueueDeclare
) -> None:
    """Raises Refused for the first thing in which a declaration differs from what is there."""
    text = queue_text(known, queue.name)
    if queue.state.owner != (channel.connection if method.exclusive else 0):
        raise locked(known, queue.name)
    is_durable = method.durable and not method.exclusive  # which would never come back
    check_same_property("durable", queue.state.is_durable, is_durable, text)
    check_same_property("auto_delete", queue.state.is_auto_delete, method.auto_delete, text)
    check_same_arguments(queue.state.arguments, method.arguments, QUEUE_KEYS, text)


def queue_delete(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.QueueDelete, now_us: int, out: Outbox
) -> None:
    """What is not there is deleted already. The answer comes first, then the consumers hear of it."""
    name, vhost = meant_queue(channel, method.queue), broker.vhost_of(known)
    text = queue_text(known, name)
    broker.check_access(known, CONFIGURE, "queue", name)
    queue = vhost.queues.get(name)
    if queue is not None:
        check_owner(queue, channel, known)
        if method.if_unused and queue.consumers.by_key:
            raise precondition(f"{text} in use")
        if method.if_empty and queue.ready:
            raise precondition(f"{text} not empty")
    if not method.nowait:
        ready = 0 if queue is None else queue.ready
        out.send(channel.connection, m.QueueDeleteOk(channel.number, ready))
    if queue is not None:
        broker.delete_queue(queue, now_us, out)


def queue_purge(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.QueuePurge, now_us: int, out: Outbox
) -> None:
    name = meant_queue(channel, method.queue)
    broker.check_access(known, READ, "queue", name)
    queue = existing_queue(broker, known, channel, name)
    if broker.ear is not None:
        for position, _ in queue.head(queue.ready):
            broker.ear.dropped(queue.bodies[position], queue.name, "purged")
    count = queue.purge()
    if not method.nowait:
        out.send(channel.connection, m.QueuePurgeOk(channel.number, count))


def queue_bind(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.QueueBind, now_us: int, out: Outbox
) -> None:
    """Without a queue's name and key, the last queue is bound by its own name."""
    name = meant_queue(channel, method.queue)
    key = name if not method.queue and not method.routing_key else method.routing_key
    bind(broker, known, channel, QUEUE, name, method.exchange, key, method.arguments)
    if not method.nowait:
        out.send(channel.connection, m.QueueBindOk(channel.number))


def queue_unbind(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.QueueUnbind, now_us: int, out: Outbox
) -> None:
    name = meant_queue(channel, method.queue)
    key = name if not method.queue and not method.routing_key else method.routing_key
    unbind(broker, known, channel, QUEUE, name, method.exchange, key, method.arguments)
    out.send(channel.connection, m.QueueUnbindOk(channel.number))


def exchange_bind(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.ExchangeBind, now_us: int, out: Outbox
) -> None:
    name = stripped(method.destination)
    bind(broker, known, channel, EXCHANGE, name, method.source, method.routing_key, method.arguments)
    if not method.nowait:
        out.send(channel.connection, m.ExchangeBindOk(channel.number))


def exchange_unbind(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    method: m.ExchangeUnbind,
    now_us: int,
    out: Outbox,
) -> None:
    name = stripped(method.destination)
    unbind(broker, known, channel, EXCHANGE, name, method.source, method.routing_key, method.arguments)
    if not method.nowait:
        out.send(channel.connection, m.ExchangeUnbindOk(channel.number))


def bind(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    kind: str,
    destination: str,
    source: str,
    key: str,
    arguments: Table,
) -> None:
    """Raises Refused: a missing exchange is named before a missing destination."""
    source, vhost = stripped(source), broker.vhost_of(known)
    check_binding(broker, known, kind, destination, source, key)
    exchange = vhost.exchanges.get(source)
    if exchange is None:
        raise not_found(f"no {exchange_text(known, source)}")
    if kind == EXCHANGE and destination not in vhost.exchanges:
        raise not_found(f"no {exchange_text(known, destination)}")
    if kind == QUEUE and destination not in vhost.queues:
        raise not_found(f"no {queue_text(known, destination)}")
    wrong = exchange.bindings.check(key, arguments)
    if wrong:
        raise precondition(wrong)
    if kind == QUEUE:
        check_owner(vhost.queues[destination], channel, known)
    vhost.bind(source, kind, destination, key, arguments)


def unbind(
    broker: BrokerBase,
    known: Connection,
    channel: Channel,
    kind: str,
    destination: str,
    source: str,
    key: str,
    arguments: Table,
) -> None:
    """What is not bound is unbound already."""
    source, vhost = stripped(source), broker.vhost_of(known)
    check_binding(broker, known, kind, destination, source, key)
    if source not in vhost.exchanges or not vhost.is_bound(source, kind, destination, key, arguments):
        return
    if kind == QUEUE:
        check_owner(vhost.queues[destination], channel, known)
    vhost.unbind(source, kind, destination, key, arguments)


def check_binding(
    broker: BrokerBase, known: Connection, kind: str, destination: str, source: str, key: str
) -> None:
    """Raises Refused: a binding needs write on its destination and read on its source."""
    broker.check_access(known, WRITE, kind, destination)
    if kind == EXCHANGE:
        check_not_default(destination)
    check_not_default(source)
    broker.check_access(known, READ, "exchange", source)
    exchange = broker.vhost_of(known).exchanges.get(source)
    if exchange is not None and exchange.type_ == "topic":
        user = broker.state.users[known.user]
        permissions.check_topic_access(user, known.vhost, READ, source, key)

"""Which queues a method concerns: those that it names, that its message goes to, or that its delivery came from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.dead_letters import carried_keys
from broker_core.rabbitmq.properties import NO_PROPERTIES, Content
from broker_core.rabbitmq.vhost import QUEUE

_SETTLES = (m.BasicAck, m.BasicNack, m.BasicReject)
_OF_CONSUMER = (m.BasicDeliver, m.BasicCancel, m.BasicCancelOk, m.BasicConsumeOk)


def queues_of(broker: BrokerBase, known: Connection, channel: Channel | None, method: Any) -> Collection[str]:
    """Names, of the connection's virtual host; nothing is counted or changed. A confirm concerns none."""
    if isinstance(method, m.BasicPublish):
        return _reached(broker, known, method)
    if channel is None:
        return ()
    if isinstance(method, _SETTLES):
        return _settled(broker, channel, method.delivery_tag, getattr(method, "multiple", False))
    if isinstance(method, m.BasicGetOk):
        return _settled(broker, channel, method.delivery_tag, False)
    if isinstance(method, _OF_CONSUMER):
        number = channel.consumers.get(method.consumer_tag, 0)
        return [broker.queues[number].name] if number in broker.queues else ()
    name = getattr(method, "queue", None)
    return () if name is None else [name or channel.last_queue]


def _reached(broker: BrokerBase, known: Connection, method: m.BasicPublish) -> Collection[str]:
    vhost = broker.state.vhosts.get(known.vhost)
    if vhost is None:
        return ()
    properties = method.message.properties if isinstance(method.message, Content) else NO_PROPERTIES
    keys = [method.routing_key, *carried_keys(properties.headers or {})]
    hops = vhost.explain(method.exchange, keys, properties)
    return [hop.name for hop in hops if hop.kind == QUEUE]


def _settled(broker: BrokerBase, channel: Channel, tag: int, multiple: bool) -> Collection[str]:
    numbers = [
        number
        for each, (number, *_) in channel.unacked.items()
        if each == tag or (multiple and (not tag or each < tag))
    ]
    return {broker.queues[number].name for number in numbers if number in broker.queues}

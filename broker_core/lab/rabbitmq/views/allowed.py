"""Would this be allowed? The server's own answer to an operation, without doing it: one that has the user, the virtual
host and the exchanges that are named, and nothing else, is sent the method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.roles import Login
from broker_core.rabbitmq.lone_server import LoneServer
from broker_core.rabbitmq.permissions import User
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.rabbitmq.vhost import PREDECLARED, Vhost, made


class Asked(msgspec.Struct, frozen=True):
    """What an operation names. destination: the exchange that a binding goes to. type, is_internal: of the exchange,
    "" where there is none of that name."""

    queue: str = ""
    exchange: str = ""
    destination: str = ""
    key: str = ""
    type: str = ""
    is_internal: bool = False


def _publish(asked: Asked) -> m.Method:
    return m.BasicPublish(CHANNEL, asked.exchange, asked.key, False, False, Content(Properties(), b"", 0))


OPERATIONS: Mapping[str, Callable[[Asked], m.Method]] = MappingProxyType({
    "queue.declare": lambda asked: m.QueueDeclare(CHANNEL, asked.queue),
    "queue.delete": lambda asked: m.QueueDelete(CHANNEL, asked.queue),
    "exchange.declare": lambda asked: m.ExchangeDeclare(CHANNEL, asked.exchange, asked.type or "direct"),
    "exchange.delete": lambda asked: m.ExchangeDelete(CHANNEL, asked.exchange),
    "queue.bind": lambda asked: m.QueueBind(CHANNEL, asked.queue, asked.exchange, asked.key),
    "queue.unbind": lambda asked: m.QueueUnbind(CHANNEL, asked.queue, asked.exchange, asked.key),
    "exchange.bind": lambda asked: m.ExchangeBind(CHANNEL, asked.destination, asked.exchange, asked.key),
    "exchange.unbind": lambda asked: m.ExchangeUnbind(CHANNEL, asked.destination, asked.exchange, asked.key),
    "basic.publish": _publish,
    "basic.consume": lambda asked: m.BasicConsume(CHANNEL, asked.queue),
    "basic.get": lambda asked: m.BasicGet(CHANNEL, asked.queue),
    "queue.purge": lambda asked: m.QueuePurge(CHANNEL, asked.queue),
})  # fmt: skip
"""Operation -> the method that it is."""
RIGHTS = (codes.ACCESS_REFUSED, codes.NOT_ALLOWED)
"""Codes of what a user may not do; any other, such as 404, is no question of permissions."""
PASSWORD = "asked"


def refusal_of(known: User | None, user: str, vhost: str, operation: str, asked: Asked) -> str:
    """The server's text, with its code, for an operation of OPERATIONS that it would not allow this user; "" for one
    that it would. known: the user of that name, None where there is none."""
    alone = LoneServer()
    alone.state.users[user] = replace(known, password=PASSWORD) if known else User(user, PASSWORD)
    alone.state.vhosts[vhost] = place = Vhost(vhost)
    if asked.type and asked.exchange not in PREDECLARED:
        place.exchanges[asked.exchange] = made(
            asked.exchange, asked.type, False, False, asked.is_internal, {}
        )
    refused = alone.refusal(Login(user, PASSWORD, vhost), OPERATIONS[operation](asked))
    if refused is None or refused[0] not in RIGHTS:
        return ""
    return f"{refused[0]} {refused[1]}"

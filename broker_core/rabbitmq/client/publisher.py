"""A publishing program: for each of its roles a connection, with one channel, on which it publishes every so-manieth
record.

What a connection takes with it when it is lost depends on confirms. Without them the program never learns what
arrived, and what its application hands it meanwhile is lost; with them it keeps what is not confirmed, and
publishes that once more when it is connected again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.connecting import RECONNECT_US, connect
from broker_core.rabbitmq.client.roles import PublisherRole
from broker_core.rabbitmq.methods import BasicPublish
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.rabbitmq.values import Table, Value
from broker_core.sim.node import Closed, Outbox

KEY = "{key}"


class Declare(msgspec.Struct, frozen=True, tag="rabbitmq.publisher.declare", array_like=True):
    """A person starts the publisher: connect to `broker` and declare what its roles declare."""

    broker: str


class Keys(Protocol):
    """What the application knows of its records."""

    def key_code(self, message: int) -> int: ...
    def key(self, code: int) -> str: ...


@dataclass(slots=True)
class Publishing:
    """One role at work.

    connection: 0 while there is none. unconfirmed: number of a publish on the channel -> message. waiting: messages
    to publish when it is connected again. last_publish: publishes since confirm.select. published, confirmed,
    nacked, returned, lost: messages so far; lost: that it never sent, or that a channel exception took. returned_key:
    routing key of the last one returned. refused, refused_text: the connection's last
    exception, 0 and "" for none.
    """

    role: PublisherRole
    connection: int = 0
    is_blocked: bool = False
    unconfirmed: dict[int, int] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    last_publish: int = 0
    published: int = 0
    confirmed: int = 0
    nacked: int = 0
    returned: int = 0
    returned_key: str = ""
    lost: int = 0
    refused: int = 0
    refused_text: str = ""


@dataclass(slots=True)
class PublisherState:
    """broker: node that it connects to, "" before it is started."""

    roles: list[Publishing]
    broker: str = ""

    @classmethod
    def of(cls, *roles: PublisherRole) -> PublisherState:
        return cls([Publishing(role) for role in roles])


class Publisher:
    def __init__(
        self,
        state: PublisherState,
        keys: Keys,
        declares: Callable[[PublisherRole], list[m.Method]] = lambda role: [],
    ) -> None:
        """declares: what the program makes sure of when it connects again."""
        self.state = state
        self.roles = state.roles
        self.keys = keys
        self.declares = declares

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if type(message) is Declare:
            self.state.broker = message.broker
            for each in self.roles:
                self.connect(each, out)
            out.deadline("heartbeat", now_us + m.HEARTBEAT_SEND_US)
            return
        place = next((place for place, each in enumerate(self.roles) if each.connection == connection), None)
        if place is None:
            return  # a connection that it has given up
        each = self.roles[place]
        match message:
            case m.BasicAck(_, tag, multiple):
                each.confirmed += self.settled(each, tag, multiple)
            case m.BasicNack(_, tag, multiple):
                each.nacked += self.settled(each, tag, multiple)
            case m.BasicReturn(_, code, text, exchange, key):
                self.note_return(each, code, text, exchange, key, out)
            case m.ChannelClose(_, code, text):
                self.note_refusal(each, code, text, out)
                each.lost += len(each.unconfirmed)
                each.unconfirmed.clear()
                out.send(connection, m.ChannelCloseOk(CHANNEL))
                out.send(connection, m.ChannelOpen(CHANNEL))
                self.begin(each, out)
            case m.ConnectionClose(code, text):
                if code != codes.CONNECTION_FORCED:
                    self.note_refusal(each, code, text, out)
            case m.ConnectionBlocked():
                each.is_blocked = True
            case m.ConnectionUnblocked():
                each.is_blocked = False
            case Closed():
                each.connection, each.is_blocked = 0, False
                each.waiting = [*each.unconfirmed.values(), *each.waiting]
                each.unconfirmed.clear()
                out.deadline(f"connect:{place}", now_us + RECONNECT_US)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        kind, _, place = name.partition(":")
        if kind == "connect":
            each = self.roles[int(place)]
            self.connect(each, out, self.declares(each.role))
            return
        for each in self.roles:
            if each.connection:
                out.send(each.connection, m.Heartbeat())
        out.deadline(name, now_us + m.HEARTBEAT_SEND_US)

    # -- what it does ----------------------------------------------------------------------------------------

    def publish(self, message: int, key: int) -> tuple[int, BasicPublish | None]:
        """The application has a message to send: on which connection, and what; 0 and None while its role has none.
        message: its number, above all earlier ones; key: the code of its key."""
        roles = self.roles
        each = roles[message % len(roles)]
        if each.connection:
            return each.connection, self.made(each, message, key)
        if each.role.confirms:
            each.waiting.append(message)
        else:
            each.lost += 1
        return 0, None

    def made(self, each: Publishing, message: int, key: int) -> BasicPublish:
        role, turn = each.role, message // len(self.roles)
        each.published += 1
        if role.confirms:
            each.last_publish += 1
            each.unconfirmed[each.last_publish] = message
        routing_key = self.routing_key(role, turn, key)
        body: int | Content = message
        if role.has_properties:
            body = Content(self.properties(role, turn, key), b"", message)
        return BasicPublish(CHANNEL, role.exchange, routing_key, role.mandatory, False, body)

    def routing_key(self, role: PublisherRole, turn: int, key: int) -> str:
        routing_key = role.routing_keys[turn % len(role.routing_keys)]
        return routing_key.replace(KEY, self.keys.key(key)) if KEY in routing_key else routing_key

    def properties(self, role: PublisherRole, turn: int, key: int) -> Properties:
        headers: Table | None = None
        if role.headers:
            headers = self.filled(role.headers[turn % len(role.headers)], key)
        return Properties(
            headers=headers,
            delivery_mode=role.delivery_mode or None,
            priority=role.priorities[turn % len(role.priorities)] if role.priorities else None,
            expiration=role.expiration or None,
        )

    def filled(self, value: Value, key: int) -> Value:
        """With the record's key in place of `{key}`."""
        if isinstance(value, str):
            return value.replace(KEY, self.keys.key(key)) if KEY in value else value
        if isinstance(value, dict):
            return {name: self.filled(inner, key) for name, inner in value.items()}
        return value

    def connect(self, each: Publishing, out: Outbox, declares: list[m.Method] | None = None) -> None:
        each.connection = connect(self.state.broker, each.role.name, each.role.login, out)
        each.refused, each.refused_text = 0, ""
        for method in declares or ():
            out.send(each.connection, method)
        self.begin(each, out)
        waiting, each.waiting = each.waiting, []
        for message in waiting:
            out.send(each.connection, self.made(each, message, self.keys.key_code(message)))

    def begin(self, each: Publishing, out: Outbox) -> None:
        """On a channel just opened."""
        each.last_publish = 0
        if each.role.declares:
            out.send(each.connection, m.QueueDeclare(CHANNEL, each.role.declares))
        if each.role.confirms:
            out.send(each.connection, m.ConfirmSelect(CHANNEL))

    def settled(self, each: Publishing, tag: int, multiple: bool) -> int:
        """How many publishes this confirm is about."""
        if not multiple:
            return int(each.unconfirmed.pop(tag, None) is not None)
        tags = [number for number in each.unconfirmed if not tag or number <= tag]
        for number in tags:
            del each.unconfirmed[number]
        return len(tags)

    def note_return(
        self, each: Publishing, code: int, text: str, exchange: str, key: str, out: Outbox
    ) -> None:
        each.returned += 1
        if each.returned == 1:  # the others are counted: every record may come back
            out.tell(
                "rabbitmq.publisher.returned",
                "rabbitmq.exchange.no_route",
                {"reply_code": code, "reply_text": text},
                {"publisher": each.role.name, "exchange": exchange, "routing_key": key},
            )
        each.returned_key = key

    def note_refusal(self, each: Publishing, code: int, text: str, out: Outbox) -> None:
        if each.refused_text != text:  # the same again with every record is no news
            out.tell(
                "rabbitmq.publisher.refused",
                None,
                {"reply_code": code, "reply_text": text},
                {"publisher": each.role.name},
            )
        each.refused, each.refused_text = code, text

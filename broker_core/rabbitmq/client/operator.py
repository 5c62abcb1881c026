"""A person at a client of their own: methods are sent on a connection that is made for them, and what the broker
answers, or refuses with which code and text, becomes a turning point.

The channel confirms publishes, so that each method has an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.events import Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.connecting import connect
from broker_core.rabbitmq.client.roles import Login
from broker_core.rabbitmq.properties import number_of
from broker_core.sim.node import Closed, Outbox

NAME, HEARTBEAT = "operator", "heartbeat"
ACK, REQUEUE, REJECT = "ack", "requeue", "reject"
SETTLES = (REQUEUE, ACK, REJECT)
"""What becomes of a message that a person gets."""


class Ask(msgspec.Struct, frozen=True, tag="rabbitmq.operator.ask", array_like=True):
    """Send these to the broker, the node `broker`. what: the order in a person's words. settles: what becomes of a
    message that basic.get brings. is_silent: nothing is reported of the answers."""

    broker: str
    login: Login
    methods: list[m.Method]
    what: Json = {}
    settles: str = REQUEUE
    is_silent: bool = False


@dataclass(slots=True)
class Asked:
    """what, settles: as ordered. left: answers that are to come. is_exclusive: it declares
    an exclusive queue. message: number of the one that is published. data: what the answers said."""

    what: dict[str, Any]
    settles: str
    left: int
    is_silent: bool
    login: Login
    is_exclusive: bool = False
    message: int | None = None
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Held:
    """A connection that stays open, as exclusive queues live as long as it does. queues: those."""

    login: Login
    queues: list[str] = field(default_factory=list)


@dataclass(slots=True)
class OperatorState:
    """asked: connection -> order that its answers belong to. held: connections that stay open after their order."""

    asked: dict[int, Asked] = field(default_factory=dict)
    held: dict[int, Held] = field(default_factory=dict)


class Operator:
    def __init__(
        self, state: OperatorState, reached: Callable[[int], bool | None] = lambda message: None
    ) -> None:
        """reached: what whoever watches the broker knows of a published message, as no answer says whether a queue took
        it."""
        self.state, self.reached = state, reached

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if type(message) is Ask:
            self.ask(message, out)
            return
        if type(message) is Closed or type(message) is m.ConnectionClose:
            self.state.held.pop(connection, None)
        elif type(message) is m.ChannelClose and connection in self.state.held:
            for method in (m.ChannelCloseOk(CHANNEL), m.ChannelOpen(CHANNEL), m.ConfirmSelect(CHANNEL)):
                out.send(connection, method)
        asked = self.state.asked.get(connection)
        if asked is None:
            return
        match message:
            case m.ChannelClose(_, code, text) | m.ConnectionClose(code, text):
                if not asked.is_silent:
                    refusal = {"reply_code": code, "reply_text": text}
                    out.tell("rabbitmq.operator.refused", None, refusal, asked.what)
                self.finish(connection, out)
            case Closed():
                del self.state.asked[connection]
            case m.BasicReturn():
                asked.data["returned"] = True
            case m.BasicGetOk():
                asked.data |= {
                    "message": number_of(message.message),
                    "redelivered": message.redelivered,
                    "exchange": message.exchange,
                    "routing_key": message.routing_key,
                    "left": message.message_count,
                }
                if asked.settles == ACK:
                    out.send(connection, m.BasicAck(CHANNEL, message.delivery_tag))
                else:
                    out.send(
                        connection, m.BasicReject(CHANNEL, message.delivery_tag, asked.settles == REQUEUE)
                    )
                self.answered(connection, asked, out)
            case m.QueueDeclareOk(_, name, count):
                asked.data |= {"count": count, "queue": name}
                if asked.is_exclusive:
                    self.hold(connection, asked.login, name, now_us, out)
                self.answered(connection, asked, out)
            case m.QueueDeleteOk(_, count) | m.QueuePurgeOk(_, count):
                asked.data["count"] = count
                if type(message) is m.QueueDeleteOk:
                    self.let_go(connection, asked.what.get("name"))
                self.answered(connection, asked, out)
            case m.BasicGetEmpty():
                asked.data["empty"] = True
                self.answered(connection, asked, out)
            case m.BasicAck() if asked.message is not None:
                if not asked.data.get("returned") and self.reached(asked.message) is False:
                    asked.data["unrouted"] = True
                self.answered(connection, asked, out)
            case m.BasicNack():
                asked.data["nacked"] = True
                self.answered(connection, asked, out)
            case (
                m.ExchangeDeclareOk()
                | m.ExchangeDeleteOk()
                | m.ExchangeBindOk()
                | m.ExchangeUnbindOk()
                | m.QueueBindOk()
                | m.QueueUnbindOk()
                | m.BasicAck()
            ):
                self.answered(connection, asked, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        for connection in self.state.held:
            out.send(connection, m.Heartbeat())
        if self.state.held:
            out.deadline(name, now_us + m.HEARTBEAT_SEND_US)

    def hold(self, connection: int, login: Login, queue: str, now_us: int, out: Outbox) -> None:
        if not self.state.held:
            out.deadline(HEARTBEAT, now_us + m.HEARTBEAT_SEND_US)
        queues = self.state.held.setdefault(connection, Held(login)).queues
        if queue not in queues:
            queues.append(queue)

    def let_go(self, connection: int, queue: str | None) -> None:
        held = self.state.held.get(connection)
        if held is not None and queue in held.queues:
            held.queues.remove(queue)
            if not held.queues:
                del self.state.held[connection]

    def connection_of(self, order: Ask, out: Outbox) -> int:
        """One that is held for the same user and virtual host, and waits for nothing, may touch its exclusive queues."""
        for connection, held in self.state.held.items():
            if held.login == order.login and connection not in self.state.asked:
                return connection
        connection = connect(order.broker, NAME, order.login, out)
        out.send(connection, m.ConfirmSelect(CHANNEL))
        return connection

    def ask(self, order: Ask, out: Outbox) -> None:
        connection = self.connection_of(order, out)
        for method in order.methods:
            out.send(connection, method)
        published = [number_of(each.message) for each in order.methods if isinstance(each, m.BasicPublish)]
        message = published[0] if published else None
        left = len(order.methods)
        is_exclusive = any(isinstance(each, m.QueueDeclare) and each.exclusive for each in order.methods)
        self.state.asked[connection] = Asked(
            order.what, order.settles, left, order.is_silent, order.login, is_exclusive, message
        )

    def answered(self, connection: int, asked: Asked, out: Outbox) -> None:
        asked.left -= 1
        if asked.left:
            return
        if not asked.is_silent:
            out.tell("rabbitmq.operator.answered", None, {}, asked.what | asked.data)
        self.finish(connection, out)

    def finish(self, connection: int, out: Outbox) -> None:
        del self.state.asked[connection]
        if connection not in self.state.held:
            out.close(connection)

"""A life of clients that send anything: whole methods, damaged ones, frames of any kind and channel, in any state of a connection and
cut anywhere. Each frame is a turn of a run.

A client that was refused, or that the server has cut off, comes again as a new one.
"""

from __future__ import annotations

import random
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.remote import Arrived
from broker_core.wire.amqp.sender import encode
from tests.core.serve.wire_clients import Client, Turns

SOCKETS = 3
OPENING = (
    m.ConnectionStartOk(), m.ConnectionTuneOk(heartbeat=0), m.ConnectionOpen(), m.ChannelOpen(1), m.ChannelOpen(2)
)  # fmt: skip
ARGUMENTS: tuple[dict[str, int], ...] = ({}, {"x-max-length": 2}, {"x-message-ttl": 5}, {"x-max-length": -1})
NAMES = ("", "q", "p", "amq.topic", "amq.gen-x", "e")


class FrameLife:
    """closes: code of each connection.close and channel.close that the server sent. opened: how many clients came as far as
    a channel."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.turns = Turns()
        self.clients: dict[int, Client] = {}
        self.last_socket = self.opened = self.frames = 0
        self.closes: set[int] = set()

    def run(self, frames: int) -> FrameLife:
        while self.frames < frames:
            if len(self.clients) < SOCKETS:
                self._come()
            one = self.draw.choice(list(self.clients.values()))
            self._send(one, self._frame())
        return self

    def _come(self) -> None:
        """A new client; most of them open channels first, the others stop on the way there."""
        self.last_socket += 1
        one = self.clients[self.last_socket] = Client(self.turns, self.last_socket)
        steps = [PROTOCOL_HEADER, *map(encode, OPENING)]
        whole = self.draw.random() < 0.8
        for data in steps if whole else steps[: self.draw.randrange(len(steps))]:
            if one.number not in self.clients:
                return
            self._send(one, data)
        self.opened += whole

    def _send(self, one: Client, data: bytes) -> None:
        self.frames += 1
        cut = self.draw.randrange(len(data) + 1) if self.draw.random() < 0.2 else len(data)
        for part in (data[:cut], data[cut:]):
            if part:
                self.turns.act(one.number, Arrived(part))
        for method in one.received():
            if isinstance(method, m.ConnectionClose | m.ChannelClose):
                self.closes.add(method.reply_code)
            if isinstance(method, m.ConnectionClose):
                self.clients.pop(one.number, None)
                one.hang_up()
            elif isinstance(method, m.ChannelClose):
                self.turns.act(one.number, Arrived(encode(m.ChannelCloseOk(method.channel))))
        for number in self.turns.ended:
            self.clients.pop(number, None)
        self.turns.ended.clear()

    def _frame(self) -> bytes:
        draw = self.draw
        data = bytearray(encode(self._method()))
        how = draw.random()
        if how < 0.55:
            return bytes(data)
        if how < 0.75:  # damaged in a few places
            for _ in range(draw.randint(1, 3)):
                data[draw.randrange(len(data))] = draw.randrange(256)
        elif how < 0.85:  # any frame
            size = draw.randrange(40)
            head = bytes([draw.choice((1, 2, 3, 8, draw.randrange(256)))]) + draw.choice(
                (0, 1, 2, 9)
            ).to_bytes(2, "big")
            data = bytearray(head + size.to_bytes(4, "big") + draw.randbytes(size) + b"\xce")
        elif how < 0.95:  # any method and arguments, well framed
            payload = draw.choice((10, 20, 40, 50, 60, 85, 90)).to_bytes(2, "big") + draw.randrange(
                130
            ).to_bytes(2, "big")
            payload += draw.randbytes(draw.randrange(20))
            data = bytearray(b"\x01\x00\x01" + len(payload).to_bytes(4, "big") + payload + b"\xce")
        else:
            del data[draw.randrange(len(data)) :]
        return bytes(data)

    def _method(self) -> Any:
        draw = self.draw
        channel, name, tag = draw.choice((1, 1, 1, 2, 3)), draw.choice(NAMES), draw.choice((0, 1, 2, 3, 99))
        flag = draw.random() < 0.5
        body = Content(
            Properties(
                delivery_mode=draw.choice((None, 1, 2)), expiration=draw.choice((None, "0", "50", "x"))
            ),
            b"b" * draw.choice((0, 3, 90)),
        )
        return draw.choice((
            lambda: m.QueueDeclare(channel, name, durable=flag, arguments=draw.choice(ARGUMENTS)),
            lambda: m.ExchangeDeclare(channel, name, draw.choice(("topic", "fanout", "headers", "none"))),
            lambda: m.QueueBind(channel, name, draw.choice(NAMES), "a.#"),
            lambda: m.QueueDelete(channel, name, if_empty=flag),
            lambda: m.QueuePurge(channel, name),
            lambda: m.BasicPublish(channel, draw.choice(NAMES), draw.choice(NAMES), mandatory=flag, message=body),
            lambda: m.BasicPublish(channel, "", "q", message=body),
            lambda: m.BasicConsume(channel, name, draw.choice(("", "t", "u")), no_ack=flag),
            lambda: m.BasicCancel(channel, "t"),
            lambda: m.BasicGet(channel, name, no_ack=flag),
            lambda: m.BasicAck(channel, tag, multiple=flag),
            lambda: m.BasicNack(channel, tag, multiple=flag, requeue=flag),
            lambda: m.BasicReject(channel, tag, requeue=flag),
            lambda: m.BasicQos(channel, 0, draw.randrange(4)),
            lambda: m.BasicRecover(channel, requeue=flag),
            lambda: m.ConfirmSelect(channel),
            lambda: m.TxSelect(channel), lambda: m.TxCommit(channel), lambda: m.TxRollback(channel),
            lambda: m.ChannelOpen(channel), lambda: m.ChannelClose(channel, 200, "", 0, 0), lambda: m.ChannelFlow(channel, flag),
            m.ConnectionOpen, lambda: m.ConnectionClose(200, "", 0, 0),
        ))()  # fmt: skip

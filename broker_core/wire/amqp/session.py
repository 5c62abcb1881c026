"""The server's end of one connection as bytes: what a client's bytes say, and the bytes of what it is answered.

    bytes ──► protocol header, frames ──► methods          methods ──► frames no larger than both agreed on ──► bytes

No sockets and no time: whoever has them brings them (`remote.py`, `broker_core/serve/`).
Source: RabbitMQ 3.10 rabbit_reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.connection import FRAME_SIZE_MIN
from broker_core.rabbitmq.values import Value, bare
from broker_core.wire.amqp.errors import RemoteProtocolError
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.sender import encode
from broker_core.wire.amqp.spec import BY_METHOD
from broker_core.wire.amqp.tables import Malformed, read_rows, write_octets

AMQPLAIN = "AMQPLAIN"
OFFERED = m.ConnectionTune()
"""Bounds that the server offers."""


@dataclass(slots=True, eq=False, init=False)
class Session:
    """is_greeted: the protocol header has come. refusal: what a client with another one is sent before the end. frame_max:
    size of a frame, as far as both have agreed on it."""

    receiver: Receiver
    frame_max: int
    refusal: bytes

    def __init__(self) -> None:
        self.receiver = Receiver(expects_header=True)
        self.receiver.has_channels = False
        self.frame_max = FRAME_SIZE_MIN
        self.refusal = b""

    @property
    def is_greeted(self) -> bool:
        return not self.receiver.frames.expects_header

    def receive(self, data: bytes) -> Iterator[m.Method]:
        """The methods that these bytes complete; `Unreadable` for what breaks the protocol. What follows it is read on from
        where the original reads on, for the close-ok that may come."""
        while True:
            try:
                yield from self._methods(data)
                return
            except RemoteProtocolError as error:
                if not self.is_greeted:
                    self.refusal = PROTOCOL_HEADER
                yield m.Unreadable(error.reply_code, error.reply_text, error.class_id, error.method_id)
                if not self.is_greeted:
                    return
                self.receiver.forget_all()
                data = b""

    def _methods(self, data: bytes) -> Iterator[m.Method]:
        for channel, method in self.receiver.receive(data):
            spec = None if channel == 0 else BY_METHOD[type(method)]
            if spec is not None and not spec.has_channel:
                raise RemoteProtocolError(
                    codes.COMMAND_INVALID, "COMMAND_INVALID - unimplemented method", spec.id
                )
            yield self._read(method)

    def send(self, method: m.Method) -> bytes:
        """The method's bytes. Raises LocalProtocolError for one that no frame carries."""
        if isinstance(method, m.ChannelClose | m.ChannelCloseOk):
            self.receiver.forget_channel(method.channel)
        elif isinstance(method, m.ConnectionClose):
            self.receiver.is_closing = True
            self.receiver.forget_all()
        return encode(method, self.frame_max)

    def _read(self, method: Any) -> Any:
        if isinstance(method, m.ConnectionTuneOk):
            # What the broker will refuse is not gone by: a frame without a bound would be taken whole.
            if FRAME_SIZE_MIN <= method.frame_max <= OFFERED.frame_max:
                self.frame_max = self.receiver.frames.frame_max = method.frame_max
        elif isinstance(method, m.ConnectionOpen):
            self.receiver.has_channels = True
        elif isinstance(method, m.ConnectionStartOk) and method.mechanism == AMQPLAIN:
            method.response = _plain(method.response)
        return method


def _plain(response: Value) -> str:
    """AMQPLAIN's rows, a table without its size, in the notation of PLAIN.

    Raises RemoteProtocolError where there is no such name or password. Source: RabbitMQ 3.10 rabbit_auth_mechanism_amqplain.
    """
    try:
        rows = read_rows(write_octets(response))
    except Malformed:
        rows = {}
    name, password = (bare(rows.get(each)) for each in ("LOGIN", "PASSWORD"))
    if not isinstance(name, str) or not isinstance(password, str):
        raise RemoteProtocolError(0, "AMQPLAIN auth info has no LOGIN or PASSWORD")
    return f"\0{name}\0{password}"

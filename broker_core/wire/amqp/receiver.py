"""Frames as methods, a message with the method that it belongs to.

    method ──► header ──► body, body, ... ──► method with its Content

Each channel assembles on its own. Frames out of turn, unknown ones and fields that do not decode are refused as the
original does; the first refusal ends it. What messages that have begun may hold is bounded, whatever they declare.
Source: RabbitMQ 3.10 rabbit_reader:handle_frame, rabbit_command_assembler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, NamedTuple

from broker_core.rabbitmq.connection import FRAME_SIZE_MIN
from broker_core.rabbitmq.methods import Heartbeat
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.rabbitmq.reply_codes import INTERNAL_ERROR, PRECONDITION_FAILED, RESOURCE_ERROR
from broker_core.wire.amqp.content import read_header, read_properties
from broker_core.wire.amqp.errors import (
    RemoteProtocolError,
    frame_error,
    misplaced_frame,
    undecodable,
    unexpected_frame,
)
from broker_core.wire.amqp.fields import read_fields
from broker_core.wire.amqp.frames import BODY, HEADER, HEARTBEAT, METHOD, Frame, FrameReader
from broker_core.wire.amqp.spec import BY_ID, SPECS, Spec
from broker_core.wire.amqp.tables import Malformed

MESSAGE_BYTES_MAX = 128 << 20
"""Of a body: RabbitMQ's max_message_size, as it is by default."""
UNFINISHED_BYTES_MAX = 2 * MESSAGE_BYTES_MAX
"""Of all messages of a connection that have begun and not ended. Ours: the original has no bound."""
_IDS = Struct(">HH")


class Received(NamedTuple):
    """A method and the channel that it came on; a method of the connection itself belongs on channel 0."""

    channel: int
    method: Any


@dataclass(slots=True, eq=False)
class Assembly:
    """A method that waits for its message. name, values: of the method, and its fields as the wire has them, which are
    scalars. header: its payload, None until it is here; read when the message is whole, as its fields take many times
    its bytes. held: bytes of the message that are here, remaining: bytes of the body that are not."""

    name: str
    values: list[Any]
    header: bytes | None = None
    held: int = 0
    remaining: int = 0
    body: bytearray = field(default_factory=bytearray)

    @property
    def spec(self) -> Spec:
        return SPECS[self.name]


@dataclass(slots=True, eq=False, init=False)
class Receiver:
    """What one side of a connection receives. frame_max, expects_header: as `FrameReader` has them. has_channels: frames of
    channels have their place; else they are refused. is_closing: they are dropped. assemblies: by channel. held: bytes
    of them all."""

    frames: FrameReader
    has_channels: bool
    is_closing: bool
    assemblies: dict[int, Assembly]
    held: int

    def __init__(self, frame_max: int = FRAME_SIZE_MIN, expects_header: bool = False) -> None:
        self.frames = FrameReader(frame_max, expects_header)
        self.has_channels, self.is_closing = True, False
        self.assemblies = {}
        self.held = 0

    def receive(self, data: bytes) -> Iterator[Received]:
        """The methods that these bytes complete, in their order. Raises RemoteProtocolError where the peer's bytes
        break the protocol, after what came before."""
        self.frames.feed(data)
        while (frame := self.frames.next_frame()) is not None:
            received = self._frame(frame)
            if received is not None:
                yield received

    def forget_channel(self, channel: int) -> None:
        """The channel is closed: a message that it began will not be ended."""
        assembly = self.assemblies.pop(channel, None)
        if assembly is not None:
            self.held -= assembly.held

    def forget_all(self) -> None:
        """No message that has begun will be ended."""
        self.assemblies.clear()
        self.held = 0

    def _frame(self, frame: Frame) -> Received | None:
        kind, channel, payload = frame
        if channel and self.is_closing:
            return None
        if channel and not self.has_channels:
            raise misplaced_frame(kind, payload)
        if kind == METHOD and len(payload) >= _IDS.size:
            return self._method(channel, payload)
        if kind == HEARTBEAT and not payload:
            if channel:
                raise misplaced_frame(kind, payload)
            return Received(0, Heartbeat())
        try:
            header = read_header(payload) if kind == HEADER else None
        except Malformed:
            raise frame_error(kind, payload, "unknown_frame") from None
        if header is None and kind != BODY:
            raise frame_error(kind, payload, "unknown_frame")
        if channel == 0:
            raise misplaced_frame(kind, payload)
        assembly = self.assemblies.get(channel)
        if assembly is None:
            raise unexpected_frame("expected method frame, got non method frame instead")
        if assembly.header is None:
            self._header(assembly, header, payload)
        elif header is None:
            self._body(assembly, payload)
        else:
            raise unexpected_frame(
                "expected content body, got non content body frame instead", assembly.spec.id
            )
        if assembly.remaining:
            return None
        self.forget_channel(channel)
        content = Content(_properties(assembly), bytes(assembly.body))
        return Received(channel, _made(assembly.spec, channel, assembly.values, content))

    def _method(self, channel: int, payload: bytes) -> Received | None:
        ids = _IDS.unpack_from(payload)
        spec = BY_ID.get(ids)
        if spec is None:
            raise RemoteProtocolError(0, f"no method {ids[0]}.{ids[1]}")
        assembly = self.assemblies.get(channel)
        if assembly is not None:
            raise _out_of_turn(assembly)
        try:
            values = read_fields(spec, payload, _IDS.size)
        except Malformed:
            raise undecodable(payload[_IDS.size :], spec.id) from None
        if spec.has_content and channel:
            self.assemblies[channel] = Assembly(spec.name, values)
            return None
        return Received(channel, _made(spec, channel, values, Content()))

    def _header(self, assembly: Assembly, header: tuple[int, int, int] | None, payload: bytes) -> None:
        if header is None or header[1] != 0:
            raise _out_of_turn(assembly)
        class_id, _, assembly.remaining = header
        if class_id != assembly.spec.id[0]:
            raise unexpected_frame(
                f"expected content header for class {assembly.spec.id[0]}, got one for class {class_id} instead",
                assembly.spec.id,
            )
        if assembly.remaining > MESSAGE_BYTES_MAX:
            # Ours: the original takes the whole message first, and closes the channel alone.
            raise RemoteProtocolError(
                PRECONDITION_FAILED,
                f"PRECONDITION_FAILED - message size {assembly.remaining} is larger than configured max size "
                f"{MESSAGE_BYTES_MAX}",
                assembly.spec.id,
            )
        self._hold(assembly, len(payload))
        assembly.header = payload

    def _body(self, assembly: Assembly, payload: bytes) -> None:
        if len(payload) > assembly.remaining:
            # Ours: the original then waits for an end that cannot come.
            raise frame_error(BODY, payload, f"{{body_too_large,{len(payload)},{assembly.remaining}}}")
        self._hold(assembly, len(payload))
        assembly.body += payload
        assembly.remaining -= len(payload)

    def _hold(self, assembly: Assembly, size: int) -> None:
        if self.held + size > UNFINISHED_BYTES_MAX:
            text = (
                f"RESOURCE_ERROR - messages that are not complete hold more than {UNFINISHED_BYTES_MAX} bytes"
            )
            raise RemoteProtocolError(RESOURCE_ERROR, text, assembly.spec.id)
        self.held += size
        assembly.held += size


def _properties(assembly: Assembly) -> Properties:
    """Raises RemoteProtocolError as the original's channel fails, which reads them."""
    try:
        return read_properties(assembly.header or b"")
    except Malformed:
        raise RemoteProtocolError(INTERNAL_ERROR, "INTERNAL_ERROR", assembly.spec.id) from None


def _out_of_turn(assembly: Assembly) -> RemoteProtocolError:
    if assembly.header is not None:
        return unexpected_frame("expected content body, got non content body frame instead", assembly.spec.id)
    text = f"expected content header for class {assembly.spec.id[0]}, got non content header frame instead"
    return unexpected_frame(text, assembly.spec.id)


def _made(spec: Spec, channel: int, values: list[Any], content: Content) -> Any:
    arguments: list[Any] = [channel] if spec.has_channel else []
    arguments += [
        value for (_, _, is_reserved), value in zip(spec.fields, values, strict=True) if not is_reserved
    ]
    if spec.has_content:
        arguments.append(content)
    return spec.method(*arguments)

"""Methods as bytes, with the frames of the message that belongs to them.

Source: AMQP 0-9-1; RabbitMQ 3.10 rabbit_writer, rabbit_binary_generator.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import msgspec

from broker_core.rabbitmq.methods import Heartbeat
from broker_core.rabbitmq.properties import Content
from broker_core.wire.amqp.content import write_header
from broker_core.wire.amqp.errors import LocalProtocolError
from broker_core.wire.amqp.fields import write_fields
from broker_core.wire.amqp.frames import BODY, EMPTY_FRAME_SIZE, HEADER, HEARTBEAT, METHOD, write_frame
from broker_core.wire.amqp.spec import BY_METHOD, EMPTY, Spec

_IDS = Struct(">HH")


def encode(method: Any, frame_max: int = 0) -> bytes:
    """A method of `broker_core/rabbitmq/methods.py` as bytes.

    frame_max: size of a whole frame at most, 0 for any; a body is cut into as many frames as it needs, an empty one
    has none. Raises LocalProtocolError for a value that its field cannot carry, for a method that does not fit into
    one frame, and for a message that is a number of the workload's alone.

    >>> from broker_core.rabbitmq.methods import BasicAck
    >>> encode(BasicAck(1, 7)).hex()
    '0100010000000d003c0050000000000000000700ce'
    """
    if isinstance(method, Heartbeat):
        return write_frame(HEARTBEAT, 0, b"")
    spec = BY_METHOD[type(method)]
    values = list(msgspec.structs.astuple(method))
    channel = values.pop(0) if spec.has_channel else 0
    if not 0 <= channel <= 65_535:
        raise LocalProtocolError(f"channel {channel} does not fit its field")
    content = values.pop() if spec.has_content else None
    payload = _IDS.pack(*spec.id) + write_fields(spec, _with_reserved(spec, values))
    frames = [(METHOD, payload)]
    if spec.has_content:
        frames += _message(content, frame_max)
    if frame_max and any(len(each) + EMPTY_FRAME_SIZE > frame_max for _, each in frames):
        raise LocalProtocolError(f"{spec.name} does not fit into a frame of {frame_max} bytes")
    return b"".join([write_frame(kind, channel, each) for kind, each in frames])


def _with_reserved(spec: Spec, values: list[Any]) -> list[Any]:
    given = iter(values)
    return [EMPTY[domain] if is_reserved else next(given) for _, domain, is_reserved in spec.fields]


def _message(content: Any, frame_max: int) -> list[tuple[int, bytes]]:
    if not isinstance(content, Content):
        raise LocalProtocolError("the message's body is the workload's")
    body = content.body
    size = frame_max - EMPTY_FRAME_SIZE if frame_max else max(1, len(body))
    bodies = [(BODY, body[at : at + size]) for at in range(0, len(body), size)]
    return [(HEADER, write_header(content.properties, len(body))), *bodies]

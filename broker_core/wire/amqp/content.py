"""The header of a message: its size and its properties.

    class (2)  weight (2, always 0)  body size (8)  flags (2, a bit a property from the top)  the properties that are there

Source: AMQP 0-9-1, class basic; RabbitMQ 3.10 rabbit_framing_amqp_0_9_1:decode_properties.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from broker_core.rabbitmq.properties import NO_PROPERTIES, Properties
from broker_core.wire.amqp.fields import read_field, write_field
from broker_core.wire.amqp.tables import Malformed

BASIC = 60
_DOMAINS = {"headers": "table", "delivery_mode": "octet", "priority": "octet", "timestamp": "longlong"}
_PROPERTIES = [
    (1 << 15 - place, name, _DOMAINS.get(name, "shortstr"))
    for place, name in enumerate(Properties.__struct_fields__)
]
_UNKNOWN = 0b11
_HEADER, _FLAGS = Struct(">HHQ"), Struct(">H")


def read_header(payload: bytes) -> tuple[int, int, int]:
    """Class, weight and body size. Raises Malformed."""
    if len(payload) < _HEADER.size:
        raise Malformed
    class_id, weight, body_size = _HEADER.unpack_from(payload)
    return class_id, weight, body_size


def read_properties(payload: bytes) -> Properties:
    """The properties of a header's payload. Raises Malformed for flags that no property has, too few or too many
    bytes."""
    at = _HEADER.size + _FLAGS.size
    if len(payload) < at:
        raise Malformed
    (flags,) = _FLAGS.unpack_from(payload, _HEADER.size)
    if flags & _UNKNOWN:
        raise Malformed
    found: dict[str, Any] = {}
    for flag, name, domain in _PROPERTIES:
        if flags & flag:
            found[name], at = read_field(domain, payload, at)
    if at != len(payload):
        raise Malformed
    return Properties(**found) if found else NO_PROPERTIES


def write_header(properties: Properties, body_size: int) -> bytes:
    """The payload of a header frame. Raises LocalProtocolError for a property that does not fit its field."""
    flags, parts = 0, []
    for flag, name, domain in _PROPERTIES:
        value = getattr(properties, name)
        if value is not None:
            flags |= flag
            parts.append(write_field(name, domain, value))
    return _HEADER.pack(BASIC, 0, body_size) + _FLAGS.pack(flags) + b"".join(parts)

"""A method's fields as bytes, field by field as `spec.py` lists them."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from struct import error as StructError
from typing import Any

from broker_core.wire.amqp.errors import LocalProtocolError
from broker_core.wire.amqp.spec import Spec
from broker_core.wire.amqp.tables import Malformed, read_octets, read_table, write_octets, write_table

_NUMBERS = {"octet": Struct(">B"), "short": Struct(">H"), "long": Struct(">I"), "longlong": Struct(">Q")}
_SIZE = _NUMBERS["long"]


def read_fields(spec: Spec, data: bytes, at: int) -> list[Any]:
    """All fields of a method, the reserved ones too. Raises Malformed unless they are just what `data` has from
    `at` on. Source: RabbitMQ 3.10 rabbit_framing_amqp_0_9_1:decode_method_fields."""
    values: list[Any] = []
    bits = 8
    for _, domain, _ in spec.fields:
        if domain == "bit":
            if bits == 8:
                octet, bits, at = _octet(data, at), 0, at + 1
            values.append(octet >> bits & 1 == 1)
            bits += 1
            continue
        bits = 8
        value, at = read_field(domain, data, at)
        values.append(value)
    if at != len(data):
        raise Malformed
    return values


def read_field(domain: str, data: bytes, at: int) -> tuple[Any, int]:
    """One field that is no bit, and where it ends."""
    number = _NUMBERS.get(domain)
    if number is not None:
        if at + number.size > len(data):
            raise Malformed
        return number.unpack_from(data, at)[0], at + number.size
    if domain == "shortstr":
        end = at + 1 + _octet(data, at)
        if end > len(data):
            raise Malformed
        try:
            return data[at + 1 : end].decode(), end
        except UnicodeDecodeError:
            raise Malformed from None
    if domain == "table":
        return read_table(data, at)
    if at + 4 > len(data):
        raise Malformed
    end = at + 4 + _SIZE.unpack_from(data, at)[0]
    if end > len(data):
        raise Malformed
    return read_octets(data[at + 4 : end]), end


def write_fields(spec: Spec, values: Sequence[Any]) -> bytes:
    """The fields of a method, reserved ones included. Raises LocalProtocolError for a value that its field cannot
    carry."""
    parts: list[bytes] = []
    octet = count = 0
    for (name, domain, _), value in zip(spec.fields, values, strict=True):
        if domain == "bit":
            octet |= bool(value) << count
            count += 1
            if count == 8:
                parts.append(bytes((octet,)))
                octet = count = 0
            continue
        if count:
            parts.append(bytes((octet,)))
            octet = count = 0
        parts.append(write_field(name, domain, value))
    if count:
        parts.append(bytes((octet,)))
    return b"".join(parts)


def write_field(name: str, domain: str, value: Any) -> bytes:
    try:
        number = _NUMBERS.get(domain)
        if number is not None:
            return number.pack(value)
        if domain == "table":
            return write_table(value)
        if domain == "shortstr":
            encoded: bytes = value.encode()
            return bytes((len(encoded),)) + encoded
        encoded = write_octets(value)
        return _SIZE.pack(len(encoded)) + encoded
    except (StructError, ValueError, TypeError, AttributeError, KeyError):
        raise LocalProtocolError(f"{name} {value!r:.80} does not fit its field") from None


def _octet(data: bytes, at: int) -> int:
    if at >= len(data):
        raise Malformed
    return data[at]

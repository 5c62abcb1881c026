"""Tables and their values as bytes, in the notation of `broker_core/rabbitmq/values.py`: what was read is written again
byte for byte.

Source: AMQP 0-9-1 with RabbitMQ's types (rabbit_binary_parser, rabbit_binary_generator). As there, a number that is
none is refused. Left out: of a name that a table has twice the first counts, the rest is dropped; names that are not
UTF-8 and more than NESTED_MAX tables within one another are refused.
"""

from __future__ import annotations

import math
from struct import Struct
from struct import error as StructError
from typing import Any

from broker_core.rabbitmq.values import Table, Value, bare, type_of
from broker_core.wire.amqp.errors import LocalProtocolError

NESTED_MAX = 64

_NUMBERS = {
    letter: Struct(">" + code)
    for letter, code in {
        "b": "b", "B": "B", "s": "h", "u": "H", "I": "i", "i": "I", "l": "q", "T": "Q", "f": "f", "d": "d", "D": "BI",
    }.items()
}  # fmt: skip
_SIZE = Struct(">I")
_PLAIN = frozenset("Id")
"""Numbers that need no letter beside them; a long that an `I` would hold does."""


class Malformed(ValueError):
    """The bytes are no table, or no field; whoever reads them knows of which method."""


def read_table(data: bytes, at: int, depth: int = 0) -> tuple[Table, int]:
    """Read a table with its size before it. Returns it and where it ends. Raises Malformed."""
    end = _end(data, at, depth)
    return _read_rows(data, at + 4, end, depth)


def read_rows(data: bytes) -> Table:
    """A table that has no size before it. Raises Malformed."""
    table, _ = _read_rows(data, 0, len(data), 0)
    return table


def _read_rows(data: bytes, at: int, end: int, depth: int) -> tuple[Table, int]:
    table: Table = {}
    while at < end:
        size = data[at]
        name = _text(data[at + 1 : at + 1 + size], size)
        value, at = _read_value(data, at + 1 + size, end, depth + 1)
        table.setdefault(name, value)
    if at != end:
        raise Malformed
    # A table that looks like our own notation is written so that it is not taken for it.
    return table, at


def _read_value(data: bytes, at: int, end: int, depth: int) -> tuple[Value, int]:
    if at >= end:
        raise Malformed
    letter = chr(data[at])
    at += 1
    number = _NUMBERS.get(letter)
    if number is not None:
        if at + number.size > end:
            raise Malformed
        return _numbered(letter, number.unpack_from(data, at)), at + number.size
    match letter:
        case "S" | "x":
            octets_end = _end(data, at, 0)
            if octets_end > end:
                raise Malformed
            octets = data[at + 4 : octets_end]
            return (read_octets(octets) if letter == "S" else {"$t": "x", "v": octets.hex()}), octets_end
        case "t" if at < end:
            return data[at] != 0, at + 1
        case "V":
            return None, at
        case "F":
            table, at = read_table(data, at, depth)
            return ({"$t": "F", "v": table} if table.keys() == {"$t", "v"} else table), at
        case "A":
            array_end = _end(data, at, depth)
            at += 4
            array = []
            while at < array_end:
                value, at = _read_value(data, at, array_end, depth + 1)
                array.append(value)
            if at != array_end:
                raise Malformed
            return array, at
        case _:
            raise Malformed


def _numbered(letter: str, numbers: tuple[Any, ...]) -> Value:
    if letter == "D":
        return {"$t": "D", "v": list(numbers)}
    (value,) = numbers
    if letter in "fd" and not math.isfinite(value):
        raise Malformed
    if letter in _PLAIN or (letter == "l" and type_of(value) == "l"):
        return value
    return {"$t": letter, "v": value}


def read_octets(octets: bytes) -> Value:
    """What a long string says: a text, or any octets (credentials, for one)."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return {"$t": "S", "v": {"hex": octets.hex()}}


def write_octets(value: Value) -> bytes:
    """The way back of `read_octets`."""
    inner = bare(value)
    octets: bytes = bytes.fromhex(inner["hex"]) if isinstance(inner, dict) else inner.encode()
    return octets


def _end(data: bytes, at: int, depth: int) -> int:
    """Where the thing ends whose size stands here. The size alone takes no memory."""
    if at + 4 > len(data) or depth > NESTED_MAX:
        raise Malformed
    end: int = at + 4 + _SIZE.unpack_from(data, at)[0]
    if end > len(data):
        raise Malformed
    return end


def _text(octets: bytes, size: int) -> str:
    if len(octets) != size:
        raise Malformed
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise Malformed from None


def write_table(table: Table) -> bytes:
    """A table with its size before it. Raises LocalProtocolError for what a table cannot carry."""
    parts = []
    for name, value in table.items():
        encoded = name.encode()
        if len(encoded) > 255:
            raise LocalProtocolError(f"the name {name!r:.40} is longer than 255 bytes")
        parts += [bytes((len(encoded),)), encoded, _write_value(value)]
    return _sized(b"".join(parts))


def _write_value(value: Value) -> bytes:
    letter, inner = type_of(value), bare(value)
    number = _NUMBERS.get(letter)
    try:
        if number is not None:
            return letter.encode() + number.pack(*(inner if letter == "D" else (inner,)))
        match letter:
            case "S":
                return b"S" + _sized(write_octets(value))
            case "x":
                return b"x" + _sized(bytes.fromhex(inner))
            case "t":
                return b"t\x01" if inner else b"t\x00"
            case "V":
                return b"V"
            case "F":
                return b"F" + write_table(inner)
            case "A":
                return b"A" + _sized(b"".join(map(_write_value, inner)))
    except (StructError, OverflowError, TypeError, ValueError, KeyError, AttributeError):
        pass
    raise LocalProtocolError(f"{value!r:.80} is not a value of a table")


def _sized(octets: bytes) -> bytes:
    return _SIZE.pack(len(octets)) + octets

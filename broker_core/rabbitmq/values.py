"""Table values with their wire types, in plain JSON types, so that a table can be kept, compared and shown as it is.

A plain value has the type that a client library gives it; `{"$t": letter, "v": value}` names any other:

    7  I (l where 32 bits are too few)     "text"  S     True  t     1.5  d     None  V     [..]  A     {..}  F
    {"$t": "l", "v": 7}    {"$t": "x", "v": "6162"} bytes in hexadecimal    {"$t": "D", "v": [scale, value]}
    {"$t": "S", "v": {"hex": "ff"}} a long string that is not UTF-8         {"$t": "T", "v": seconds}

A table whose own names are just "$t" and "v" is written `{"$t": "F", "v": {...}}`. The names of a table keep their
order, which is the order on the wire.
Source: AMQP 0-9-1 with the errata of RabbitMQ. Vectors: rabbitmq/frames.json.
"""

from __future__ import annotations

from typing import Any

Value = Any
"""None, bool, int, float, str, list or dict as above."""
Table = dict[str, Value]

TYPE_NAMES = {
    "t": "bool", "b": "byte", "B": "unsignedbyte", "s": "short", "u": "unsignedshort", "I": "signedint",
    "i": "unsignedint", "l": "long", "f": "float", "d": "double", "D": "decimal", "S": "longstr", "A": "array",
    "T": "timestamp", "F": "table", "V": "void", "x": "binary",
}  # fmt: skip
"""Letter on the wire -> the server's word for it."""
INTEGERS = frozenset("bBsuIil")
_TYPED = {"$t", "v"}


def type_of(value: Value) -> str:
    """The letter of a value's type.

    >>> [type_of(value) for value in (1, 1 << 40, True, "a", None, {"$t": "l", "v": 1}, {"v": 1})]
    ['I', 'l', 't', 'S', 'V', 'l', 'F']
    """
    if value is None:
        return "V"
    if isinstance(value, bool):
        return "t"
    if isinstance(value, int):
        return "I" if -(1 << 31) <= value < 1 << 31 else "l"
    if isinstance(value, float):
        return "d"
    if isinstance(value, str):
        return "S"
    if isinstance(value, list):
        return "A"
    return str(value["$t"]) if value.keys() == _TYPED else "F"


def bare(value: Value) -> Any:
    """The value without its type.

    >>> bare({"$t": "l", "v": 7}), bare("a")
    (7, 'a')
    """
    return value["v"] if isinstance(value, dict) and value.keys() == _TYPED else value


def type_name(value: Value) -> str:
    """The server's word for a value's type.

    >>> type_name(7)
    'signedint'
    """
    return TYPE_NAMES.get(type_of(value), "unknown")


def same(left: Value, right: Value) -> bool:
    """Whether two values are the same in type, value and, for tables, order.

    >>> same(1, {"$t": "I", "v": 1}), same(1, True), same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    (True, False, False)
    """
    kind = type_of(left)
    if kind != type_of(right):
        return False
    one, other = bare(left), bare(right)
    if kind == "F":
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if kind == "A":
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


_RANGES = {
    "b": (-128, 127), "B": (0, 255), "s": (-(1 << 15), (1 << 15) - 1), "u": (0, (1 << 16) - 1),
    "I": (-(1 << 31), (1 << 31) - 1), "i": (0, (1 << 32) - 1), "l": (-(1 << 63), (1 << 63) - 1),
    "T": (0, (1 << 64) - 1),
}  # fmt: skip


def fits(value: Value, depth: int = 32) -> bool:
    """Whether a value is one of its type, in all its parts: what a codec could have read.

    >>> fits({"a": [1, {"$t": "B", "v": 255}]}), fits({"$t": "B", "v": 256}), fits({"$t": "?", "v": 1})
    (True, False, False)
    """
    if depth == 0 or (isinstance(value, dict) and not all(isinstance(name, str) for name in value)):
        return False
    letter, inner = type_of(value), bare(value)
    if letter in _RANGES:
        least, most = _RANGES[letter]
        return isinstance(inner, int) and not isinstance(inner, bool) and least <= inner <= most
    match letter:
        case "t":
            return isinstance(inner, bool)
        case "f" | "d":
            return isinstance(inner, (int, float)) and not isinstance(inner, bool)
        case "S":
            return isinstance(inner, str) or (isinstance(inner, dict) and _is_hex(inner.get("hex")))
        case "x":
            return _is_hex(inner)
        case "D":
            return isinstance(inner, list) and len(inner) == 2 and all(type(part) is int for part in inner)
        case "A":
            return isinstance(inner, list) and all(fits(part, depth - 1) for part in inner)
        case "F":
            return isinstance(inner, dict) and all(
                isinstance(name, str) and len(name.encode(errors="replace")) < 256 and fits(part, depth - 1)
                for name, part in inner.items()
            )
        case _:
            return letter == "V" and inner is None


def _is_hex(text: Any) -> bool:
    return isinstance(text, str) and len(text) % 2 == 0 and all(each in "0123456789abcdef" for each in text)

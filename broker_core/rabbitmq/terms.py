"""Table values as the terms that the server, which is written in Erlang, has of them, for its hash of terms.

Source: RabbitMQ 3.10.8 rabbit_binary_parser:parse_table.
"""

from __future__ import annotations

from typing import Any

from broker_core.hashing.phash2 import Atom
from broker_core.rabbitmq.values import TYPE_NAMES, Value, bare, type_of

UNDEFINED = Atom("undefined")
"""What the server has where a message has nothing."""


def typed(value: Value) -> tuple[Atom, Any]:
    """A value with its type beside it, as rabbit_misc:table_lookup gives it.

    >>> typed(5), typed("a")
    ((Atom(name='signedint'), 5), (Atom(name='longstr'), b'a'))
    """
    return Atom(TYPE_NAMES[type_of(value)]), _term(value)


def octets(value: Value) -> bytes:
    """Of a long string or a binary."""
    inner = bare(value)
    if isinstance(inner, dict):
        return bytes.fromhex(inner["hex"])
    return bytes.fromhex(inner) if type_of(value) == "x" else str(inner).encode()


def _term(value: Value) -> Any:
    letter, inner = type_of(value), bare(value)
    match letter:
        case "t":
            return Atom("true" if inner else "false")
        case "V":
            return UNDEFINED
        case "S" | "x":
            return octets(value)
        case "D":
            return tuple(inner)
        case "A":
            return [typed(each) for each in inner]
        case "F":
            return [(name.encode(), *typed(each)) for name, each in inner.items()]
        case "f" | "d":
            return float(inner)
        case _:
            return inner

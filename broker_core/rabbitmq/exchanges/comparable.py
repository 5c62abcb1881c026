"""Table values as things that are equal when the original calls them equal.

Source: RabbitMQ 3.10.8 rabbit_misc:type_class, and Erlang's comparison of terms; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from typing import Any

from broker_core.rabbitmq.values import Table, Value, bare, type_of

_NUMBERS = frozenset("bBsuIilfdT")
_BYTES = frozenset("Sx")


def exact(value: Value) -> Any:
    """Equal for the same type and value. The order of a table's names counts.

    >>> exact(1) == exact({"$t": "l", "v": 1}), exact({"a": 1, "b": 2}) == exact({"b": 2, "a": 1})
    (False, False)
    """
    letter, inner = type_of(value), bare(value)
    if letter == "A":
        return letter, tuple(exact(each) for each in inner)
    if letter == "F":
        return letter, tuple((name, exact(each)) for name, each in inner.items())
    return letter, _octets(letter, inner) if letter in _BYTES else _hashable(inner)


def exact_table(table: Table) -> Any:
    """Equal for the same names with the same types and values; here the order of the names does not count, as
    the original sorts a binding's arguments."""
    return tuple((name, exact(table[name])) for name in sorted(table))


def by_class(value: Value) -> Any:
    """Equal for values that a headers exchange calls equal: all numbers are of one class, and so are texts and
    bytes; within arrays and tables the types count.

    >>> by_class(1) == by_class(1.0), by_class(1) == by_class(True), by_class([1]) == by_class([1.0])
    (True, False, False)
    """
    letter, inner = type_of(value), bare(value)
    if letter in _NUMBERS:
        return "number", inner
    if letter in _BYTES:
        return "bytes", _octets(letter, inner)
    return exact(value)


def _octets(letter: str, inner: Any) -> bytes:
    if letter == "x":
        return bytes.fromhex(inner)
    return bytes.fromhex(inner["hex"]) if isinstance(inner, dict) else str(inner).encode()


def _hashable(inner: Any) -> Any:
    return tuple(inner) if isinstance(inner, list) else inner

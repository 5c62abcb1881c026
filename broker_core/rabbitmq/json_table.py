"""Tables as the JSON of the management API, which knows no types but JSON's own.

A whole number becomes a long, as the original reads it. The way back forgets types: a long is a number again, bytes
are text.
Source: RabbitMQ 3.10 rabbit_misc:to_amqp_table, rabbit_misc:amqp_table.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import CommandError
from broker_core.rabbitmq.values import Table, Value, bare, type_of
from broker_core.rabbitmq.wire_fields import is_short_text

NESTED_MAX = 32
LONG_MIN, LONG_END = -(1 << 63), 1 << 63


def table_of_json(plain: dict[str, Any], field: str) -> Table:
    """A JSON object as a table. Raises CommandError at the field within it.

    >>> table_of_json({"x-max-length": 5, "x-match": "all"}, "arguments")
    {'x-max-length': {'$t': 'l', 'v': 5}, 'x-match': 'all'}
    """
    return _table(plain, field, 0)


def _table(plain: dict[str, Any], field: str, depth: int) -> Table:
    if depth > NESTED_MAX:
        raise CommandError(field, "must have at most {high} levels", high=NESTED_MAX)
    table = {}
    for name, value in plain.items():
        if not isinstance(name, str) or not is_short_text(name):
            raise CommandError(field, "has a field that is not a name")
        table[name] = _value(value, f"{field}.{name}", depth + 1)
    return table


def _value(plain: object, field: str, depth: int) -> Value:
    match plain:
        case bool() | None | str():
            return plain
        case int():
            if not LONG_MIN <= plain < LONG_END:
                raise CommandError(
                    field, "must be a whole number from {low} to {high}", low=LONG_MIN, high=LONG_END - 1
                )
            return plain if type_of(plain) == "l" else {"$t": "l", "v": plain}
        case float() if plain - plain == 0:  # neither infinite nor NaN, which JSON lets through
            return plain
        case list() if depth <= NESTED_MAX:
            return [_value(each, f"{field}.{at}", depth + 1) for at, each in enumerate(plain)]
        case dict():
            table = _table(plain, field, depth)
            return {"$t": "F", "v": table} if table.keys() == {"$t", "v"} else table
        case list():
            raise CommandError(field, "must have at most {high} levels", high=NESTED_MAX)
        case _:
            raise CommandError(field, "must be a value of JSON")


def json_of_table(table: Table) -> dict[str, Any]:
    """A table as a JSON object.

    >>> json_of_table({"x-max-length": {"$t": "l", "v": 5}, "d": {"$t": "D", "v": [1, 25]}})
    {'x-max-length': 5, 'd': 2.5}
    """
    return {name: _json(value) for name, value in table.items()}


def _json(value: Value) -> Any:
    letter, inner = type_of(value), bare(value)
    match letter:
        case "A":
            return [_json(each) for each in inner]
        case "F":
            return json_of_table(inner)
        case "x":
            return bytes.fromhex(inner).decode(errors="replace")
        case "S" if isinstance(inner, dict):
            return bytes.fromhex(inner["hex"]).decode(errors="replace")
        case "D":
            scale, number = inner
            return number / 10**scale
        case _:
            return inner

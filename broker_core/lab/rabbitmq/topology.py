"""What a scenario may say of a RabbitMQ lane beside the work queue: what the server has when the lab begins, who
publishes the records and where, and how each consumer takes them.

    "topology": {"exchanges": [...], "queues": [...], "bindings": [...],      as in a server's definitions file
                 "vhosts": [...], "users": [...], "permissions": [...],
                 "publishers": [{"exchange": "orders", "routing_key": "{key}.created"}],
                 "consumers": [{"queue": "eu", "prefetch": 10}, {"queue": "us", "ack": "auto"}]}

Records go to the publishers in turn, the first to the first; the lab's first consumer is the first of the list,
and after the last one they begin with the first again. What a server would refuse of it is refused here, with its
code and text, at the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.rabbitmq.client.roles import ACKS, LATE
from broker_core.rabbitmq.definitions import SECTIONS, Definitions, read_definitions, write_definitions
from broker_core.rabbitmq.loading import DEFAULT_VHOST, refused_rows
from broker_core.rabbitmq.properties import PERSISTENT

ROWS_MAX = 128
"""Of a kind, such as queues: as many as the page draws ten times a second."""
PUBLISHERS_MAX, ROLES_MAX, TURNS_MAX = 8, 16, 64
PREFETCH_MAX = 65_535
"""basic.qos carries the count in 16 bits."""
PRIORITY_MAX = 255
NAME_BYTES_MAX = 255
"""Of a short string."""
TABLE_DEPTH_MAX, TABLE_ENTRIES_MAX, TEXT_BYTES_MAX = 4, 64, 4_096
Reader = Callable[[str, object], Any]
DEFAULT_USER = "guest"
ABSENT = object()


def text(field: str, value: object) -> str:
    """A short string: of at most 255 bytes."""
    if not isinstance(value, str) or len(value.encode(errors="replace")) > NAME_BYTES_MAX or "\0" in value:
        raise CommandError(field, "must be text of at most {high} bytes", high=NAME_BYTES_MAX)
    return value


def name(field: str, value: object) -> str:
    if not text(field, value):
        raise CommandError(field, "must not be empty")
    return text(field, value)


def flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise CommandError(field, "must be true or false")
    return value


def one_of(*choices: str) -> Reader:
    def read(field: str, value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise CommandError(field, "must be one of {choices}", choices=Names(choices))
        return value

    return read


def number(low: int, high: int) -> Reader:
    return lambda field, value: whole(field, value, low, high)


def table(field: str, value: object) -> Json:
    """Arguments or headers: names and plain values. `{"$t": letter, "v": value}` gives a value another type."""
    if not isinstance(value, dict):
        raise CommandError(field, "must be an object")
    _check_value(field, value, TABLE_DEPTH_MAX)
    return value


def tables(field: str, value: object) -> Json | list[Json]:
    """Headers, or a list of them by turns."""
    if isinstance(value, list):
        return [table(f"{field}.{place}", each) for place, each in _listed(field, value, TURNS_MAX)]
    return table(field, value)


def texts(field: str, value: object) -> str | list[str]:
    """A routing key, or a list of them by turns."""
    if isinstance(value, list):
        return [text(f"{field}.{place}", each) for place, each in _listed(field, value, TURNS_MAX)]
    return text(field, value)


def prefetch(field: str, value: object) -> int | None:
    """None: the lane's."""
    return None if value is None else whole(field, value, 0, PREFETCH_MAX)


def priorities(field: str, value: object) -> int | list[int]:
    """A priority, or a list of them by turns."""
    if isinstance(value, list):
        return [
            whole(f"{field}.{place}", each, 0, PRIORITY_MAX)
            for place, each in _listed(field, value, TURNS_MAX)
        ]
    return whole(field, value, 0, PRIORITY_MAX)


def own_bindings(field: str, value: object) -> list[Json]:
    """Of a consumer's own queue."""
    if not isinstance(value, list):
        raise CommandError(field, "must be a list of at most {high}", high=ROWS_MAX)
    return [row(f"{field}.{place}", each, OWN_BINDING) for place, each in _listed(field, value, ROWS_MAX, 0)]


Shape = Mapping[str, tuple[Reader, Any]]
"""A row's fields -> how each is read, and its default; ABSENT: it has to be there."""
OWN_BINDING: Shape = MappingProxyType(
    {"exchange": (name, ABSENT), "routing_key": (text, ""), "arguments": (table, {})}
)
PUBLISHER: Shape = MappingProxyType({
    "name": (name, "publisher"), "vhost": (name, DEFAULT_VHOST), "user": (name, DEFAULT_USER),
    "exchange": (text, ""), "routing_key": (texts, "{key}"), "headers": (tables, {}),
    "mandatory": (flag, False), "confirms": (flag, False), "delivery_mode": (number(0, PERSISTENT), 0),
    "priority": (priorities, 0), "expiration": (text, ""),
})  # fmt: skip
CONSUMER: Shape = MappingProxyType({
    "vhost": (name, DEFAULT_VHOST), "user": (name, DEFAULT_USER), "queue": (text, ABSENT),
    "bindings": (own_bindings, []), "prefetch": (prefetch, None), "ack": (one_of(*ACKS), LATE),
    "only": (text, ""), "priority": (number(-PRIORITY_MAX, PRIORITY_MAX), 0), "exclusive": (flag, False),
})  # fmt: skip


def check_topology(raw: object, where: str) -> Json:
    """A lane's topology with its defaults filled in; a consumer without a prefetch has the lane's. Raises CommandError
    at the field that is wrong, also where a server would refuse it."""
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, {*SECTIONS, "publishers", "consumers"}, f"{where}.", where)
    definitions = definitions_in(raw, where)
    found: Json = write_definitions(definitions)
    found["publishers"] = [
        row(field, each, PUBLISHER) for field, each in _rows(raw, "publishers", where, PUBLISHERS_MAX)
    ]
    found["consumers"] = [
        row(field, each, CONSUMER) for field, each in _rows(raw, "consumers", where, ROLES_MAX)
    ]
    for kind in ("publishers", "consumers"):
        if not found[kind]:
            raise CommandError(f"{where}.{kind}", "must be a list of 1 to {high}", high=ROLES_MAX)
    _check_names(definitions, found, where)
    for section, place, (code, said) in refused_rows(definitions):
        raise CommandError(
            f"{where}.{section}.{place}", "RabbitMQ refuses it: {code} {text}", code=code, text=said
        )
    return found


def definitions_in(raw: Json, where: str) -> Definitions:
    """The lists of a definitions file in a topology; rows without a virtual host are of the server's first one."""
    for section in SECTIONS:
        rows = raw.get(section, [])
        if isinstance(rows, list) and len(rows) > ROWS_MAX:
            raise CommandError(f"{where}.{section}", "must be a list of at most {high}", high=ROWS_MAX)
    try:
        return read_definitions({name: rows for name, rows in raw.items() if name in SECTIONS}, DEFAULT_VHOST)
    except CommandError as error:
        error.field = f"{where}.{error.field}"
        raise


def row(where: str, raw: object, shape: Shape) -> Json:
    """One entry of a list, with its defaults. Raises CommandError for all of its fields that are wrong."""
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, shape, f"{where}.", where)
    found: Json = {}
    wrong: list[CommandError] = []
    for key, (read, default) in shape.items():
        try:
            found[key] = read(f"{where}.{key}", raw[key]) if key in raw else default
        except CommandError as error:
            wrong.append(error)
        else:
            if found[key] is ABSENT:
                wrong.append(CommandError(f"{where}.{key}", "is missing"))
    if wrong:
        raise CommandError.of_all(wrong)
    return found


def _check_names(definitions: Definitions, found: Json, where: str) -> None:
    """Every virtual host and user that a program names is there."""
    vhosts = {DEFAULT_VHOST, *(each.name for each in definitions.vhosts)}
    users = {DEFAULT_USER, *(each.name for each in definitions.users)}
    for kind in ("publishers", "consumers"):
        for place, each in enumerate(found[kind]):
            for key, known in (("vhost", vhosts), ("user", users)):
                if each[key] not in known:
                    raise CommandError(
                        f"{where}.{kind}.{place}.{key}",
                        "must be one of {choices}",
                        choices=Names(sorted(known)),
                    )


def _rows(raw: Json, kind: str, where: str, high: int) -> list[tuple[str, object]]:
    value = raw.get(kind, [])
    if not isinstance(value, list) or len(value) > high:
        raise CommandError(f"{where}.{kind}", "must be a list of at most {high}", high=high)
    return [(f"{where}.{kind}.{place}", each) for place, each in enumerate(value)]


def _listed(field: str, value: list[Any], high: int, low: int = 1) -> list[tuple[int, Any]]:
    if not low <= len(value) <= high:
        raise CommandError(field, "must be a list of {low} to {high}", low=low, high=high)
    return list(enumerate(value))


def _check_value(field: str, value: object, depth: int) -> None:
    if value is None or isinstance(value, bool | float):
        return
    if isinstance(value, int):
        whole(field, value, -(1 << 63), (1 << 63) - 1)
    elif isinstance(value, str):
        if len(value.encode(errors="replace")) > TEXT_BYTES_MAX:
            raise CommandError(field, "must be text of at most {high} bytes", high=TEXT_BYTES_MAX)
    elif isinstance(value, dict | list) and depth:
        if len(value) > TABLE_ENTRIES_MAX:
            raise CommandError(field, "must be a list of at most {high}", high=TABLE_ENTRIES_MAX)
        if isinstance(value, dict):
            for key, inner in value.items():
                text(field, key)
                _check_value(f"{field}.{key}", inner, depth - 1)
        else:
            for place, inner in enumerate(value):
                _check_value(f"{field}.{place}", inner, depth - 1)
    else:
        raise CommandError(field, "must be plain values, at most {high} levels deep", high=TABLE_DEPTH_MAX)

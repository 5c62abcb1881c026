"""RabbitMQ's definitions JSON, as its management UI exports and imports it: users, virtual hosts, permissions, queues,
exchanges, bindings; and the declares that make a broker of them.

A file of a whole broker names the virtual host in every row; the export of a single one leaves it out, and then the
caller says which it is. Policies, parameters and global parameters are kept, written again and named as left out: no
rule of ours reads them. Whatever else a row or the file has is kept too, so that what was read is what is written.
Source: RabbitMQ 3.10 rabbit_definitions, rabbit_mgmt_wm_definitions, rabbit_misc:to_amqp_table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from broker_core.errors import CommandError, Names
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.json_table import json_of_table, table_of_json
from broker_core.rabbitmq.values import Table
from broker_core.rabbitmq.wire_fields import is_short_text

Json = dict[str, Any]

CHANNEL = 1
SECTIONS = ("users", "vhosts", "permissions", "topic_permissions", "queues", "exchanges", "bindings")
LEFT_OUT = ("policies", "parameters", "global_parameters")
RESERVED_PREFIX = "amq."


class User(msgspec.Struct, frozen=True):
    """password_hash: as exported, by hashing_algorithm. tags: as the file has them, a list or a text with commas."""

    name: str
    password_hash: str = ""
    hashing_algorithm: str = ""
    tags: list[str] | str = []
    more: Json = {}

    @property
    def tag_list(self) -> list[str]:
        if isinstance(self.tags, list):
            return self.tags
        return [tag.strip() for tag in self.tags.split(",") if tag.strip()]


class Vhost(msgspec.Struct, frozen=True):
    name: str
    more: Json = {}


class Permission(msgspec.Struct, frozen=True):
    """Patterns of what a user may configure, write and read; searched, not anchored, and "" permits nothing."""

    user: str
    vhost: str
    configure: str
    write: str
    read: str
    more: Json = {}


class TopicPermission(msgspec.Struct, frozen=True):
    user: str
    vhost: str
    exchange: str
    write: str
    read: str
    more: Json = {}


class Queue(msgspec.Struct, frozen=True):
    name: str
    vhost: str
    durable: bool = True
    auto_delete: bool = False
    arguments: Table = {}
    more: Json = {}


class Exchange(msgspec.Struct, frozen=True):
    name: str
    vhost: str
    type: str
    durable: bool = True
    auto_delete: bool = False
    internal: bool = False
    arguments: Table = {}
    more: Json = {}


class Binding(msgspec.Struct, frozen=True):
    """destination_type: "queue" or "exchange"."""

    source: str
    vhost: str
    destination: str
    destination_type: str
    routing_key: str = ""
    arguments: Table = {}
    more: Json = {}


class Definitions(msgspec.Struct, frozen=True):
    """vhost: of a file that has one virtual host and leaves it out in its rows, else None. sections: those that the
    file has. more: what else it has, versions and what is left out among it."""

    users: tuple[User, ...] = ()
    vhosts: tuple[Vhost, ...] = ()
    permissions: tuple[Permission, ...] = ()
    topic_permissions: tuple[TopicPermission, ...] = ()
    queues: tuple[Queue, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    bindings: tuple[Binding, ...] = ()
    vhost: str | None = None
    sections: tuple[str, ...] = SECTIONS
    more: Json = {}

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Names of the policies and parameters that the file has and we do not act on, by section."""
        found = {section: self.more.get(section) or [] for section in LEFT_OUT}
        return {
            section: [str(row.get("name", "")) if isinstance(row, Mapping) else str(row) for row in rows]
            for section, rows in found.items()
            if rows
        }


_ROWS: dict[str, type[msgspec.Struct]] = dict(
    zip(SECTIONS, (User, Vhost, Permission, TopicPermission, Queue, Exchange, Binding), strict=True)
)
_OPTIONAL = {
    "password_hash", "hashing_algorithm", "tags", "durable", "auto_delete", "internal", "arguments", "routing_key",
}  # fmt: skip
_PATTERNS = {"configure", "write", "read"}
_MAY_BE_LONG = {"password_hash", "hashing_algorithm"} | _PATTERNS


def read_definitions(plain: object, vhost: str | None = None) -> Definitions:
    """Read parsed JSON. vhost: where the rows of a file belong that names none.

    Raises CommandError at the field, such as `queues.3.durable` with the rows counted from 0; rows that name an
    unknown virtual host, exchange type or kind of destination, and patterns that are none, are refused.

    >>> read_definitions({"queues": [{"name": "q", "durable": 1}]}, "/")
    Traceback (most recent call last):
        ...
    broker_core.errors.CommandError: queues.0.durable: must be true or false
    """
    if not isinstance(plain, dict):
        raise CommandError("definitions", "must be an object")
    rows_of: dict[str, tuple[Any, ...]] = {}
    is_of_one = False
    for section, kind in _ROWS.items():
        rows = plain.get(section, [])
        if not isinstance(rows, list):
            raise CommandError(section, "must be a list")
        if "vhost" in kind.__struct_fields__ and any(
            isinstance(row, dict) and "vhost" not in row for row in rows
        ):
            is_of_one = True
        rows_of[section] = tuple(_row(f"{section}.{at}", kind, row, vhost) for at, row in enumerate(rows))
    more = {name: value for name, value in plain.items() if name not in SECTIONS}
    given = tuple(section for section in SECTIONS if section in plain)
    definitions = Definitions(**rows_of, vhost=vhost if is_of_one else None, sections=given, more=more)
    _check(definitions)
    return definitions


def _row(field: str, kind: type[msgspec.Struct], row: object, vhost: str | None) -> Any:
    if not isinstance(row, dict):
        raise CommandError(field, "must be an object")
    values: Json = {}
    for name in kind.__struct_fields__:
        if name == "more":
            continue
        if name in row:
            values[name] = _value(f"{field}.{name}", name, row[name])
        elif name == "vhost" and vhost is not None:
            values[name] = vhost
        elif name not in _OPTIONAL:
            raise CommandError(f"{field}.{name}", "is missing")
    return kind(
        **values, more={name: value for name, value in row.items() if name not in kind.__struct_fields__}
    )


def _value(field: str, name: str, value: object) -> Any:
    match name:
        case "durable" | "auto_delete" | "internal":
            if not isinstance(value, bool):
                raise CommandError(field, "must be true or false")
        case "arguments":
            if not isinstance(value, dict):
                raise CommandError(field, "must be an object")
            return table_of_json(value, field)
        case "tags":
            is_list = isinstance(value, list) and all(isinstance(tag, str) for tag in value)
            if not is_list and not isinstance(value, str):
                raise CommandError(field, "must be text")
        case _:
            if not isinstance(value, str):
                raise CommandError(field, "must be text")
            if name not in _MAY_BE_LONG and not is_short_text(value):
                raise CommandError(field, "must be at most 255 bytes long")
            if name in _PATTERNS:
                _check_pattern(field, value)
    return value


def _check_pattern(field: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        raise CommandError(field, "must be a regular expression") from None


def _check(definitions: Definitions) -> None:
    """What rows say of one another. A section that the file leaves out is the broker's own."""
    vhosts = {each.name for each in definitions.vhosts}
    users = {each.name for each in definitions.users}
    for section in SECTIONS:
        for at, row in enumerate(getattr(definitions, section)):
            field = f"{section}.{at}"
            if "vhosts" in definitions.sections and getattr(row, "vhost", None) not in {
                None,
                definitions.vhost,
                *vhosts,
            }:
                raise CommandError(f"{field}.vhost", "there is no {name}", name=row.vhost)
            if "users" in definitions.sections and getattr(row, "user", None) not in {None, *users}:
                raise CommandError(f"{field}.user", "there is no {name}", name=row.user)
    for at, exchange in enumerate(definitions.exchanges):
        if exchange.type not in EXCHANGE_TYPES:
            _refuse_choice(f"exchanges.{at}.type", sorted(EXCHANGE_TYPES))
    for at, binding in enumerate(definitions.bindings):
        if binding.destination_type not in ("queue", "exchange"):
            _refuse_choice(f"bindings.{at}.destination_type", ["exchange", "queue"])


def _refuse_choice(field: str, choices: list[str]) -> None:
    raise CommandError(field, "must be one of {choices}", choices=Names(choices))


def write_definitions(definitions: Definitions) -> Json:
    """The JSON that `read_definitions` was given, or what a management UI would export."""
    rows = {
        section: [_plain_row(row, definitions.vhost) for row in getattr(definitions, section)]
        for section in definitions.sections
    }
    return definitions.more | rows


def _plain_row(row: Any, vhost: str | None) -> Json:
    plain: Json = msgspec.structs.asdict(row)
    more: Json = plain.pop("more")
    if "arguments" in plain:
        plain["arguments"] = json_of_table(plain["arguments"])
    if vhost is not None and plain.get("vhost") == vhost:
        del plain["vhost"]
    return plain | more


def declares(definitions: Definitions, vhost: str) -> list[m.Method]:
    """The methods that make one virtual host's exchanges, queues and bindings on a fresh one, in this order, for a
    channel with the number CHANNEL. What every virtual host has already is not declared again."""
    made: list[m.Method] = []
    for exchange in definitions.exchanges:
        if exchange.vhost == vhost and exchange.name and not exchange.name.startswith(RESERVED_PREFIX):
            made.append(
                m.ExchangeDeclare(
                    CHANNEL, exchange.name, exchange.type, durable=exchange.durable,
                    auto_delete=exchange.auto_delete, internal=exchange.internal, arguments=exchange.arguments,
                )
            )  # fmt: skip
    for queue in definitions.queues:
        if queue.vhost == vhost:
            made.append(
                m.QueueDeclare(
                    CHANNEL, queue.name, durable=queue.durable, auto_delete=queue.auto_delete, arguments=queue.arguments,
                )
            )  # fmt: skip
    for binding in definitions.bindings:
        if binding.vhost != vhost or not binding.source:  # the default exchange's bindings make themselves
            continue
        if binding.destination_type == "queue":
            made.append(
                m.QueueBind(
                    CHANNEL,
                    binding.destination,
                    binding.source,
                    binding.routing_key,
                    arguments=binding.arguments,
                )
            )
        else:
            made.append(
                m.ExchangeBind(
                    CHANNEL,
                    binding.destination,
                    binding.source,
                    binding.routing_key,
                    arguments=binding.arguments,
                )
            )
    return made

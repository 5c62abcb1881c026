"""What the page asks of the last view without touching the lab: where a message would go, whether a user may do
something, and what the server's definitions file would hold.

The answers come from the broker's own exchange types and permissions, over what the panel `rabbitmq` says is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.rabbitmq.importing import stand_in
from broker_core.lab.rabbitmq.views.allowed import OPERATIONS, Asked, refusal_of
from broker_core.lab.rabbitmq.views.rebuilt import bind_all
from broker_core.lab.rabbitmq.views.tried_message import try_message
from broker_core.lab.rabbitmq.views.way import WayFinder
from broker_core.rabbitmq.definitions import LEFT_OUT, read_definitions, write_definitions
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.json_table import json_of_table
from broker_core.rabbitmq.loading import DEFAULT_VHOST
from broker_core.rabbitmq.permissions import Permission, TopicPermission, User
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.values import Table

VERSION = "3.10.8"
PREDECLARED = "amq."
PUBLISH = "basic.publish"
HASHED = ("password_hash", "hashing_algorithm")


def tried(panel: Json, vhost: str, exchange: str, key: str, headers: Table, user: str = "") -> Json:
    """Lay a message beside every binding of an exchange. user: who would publish it, "" for nobody in particular.
    Raises CommandError at `vhost` or `exchange`."""
    graph = _vhost(panel, vhost)
    node = _one_of("exchange", exchange, graph["exchanges"])
    built = EXCHANGE_TYPES[node["type"]](node["arguments"])
    bind_all(built, (each for each in graph["bindings"].values() if each["source"] == exchange))
    refused = allowed(panel, user, vhost, PUBLISH, exchange=exchange, key=key) if user else ""
    return try_message(exchange, built, key, Properties(headers=headers), user, refused).to_json()


def allowed(panel: Json, user: str, vhost: str, operation: str, **names: str) -> str:
    """The server's refusal of an operation that this user's permissions do not allow; "" for one that they do. names:
    queue, exchange, destination and key of `Asked`. Raises CommandError at `vhost` or `operation`."""
    graph = _vhost(panel, vhost)
    _one_of("operation", operation, OPERATIONS)
    known = panel["users"].get(user)
    exchange = graph["exchanges"].get(names.get("exchange", ""), {})
    asked = Asked(**names, type=exchange.get("type", ""), is_internal=exchange.get("internal", False))
    return refusal_of(known and user_of(user, known), user, vhost, operation, asked)


def path_of(
    panel: Json, message: int | None, vhost: str = "", way: str = "", by_hand: int | None = None
) -> Json:
    """Where one of the last messages went, None: the newest that is followed, or with a `way` the one that this line of the
    virtual host's graph carried last. by_hand: in place of its number, which one it is of those that people sent.
    Raises CommandError at `message` or `way` for one that is not among them."""
    paths, finder = panel["paths"], WayFinder(panel["vhosts"])
    if by_hand is not None:
        ours = [int(number) for number, each in paths["of"].items() if each.get("by_hand", 0) == by_hand > 0]
        message = ours[0] if ours else -1
    elif message is None and way:
        newest = finder.newest_on(paths, vhost, way)
        if newest is None:
            raise CommandError("way", "none of the last messages of the lane went this way")
        message = int(newest)
    elif message is None:
        message = paths["newest"]
    found: Json | None = paths["of"].get(str(message))
    if found is None:
        raise CommandError("message", "not kept: it is not one of the last messages of the lane")
    return {"message": message, "by_hand": found.get("by_hand", 0), "steps": finder.steps(found)}


def definitions(panel: Json) -> Json:
    """What the management UI of this server would export, with the rows that an imported file had and no rule reads. A
    queue or exchange that stands in for one is written as the file had it."""
    kept: Mapping[str, list[Json]] = panel.get("kept", {})
    graphs: Mapping[str, Json] = panel["vhosts"]
    users = panel["users"]
    plain = {
        "rabbit_version": VERSION,
        "rabbitmq_version": VERSION,
        "users": [
            {
                "name": name,
                **dict(zip(HASHED, each.get("hashed", ("", "")), strict=True)),
                "tags": each["tags"],
            }
            for name, each in users.items()
        ],
        "vhosts": [{"name": name} for name in graphs],
        "permissions": [
            {"user": name, "vhost": vhost, **patterns}
            for name, each in users.items()
            for vhost, patterns in each["permissions"].items()
        ],
        "topic_permissions": [
            {"user": name, "vhost": vhost, "exchange": exchange, **patterns}
            for name, each in users.items()
            for vhost, rows in each["topic_permissions"].items()
            for exchange, patterns in rows.items()
        ],
        **{section: kept.get(section, []) for section in LEFT_OUT},
        "queues": [
            {
                **_picked(each, "name"),
                "vhost": vhost,
                **_picked(each, "durable", "auto_delete"),
                "arguments": json_of_table(each["arguments"]),
            }
            for vhost, graph in graphs.items()
            for each in graph["queues"].values()
            if not each["exclusive"]
        ],
        "exchanges": [
            {
                **_picked(each, "name"),
                "vhost": vhost,
                **_picked(each, "type", "durable", "auto_delete", "internal"),
                "arguments": json_of_table(each.get("arguments", {})),
            }
            for vhost, graph in graphs.items()
            for each in graph["exchanges"].values()
            if each["name"] and not each["name"].startswith(PREDECLARED)
        ],
        "bindings": [
            {
                "source": each["source"],
                "vhost": vhost,
                "destination": each["destination"],
                "destination_type": each["kind"],
                **_picked(each, "routing_key"),
                "arguments": json_of_table(each["arguments"]),
            }
            for vhost, graph in graphs.items()
            for each in graph["bindings"].values()
            if each["source"] and not _is_exclusive(graph, each)
        ],
    }
    written = write_definitions(read_definitions(plain))
    for section in ("queues", "exchanges"):
        stands_for = {(row.get("vhost", DEFAULT_VHOST), row["name"]): row for row in kept.get(section, ())}
        written[section] = [_as_kept(section, row, stands_for) for row in written[section]]
    return written


def _as_kept(section: str, row: Json, stands_for: Mapping[tuple[str, str], Json]) -> Json:
    """A row, or the one that it stands in for."""
    known = stands_for.get((row["vhost"], row["name"]))
    stood = stand_in(section, known)
    compared = {"queues": "arguments", "exchanges": "type"}[section]
    is_still = known is not None and stood is not None and stood.get(compared, {}) == row[compared]
    return known if is_still and known is not None else row


def user_of(name: str, plain: Json) -> User:
    """A user as the panel has it."""
    return User(
        name,
        "",
        list(plain["tags"]),
        msgspec.convert(plain["permissions"], dict[str, Permission]),
        msgspec.convert(plain["topic_permissions"], dict[str, dict[str, TopicPermission]]),
    )


def _is_exclusive(graph: Json, binding: Json) -> bool:
    return binding["kind"] == "queue" and bool(graph["queues"][binding["destination"]]["exclusive"])


def _picked(row: Json, *names: str) -> Json:
    return {name: row[name] for name in names}


def _vhost(panel: Json, vhost: str) -> Json:
    found: Json = _one_of("vhost", vhost, panel["vhosts"])
    return found


def _one_of(field: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise CommandError(field, "must be one of {choices}", choices=Names(sorted(known)))
    return known[name]

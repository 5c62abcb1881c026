"""A definitions file of a real server comes to a server that runs. What it has that this broker lacks is drawn, too: a
quorum queue or stream as a durable queue, an exchange of another plug-in as a direct one, or as the type that it delays. Such
rows, policies and parameters are kept as they are, to be exported again.

What the server would refuse is found before anything changes.
"""

from __future__ import annotations

import msgspec

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.rabbitmq.topology import ROWS_MAX, definitions_in, name, table
from broker_core.rabbitmq.arguments import OTHER_TYPES_ARGUMENTS
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.definitions import LEFT_OUT, SECTIONS, Definitions
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.loading import DEFAULT_VHOST, refused_rows
from broker_core.rabbitmq.lone_server import LoneServer

OTHER_TYPES = ("quorum", "stream")
PLUGINS = "x-"
"""How types of plug-ins begin."""
DELAYED_TYPE = "x-delayed-type"


class Incoming(msgspec.Struct, frozen=True):
    """definitions: as this broker has them. kept: section -> rows that it does not act on as they are."""

    definitions: Definitions
    kept: dict[str, list[Json]]

    def names(self) -> dict[str, list[str]]:
        """Of what is kept, by section."""
        return {section: [str(row["name"]) for row in rows] for section, rows in self.kept.items()}


def incoming(raw: Json, where: str) -> Incoming:
    """Raises CommandError at the field that is wrong, a row counted from 0."""
    plain: Json = {section: raw[section] for section in SECTIONS if section in raw}
    kept: dict[str, list[Json]] = {}
    for section in ("queues", "exchanges"):
        rows = plain.get(section)
        if isinstance(rows, list):
            plain[section] = [stand_in(section, row) or row for row in rows]
            kept[section] = [row for row in rows if stand_in(section, row)]
    definitions = definitions_in(plain, where)
    for section in LEFT_OUT:
        kept[section] = _left_out(f"{where}.{section}", raw.get(section, []))
    return Incoming(definitions, {section: rows for section, rows in kept.items() if rows})


def stand_in(section: str, row: object) -> Json | None:
    """The row of a queue or exchange that this broker has in place of one that it lacks; None: it has that."""
    if not isinstance(row, dict) or not isinstance(given := row.get("arguments", {}), dict):
        return None
    if section == "queues" and given.get("x-queue-type") in OTHER_TYPES:
        dropped = ("x-queue-type", *OTHER_TYPES_ARGUMENTS)
        return {**row, "arguments": {key: value for key, value in given.items() if key not in dropped}}
    type_ = row.get("type")
    if (
        section == "exchanges"
        and isinstance(type_, str)
        and type_.startswith(PLUGINS)
        and type_ not in EXCHANGE_TYPES
    ):
        delayed = given.get(DELAYED_TYPE)
        return {**row, "type": delayed if delayed in EXCHANGE_TYPES else "direct"}
    return None


def _left_out(where: str, rows: object) -> list[Json]:
    if not isinstance(rows, list) or len(rows) > ROWS_MAX:
        raise CommandError(where, "must be a list of at most {high}", high=ROWS_MAX)
    for at, row in enumerate(rows):
        name(f"{where}.{at}.name", table(f"{where}.{at}", row).get("name"))
    return rows


def check_import(state: BrokerState, raw: Json, where: str) -> None:
    """Raises CommandError at the row that a server in this state would refuse."""
    found = incoming(raw, where).definitions
    vhosts = {*state.vhosts, *(each.name for each in found.vhosts), DEFAULT_VHOST}
    users = {*state.users, *(each.name for each in found.users)}
    for section in SECTIONS:
        for at, row in enumerate(getattr(found, section)):
            for key, known in (("vhost", vhosts), ("user", users)):
                named = getattr(row, key, None)
                if named is not None and named not in known:
                    raise CommandError(f"{where}.{section}.{at}.{key}", "there is no {name}", name=named)
    for section, place, (code, said) in refused_rows(found, LoneServer.like(state)):
        raise CommandError(
            f"{where}.{section}.{place}", "RabbitMQ refuses it: {code} {text}", code=code, text=said
        )

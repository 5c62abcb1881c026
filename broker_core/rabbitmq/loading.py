"""How what a scenario says of the server comes to the server: virtual hosts, users and permissions by an operator's
orders, exchanges, queues and bindings as methods on a connection, as the import of a definitions file does.

A server without a world (`lone_server.py`) is asked first, so that what it refuses is known before there is a lab.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.events import Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.client.operator import Ask
from broker_core.rabbitmq.client.roles import Login
from broker_core.rabbitmq.definitions import Definitions, User, declares
from broker_core.rabbitmq.lone_server import LoneServer
from broker_core.rabbitmq.permissions import Permission, TopicPermission

DEFAULT_VHOST = "/"
LOADER = "definitions"
"""User that the import runs as; it is gone afterwards."""
ALL = Permission(".*", ".*", ".*")


def orders(definitions: Definitions, is_file: bool = False) -> Iterator[server.Order]:
    """What an operator does first. is_file: users may do what a file says and no more; else guest may do all in a
    virtual host. A user whose file has a hash in place of the password has its name for one."""
    for vhost in definitions.vhosts:
        yield server.AddVhost(vhost.name)
        if not is_file:
            yield server.SetPermissions("guest", vhost.name, ALL)
    for user in definitions.users:
        yield server.SetUser(
            user.name, password_of(user), tuple(user.tag_list), user.password_hash, user.hashing_algorithm
        )
    for row in definitions.permissions:
        yield server.SetPermissions(row.user, row.vhost, Permission(row.configure, row.write, row.read))
    for rule in definitions.topic_permissions:
        topic = TopicPermission(rule.write, rule.read)
        yield server.SetTopicPermissions(rule.user, rule.vhost, rule.exchange, topic)


def password_of(user: User) -> str:
    return str(user.more.get("password", user.name))


def rights(definitions: Definitions) -> Iterator[server.Order]:
    """The import's own user, in each virtual host that is used."""
    yield server.SetUser(LOADER, LOADER)
    for vhost in vhosts_of(definitions):
        yield server.SetPermissions(LOADER, vhost, ALL)


def vhosts_of(definitions: Definitions) -> list[str]:
    vhosts = [row.vhost for row in definitions.exchanges]
    vhosts += [row.vhost for row in definitions.queues] + [row.vhost for row in definitions.bindings]
    return list(dict.fromkeys(vhosts))


def asks(broker: str, definitions: Definitions, what: Json | None = None) -> Iterator[Ask]:
    """What an operator's client sends the broker then. what: the order in a person's words, None: nothing is
    reported."""
    for vhost in vhosts_of(definitions):
        ask = Ask(
            broker,
            loader(vhost),
            declares(definitions, vhost),
            {**(what or {}), "vhost": vhost},
            is_silent=what is None,
        )
        if ask.methods:
            yield ask


def rows_of(definitions: Definitions) -> Iterator[tuple[str, int, str, m.Method]]:
    """(section, place in it, virtual host, method) of what is declared and bound."""
    alone = (
        *(("exchanges", at, row.vhost, Definitions(exchanges=(row,))) for at, row in enumerate(definitions.exchanges)),
        *(("queues", at, row.vhost, Definitions(queues=(row,))) for at, row in enumerate(definitions.queues)),
        *(("bindings", at, row.vhost, Definitions(bindings=(row,))) for at, row in enumerate(definitions.bindings)),
    )  # fmt: skip
    for section, at, vhost, row in alone:
        for method in declares(row, vhost):
            yield section, at, vhost, method


def loader(vhost: str) -> Login:
    return Login(LOADER, LOADER, vhost)


def refused_rows(
    definitions: Definitions, alone: LoneServer | None = None
) -> Iterator[tuple[str, int, tuple[int, str]]]:
    """(section, place, (code, text)) of the rows that a server would refuse. alone: the server, else a fresh one."""
    alone = alone or LoneServer()
    for order in (*orders(definitions), *rights(definitions)):
        alone.order(order)
    for section, place, vhost, method in rows_of(definitions):
        refused = alone.refusal(loader(vhost), method)
        if refused is not None:
            yield section, place, refused
            return


def allowed(definitions: Definitions, login: Login, methods: list[m.Method]) -> list[m.Method]:
    """Those that a server with these definitions lets the user do."""
    alone = LoneServer()
    for order in (*orders(definitions), *rights(definitions)):
        alone.order(order)
    for _, _, vhost, method in rows_of(definitions):
        alone.refusal(loader(vhost), method)
    return [method for method in methods if alone.refusal(login, method) is None]

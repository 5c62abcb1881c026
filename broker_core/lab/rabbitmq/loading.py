"""How what a scenario says of the server comes to the server: virtual hosts, users and permissions by an operator's
orders, exchanges, queues and bindings as methods on a connection, as the import of a definitions file does.

A broker without a world is asked first, so that what it refuses is known before there is a lab.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from broker_core.events import Cause, Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.roles import Login
from broker_core.rabbitmq.definitions import Definitions, User, declares
from broker_core.rabbitmq.permissions import Permission, TopicPermission
from broker_core.sim.disk import Disk
from broker_core.sim.node import PERSON, Opened

DEFAULT_VHOST = "/"
LOADER = "definitions"
"""User that the import runs as; it is gone afterwards."""
ALL = Permission(".*", ".*", ".*")


def orders(definitions: Definitions) -> Iterator[server.Order]:
    """What an operator does first. A virtual host's creator may do all in it; a user whose file has a hash in place
    of the password has its name for one."""
    for vhost in definitions.vhosts:
        yield server.AddVhost(vhost.name)
        yield server.SetPermissions("guest", vhost.name, ALL)
    for user in definitions.users:
        yield server.SetUser(user.name, password_of(user), tuple(user.tag_list))
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


def refused_rows(definitions: Definitions) -> Iterator[tuple[str, int, tuple[int, str]]]:
    """(section, place, (code, text)) of the rows that a server would refuse."""
    broker, out = Broker(BrokerState()), _NoWorld()
    for order in (*orders(definitions), *rights(definitions)):
        broker.receive(PERSON, order, 0, out)
    connections: dict[str, int] = {}
    for section, place, vhost, method in rows_of(definitions):
        if vhost not in connections:
            connections[vhost] = connection = len(connections) + 1
            for opening in (
                Opened("operator"), m.ConnectionStartOk(response=f"\0{LOADER}\0{LOADER}"), m.ConnectionTuneOk(),
                m.ConnectionOpen(vhost), m.ChannelOpen(CHANNEL),
            ):  # fmt: skip
                broker.receive(connection, opening, 0, out)
        out.sent.clear()
        broker.receive(connections[vhost], method, 0, out)
        for answer in out.sent:
            if isinstance(answer, m.ChannelClose | m.ConnectionClose):
                yield section, place, (answer.reply_code, answer.reply_text)
                return


class _NoWorld:
    """An outbox that leads nowhere; what the broker answers is kept."""

    name = "broker"

    def __init__(self) -> None:
        self.disk = Disk()
        self.sent: list[Any] = []

    def connect(self, to: str) -> int:
        return 0

    def send(self, connection: int, message: Any) -> None:
        self.sent.append(message)

    def close(self, connection: int) -> None: ...

    def unsent(self, connection: int) -> int:
        return 0

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None: ...

    def cancel(self, name: str) -> None: ...

    def draw(self, stream: str, limit: int) -> int:
        return 0

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        return Cause()

    def because(self, cause: Cause) -> None: ...

    def why(self) -> Cause:
        return Cause()

    def blame_silence(self, connection: int) -> None: ...

"""What an operator does at the server itself, not through a connection: alarms, users, permissions, virtual hosts.

Source: RabbitMQ 3.10 rabbitmqctl; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.events import Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.confirms import DISK
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.permissions import Permission, TopicPermission, User
from broker_core.rabbitmq.vhost import Vhost
from broker_core.sim.node import Outbox


class SetAlarm(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.alarm"):
    """A resource (memory or disk) is short, or is so no more: publishers wait meanwhile."""

    resource: str
    is_on: bool


class Stop(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.stop"):
    """The server stops clean: connections are closed, and what waits for the disk is written."""


class Start(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.start"):
    """The server is up again, with what its disk has."""


class AddVhost(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.add_vhost"):
    name: str


class DeleteVhost(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.delete_vhost"):
    """Its connections are closed."""

    name: str


class SetUser(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.set_user"):
    """A new user, or another password and other tags for one. password_hash, hashing_algorithm: as a file has them, of a
    password that is not known."""

    name: str
    password: str
    tags: tuple[str, ...] = ()
    password_hash: str = ""
    hashing_algorithm: str = ""


class DeleteUser(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.delete_user"):
    name: str


class SetPermissions(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.permissions"):
    """None takes the row away."""

    user: str
    vhost: str
    permission: Permission | None


class SetTopicPermissions(
    msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.topic_permissions"
):
    user: str
    vhost: str
    exchange: str
    permission: TopicPermission | None


class KeepRows(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.keep_rows"):
    """Rows of a definitions file that no rule reads; each takes the place of one of the same name."""

    section: str
    rows: list[Json]


class TraceConnection(msgspec.Struct, frozen=True, array_like=True, tag="rabbitmq.operator.trace"):
    """Keep the last methods of a connection, or of one of its channels. connection 0: of none any more; what was kept
    goes."""

    connection: int
    channel: int
    until_us: int


Order = (
    Stop
    | Start
    | SetAlarm
    | AddVhost
    | DeleteVhost
    | SetUser
    | DeleteUser
    | SetPermissions
    | SetTopicPermissions
    | KeepRows
    | TraceConnection
)


def obey(broker: BrokerBase, order: Order, now_us: int, out: Outbox) -> None:
    """Names that are not there change nothing, as do those that are there already."""
    state = broker.state
    match order:
        case SetAlarm(resource, is_on):
            if resource == DISK:  # something else fills it, or goes
                out.disk.capacity_bytes = 0 if is_on else None
            if is_on and resource not in state.alarms:
                state.alarms.append(resource)
            elif not is_on and resource in state.alarms:
                state.alarms.remove(resource)
        case Stop():
            why = "broker forced connection closure with reason 'shutdown'"
            close_all(broker, lambda known: True, why, now_us, out)
        case Start():
            for queue in broker.queues.values():
                broker.used(queue, now_us, out)
                broker.carry_out(queue, (), now_us, out)
        case AddVhost(name):
            state.vhosts.setdefault(name, Vhost(name))
        case DeleteVhost(name):
            delete_vhost(broker, name, now_us, out)
        case SetUser(name, password, tags, password_hash, hashing_algorithm):
            user = state.users.setdefault(name, User(name, password))
            user.password, user.tags = password, list(tags)
            user.password_hash, user.hashing_algorithm = password_hash, hashing_algorithm
        case DeleteUser(name):
            if state.users.pop(name, None) is not None:
                close_all(broker, lambda known: known.user == name, "user was deleted", now_us, out)
        case SetPermissions(name, vhost, permission):
            if (user_found := state.users.get(name)) is not None:
                user_found.permissions.pop(vhost, None)
                if permission is not None:
                    user_found.permissions[vhost] = permission
        case SetTopicPermissions(name, vhost, exchange, topic_permission):
            if (user_found := state.users.get(name)) is not None:
                rows = user_found.topic_permissions.setdefault(vhost, {})
                rows.pop(exchange, None)
                if topic_permission is not None:
                    rows[exchange] = topic_permission
        case KeepRows(section, rows):
            for row in rows:
                state.kept.setdefault(section, {})[kept_key(row)] = row
        case TraceConnection(connection, channel, until_us):
            trace = state.trace
            trace.connection, trace.channel, trace.until_us, trace.heard = connection, channel, until_us, 0
            trace.methods.clear()


def kept_key(row: Json) -> str:
    """What tells a row of a definitions file from the others of its section."""
    return msgspec.json.encode([row.get(name) for name in ("vhost", "component", "name")]).decode()


def delete_vhost(broker: BrokerBase, name: str, now_us: int, out: Outbox) -> None:
    vhost = broker.state.vhosts.get(name)
    if vhost is None:
        return
    close_all(broker, lambda known: known.vhost == name, f"vhost '{name}' is deleted", now_us, out)
    for queue in list(vhost.queues.values()):
        broker.delete_queue(queue, now_us, out)
    broker.bury(now_us, out)  # what a returned message pushed out
    del broker.state.vhosts[name]
    for section, rows in broker.state.kept.items():
        left = {key: row for key, row in rows.items() if row.get("vhost") != name}
        broker.state.kept[section] = left
    for user in broker.state.users.values():
        user.permissions.pop(name, None)
        user.topic_permissions.pop(name, None)


def close_all(
    broker: BrokerBase, concerns: Callable[[Connection], bool], why: str, now_us: int, out: Outbox
) -> None:
    """The server closes connections: 320."""
    for connection, known in list(broker.state.connections.items()):
        if concerns(known):
            out.send(connection, m.ConnectionClose(codes.CONNECTION_FORCED, f"CONNECTION_FORCED - {why}"))
            out.close(connection)
            broker.drop(connection, "rabbitmq.connection.closed_by_operator", now_us, out)

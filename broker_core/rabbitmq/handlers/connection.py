"""Methods of the connection itself: login, tuning, opening of a virtual host, and the end.

Source: RabbitMQ 3.10 rabbit_reader; docs/rabbitmq/facts.md. Vectors: rabbitmq/topology.json (vhost-missing).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from broker_core.clock import SECOND_US
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.connection import FRAME_SIZE_MIN, OPENING, RUNNING, STARTING, TUNING, Connection
from broker_core.rabbitmq.refusals import Refused, access_refused
from broker_core.rabbitmq.values import bare
from broker_core.sim.node import Outbox

SERVER_PROPERTIES = {
    "capabilities": {
        "publisher_confirms": True, "exchange_exchange_bindings": True, "basic.nack": True,
        "consumer_cancel_notify": True, "connection.blocked": True, "consumer_priorities": True,
        "authentication_failure_close": True, "per_consumer_qos": True, "direct_reply_to": True,
    },
    "product": "RabbitMQ", "version": "3.10.8",
}  # fmt: skip


MECHANISMS = ("AMQPLAIN", "PLAIN")


class ConnectionHandler(Protocol):
    def __call__(
        self, broker: BrokerBase, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
    ) -> None: ...


def start_ok(
    broker: BrokerBase,
    known: Connection,
    connection: int,
    method: m.ConnectionStartOk,
    now_us: int,
    out: Outbox,
) -> None:
    """The client names itself and logs in. A client that cannot read why it is refused is just cut off."""
    expect(known, STARTING)
    capabilities = bare(method.client_properties.get("capabilities"))
    if isinstance(capabilities, dict):
        known.capabilities = [name for name, value in capabilities.items() if value is True]
    known.name = str(bare(method.client_properties.get("connection_name")) or known.name)
    response = method.response if isinstance(method.response, str) else ""  # names and passwords are texts
    _, _, name_and_password = response.partition("\0")
    name, _, password = name_and_password.partition("\0")
    user = broker.state.users.get(name)
    if method.mechanism not in MECHANISMS:
        raise Refused(codes.COMMAND_INVALID, f"unknown authentication mechanism '{method.mechanism}'")
    if user is None or user.password != password:
        if "authentication_failure_close" in known.capabilities:
            text = (
                f"Login was refused using authentication mechanism {method.mechanism}. "
                "For details see the broker logfile."
            )
            broker.refuse_connection(connection, access_refused(text), (0, 0), now_us, out)
        else:
            out.close(connection)
            broker.drop(connection, "rabbitmq.connection.login_refused", now_us, out)
        return
    known.user, known.state = name, TUNING
    out.send(connection, m.ConnectionTune(heartbeat=broker.state.heartbeat_us // 1_000_000))


def tune_ok(
    broker: BrokerBase,
    known: Connection,
    connection: int,
    method: m.ConnectionTuneOk,
    now_us: int,
    out: Outbox,
) -> None:
    """The client may lower what the server offers; the interval of heartbeats is the client's, 0 for none.

    Source: RabbitMQ 3.10 rabbit_reader:validate_negotiated_integer_value; not recorded.
    """
    expect(known, TUNING)
    offered = m.ConnectionTune()
    negotiate("frame_max", FRAME_SIZE_MIN, offered.frame_max, method.frame_max)
    negotiate("channel_max", 1, offered.channel_max, method.channel_max)
    known.channel_max = method.channel_max
    if method.heartbeat * SECOND_US != known.heartbeat_us:
        known.heartbeat_us = method.heartbeat * SECOND_US
        if method.heartbeat:
            out.deadline(f"heartbeat:{connection}", now_us + known.heartbeat_us)
        else:
            out.cancel(f"heartbeat:{connection}")
    known.state = OPENING


def negotiate(name: str, least: int, offered: int, asked: int) -> None:
    """Raises Refused."""
    is_low = asked and asked < least
    if not is_low and 0 < asked <= offered:
        return
    detail = " (no limit)" if name == "channel_max" and not asked else ""
    how, bound, limit = ("lower", "minimum", least) if is_low else ("higher", "maximum", offered)
    raise Refused(
        codes.NOT_ALLOWED,
        f"negotiated {name} = {asked}{detail} is {how} than the {bound} allowed value ({limit})",
    )


def open_(
    broker: BrokerBase, known: Connection, connection: int, method: m.ConnectionOpen, now_us: int, out: Outbox
) -> None:
    expect(known, OPENING)
    vhost = method.virtual_host
    if vhost not in broker.state.vhosts:
        raise Refused(codes.NOT_ALLOWED, f"vhost {vhost} not found")
    if vhost not in broker.state.users[known.user].permissions:
        raise Refused(codes.NOT_ALLOWED, f"access to vhost '{vhost}' refused for user '{known.user}'")
    known.vhost, known.state = vhost, RUNNING
    out.send(connection, m.ConnectionOpenOk())


def close(
    broker: BrokerBase,
    known: Connection,
    connection: int,
    method: m.ConnectionClose,
    now_us: int,
    out: Outbox,
) -> None:
    out.send(connection, m.ConnectionCloseOk())
    out.close(connection)
    broker.drop(connection, "rabbitmq.connection.closed_by_client", now_us, out)


def heartbeat(
    broker: BrokerBase, known: Connection, connection: int, method: m.Heartbeat, now_us: int, out: Outbox
) -> None:
    """It was heard; that is all it says."""


def unreadable(
    broker: BrokerBase, known: Connection, connection: int, method: m.Unreadable, now_us: int, out: Outbox
) -> None:
    """A client that has not opened a virtual host yet is just cut off. Source: RabbitMQ 3.10 rabbit_reader:handle_exception."""
    if method.reply_code and known.state == RUNNING:
        out.send(connection, m.ConnectionClose(*msgspec.structs.astuple(method)))
    out.close(connection)
    broker.drop(connection, "rabbitmq.connection.exception", now_us, out)


def update_secret(
    broker: BrokerBase,
    known: Connection,
    connection: int,
    method: m.ConnectionUpdateSecret,
    now_us: int,
    out: Outbox,
) -> None:
    """A password does not run out, so there is nothing to renew."""
    expect(known, RUNNING)
    out.send(connection, m.ConnectionUpdateSecretOk())


def unexpected(
    broker: BrokerBase, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
) -> None:
    """A method that has its place in no such connection."""
    raise unexpected_in(known)


def expect(known: Connection, state: str) -> None:
    """Raises Refused for a connection that is in another state."""
    if known.state != state:
        raise unexpected_in(known)


def unexpected_in(known: Connection) -> Refused:
    return Refused(codes.CHANNEL_ERROR, f"unexpected method in connection state {known.state}")


CONNECTION_HANDLERS: Mapping[type, ConnectionHandler] = MappingProxyType(
    {
        m.ConnectionStartOk: start_ok,
        m.ConnectionTuneOk: tune_ok,
        m.ConnectionOpen: open_,
        m.ConnectionClose: close,
        m.ConnectionUpdateSecret: update_secret,
        m.Heartbeat: heartbeat,
        m.Unreadable: unreadable,
        m.ConnectionStart: unexpected,
        m.ConnectionSecure: unexpected,
        m.ConnectionSecureOk: unexpected,
        m.ConnectionTune: unexpected,
        m.ConnectionOpenOk: unexpected,
        m.ConnectionCloseOk: unexpected,
        m.ConnectionBlocked: unexpected,
        m.ConnectionUnblocked: unexpected,
        m.ConnectionUpdateSecretOk: unexpected,
    }
)

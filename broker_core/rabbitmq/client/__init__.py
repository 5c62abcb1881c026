"""Client programs of RabbitMQ, as nodes: one that publishes, one that consumes, and one that sends what a person
orders. Each of their connections has one channel."""

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client.roles import Login

CHANNEL = 1
TAG = "ctag"
"""Consumer tag of the one consumer that a consuming program has."""
CAPABILITIES = {
    "consumer_cancel_notify": True, "authentication_failure_close": True, "connection.blocked": True,
    "publisher_confirms": True, "basic.nack": True,
}  # fmt: skip


def hello(name: str, login: Login | None = None) -> tuple[m.Method, ...]:
    """What a program says to open its connection. name: of the program, for people. login: None for a fresh server's
    own user."""
    login = login or Login()
    properties = {"connection_name": name, "capabilities": CAPABILITIES}
    return (
        m.ConnectionStartOk(properties, response=f"\0{login.user}\0{login.password}"),
        m.ConnectionTuneOk(),
        m.ConnectionOpen(login.vhost),
    )

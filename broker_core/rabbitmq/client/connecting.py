"""How a client comes to a channel: connection.start-ok, tune-ok, open and channel.open in one go, since the server
answers each in turn and refuses the first that it does not like.
"""

from __future__ import annotations

from broker_core.clock import SECOND_US
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client import CHANNEL, hello
from broker_core.rabbitmq.client.roles import Login
from broker_core.sim.node import Outbox

RECONNECT_US = 5 * SECOND_US
"""Between a lost connection and the next try. Source: RabbitMQ's Java client, networkRecoveryInterval."""


def connect(broker: str, name: str, login: Login, out: Outbox) -> int:
    """A connection with its channel."""
    connection = out.connect(broker)
    for method in (*hello(name, login), m.ChannelOpen(CHANNEL)):
        out.send(connection, method)
    return connection

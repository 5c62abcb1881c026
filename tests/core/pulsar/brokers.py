"""A broker on its own, for tests: its producer and three clients are connected, and it has a subscription
that nobody has."""

from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.settings import BrokerSettings
from broker_core.sim.node import Opened
from tests.core.playbook import Played, play

P, A, B, C = 1, 2, 3, 4
"""Connections: the producer's, and those of clients a, b and c."""


def broker(**settings):
    """A key's hash is seven times its code."""
    node, out = (
        Broker(BrokerState(), lambda code: 7 * code, BrokerSettings("auto_split", **settings)),
        Played("broker"),
    )
    node.subscription()
    play(node, out, P, Opened("producer"), c.CommandProducer(1))
    for connection, name in ((A, "a"), (B, "b"), (C, "c")):
        play(node, out, connection, Opened(name))
    return node, out

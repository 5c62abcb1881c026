"""Client programs of RabbitMQ, as nodes: one that publishes, one that consumes. Each has one connection with
one channel."""

from broker_core.rabbitmq import methods as m

CHANNEL = 1
TAG = "ctag"
"""Consumer tag of the one consumer that a consuming program has."""


def hello(name: str) -> tuple[m.Method, ...]:
    """What a program says to open its connection, all at once: it takes what the server offers. name: by which people
    know it."""
    return m.ConnectionStartOk({"connection_name": name}), m.ConnectionTuneOk(), m.ConnectionOpen()

"""Client programs of RabbitMQ, as nodes: one that publishes, one that consumes. Each has one connection with
one channel."""

CHANNEL = 1
TAG = "ctag"
"""Consumer tag of the one consumer that a consuming program has."""

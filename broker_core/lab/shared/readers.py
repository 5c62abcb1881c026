"""Readers: consuming programs of the lane's own, beside those of the lab. They run from the start, nobody
orders them anything, and what they read is in none of the lab's figures. Another subscription of a Pulsar
topic has them (`pulsar/readers.py`), and another group of a Kafka topic (`kafka/readers.py`)."""

from broker_core.events import Json

OWN_GROUP = "lab"
"""The Kafka group of the lab's consumers."""
READER = "reader"
"""Kind of their nodes."""


class Unseen:
    """Traffic that nobody counts: the lab's rates are those of its own consumers."""

    def received(self, program: str, message: int, now_us: int) -> None: ...
    def handled(self, program: str, message: int, now_us: int) -> None: ...
    def dropped(self, program: str, message: int, now_us: int) -> None: ...


def names_of(name: str, wanted: Json) -> list[str]:
    """The consumers of one subscription or group.

    >>> names_of("audit", {"consumers": 2})
    ['audit-1', 'audit-2']
    """
    return [f"{name}-{number}" for number in range(1, wanted["consumers"] + 1)]


def node_of(consumer: str) -> str:
    """The node of one of them; no consumer of the lab's can be called so.

    >>> node_of("audit-1")
    '(audit-1)'
    """
    return f"({consumer})"

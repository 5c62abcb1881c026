"""A consuming program on its own, for tests: it is subscribed with each of its parts, and takes 100
microseconds for a message."""

from __future__ import annotations

from typing import Any

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import Consumer, Subscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.settings import SHARED
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Program
from tests.core.playbook import Counted, Played, play, wake

ONE, TWO = 1, 2
"""Consumer ids of its first two parts."""
SERVICE_US = 100


def consumer(kind: str = SHARED, *, queue_size: int = 1000, **options: Any) -> tuple[Any, Played]:
    """The consumer's node and its outbox. The code of a message's key is its number and 50."""
    state, out = (
        ConsumerState("c1", Program(SERVICE_US), ConsumerConfig(kind, queue_size=queue_size, **options)),
        Played("c1"),
    )
    node = Consumer(state, Counted(), lambda message: message + 50)
    for _, command in play(node, out, PERSON, Subscribe("broker", [])):
        play(node, out, 1, c.CommandSuccess(command.request_id))
    return node, out


def messages(*entries: int, consumer_id: int = ONE, count: int = 0) -> list[c.CommandMessage]:
    """Entries of one message each, whose number is that of the entry and ten times that of its part. count:
    how often they were asked for."""
    return [c.CommandMessage(consumer_id, entry, 10 * (consumer_id - 1) + entry, count) for entry in entries]


def batch(entry: int, *numbers: int, count: int = 0, consumer_id: int = ONE) -> c.CommandMessage:
    return c.CommandMessage(consumer_id, entry, numbers[0], count, numbers)


def done(node: Any, out: Played, times: int = 1) -> list[Any]:
    """It is done with so many messages, one after the other. Gives what it sent, without the connection."""
    return [command for _ in range(times) for _, command in wake(node, out, DONE)]


def dropped(node: Any) -> list[int]:
    return [message for what, message in node.traffic.log if what == "dropped"]


def waiting(node: Any) -> list[int]:
    """Entries in its receiver queue."""
    return [message.entry for message in node.state.queue]

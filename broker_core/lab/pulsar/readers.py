"""Other subscriptions on a Pulsar lane's topic: each has a cursor and consumers of its own, and gets every
record as well.

    topic ─┬─► the lab's subscription   its consumers are the lab's: they join, crash and leave
           ├─► audit                    its consumers run from the start, handle a record in turn at a pace of their own, and are not the lab's
           └─► billing

An entry of the topic stays until the slowest of them has acknowledged it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.pulsar.options import TYPE_OF
from broker_core.lab.shared.readers import READER, names_of, node_of
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import Subscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.subscription import Subscription
from broker_core.pulsar.topic import Topic
from broker_core.sim.program import Program

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


class Topics(Protocol):
    """What is asked of a lane's reading."""

    def broker(self) -> Broker: ...
    def topics(self) -> list[Topic]: ...
    def label(self, topic: Topic) -> str: ...


def start_readers(lane: Lane, broker: str, partitions: int, topics: int, queue_size: int) -> None:
    """Each subscription at the end of the empty topic, and its consumers. broker: the node's name.
    partitions, topics: as of a consumer's configuration."""
    node, after_us = lane.world.slots[broker].node, 0
    for name, wanted in lane.options.get("subscriptions", {}).items():
        for topic, number in c.parts_of(c.TOPIC, partitions, topics):
            node.subscription(name, topic, number)  # type: ignore[attr-defined]  # a Broker
        config = ConsumerConfig(
            TYPE_OF[wanted["type"]],
            partitions=partitions,
            topics=topics,
            subscription=name,
            queue_size=queue_size,
        )
        for consumer in names_of(name, wanted):
            lane.world.start(
                node_of(consumer),
                READER,
                ConsumerState(consumer, Program(SECOND_US // wanted["rate"]), config),
            )
            lane.world.order(node_of(consumer), Subscribe(broker, [], after_us))
            after_us += lane.start_step_us


def readers_view(lane: Lane, reads: Topics) -> Json:
    """By name: its type, entries not acknowledged in all partitions, cursors by partition or topic, and its
    consumers with what they have handled and hold."""
    broker, found = reads.broker(), {}
    for name, wanted in lane.options.get("subscriptions", {}).items():
        parts: dict[str, Subscription] = {
            reads.label(topic): topic.subscriptions[name] for topic in reads.topics()
        }
        clients = [lane.world.slots[node_of(consumer)].node.state for consumer in names_of(name, wanted)]
        held: dict[str, int] = {}
        for known in parts.values():
            for key in known.consumers:
                connection, number = broker.consumers[key]
                who = broker.state.connections[connection].consumers[number].name
                held[who] = held.get(who, 0) + known.unacked_count(key)
        found[name] = {
            "type": TYPE_OF[wanted["type"]],
            "backlog": sum(known.cursor.backlog for known in parts.values()),
            "cursors": {
                label: {
                    "mark_delete": known.cursor.mark_delete,
                    "read": known.cursor.read_position,
                    "end": known.cursor.end,
                    "acked_ahead": len(known.cursor.ahead),
                }
                for label, known in parts.items()
            },
            "consumers": {
                client.name: {"finished": client.program.finished, "unacked": held.get(client.name, 0)}
                for client in clients
            },
        }
    return found

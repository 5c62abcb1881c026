"""The broker as a node: connections in front, one topic with one Key_Shared subscription (key_shared.py decides who gets what).

Each connection is pinged every 30 s; at the second tick in a row without an answer it is closed, and its consumers with it. A consumer whose
sticky ranges conflict with a connected one is not refused at once: the broker first asks whether that one's connection is alive, for at most
5 s, and accepts the newcomer if it is not.
Source: Pulsar 3.2 ServerCnx, PulsarHandler, PersistentSubscription; docs/pulsar/facts.md. Left out: other subscription types (issue 16).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from broker_core.pulsar import commands as c
from broker_core.pulsar.commands import CommandAck, CommandMessage, CommandSend
from broker_core.pulsar.key_shared import Delivery, KeySharedSubscription
from broker_core.pulsar.selectors.protocol import AssignRefused
from broker_core.sim.node import Closed, Opened, Outbox

KEEP_ALIVE, LIVENESS = "pulsar.keep_alive.two_ticks", "pulsar.connection.liveness_check"
"""Rules by which the broker gives up on a connection."""


@dataclass(slots=True)
class Connection:
    """peer: the client's name. since_us: when it was opened; from there the keep-alive ticks. awaits_pong: a ping has not been answered.
    consumers: consumer id -> name. asking: consumers that wait for the word whether this connection is alive, as (connection, their
    subscribe command)."""

    peer: str
    since_us: int = 0
    awaits_pong: bool = False
    consumers: dict[int, str] = field(default_factory=dict)
    asking: list[tuple[int, c.CommandSubscribe]] = field(default_factory=list)


@dataclass(slots=True)
class BrokerState:
    """redelivered: messages sent a second time so far."""

    subscription: KeySharedSubscription
    connections: dict[int, Connection] = field(default_factory=dict)
    redelivered: int = 0


@lru_cache(maxsize=4096)  # each acknowledgement asks
def consumer_key(connection: int, consumer_id: int) -> str:
    """What the subscription calls a consumer: ids are unique on a connection only."""
    return f"{connection}.{consumer_id}"


class Broker:
    """hash_of: key code -> unsigned murmur3 of its bytes, computed once per key by the owner of the keys."""

    def __init__(self, state: BrokerState, hash_of: Callable[[int], int], algorithm: str) -> None:
        self.state = state
        self.hash_of = hash_of
        self.rule = f"pulsar.selector.{algorithm}"
        self.publish = state.subscription.publish
        # Who a subscription's consumer is, by its key there: derived from the connections, for speed.
        self.consumers: dict[str, tuple[int, int]] = {
            consumer_key(number, consumer_id): (number, consumer_id)
            for number, connection in state.connections.items() for consumer_id in connection.consumers
        }  # fmt: skip

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is CommandSend:
            deliveries = self.publish(message.message, self.hash_of(message.key))
            if deliveries:
                self.deliver(deliveries, out)
        elif kind is CommandAck:
            ack(self, connection, message)
        elif kind is Opened:
            self.state.connections[connection] = Connection(message.peer, now_us)
            out.deadline(f"keep_alive:{connection}", now_us + c.KEEP_ALIVE_US)
        elif kind is Closed:
            self.drop(connection, "pulsar.connection.closed", now_us, out)
        else:
            HANDLERS[kind](self, connection, message, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, number = name.partition(":")
        connection = int(number)
        known = self.state.connections[connection]
        if what == "keep_alive":
            if not known.awaits_pong:
                known.awaits_pong = True
                out.send(connection, c.CommandPing())
                out.deadline(name, now_us + c.KEEP_ALIVE_US)
                return
            rule, limit = KEEP_ALIVE, {"keep_alive_us": c.KEEP_ALIVE_US}
        else:
            rule, limit = LIVENESS, {"liveness_timeout_us": c.LIVENESS_TIMEOUT_US}
        out.blame_silence(connection)
        out.tell("pulsar.connection.silent", rule, limit, {"client": known.peer})
        out.close(connection)
        self.drop(connection, rule, now_us, out)

    def drop(self, connection: int, reason: str, now_us: int, out: Outbox) -> None:
        """The connection is gone, and its consumers with it; who waited for the word about it is let in."""
        known = self.state.connections.pop(connection)
        out.cancel(f"keep_alive:{connection}")
        out.cancel(f"liveness:{connection}")
        # One after the other, and only then is anything sent: what goes from one to the next of them would go into a closed connection.
        deliveries = [delivery for consumer_id in known.consumers for delivery in self.remove(known, connection, consumer_id, reason, out)]
        self.deliver(deliveries, out)
        for asker, command in known.asking:
            if asker in self.state.connections:
                subscribe(self, asker, command, now_us, out)

    def remove(self, known: Connection, connection: int, consumer_id: int, reason: str, out: Outbox) -> list[Delivery]:
        """Out of the selector; what the consumer had not acknowledged goes to the consumer that owns its keys now.

        Returns what is to be sent. Of a connection that is gone, nothing to its other consumers: theirs comes back as they are removed.
        """
        subscription = self.state.subscription
        key = consumer_key(connection, consumer_id)
        unacked = set(subscription.unacked(key))
        given = subscription.disconnect(key)
        del self.consumers[key]
        deliveries = [delivery for delivery in given if self.consumers[delivery[0]][0] in self.state.connections]
        # What waited for another reason may go out at the same time: that is no redelivery of this consumer's.
        redelivered = sum(message in unacked for _, message, _ in deliveries)
        out.tell("pulsar.consumer.disconnected", self.rule, {"unacked": len(unacked), "reason": reason},
                 {"consumer": known.consumers[consumer_id], "client": known.peer, "consumers": len(self.consumers),
                  "redelivered": redelivered, "waiting": subscription.waiting})  # fmt: skip
        return deliveries

    def deliver(self, deliveries: Sequence[Delivery], out: Outbox) -> None:
        for key, message, redelivered in deliveries:
            connection, consumer_id = self.consumers[key]
            if redelivered:
                self.state.redelivered += 1
            out.send(connection, CommandMessage(consumer_id, message, redelivered))


def subscribe(broker: Broker, connection: int, command: c.CommandSubscribe, now_us: int, out: Outbox) -> None:
    subscription, known = broker.state.subscription, broker.state.connections[connection]
    key = consumer_key(connection, command.consumer_id)
    try:
        deliveries = subscription.connect(key, command.consumer_name, command.ranges or None)
    except AssignRefused as refusal:
        if refusal.conflict is not None and not ask_if_alive(broker, refusal.conflict, connection, command, now_us, out):
            return
        out.tell("pulsar.consumer.refused", broker.rule, {"ranges": [list(pair) for pair in command.ranges]},
                 {"consumer": command.consumer_name, "error": c.CONSUMER_ASSIGN_ERROR, "message": refusal.message})  # fmt: skip
        out.send(connection, c.CommandError(command.request_id, c.CONSUMER_ASSIGN_ERROR, refusal.message))
        return
    known.consumers[command.consumer_id] = command.consumer_name
    broker.consumers[key] = (connection, command.consumer_id)
    out.tell("pulsar.consumer.connected", broker.rule, {"ranges": [list(pair) for pair in command.ranges]},
             {"consumer": command.consumer_name, "client": known.peer, "consumers": len(broker.consumers)})  # fmt: skip
    out.send(connection, c.CommandSuccess(command.request_id))
    broker.deliver(deliveries, out)


def ask_if_alive(broker: Broker, holder: str, connection: int, command: c.CommandSubscribe, now_us: int, out: Outbox) -> bool:
    """Ask the connection of the consumer that holds a range. True: it is known to be alive, the newcomer is refused."""
    other = broker.consumers[holder][0]
    known = broker.state.connections[other]
    if known.asking and not known.awaits_pong:
        return True  # it has just answered
    known.asking.append((connection, command))
    if len(known.asking) == 1:
        known.awaits_pong = True
        out.send(other, c.CommandPing())
        out.deadline(f"liveness:{other}", now_us + c.LIVENESS_TIMEOUT_US)
    return False


def pong(broker: Broker, connection: int, command: c.CommandPong, now_us: int, out: Outbox) -> None:
    """The connection is alive: a consumer that waited for this is refused, if the ranges still conflict."""
    known = broker.state.connections[connection]
    known.awaits_pong = False
    out.cancel(f"liveness:{connection}")
    for asker, asked in known.asking[:]:
        if asker in broker.state.connections:
            subscribe(broker, asker, asked, now_us, out)
    known.asking.clear()


def flow(broker: Broker, connection: int, command: c.CommandFlow, now_us: int, out: Outbox) -> None:
    broker.deliver(broker.state.subscription.flow(consumer_key(connection, command.consumer_id), command.message_permits), out)


def ack(broker: Broker, connection: int, command: c.CommandAck) -> None:
    key, acked = consumer_key(connection, command.consumer_id), broker.state.subscription.ack
    for message in command.messages:
        acked(key, message)


def close_consumer(broker: Broker, connection: int, command: c.CommandCloseConsumer, now_us: int, out: Outbox) -> None:
    """A consumer that still waits to be let in is closed, too: it will not be."""
    known = broker.state.connections[connection]
    for other in broker.state.connections.values():
        other.asking = [asked for asked in other.asking if asked[0] != connection or asked[1].consumer_id != command.consumer_id]
    if command.consumer_id in known.consumers:
        broker.deliver(broker.remove(known, connection, command.consumer_id, "pulsar.consumer.closed", out), out)
        del known.consumers[command.consumer_id]
    out.send(connection, c.CommandSuccess(command.request_id))


def ping(broker: Broker, connection: int, command: c.CommandPing, now_us: int, out: Outbox) -> None:
    out.send(connection, c.CommandPong())


def producer(broker: Broker, connection: int, command: c.CommandProducer, now_us: int, out: Outbox) -> None:
    """The topic takes any producer."""


HANDLERS: Mapping[type, Callable[[Broker, int, Any, int, Outbox], None]] = MappingProxyType({
    c.CommandProducer: producer, c.CommandSubscribe: subscribe, c.CommandFlow: flow,
    c.CommandCloseConsumer: close_consumer, c.CommandPing: ping, c.CommandPong: pong,
})  # fmt: skip

"""The broker as a node: connections in front, topics behind, and in each subscription a dispatcher that
decides who gets what.

Each connection is pinged every 30 s; at the second tick in a row without a word it is closed, and its
consumers with it. A consumer that cannot be let in because another one is there (conflicting sticky ranges, a
second one of Exclusive) is not refused at once: the broker first asks whether that one's connection is alive,
for at most 5 s, and accepts the newcomer if it is not. To both any command is an answer.
Source: Pulsar 3.2 ServerCnx, PulsarHandler (messageReceived), PersistentSubscription; docs/pulsar/facts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from broker_core.pulsar import commands as c
from broker_core.pulsar.broker_messages import ack, flow, ping, producer, redeliver, send
from broker_core.pulsar.broker_state import Connection, of_timer
from broker_core.pulsar.broker_subscribe import close_consumer, hear, pong, seek, subscribe, unsubscribe
from broker_core.pulsar.broker_topics import BrokerTopics
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.pending import Sent
from broker_core.pulsar.topic import Topic
from broker_core.sim.node import Closed, Opened, Outbox

KEEP_ALIVE, LIVENESS = "pulsar.keep_alive.two_ticks", "pulsar.connection.liveness_check"
REFUSED = "pulsar.connection.refused"
"""Rules by which the broker gives up on a connection."""
UNSUPPORTED = "UnsupportedOperationException"


class Broker(BrokerTopics):
    """Its front: what comes over a connection, and when one is over."""

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """What comes after a connection has ended is lost; a command that no broker handles ends it.

        Source: Pulsar 3.2 PulsarDecoder.channelRead, whose handlers of the broker's own commands throw
        UnsupportedOperationException; ServerCnx.exceptionCaught closes the connection.
        """
        kind = type(message)
        known = self.state.connections.get(connection)
        if known is None:
            if kind is Opened:
                self.state.connections[connection] = Connection(message.peer, now_us)
                out.deadline(f"keep_alive:{connection}", now_us + c.KEEP_ALIVE_US)
            return
        if kind is Closed:
            self.drop(connection, "pulsar.connection.closed", now_us, out)
            return
        if known.awaits_pong or known.is_asked:
            hear(self, connection, now_us, out)
        handle = HANDLERS.get(kind)
        error = UNSUPPORTED if handle is None else handle(self, connection, message, now_us, out)
        if error:
            self.refuse(connection, error, now_us, out)

    def refuse(self, connection: int, error: str, now_us: int, out: Outbox) -> None:
        """A command that makes no sense: the connection is closed, and its consumers with it. error: the
        original's exception, or what it logs."""
        peer = self.state.connections[connection].peer
        out.tell("pulsar.connection.refused", REFUSED, {"error": error}, {"client": peer})
        out.close(connection)
        self.drop(connection, REFUSED, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, number = name.partition(":")
        if what in ("switch", "delayed", "unblock"):
            self.wake_subscription(what, number, now_us, out)
            return
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

    def wake_subscription(self, what: str, name: str, now_us: int, out: Outbox) -> None:
        """A second after a switch, ten milliseconds after a slot has drained, or the time of a delayed
        message."""
        topic_name, subscription_name = of_timer(name)
        topic = self.state.topics[topic_name]
        subscription = topic.subscriptions.get(subscription_name)
        dispatcher = None if subscription is None else subscription.dispatcher
        if subscription is None or dispatcher is None:
            return
        dispatcher.now_us = now_us
        sent: list[Sent] = []
        if isinstance(dispatcher, ActiveDispatcher):
            if what == "switch" and dispatcher.switching:
                sent = dispatcher.switch()
                self.tell_active(topic, dispatcher, out)
        elif what == "delayed":
            dispatcher.timer_us = 0
            sent = dispatcher.due()
        elif isinstance(dispatcher, DrainingDispatcher):
            sent = dispatcher.unblock()
        self.after(topic, subscription, sent, now_us, out)

    def tell_active(self, topic: Topic, dispatcher: ActiveDispatcher, out: Outbox) -> None:
        """Another consumer of Failover is active from now on."""
        if dispatcher.active is None:
            return
        is_partition = topic.partition >= 0
        where: dict[str, Any] = {"partition": topic.partition} if is_partition else {"topic": topic.name}
        out.tell(
            "pulsar.subscription.active_changed" if is_partition else "pulsar.topic.active_changed",
            "pulsar.dispatcher.failover",
            {
                **where,
                "order": [dispatcher.consumers[key].name for key in dispatcher.picker.order],
                "since_us": dispatcher.since_us,
                "entries": dispatcher.cursor.end,
            },
            {"consumer": dispatcher.consumers[dispatcher.active].name, "redelivered": dispatcher.rewound},
        )

    def drop(self, connection: int, reason: str, now_us: int, out: Outbox) -> None:
        """The connection is gone, and its consumers with it; who waited for the word about it is let in."""
        known = self.state.connections.pop(connection)
        out.cancel(f"keep_alive:{connection}")
        out.cancel(f"liveness:{connection}")
        self.producers.pop(connection, None)
        # One after the other, and only then is anything sent: what goes from one to the next of them would go
        # into a closed connection.
        removed = []
        for number in known.consumers:
            topic, subscription, _ = self.of_consumer[connection, number]
            removed.append((topic, subscription, self.remove(known, connection, number, reason, now_us, out)))
        for topic, subscription, sent in removed:
            self.after(topic, subscription, [one for one in sent if one[0] in self.consumers], now_us, out)
        for asker, command in known.asking:
            if asker in self.state.connections:
                subscribe(self, asker, command, now_us, out)


HANDLERS: Mapping[type, Callable[[BrokerTopics, int, Any, int, Outbox], str | None]] = MappingProxyType(
    {
        c.CommandProducer: producer,
        c.CommandSend: send,
        c.CommandSubscribe: subscribe,
        c.CommandFlow: flow,
        c.CommandAck: ack,
        c.CommandSeek: seek,
        c.CommandUnsubscribe: unsubscribe,
        c.CommandRedeliverUnacknowledgedMessages: redeliver,
        c.CommandCloseConsumer: close_consumer,
        c.CommandPing: ping,
        c.CommandPong: pong,
    }
)
"""What a client may ask of a broker. One that returns an error costs the connection."""

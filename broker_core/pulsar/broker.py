"""The broker as a node: connections in front, topics behind, and in each subscription a dispatcher that
decides who gets what.

Each connection is pinged every 30 s; at the second tick in a row without a word it is closed, and its
consumers with it. A consumer that cannot be let in because another one is there (conflicting sticky ranges, a
second one of Exclusive) is not refused at once: the broker first asks whether that one's connection is alive,
for at most 5 s, and accepts the newcomer if it is not. To both any command is an answer.
Source: Pulsar 3.2 ServerCnx, PulsarHandler (messageReceived), PersistentSubscription; docs/pulsar/facts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from broker_core.pulsar import commands as c
from broker_core.pulsar.broker_messages import ack, flow, ping, producer, redeliver, send
from broker_core.pulsar.broker_state import (
    Attached,
    BrokerState,
    Connection,
    consumer_key,
    of_timer,
    timer_key,
    topic_key,
)
from broker_core.pulsar.broker_subscribe import close_consumer, hear, pong, seek, subscribe, unsubscribe
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import UNBLOCKING_US, DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.pending import Sent
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.settings import KEY_SHARED, BrokerSettings
from broker_core.pulsar.subscription import Dispatcher, Subscription
from broker_core.pulsar.topic import LATEST, Topic
from broker_core.sim.node import Closed, Opened, Outbox

KEEP_ALIVE, LIVENESS = "pulsar.keep_alive.two_ticks", "pulsar.connection.liveness_check"
REFUSED = "pulsar.connection.refused"
"""Rules by which the broker gives up on a connection."""


Overhears = Callable[[Subscription, str, int], None]
"""(subscription, consumer's key there, position): hears of an entry just before it is sent to a consumer. It
changes nothing."""


class Broker:
    """hash_of: key code -> unsigned murmur3 of its bytes, computed once per key by the owner of the keys.
    overhears: None for nobody."""

    def __init__(
        self,
        state: BrokerState,
        hash_of: Callable[[int], int],
        settings: BrokerSettings,
        overhears: Overhears | None = None,
    ) -> None:
        self.state = state
        self.hash_of = hash_of
        self.settings = settings
        self.overhears = overhears
        self.spreads_keyless, self.has_dedup = settings.spreads_keyless, settings.has_dedup
        for topic in state.topics.values():
            topic.attach(settings, hash_of)
        # Derived from the connections, for speed: a subscription's consumer by its key there, and by number
        # topics, subscriptions and that key.
        self.consumers: dict[str, tuple[int, int]] = {}
        self.producers: dict[int, dict[int, tuple[Topic, str, bool]]] = {}
        self.of_consumer: dict[tuple[int, int], tuple[Topic, Subscription, str]] = {}
        for number, connection in state.connections.items():
            for consumer_id, known in connection.consumers.items():
                self.attach(number, consumer_id, known)
            for producer_id, (key, name, wants_receipts) in connection.producers.items():
                self.producers.setdefault(number, {})[producer_id] = state.topics[key], name, wants_receipts

    def attach(self, connection: int, consumer_id: int, known: Attached) -> None:
        topic = self.state.topics[known.topic]
        key = consumer_key(connection, consumer_id)
        self.consumers[key] = connection, consumer_id
        self.of_consumer[connection, consumer_id] = topic, topic.subscriptions[known.subscription], key

    def attach_consumer(self, connection: int, consumer_id: int, known: Attached) -> None:
        """A consumer has been let in."""
        self.state.connections[connection].consumers[consumer_id] = known
        self.attach(connection, consumer_id, known)

    def topic(self, name: str, partition: int) -> Topic:
        """The topic or partition of that name; a new one is made."""
        key = topic_key(name, partition)
        if key not in self.state.topics:
            self.state.topics[key] = Topic(name, partition)
        return self.state.topics[key]

    def subscription(
        self,
        name: str = c.SUBSCRIPTION,
        topic: str = c.TOPIC,
        partition: int = -1,
        initial_position: str = LATEST,
    ) -> Subscription:
        """The subscription of that name on a topic or partition; a new one is made."""
        return self.topic(topic, partition).subscription(name, initial_position, self.settings)

    def find(
        self, name: str = c.SUBSCRIPTION, topic: str = c.TOPIC, partition: int = -1
    ) -> Subscription | None:
        """The subscription of that name; None: nobody has made it, or somebody has taken it away."""
        known = self.state.topics.get(topic_key(topic, partition))
        return None if known is None else known.subscriptions.get(name)

    def rule_of(self, kind: str) -> str:
        """The rule that decides who gets what in a subscription of this type."""
        return (
            f"pulsar.selector.{self.settings.selector}"
            if kind == KEY_SHARED
            else f"pulsar.dispatcher.{kind.lower()}"
        )

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
        if known.awaits_pong or known.asking:
            hear(self, connection, now_us, out)
        handle = HANDLERS.get(kind)
        if handle is None:
            self.refuse(connection, "UnsupportedOperationException", now_us, out)
        else:
            handle(self, connection, message, now_us, out)

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

    def remove(
        self,
        known: Connection,
        connection: int,
        consumer_id: int,
        reason: str,
        now_us: int,
        out: Outbox,
        *,
        is_seek: bool = False,
    ) -> list[Sent]:
        """Out of its dispatcher; what the consumer had not acknowledged goes to whoever gets it now.

        Returns what is to be sent: nothing with is_seek, for then the others are closed as well. Of a
        connection that is gone, nothing to its other consumers: theirs comes back as they are removed.
        """
        topic, subscription, key = self.of_consumer.pop((connection, consumer_id))
        subscription.attached.now_us = now_us
        unacked = set(subscription.unacked(key))
        given = subscription.disconnect(key)
        del self.consumers[key]
        sent = (
            [] if is_seek else [one for one in given if self.consumers[one[0]][0] in self.state.connections]
        )
        # What waited for another reason may go out at the same time: that is no redelivery of this
        # consumer's.
        redelivered = sum(position in unacked for _, position in sent)
        data = {
            "consumer": known.consumers[consumer_id].name,
            "client": known.peer,
            "consumers": subscription.consumer_count,
            "redelivered": redelivered,
            "waiting": subscription.waiting,
        }
        if topic.partition >= 0:
            data["partition"] = topic.partition
        out.tell(
            "pulsar.consumer.disconnected",
            self.rule_of(subscription.type or ""),
            {"unacked": len(unacked), "reason": reason},
            data,
        )
        return sent

    def after(
        self, topic: Topic, subscription: Subscription, sent: Sequence[Sent], now_us: int, out: Outbox
    ) -> None:
        """Send what the dispatcher said, tell who is active, set what is to happen later."""
        dispatcher = subscription.attached
        if sent:
            self.deliver(subscription, dispatcher, sent, out)
        if dispatcher.has_news:
            self.tell_news(topic, subscription, now_us, out)

    def tell_news(self, topic: Topic, subscription: Subscription, now_us: int, out: Outbox) -> None:
        dispatcher = subscription.attached
        dispatcher.has_news = False
        name = timer_key(topic_key(topic.name, topic.partition), subscription.name)
        if isinstance(dispatcher, ActiveDispatcher):
            for key, is_active in dispatcher.notices:
                if key in self.consumers:
                    connection, consumer_id = self.consumers[key]
                    out.send(connection, c.CommandActiveConsumerChange(consumer_id, is_active))
            dispatcher.notices.clear()
            if dispatcher.starts_timer:
                dispatcher.starts_timer = False
                out.deadline(f"switch:{name}", now_us + dispatcher.delay_us)
            return
        if dispatcher.next_delayed_us is not None and dispatcher.next_delayed_us != dispatcher.timer_us:
            dispatcher.timer_us = dispatcher.next_delayed_us
            out.deadline(f"delayed:{name}", dispatcher.timer_us)
        if isinstance(dispatcher, DrainingDispatcher):
            if dispatcher.unblocked and not dispatcher.has_timer:
                dispatcher.has_timer = True
                out.deadline(f"unblock:{name}", now_us + UNBLOCKING_US)
        elif isinstance(dispatcher, KeySharedDispatcher) and dispatcher.let_go:
            for key in dispatcher.let_go:
                if key in self.consumers:
                    out.tell(
                        "pulsar.consumer.let_go",
                        "pulsar.order.recently_joined",
                        {"mark_delete": subscription.cursor.mark_delete},
                        {"consumer": dispatcher.consumers[key].name},
                    )
            dispatcher.let_go.clear()

    def deliver(
        self, subscription: Subscription, dispatcher: Dispatcher, sent: Sequence[Sent], out: Outbox
    ) -> None:
        """Send each entry to its consumer, as a message of its own.

        Source: Pulsar 3.2 PulsarCommandSenderImpl.sendMessagesToConsumer.
        """
        entries, sent_before, consumers = subscription.entries, dispatcher.sent_before, self.consumers
        for key, position in sent:
            connection, consumer_id = consumers[key]
            entry = entries[position]
            if self.overhears is not None:
                self.overhears(subscription, key, position)
            if sent_before and position in sent_before:
                sent_before.remove(position)
                count = subscription.cursor.left(position, entry.size)
                self.state.redelivered += count
                self.state.connections[connection].consumers[consumer_id].redelivered += count
            out.send(connection, message_of(subscription, consumer_id, position, entry))


def message_of(subscription: Subscription, consumer_id: int, position: int, entry: Entry) -> CommandMessage:
    """An entry as a consumer gets it: how often it was asked for again, and of a batch what is not
    acknowledged."""
    count = subscription.redelivery_counts.get(position, 0)
    batch: tuple[int, ...] = entry.batch
    places: tuple[int, ...] = ()
    if batch:
        places = subscription.cursor.places_left(position, len(batch))
        batch = tuple(batch[place] for place in places) if places else batch
    return CommandMessage(consumer_id, position, entry.message, count, batch, places, entry.reconsumed)


HANDLERS: Mapping[type, Callable[[Broker, int, Any, int, Outbox], None]] = MappingProxyType(
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
"""What a client may ask of a broker."""

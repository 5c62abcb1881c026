"""The broker behind its connections: topics, their subscriptions and consumers, and what is sent to these.

Source: Pulsar 3.2 BrokerService, Consumer, PersistentSubscription; docs/pulsar/facts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.pulsar import commands as c
from broker_core.pulsar.broker_state import (
    Attached,
    BrokerState,
    Connection,
    consumer_key,
    timer_key,
    topic_key,
)
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import UNBLOCKING_US, DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.pending import Sent
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.settings import KEY_SHARED, BrokerSettings
from broker_core.pulsar.subscription import Dispatcher, Subscription
from broker_core.pulsar.topic import LATEST, Topic
from broker_core.sim.node import Outbox

Overhears = Callable[[Subscription, str, int], None]
"""(subscription, consumer's key there, position): hears of an entry just before it is sent to a consumer. It
changes nothing."""


class BrokerTopics:
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

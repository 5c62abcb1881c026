"""What the broker does with messages: it takes them from producers, sends them on permits, and hears that they
are acknowledged, or asked for again.

Source: Pulsar 3.2 ServerCnx (handleProducer, handleSend, handleFlow, handleAck,
handleRedeliverUnacknowledged), Consumer (flowPermits, messageAcked).
"""

from __future__ import annotations

from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker_state import topic_key
from broker_core.pulsar.broker_topics import BrokerTopics
from broker_core.pulsar.dispatchers.pending import Sent
from broker_core.pulsar.entry import Entry, fallback_key
from broker_core.pulsar.topic import Topic
from broker_core.sim.node import Outbox

PRODUCER_NOT_READY, PERMITS_NOT_POSITIVE = "ProducerNotReady", "IllegalArgumentException"
"""Why the broker closes a connection. The first has no exception there: handleSend logs it, and closes."""


def producer(
    broker: BrokerTopics, connection: int, command: c.CommandProducer, now_us: int, out: Outbox
) -> None:
    """The topic takes any producer, and is made if it does not exist. Asked twice, the first one stays."""
    known = broker.state.connections[connection]
    if command.producer_id in known.producers:
        return
    topic = broker.topic(command.topic, command.partition)
    name = command.name or known.peer
    known.producers[command.producer_id] = (
        topic_key(topic.name, topic.partition),
        name,
        command.wants_receipts,
    )
    broker.producers.setdefault(connection, {})[command.producer_id] = topic, name, command.wants_receipts


def send(
    broker: BrokerTopics, connection: int, command: c.CommandSend, now_us: int, out: Outbox
) -> str | None:
    """A message, or a batch, is at the end of its topic now, and each subscription sends it on or leaves it.
    One of a producer that is not there costs the connection."""
    known = broker.producers.get(connection, {}).get(command.producer_id)
    if known is None:
        return PRODUCER_NOT_READY
    topic, name, wants_receipts = known
    if (wants_receipts or broker.has_dedup) and command.sequence_id >= 0:
        if not topic.takes(name, command.sequence_id, len(command.batch) or 1, broker.has_dedup):
            if wants_receipts:
                out.send(connection, c.CommandSendReceipt(command.producer_id, command.sequence_id, -1))
            return None
    key = command.key if command.ordering_key < 0 else command.ordering_key
    entry = Entry(
        broker.hash_of(key),
        command.message,
        key,
        now_us,
        command.batch,
        command.deliver_at_us,
        command.reconsumed,
    )
    if key < 0 and broker.spreads_keyless:
        spread(
            entry, name, command.sequence_id if command.first_sequence_id < 0 else command.first_sequence_id
        )
    position = topic.ledger.append(entry)
    if wants_receipts:
        out.send(connection, c.CommandSendReceipt(command.producer_id, command.sequence_id, position))
    dispatch(broker, topic, position, entry, now_us, out)
    return None


def spread(entry: Entry, producer_name: str, number: int) -> None:
    """Hash an entry without a key as current does. number: its sequence id; without one (-1) it stays with
    "NONE_KEY"."""
    if number >= 0:
        entry.fallback = fallback_key(producer_name, number)
        entry.hash32 = murmur3_32(entry.fallback)


def dispatch(
    broker: BrokerTopics, topic: Topic, position: int, entry: Entry, now_us: int, out: Outbox
) -> None:
    """A new entry is at the end of its topic."""
    for subscription in topic.subscriptions.values():
        dispatcher = subscription.dispatcher
        if dispatcher is None:
            subscription.cursor.end = position + 1
            continue
        dispatcher.now_us = now_us
        broker.after(topic, subscription, dispatcher.arrived(position, entry), now_us, out)


def flow(
    broker: BrokerTopics, connection: int, command: c.CommandFlow, now_us: int, out: Outbox
) -> str | None:
    """From a consumer that is closed meanwhile it changes nothing. Permits of 0 or less cost the connection.

    Source: Pulsar 3.2 Consumer.flowPermits, whose checkArgument fails.
    """
    if (connection, command.consumer_id) not in broker.of_consumer:
        return None
    if command.message_permits <= 0:
        return PERMITS_NOT_POSITIVE
    topic, subscription, key = broker.of_consumer[connection, command.consumer_id]
    subscription.attached.now_us = now_us
    sent = subscription.attached.flow(key, command.message_permits)
    broker.after(topic, subscription, sent, now_us, out)
    return None


def ack(broker: BrokerTopics, connection: int, command: c.CommandAck, now_us: int, out: Outbox) -> None:
    """From a consumer that is closed meanwhile it changes nothing, nor does a cumulative one of any but one
    entry."""
    known = broker.of_consumer.get((connection, command.consumer_id))
    if known is None or (command.is_cumulative and len(command.entries) != 1):
        return
    topic, subscription, key = known
    dispatcher, cursor = subscription.dispatcher or subscription.attached, subscription.cursor
    dispatcher.now_us = now_us
    mark_delete = cursor.mark_delete
    sent: list[Sent] = []
    if not command.is_cumulative:
        sent = subscription.ack(key, command.entries, command.in_batch)
    elif not subscription.ack_cumulative(
        command.entries[0], (command.in_batch or {}).get(command.entries[0], ())
    ):
        broker.state.ignored_cumulative += 1
    if cursor.mark_delete != mark_delete:
        topic.trim(broker.settings.retention)
    broker.after(topic, subscription, sent, now_us, out)


def redeliver(
    broker: BrokerTopics,
    connection: int,
    command: c.CommandRedeliverUnacknowledgedMessages,
    now_us: int,
    out: Outbox,
) -> None:
    """A client asks for messages again: negative acknowledgements, or those whose time is over."""
    if (connection, command.consumer_id) in broker.of_consumer:
        topic, subscription, key = broker.of_consumer[connection, command.consumer_id]
        subscription.attached.now_us = now_us
        sent = subscription.redeliver(key, command.entries)
        broker.after(topic, subscription, sent, now_us, out)


def ping(broker: BrokerTopics, connection: int, command: c.CommandPing, now_us: int, out: Outbox) -> None:
    out.send(connection, c.CommandPong())

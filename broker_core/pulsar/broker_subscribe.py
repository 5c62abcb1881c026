"""How the broker lets consumers in and out: subscribe, the question whether a connection is alive, close,
unsubscribe, seek.

Source: Pulsar 3.2 ServerCnx.handleSubscribe, handleCloseConsumer, handleUnsubscribe, handleSeek;
PersistentSubscription.resetCursor; AbstractDispatcherSingleActiveConsumer and
HashRangeExclusiveStickyKeyConsumerSelector for the liveness check.
"""

from __future__ import annotations

from broker_core.pulsar import commands as c
from broker_core.pulsar.broker_state import Attached, consumer_key, topic_key
from broker_core.pulsar.broker_topics import BrokerTopics
from broker_core.pulsar.dispatchers.errors import ConsumerBusy, SubscriptionRefused
from broker_core.pulsar.selectors.protocol import AssignRefused
from broker_core.pulsar.settings import TYPES, UNKNOWN_TYPE, Asked
from broker_core.pulsar.subscription import Subscription
from broker_core.sim.node import Outbox

CONSUMER_NOT_FOUND = "Consumer not found"
ALREADY_PRESENT = "Consumer is already present on the connection"


def subscribe(
    broker: BrokerTopics,
    connection: int,
    command: c.CommandSubscribe,
    now_us: int,
    out: Outbox,
    *,
    heard: int | None = None,
) -> None:
    """heard: the connection that has just said that it is alive, if it was asked for this consumer."""
    known = broker.state.connections[connection]
    if command.consumer_id in known.consumers:  # asked twice: it is there
        out.send(connection, c.CommandSuccess(command.request_id))
        return
    if is_asked_for(broker, connection, command.consumer_id):
        out.send(connection, c.CommandError(command.request_id, c.SERVICE_NOT_READY, ALREADY_PRESENT))
        return
    if command.sub_type not in TYPES:  # before there is a topic or a subscription of it
        out.send(connection, c.CommandError(command.request_id, c.METADATA_ERROR, UNKNOWN_TYPE))
        return
    topic = broker.topic(command.topic, command.partition)
    subscription = broker.subscription(
        command.subscription, command.topic, command.partition, command.initial_position
    )
    key = consumer_key(connection, command.consumer_id)
    asked = Asked(
        command.consumer_name,
        command.sub_type,
        command.priority_level,
        tuple(command.ranges),
        command.allows_out_of_order,
    )
    rule, inputs = broker.rule_of(command.sub_type), {"ranges": [list(pair) for pair in command.ranges]}
    try:
        sent = subscription.connect(key, asked, now_us)
    except (AssignRefused, SubscriptionRefused) as refusal:
        code = c.CONSUMER_ASSIGN_ERROR if isinstance(refusal, AssignRefused) else refusal.code
        holder = in_the_way(subscription, refusal)
        if holder is not None and not is_alive(broker, holder, connection, command, now_us, out, heard):
            return
        out.tell(
            "pulsar.consumer.refused",
            rule,
            inputs,
            {"consumer": command.consumer_name, "error": code, "message": refusal.message},
        )
        out.send(connection, c.CommandError(command.request_id, code, refusal.message))
        return
    attached = Attached(command.consumer_name, topic_key(topic.name, topic.partition), subscription.name)
    broker.attach_consumer(connection, command.consumer_id, attached)
    data = {"consumer": command.consumer_name, "client": known.peer, "consumers": subscription.consumer_count}
    if topic.partition >= 0:
        data["partition"] = topic.partition
    out.tell("pulsar.consumer.connected", rule, inputs, data)
    out.send(connection, c.CommandSuccess(command.request_id))
    broker.after(topic, subscription, sent, now_us, out)


def is_asked_for(broker: BrokerTopics, connection: int, consumer_id: int) -> bool:
    """Whether this consumer waits for the word about another one's connection: it cannot be asked for twice.

    Source: Pulsar 3.2 ServerCnx.handleSubscribe, of a consumer whose future is not done.
    """
    return any(
        asker == connection and command.consumer_id == consumer_id
        for known in broker.state.connections.values()
        for asker, command in known.asking
    )


def in_the_way(subscription: Subscription, refusal: AssignRefused | SubscriptionRefused) -> str | None:
    """The consumer that keeps a newcomer out, if it matters whether that one is alive."""
    if isinstance(refusal, AssignRefused):
        return refusal.conflict
    return subscription.consumers[0] if isinstance(refusal, ConsumerBusy) else None


def is_alive(
    broker: BrokerTopics,
    holder: str,
    connection: int,
    command: c.CommandSubscribe,
    now_us: int,
    out: Outbox,
    heard: int | None,
) -> bool:
    """Whether the connection of the consumer that is in the way has just spoken, so that the newcomer is
    refused; else it is asked.

    Source: Pulsar 3.2 ServerCnx.checkConnectionLiveness: a ping of its own, which no keep-alive tick counts.
    """
    other = broker.consumers[holder][0]
    if other in (connection, heard):
        return True
    known = broker.state.connections[other]
    known.asking.append((connection, command))
    if not known.is_asked:
        known.is_asked = True
        out.send(other, c.CommandPing())
        out.deadline(f"liveness:{other}", now_us + c.LIVENESS_TIMEOUT_US)
    return False


def pong(broker: BrokerTopics, connection: int, command: c.CommandPong, now_us: int, out: Outbox) -> None:
    """It says nothing but that the connection is alive, which has been heard."""


def hear(broker: BrokerTopics, connection: int, now_us: int, out: Outbox) -> None:
    """A command has come, so the connection is alive: a consumer that waited for this is refused, if it still
    cannot be let in.

    Source: Pulsar 3.2 PulsarDecoder.channelRead, ServerCnx.messageReceived, before the command is handled.
    """
    known = broker.state.connections[connection]
    known.awaits_pong = known.is_asked = False
    out.cancel(f"liveness:{connection}")
    asking, known.asking = known.asking, []
    for asker, asked in asking:
        if asker in broker.state.connections:
            subscribe(broker, asker, asked, now_us, out, heard=connection)


def close_consumer(
    broker: BrokerTopics, connection: int, command: c.CommandCloseConsumer, now_us: int, out: Outbox
) -> None:
    """A consumer that still waits to be let in is closed, too: it will not be. The connection that was asked
    for it keeps its 5 s, and any command of its is the word."""
    known = broker.state.connections[connection]
    for other in broker.state.connections.values():
        other.asking = [
            asked
            for asked in other.asking
            if asked[0] != connection or asked[1].consumer_id != command.consumer_id
        ]
    if command.consumer_id in known.consumers:
        topic, subscription, _ = broker.of_consumer[connection, command.consumer_id]
        sent = broker.remove(known, connection, command.consumer_id, "pulsar.consumer.closed", now_us, out)
        del known.consumers[command.consumer_id]
        broker.after(topic, subscription, sent, now_us, out)
    out.send(connection, c.CommandSuccess(command.request_id))


def unsubscribe(
    broker: BrokerTopics, connection: int, command: c.CommandUnsubscribe, now_us: int, out: Outbox
) -> None:
    """Take the subscription away, with its cursor: only its one connected consumer may."""
    if (connection, command.consumer_id) not in broker.of_consumer:
        out.send(connection, c.CommandError(command.request_id, c.METADATA_ERROR, CONSUMER_NOT_FOUND))
        return
    topic, subscription, key = broker.of_consumer[connection, command.consumer_id]
    known = broker.state.connections[connection]
    try:
        subscription.unsubscribe(key)
    except SubscriptionRefused as refusal:
        out.tell(
            "pulsar.unsubscribe.refused",
            "pulsar.subscription.unsubscribe",
            {"consumers": subscription.consumer_count},
            {
                "consumer": known.consumers[command.consumer_id].name,
                "error": refusal.code,
                "message": refusal.message,
            },
        )
        out.send(connection, c.CommandError(command.request_id, refusal.code, refusal.message))
        return
    broker.remove(known, connection, command.consumer_id, "pulsar.subscription.unsubscribe", now_us, out)
    del known.consumers[command.consumer_id]
    waiting = subscription.cursor.backlog
    del topic.subscriptions[subscription.name]
    topic.trim(broker.settings.retention)
    out.tell(
        "pulsar.subscription.deleted",
        "pulsar.subscription.unsubscribe",
        {},
        {"subscription": subscription.name, "waiting": waiting},
    )
    out.send(connection, c.CommandSuccess(command.request_id))


def seek(broker: BrokerTopics, connection: int, command: c.CommandSeek, now_us: int, out: Outbox) -> None:
    """Move the cursor. All consumers of the subscription are closed first; their clients subscribe again. To
    before what is kept means to the first entry that is; to after the end, to the end."""
    if (connection, command.consumer_id) not in broker.of_consumer:
        out.send(connection, c.CommandError(command.request_id, c.METADATA_ERROR, CONSUMER_NOT_FOUND))
        return
    topic, subscription, _ = broker.of_consumer[connection, command.consumer_id]
    wanted = command.entry if command.entry >= 0 else topic.ledger.first_at(command.publish_time_us)
    position = min(max(wanted, topic.ledger.first), topic.ledger.end)
    for key in subscription.consumers:
        other, consumer_id = broker.consumers[key]
        known = broker.state.connections[other]
        broker.remove(known, other, consumer_id, "pulsar.subscription.seek", now_us, out, is_seek=True)
        del known.consumers[consumer_id]
        out.send(other, c.CommandCloseConsumer(0, consumer_id))
    subscription.seek(position)
    topic.trim(broker.settings.retention)
    out.tell(
        "pulsar.subscription.seek",
        "pulsar.subscription.reset_cursor",
        {"entry": command.entry, "publish_time_us": command.publish_time_us},
        {"subscription": subscription.name, "position": position},
    )
    out.send(connection, c.CommandSuccess(command.request_id))

"""The picture of each consumer of a Pulsar subscription: permits, what it holds, what it was sent again, and
why it has nothing to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE
from broker_core.lab.pulsar.views.idle import WhyIdle
from broker_core.pulsar.broker_state import consumer_key
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.subscription import Subscription

if TYPE_CHECKING:
    from broker_core.lab.consumer import Consumer
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane


def consumers_view(lane: Lane, subscriptions: Sequence[Subscription], why: WhyIdle) -> Json:
    """By program's name, in the lane's order."""
    return {
        name: consumer_view(lane, consumer, subscriptions, why) for name, consumer in lane.consumers.items()
    }


def consumer_view(
    lane: Lane, consumer: Consumer, subscriptions: Sequence[Subscription], why: WhyIdle
) -> Json:
    """One program, with all its consumers at the broker.

    permits: messages that the broker may still send it. unacked: sent and not acknowledged; queue: those of
    them that its program has not taken, none of one that is dead. former: sent to its former connection,
    which the broker has not given up yet, and not acknowledged. redelivered: how many of all it was sent
    somebody had had before. oldest: the lowest position that it holds, None for none or where a single
    consumer is active. holds_acks: it handles messages and acknowledges none. refused_acks: cumulative
    acknowledgements that its own client refused. ranges: what it asks for, sticky ranges only. idle: {"code",
    ...} of `pulsar/views/idle.py`, None while it works.
    """
    reads = cast("PulsarReading", lane.reads)
    client = reads.client(consumer.incarnation)
    connection = reads.broker().state.connections.get(client.connection)
    attached = {} if connection is None else connection.consumers
    keys = [consumer_key(client.connection, number) for number in client.parts]
    former = [key for key, name in why.names.items() if name == consumer.name and key not in keys]
    held = [
        known for subscription in subscriptions for key in keys if (known := pending_of(subscription, key))
    ]
    return {
        "connected": bool(attached),
        "refused": client.refused,
        "priority": client.config.priority,
        "permits": sum(subscription.permits(key) for subscription in subscriptions for key in keys),
        "unacked": lane.reads.held(consumer),
        "queue": 0 if consumer.state in (CRASHED, GONE) else len(client.queue),
        "former": sum(subscription.unacked_count(key) for key in former for subscription in subscriptions),
        "redelivered": sum(known.redelivered for known in attached.values()),
        "oldest": min(map(min, held), default=None),
        "holds_acks": client.holds_acks,
        "refused_acks": client.refused_acks,
        "ranges": [list(pair) for pair in client.ranges],
        "idle": why.of(consumer),
    }


def pending_of(subscription: Subscription, key: str) -> dict[int, int]:
    """What a consumer holds, by position; {} where the dispatcher keeps no such list."""
    dispatcher = subscription.dispatcher
    if dispatcher is None or isinstance(dispatcher, ActiveDispatcher) or key not in dispatcher.consumers:
        return {}
    return dispatcher.consumers[key].pending

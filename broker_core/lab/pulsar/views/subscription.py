"""The picture of a Pulsar subscription: its cursors, what each consumer holds and why it is idle, slots that
drain, and who took what from whom.

    {"type": "Key_Shared", "order": ..., "rule": {...}, "cursors": {"-1": {...}}, "consumers": {"c1": {...}},
    "draining": {...}, "handed": [...]}

Positions are entries of their topic from 0, as Pulsar's own entry ids. What changes with every message is
keyed by id, so that the patch of a frame names only what moved. What one key's hash leads to, now and after a
change, is asked for on its own (`pulsar/views/what_if.py`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from broker_core.events import Json
from broker_core.lab.pulsar.active import ActiveReading
from broker_core.lab.pulsar.owners import program_names
from broker_core.lab.pulsar.readers import readers_view
from broker_core.lab.pulsar.reading import BROKER, PRODUCER
from broker_core.lab.pulsar.views.again import again_view
from broker_core.lab.pulsar.views.batches import batches_view
from broker_core.lab.pulsar.views.consumers import consumers_view
from broker_core.lab.pulsar.views.cursor import cursor_view
from broker_core.lab.pulsar.views.idle import WhyIdle
from broker_core.lab.shared.history import by_second
from broker_core.pulsar import commands as c
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.single_active import SingleActiveDispatcher, Standby
from broker_core.pulsar.settings import DRAINING, KEY_SHARED, RECENTLY_JOINED
from broker_core.pulsar.subscription import Subscription
from broker_core.sim.network import CUT

if TYPE_CHECKING:
    from broker_core.lab.pulsar.lane import PulsarRules
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

CURSORS_MAX, DRAINING_MAX = 32, 48
"""Partitions whose cursor is shown, and draining slots."""
V3_2, V3_2_0, CURRENT, DOCUMENT = "3.2", "3.2.0", "current", "document"
RULES = (V3_2, V3_2_0, CURRENT, DOCUMENT)
"""Whose rule it is: of Pulsar 3.2, of its first release where it differs, of current, or as an article tells
it."""


def pulsar_view(lane: Lane) -> Json:
    """The whole panel of one Pulsar lane.

    exists: False once somebody has taken the subscription away, until the next one joins.
    order: the rule that keeps a key in order when its consumer changes, None where the type has none. rule:
    whose rule chooses the consumer and whose keeps the order. cursors: by partition, "-1" for a topic
    without, of several topics by name; topics: how many there are then, else 0. selector, holders: see
    `what_if`. priorities: levels that the lane has for consumers by name; ordering_keys: how many ordering
    keys its producer sets, 0 for none. subscriptions: others on the topic (`pulsar/readers.py`).
    spreads_keyless: whether each message without a key has a hash of its own. producer: None where it waits
    for no receipts. batches: None where it makes none. again: what is asked for again, None where nothing can
    be.
    history: by second, tenths of a record that each consumer finished a second.
    """
    rules, reads = cast("PulsarRules", lane.rules), cast("PulsarReading", lane.reads)
    subscriptions = reads.subscriptions()
    names, labels = program_names(reads.broker()), [reads.label(topic) for topic in reads.topics()]
    order = rules.order
    # Before the first consumer there is none yet: an empty one of the lane's rule says as well where a key
    # would go.
    selector = subscriptions[0].selector or (reads.owners.nobody if rules.type == KEY_SHARED else None)
    return {
        "type": rules.type,
        "order": order,
        "rule": {
            "selector": rule_of(rules.settings.selector),
            "order": {RECENTLY_JOINED: V3_2, DRAINING: CURRENT}.get(order or ""),
        },
        "exists": all(c.SUBSCRIPTION in topic.subscriptions for topic in reads.topics()),
        "topic": subscriptions[0].topic,
        "partitions": rules.partitions,
        "queue_size": rules.queue_size,
        "priorities": dict(rules.priorities),
        "ordering_keys": rules.ordering_keys,
        "spreads_keyless": reads.owners.spreads_keyless,
        "topics": rules.topics,
        "cursors": {
            label: cursor_view(known, names, list(lane.consumers))
            for label, known in zip(labels, subscriptions[:CURSORS_MAX], strict=False)
        },
        "again": again_view(reads, lane, names),
        "batches": batches_view(reads, lane) if rules.batching else None,
        "consumers": consumers_view(lane, subscriptions, WhyIdle(lane, subscriptions, names)),
        "subscriptions": readers_view(lane, reads),
        "producer": producer_view(reads, lane, rules) if rules.receipts else None,
        "draining": draining_view(reads, lane, subscriptions[0], names),
        "failover": failover_view(reads, lane),
        "handed": [] if reads.painted is None else reads.painted.handed,
        "history": by_second(reads.notes.rates),
        "selector": None if selector is None else selector.to_json(),
        "holders": {} if subscriptions[0].selector is None else dict(names),
    }


def producer_view(reads: PulsarReading, lane: Lane, rules: PulsarRules) -> Json:
    """The lane's producer, where it waits for receipts. unconfirmed: messages for which it has none;
    loses_answers: nothing that the broker says reaches it. Of the topic, so far: taken, messages stored;
    duplicates, dropped because they were there (deduplication); repeated, stored again."""
    producer, topics = lane.world.slots[PRODUCER].node.state, reads.topics()
    link = lane.world.slots[BROKER].links.get(producer.connection)
    return {
        "deduplication": rules.settings.has_dedup,
        "connected": producer.connection != 0,
        "loses_answers": link is not None and bool(link.trouble & CUT),
        "unconfirmed": sum(len(command.batch) or 1 for command in producer.unconfirmed.values()),
        "taken": sum(topic.taken for topic in topics),
        "duplicates": sum(topic.duplicates for topic in topics),
        "repeated": sum(topic.repeated for topic in topics),
    }  # fmt: skip


def rule_of(algorithm: str) -> str:
    """Whose rule an algorithm of the lane is.

    >>> rule_of("auto_split"), rule_of("consistent_hash_current"), rule_of("sticky_document")
    ('3.2', 'current', 'document')
    """
    ends = {"_document": DOCUMENT, "_current": CURRENT, "_3_2_0": V3_2_0}
    return next((rule for end, rule in ends.items() if algorithm.endswith(end)), V3_2)


def draining_view(
    reads: PulsarReading, lane: Lane, subscription: Subscription, names: dict[str, str]
) -> Json | None:
    """Slots whose old consumer still has messages of them; None where no rule drains. from: who has them, to:
    whose slot it is now; count: how many are not acknowledged, blocked: how often something had to wait.
    drained: slots that are done, so far."""
    dispatcher = subscription.dispatcher
    if not isinstance(dispatcher, DrainingDispatcher) or dispatcher.is_sticky:
        return None
    owners = reads.owners.now(reads.broker())
    slots: Json = {}
    for slot, entry in list(dispatcher.draining.items())[:DRAINING_MAX]:
        owner = owners.holder_of(slot)
        slots[str(slot)] = {
            "from": names.get(entry.consumer),
            "to": None if owner is None else names.get(owner),
            "count": entry.count,
            "blocked": entry.blocked,
        }
    return {"count": len(dispatcher.draining), "drained": dispatcher.drained, "slots": slots}


def failover_view(reads: PulsarReading, lane: Lane) -> Json | None:
    """Who is active and who stands by; None in the types where all are active. order: (consumer, priority
    level), the next one to become active first. uses_ring: partitions are picked by the ring of names, too.
    partitions: the active consumer of each, who becomes active when that one leaves, whether its second
    before reading still runs, and how many messages the last switch sent again."""
    if not isinstance(reads, ActiveReading):
        return None
    partitions: Json = {}
    order: list[list[object]] = []
    for topic, subscription in zip(reads.topics(), reads.subscriptions(), strict=True):
        dispatcher = subscription.dispatcher
        known = dispatcher if isinstance(dispatcher, ActiveDispatcher) else None
        partitions[reads.label(topic)] = {
            "active": reads.active(subscription),
            "next": None if known is None else next_active(known.picker),
            "switching": known is not None and known.switching,
            "rewound": 0 if known is None else known.rewound,
        }
        if known is not None and len(known.picker.consumers) > len(order):
            levels: dict[str, int] = {}  # who came back before its former connection was given up stands once
            for standby in known.picker.consumers:
                levels.setdefault(standby.name, standby.priority)
            order = [[name, level] for name, level in levels.items()]
    return {
        "order": order,
        "uses_ring": cast("PulsarRules", lane.rules).settings.failover_uses_ring,
        "partitions": partitions,
    }


def next_active(picker: SingleActiveDispatcher) -> str | None:
    """The program that becomes active when the active one leaves; None: there is no other."""
    return _next_active(
        picker.topic,
        picker.partition,
        picker.uses_ring,
        picker.in_order,
        tuple(picker.consumers),
        picker.active,
    )


@lru_cache(maxsize=4096)  # each view asks for each partition; it changes only with a join or a leave
def _next_active(
    topic: str,
    partition: int,
    uses_ring: bool,
    in_order: bool,
    standbys: tuple[Standby, ...],
    active: str | None,
) -> str | None:
    without = SingleActiveDispatcher(topic, partition, uses_ring=uses_ring, in_order=in_order)
    without.restore([standby for standby in standbys if standby.consumer != active], active)
    if not without.consumers:
        return None
    without.pick()
    return next(standby.name for standby in without.consumers if standby.consumer == without.active)

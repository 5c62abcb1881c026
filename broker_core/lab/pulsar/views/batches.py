"""The picture of a producer's batches: the entries sent last, each message with its key's owner, who got it,
and how far its acknowledgement is.

entry 12 ─► c1     k1  k7  k3        done "ah."     a  acknowledged, as the broker knows
                   c1  c2  c1                       h  handled, and not acknowledged yet: the rest of its batch is not, or acks gather
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from broker_core.events import Json
from broker_core.lab.pulsar.batches import SentEntry
from broker_core.pulsar.client.consumer import CONSUMER_ID
from broker_core.pulsar.subscription import Subscription

if TYPE_CHECKING:
    from broker_core.lab.pulsar.lane import PulsarRules
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

MESSAGES_SHOWN = 16
"""Of one entry, the first."""
ACKED, HANDLED, OPEN = "a", "h", "."


def batches_view(reads: PulsarReading, lane: Lane) -> Json:
    """kind: default or key_based. has_owners: whether keys have owners, as under Key_Shared. index_acks:
    whether the broker hears of single messages of a batch. entries, messages, mixed, misplaced: of all that
    was sent (`lab/pulsar/batches.py`). in_part: entries acknowledged in part, and how many of their
    messages are. gathering: messages in the producer's batches. recent: by place and position, those sent
    last."""
    rules, notes, subscriptions = (
        cast("PulsarRules", lane.rules),
        reads.notes.batches,
        reads.subscriptions(),
    )
    partly = [
        places for subscription in subscriptions for places in subscription.cursor.acked_in_batch.values()
    ]
    return {
        "kind": rules.batching,
        "has_owners": reads.has_order,
        "delay_us": rules.batch_delay_us,
        "index_acks": rules.config.acks_batch_index,
        "entries": notes.entries,
        "messages": notes.messages,
        "mixed": notes.mixed,
        "misplaced": notes.misplaced,
        "in_part": [len(partly), sum(map(len, partly))],
        "gathering": reads.gathering(),
        "recent": {key: entry_view(reads, lane, subscriptions, sent) for key, sent in notes.recent.items()},
    }


def entry_view(
    reads: PulsarReading, lane: Lane, subscriptions: Sequence[Subscription], sent: SentEntry
) -> Json:
    """part: its partition or topic, None where there is one topic; position: there. to: who got it, at_us:
    when, times: how often it was sent. size: messages in it; keys, owners, done: of the first of them.
    Without a key that is ""; owners is empty where keys have none."""
    messages = sent.messages[:MESSAGES_SHOWN]
    return {
        "part": sent.place if len(subscriptions) > 1 else None,
        "position": sent.position,
        "to": sent.consumer,
        "at_us": sent.at_us,
        "times": sent.times,
        "size": len(sent.messages),
        "keys": [reads.owners.hashes.key_text(code) for code in lane.messages.codes_of(messages)],
        "owners": sent.owners[:MESSAGES_SHOWN],
        "done": done_of(reads, lane, subscriptions[sent.place], sent)[:MESSAGES_SHOWN],
    }


def done_of(reads: PulsarReading, lane: Lane, subscription: Subscription, sent: SentEntry) -> str:
    """A letter for each message of an entry: ACKED, HANDLED or OPEN."""
    size, position = len(sent.messages), sent.position
    if subscription.cursor.is_acked(position):
        return ACKED * size
    acked = subscription.cursor.acked_in_batch.get(position, ())
    consumer = lane.consumers.get(sent.consumer)
    part = (
        None if consumer is None else reads.client(consumer.incarnation).parts.get(CONSUMER_ID + sent.place)
    )
    left: set[int] = set(range(size))
    if part is not None and position in part.batches:
        left = set(part.batches[position])
    elif part is not None and position in part.acks:
        left = set()
    return "".join(ACKED if place in acked else OPEN if place in left else HANDLED for place in range(size))

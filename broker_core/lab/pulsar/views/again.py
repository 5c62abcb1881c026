"""The picture of what is asked for again: each entry on its ladder to the dead-letter topic, who has it, and
when it comes again.

    sent ─► asked for again, redelivery count 1 ─► 2 ─► 3 = maxRedeliverCount ─► dead-letter topic

With a retry letter topic the ladder is there: an entry of it says how often it has been through. Exclusive
and Failover have no such ladder.
Source: the broker's redelivery counts and the clients' negative acknowledgements (`pulsar/client/again.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from broker_core.events import Json
from broker_core.lab.pulsar.views.cursor import holder_of
from broker_core.pulsar.client.consumer import CONSUMER_ID
from broker_core.pulsar.dispatchers.pending import PendingDispatcher
from broker_core.pulsar.subscription import Subscription

if TYPE_CHECKING:
    from broker_core.lab.pulsar.lane import PulsarRules
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

SHOWN_MAX = 32


def again_view(reads: PulsarReading, lane: Lane, names: Mapping[str, str]) -> Json | None:
    """None where nothing is asked for again and nothing can be. max: how often an entry may be, 0 for as
    often as it takes. dead_letters: so far.
    in_retry_topic: whether the entries are those of the retry letter topic; held: how many of these were
    delivered, beside what the subscription's cursor counts. count: entries on the ladder; messages: those of
    them that are. entries: by position, the lowest: record: its first message that is on the ladder, times:
    how often it was asked for again, holder: who has it, at_us: when it is asked for, or delivered, again,
    None for not planned."""
    config = cast("PulsarRules", lane.rules).config
    if config.is_active_only:
        return None
    retries, subscription = reads.retry_letters(), reads.subscription()
    if not (config.cannot or config.max_redeliver or retries or subscription.redelivery_counts):
        return None
    known = of_retry_topic(retries) if retries is not None else asked_again(reads, lane, subscription)
    source = retries or subscription
    retrying = None if retries is None else retries.dispatcher
    held = (
        sum(len(one.pending) for one in retrying.consumers.values())
        if isinstance(retrying, PendingDispatcher)
        else 0
    )
    entries: Json = {}
    for position in sorted(known)[:SHOWN_MAX]:
        times, at_us = known[position]
        key = holder_of(source, position)
        entries[str(position)] = {
            "record": next(iter(given_back(source, position, config.cannot)), None), "times": times,
            "holder": None if key is None else names.get(key), "at_us": at_us,
        }  # fmt: skip
    return {
        "max": config.redeliver_max,
        "delay_us": config.nack_delay_us,
        "dead_letters": reads.dead_letters(),
        "in_retry_topic": retries is not None,
        "count": len(known),
        "messages": sum(len(given_back(source, position, config.cannot)) for position in known),
        "held": held,
        "entries": entries,
    }


def given_back(source: Subscription, position: int, cannot: int) -> list[int]:
    """Which messages of an entry bring it on the ladder: those that are not acknowledged and cannot be
    handled, or all where there are none."""
    entry = source.entries.get(position)
    if entry is None:
        return []
    numbers = entry.batch or (entry.message,)
    left = [numbers[place] for place in source.cursor.places_left(position, entry.size) or range(entry.size)]
    return [number for number in left if cannot and number % cannot == 0] or left


def asked_again(
    reads: PulsarReading, lane: Lane, subscription: Subscription
) -> dict[int, tuple[int, int | None]]:
    """Position -> (how often its client asked for it again, when it will). What is acknowledged is off the
    ladder."""
    clients = [reads.client(consumer.incarnation) for consumer in lane.consumers.values()]
    planned = {
        position: at_us
        for client in clients
        for at_us, number, position in client.waits_again
        if number == CONSUMER_ID
    }
    counts, cursor = subscription.redelivery_counts, subscription.cursor
    return {
        position: (counts.get(position, 0), planned.get(position))
        for position in {*counts, *planned}
        if not cursor.is_acked(position)
    }


def of_retry_topic(retries: Subscription) -> dict[int, tuple[int, int | None]]:
    """Position in the retry letter topic -> (how often it has been through, when it is delivered; None once
    it is)."""
    cursor, entries = retries.cursor, retries.entries
    return {
        position: (
            entries[position].reconsumed,
            None if holder_of(retries, position) else entries[position].deliver_at_us or None,
        )
        for position in range(cursor.mark_delete + 1, cursor.end)
        if position not in cursor.ahead
    }

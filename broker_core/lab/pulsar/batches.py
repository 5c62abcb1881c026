"""What a Pulsar broker sent to whom, entry by entry, where the producer makes batches: under Key_Shared it
looks at an entry's first key alone.

    entry 12   [k1 k7 k3]   sent to k1's owner       k7 and k3 are misplaced, where they belong to somebody else

In the other types no key has an owner, and nothing is misplaced. What is sent again counts again: it is a
delivery like the first.
Source: Pulsar 3.2 client `BatchMessageContainerImpl` (the metadata of a batch is that of its first message),
broker `PersistentStickyKeyDispatcherMultipleConsumers` (the sticky key is the entry's).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.pulsar.dispatchers.key_shared import KeyDispatcher
from broker_core.pulsar.subscription import Subscription

if TYPE_CHECKING:
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

KEPT = 24
"""Entries whose messages are remembered, those sent last."""


@dataclass(slots=True)
class SentEntry:
    """place: of its topic or partition among the lane's; position: there. consumer: name of the program that
    it was sent to last. messages: their numbers. owners: program whose key each of them had at that moment,
    None for nobody's; empty where keys have no owner. times: how often it was sent. at_us: when, the last
    time."""

    place: int
    position: int
    consumer: str
    at_us: int
    messages: list[int]
    owners: list[str | None]
    times: int = 1


@dataclass(slots=True)
class BatchNotes:
    """entries, messages: sent so far. mixed: those entries with more than one key. misplaced: messages that
    went to a consumer which did not own their key. recent: place and position -> entry, in the order in which
    they were sent last."""

    entries: int = 0
    messages: int = 0
    mixed: int = 0
    misplaced: int = 0
    recent: dict[str, SentEntry] = field(default_factory=dict)


class BatchEar:
    """A lane's ear at its broker. Who owns a key is asked of the dispatcher itself, as it is at that
    moment."""

    def __init__(self, lane: Lane, reads: PulsarReading) -> None:
        self.lane, self.reads = lane, reads

    def sent(self, subscription: Subscription, key: str, position: int) -> None:
        dispatcher = subscription.attached
        place = next(
            (place for place, known in enumerate(self.reads.subscriptions()) if known is subscription),
            None,
        )
        if place is None:
            return
        notes, entry = self.reads.notes.batches, subscription.entries[position]
        messages = list(entry.batch or (entry.message,))
        sent = subscription.cursor.places_left(position, entry.size) or range(entry.size)
        codes = self.lane.messages.codes_of(messages)
        hashes = [self.reads.owners.hashes[code] for code in codes]
        holders: list[str | None] = []
        if isinstance(dispatcher, KeyDispatcher):
            # Where messages without a key are spread, one goes wherever its batch goes and is nowhere out of
            # place.
            free = NO_KEY if self.reads.owners.spreads_keyless else None
            holders = [
                key if code == free else dispatcher.owner(hash32)
                for code, hash32 in zip(codes, hashes, strict=True)
            ]
        was = notes.recent.pop(f"{place}-{position}", None)
        notes.entries += 1
        notes.messages += len(sent)
        notes.mixed += len({hashes[at] for at in sent}) > 1
        notes.misplaced += sum(holders[at] != key for at in sent) if holders else 0
        names = {
            consumer: dispatcher.consumers[consumer].name
            for consumer in {key, *holders}
            if consumer is not None
        }
        notes.recent[f"{place}-{position}"] = SentEntry(
            place,
            position,
            names[key],
            self.lane.world.now_us,
            messages,
            [None if holder is None else names[holder] for holder in holders],
            1 if was is None else was.times + 1,
        )
        if len(notes.recent) > KEPT:
            del notes.recent[next(iter(notes.recent))]

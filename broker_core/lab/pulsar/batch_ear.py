"""Overhears what a Pulsar broker sends, entry by entry, and keeps it in the notes (`batches.py`)."""

from __future__ import annotations

from broker_core.lab.pulsar.batches import KEPT, SentEntry
from broker_core.lab.pulsar.reading import PulsarReading
from broker_core.lab.shared.lane import Lane
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.pulsar.dispatchers.key_shared import KeyDispatcher
from broker_core.pulsar.subscription import Subscription


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

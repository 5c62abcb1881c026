"""A topic, or one partition of one: its entries, its subscriptions, and the last sequence id of each producer.

Source: Pulsar 3.2 `PersistentTopic`, `MessageDeduplication`, `ManagedLedgerImpl` (one ledger; entries go once every subscription has
acknowledged them and none is retained).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.single_active import NOT_PARTITIONED
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.settings import BrokerSettings
from broker_core.pulsar.subscription import Subscription

EARLIEST, LATEST = "earliest", "latest"


def full_name(topic: str, partition: int = NOT_PARTITIONED) -> str:
    """>>> full_name("orders", 1)
    'persistent://public/default/orders-partition-1'
    """
    name = f"persistent://public/default/{topic}"
    return name if partition == NOT_PARTITIONED else f"{name}-partition-{partition}"


@dataclass(slots=True)
class Topic:
    """name: without the persistent://tenant/namespace/ before it. first: lowest position that is kept; end: of the next one. sequence_ids:
    producer's name -> highest sequence id. duplicates: messages dropped because theirs was not higher."""

    name: str
    partition: int = NOT_PARTITIONED
    entries: dict[int, Entry] = field(default_factory=dict)
    first: int = 0
    end: int = 0
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    sequence_ids: dict[str, int] = field(default_factory=dict)
    duplicates: int = 0

    @property
    def full_name(self) -> str:
        return full_name(self.name, self.partition)

    def attach(self, settings: BrokerSettings) -> None:
        """After a start or a restore: its subscriptions get what they need to dispatch."""
        for subscription in self.subscriptions.values():
            subscription.attach(self.full_name, self.partition, self.entries, settings)

    def subscription(self, name: str, initial_position: str, settings: BrokerSettings) -> Subscription:
        """The subscription of that name; a new one begins at its initial position, which one that exists ignores."""
        if name not in self.subscriptions:
            start = self.first if initial_position == EARLIEST else self.end
            made = self.subscriptions[name] = Subscription(name, Cursor(start - 1, read_position=start, end=self.end))
            made.attach(self.full_name, self.partition, self.entries, settings)
        return self.subscriptions[name]

    def is_duplicate(self, producer: str, sequence_id: int) -> bool:
        """Whether this producer has sent that sequence id, or a higher one; else it is remembered."""
        if sequence_id <= self.sequence_ids.get(producer, -1):
            self.duplicates += 1
            return True
        self.sequence_ids[producer] = sequence_id
        return False

    def append(self, entry: Entry) -> int:
        """Take an entry. Returns its position."""
        position = self.end
        self.entries[position] = entry
        self.end = position + 1
        return position

    def trim(self, retention: int) -> None:
        """Forget what everybody has acknowledged, but for the last `retention` entries of it."""
        lowest = self.end - 1
        for known in self.subscriptions.values():
            if known.cursor.mark_delete < lowest:
                lowest = known.cursor.mark_delete
        lowest -= retention
        entries, position = self.entries, self.first
        while position <= lowest:
            del entries[position]
            position += 1
        self.first = position

    def first_at(self, at_us: int) -> int:
        """Position of the first entry published at or after a moment; the topic's end if there is none."""
        kept = range(self.first, self.end)
        return self.first + bisect_left(kept, at_us, key=lambda position: self.entries[position].published_us)

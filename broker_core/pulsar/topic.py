"""A topic, or one partition of one: its entries, its subscriptions, and the last sequence id of each
producer.

Source: Pulsar 3.2 `PersistentTopic`, `MessageDeduplication`; its entries are in its `ledger.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.single_active import NOT_PARTITIONED
from broker_core.pulsar.managed_ledger import ManagedLedger
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
    """name: without the persistent://tenant/namespace/ before it. sequence_ids: producer's name -> highest
    sequence id, of those that number their messages and are asked about it: with deduplication all, else
    those that wait for receipts. taken: messages with a higher one than before;
    duplicates: those dropped because theirs was not higher; repeated: those that, without deduplication, were
    stored all the same."""

    name: str
    partition: int = NOT_PARTITIONED
    ledger: ManagedLedger = field(default_factory=ManagedLedger)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    sequence_ids: dict[str, int] = field(default_factory=dict)
    taken: int = 0
    duplicates: int = 0
    repeated: int = 0

    @property
    def full_name(self) -> str:
        return full_name(self.name, self.partition)

    def attach(self, settings: BrokerSettings, hash_of: Callable[[int], int]) -> None:
        """After a start or a restore: its entries get their hashes, then its subscriptions what they need to
        dispatch."""
        self.ledger.know_hashes(hash_of)
        for subscription in self.subscriptions.values():
            subscription.attach(self.full_name, self.partition, self.ledger.entries, settings)

    def nobodys(self, name: str, settings: BrokerSettings) -> Subscription:
        """One that is not there, as it would be if somebody made it now, at the end of the topic: nothing
        waits for anybody."""
        end = self.ledger.end
        made = Subscription(name, Cursor(end - 1, read_position=end, end=end))
        made.attach(self.full_name, self.partition, self.ledger.entries, settings)
        return made

    def subscription(self, name: str, initial_position: str, settings: BrokerSettings) -> Subscription:
        """The subscription of that name; a new one begins at its initial position, which one that exists
        ignores."""
        if name not in self.subscriptions:
            ledger = self.ledger
            start = ledger.first if initial_position == EARLIEST else ledger.end
            made = self.subscriptions[name] = Subscription(
                name, Cursor(start - 1, read_position=start, end=ledger.end)
            )
            made.attach(self.full_name, self.partition, self.ledger.entries, settings)
        return self.subscriptions[name]

    def takes(self, producer: str, sequence_id: int, count: int, has_dedup: bool) -> bool:
        """Whether this producer's entry is to be stored: with deduplication only if its sequence id is higher
        than all before. count: messages in it."""
        if sequence_id > self.sequence_ids.get(producer, -1):
            self.sequence_ids[producer] = sequence_id
            self.taken += count
            return True
        if has_dedup:
            self.duplicates += count
            return False
        self.repeated += count
        return True

    def trim(self, retention: int) -> None:
        """Forget what everybody has acknowledged, but for the last `retention` entries of it."""
        lowest = self.ledger.end - 1
        for known in self.subscriptions.values():
            if known.cursor.mark_delete < lowest:
                lowest = known.cursor.mark_delete
        self.ledger.trim(lowest - retention + 1)

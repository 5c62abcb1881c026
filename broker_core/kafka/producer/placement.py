"""Which partition each record of one producer goes to: one rule for the lane's producer, the log that is
written of it, and studies.

    key      murmur2 of the key's bytes, of all partitions
    no key   stick to one partition for a batch's worth of bytes, then draw another; no queues are modelled, so all alike

One broker takes the records in the order in which they were sent, so a record's offset is how many went to
its partition before it.
Source: Kafka clients 3.9 BuiltInPartitioner (`partitioner.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from broker_core.kafka.producer.partitioner import StickyPartitioner, partition_for_key

KEYLESS_STREAM = "kafka.keyless"
"""Of the seed, from which the partitions of keyless records are drawn."""
DRAW_LIMIT = 1 << 31


@dataclass(slots=True)
class Placement:
    """Where a producer's next record goes. last: partition of the last record without a key.

    >>> from broker_core.rng import SeededRandom
    >>> placement, random = Placement(12), SeededRandom(7)
    >>> placement.of_key(b"orders-1"), placement.of_keyless(100, random.below) == placement.of_keyless(100, random.below)
    (3, True)
    """

    partition_count: int
    keyless: StickyPartitioner = field(default_factory=StickyPartitioner)
    last: int = 0

    def of_key(self, key: bytes) -> int:
        """The partition of a record with this key; it depends on nothing else."""
        return partition_for_key(key, self.partition_count)

    def of_keyless(self, size: int, draw: Callable[[str, int], int]) -> int:
        """The partition of the next record without a key. size: its bytes; draw(stream, limit): a random
        number below limit."""
        self.last = self.keyless.place(size, self.partition_count, lambda: draw(KEYLESS_STREAM, DRAW_LIMIT))
        return self.last

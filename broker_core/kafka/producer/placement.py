"""Which partition each record of a lane's producer goes to, worked out without the producer: for
studies.

    key      murmur2 of the key's bytes, of all partitions
    no key   stick to one partition for two batches' worth of bytes, then draw another

A producer that does not wait for more records (linger.ms 0) sends each in a batch of its own. Such a batch is
not full, so keyless records turn to another partition at twice batch.size; and it is the only one that
waits, so its partition is half as likely to be drawn as the others, once each has had a batch. A producer
that cannot send at once, since a broker is slow or away, fills its batches and has longer queues: then it
decides otherwise.
Source: Kafka clients 3.9 BuiltInPartitioner (`partitioner.py`), RecordAccumulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from broker_core.kafka.log.record import record_size
from broker_core.kafka.log.record_batch import HEADER_SIZE
from broker_core.kafka.producer.partitioner import (
    PartitionLoads,
    StickyPartitioner,
    next_partition,
    partition_for_key,
)

KEYLESS_STREAM = "kafka.keyless"
"""Of the seed, from which the partitions of keyless records are drawn."""
DRAW_LIMIT = 1 << 31


@dataclass(slots=True)
class Placement:
    """Where a producer's next record goes. seen: partitions that have had a batch.

    >>> from broker_core.rng import SeededRandom
    >>> placement, random = Placement(12), SeededRandom(7)
    >>> placement.of_key(b"orders-1"), placement.of_keyless(100, random.below) == placement.of_keyless(100, random.below)
    (3, True)
    """

    partition_count: int
    keyless: StickyPartitioner = field(default_factory=StickyPartitioner)
    seen: set[int] = field(default_factory=set)

    def of_key(self, key: bytes) -> int:
        """The partition of a record with this key; it depends on nothing else."""
        number = partition_for_key(key, self.partition_count)
        self.seen.add(number)
        return number

    def saw(self, partitions: Iterable[int]) -> None:
        """Records with keys have gone to these."""
        self.seen.update(partitions)

    def of_keyless(self, value_size: int, draw: Callable[[str, int], int]) -> int:
        """The partition of the next record without a key. value_size: bytes; draw(stream, limit): a random
        number below limit."""
        keyless, count = self.keyless, self.partition_count
        if keyless.partition is None:
            keyless.stick_to(next_partition(draw(KEYLESS_STREAM, DRAW_LIMIT), range(count), count))
        number = keyless.partition or 0
        self.seen.add(number)
        size = HEADER_SIZE + record_size(-1, value_size)
        if keyless.append(size, may_switch=size >= keyless.batch_size):
            loads = None
            if len(self.seen) == count:
                waiting = [int(partition == number) for partition in range(count)]
                loads = PartitionLoads.of(waiting, range(count))
            keyless.stick_to(next_partition(draw(KEYLESS_STREAM, DRAW_LIMIT), range(count), count, loads))
        return number

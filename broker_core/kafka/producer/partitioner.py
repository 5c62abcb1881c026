"""Which partition a record goes to, and which partition of __consumer_offsets a group lives in.

    key      murmur2(key) with the sign bit cleared, modulo ALL partitions, also those without a leader
    no key   stick to one partition until batch.size bytes have gone there, then draw another:
             where the queues to the brokers differ, a shorter queue is likelier

        queue sizes   0  3  1     longest + 1 = 4
        weights       4  1  3
        running sum   4  5  8     draw modulo 8:  0..3 -> first, 4 -> second, 5..7 -> third

Nothing here draws lots: the random number is an argument, so a replay repeats the choice.
Source: Kafka clients 3.9.2, producer.internals.BuiltInPartitioner, common.utils.Utils. Vectors:
kafka/partitioner.json.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from broker_core.errors import CommandError
from broker_core.hashing.java_hash import string_hash
from broker_core.hashing.murmur2 import murmur2

BATCH_SIZE = 16_384
"""Kafka's default batch.size, in bytes."""
OFFSETS_TOPIC_PARTITION_COUNT = 50
"""Kafka's default offsets.topic.num.partitions."""
POSITIVE_MASK = 0x7FFFFFFF


def partition_for_key(key: bytes, partition_count: int) -> int:
    """Give the partition of a record with the serialized `key`. Raises CommandError for a count below 1.

    A null key is not a key; an empty one is hashed like any other.

    >>> partition_for_key(b"orders-1", 12), partition_for_key(b"", 12)
    (3, 9)
    """
    _check_count(partition_count)
    return positive_key_hash(key) % partition_count


def positive_key_hash(key: bytes) -> int:
    """Give Utils.toPositive(murmur2(key)): a key's partition is this modulo however many there are.

    >>> positive_key_hash(b"orders-1") % 12
    3
    """
    return murmur2(key) & POSITIVE_MASK


def coordinator_partition(group_id: str, partition_count: int = OFFSETS_TOPIC_PARTITION_COUNT) -> int:
    """Give the partition of __consumer_offsets that keeps a group; its leader is the group's coordinator.

    That is abs(hashCode) modulo the count, where abs(-2**31) is 0: another function than the producer's,
    which clears the sign bit. Raises CommandError for a count below 1.

    >>> coordinator_partition("orders"), coordinator_partition("polygenelubricants")
    (31, 0)
    """
    _check_count(partition_count)
    return positive_or_zero(string_hash(group_id)) % partition_count


def positive_or_zero(hash_code: int) -> int:
    """Give Utils.abs: the absolute value, but 0 for -2**31, which has none in 32 bits."""
    return 0 if hash_code == -(1 << 31) else abs(hash_code)


@dataclass(frozen=True, slots=True)
class PartitionLoads:
    """How likely each partition is to be drawn next.

    running_sums: ascending; the last one is the number of equally likely outcomes. partitions: as many.
    """

    running_sums: tuple[int, ...]
    partitions: tuple[int, ...]

    @property
    def range_end(self) -> int:
        return self.running_sums[-1]

    @classmethod
    def of(
        cls, queue_sizes: Sequence[int], partitions: Sequence[int], usable_count: int | None = None
    ) -> "PartitionLoads | None":
        """Turn the batches that wait for each partition into odds.

        queue_sizes, partitions: alike in length, only partitions that have a leader. usable_count: how many
        at the front are used; the rest are on brokers that have been slow
        (partitioner.availability.timeout.ms). None: all.
        Returns None where the odds are even and the draw is plain: fewer than two partitions, none usable, or
        all usable and equal.

        >>> PartitionLoads.of([0, 3, 1], [0, 1, 2])
        PartitionLoads(running_sums=(4, 5, 8), partitions=(0, 1, 2))
        """
        count = len(queue_sizes) if usable_count is None else usable_count
        if count < 1 or len(queue_sizes) < 2:
            return None
        usable = queue_sizes[:count]
        if count == len(queue_sizes) and min(usable) == max(usable):
            return None
        weight_of_empty = max(usable) + 1
        running_sums = tuple(accumulate(weight_of_empty - size for size in usable))
        return cls(running_sums, tuple(partitions[:count]))


def next_partition(
    random: int,
    available_partitions: Sequence[int],
    partition_count: int,
    loads: PartitionLoads | None = None,
) -> int:
    """Draw the partition that keyless records go to from now on.

    random: 0 to 2**31 - 1, drawn by the caller. available_partitions: those with a leader, ascending; with
    none, all `partition_count` take part. loads: the odds; None for even ones. Raises CommandError for a
    count below 1.

    >>> next_partition(12, [0, 1, 2], 3), next_partition(12, [0, 1, 2], 3, PartitionLoads((4, 5, 8), (0, 1, 2)))
    (0, 1)
    """
    _check_count(partition_count)
    if loads is not None:
        # The first running sum above the draw.
        return loads.partitions[bisect_right(loads.running_sums, random % loads.range_end)]
    if available_partitions:
        return available_partitions[random % len(available_partitions)]
    return random % partition_count


@dataclass(slots=True)
class StickyPartitioner:
    """Where one topic's keyless records of one producer go at the moment.

    batch_size: bytes, batch.size. partition: None until the first `stick_to`. produced_bytes: since then.

    >>> keyless = StickyPartitioner(batch_size=100)
    >>> keyless.stick_to(3)
    >>> keyless.append(60), keyless.append(60)
    (False, True)
    """

    batch_size: int = BATCH_SIZE
    partition: int | None = None
    produced_bytes: int = 0

    def stick_to(self, partition: int) -> None:
        """Send keyless records to `partition` from now on."""
        self.partition = partition
        self.produced_bytes = 0

    def append(self, size: int, may_switch: bool = True) -> bool:
        """Count `size` bytes appended to the current partition; say whether to draw another one now.

        may_switch: false while the current batch is not ready to go, so that switching does not cut batches
        short. Twice batch.size forces the switch in any case.
        """
        self.produced_bytes += size
        return self.produced_bytes >= (self.batch_size if may_switch else 2 * self.batch_size)


@dataclass(slots=True)
class RoundRobinPartitioner:
    """The article's rule for records without a key, Kafka's own before 2.4: each record goes to the next
    partition.

    count: how many records it has placed; may begin anywhere. Kafka still has it, as `partitioner.class`, and
    there it ignores keys.
    Source: Kafka clients 3.9.2, producer.RoundRobinPartitioner; before 2.4
    producer.internals.DefaultPartitioner.

    >>> keyless = RoundRobinPartitioner()
    >>> [keyless.place([0, 1, 2], 3) for _ in range(5)], [keyless.place([0, 2], 3) for _ in range(3)]
    ([0, 1, 2, 0, 1], [2, 0, 2])
    """

    count: int = 0

    def place(self, available_partitions: Sequence[int], partition_count: int) -> int:
        """Give the partition of the next record.

        available_partitions: those with a leader, ascending; with none, all `partition_count` take part.
        Raises CommandError for a count below 1.
        """
        partition = next_partition(self.count & POSITIVE_MASK, available_partitions, partition_count)
        self.count += 1
        return partition


def _check_count(partition_count: int) -> None:
    if partition_count < 1:
        raise CommandError("partition_count", "a topic has at least one partition")

"""The name of a partition: "brokerId:topic:partitionId", unique in a cluster.

A topic has stores on each of its brokers, and partitions in each store; the partition id tells both: store *
10000 + number.
Source: TubeMQ (InLong a6c7a6a670) Partition, TBaseConstants.META_STORE_INS_BASE. Vectors:
tubemq/meta_expand.json.
"""

from __future__ import annotations

from typing import NamedTuple

from broker_core.errors import CommandError

STORE_ID_BASE = 10_000
"""Distance between the ids of two stores of one topic on one broker."""


class PartitionKey(NamedTuple):
    """A partition's name in its three parts; `str()` gives the text that TubeMQ hashes and sorts.

    >>> str(PartitionKey(1, "orders", 10000))
    '1:orders:10000'
    """

    broker_id: int
    topic: str
    partition_id: int

    def __str__(self) -> str:
        return f"{self.broker_id}:{self.topic}:{self.partition_id}"

    @property
    def store(self) -> int:
        """Which store of the topic on that broker holds the partition, from 0."""
        return self.partition_id // STORE_ID_BASE


def parse_partition_key(text: str) -> PartitionKey:
    """Take "brokerId:topic:partitionId" apart. Raises CommandError for any other form.

    >>> parse_partition_key("136:demo_topic:0")
    PartitionKey(broker_id=136, topic='demo_topic', partition_id=0)
    """
    match text.split(":"):
        case [broker_id, topic, partition_id] if (
            topic.strip() and _is_number(broker_id) and _is_number(partition_id)
        ):
            return PartitionKey(int(broker_id), topic, int(partition_id))
    raise CommandError("partition_key", f"{text!r} is not brokerId:topic:partitionId")


def partition_ids(store_count: int, partitions_per_store: int) -> list[int]:
    """Give the ids that a topic has on one broker, ascending.

    Raises CommandError when a count is negative, or when a store holds more partitions than there are ids
    between two stores.

    >>> partition_ids(2, 2)
    [0, 1, 10000, 10001]
    """
    if store_count < 0:
        raise CommandError("store_count", "must be 0 or more")
    if not 0 <= partitions_per_store <= STORE_ID_BASE:
        raise CommandError("partitions_per_store", f"must be 0 to {STORE_ID_BASE}")
    return [
        store * STORE_ID_BASE + number
        for store in range(store_count)
        for number in range(partitions_per_store)
    ]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def broker_of(key: str) -> int:
    """The id of the broker that has this partition.

    >>> broker_of("3:orders:10000")
    3
    """
    return int(key.partition(":")[0])

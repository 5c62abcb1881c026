"""The order in which Java's hash sets hand out topic ids and partition numbers, on which the server-side
assignors lean.

Source: Kafka 3.9 Uuid.hashCode, TopicIdPartition.hashCode; java.util.HashSet of JDK 17.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cache

from broker_core.hashing.java_map import JavaHashSet

_MASK = 0xFFFFFFFF


@cache
def topic_id_hash(topic_id: str) -> int:
    """Uuid.hashCode as an unsigned 32-bit integer.

    >>> topic_id_hash("AAAAAAAAAAAAAAAAAAAAAQ")
    1
    """
    data = base64.urlsafe_b64decode(topic_id + "==")
    mixed = int.from_bytes(data[:8], "big") ^ int.from_bytes(data[8:], "big")
    return (mixed >> 32 ^ mixed) & _MASK


def partition_hash(partition: tuple[str, int]) -> int:
    """TopicIdPartition.hashCode as an unsigned 32-bit integer."""
    return (961 + 31 * topic_id_hash(partition[0]) + partition[1]) & _MASK


def in_topic_order(topic_ids: Iterable[str]) -> list[str]:
    """Topic ids in the order of a HashMap or HashSet that they were put into one by one."""
    topics: JavaHashSet[str] = JavaHashSet(topic_id_hash)
    for topic_id in topic_ids:
        topics.add(topic_id)
    return topics.in_order()


def copied_numbers(numbers: Iterable[int]) -> JavaHashSet[int]:
    """A HashSet made of a collection of partition numbers: Java makes its table large enough for one more."""
    listed = list(numbers)
    copied: JavaHashSet[int] = JavaHashSet(int, len(listed) + 1)
    for number in listed:
        copied.add(number)
    return copied

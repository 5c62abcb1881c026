"""Bookkeeping that keeps two members from swapping partitions of one topic for nothing.

If t-0 went from c0 to c1 and now t-5 is to go from c1 to c0, moving t-0 back has the same effect on balance
with one move less. So before a partition moves, we look for one of its topic that took the opposite way.

Source: Kafka clients 3.9.2, AbstractStickyAssignor.PartitionMovements.
"""

from broker_core.hashing.java_hash import string_hash_unsigned
from broker_core.hashing.java_map import JavaHashSet
from broker_core.kafka.assignors.protocol import TopicPartition

Way = tuple[str, str]  # from member, to member


def partition_hash(partition: TopicPartition) -> int:
    """Give TopicPartition.hashCode, unsigned: it decides which of several partitions is taken back.

    >>> partition_hash(("t", 0)), partition_hash(("t", 1))
    (1077, 1108)
    """
    return (31 * (31 + partition[1]) + string_hash_unsigned(partition[0])) & 0xFFFFFFFF


class PartitionMovements:
    """The net movements of one assignment: a partition that comes home has not moved."""

    def __init__(self) -> None:
        self._way_of: dict[TopicPartition, Way] = {}
        self._moved: dict[tuple[str, Way], JavaHashSet[TopicPartition]] = {}  # (topic, way) -> partitions

    def move(self, partition: TopicPartition, old_member: str, new_member: str) -> None:
        """Note that `partition` goes from one member to the other."""
        source = old_member
        if partition in self._way_of:
            source = self._forget(partition)
            if source == new_member:
                return
        way = self._way_of[partition] = (source, new_member)
        self._moved.setdefault((partition[0], way), JavaHashSet(partition_hash)).add(partition)

    def partition_to_move(
        self, partition: TopicPartition, old_member: str, new_member: str
    ) -> TopicPartition:
        """Give the partition that had better move instead of `partition`; itself when none took the opposite
        way."""
        source = self._way_of[partition][0] if partition in self._way_of else old_member
        opposite = self._moved.get((partition[0], (new_member, source)))
        return opposite.first() if opposite else partition

    def _forget(self, partition: TopicPartition) -> str:
        way = self._way_of.pop(partition)
        moved = self._moved[partition[0], way]
        moved.remove(partition)
        if not moved:
            # Java drops the empty set too, so the next one starts with a small table again.
            del self._moved[partition[0], way]
        return way[0]

"""Racks as the sticky assignors see them: who may keep what, and which partition is hardest to place.

Source: Kafka clients 3.9.2, AbstractStickyAssignor.RackInfo. Vectors: kafka/assignors_rack.json.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from broker_core.kafka.assignors.protocol import PartitionRacks, Subscription, TopicPartition
from broker_core.kafka.assignors.racks import has_use_for_racks, member_racks, replica_racks


@dataclass(frozen=True, slots=True)
class RackPreference:
    """Racks of members and replicas; both empty when racks make no difference."""

    members: Mapping[str, str]
    replicas: Mapping[TopicPartition, frozenset[str]]

    @classmethod
    def of(
        cls,
        subscriptions: Mapping[str, Subscription],
        partition_counts: Mapping[str, int],
        partition_racks: PartitionRacks,
    ) -> "RackPreference":
        members = member_racks(subscriptions)
        replicas = replica_racks(partition_counts, partition_counts, partition_racks) if members else {}
        if not has_use_for_racks(members.values(), replicas):
            return cls({}, {})
        return cls(members, replicas)

    def is_mismatch(self, member: str, partition: TopicPartition) -> bool:
        """Say whether `member` has a rack and `partition` has no replica there."""
        rack = self.members.get(member)
        return rack is not None and rack not in self.replicas.get(partition, ())

    def hardest_first(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Put the partitions that the fewest members could read within their rack first, else keep the
        order."""
        if not self.members:
            return list(partitions)
        crowd: dict[str, int] = {}
        for rack in self.members.values():
            crowd[rack] = crowd.get(rack, 0) + 1
        return sorted(
            partitions, key=lambda partition: sum(crowd.get(rack, 0) for rack in self.replicas[partition])
        )

    def next_match(self, partition: TopicPartition, members: Sequence[str], first_index: int) -> int:
        """Give the index of the first member, from `first_index` around, in a rack of `partition`; -1 for
        none."""
        racks = self.replicas.get(partition)
        if not racks:
            return -1
        for step in range(len(members)):
            index = (first_index + step) % len(members)
            if self.members.get(members[index]) in racks:
                return index
        return -1

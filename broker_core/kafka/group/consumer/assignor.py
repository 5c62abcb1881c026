"""What a server-side assignor takes and gives.

Source: Kafka 3.9 ConsumerGroupPartitionAssignor, GroupSpecImpl, SubscribedTopicDescriberImpl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from broker_core.kafka.group.codes import UNKNOWN_SERVER_ERROR, Refused

Target = dict[str, tuple[int, ...]]
"""Topic id -> partitions of one member, in the order of the original's sets."""


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """topic_ids: of the topics that it reads and that exist, in the order of the original's set. target: what
    it has been given so far."""

    instance_id: str | None
    topic_ids: tuple[str, ...]
    target: Target


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """members: in the order of the original's map. is_equal: whether all read the same topics. targeted:
    (topic id, partition) of all that is given to somebody. partition_counts: topic id -> partitions."""

    members: Mapping[str, MemberSpec]
    is_equal: bool
    targeted: Mapping[tuple[str, int], str]
    partition_counts: Mapping[str, int]

    def partition_count(self, topic_id: str) -> int:
        """How many partitions a topic has. Refuses one that is not in the group's metadata: the original's
        assignor gives up."""
        count = self.partition_counts.get(topic_id)
        if count is None:
            raise Refused(UNKNOWN_SERVER_ERROR)
        return count


Assignor = Callable[[GroupSpec], dict[str, Target]]
"""Gives each member its partitions; a member that is not in the result has none."""

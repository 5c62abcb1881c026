"""What a consumer knows of the cluster: brokers, topics, leaders; and when it asks again.

It asks a bootstrap broker first and then the least busy of those that it knows; again when an answer told
that its picture is old, when a broker went away, and every `metadata.max.age.ms`. A leader of an older epoch
than the known one is passed over.

Source: Kafka 3.9 clients Metadata (updateLastSeenEpochIfNewer), MetadataCache, ConsumerMetadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_core.kafka.client.group_consumer.subscription import TopicPartition
from broker_core.kafka.cluster.requests import MetadataResponse

OFFSETS_TOPIC, TRANSACTIONS_TOPIC = "__consumer_offsets", "__transaction_state"


@dataclass(slots=True)
class Leader:
    """node_id: -1 where nobody leads."""

    node_id: int
    epoch: int


@dataclass(slots=True)
class ClusterView:
    """brokers: ids of those that were there. leaders: by topic, partition by partition. turn: with whom to
    begin when somebody is asked next.
    wanted: topics beyond the subscription, which a group's leader assigns; answered: those that the last
    answer was about, known or not. racks: broker id -> rack. replicas: topic -> replicas of each partition.
    is_asked: an answer is under way. is_stale: it is to be asked as soon as the back-off allows; asked_us:
    when it was asked last."""

    brokers: list[int] = field(default_factory=list)
    leaders: dict[str, list[Leader]] = field(default_factory=dict)
    replicas: dict[str, list[list[int]]] = field(default_factory=dict)
    racks: dict[int, str] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    turn: int = 0
    is_asked: bool = False
    is_stale: bool = True
    asked_us: int = -1

    def in_turn(self, bootstrap: list[int]) -> list[int]:
        """Whom it may ask what any broker can answer, beginning one further each time."""
        known = self.brokers or bootstrap
        first = self.turn % len(known)
        self.turn += 1
        return known[first:] + known[:first]

    def leader(self, partition: TopicPartition) -> Leader | None:
        """Who leads a partition; None where nobody does, or it is not known."""
        leaders = self.leaders.get(partition[0], ())
        if partition[1] >= len(leaders):
            return None
        leader = leaders[partition[1]]
        return leader if leader.node_id >= 0 else None

    def saw_epoch(self, partition: TopicPartition, epoch: int) -> None:
        """Somebody led it in this epoch: a leader of an older one is none, and newer metadata are asked
        for."""
        leaders = self.leaders.get(partition[0], [])
        if partition[1] < len(leaders) and epoch > leaders[partition[1]].epoch:
            leaders[partition[1]] = Leader(-1, epoch)
            self.is_stale = True

    def partition_counts(self) -> dict[str, int]:
        return {topic: len(leaders) for topic, leaders in self.leaders.items()}

    def partition_racks(self, topics: Iterable[str]) -> dict[str, list[list[str | None]]]:
        """Topic -> for each partition the racks of its replicas; {} where no broker has a rack."""
        if not self.racks:
            return {}
        return {
            topic: [[self.racks.get(broker) for broker in row] for row in self.replicas.get(topic, ())]
            for topic in topics
        }

    def take(self, answer: MetadataResponse) -> None:
        """A newer picture has come."""
        self.brokers = [broker.node_id for broker in answer.brokers]
        self.racks = {broker.node_id: broker.rack for broker in answer.brokers if broker.rack}
        self.answered = [topic.name for topic in answer.topics]
        self.replicas = {
            topic.name: [partition.replica_nodes for partition in topic.partitions] for topic in answer.topics
        }
        leaders: dict[str, list[Leader]] = {}
        for topic in answer.topics:
            if topic.error_code:
                self.is_stale = True  # not there, or that broker does not know of it yet: ask again
                continue
            before = self.leaders.get(topic.name, [])
            row = leaders[topic.name] = []
            for partition in topic.partitions:
                known = before[partition.partition_index] if partition.partition_index < len(before) else None
                is_older = known is not None and partition.leader_epoch < known.epoch
                row.append(
                    known
                    if known is not None and is_older
                    else Leader(partition.leader_id, partition.leader_epoch)
                )
            if any(leader.node_id < 0 for leader in row):
                self.is_stale = True
        self.leaders = leaders


def matching(pattern: str, topics: list[str]) -> list[str]:
    """The topics that a subscription by pattern means: those whose whole name matches, but for the brokers'
    own.

    >>> matching("t.*", ["t1", "at", "__consumer_offsets"])
    ['t1']
    """
    found = re.compile(pattern)
    return sorted(
        topic
        for topic in topics
        if found.fullmatch(topic) and topic not in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC)
    )

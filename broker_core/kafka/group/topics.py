"""What the coordinator knows of topics: the cluster's metadata, as far as assignors need it.

Source: Kafka 3.9 TopicsImage, ClusterImage (racks), coordinator.group.modern.TopicMetadata.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from broker_core.hashing.java_map import java_order
from broker_core.kafka.group.records import PartitionRacks, StoredTopic


class Topic(msgspec.Struct, frozen=True):
    """topic_id: 22 characters. racks: per partition the racks of its replicas; () when brokers have none."""

    name: str
    topic_id: str
    partition_count: int
    racks: tuple[tuple[str, ...], ...] = ()

    def stored(self) -> StoredTopic:
        """As it is written into a group's metadata."""
        racks = [
            PartitionRacks(number, java_order(names)) for number, names in enumerate(self.racks) if names
        ]
        return StoredTopic(self.topic_id, self.name, self.partition_count, racks)


@dataclass(frozen=True, slots=True)
class TopicsImage:
    """by_name, by_id: every topic that exists."""

    by_name: dict[str, Topic] = field(default_factory=dict)
    by_id: dict[str, Topic] = field(default_factory=dict)

    @classmethod
    def of(cls, topics: Iterable[Topic]) -> TopicsImage:
        """The image that holds these topics."""
        known = list(topics)
        return cls({topic.name: topic for topic in known}, {topic.topic_id: topic for topic in known})


def topic_id(name: str) -> str:
    """The id of a topic, as a cluster of ours gives it: 16 bytes that follow from the name, where Kafka draws
    a random UUID.

    >>> topic_id("t") == topic_id("t"), len(topic_id("t"))
    (True, 22)
    """
    return (
        base64.urlsafe_b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest())
        .decode()
        .rstrip("=")
    )

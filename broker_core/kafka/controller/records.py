"""What the controller writes to the metadata log, which every broker reads.

Source: Kafka 3.9 metadata ReplicationControlManager, ClusterControlManager.
"""

from __future__ import annotations

from typing import NamedTuple

from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration

TopicPartition = tuple[str, int]


class PartitionRecord(NamedTuple):
    """A partition was made."""

    partition: TopicPartition
    registration: PartitionRegistration


class PartitionChangeRecord(NamedTuple):
    """A partition has changed."""

    partition: TopicPartition
    change: PartitionChange


class BrokerChangeRecord(NamedTuple):
    """A broker was fenced or unfenced, or began its controlled shutdown; None: as it was."""

    broker: int
    is_fenced: bool | None = None
    is_in_controlled_shutdown: bool | None = None


class UnregisterBrokerRecord(NamedTuple):
    """A broker was removed."""

    broker: int


Record = PartitionRecord | PartitionChangeRecord | BrokerChangeRecord | UnregisterBrokerRecord

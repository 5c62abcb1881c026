"""What the coordinator writes to `__consumer_offsets`: a key that names what it is about, and a value, or
None: a tombstone.

Each key class has its kind's name and the version by which a reader tells it; the fields are Kafka's in
snake_case. How they look as
bytes: `record_bytes.py`. Source: Kafka 3.9 group-coordinator/src/main/resources/common/message,
CoordinatorRecordHelpers.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from broker_core.kafka.group.messages import TopicPartitions


class OffsetCommitKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "OffsetCommit"
    version: ClassVar[int] = 1
    group: str
    topic: str
    partition: int


class OffsetCommitValue(msgspec.Struct, frozen=True):
    """expire_timestamp: None, or the time of versions 2 to 4 of the request, with which the value has version
    1 and no epoch."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int | None = None

    @property
    def version(self) -> int:
        return 3 if self.expire_timestamp is None else 1


class GroupMetadataKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "GroupMetadata"
    version: ClassVar[int] = 2
    group: str


class StoredMember(msgspec.Struct, frozen=True):
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout: int
    session_timeout: int
    subscription: bytes
    assignment: bytes


class GroupMetadataValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 3
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int
    members: list[StoredMember]


class ConsumerGroupMetadataKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "ConsumerGroupMetadata"
    version: ClassVar[int] = 3
    group_id: str


class ConsumerGroupMetadataValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 0
    epoch: int


class ConsumerGroupPartitionMetadataKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "ConsumerGroupPartitionMetadata"
    version: ClassVar[int] = 4
    group_id: str


class PartitionRacks(msgspec.Struct, frozen=True):
    partition: int
    racks: list[str]


class StoredTopic(msgspec.Struct, frozen=True):
    topic_id: str
    topic_name: str
    num_partitions: int
    partition_metadata: list[PartitionRacks]


class ConsumerGroupPartitionMetadataValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 0
    topics: list[StoredTopic]


class ConsumerGroupMemberMetadataKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "ConsumerGroupMemberMetadata"
    version: ClassVar[int] = 5
    group_id: str
    member_id: str


class SupportedProtocol(msgspec.Struct, frozen=True):
    name: str
    metadata: bytes


class ClassicMemberMetadata(msgspec.Struct, frozen=True):
    """What a member of the classic protocol brought into a group of the consumer protocol."""

    session_timeout_ms: int
    supported_protocols: list[SupportedProtocol]


class ConsumerGroupMemberMetadataValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 0
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None


class ConsumerGroupTargetAssignmentMetadataKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "ConsumerGroupTargetAssignmentMetadata"
    version: ClassVar[int] = 6
    group_id: str


class ConsumerGroupTargetAssignmentMetadataValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 0
    assignment_epoch: int


class ConsumerGroupTargetAssignmentMemberKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "ConsumerGroupTargetAssignmentMember"
    version: ClassVar[int] = 7
    group_id: str
    member_id: str


class ConsumerGroupTargetAssignmentMemberValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 0
    topic_partitions: list[TopicPartitions]


class ConsumerGroupCurrentMemberAssignmentKey(msgspec.Struct, frozen=True):
    type: ClassVar[str] = "ConsumerGroupCurrentMemberAssignment"
    version: ClassVar[int] = 8
    group_id: str
    member_id: str


class ConsumerGroupCurrentMemberAssignmentValue(msgspec.Struct, frozen=True):
    version: ClassVar[int] = 0
    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]


Key = (
    OffsetCommitKey
    | GroupMetadataKey
    | ConsumerGroupMetadataKey
    | ConsumerGroupPartitionMetadataKey
    | ConsumerGroupMemberMetadataKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupCurrentMemberAssignmentKey
)
Value = (
    OffsetCommitValue
    | GroupMetadataValue
    | ConsumerGroupMetadataValue
    | ConsumerGroupPartitionMetadataValue
    | ConsumerGroupMemberMetadataValue
    | ConsumerGroupTargetAssignmentMetadataValue
    | ConsumerGroupTargetAssignmentMemberValue
    | ConsumerGroupCurrentMemberAssignmentValue
)

NO_PRODUCER_ID = -1


class Record(msgspec.Struct, frozen=True):
    """One record of the offsets topic. producer_id: of a transactional commit, else -1."""

    key: Key
    value: Value | None
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = -1


class EndOfTransaction(msgspec.Struct, frozen=True):
    """A control record: the transaction of this producer ends here."""

    producer_id: int
    producer_epoch: int
    commit: bool


LogRecord = Record | EndOfTransaction


def read_back(record: LogRecord) -> LogRecord:
    """The record as a successor reads it: version 1 of a commit's value, which carries an expiry, has no
    place for the leader epoch."""
    if (
        isinstance(record, Record)
        and isinstance(record.value, OffsetCommitValue)
        and record.value.version == 1
    ):
        return msgspec.structs.replace(record, value=msgspec.structs.replace(record.value, leader_epoch=-1))
    return record

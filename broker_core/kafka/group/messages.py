"""The coordinator's requests and responses, with the fields of Kafka's message schemas in snake_case; times
in milliseconds.

Bytes are the real ones: a subscription and an assignment pass through the coordinator unread but for the
topics in them. A field that a request's version does not have is at its default (`versions.py`). Source:
Kafka 3.9 clients/src/main/resources/common/message.
"""

from __future__ import annotations

import msgspec


class RequestContext(msgspec.Struct, frozen=True):
    """From whom a request comes. ticket: names the request in its answer. client_host: as Kafka stores it,
    `/127.0.0.1`."""

    ticket: int
    api_version: int
    client_id: str = ""
    client_host: str = "/127.0.0.1"


class Message(msgspec.Struct, array_like=True, tag=lambda name: f"kafka.group.{name}"):
    """A request, a response or a part of one. On its way between nodes it names its kind, so that a
    checkpoint can hold it."""


class Protocol(msgspec.Struct, frozen=True):
    """One assignor that a member offers. metadata: its subscription."""

    name: str
    metadata: bytes


class JoinGroupRequest(Message):
    """client_id: where Kafka has it in the header of every request; between our nodes it is carried where a
    coordinator keeps it."""

    group_id: str
    session_timeout_ms: int
    member_id: str
    protocol_type: str
    protocols: list[Protocol]
    rebalance_timeout_ms: int = -1
    group_instance_id: str | None = None
    reason: str | None = None
    client_id: str = ""


class JoinGroupMember(Message):
    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinGroupResponse(Message):
    member_id: str = ""
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str | None = ""
    skip_assignment: bool = False
    members: list[JoinGroupMember] = []


class MemberAssignment(Message):
    member_id: str
    assignment: bytes


class SyncGroupRequest(Message):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: list[MemberAssignment] = []


class SyncGroupResponse(Message):
    error_code: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class HeartbeatRequest(Message):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None


class HeartbeatResponse(Message):
    error_code: int = 0


class MemberIdentity(Message):
    member_id: str
    group_instance_id: str | None = None
    reason: str | None = None


class LeaveGroupRequest(Message):
    """members: several at once since version 3; an older version names one, `member_id`."""

    group_id: str
    member_id: str = ""
    members: list[MemberIdentity] = []


class MemberResponse(Message):
    member_id: str
    group_instance_id: str | None
    error_code: int = 0


class LeaveGroupResponse(Message):
    error_code: int = 0
    members: list[MemberResponse] = []


class DescribeGroupsRequest(Message):
    groups: list[str]
    include_authorized_operations: bool = False


class DescribedGroupMember(Message):
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


class DescribedGroup(Message):
    group_id: str
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: list[DescribedGroupMember] = []
    error_code: int = 0
    authorized_operations: int = -(2**31)


class DescribeGroupsResponse(Message):
    groups: list[DescribedGroup]


class ListGroupsRequest(Message):
    states_filter: list[str] = []
    types_filter: list[str] = []


class ListedGroup(Message):
    group_id: str
    protocol_type: str
    group_state: str
    group_type: str


class ListGroupsResponse(Message):
    error_code: int = 0
    groups: list[ListedGroup] = []


class DeleteGroupsRequest(Message):
    groups_names: list[str]


class DeletableGroupResult(Message):
    group_id: str
    error_code: int = 0


class DeleteGroupsResponse(Message):
    results: list[DeletableGroupResult]


class CommittedPartition(Message):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ""


class CommittedTopic(Message):
    name: str
    partitions: list[CommittedPartition]


class OffsetCommitRequest(Message):
    """retention_time_ms: only versions 2 to 4 have it; -1 for the broker's own retention."""

    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    topics: list[CommittedTopic]
    group_instance_id: str | None = None
    retention_time_ms: int = -1


class PartitionResult(Message):
    partition_index: int
    error_code: int = 0


class TopicResult(Message):
    name: str
    partitions: list[PartitionResult]


class OffsetCommitResponse(Message):
    topics: list[TopicResult]


class TxnOffsetCommitRequest(Message):
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    topics: list[CommittedTopic]
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class TxnOffsetCommitResponse(Message):
    topics: list[TopicResult]


class FetchedTopic(Message):
    name: str
    partition_indexes: list[int]


class OffsetFetchGroup(Message):
    """topics: None for all. member_id and member_epoch are checked in groups of the consumer protocol
    only."""

    group_id: str
    member_id: str | None = None
    member_epoch: int = -1
    topics: list[FetchedTopic] | None = None


class OffsetFetchRequest(Message):
    """groups: one; a broker splits a request for several before it asks their coordinators."""

    groups: list[OffsetFetchGroup]
    require_stable: bool = False


class FetchedPartition(Message):
    partition_index: int
    committed_offset: int = -1
    committed_leader_epoch: int = -1
    metadata: str = ""
    error_code: int = 0


class FetchedTopicResult(Message):
    name: str
    partitions: list[FetchedPartition]


class OffsetFetchGroupResult(Message):
    group_id: str
    topics: list[FetchedTopicResult] = []
    error_code: int = 0


class OffsetFetchResponse(Message):
    groups: list[OffsetFetchGroupResult]


class FailedCall(Message):
    """The coordinator's call itself failed; the broker puts the code where the response has a place for
    it."""

    error_code: int


class DeletedPartition(Message):
    partition_index: int


class DeletedTopic(Message):
    name: str
    partitions: list[DeletedPartition]


class OffsetDeleteRequest(Message):
    group_id: str
    topics: list[DeletedTopic]


class OffsetDeleteResponse(Message):
    error_code: int = 0
    topics: list[TopicResult] = []


class WriteTxnMarkers(Message):
    """The end of a producer's transaction on this partition of the offsets topic."""

    producer_id: int
    producer_epoch: int
    commit: bool


class WriteTxnMarkersResponse(Message):
    error_code: int = 0


class PartitionsDeleted(Message):
    """The broker tells that topics were deleted. partitions: (topic, partition)."""

    partitions: list[tuple[str, int]]


class PartitionsDeletedResponse(Message):
    pass


class TopicPartitions(msgspec.Struct, frozen=True):
    """topic_id: 22 characters, as Kafka writes ids."""

    topic_id: str
    partitions: list[int]


class ConsumerGroupHeartbeatRequest(Message):
    """member_epoch: 0 to join, -1 to leave, -2 to leave for a while as a static member. None and -1
    elsewhere: as last time.
    client_id: as in `JoinGroupRequest`."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: list[str] | None = None
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None
    client_id: str = ""


class Assignment(Message):
    topic_partitions: list[TopicPartitions]


class ConsumerGroupHeartbeatResponse(Message):
    error_code: int = 0
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


class NamedTopicPartitions(Message):
    topic_id: str
    topic_name: str
    partitions: list[int]


class NamedAssignment(Message):
    topic_partitions: list[NamedTopicPartitions]


class ConsumerGroupDescribedMember(Message):
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str
    assignment: NamedAssignment
    target_assignment: NamedAssignment


class ConsumerGroupDescribed(Message):
    group_id: str
    error_code: int = 0
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: list[ConsumerGroupDescribedMember] = []
    authorized_operations: int = -(2**31)


class ConsumerGroupDescribeRequest(Message):
    group_ids: list[str]
    include_authorized_operations: bool = False


class ConsumerGroupDescribeResponse(Message):
    groups: list[ConsumerGroupDescribed]


GroupMessage = (
    JoinGroupRequest
    | JoinGroupResponse
    | SyncGroupRequest
    | SyncGroupResponse
    | HeartbeatRequest
    | HeartbeatResponse
    | LeaveGroupRequest
    | LeaveGroupResponse
    | OffsetCommitRequest
    | OffsetCommitResponse
    | OffsetFetchRequest
    | OffsetFetchResponse
    | OffsetDeleteRequest
    | OffsetDeleteResponse
    | DescribeGroupsRequest
    | DescribeGroupsResponse
    | ListGroupsRequest
    | ListGroupsResponse
    | DeleteGroupsRequest
    | DeleteGroupsResponse
    | TxnOffsetCommitRequest
    | TxnOffsetCommitResponse
    | FailedCall
    | ConsumerGroupHeartbeatRequest
    | ConsumerGroupHeartbeatResponse
    | ConsumerGroupDescribeRequest
    | ConsumerGroupDescribeResponse
    | WriteTxnMarkers
    | WriteTxnMarkersResponse
)
"""What travels between clients and a coordinator."""

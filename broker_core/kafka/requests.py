"""Kafka requests and responses that our nodes exchange, by the names of Kafka's message schemas, fields in
snake_case.

A connection answers in the order of its requests, so no correlation ids are carried. Times are in
microseconds of the lab's clock where Kafka has milliseconds. What is left out here (static members, several
protocols, versions, transactions) belongs to the issues that need it.
Source: Kafka 3.9 clients/src/main/resources/common/message; docs/kafka/facts.md.
"""

from __future__ import annotations

import msgspec

from broker_core.kafka.assignors.protocol import Subscription

NONE, OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION = 0, 1, 3
ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED = 22, 25, 27, 79

NO_GENERATION = -1


class _Request(msgspec.Struct, array_like=True, gc=False):
    pass


class ProduceRequest(_Request, tag="kafka.ProduceRequest"):
    """One record to one partition. record: its number. Only a refusal is answered: nothing here waits for the
    word that a record was taken."""

    partition: int
    record: int


class ProduceResponse(_Request, tag="kafka.ProduceResponse"):
    """A record was refused. error_code: never NONE."""

    partition: int
    error_code: int


class FetchRequest(_Request, tag="kafka.FetchRequest"):
    """offsets: partition -> the next offset wanted, in the order in which the answer is filled."""

    offsets: dict[int, int]
    max_wait_us: int
    records_max: int


class FetchResponse(_Request, tag="kafka.FetchResponse"):
    """read: (partition, offset of the first, numbers of the records). errors: (partition, offset that was
    asked for, error code) of what could not be read."""

    read: list[tuple[int, int, list[int]]]
    errors: list[tuple[int, int, int]] = []


class ListOffsetsRequest(_Request, tag="kafka.ListOffsetsRequest"):
    """Timestamp EARLIEST (-2) of each partition: where its log starts."""

    partitions: list[int]


class ListOffsetsResponse(_Request, tag="kafka.ListOffsetsResponse"):
    """offsets: partition -> log start offset, of those that the broker knows."""

    offsets: dict[int, int]


class DeleteRecordsRequest(_Request, tag="kafka.DeleteRecordsRequest"):
    """offsets: partition -> below which nobody will read any more."""

    offsets: dict[int, int]


class DeleteRecordsResponse(_Request, tag="kafka.DeleteRecordsResponse"):
    """low_watermarks: partition -> log start offset after it. errors: partition -> error code, and then
    nothing of it was deleted."""

    low_watermarks: dict[int, int]
    errors: dict[int, int]


class JoinGroupRequest(_Request, tag="kafka.JoinGroupRequest"):
    """member_id: "" for a new member. client_id: what a new member's id begins with. protocol: name of the
    assignor."""

    group_id: str
    member_id: str
    client_id: str
    session_timeout_us: int
    rebalance_timeout_us: int
    protocol: str
    subscription: Subscription


class JoinGroupResponse(_Request, tag="kafka.JoinGroupResponse"):
    """members: (member id, subscription), for the leader alone."""

    error_code: int
    generation_id: int
    protocol: str
    leader: str
    member_id: str
    members: list[tuple[str, Subscription]]


class SyncGroupRequest(_Request, tag="kafka.SyncGroupRequest"):
    """assignments: member id -> partitions, from the leader; empty from the others."""

    group_id: str
    generation_id: int
    member_id: str
    assignments: dict[str, list[int]]


class SyncGroupResponse(_Request, tag="kafka.SyncGroupResponse"):
    error_code: int
    assignment: list[int]


class HeartbeatRequest(_Request, tag="kafka.HeartbeatRequest"):
    group_id: str
    generation_id: int
    member_id: str


class HeartbeatResponse(_Request, tag="kafka.HeartbeatResponse"):
    error_code: int


class LeaveGroupRequest(_Request, tag="kafka.LeaveGroupRequest"):
    group_id: str
    member_id: str


class LeaveGroupResponse(_Request, tag="kafka.LeaveGroupResponse"):
    error_code: int


class OffsetCommitRequest(_Request, tag="kafka.OffsetCommitRequest"):
    group_id: str
    generation_id: int
    member_id: str
    offsets: dict[int, int]


class OffsetCommitResponse(_Request, tag="kafka.OffsetCommitResponse"):
    error_code: int


class OffsetFetchRequest(_Request, tag="kafka.OffsetFetchRequest"):
    group_id: str
    partitions: list[int]


class OffsetFetchResponse(_Request, tag="kafka.OffsetFetchResponse"):
    """offsets: partition -> committed offset, -1 for none."""

    offsets: dict[int, int]


Request = (
    ProduceRequest
    | ProduceResponse
    | FetchRequest
    | FetchResponse
    | ListOffsetsRequest
    | ListOffsetsResponse
    | DeleteRecordsRequest
    | DeleteRecordsResponse
    | JoinGroupRequest
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
)

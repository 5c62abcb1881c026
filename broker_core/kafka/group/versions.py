"""What a request's version changes, the shape of its answer, and what is refused before the coordinator
looks.

Source: Kafka 3.9 KafkaApis (join, sync, leave), GroupCoordinatorService (checks of the group id and the
session timeout, error responses), JoinGroupRequest, LeaveGroupResponse.
"""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.errors import InvariantError
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import (
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    NONE,
    UNKNOWN_MEMBER_ID,
    UNSUPPORTED_VERSION,
    answered_as,
    commit_answered_as,
)  # fmt: skip
from broker_core.kafka.group.settings import GroupSettings

_NEEDS_GROUP_ID = (
    m.JoinGroupRequest,
    m.SyncGroupRequest,
    m.HeartbeatRequest,
    m.LeaveGroupRequest,
    m.TxnOffsetCommitRequest,
    m.OffsetDeleteRequest,
)


def as_of(version: int, request: Any) -> Any:
    """The request as the coordinator takes it. Fields that a version does not have are at their defaults
    already: decoding left them so."""
    if isinstance(request, m.JoinGroupRequest) and version == 0:
        # Version 0 knows one timeout for both.
        return msgspec.structs.replace(request, rebalance_timeout_ms=request.session_timeout_ms)
    if isinstance(request, m.LeaveGroupRequest) and version < 3:
        return msgspec.structs.replace(request, members=[m.MemberIdentity(request.member_id)])
    return request


def refusal(version: int, request: Any, settings: GroupSettings) -> int:
    """The code with which a request is refused before its group is looked at; NONE for none."""
    if (
        isinstance(request, m.SyncGroupRequest)
        and version >= 5
        and (request.protocol_type is None or request.protocol_name is None)
    ):
        return INCONSISTENT_GROUP_PROTOCOL
    if isinstance(request, _NEEDS_GROUP_ID) and not request.group_id:
        return INVALID_GROUP_ID
    if isinstance(request, m.ConsumerGroupHeartbeatRequest) and settings.is_old:
        # The old coordinator knows the classic protocol alone.
        return UNSUPPORTED_VERSION
    if isinstance(request, m.JoinGroupRequest):
        if (
            not settings.min_session_timeout_ms
            <= request.session_timeout_ms
            <= settings.max_session_timeout_ms
        ):
            return INVALID_SESSION_TIMEOUT
    return NONE


def shaped(version: int, response: Any) -> Any:
    """The response as this version has it."""
    if isinstance(response, m.JoinGroupResponse) and version < 7 and response.protocol_name is None:
        return msgspec.structs.replace(response, protocol_name="")
    if (
        isinstance(response, m.LeaveGroupResponse)
        and version < 3
        and response.error_code == NONE
        and response.members
    ):
        return m.LeaveGroupResponse(response.members[0].error_code)
    return response


def error_response(request: Any, code: int, is_old: bool = False) -> Any:
    """The answer to a request that failed as a whole. Raises InvariantError for a request that cannot fail
    so."""
    told = answered_as(code)
    match request:
        case m.JoinGroupRequest():
            # What is refused before the coordinator looks at the group carries the member id back.
            return m.JoinGroupResponse(
                request.member_id if code in (INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT) else "", told
            )
        case m.SyncGroupRequest():
            return m.SyncGroupResponse(told)
        case m.HeartbeatRequest():
            return m.HeartbeatResponse(told)
        case m.LeaveGroupRequest():
            if told == UNKNOWN_MEMBER_ID:
                members = [
                    m.MemberResponse(member.member_id, member.group_instance_id, told)
                    for member in request.members
                ]
                return m.LeaveGroupResponse(members=members)
            return m.LeaveGroupResponse(told)
        case m.DeleteGroupsRequest():
            return m.DeleteGroupsResponse(
                [m.DeletableGroupResult(group_id, told) for group_id in request.groups_names]
            )
        case m.OffsetCommitRequest():
            return m.OffsetCommitResponse(_failed_topics(request.topics, commit_answered_as(code, is_old)))
        case m.TxnOffsetCommitRequest():
            return m.TxnOffsetCommitResponse(_failed_topics(request.topics, commit_answered_as(code, is_old)))
        case m.OffsetFetchRequest():
            return m.FailedCall(code)
        case m.OffsetDeleteRequest():
            return m.OffsetDeleteResponse(told)
        case m.WriteTxnMarkers():
            return m.WriteTxnMarkersResponse(told)
        case m.PartitionsDeleted():
            return m.PartitionsDeletedResponse()
        case m.ConsumerGroupHeartbeatRequest():
            return m.ConsumerGroupHeartbeatResponse(told)
        case m.DescribeGroupsRequest():
            return m.DescribeGroupsResponse(
                [m.DescribedGroup(group_id, error_code=told) for group_id in request.groups]
            )
        case m.ConsumerGroupDescribeRequest():
            return m.ConsumerGroupDescribeResponse(
                [m.ConsumerGroupDescribed(group_id, told) for group_id in request.group_ids]
            )
        case m.ListGroupsRequest():
            return m.ListGroupsResponse(told)
    raise InvariantError(f"{type(request).__name__} has no error response")


def _failed_topics(topics: list[m.CommittedTopic], code: int) -> list[m.TopicResult]:
    return [
        m.TopicResult(
            topic.name, [m.PartitionResult(partition.partition_index, code) for partition in topic.partitions]
        )
        for topic in topics
    ]

"""DescribeGroups, ConsumerGroupDescribe, ListGroups and DeleteGroups: what an administrator asks.

The first three read what the high watermark has passed. A classic group in another state than Stable shows
its members without their subscriptions, but with the assignment they had. Source: Kafka 3.9
GroupMetadataManager.describeGroups, listGroups, consumerGroupDescribe, GroupCoordinatorShard.deleteGroups.
"""

from __future__ import annotations

from broker_core.kafka.group import old
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import DEAD, STABLE
from broker_core.kafka.group.codes import GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, NONE
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import (
    ConsumerGroupDescribed,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
    RequestContext,
)  # fmt: skip
from broker_core.kafka.group.offset.delete import group_tombstones
from broker_core.kafka.group.offset.expiry import tombstones_of
from broker_core.kafka.group.records import LogRecord
from broker_core.kafka.group.runtime import CoordinatorRuntime


def describe_groups(c: CoordinatorRuntime, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """One answer per id; an unknown group, or one of the other kind, is Dead without an error."""
    return DescribeGroupsResponse([_described(c, group_id) for group_id in request.groups])


def describe_consumer_groups(
    c: CoordinatorRuntime, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """One answer per id; an unknown group, or a classic one, has an error."""
    described = []
    for group_id in request.group_ids:
        group = c.state.groups.committed(group_id)
        if isinstance(group, ConsumerGroup):
            described.append(group.described(c.settings.consumer_assignors[0], c.topics))
        else:
            described.append(ConsumerGroupDescribed(group_id, GROUP_ID_NOT_FOUND))
    return ConsumerGroupDescribeResponse(described)


def list_groups(c: CoordinatorRuntime, request: ListGroupsRequest) -> ListGroupsResponse:
    """Every group whose state and type pass the filters, in which case does not count; an empty filter lets
    all pass."""
    states = {state.lower().strip() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    listed = []
    for group_id in c.state.groups.committed_keys():
        group = c.state.groups.committed(group_id)
        if group is None or (states and group.state.lower() not in states):
            continue
        kind = "classic" if isinstance(group, ClassicGroup) else "consumer"
        if not types or kind in types:
            listed.append(ListedGroup(group_id, group.protocol_type or "", group.state, kind))
    return ListGroupsResponse(groups=listed)


def delete_groups(
    c: CoordinatorRuntime, context: RequestContext, request: DeleteGroupsRequest
) -> CoordinatorResult:
    """Delete Empty groups with their offsets; a group with members stays and has an error."""
    del context
    records: list[LogRecord] = []
    results: list[DeletableGroupResult] = []
    for group_id in request.groups_names:
        group = c.state.groups.get(group_id)
        if group is None:
            code = GROUP_ID_NOT_FOUND
        elif not group.is_empty:
            code = NON_EMPTY_GROUP
        else:
            code = NONE
            if c.settings.is_old and isinstance(group, ClassicGroup):
                records += old.delete_group(c, group)
            else:
                records += group_tombstones(c, group_id)
                records += tombstones_of(group)
        results.append(DeletableGroupResult(group_id, code))
    return CoordinatorResult(records, DeleteGroupsResponse(results))


def _described(c: CoordinatorRuntime, group_id: str) -> DescribedGroup:
    group = c.state.groups.committed(group_id)
    if not isinstance(group, ClassicGroup):
        return DescribedGroup(group_id, DEAD)
    protocol = group.protocol if group.state == STABLE else None
    # The old coordinator shows assignments of a Stable group only.
    assignment = b"" if c.settings.is_old and group.state != STABLE else None
    members = [member.described(protocol, assignment) for member in group.in_order()]
    return DescribedGroup(group_id, group.state, group.protocol_type or "", protocol or "", members)

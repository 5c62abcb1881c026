"""A request about several groups, which have different coordinators: it is taken apart, and its answers are put
together in the order of the request.

Source: Kafka 3.9 core KafkaApis (handleOffsetFetchRequest), group-coordinator GroupCoordinatorService
(describeGroups, listGroups, deleteGroups, consumerGroupDescribe).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.kafka.group import messages as m
from broker_core.kafka.producer.partitioner import coordinator_partition

Part = tuple[int, Any]
"""The partition of the offsets topic whose leader is asked, and what."""


@dataclass(slots=True)
class Gathering:
    """tickets: of the parts, in the order of the request. answers: those that have come, by ticket."""

    request: m.GroupMessage
    tickets: list[int]
    answers: dict[int, m.GroupMessage] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return len(self.answers) == len(self.tickets)

    def answer(self) -> Any:
        return together(self.request, [self.answers[ticket] for ticket in self.tickets])


def parts_of(request: Any, partitions: int, running: Iterable[int]) -> list[Part]:
    """What each coordinator is asked. partitions: of the offsets topic. running: whose coordinators are here:
    a list of groups asks them all."""
    named: list[tuple[str, Any]]
    match request:
        case m.ListGroupsRequest():
            return [(number, request) for number in running]
        case m.OffsetFetchRequest(groups, is_stable):
            named = [(each.group_id, m.OffsetFetchRequest([each], is_stable)) for each in groups]
        case m.DescribeGroupsRequest(names, has_operations):
            named = [(name, m.DescribeGroupsRequest([name], has_operations)) for name in names]
        case m.ConsumerGroupDescribeRequest(names, has_operations):
            named = [(name, m.ConsumerGroupDescribeRequest([name], has_operations)) for name in names]
        case m.DeleteGroupsRequest(names):
            named = [(name, m.DeleteGroupsRequest([name])) for name in names]
        case _:
            return [(coordinator_partition(request.group_id, partitions), request)]
    return [(coordinator_partition(name, partitions), part) for name, part in named]


def group_of_request(request: Any) -> str:
    """The first group that a request to a coordinator is about; "": about none."""
    named = parts_of(request, 1, ())
    part = named[0][1] if named else None
    match part:
        case None:
            return ""
        case m.OffsetFetchRequest(groups):
            return str(groups[0].group_id)
        case (
            m.DescribeGroupsRequest(names)
            | m.DeleteGroupsRequest(names)
            | m.ConsumerGroupDescribeRequest(names)
        ):
            return str(names[0])
    return str(part.group_id)


def together(request: Any, answers: Sequence[Any]) -> Any:
    """One answer of the answers to a request's parts."""
    match request:
        case m.ListGroupsRequest():
            errors = [each.error_code for each in answers if each.error_code]
            listed = [group for each in answers for group in each.groups]
            return m.ListGroupsResponse(errors[0]) if errors else m.ListGroupsResponse(0, listed)
        case m.DeleteGroupsRequest():
            return m.DeleteGroupsResponse([result for each in answers for result in each.results])
        case m.DescribeGroupsRequest():
            return m.DescribeGroupsResponse([group for each in answers for group in each.groups])
        case m.ConsumerGroupDescribeRequest():
            return m.ConsumerGroupDescribeResponse([group for each in answers for group in each.groups])
    results = [
        m.OffsetFetchGroupResult(asked.group_id, [], each.error_code)
        if isinstance(each, m.FailedCall)
        else each.groups[0]
        for asked, each in zip(request.groups, answers, strict=True)
    ]
    return m.OffsetFetchResponse(results)

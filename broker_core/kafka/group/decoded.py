"""What a group's message says, field by field, as a person reads it: Kafka's names, and the bytes inside as
what they hold.

A field at its default, which in most messages means "as before" or "none", is left out. Partitions are
written as runs: `flights 0-3,7`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, cast

import msgspec

from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.assignors.subscription_bytes import read_assignment, read_subscription
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m

Fields = list[list[str]]
"""(name, value), in the order of the message."""

KINDS: Mapping[type, str] = MappingProxyType(
    {
        FindCoordinatorRequest: "find",
        m.JoinGroupRequest: "join",
        m.SyncGroupRequest: "sync",
        m.HeartbeatRequest: "heartbeat",
        m.LeaveGroupRequest: "leave",
        m.OffsetCommitRequest: "commit",
        m.OffsetFetchRequest: "offsets",
        m.ConsumerGroupHeartbeatRequest: "beat",
    }
)
"""The requests that are shown, with a short name of each."""
ANSWERS: Mapping[type, str] = MappingProxyType(
    {
        FindCoordinatorResponse: "find",
        m.JoinGroupResponse: "join",
        m.SyncGroupResponse: "sync",
        m.HeartbeatResponse: "heartbeat",
        m.LeaveGroupResponse: "leave",
        m.OffsetCommitResponse: "commit",
        m.OffsetFetchResponse: "offsets",
        m.ConsumerGroupHeartbeatResponse: "beat",
    }
)


def runs(numbers: Iterable[int]) -> str:
    """Numbers as runs, ascending.

    >>> runs([7, 0, 2, 1])
    '0-2,7'
    """
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def code_name(code: int) -> str:
    """Kafka's name of an error code.

    >>> code_name(27), code_name(14), code_name(999)
    ('REBALANCE_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS', '999')
    """
    if code in _CODE_NAMES:
        return _CODE_NAMES[code]
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


_CODE_NAMES = {
    value: name for name, value in vars(codes).items() if name.isupper() and isinstance(value, int)
}


def worst_code(response: Any) -> int:
    """The error code that an answer is about: its own, else the first that a part of it has."""
    own = getattr(response, "error_code", 0)
    match response:
        case m.LeaveGroupResponse() if not own:
            own = next((one.error_code for one in response.members if one.error_code), 0)
        case m.OffsetCommitResponse():
            own = next(
                (one.error_code for topic in response.topics for one in topic.partitions if one.error_code), 0
            )
        case m.OffsetFetchResponse():
            own = next((group.error_code for group in response.groups if group.error_code), 0)
    return int(own)


def fields_of(message: Any, topic_names: Mapping[str, str]) -> Fields:
    """What a request or an answer says. topic_names: topic id -> name, for messages that name topics by their
    ids."""
    found: Fields = []
    defaults = _defaults(cast(Hashable, type(message)))
    for name in message.__struct_fields__:
        value = getattr(message, name)
        is_left_out = value is None or (name in defaults and value == defaults[name] and name != "error_code")
        if name != "client_id" and not is_left_out:
            found += _field(name, value, topic_names)
    return found


@cache
def _defaults(kind: Hashable) -> dict[str, Any]:
    """Field -> what it is when nobody gives it."""
    known = msgspec.structs.fields(cast(Any, kind))
    made = {
        each.name: each.default if each.default_factory is msgspec.NODEFAULT else each.default_factory()
        for each in known
    }
    return {name: value for name, value in made.items() if value is not msgspec.NODEFAULT}


def _field(name: str, value: Any, topic_names: Mapping[str, str]) -> Fields:
    match name, value:
        case "error_code", int():
            return [[name, code_name(value)]]
        case "protocols", [*protocols]:
            return [[f"protocols.{one.name}", subscription_text(one.metadata)] for one in protocols]
        case "assignments", [*given]:
            return [[f"assignments.{one.member_id}", assignment_text(one.assignment)] for one in given]
        case "assignment", bytes():
            return [[name, assignment_text(value)]]
        case "assignment", m.Assignment(topic_partitions):
            return [[name, ids_text(topic_partitions, topic_names)]]
        case "topic_partitions", [*rows]:
            return [[name, ids_text(rows, topic_names)]]
        case "groups", [m.OffsetFetchGroup(), *_]:
            return [
                [f"topics.{topic.name}", runs(topic.partition_indexes)]
                for group in value
                for topic in group.topics or ()
            ]
        case "groups", [m.OffsetFetchGroupResult(), *_]:
            return [
                [
                    f"topics.{topic.name}",
                    _pairs((one.partition_index, one.committed_offset) for one in topic.partitions),
                ]
                for group in value
                for topic in group.topics
            ]
        case "members", [m.JoinGroupMember(), *_]:
            return [[f"members.{one.member_id}", subscription_text(one.metadata)] for one in value]
        case "members", [m.MemberIdentity(), *_]:
            return [[name, ", ".join(one.member_id for one in value)]]
        case "members", [m.MemberResponse(), *_]:
            return [[f"members.{one.member_id}", code_name(one.error_code)] for one in value]
        case "topics", [m.CommittedTopic(), *_]:
            return [
                [
                    f"topics.{topic.name}",
                    _pairs((one.partition_index, one.committed_offset) for one in topic.partitions),
                ]
                for topic in value
            ]
        case "topics", [m.TopicResult(), *_]:
            return [[f"topics.{topic.name}", _results(topic.partitions)] for topic in value]
        case _, list() | tuple():
            return [[name, ", ".join(map(str, value))]]
    return [[name, str(value)]]


def subscription_text(metadata: bytes) -> str:
    """A member's subscription: its topics, and what it owns of which generation."""
    try:
        told = read_subscription(metadata)
    except MalformedBytes:
        return f"{len(metadata)} bytes"
    parts = [f"topics {','.join(told.topics)}"]
    if told.owned:
        parts.append(f"owned {_by_topic(told.owned)}")
    if told.generation >= 0:
        parts.append(f"generation {told.generation}")
    return "; ".join(parts)


def assignment_text(assignment: bytes) -> str:
    """The partitions of an assignment."""
    try:
        return _by_topic(read_assignment(assignment).partitions) if assignment else ""
    except MalformedBytes:
        return f"{len(assignment)} bytes"


def ids_text(rows: Iterable[m.TopicPartitions], topic_names: Mapping[str, str]) -> str:
    """Partitions of topics that are named by their ids."""
    return " ".join(f"{topic_names.get(row.topic_id, row.topic_id)} {runs(row.partitions)}" for row in rows)


def _by_topic(partitions: Iterable[tuple[str, int]]) -> str:
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    return " ".join(f"{topic} {runs(numbers)}" for topic, numbers in by_topic.items())


def _pairs(rows: Iterable[tuple[int, int]]) -> str:
    """Partition: offset, by number."""
    return ", ".join(f"{number}: {offset}" for number, offset in sorted(rows))


def _results(parts: Iterable[m.PartitionResult]) -> str:
    by_code: dict[int, list[int]] = {}
    for one in parts:
        by_code.setdefault(one.error_code, []).append(one.partition_index)
    return ", ".join(f"{runs(numbers)}: {code_name(code)}" for code, numbers in by_code.items())

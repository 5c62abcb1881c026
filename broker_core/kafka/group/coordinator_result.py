"""What a step hands back: records to append, the answer, and what else happens once they are below the high
watermark.

What follows an append is data, not a closure, so that a checkpoint can hold an operation that waits for its
replicas.
Source: Kafka 3.9 CoordinatorResult (records, response, appendFuture, replayRecords).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.kafka.group.messages import (
    JoinGroupRequest,
    JoinGroupResponse,
    RequestContext,
    SyncGroupRequest,
)
from broker_core.kafka.group.records import LogRecord


class GroupMade(msgspec.Struct, frozen=True):
    """The first record of a new classic group; a parked or answered JoinGroup made it."""

    context: RequestContext


class StaticReplaced(msgspec.Struct, frozen=True):
    """A static member restarted in a Stable group: the member under its new id, and what to restore should
    the append fail."""

    context: RequestContext
    group_id: str
    instance_id: str
    old_member_id: str
    new_member_id: str
    old_leader: str | None
    old_request: JoinGroupRequest


class LeaderSynced(msgspec.Struct, frozen=True):
    """The leader's assignment, to be handed out if the group is still where it was."""

    group_id: str
    generation: int
    assignments: dict[str, bytes]


class ClassicJoined(msgspec.Struct, frozen=True):
    """A member of the classic protocol joined a group of the consumer protocol."""

    context: RequestContext
    request: JoinGroupRequest
    response: JoinGroupResponse


class ClassicSynced(msgspec.Struct, frozen=True):
    """A member of the classic protocol fetches its assignment in a group of the consumer protocol."""

    context: RequestContext
    request: SyncGroupRequest


Then = GroupMade | StaticReplaced | LeaderSynced | ClassicJoined | ClassicSynced


@dataclass(slots=True)
class CoordinatorResult:
    """records: in the order of the log. response: None if the step answered or parked the request. replay:
    whether the records are applied to the state; False where the step has changed it already."""

    records: list[LogRecord] = field(default_factory=list)
    response: Any = None
    then: Then | None = None
    replay: bool = True


def answered(response: Any) -> CoordinatorResult:
    """A step that writes nothing."""
    return CoordinatorResult(response=response)

"""What the calls of a ClientBalanceConsumer give back, and what is known of one under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from broker_core.tubemq import requests as r
from broker_core.tubemq.metadata import UNDEFINED, PartitionMetadata

START, SHUTDOWN, QUERY, READY = "start", "shutdown", "getPartitionMetaInfo", "isPartitionsReady"
CONNECT, DISCONNECT = "connect2Partition", "disconnectFromPartition"
GET, CONFIRM = "getMessage", "confirmConsume"
"""Calls that may have to wait, by the original's names."""


class OffsetInfo(NamedTuple):
    """curr_offset: of the last answer; max_offset: the end of the log then. Both in bytes. updated_us: when it came."""

    curr_offset: int
    max_offset: int
    updated_us: int


@dataclass(frozen=True, slots=True)
class CodedResult:
    """code: 200, or why not. why: which of the client's own checks refused an argument. Then what the call has to give:
    partition, offsets in bytes, numbers of messages, confirm context; status: partition key -> subscribable."""

    code: int = r.SUCCESS
    partition: str = ""
    curr_offset: int = UNDEFINED
    max_offset: int = UNDEFINED
    messages: list[int] = field(default_factory=list)
    context: str = ""
    status: dict[str, bool] = field(default_factory=dict)
    why: str = ""

    @property
    def is_success(self) -> bool:
        return self.code == r.SUCCESS


@dataclass(frozen=True, slots=True)
class RejectedExecutionError:
    """java.util.concurrent.RejectedExecutionException, which start() of a used object throws."""

    code: int = 0
    exception: str = "RejectedExecutionException"


CallResult = CodedResult | RejectedExecutionError


@dataclass(slots=True)
class Call:
    """A call under way. thread: who made it and waits. argument: as it was given, for whoever looks. bound: its offset
    or waiting time. until_us: how long it may wait. connection: on which it has asked, -1 if it has not. asked_us: when.
    tries, code: of its requests so far."""

    name: str
    thread: str
    key: str = ""
    argument: str = ""
    bound: int = 0
    until_us: int = 0
    connection: int = -1
    asked_us: int = 0
    tries: int = 0
    code: int = 0


MESSAGES_KEPT = 20
NUMBER_FORMAT = "NumberFormatException"
"""What confirmConsume throws for a token that is no number."""


@dataclass(slots=True)
class LastAnswer:
    """Of a call, the last time that it ended. code: 0 if it threw an exception, whose name that is. why: which of the
    client's own checks refused an argument. Of a batch its partition, first offset and the log's end in bytes, its first
    messages, how many they are in all, and the confirm context. value: of a call that gives one; metadata: of a query."""

    at_us: int
    argument: str
    code: int
    why: str = ""
    exception: str = ""
    partition: str = ""
    curr_offset: int = UNDEFINED
    max_offset: int = UNDEFINED
    messages: list[int] = field(default_factory=list)
    count: int = 0
    context: str = ""
    value: Any = None
    metadata: PartitionMetadata | None = None


def answer_of(call: Call, result: CallResult, now_us: int) -> LastAnswer:
    if isinstance(result, RejectedExecutionError):
        return LastAnswer(now_us, call.argument, 0, exception=result.exception)
    return LastAnswer(
        now_us, call.argument, result.code, result.why, "", result.partition, result.curr_offset, result.max_offset,
        result.messages[:MESSAGES_KEPT], len(result.messages), result.context,
    )  # fmt: skip

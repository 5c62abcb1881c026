"""What the calls of a ClientBalanceConsumer give back, and what is known of one under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.tubemq import requests as r
from broker_core.tubemq.metadata import UNDEFINED

START, SHUTDOWN, QUERY, READY = "start", "shutdown", "getPartitionMetaInfo", "isPartitionsReady"
CONNECT, DISCONNECT = "connect2Partition", "disconnectFromPartition"
GET, CONFIRM = "getMessage", "confirmConsume"
"""Calls that may have to wait, by the original's names."""


class OffsetInfo(NamedTuple):
    """curr_offset: of the last answer; max_offset: the end of the log then. Both in bytes."""

    curr_offset: int
    max_offset: int


@dataclass(frozen=True, slots=True)
class CodedResult:
    """code: 200, or why not. Then what the call has to give: partition, offsets in bytes, numbers of messages, confirm
    context; status: partition key -> subscribable."""

    code: int = r.SUCCESS
    partition: str = ""
    curr_offset: int = UNDEFINED
    max_offset: int = UNDEFINED
    messages: list[int] = field(default_factory=list)
    context: str = ""
    status: dict[str, bool] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        return self.code == r.SUCCESS


@dataclass(frozen=True, slots=True)
class RejectedExecutionError:
    """java.util.concurrent.RejectedExecutionException, which start() of a used object throws."""

    code: int = 0


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


class LastAnswer(NamedTuple):
    """Of a call, the last time that it ended. code: 0 if it threw an exception."""

    at_us: int
    argument: str
    code: int

"""What the calls of a ClientBalanceConsumer give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.tubemq import requests as r
from broker_core.tubemq.metadata import UNDEFINED


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


CallResult = CodedResult | RejectedExecutionError


@dataclass(slots=True)
class Call:
    """The call under way. bound: its offset or waiting time. tries, code: of its requests so far."""

    name: str
    key: str = ""
    bound: int = 0
    tries: int = 0
    code: int = 0

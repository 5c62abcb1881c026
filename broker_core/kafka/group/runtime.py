"""What the steps of a group coordinator run in: its state, what it may do outside, the time, timers and answers.

A step takes the runtime and knows nothing of the coordinator, which calls it.

Source: Kafka 3.9 CoordinatorRuntime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from broker_core.events import Cause
from broker_core.kafka.group import versions
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.codes import GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, Refused
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.coordinator_result import Then
from broker_core.kafka.group.messages import RequestContext
from broker_core.kafka.group.offset.store import OffsetStore
from broker_core.kafka.group.records import LogRecord
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.timeline import Timeline
from broker_core.kafka.group.topics import TopicsImage


class Appended(msgspec.Struct, frozen=True):
    """The log took records. high_watermark: below it everything is committed; it may still be behind."""

    end_offset: int
    high_watermark: int


class CoordinatorOut(Protocol):
    """What a coordinator can do."""

    def answer(self, context: RequestContext, response: Any) -> None:
        """Answer a request, at once or long after it came."""
        ...

    def append(self, records: Sequence[LogRecord]) -> Appended:
        """Append to the partition of the offsets topic. Raises AppendFailed when the log refuses."""
        ...

    def deadline(self, name: str, at_ms: int) -> None:
        """Wake the coordinator at `at_ms` with this name; one of the same name is moved."""
        ...

    def cancel(self, name: str) -> None: ...

    def draw_id(self, is_classic: bool) -> str:
        """The random part of a new member id: a UUID as classic groups write it, or the 22 characters of the
        consumer protocol."""
        ...

    def tell(self, kind: str, rule: str | None, inputs: Mapping[str, Any], data: Mapping[str, Any]) -> Cause:
        """Record a turning point; what it returns is for `because`, should something follow from it later."""
        ...

    def because(self, cause: Cause) -> None:
        """What is done from here on follows from this."""
        ...


class Timer(msgspec.Struct, frozen=True):
    """What runs when a deadline comes. step: a name in TIMERS; arguments: for it. retries: again after a
    failed append."""

    step: str
    arguments: tuple[Any, ...] = ()
    retries: bool = False


class Waiting(msgspec.Struct, frozen=True):
    """An operation whose answer waits for the high watermark to reach end_offset."""

    end_offset: int
    timer: str
    context: RequestContext | None
    request: Any
    response: Any
    then: Then | None


@dataclass(slots=True)
class CoordinatorState:
    """All that a checkpoint must hold. end_offset: of the last append. unanswered: tickets of requests
    without an answer so far.
    waiting: oldest first. timers: by name."""

    groups: Timeline[str, ClassicGroup | ConsumerGroup] = field(default_factory=Timeline)
    offsets: OffsetStore = field(default_factory=OffsetStore)
    end_offset: int = 0
    high_watermark: int = 0
    unanswered: set[int] = field(default_factory=set)
    waiting: list[Waiting] = field(default_factory=list)
    timers: dict[str, Timer] = field(default_factory=dict)
    wait_count: int = 0


class CoordinatorRuntime:
    """settings: of the broker. topics: what the cluster's metadata says of topics. now_ms, out: of the request
    or timer under way."""

    def __init__(
        self,
        settings: GroupSettings,
        topics: TopicsImage | None = None,
        state: CoordinatorState | None = None,
    ) -> None:
        self.settings = settings
        self.topics = topics if topics is not None else TopicsImage()
        self.state = (
            state
            if state is not None
            else CoordinatorState(offsets=OffsetStore(keeps_pending=settings.is_old))
        )
        self.now_ms = 0
        self.out: CoordinatorOut

    def answer(self, context: RequestContext, response: Any) -> None:
        """Answer a request; one that has its answer keeps it."""
        if context.ticket in self.state.unanswered:
            self.state.unanswered.remove(context.ticket)
            self.out.answer(context, versions.shaped(context.api_version, response))

    def schedule(self, name: str, delay_ms: int, timer: Timer) -> None:
        """Run a step in `delay_ms`; a timer of the same name is replaced."""
        self.state.timers[name] = timer
        self.out.deadline(name, self.now_ms + delay_ms)

    @staticmethod
    def timer(step: str, *arguments: Any, retries: bool = False) -> Timer:
        """What a deadline runs; see `Timer`."""
        return Timer(step, arguments, retries)

    def tell(
        self, kind: str, rule: str | None, inputs: Mapping[str, Any], data: Mapping[str, Any], *, group: str
    ) -> Cause:
        """Record a turning point of a group."""
        return self.out.tell(kind, rule, inputs, {"group": group, **data})

    def because(self, cause: Cause) -> None:
        """What is done from here on follows from this."""
        self.out.because(cause)

    def cancel(self, name: str) -> None:
        if self.state.timers.pop(name, None) is not None:
            self.out.cancel(name)

    def classic_group(self, group_id: str, makes: bool = False) -> ClassicGroup:
        """The classic group of this id. makes: make it if there is none. Refuses a missing one with 25, one
        of the other kind with 69."""
        group = self.state.groups.get(group_id)
        if group is None:
            if not makes:
                raise Refused(UNKNOWN_MEMBER_ID)
            group = ClassicGroup(group_id, state_since_ms=self.now_ms, is_old=self.settings.is_old)
            self.state.groups.put(group_id, group)
        if not isinstance(group, ClassicGroup):
            raise Refused(GROUP_ID_NOT_FOUND)
        return group

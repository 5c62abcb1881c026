"""The group coordinator of one partition of `__consumer_offsets`: takes requests and timers, writes records,
answers when they are safe.

    request ──► step ──► records ──► log ──► applied to the state ──► high watermark passes ──► answer
                  │                   └─ append fails: what is not in the log is undone, the answer is an error
                  └─ parks the request: answered by a later step

All that a step changes and that a successor must know is a record. An answer to a writer waits for every
earlier write of the partition; a reader sees what the high watermark has passed. `load` rebuilds the state
from the log; parked requests and pending ids are lost with the old coordinator. Time is a parameter, timers
are names with a deadline, the log is given: no clock, no I/O.

A cluster's brokers host it (`cluster/groups.py`).
Source: Kafka 3.9 GroupCoordinatorService, CoordinatorRuntime, GroupCoordinatorShard. Vectors:
kafka/group/*.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker_core.errors import InvariantError
from broker_core.kafka.group import record_replay, steps, versions
from broker_core.kafka.group.codes import (
    NONE,
    NOT_COORDINATOR,
    REQUEST_TIMED_OUT,
    AppendFailed,
    Refused,
)  # fmt: skip
from broker_core.kafka.group.coordinator_result import CoordinatorResult, Then
from broker_core.kafka.group.messages import RequestContext
from broker_core.kafka.group.offset import expiry
from broker_core.kafka.group.records import EndOfTransaction, LogRecord, read_back
from broker_core.kafka.group.runtime import CoordinatorOut, CoordinatorRuntime, Timer, Waiting
from broker_core.kafka.group.topics import TopicsImage

RETRY_BACKOFF_MS = 500


class GroupCoordinator(CoordinatorRuntime):
    """topics: replaced by `topics_changed`."""

    # What comes in

    def load(self, records: Iterable[LogRecord], end_offset: int, now_ms: int, out: CoordinatorOut) -> None:
        """Take the partition over: replay its log, then start every timer again. end_offset: of the log,
        which is committed."""
        self._begin(now_ms, out)
        for offset, record in enumerate(records):
            self.apply(read_back(record), offset)
        state = self.state
        state.end_offset = state.high_watermark = end_offset
        state.groups.seal(end_offset)
        state.groups.commit(end_offset)
        state.offsets.seal(end_offset)
        state.offsets.commit(end_offset)
        expiry.schedule_expiry(self)
        steps.loaded(self)

    def unload(self, now_ms: int, out: CoordinatorOut) -> None:
        """Another broker takes the partition over: what waits is answered NOT_COORDINATOR, timers end."""
        self._begin(now_ms, out)
        for waiting in self.state.waiting:
            out.cancel(waiting.timer)
            self._fail(waiting.context, waiting.request, waiting.then, NOT_COORDINATOR)
        self.state.waiting.clear()
        for name in list(self.state.timers):
            self.cancel(name)
        steps.unloaded(self)

    def receive(self, context: RequestContext, request: Any, now_ms: int, out: CoordinatorOut) -> None:
        """Handle a request. Its answer comes by `out.answer`, now or when what it waits for has happened."""
        self._begin(now_ms, out)
        request = versions.as_of(context.api_version, request)
        self.state.unanswered.add(context.ticket)
        # A fetch that requires stability waits for earlier writes as a writer does.
        is_reader = type(request) in steps.READERS and not getattr(request, "require_stable", False)
        try:
            refusal = versions.refusal(context.api_version, request, self.settings)
            if refusal != NONE:
                raise Refused(refusal)
            if is_reader:
                self.answer(context, steps.READERS[type(request)](self, request))
                return
            written = steps.WRITERS[type(request)](self, context, request)
        except Refused as refused:
            self.answer(context, versions.error_response(request, refused.code))
            return
        self._write(written, context, request)

    def wake(self, name: str, now_ms: int, out: CoordinatorOut) -> None:
        """A deadline is due."""
        self._begin(now_ms, out)
        timer = self.state.timers.pop(name, None)
        if timer is None:
            return
        if timer.step == "operation_timed_out":
            self._operation_timed_out(name)
            return
        try:
            written = steps.TIMERS[timer.step](self, *timer.arguments)
            is_taken = self._write(written)
        except Refused:
            is_taken = False
        if not is_taken and timer.retries:
            self.schedule(name, RETRY_BACKOFF_MS, timer)

    def high_watermark_moved(self, high_watermark: int, now_ms: int, out: CoordinatorOut) -> None:
        """Replicas have caught up: answer what waited for it."""
        self._begin(now_ms, out)
        self._committed_up_to(high_watermark)
        while self.state.waiting and self.state.waiting[0].end_offset <= high_watermark:
            waiting = self.state.waiting.pop(0)
            self.cancel(waiting.timer)
            self._complete(waiting.context, waiting.response, waiting.then)

    def topics_changed(self, topics: TopicsImage, changed: Iterable[str]) -> None:
        """New metadata. changed: names of topics that were made, deleted or changed."""
        self.topics = topics
        steps.topics_changed(self, changed)

    def apply(self, record: LogRecord, offset: int) -> None:
        """Apply one record of the log to the state."""
        if isinstance(record, EndOfTransaction):
            self.state.offsets.end_transaction(record)
        else:
            record_replay.apply(self, record, offset)

    # How an operation ends

    def _begin(self, now_ms: int, out: CoordinatorOut) -> None:
        self.now_ms = now_ms
        self.out = out

    def _write(
        self, written: CoordinatorResult, context: RequestContext | None = None, request: Any = None
    ) -> bool:
        """Append, apply, answer. Returns whether the log took it."""
        state = self.state
        if written.records:
            first_offset = state.end_offset
            try:
                appended = self.out.append(written.records)
            except AppendFailed as failed:
                state.groups.undo()
                state.offsets.undo()
                self._fail(context, request, written.then, failed.code)
                return False
            if written.replay:
                for number, record in enumerate(written.records):
                    self.apply(record, first_offset + number)
            state.end_offset = appended.end_offset
            state.groups.seal(appended.end_offset)
            state.offsets.seal(appended.end_offset)
            self._committed_up_to(appended.high_watermark)
        if self.settings.is_old:
            # The old coordinator has no timeline of its groups: what is in memory is what readers see.
            state.groups.seal(state.end_offset)
            state.groups.commit(state.end_offset)
        if state.high_watermark >= state.end_offset:
            self._complete(context, written.response, written.then)
        else:
            self._wait(context, request, written)
        return True

    def _wait(self, context: RequestContext | None, request: Any, written: CoordinatorResult) -> None:
        is_answered = context is None or context.ticket not in self.state.unanswered
        if is_answered and written.then is None:
            return
        self.state.wait_count += 1
        name = f"operation-timeout-{self.state.wait_count}"
        self.state.waiting.append(
            Waiting(self.state.end_offset, name, context, request, written.response, written.then)
        )
        self.schedule(name, self.settings.offsets_commit_timeout_ms, Timer("operation_timed_out"))

    def _operation_timed_out(self, name: str) -> None:
        """Replicas did not confirm in time. The records stay in the log and count once they are confirmed."""
        for index, waiting in enumerate(self.state.waiting):
            if waiting.timer == name:
                del self.state.waiting[index]
                self._fail(waiting.context, waiting.request, waiting.then, REQUEST_TIMED_OUT)
                return
        raise InvariantError(f"nothing waits for {name}")

    def _complete(self, context: RequestContext | None, response: Any, then: Then | None) -> None:
        if then is not None:
            steps.COMMITTED[type(then)](self, then)
        if context is not None and response is not None:
            self.answer(context, response)

    def _fail(self, context: RequestContext | None, request: Any, then: Then | None, code: int) -> None:
        if then is not None:
            steps.FAILED[type(then)](self, then, code)
        if context is not None:
            self.answer(context, versions.error_response(request, code, self.settings.is_old))

    def _committed_up_to(self, high_watermark: int) -> None:
        state = self.state
        state.high_watermark = max(state.high_watermark, high_watermark)
        state.groups.commit(high_watermark)
        state.offsets.commit(high_watermark)

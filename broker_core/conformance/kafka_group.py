"""Kafka's group coordinator against its recorded answers: classic groups, offsets, the consumer protocol of
KIP-848.

A case is a conversation with one coordinator in virtual time: requests, timers that fire on the way, what was
written, the groups afterwards. The ids that the original drew are given to ours in the same order, so that
what depends on the order of Java's maps is held to equality too. A case passes when every step is as
recorded: answers, which request is answered when, records, states, and, where the file has them, the deadline
of every timer and the bytes of every record. Lists whose order the original does not promise are compared as
sets.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from broker_core.conformance.kafka_group_view import (
    as_json,
    comparable,
    group_view,
    like,
    record_view,
    records_like,
    request_fields,
    runs,
)  # fmt: skip
from broker_core.conformance.result import CaseResult, case, passed
from broker_core.events import Cause
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import APPEND_ERRORS, AppendFailed
from broker_core.kafka.group.fields import from_fields
from broker_core.kafka.group.group_coordinator import GroupCoordinator
from broker_core.kafka.group.offset.expiry import EXPIRY_TIMER
from broker_core.kafka.group.records import LogRecord
from broker_core.kafka.group.runtime import Appended
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.topics import Topic, TopicsImage

Json = dict[str, Any]

REQUESTS: dict[str, type] = {
    "JoinGroup": m.JoinGroupRequest,
    "SyncGroup": m.SyncGroupRequest,
    "Heartbeat": m.HeartbeatRequest,
    "LeaveGroup": m.LeaveGroupRequest,
    "DescribeGroups": m.DescribeGroupsRequest,
    "ListGroups": m.ListGroupsRequest,
    "DeleteGroups": m.DeleteGroupsRequest,
    "OffsetCommit": m.OffsetCommitRequest,
    "OffsetFetch": m.OffsetFetchRequest,
    "OffsetDelete": m.OffsetDeleteRequest,
    "TxnOffsetCommit": m.TxnOffsetCommitRequest,
    "WriteTxnMarkers": m.WriteTxnMarkers,
    "PartitionsDeleted": m.PartitionsDeleted,
    "ConsumerGroupHeartbeat": m.ConsumerGroupHeartbeatRequest,
    "ConsumerGroupDescribe": m.ConsumerGroupDescribeRequest,
}

RACK_COUNT = 4
UUID_LENGTH = 36
_ID = re.compile(r"#\d+")


def run_group_coordinator(document: Json) -> Iterator[CaseResult]:
    """Every case of a file of the new coordinator's answers."""
    for row in document["cases"]:
        yield case(row["id"], partial(_case, row))


def run_group_coordinator_old(document: Json) -> Iterator[CaseResult]:
    """Every case of a file of the old coordinator's answers: whole where both coordinators agree, else up to
    where they part.

    The requests were chosen by the answers of the new one, so that a case drifts from there on; what of the
    rest is met is counted.
    """
    for row in document["cases"]:
        yield case(row["id"], partial(_old_case, row))


def _old_case(row: Json) -> CaseResult:
    bound = None if row["same_as_new"] else row["first_difference"]["step"]
    result, met = _played(row, is_old=True)
    if bound is None:
        return result
    # Up to the first difference it is a case like any other; after it, one that is counted.
    beyond = (max(met - bound, 0), len(row["steps"]) - bound)
    return replace(result if met < bound else passed(row["id"]), beyond=beyond)


def _case(row: Json) -> CaseResult:
    return _played(row, is_old=False)[0]


def _played(row: Json, is_old: bool) -> tuple[CaseResult, int]:
    """Play a case to its end or to the first step that is not as recorded. Returns how it went, and how many
    steps were met."""
    ids: dict[str, str] = row["member_ids"]
    steps = _with_real_ids(row["steps"], ids)
    bench = Bench(row, ids, is_old)
    expected_groups: Json = {}
    for number, step in enumerate(steps):
        expected_groups |= step.get("state") or {}
        expected_groups = {group: view for group, view in expected_groups.items() if view is not None}
        wanted, seen = bench.play(step, expected_groups)
        if wanted != seen:
            differing = [part for part in wanted if wanted[part] != seen[part]]
            result = CaseResult(
                row["id"], "failed", {f"step {number}": {part: wanted[part] for part in differing}},
                {f"step {number}": {part: seen[part] for part in differing}},
            )  # fmt: skip
            return result, number
    return passed(row["id"]), len(steps)


@dataclass(slots=True)
class Event:
    """What one timer or one request caused."""

    at_ms: int
    key: str = ""
    records: list[LogRecord] = field(default_factory=list)
    answers: dict[int, Any] = field(default_factory=dict)


class Bench:
    """A coordinator, its log and its clock, played step by step."""

    def __init__(self, row: Json, ids: dict[str, str], is_old: bool) -> None:
        self.is_old = is_old
        self.ids = ids
        self.drawn = 0
        self.configuration: dict[str, str] = row["config"]
        self.has_racks = "racks" in row
        self.topics = {topic["name"]: topic for topic in row.get("topics", [])}
        self.names = {topic["id"]: name for name, topic in self.topics.items()}  # of deleted ones too
        self.log: list[LogRecord] = []
        self.is_held = False
        self.next_error: str | None = None
        self.deadlines: dict[str, tuple[int, int]] = {}
        self.made = 0
        self.idle: dict[str, int] = {}
        self.now_ms = row["start_ms"]
        self.event = Event(self.now_ms)
        self.coordinator = self.take_over()

    # What the coordinator can do

    def answer(self, context: m.RequestContext, response: Any) -> None:
        self.event.answers[context.ticket] = response

    def append(self, records: Sequence[LogRecord]) -> Appended:
        if self.next_error is not None:
            error, self.next_error = self.next_error, None
            raise AppendFailed(APPEND_ERRORS[error])
        self.log += records
        self.event.records += records
        return Appended(
            len(self.log), self.coordinator.state.high_watermark if self.is_held else len(self.log)
        )

    def deadline(self, name: str, at_ms: int) -> None:
        self.made += 1
        self.deadlines[name] = (at_ms, self.made)

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw_id(self, is_classic: bool) -> str:
        while True:
            self.drawn += 1
            drawn = self.ids.get(f"#{self.drawn}", f"#{self.drawn}")
            if is_classic or len(drawn) != UUID_LENGTH:
                return drawn
            # The file has an id that was drawn and thrown away as a UUID; one that would begin with a dash is
            # drawn again.
            text = base64.urlsafe_b64encode(bytes.fromhex(drawn.replace("-", ""))).decode().rstrip("=")
            if not text.startswith("-"):
                return text

    def tell(self, kind: str, rule: str | None, inputs: Any, data: Any) -> Cause:
        """Turning points are not in the recordings."""
        return Cause()

    def because(self, cause: Cause) -> None:
        """Nor what led to what."""

    # What happens

    def play(self, step: Json, expected_groups: Json) -> tuple[Json, Json]:
        """Play one step. Returns what was recorded and what came, part by part."""
        fired = self.fire_until(step["at_ms"])
        self.now_ms = step["at_ms"]
        self.event = own = Event(self.now_ms)
        after: list[Event] = []
        number = step.get("request_no")
        if number is not None:
            self.request(number, step["request"])
            after = self.fire_until(self.now_ms)
        answer = None if number is None else own.answers.pop(number, None)
        groups = {
            group_id: group_view(group, self.names)
            for group_id, group in self.coordinator.state.groups.present.items()
        }
        groups.pop("", None)  # the recorder does not list the group without a name
        wanted: Json = {
            "timers": _timers(step.get("timers", ())),
            "timers_after": _timers(step.get("timers_after", ())),
            "answer": step.get("answer"),
            "completed": {str(entry["request"]): entry["answer"] for entry in step.get("completed", ())},
            "records": step.get("records", []),
            "groups": expected_groups,
        }
        seen: Json = {
            "timers": _fired(fired, step.get("timers", ())),
            "timers_after": _fired(after, step.get("timers_after", ())),
            "answer": like(wanted["answer"], as_json(answer)),
            "completed": {
                str(ticket): like(wanted["completed"].get(str(ticket)), as_json(given))
                for ticket, given in own.answers.items()
            },
            "records": records_like(wanted["records"], [record_view(record) for record in own.records]),
            "groups": groups,
        }
        if "timers_pending" in step:
            running = {
                name: at_ms
                for name, (at_ms, _) in self.deadlines.items()
                if not name.startswith(("expire-", "operation-"))
            }
            idle = {name: at_ms for name, at_ms in self.idle.items() if name not in running}
            wanted["timers_pending"] = {
                name: at_ms for name, at_ms in step["timers_pending"].items() if idle.get(name) != at_ms
            }
            seen["timers_pending"] = running
        wanted["records"], seen["records"] = runs(wanted["records"]), runs(seen["records"])
        return comparable(wanted), comparable(seen)

    def fire_until(self, at_ms: int) -> list[Event]:
        """Fire what is due, in order of deadline and then of creation."""
        fired = []
        while due := [(when, name) for name, when in self.deadlines.items() if when[0] <= at_ms]:
            (deadline_ms, _), name = min(due)
            del self.deadlines[name]
            self.event = Event(deadline_ms, name)
            self.coordinator.wake(name, deadline_ms, self)
            fired.append(self.event)
        return fired

    def request(self, number: int, request: Json) -> None:
        fields = request["fields"]
        match request["api"]:
            case "Failover":
                before = dict(self.deadlines)
                self.coordinator.unload(self.now_ms, self)
                self.coordinator = self.take_over()
                if self.is_old:
                    # The old one expires on its broker's own schedule, and timers of a group that is gone run
                    # on to no effect.
                    self.deadlines[EXPIRY_TIMER] = before[EXPIRY_TIMER]
                    self.idle |= {name: at_ms for name, (at_ms, _) in before.items()}
            case "FailNextAppend":
                self.next_error = fields["error"]
            case "HoldHighWatermark":
                self.is_held = fields["hold"]
                if not self.is_held:
                    self.coordinator.high_watermark_moved(len(self.log), self.now_ms, self)
            case "TopicsChange":
                for topic in fields["topics"]:
                    if topic.get("deleted"):
                        self.topics.pop(topic["name"], None)
                    else:
                        self.topics[topic["name"]] = topic
                        self.names[topic["id"]] = topic["name"]
                self.coordinator.topics_changed(self.image(), [topic["name"] for topic in fields["topics"]])
            case api:
                host = f"/{request.get('host', '127.0.0.1')}"
                context = m.RequestContext(number, request["version"], request["client_id"], host)
                self.coordinator.receive(
                    context, from_fields(request_fields(fields), REQUESTS[api]), self.now_ms, self
                )
                return
        self.event.answers[number] = {}

    def take_over(self) -> GroupCoordinator:
        """A new coordinator of the partition, loaded from the log."""
        settings = replace(GroupSettings.from_configuration(self.configuration), is_old=self.is_old)
        coordinator = GroupCoordinator(settings, self.image())
        coordinator.load(list(self.log), len(self.log), self.now_ms, self)
        return coordinator

    def image(self) -> TopicsImage:
        """The cluster's metadata as the recorder made it: partition i on brokers i and i + 1 of four, each in
        a rack of its own."""
        return TopicsImage.of(
            Topic(
                name,
                topic["id"],
                topic["partitions"],
                tuple(
                    (f"rack{i % RACK_COUNT}", f"rack{(i + 1) % RACK_COUNT}")
                    for i in range(topic["partitions"])
                )
                if self.has_racks
                else (),
            )
            for name, topic in self.topics.items()
        )


def _timers(recorded: Sequence[Json]) -> list[Json]:
    """Recorded timers that wrote or answered something; one that only changed the group shows in the
    group."""
    return [
        {
            "at_ms": timer["at_ms"], "key": timer["key"], "records": runs(timer.get("records", ())),
            "completed": {str(entry["request"]): entry["answer"] for entry in timer.get("completed", ())},
        }
        for timer in recorded
        if timer.get("records") or timer.get("completed")
    ]  # fmt: skip


def _fired(events: Sequence[Event], recorded: Sequence[Json]) -> list[Json]:
    """The same of timers of ours; in the files the time-out of every operation has one name."""
    shapes = {(timer["at_ms"], timer["key"]): timer for timer in recorded}
    seen = []
    for event in events:
        if not event.records and not event.answers:
            continue
        key = "operation-timeout" if event.key.startswith("operation-timeout") else event.key
        shape = shapes.get((event.at_ms, key), {})
        answers = {str(entry["request"]): entry["answer"] for entry in shape.get("completed", ())}
        seen.append(
            {
                "at_ms": event.at_ms,
                "key": key,
                "records": runs(
                    records_like(shape.get("records", []), [record_view(record) for record in event.records])
                ),
                "completed": {
                    str(ticket): like(answers.get(str(ticket)), as_json(given))
                    for ticket, given in event.answers.items()
                },
            }
        )
    return seen


def _with_real_ids(value: Any, ids: dict[str, str]) -> Any:
    """The canonical ids of the file replaced by those that the original drew."""
    if isinstance(value, str):
        return _ID.sub(lambda match: ids.get(match[0], match[0]), value)
    if isinstance(value, list):
        return [_with_real_ids(item, ids) for item in value]
    if isinstance(value, dict):
        return {_with_real_ids(key, ids): _with_real_ids(item, ids) for key, item in value.items()}
    return value

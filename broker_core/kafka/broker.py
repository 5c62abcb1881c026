"""A broker: the partitions of one topic, and the coordinator of the groups that read it. A table leads from
request to handler.

Produce appends and wakes the fetches that wait for that partition; one that is not here is refused. A fetch
that finds nothing is kept until something comes or its `fetch.max.wait.ms` is over. One broker leads
everything here, without replicas: the cluster is a separate issue. The single-broker lane, used by studies
and by labs from before the cluster. Its groups are `group/{group,join,sync,heartbeat,leave,offsets}.py`: a
member's session timeout is noticed in `group/heartbeat.py: session_over`. Why there is a second coordinator:
docs/decisions/two-group-coordinators.md.
Source: Kafka 3.9 KafkaApis, ReplicaManager.fetchMessages, DelayedFetch; docs/kafka/facts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group
from broker_core.kafka.group.heartbeat import heartbeat, session_over
from broker_core.kafka.group.join import join_group, join_phase_over
from broker_core.kafka.group.leave import forget_pending, hang_up, leave_group
from broker_core.kafka.group.offsets import offset_commit, offset_fetch
from broker_core.kafka.group.sync import sync_group, sync_phase_over
from broker_core.kafka.requests import ProduceRequest
from broker_core.sim.node import PERSON, Closed, Opened, Outbox


@dataclass(slots=True)
class PartitionRecords:
    """What a partition holds, by the numbers of its records; `replication/replica_log.py` has batches, epochs
    and segments. start: log start offset; end: log end offset. records: from start on."""

    start: int = 0
    end: int = 0
    records: list[int] = field(default_factory=list)

    def between(self, first: int, end: int) -> list[int]:
        """Those from one offset to another, which is excluded."""
        return self.records[first - self.start : end - self.start]

    def delete_before(self, offset: int) -> None:
        """Nobody will read what is below `offset` any more."""
        if offset > self.start:
            del self.records[: offset - self.start]
            self.start = offset


class WaitingFetch(msgspec.Struct):
    """A fetch that found nothing, and until when it waits."""

    request: r.FetchRequest
    until_us: int


@dataclass(slots=True)
class BrokerState:
    """logs: of each partition. groups: by id. waiting: connection -> the fetch that waits there. watched:
    connections for which a deadline of a waiting fetch is set; it may find an earlier fetch answered, and is
    moved on then, which is cheaper than one for each fetch."""

    logs: list[PartitionRecords]
    groups: dict[str, Group] = field(default_factory=dict)
    waiting: dict[int, WaitingFetch] = field(default_factory=dict)
    watched: dict[int, None] = field(default_factory=dict)


class Broker:
    def __init__(self, state: BrokerState) -> None:
        self.state = state
        # Partition -> connections that may wait for it, in the order of their fetches: found again from
        # `waiting`.
        self.interested: list[dict[int, None]] = [{} for _ in state.logs]
        for connection, fetch in state.waiting.items():
            self.note_interest(connection, fetch.request)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is ProduceRequest:
            number = message.partition
            if not 0 <= number < len(self.interested):
                out.send(connection, r.ProduceResponse(number, r.UNKNOWN_TOPIC_OR_PARTITION))
                return
            log = self.state.logs[number]
            log.records.append(message.record)
            log.end += 1
            if self.interested[number]:
                self.wake_fetches(number, out)
        elif kind is r.FetchRequest:
            self.fetch(connection, message, now_us, out)
        elif kind is r.ListOffsetsRequest:
            logs = self.state.logs
            out.send(
                connection,
                r.ListOffsetsResponse(
                    {number: logs[number].start for number in message.partitions if 0 <= number < len(logs)}
                ),
            )
        elif kind is r.DeleteRecordsRequest:
            self.delete_records(connection, message, out)
        elif kind is Closed:
            self.state.waiting.pop(connection, None)
            if connection in self.state.watched:
                del self.state.watched[connection]
                out.cancel(f"fetch:{connection}")
            for group in self.state.groups.values():
                hang_up(group, connection)
                forget_pending(group, connection, now_us, out)
        elif kind is not Opened:
            self.ask_group(connection, message, now_us, out)

    def ask_group(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """A request to a group. One that does not exist answers like an empty one, and is kept only if a
        newcomer joins it or a simple consumer, which has no generation, commits to it. Source:
        GroupMetadataManager.classicGroupJoin, OffsetMetadataManager.validateOffsetCommit."""
        group = self.state.groups.get(message.group_id)
        if group is None:
            group = Group(message.group_id)
            match message:
                case r.JoinGroupRequest(member_id="") | r.OffsetCommitRequest(generation_id=r.NO_GENERATION):
                    self.state.groups[message.group_id] = group
                case r.OffsetCommitRequest():
                    out.send(connection, r.OffsetCommitResponse(r.ILLEGAL_GENERATION))
                    return
        HANDLERS[type(message)](group, connection, message, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, rest = name.partition(":")
        match what:
            case "fetch":
                self.fetch_over(int(rest), now_us, out)
            case "session":  # a member's session timeout
                group_id, _, member_id = rest.partition(":")
                session_over(self.state.groups[group_id], member_id, now_us, out)
            case "join":
                join_phase_over(self.state.groups[rest], now_us, out)
            case "sync":
                sync_phase_over(self.state.groups[rest], now_us, out)

    def wake_fetches(self, number: int, out: Outbox) -> None:
        """A record came into this partition: answer who waits for it. Of the other partitions that such a
        fetch asks for nothing has come, else it would not wait any more."""
        waiting, interested, records = (
            self.state.waiting,
            self.interested[number],
            self.state.logs[number].records,
        )
        for connection in interested:
            fetch = waiting.get(connection)
            if fetch is not None and number in fetch.request.offsets:
                del waiting[connection]
                out.send(connection, r.FetchResponse([(number, fetch.request.offsets[number], records[-1:])]))
        interested.clear()

    def fetch(self, connection: int, request: r.FetchRequest, now_us: int, out: Outbox) -> None:
        logs, state = self.state.logs, self.state
        for number, offset in request.offsets.items():
            if not 0 <= number < len(logs) or offset != logs[number].end:
                self.answer(
                    connection, request, out
                )  # there is something, or an error, which does not wait either
                return
        state.waiting[connection] = WaitingFetch(request, now_us + request.max_wait_us)
        self.note_interest(connection, request)
        if connection not in state.watched:
            state.watched[connection] = None
            out.deadline(f"fetch:{connection}", now_us + request.max_wait_us)

    def note_interest(self, connection: int, request: r.FetchRequest) -> None:
        for number in request.offsets:
            interested = self.interested[number]
            interested.pop(connection, None)
            interested[connection] = None

    def fetch_over(self, connection: int, now_us: int, out: Outbox) -> None:
        """A deadline of a waiting fetch: this one's, or that of an earlier one which was answered in time."""
        fetch = self.state.waiting.get(connection)
        if fetch is not None and fetch.until_us > now_us:
            out.deadline(f"fetch:{connection}", fetch.until_us)
            return
        del self.state.watched[connection]
        if fetch is not None:
            del self.state.waiting[connection]
            self.answer(connection, fetch.request, out)

    def answer(self, connection: int, request: r.FetchRequest, out: Outbox) -> None:
        """What there is of each partition, at most `records_max` each; an error for one that is not here, or
        has no such offset."""
        logs, most = self.state.logs, request.records_max
        read, errors = [], []
        for number, offset in request.offsets.items():
            if not 0 <= number < len(logs):
                errors.append((number, offset, r.UNKNOWN_TOPIC_OR_PARTITION))
                continue
            log = logs[number]
            if log.start <= offset < log.end:
                read.append((number, offset, log.between(offset, min(log.end, offset + most))))
            elif offset != log.end:
                errors.append((number, offset, r.OFFSET_OUT_OF_RANGE))
        out.send(connection, r.FetchResponse(read, errors))

    def delete_records(self, connection: int, request: r.DeleteRecordsRequest, out: Outbox) -> None:
        """An offset outside of the log is refused. Source: ReplicaManager.deleteRecordsOnLocalLog,
        UnifiedLog.maybeIncrementLogStartOffset (below the log start nothing happens)."""
        logs = self.state.logs
        answer = r.DeleteRecordsResponse({}, {})
        for number, offset in request.offsets.items():
            if not 0 <= number < len(logs):
                answer.errors[number] = r.UNKNOWN_TOPIC_OR_PARTITION
            elif not 0 <= offset <= logs[number].end:
                answer.errors[number] = r.OFFSET_OUT_OF_RANGE
            else:
                logs[number].delete_before(offset)
                answer.low_watermarks[number] = logs[number].start
        if connection != PERSON:
            out.send(connection, answer)


HANDLERS: Mapping[type, Callable[[Group, int, Any, int, Outbox], None]] = MappingProxyType(
    {
        r.JoinGroupRequest: join_group,
        r.SyncGroupRequest: sync_group,
        r.HeartbeatRequest: heartbeat,
        r.LeaveGroupRequest: leave_group,
        r.OffsetCommitRequest: offset_commit,
        r.OffsetFetchRequest: offset_fetch,
    }
)

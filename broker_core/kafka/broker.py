"""A broker: the partitions of one topic, and the coordinator of the groups that read it. A table leads from request to handler.

Produce appends and wakes the fetches that wait for that partition; a fetch that finds nothing is kept until something comes or its
`fetch.max.wait.ms` is over. One broker leads everything here, without replicas: the cluster is a separate issue.
Source: Kafka 3.9 KafkaApis, ReplicaManager.fetchMessages, DelayedFetch; docs/kafka/facts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from broker_core.kafka import requests as r
from broker_core.kafka.group.group import Group
from broker_core.kafka.group.heartbeat import heartbeat, session_over
from broker_core.kafka.group.join import join_group, join_phase_over
from broker_core.kafka.group.leave import leave_group
from broker_core.kafka.group.offsets import offset_commit, offset_fetch
from broker_core.kafka.group.sync import sync_group, sync_phase_over
from broker_core.sim.node import Closed, Opened, Outbox


class RecordStore(Protocol):
    """Where the records of a partition are kept, by offset; not part of the broker's state, as it follows from what was produced."""

    def append(self, partition: int, record: int) -> None: ...


@dataclass(slots=True)
class BrokerState:
    """ends: log end offset of each partition. groups: by id. waiting: connection -> the fetch that waits there."""

    ends: list[int]
    groups: dict[str, Group] = field(default_factory=dict)
    waiting: dict[int, r.FetchRequest] = field(default_factory=dict)


class Broker:
    def __init__(self, state: BrokerState, store: RecordStore) -> None:
        self.state = state
        self.store = store

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is r.ProduceRequest:
            self.produce(message, out)
        elif kind is r.FetchRequest:
            self.fetch(connection, message, now_us, out)
        elif kind is Closed:
            if self.state.waiting.pop(connection, None) is not None:
                out.cancel(f"fetch:{connection}")
        elif kind is not Opened:
            group = self.state.groups.get(message.group_id)
            if group is None:
                group = self.state.groups[message.group_id] = Group(message.group_id)
            HANDLERS[kind](group, connection, message, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        what, _, rest = name.partition(":")
        match what:
            case "fetch":
                connection = int(rest)
                self.answer(connection, self.state.waiting.pop(connection), out)
            case "session":
                group_id, _, member_id = rest.partition(":")
                session_over(self.state.groups[group_id], member_id, now_us, out)
            case "join":
                join_phase_over(self.state.groups[rest], now_us, out)
            case "sync":
                sync_phase_over(self.state.groups[rest], now_us, out)

    def produce(self, request: r.ProduceRequest, out: Outbox) -> None:
        number = request.partition
        self.store.append(number, request.record)
        self.state.ends[number] += 1
        waiting = self.state.waiting
        for connection in [connection for connection, fetch in waiting.items() if number in fetch.offsets]:
            out.cancel(f"fetch:{connection}")
            self.answer(connection, waiting.pop(connection), out)

    def fetch(self, connection: int, request: r.FetchRequest, now_us: int, out: Outbox) -> None:
        ends = self.state.ends
        if any(offset < ends[number] for number, offset in request.offsets.items()):
            self.answer(connection, request, out)
        else:
            self.state.waiting[connection] = request
            out.deadline(f"fetch:{connection}", now_us + request.max_wait_us)

    def answer(self, connection: int, request: r.FetchRequest, out: Outbox) -> None:
        """What there is of each partition, at most `records_max` each."""
        ends = self.state.ends
        ranges = [
            (number, offset, min(ends[number], offset + request.records_max))
            for number, offset in request.offsets.items() if offset < ends[number]
        ]  # fmt: skip
        out.send(connection, r.FetchResponse(ranges, {number: ends[number] for number in request.offsets}))


HANDLERS: Mapping[type, Callable[[Group, int, Any, int, Outbox], None]] = MappingProxyType({
    r.JoinGroupRequest: join_group, r.SyncGroupRequest: sync_group, r.HeartbeatRequest: heartbeat, r.LeaveGroupRequest: leave_group,
    r.OffsetCommitRequest: offset_commit, r.OffsetFetchRequest: offset_fetch,
})  # fmt: skip

"""Laws of a consumer against brokers that answer in any order, refuse, hang up and rebalance: nothing is
skipped, nothing unhandled is committed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors.subscription_bytes import write_assignment
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.group_consumer.orders import (
    CommitOffsets,
    PausePartitions,
    ResumePartitions,
    Start,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import Closed
from broker_core.sim.program import Leave
from tests.core.kafka.client.consumer_bench import Bench

PARTITIONS, RECORDS = 3, 9
"""Of each partition so many records; the value of a record is partition * 100 + offset."""
REFUSALS: dict[type, tuple[int, ...]] = {
    m.HeartbeatRequest: (27, 22, 25, 16),
    m.JoinGroupRequest: (27, 25, 16),
    m.SyncGroupRequest: (27, 22, 25, 16),
    m.OffsetFetchRequest: (16, 15),
    m.OffsetCommitRequest: (27, 22, 25, 16, 15, 7),
    r.FetchRequest: (6, 3, 74),
    FindCoordinatorRequest: (15,),
    m.ConsumerGroupHeartbeatRequest: (16, 15, 25, 110),
}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 5)),
        st.tuples(st.just("answer"), st.integers(0, 5)),
        st.tuples(st.just("refuse"), st.integers(0, 11)),
        st.tuples(st.just("break"), st.integers(0, 3)),
        st.tuples(st.just("wait"), st.sampled_from([1, 100, 1_000, 4_000, 31_000])),
        st.tuples(st.just("assign"), st.integers(0, 7)),
        st.tuples(st.just("pause"), st.integers(0, 2)),
        st.tuples(st.just("resume"), st.integers(0, 2)),
        st.tuples(st.just("commit"), st.integers(0, 2)),
    ),
    max_size=45,
)


class Chaos:
    """A consumer, three leaders and a coordinator (broker 2) that gives the partitions of `target` out."""

    def __init__(self, **options: Any) -> None:
        self.bench = Bench(PARTITIONS, **options)
        self.state = self.bench.state
        self.bench.node.polled = self.begins
        self.asked: list[tuple[int, Any]] = []
        self.committed: dict[int, int] = {}
        self.begun: dict[int, int] = {}
        self.target, self.is_changed, self.generation, self.now_us = [0, 1, 2], True, 0, 0
        self.bench.node.receive(0, Start(), 0, self.bench.out)
        self.look()

    def begins(self, partition: tuple[str, int], offset: int) -> None:
        last = self.begun.get(partition[1], -1)
        assert offset <= last + 1, "a record was skipped"
        self.begun[partition[1]] = max(last, offset)

    @property
    def handled(self) -> set[int]:
        return {value for what, value in self.bench.traffic.log if what == "handled"}

    def look(self) -> None:
        """Take what it sent, and look at what holds after every step."""
        sent = self.bench.out.take()
        for _, message in sent:
            if isinstance(message, m.OffsetCommitRequest):
                for row in message.topics[0].partitions:
                    unhandled = {
                        row.partition_index * 100 + offset for offset in range(row.committed_offset)
                    } - self.handled
                    assert not unhandled, "committed before it was handled"
        closed = set(self.bench.out.closed)
        self.asked = [
            (connection, message) for connection, message in [*self.asked, *sent] if connection not in closed
        ]
        for kind in (r.FetchRequest, m.JoinGroupRequest, r.MetadataRequest, FindCoordinatorRequest):
            asked = [connection for connection, message in self.asked if isinstance(message, kind)]
            assert len(asked) == len(set(asked)) and (kind is r.FetchRequest or len(asked) <= 1), (
                f"two {kind.__name__} at a time"
            )

    def step(self, what: str, number: int) -> None:
        bench, partitions = self.bench, [("t", number)]
        match what:
            case "answer" | "refuse" if self.asked:
                connection, message = self.asked.pop(number % len(self.asked))
                refusals = REFUSALS.get(type(message), (0,)) if what == "refuse" else (0,)
                response = self.response(connection, message, refusals[number % len(refusals)])
                bench.node.receive(connection, response, self.now_us, bench.out)
            case "break" if number in (
                known := {broker % 4: gone for broker, gone in self.state.network.connections.items()}
            ):
                gone = known[number]  # 3: the coordinator's, or broker 3's
                self.asked = [
                    (connection, message) for connection, message in self.asked if connection != gone
                ]
                bench.node.receive(gone, Closed("reset"), self.now_us, bench.out)
            case "wait":
                self.wait(self.now_us + number * 1_000)
            case "assign":
                self.target, self.is_changed = (
                    [place for place in range(PARTITIONS) if number >> place & 1],
                    True,
                )
            case "pause" | "resume":
                bench.node.receive(
                    0,
                    PausePartitions(partitions) if what == "pause" else ResumePartitions(partitions),
                    self.now_us,
                    bench.out,
                )
            case "commit":
                done = [("t", place, self.done(place)) for place in range(PARTITIONS)]
                bench.node.receive(0, CommitOffsets(done, waits=number == 0), self.now_us, bench.out)
        self.look()

    def done(self, place: int) -> int:
        handled = self.handled
        return next(offset for offset in range(RECORDS + 1) if place * 100 + offset not in handled)

    def wait(self, until_us: int) -> None:
        """Time passes: what is due comes due, in order."""
        out = self.bench.out
        while due := sorted((at_us, name) for name, at_us in out.deadlines.items() if at_us <= until_us):
            at_us, name = due[0]
            self.now_us = max(self.now_us, at_us)
            del out.deadlines[name]
            self.bench.node.wake(name, self.now_us, out)
            self.look()
        self.now_us = until_us

    def response(self, connection: int, message: Any, code: int) -> Any:
        match message:
            case r.MetadataRequest():
                return self.bench.metadata()
            case FindCoordinatorRequest():
                return FindCoordinatorResponse(code, -1 if code else 2)
            case m.JoinGroupRequest():
                if not message.member_id and not code:
                    return m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED)
                self.generation += 1
                return m.JoinGroupResponse(
                    "c1-id", code, self.generation, "consumer", message.protocols[0].name, "other"
                )
            case m.SyncGroupRequest():
                self.is_changed = False
                return m.SyncGroupResponse(
                    code,
                    "consumer",
                    message.protocol_name,
                    write_assignment([("t", number) for number in self.target]),
                )
            case m.HeartbeatRequest():
                return m.HeartbeatResponse(code or (codes.REBALANCE_IN_PROGRESS if self.is_changed else 0))
            case m.ConsumerGroupHeartbeatRequest():
                self.generation += 1
                self.is_changed = self.is_changed and bool(code)
                target = m.Assignment([m.TopicPartitions(topic_id("t"), list(self.target))])
                return m.ConsumerGroupHeartbeatResponse(code, "m1", self.generation, 3_000, target)
            case m.LeaveGroupRequest():
                return m.LeaveGroupResponse()
            case m.OffsetCommitRequest():
                rows = message.topics[0].partitions
                if not code:
                    self.committed.update({row.partition_index: row.committed_offset for row in rows})
                return m.OffsetCommitResponse(
                    [m.TopicResult("t", [m.PartitionResult(row.partition_index, code) for row in rows])]
                )
            case m.OffsetFetchRequest():
                if code:
                    return m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [], code)])
                numbers = (message.groups[0].topics or [])[0].partition_indexes
                found = [m.FetchedPartition(number, self.committed.get(number, -1)) for number in numbers]
                return m.OffsetFetchResponse(
                    [m.OffsetFetchGroupResult("g", [m.FetchedTopicResult("t", found)])]
                )
            case r.ListOffsetsRequest():
                return r.ListOffsetsResponse(
                    [r.ListedOffset("t", part.partition, 0, 0, -1, 0) for part in message.partitions]
                )
        return self.fetched(self.state.network.broker_of.get(connection, 0), code)

    def fetched(self, broker: int, code: int) -> r.FetchResponse:
        """Two records of each partition of the session."""
        session = self.state.fetches.sessions.get(broker)
        parts = []
        for (topic, number), (offset, _) in (session.sent if session is not None else {}).items():
            values = [number * 100 + at for at in range(offset, min(offset + 2, RECORDS))]
            batches = (
                (light_batch(values, timestamp=0, base_offset=offset, partition_leader_epoch=0),)
                if values and not code
                else ()
            )
            parts.append(r.FetchedPartition(topic, number, code, RECORDS, RECORDS, 0, batches))
        return r.FetchResponse(parts)

    def would_wait(self, connection: int, message: Any) -> bool:
        """Whether it is a fetch that finds nothing."""
        return isinstance(message, r.FetchRequest) and not any(
            part.records
            for part in self.fetched(self.state.network.broker_of.get(connection, 0), 0).partitions
        )

    def settle(self) -> None:
        """It gets everything, and all goes well: until every record is handled."""
        self.step("assign", 7)
        for number in range(PARTITIONS):
            self.step("resume", number)
        for _ in range(80):
            for _ in range(100):
                places = [
                    place
                    for place, (connection, message) in enumerate(self.asked)
                    if not self.would_wait(connection, message)
                ]
                if not places:
                    break
                self.step("answer", places[0])
            if len(self.handled) == PARTITIONS * RECORDS and not self.is_changed:
                return
            self.wait(self.now_us + 400_000)
        raise AssertionError(f"not all is handled: {sorted(self.handled)}")


KINDS = [
    {"assignors": ["range"]},
    {"assignors": ["cooperative-sticky"], "commits": "sync"},
    {"group_protocol": "consumer"},
    {"group_protocol": "consumer", "commits": "async"},
]


@pytest.mark.parametrize("options", KINDS, ids=str)
@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_law_each_record_is_handled_and_no_commit_runs_ahead(
    options: dict[str, Any], steps: list[tuple[str, int]]
) -> None:
    chaos = Chaos(max_poll_records=2, **options)
    for what, number in steps:
        chaos.step(what, number)
    chaos.settle()
    assert to_plain(from_plain(to_plain(chaos.state), ConsumerState)) == to_plain(chaos.state)


@pytest.mark.parametrize("options", KINDS[1:3], ids=str)
@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_law_close_at_any_moment_ends_with_every_connection_closed(
    options: dict[str, Any], steps: list[tuple[str, int]]
) -> None:
    chaos = Chaos(max_poll_records=2, **options)
    for what, number in steps:
        chaos.step(what, number)
    chaos.bench.node.receive(0, Leave(), chaos.now_us, chaos.bench.out)
    chaos.look()
    chaos.wait(chaos.now_us + 31_000_000)
    assert (
        chaos.state.member.phase == "closed"
        and chaos.state.network.connections == {}
        and chaos.state.owned == []
    )
    assert chaos.bench.out.told[-1][0] == "kafka.consumer.closed"

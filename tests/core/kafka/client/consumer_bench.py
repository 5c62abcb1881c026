"""A consumer program on a bench: what it sends is kept, and each answer is given by hand. No broker, no
world."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.assignors.subscription_bytes import write_assignment
from broker_core.kafka.client.group_consumer.consumer import GroupConsumer
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.group_consumer.orders import Start
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from broker_core.sim.program import DONE, Program
from tests.core.playbook import Counted, Played

SECOND = 1_000_000


class Bench:
    """A consumer, its outbox, and who leads what: partition i of topic "t" by broker i % 3 + 1."""

    def __init__(self, partitions: int = 3, epoch: int = 0, **settings: Any) -> None:
        settings = {"topics": ["t"], "auto_offset_reset": "earliest"} | settings
        self.state = ConsumerState(ConsumerSettings("g", "c1", [1], **settings), Program(100))
        self.traffic = Counted()
        self.node = GroupConsumer(self.state, self.traffic)
        self.out: Any = Played("c1")
        self.partitions, self.epoch = partitions, epoch

    def start(self) -> None:
        self.node.receive(0, Start(), 0, self.out)
        self.serve()

    def to(self, kind: type) -> list[tuple[int, Any]]:
        """What was asked of this kind, (connection, request), and take it out of what was sent."""
        found = [(connection, message) for connection, message in self.out.sent if isinstance(message, kind)]
        self.out.sent = [entry for entry in self.out.sent if not isinstance(entry[1], kind)]
        return found

    def answer(self, kind: type, response: Any, now_us: int = 0) -> Any:
        """Answer the first request of this kind. Returns it."""
        found = self.to(kind)
        self.out.sent += found[1:]
        connection, request = found[0]
        self.node.receive(connection, response, now_us, self.out)
        return request

    def metadata(self) -> r.MetadataResponse:
        rows = [
            r.MetadataPartition(i, 0, i % 3 + 1, self.epoch, [1, 2, 3], [1, 2, 3], [])
            for i in range(self.partitions)
        ]
        return r.MetadataResponse(
            [r.MetadataBroker(i) for i in (1, 2, 3)], 1, [r.MetadataTopic("t", 0, rows)]
        )

    def serve(self, now_us: int = 0) -> None:
        """Answer metadata and the search for the coordinator."""
        for kind, response in (
            (r.MetadataRequest, self.metadata()),
            (FindCoordinatorRequest, FindCoordinatorResponse(0, 2)),
        ):
            while any(isinstance(message, kind) for _, message in self.out.sent):
                self.answer(kind, response, now_us)

    def join(
        self, *numbers: int, generation: int = 1, now_us: int = 0, committed: dict[int, int] | None = None
    ) -> None:
        """Through JoinGroup and SyncGroup to positions. committed: of some of the partitions."""
        if not self.state.member.member_id:
            self.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED), now_us)
        self.answer(
            m.JoinGroupRequest,
            m.JoinGroupResponse("c1-id", 0, generation, "consumer", "range", "other"),
            now_us,
        )
        self.answer(
            m.SyncGroupRequest,
            m.SyncGroupResponse(0, "consumer", "range", write_assignment([("t", i) for i in numbers])),
            now_us,
        )
        self.offsets(committed or {}, now_us)

    def offsets(self, committed: dict[int, int], now_us: int = 0) -> None:
        while asked := [message for _, message in self.out.sent if isinstance(message, m.OffsetFetchRequest)]:
            rows = [
                m.FetchedPartition(i, committed.get(i, -1))
                for i in (asked[0].groups[0].topics or [])[0].partition_indexes
            ]
            self.answer(
                m.OffsetFetchRequest,
                m.OffsetFetchResponse([m.OffsetFetchGroupResult("g", [m.FetchedTopicResult("t", rows)])]),
                now_us,
            )
        while listed := [
            message for _, message in self.out.sent if isinstance(message, r.ListOffsetsRequest)
        ]:
            rows_ = [
                r.ListedOffset(part.topic, part.partition, 0, 0, -1, self.epoch)
                for part in listed[0].partitions
            ]
            self.answer(r.ListOffsetsRequest, r.ListOffsetsResponse(rows_), now_us)

    def records(self, partition: int, offset: int, *values: int, now_us: int = 0, code: int = 0) -> None:
        """Answer the fetch that asks for this partition."""
        for connection, request in self.to(r.FetchRequest):
            if any(part.partition == partition for part in request.partitions) and values is not None:
                batches: tuple[LightBatch, ...] = ()
                if values:
                    batches = (
                        light_batch(
                            list(values), timestamp=0, base_offset=offset, partition_leader_epoch=self.epoch
                        ),
                    )
                part = r.FetchedPartition(
                    "t", partition, code, offset + len(values), offset + len(values), 0, batches
                )
                self.node.receive(connection, r.FetchResponse([part]), now_us, self.out)
            else:
                self.out.sent.append((connection, request))

    def done(self, now_us: int = 0) -> None:
        del self.out.deadlines[DONE]
        self.node.wake(DONE, now_us, self.out)


class Server(Bench):
    """A member of the consumer protocol. Its heartbeats are answered by hand."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(group_protocol="consumer", **settings)

    def beat(
        self, epoch: int, numbers: list[int] | None, code: int = 0, now_us: int = 0
    ) -> m.ConsumerGroupHeartbeatRequest:
        assignment = None if numbers is None else m.Assignment([m.TopicPartitions(topic_id("t"), numbers)])
        response = m.ConsumerGroupHeartbeatResponse(code, "m1", epoch, 5_000, assignment)
        request = self.answer(m.ConsumerGroupHeartbeatRequest, response, now_us)
        assert isinstance(request, m.ConsumerGroupHeartbeatRequest)
        self.offsets({}, now_us)
        return request

"""A producer on a bench: what it sends is kept, each answer is given by hand, and chance always falls in the
middle. No broker, no world."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState, Unsent
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play

MILLISECOND, SECOND = 1_000, 1_000_000
HEADER, RECORD = 61, 100
"""Bytes of a batch without records, and of each record that the bench sends."""
TopicPartition = tuple[str, int]


class Middle(Played):
    """An outbox whose chance is in the middle: a back-off is exactly as long as its setting."""

    def draw(self, stream: str, limit: int) -> int:
        return limit // 2


class Heard:
    """What the application was told of its records: acked (base offset, values, attempts), failed (code,
    values)."""

    def __init__(self) -> None:
        self.acked_batches: list[tuple[int, list[int], int]] = []
        self.failures: list[tuple[str, list[int]]] = []

    def acked(
        self,
        producer: str,
        partition: TopicPartition,
        base_offset: int,
        values: list[int],
        attempts: int,
        now_us: int,
    ) -> None:
        self.acked_batches.append((base_offset, values, attempts))

    def failed(
        self, producer: str, partition: TopicPartition, error: ErrorCode, values: list[int], now_us: int
    ) -> None:
        self.failures.append((error.name, values))


class Bench:
    """A producer of topic t whose partition i is led by broker leaders[i], -1: by nobody. With idempotence it
    has id 9 and epoch 3."""

    def __init__(self, leaders: tuple[int, ...] = (0, 0), **options: Any) -> None:
        options = {"enable_idempotence": False} | options
        self.state = ProducerState.of(ProducerSettings(**options))
        self.heard = Heard()
        self.node = ClusterProducer(self.state, self.heard)
        self.out: Any = Middle("p")
        self.leaders, self.epoch = leaders, 0
        self.asked: list[tuple[int, Any]] = []
        self.order(o.Connect([0], ["t"]))
        if options["enable_idempotence"] and options.get("transactional_id") is None:
            self.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 9, 3))
        self.answer(r.MetadataRequest, self.metadata())

    def metadata(self, *, is_error: bool = False) -> r.MetadataResponse:
        if is_error:
            return r.MetadataResponse(
                [], -1, [r.MetadataTopic("t", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])]
            )
        rows = [
            r.MetadataPartition(
                number,
                0 if leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                leader,
                self.epoch,
                [0, 1],
                [0, 1],
                [],
            )
            for number, leader in enumerate(self.leaders)
        ]
        brokers = [r.MetadataBroker(number) for number in sorted({0, *self.leaders} - {-1})]
        return r.MetadataResponse(brokers, 0, [r.MetadataTopic("t", 0, rows)])

    # --- what reaches it

    def order(self, order: Any, now_us: int = 0) -> None:
        self.asked += play(self.node, self.out, PERSON, order, now_us=now_us)

    def send(
        self, *values: int, partition: int = 0, now_us: int = 0, size: int = RECORD, key_hash: int = -1
    ) -> None:
        for value in values:
            self.node.send(Unsent(value, "t", key_hash, partition, size), now_us, self.out)
        self.asked += self.out.take()

    def wake(self, now_us: int) -> None:
        self.out.deadlines.pop("sender", None)
        self.node.wake("sender", now_us, self.out)
        self.asked += self.out.take()

    def answer(self, kind: type, response: Any, now_us: int = 0, broker: int | None = None) -> Any:
        """Answer the oldest request of this kind, at this broker. Returns it. A connection answers in the
        order of its requests."""
        place = next(
            place for place, (connection, message) in enumerate(self.asked)
            if isinstance(message, kind) and broker in (None, self.broker_of(connection))
        )  # fmt: skip
        connection, request = self.asked.pop(place)
        assert all(earlier != connection for earlier, _ in self.asked[:place]), (
            "an older request of the connection has no answer"
        )
        self.asked += play(self.node, self.out, connection, response, now_us=now_us)
        return request

    def produced(
        self,
        *codes: int,
        now_us: int = 0,
        broker: int | None = None,
        base_offset: int = 0,
        log_start: int = 0,
    ) -> Any:
        """Answer the oldest produce: a code for each of its partitions; none: all went well."""
        request = next(
            message for connection, message in self.asked
            if isinstance(message, r.ProduceRequest) and broker in (None, self.broker_of(connection))
        )  # fmt: skip
        parts = [
            r.ProducedPartition(part.topic, part.index, code, -1 if code else base_offset, log_start)
            for part, code in zip(request.partitions, codes or (0,) * len(request.partitions), strict=True)
        ]
        return self.answer(r.ProduceRequest, r.ProduceResponse(parts), now_us, broker)

    def refresh(self, now_us: int = 0) -> None:
        """The metadata that it asks for come."""
        self.answer(r.MetadataRequest, self.metadata(), now_us)

    def breaks(self, broker: int, now_us: int = 0) -> None:
        """Its connection to a broker breaks."""
        connection = self.state.links[broker].connection
        self.asked = [(other, message) for other, message in self.asked if other != connection]
        self.asked += play(self.node, self.out, connection, Closed("reset"), now_us=now_us)

    # --- what came of it

    def broker_of(self, connection: int) -> int:
        return int(self.out.connected[connection].removeprefix("broker-"))

    def waiting(self, kind: type) -> list[Any]:
        """Requests of this kind without an answer, oldest first."""
        return [message for _, message in self.asked if isinstance(message, kind)]

    def produces(self) -> list[tuple[int, dict[int, list[int]]]]:
        """Produces without an answer: (broker, partition -> values)."""
        return [
            (
                self.broker_of(connection),
                {part.index: list(part.records.values) for part in message.partitions},
            )
            for connection, message in self.asked
            if isinstance(message, r.ProduceRequest)
        ]

    def headers(self) -> list[tuple[int, int, int]]:
        """Of each batch on its way: (producer id, epoch, first sequence)."""
        return [
            (
                part.records.header.producer_id,
                part.records.header.producer_epoch,
                part.records.header.base_sequence,
            )
            for request in self.waiting(r.ProduceRequest)
            for part in request.partitions
        ]

    def kinds(self) -> list[str]:
        return [kind.removeprefix("kafka.producer.") for kind, _ in self.out.told]

    @property
    def deadline(self) -> int:
        return int(self.out.deadlines["sender"])

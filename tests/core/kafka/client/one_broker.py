"""A broker that leads all partitions on its own, for the producer's tests: real logs, one request at a time
on a connection, no replicas."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.sim.node import Closed


@dataclass(slots=True)
class OneBrokerState:
    """refuse: error codes that the next produces get, without an append. swallow: with the next so many
    produces the way back of their connection breaks: they are taken, and nothing is answered there any more
    (`silent`)."""

    partitions: int = 2
    logs: dict[int, LightLog] = field(default_factory=dict)
    refuse: list[int] = field(default_factory=list)
    swallow: int = 0
    silent: dict[int, None] = field(default_factory=dict)
    ids_given: int = 0

    def log(self, number: int) -> LightLog:
        if number not in self.logs:
            self.logs[number] = LightLog.begin(now_ms=0, high_watermark=None)
        return self.logs[number]

    def values(self, number: int) -> list[int]:
        return [
            value
            for batch in self.log(number).batches()
            if not batch.header.is_control
            for value in batch.values
        ]


class OneBroker:
    def __init__(self, state: OneBrokerState) -> None:
        self.state = state

    def wake(self, name: str, now_us: int, out: Any) -> None: ...

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        state = self.state
        if isinstance(message, Closed):
            state.silent.pop(connection, None)
        elif isinstance(message, r.MetadataRequest):
            partitions = [
                r.MetadataPartition(number, 0, 0, 0, [0], [0], []) for number in range(state.partitions)
            ]
            topics = [r.MetadataTopic(topic, 0, partitions) for topic in message.topics or ()]
            self._answer(connection, out, r.MetadataResponse([r.MetadataBroker(0)], 0, topics))
        elif isinstance(message, t.InitProducerIdRequest):
            state.ids_given += 1
            self._answer(connection, out, t.InitProducerIdResponse(0, 100 + state.ids_given, 0))
        elif isinstance(message, r.ProduceRequest):
            answers = [self._append(part, now_us) for part in message.partitions]
            if state.swallow:
                state.swallow -= 1
                state.silent[connection] = None
            if message.acks:
                self._answer(connection, out, r.ProduceResponse(answers))

    def _answer(self, connection: int, out: Any, response: Any) -> None:
        if connection not in self.state.silent:
            out.send(connection, response)

    def _append(self, part: r.ProducePartition, now_us: int) -> r.ProducedPartition:
        if self.state.refuse:
            return r.ProducedPartition(part.topic, part.index, self.state.refuse.pop(0))
        try:
            appended = self.state.log(part.index).append(part.records, now_ms=now_us // 1000)
        except LogError as error:
            return r.ProducedPartition(part.topic, part.index, error.code, log_start_offset=0)
        return r.ProducedPartition(part.topic, part.index, 0, appended.first_offset, 0)

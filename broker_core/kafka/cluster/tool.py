"""An operator's tool, connected to the controller (`--bootstrap-controller`): it sends what a person orders,
and tells what is refused.

Source: Kafka 3.9 tools TopicCommand, LeaderElectionCommand, ReassignPartitionsCommand, clients
KafkaAdminClient.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.events import Json
from broker_core.kafka.cluster.control_requests import ControlResponse, CreateTopicsRequest, ToolRequest
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed, Outbox

RETRY_MS = 100
"""`retry.backoff.ms`: a topic that cannot be placed yet, because brokers are not there, is tried again."""
RETRIES_MAX = 100


class Order(msgspec.Struct, frozen=True, tag="kafka.cluster.tool.order", array_like=True):
    """A person sends this request to the controller, now or after a while."""

    request: ToolRequest
    delay_ms: int = 0


@dataclass(slots=True)
class ToolState:
    """asked: requests not answered yet, in their order. again: to be sent when a moment has passed."""

    connection: int = 0
    asked: deque[ToolRequest] = field(default_factory=deque)
    again: deque[ToolRequest] = field(default_factory=deque)
    retries: int = 0


class Tool:
    def __init__(self, state: ToolState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case Order(request, 0):
                self.send(request, out)
            case Order(request, delay_ms):
                self.state.again.append(request)
                out.deadline("again", now_us + delay_ms * 1_000)
            case ControlResponse():
                self.answered(self.state.asked.popleft(), message, now_us, out)
            case Closed():
                self.state.connection = 0
                self.state.asked.clear()

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        again = self.state.again
        while again:
            self.send(again.popleft(), out)

    def send(self, request: ToolRequest, out: Outbox) -> None:
        state = self.state
        if not state.connection:
            state.connection = out.connect(CONTROLLER)
        state.asked.append(request)
        out.send(state.connection, request)

    def answered(self, request: ToolRequest, answer: ControlResponse, now_us: int, out: Outbox) -> None:
        state = self.state
        is_early = (
            answer.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
            or answer.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        )
        if isinstance(request, CreateTopicsRequest) and is_early and state.retries < RETRIES_MAX:
            state.retries += 1
            state.again.append(request)
            out.deadline("again", now_us + RETRY_MS * 1_000)
            return
        if answer.error_code:
            data: Json = {
                "request": type(request).__name__,
                "error": ErrorCode(answer.error_code).name,
                "message": answer.error_message,
            }
            out.tell("kafka.controller.refused", "kafka.controller.refused", {}, data)
        for topic, number, code in answer.results:
            if code:
                data = {
                    "request": type(request).__name__,
                    "error": ErrorCode(code).name,
                    "topic": topic,
                    "partition": number,
                }
                out.tell("kafka.controller.refused", "kafka.controller.refused", {}, data)

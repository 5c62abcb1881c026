"""Overhears where a RabbitMQ broker's messages go, and keeps it in the notes (`paths.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.lab.rabbitmq.paths import (
    DELIVERED,
    DIED,
    DROPPED,
    GIVEN_BACK,
    PUBLISHED,
    REFUSED,
    RETURNED,
    SETTLED,
    go_on,
)
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq.messages import FIRST_STORED
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE


class PathEar:
    """A lane's ear at its broker."""

    def __init__(self, lane: Lane, reads: RabbitMqReading) -> None:
        self.lane, self.reads = lane, reads

    def published(
        self, program: str, message: int, routing_key: str, queues: Sequence[str], is_returned: bool
    ) -> None:
        record, exchange = message, DEFAULT_EXCHANGE
        if message >= FIRST_STORED:
            stored = self.reads.broker().messages.at[message]
            record, exchange, routing_key = stored.content.message, stored.exchange, stored.routing_keys[0]
            if record < 0:
                return
        step = (self.lane.world.now_us, PUBLISHED, program, exchange, routing_key, list(queues))
        self.reads.notes.paths.published(record, step)
        if is_returned:
            self._add(message, RETURNED, program)

    def refused(self, message: int, queue: str) -> None:
        self._add(message, REFUSED, queue)

    def delivered(self, program: str, message: int, queue: str, redelivered: bool, needs_ack: bool) -> None:
        self._add(message, DELIVERED, program, queue, redelivered, needs_ack)

    def settled(self, program: str, message: int, queue: str, how: str) -> None:
        if how in SETTLED:
            self._add(message, how, program, queue)
        else:
            self._add(message, GIVEN_BACK, program, queue, how)

    def died(
        self, message: int, queue: str, reason: str, exchange: str | None, queues: Sequence[str]
    ) -> None:
        self._add(message, DIED, queue, reason, exchange, list(queues))

    def dropped(self, message: int, queue: str, reason: str) -> None:
        self._add(message, DROPPED, queue, reason)

    def _add(self, message: int, *step: Any) -> None:
        record = message if message < FIRST_STORED else self.reads.record(message)
        steps = self.reads.notes.paths.of(record)
        if steps is not None:
            go_on(steps, (self.lane.world.now_us, *step))

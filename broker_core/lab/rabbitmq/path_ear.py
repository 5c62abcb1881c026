"""Overhears where a RabbitMQ broker's messages go, and keeps it in the notes (`paths.py`, `counts.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.events import Json
from broker_core.lab.rabbitmq import counts
from broker_core.lab.rabbitmq.paths import (
    DELIVERED,
    DIED,
    DROPPED,
    GIVEN_BACK,
    PUBLISHED,
    REFUSED,
    RETURNED,
    go_on,
)
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq.exchanges.consistent_hash import PROPERTIES as HASHED
from broker_core.rabbitmq.messages import FIRST_STORED, Stored
from broker_core.rabbitmq.values import Table
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE

X_DEATH = "x-death"
Routed = tuple[str, str, list[str], Table | None, Json | None, int]
"""Of a message at an exchange: virtual host, exchange, routing keys, headers, properties that an exchange may hash, and the
virtual host's `changes`."""


class PathEar:
    """A lane's ear at its broker."""

    def __init__(self, lane: Lane, reads: RabbitMqReading) -> None:
        self.lane, self.reads = lane, reads

    def hears(self, method: Any) -> None:
        """The methods of the lab's own programs say no more than what they do."""

    def said(self, kind: str, method: Any = None) -> tuple[Json, ...]:
        """The method behind a step, for whoever shows it."""
        return ()

    def published(
        self,
        connection: int,
        program: str,
        vhost: str,
        message: int,
        routing_key: str,
        queues: list[str],
        is_returned: bool,
    ) -> None:
        record = message
        routed: Routed = (vhost, DEFAULT_EXCHANGE, [routing_key], None, None, 0)
        if message >= FIRST_STORED:
            record = self.reads.record(message)
            routed = self._routed(vhost, self.reads.broker().messages.at[message])
        notes = self.reads.notes
        notes.counts.published(vhost, routed[1], bool(queues), is_returned)
        if record < 0:
            return
        step = (self.lane.world.now_us, PUBLISHED, program, *routed, queues, *self.said(PUBLISHED))
        notes.paths.published(record, step)
        if is_returned:
            self._add(message, RETURNED, program)

    def refused(self, message: int, queue: str) -> None:
        self._add(message, REFUSED, queue)

    def delivered(
        self,
        program: str,
        vhost: str,
        message: int,
        queue: str,
        redelivered: bool,
        needs_ack: bool,
        method: Any,
    ) -> None:
        if not needs_ack:
            self.reads.notes.counts.took(vhost, program, counts.AUTO)
        self._add(message, DELIVERED, program, queue, redelivered, needs_ack, *self.said(DELIVERED, method))

    def settled(self, program: str, vhost: str, message: int, queue: str, how: str) -> None:
        what = counts.SETTLED.get(how)
        if what is None:
            self._add(message, GIVEN_BACK, program, queue, how)
        else:
            self.reads.notes.counts.took(vhost, program, what)
            self._add(message, how, program, queue, *self.said(how))

    def died(
        self, message: int, vhost: str, queue: str, reason: str, copy: Stored | None, queues: Sequence[str]
    ) -> None:
        routed = (vhost, None, [], None, None, 0) if copy is None else self._routed(vhost, copy)
        if copy is not None:
            self.reads.notes.counts.died(vhost, copy.exchange, bool(queues))
        self._add(message, DIED, queue, reason, *routed, list(queues))

    def dropped(self, message: int, queue: str, reason: str) -> None:
        self._add(message, DROPPED, queue, reason)

    def _routed(self, vhost: str, stored: Stored) -> Routed:
        properties = stored.content.properties
        headers = properties.headers
        if headers and X_DEATH in headers:  # the path says it
            headers = {name: value for name, value in headers.items() if name != X_DEATH}
        changes = self.reads.broker().vhosts[vhost].changes
        own = {name: value for name in HASHED if (value := getattr(properties, name)) is not None}
        return vhost, stored.exchange, stored.routing_keys, headers or None, own or None, changes

    def _add(self, message: int, *step: Any) -> None:
        record = message if message < FIRST_STORED else self.reads.record(message)
        steps = self.reads.notes.paths.of(record)
        if steps is not None:
            go_on(steps, (self.lane.world.now_us, *step))

"""What a queue's arguments say, read once."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.rabbitmq.arguments import DROP_HEAD
from broker_core.rabbitmq.values import Table, bare


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """None: no limit. ttl_ms, expires_ms: of messages, and of the queue while nobody uses it. dead_letter_exchange:
    None for no dead-lettering; dead_letter_key: None keeps the message's own."""

    max_length: int | None
    max_bytes: int | None
    overflow: str
    ttl_ms: int | None
    expires_ms: int | None
    dead_letter_exchange: str | None
    dead_letter_key: str | None
    max_priority: int
    is_single_active: bool

    @property
    def is_limited(self) -> bool:
        return self.max_length is not None or self.max_bytes is not None


def settings_of(arguments: Table) -> QueueSettings:
    """arguments: checked."""
    values = {name: bare(value) for name, value in arguments.items()}
    return QueueSettings(
        values.get("x-max-length"),
        values.get("x-max-length-bytes"),
        values.get("x-overflow", DROP_HEAD),
        values.get("x-message-ttl"),
        values.get("x-expires"),
        values.get("x-dead-letter-exchange"),
        values.get("x-dead-letter-routing-key"),
        values.get("x-max-priority", 0),
        values.get("x-single-active-consumer", False),
    )

"""What the records of a lane are to its brokers' cleaners: a value is a message's id, its key the message's.

A tombstone is a record that a person sends with a key and no value; an empty payload is a value, too.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from broker_core.kafka.log.record import record_size
from broker_core.lab.messages import MessageId, Messages
from broker_core.lab.workload.live_keys import NO_KEY


def sizes_of(messages: Messages, message: MessageId) -> tuple[int, int]:
    """Bytes of its key and its value; -1: it has none."""
    code = messages.key_code(message)
    value = messages.size(message) if messages.has_value(message) else -1
    return -1 if code == NO_KEY else len(messages.key_bytes(code)), value


class MessageContents:
    """`RecordContents` of ids."""

    def __init__(self, messages: Messages) -> None:
        self.messages = messages

    def key(self, value: Any) -> Hashable | None:
        code = self.messages.key_code(value) if isinstance(value, int) else NO_KEY
        return None if code == NO_KEY else code

    def is_tombstone(self, value: Any) -> bool:
        return isinstance(value, int) and not self.messages.has_value(value) and self.key(value) is not None

    def size(self, value: Any, offset_delta: int, time_delta: int) -> int:
        return record_size(*sizes_of(self.messages, value), offset_delta, time_delta)

"""What a message says of itself: the 14 properties, and a message's content on its way.

Source: AMQP 0-9-1, class basic.
"""

from __future__ import annotations

import msgspec

from broker_core.rabbitmq.values import Table

TRANSIENT, PERSISTENT = 1, 2
"""delivery_mode."""


class Properties(msgspec.Struct, omit_defaults=True, frozen=True):
    """In the order of their flags on the wire; None: not there. timestamp: seconds. expiration: milliseconds, as
    digits."""

    content_type: str | None = None
    content_encoding: str | None = None
    headers: Table | None = None
    delivery_mode: int | None = None
    priority: int | None = None
    correlation_id: str | None = None
    reply_to: str | None = None
    expiration: str | None = None
    message_id: str | None = None
    timestamp: int | None = None
    type: str | None = None
    user_id: str | None = None
    app_id: str | None = None
    cluster_id: str | None = None


NO_PROPERTIES = Properties()


class Content(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A message on its way. message: number of the workload's or a person's message that this is, -1 for a real client's.
    body: where a real client sends or may read it; else it is worked out from the number by whoever looks at it."""

    properties: Properties = NO_PROPERTIES
    body: bytes = b""
    message: int = -1


def number_of(message: int | Content) -> int:
    """The workload's number of a message on its way, -1 for one that is not the workload's."""
    return message.message if isinstance(message, Content) else message

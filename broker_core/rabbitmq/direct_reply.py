"""Direct replies: a channel that consumes from a queue which is none, and addresses that lead straight to it.

Source: RabbitMQ 3.10 rabbit_channel; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json (direct-reply-to).
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.refusals import precondition

REPLY_TO = "amq.rabbitmq.reply-to"


def is_reply_key(routing_key: str) -> bool:
    """Whether a routing key of the default exchange is the address of a channel."""
    return routing_key.startswith(f"{REPLY_TO}.")


def reply_to_of(channel: Channel) -> str:
    """The address that a channel's wish for direct replies stands for. Raises Refused where it does not wait for
    any."""
    if not channel.reply_tag:
        raise precondition("fast reply consumer does not exist")
    return f"{REPLY_TO}.{channel.name}.{channel.reply_key}"


def answered_by(channels: Mapping[str, Channel], routing_key: str) -> Channel | None:
    """The channel that an address leads to, if it is still there."""
    name, _, key = routing_key.removeprefix(f"{REPLY_TO}.").rpartition(".")
    channel = channels.get(name)
    return channel if channel is not None and channel.reply_tag and channel.reply_key == key else None

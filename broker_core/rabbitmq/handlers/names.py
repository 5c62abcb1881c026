"""Queues and exchanges by the names that clients give them.

Source: RabbitMQ 3.10 rabbit_channel, rabbit_amqqueue; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.refusals import Refused, access_refused, not_found


def stripped(name: str) -> str:
    """Line ends are no part of a name."""
    return name.replace("\n", "").replace("\r", "")


def queue_text(known: Connection, name: str) -> str:
    """As refusals name it."""
    return f"queue '{name}' in vhost '{known.vhost}'"


def exchange_text(known: Connection, name: str) -> str:
    return f"exchange '{name}' in vhost '{known.vhost}'"


def meant_queue(channel: Channel, name: str) -> str:
    """An empty name means the queue that was declared last on this channel. Raises Refused where there is none."""
    found = stripped(name) or channel.last_queue
    if not found:
        raise not_found("no previously declared queue")
    return found


def check_owner(queue: ClassicQueue, channel: Channel, known: Connection) -> None:
    """Raises Refused for a queue that another connection has alone."""
    if queue.state.owner not in (0, channel.connection):
        raise locked(known, queue.name)


def locked(known: Connection, name: str) -> Refused:
    return Refused(
        codes.RESOURCE_LOCKED,
        f"cannot obtain exclusive access to locked {queue_text(known, name)}. It could be originally declared on "
        "another connection or the exclusive property value does not match that of the original declaration.",
    )


def existing_queue(broker: BrokerBase, known: Connection, channel: Channel, name: str) -> ClassicQueue:
    """Raises Refused where it is not there, or another connection's."""
    queue = broker.vhost_of(known).queues.get(name)
    if queue is None:
        raise not_found(f"no {queue_text(known, name)}")
    check_owner(queue, channel, known)
    return queue


def check_not_default(name: str) -> None:
    """Raises Refused for the default exchange."""
    if not name:
        raise access_refused("operation not permitted on the default exchange")


def check_not_reserved(kind: str, name: str) -> None:
    """Raises Refused for what only the server names so."""
    if name.startswith("amq."):
        raise access_refused(f"{kind} name '{name}' contains reserved prefix 'amq.*'")

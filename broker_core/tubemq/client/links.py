"""A client's connections to its brokers, each opened when it is needed; its master's are in `master_link.py`.

A connection that broke is opened again with the next request to that broker: to one that is down it would only break
again.
"""

from __future__ import annotations

from broker_core.sim.node import Outbox
from broker_core.tubemq.client.consumer_object import BaseConsumer


def link_to(state: BaseConsumer, broker_id: int, out: Outbox) -> int:
    """The connection to a broker."""
    connection = state.links.get(broker_id)
    if connection is None:
        connection = state.links[broker_id] = out.connect(state.brokers[broker_id])
    return connection


def forget_link(state: BaseConsumer, connection: int) -> int | None:
    """The connection broke. Gives the broker's id, None if it is an old one."""
    for broker_id, number in state.links.items():
        if number == connection:
            del state.links[broker_id]
            return broker_id
    return None


def close_links(state: BaseConsumer, out: Outbox) -> None:
    """The process ends."""
    for connection in state.links.values():
        out.close(connection)
    state.links.clear()
    state.masters.close(out)

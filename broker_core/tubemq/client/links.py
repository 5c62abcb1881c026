"""A client's connections to its master and its brokers, each opened when it is needed.

A connection that broke is opened again with the next request to that node: to a broker that is down it would only
break again. Of several masters one answers; from a standby, or one that is gone, the client turns to the next.
"""

from __future__ import annotations

from broker_core.sim.node import Outbox
from broker_core.tubemq.client.consumer_object import MASTER_LINK, ConsumerObject


def link_to(state: ConsumerObject, broker_id: int, out: Outbox) -> int:
    """The connection to a broker, or (MASTER_LINK) to the master."""
    connection = state.links.get(broker_id)
    if connection is None:
        name = state.masters[state.master] if broker_id == MASTER_LINK else state.brokers[broker_id]
        connection = state.links[broker_id] = out.connect(name)
    return connection


def forget_link(state: ConsumerObject, connection: int) -> int | None:
    """The connection broke. Gives the broker's id, MASTER_LINK for the master's, None if it is an old one."""
    for broker_id, number in state.links.items():
        if number == connection:
            del state.links[broker_id]
            return broker_id
    return None


def next_master(state: ConsumerObject, out: Outbox) -> None:
    """From now on the client asks the next master on its list."""
    connection = state.links.pop(MASTER_LINK, None)
    if connection is not None:
        out.close(connection)
    state.master = (state.master + 1) % max(1, len(state.masters))


def close_links(state: ConsumerObject, out: Outbox) -> None:
    """The process ends."""
    for connection in state.links.values():
        out.close(connection)
    state.links.clear()

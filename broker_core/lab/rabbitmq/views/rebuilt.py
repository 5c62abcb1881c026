"""An exchange of a virtual host's graph as the broker's own type, to ask it what it would do.

The bindings come in the order in which they have their buckets, which only a consistent-hash exchange has; there one
without any is idle. A view that an older version has stored knows no buckets.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.events import Json
from broker_core.rabbitmq.exchanges import ExchangeType
from broker_core.rabbitmq.exchanges.consistent_hash import ConsistentHash


def bind_all(exchange: ExchangeType, edges: Iterable[Json]) -> None:
    """edges: of the panel, those whose source the exchange is."""
    has_buckets = isinstance(exchange, ConsistentHash)
    for each in sorted(edges, key=lambda edge: int(edge.get("first_bucket", 0))):
        exchange.bind(
            (each["kind"], each["destination"]),
            each["routing_key"],
            each["arguments"],
            is_idle=has_buckets and not each.get("buckets"),
        )

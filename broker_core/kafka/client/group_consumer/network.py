"""A consumer's connections: one to each broker that it fetches from, one of its own to the coordinator, and
what is in flight on them.

A request that is not answered within its time-out breaks its connection, as NetworkClient does; everything
that was in flight there fails. An answer goes to the oldest request in flight that it can belong to: a parked
JoinGroup may be answered after a later request.

Source: Kafka 3.9 clients NetworkClient, ConsumerNetworkClient (the coordinator has a connection of its own).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import MILLISECOND_US
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.group.overhearing import Overhears
from broker_core.sim.node import Outbox

COORDINATOR = -1
"""In place of a broker's id: the connection to the coordinator."""
TIMEOUT = "request"
RECONNECT_BACKOFF_US = 50_000
"""`reconnect.backoff.ms`; the original doubles it up to 1 s while nobody is there, with a random part."""


@dataclass(slots=True)
class InFlight:
    """answer: name of the class that answers it. what: why it was asked, for who takes the answer."""

    answer: str
    what: str
    until_us: int


@dataclass(slots=True)
class NetworkState:
    """connections: broker id -> connection. in_flight: connection -> requests, the oldest first. broker_of:
    connection -> broker id, or COORDINATOR. broken_us: broker id -> when a connection to it broke last."""

    connections: dict[int, int] = field(default_factory=dict)
    in_flight: dict[int, deque[InFlight]] = field(default_factory=dict)
    broker_of: dict[int, int] = field(default_factory=dict)
    broken_us: dict[int, int] = field(default_factory=dict)


class Network:
    """client_id: of the consumer, for who listens. overhears: hears of its requests and their answers."""

    def __init__(
        self,
        state: NetworkState,
        request_timeout_ms: int,
        client_id: str = "",
        overhears: Overhears | None = None,
    ) -> None:
        self.state, self.client_id, self.overhears = state, client_id, overhears
        self.timeout_us = request_timeout_ms * MILLISECOND_US

    def ask(
        self,
        broker: int,
        request: Any,
        answer: type,
        what: str,
        now_us: int,
        out: Outbox,
        *,
        node: str = "",
        longer_us: int = 0,
    ) -> None:
        """Send a request, connecting first if need be. node: whom COORDINATOR is. longer_us: beyond the usual
        time-out."""
        state = self.state
        connection = state.connections.get(broker)
        if connection is None:
            connection = out.connect(node or broker_node(broker))
            state.connections[broker] = connection
            state.broker_of[connection] = broker
            state.in_flight[connection] = deque()
        in_flight = state.in_flight[connection]
        until_us = now_us + self.timeout_us + longer_us
        if not in_flight:
            self._watch(connection, until_us, out)
        in_flight.append(InFlight(answer.__name__, what, until_us))
        if self.overhears is not None:
            self.overhears.sent(self.client_id, connection, request)
        out.send(connection, request)

    def is_backing_off(self, broker: int, now_us: int, for_us: int = RECONNECT_BACKOFF_US) -> bool:
        """Whether a connection to it has just broken, so that no other one is opened yet: its process may be
        gone, and would refuse it."""
        broken_us = self.state.broken_us.get(broker)
        return broken_us is not None and now_us - broken_us < for_us

    def least_loaded(self, brokers: Sequence[int], now_us: int) -> int | None:
        """Whom to ask what any of these brokers can answer: the first of those with the fewest requests in
        flight, else the first to connect to; None: none just now. Source: NetworkClient.leastLoadedNode,
        which begins at a place drawn at random."""
        state = self.state
        connected = [broker for broker in brokers if broker in state.connections]
        if connected:
            return min(connected, key=lambda broker: len(state.in_flight[state.connections[broker]]))
        return next((broker for broker in brokers if not self.is_backing_off(broker, now_us)), None)

    def _watch(self, connection: int, until_us: int, out: Outbox) -> None:
        out.deadline(f"{TIMEOUT}:{connection}", until_us)

    def answered(self, connection: int, message: Any) -> str | None:
        """What a message answers; None for one on a connection that is no more."""
        in_flight = self.state.in_flight.get(connection)
        if in_flight is None:
            return None
        name = type(message).__name__
        for place, request in enumerate(in_flight):
            if request.answer == name:
                del in_flight[place]
                if self.overhears is not None:
                    self.overhears.received(connection, message)
                return request.what
        return None

    def wake(self, connection: int, now_us: int, out: Outbox) -> list[str]:
        """A time-out may be due. Returns what was in flight on the connection that it breaks; [] if all is
        well."""
        in_flight = self.state.in_flight.get(connection)
        if not in_flight:
            return []
        first_us = min(request.until_us for request in in_flight)
        if first_us > now_us:
            self._watch(connection, first_us, out)
            return []
        out.close(connection)
        return self.lost(connection)

    def lost(self, connection: int) -> list[str]:
        """The connection is no more. Returns what was in flight on it."""
        state = self.state
        broker = state.broker_of.pop(connection, None)
        if broker is None:
            return []
        if self.overhears is not None:
            self.overhears.lost(connection)
        if state.connections.get(broker) == connection:
            del state.connections[broker]
        return [request.what for request in state.in_flight.pop(connection)]

    def close(self, broker: int, out: Outbox) -> list[str]:
        """Close the connection to a broker, if there is one. Returns what was in flight on it."""
        connection = self.state.connections.get(broker)
        if connection is None:
            return []
        out.close(connection)
        return self.lost(connection)

"""A producer's connections: one to each broker, answers in the order of the requests, and how a broken one is
noticed.

    request ─► flights of the link ─► answer: the oldest one
                     └─ older than request.timeout.ms, or the connection is reset ─► every request on it is lost; back off, connect again

A connection is open at once; whether a broker is there shows when an answer does not come.
Source: Kafka 3.9 clients NetworkClient, ClusterConnectionStates (reconnect.backoff.ms 50,
reconnect.backoff.max.ms 1000).
"""

from __future__ import annotations

from typing import Any

from broker_core.kafka.client.producer.settings import JITTER, backoff_us
from broker_core.kafka.client.producer.state import Flight, Link, Peer, ProducerState
from broker_core.kafka.cluster.names import broker_node
from broker_core.sim.node import Outbox

RECONNECT_BACKOFF_US, RECONNECT_BACKOFF_MAX_US = 50_000, 1_000_000
BACKOFF_STREAM = "kafka.producer.backoff"


def peer(state: ProducerState, broker: int) -> Peer:
    found = state.peers.get(broker)
    if found is None:
        found = state.peers[broker] = Peer()
    return found


def usable(state: ProducerState, broker: int, now_us: int, out: Outbox) -> Link | None:
    """The connection to a broker, opened if need be; None: it must be left alone for now, or takes no more
    requests."""
    link = state.links.get(broker)
    if link is None:
        if peer(state, broker).connect_at_us > now_us:
            return None
        link = state.links[broker] = Link(out.connect(broker_node(broker)))
    return link if len(link.flights) < state.settings.max_in_flight else None


def least_loaded(state: ProducerState, now_us: int, out: Outbox) -> int | None:
    """A broker for a question that any can answer: connected and least busy, else one to connect to; None:
    none just now."""
    limit = state.settings.max_in_flight
    busy = [(len(link.flights), broker) for broker, link in state.links.items() if len(link.flights) < limit]
    if busy:
        return min(busy)[1]
    known = state.metadata.brokers or state.bootstrap
    others = [
        broker
        for broker in known
        if broker not in state.links and peer(state, broker).connect_at_us <= now_us
    ]
    return others[out.draw("kafka.producer.node", len(others))] if others else None


def send(state: ProducerState, broker: int, message: Any, flight: Flight | None, out: Outbox) -> None:
    """Send on the link to a broker. flight: None: no answer will come."""
    link = state.links[broker]
    out.send(link.connection, message)
    if flight is not None:
        link.flights.append(flight)


def answered(state: ProducerState, connection: int) -> tuple[int, Flight] | None:
    """Whose request a message on this connection answers: (broker, request); None: of a connection that was
    given up."""
    for broker, link in state.links.items():
        if link.connection == connection:
            peer(state, broker).failures = 0
            return broker, link.flights.popleft()
    return None


def overdue(state: ProducerState, now_us: int) -> list[int]:
    """Brokers whose oldest request has had no answer for request.timeout.ms."""
    limit = state.settings.request_timeout_us
    return [
        broker
        for broker, link in state.links.items()
        if link.flights and now_us - link.flights[0].sent_us >= limit
    ]


def disconnected(state: ProducerState, broker: int, now_us: int, out: Outbox) -> list[Flight]:
    """The connection to a broker is no more. Gives the requests that will have no answer, oldest first."""
    link = state.links.pop(broker)
    there = peer(state, broker)
    wait = backoff_us(
        RECONNECT_BACKOFF_US, RECONNECT_BACKOFF_MAX_US, there.failures, out.draw(BACKOFF_STREAM, JITTER)
    )
    there.failures += 1
    there.connect_at_us = now_us + wait
    return list(link.flights)

"""The broker as a node: connections and their channels in front, queues at the back, a handler for each
method (`handlers.py`).

    connection ─ channel ─ consumer ──► queue (whose turn, prefetch, requeue: queue.py)

Source: RabbitMQ 3.10.8, docs/rabbitmq/facts.md. Vectors of its queue: rabbitmq/dispatch.json.
"""

from __future__ import annotations

from typing import Any

from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase, BrokerState
from broker_core.rabbitmq.channel import TICK_INTERVAL_US, Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.handlers import CHANNEL_HANDLERS, CONNECTION_HANDLERS
from broker_core.sim.node import Closed, Opened, Outbox

TIMED_OUT = "rabbitmq.channel.consumer_timeout"


class Broker(BrokerBase):
    def __init__(self, state: BrokerState) -> None:
        super().__init__(state)
        self.handler_of = dict(CHANNEL_HANDLERS).get  # a plain dict is twice as fast

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        handler = self.handler_of(type(message))
        if handler is not None:
            known = self.connections[connection]
            known.was_heard = True
            known.is_running = True
            channel = known.channels.get(message.channel)
            if channel is not None:
                handler(self, known, channel, message, now_us, out)
            else:
                self.without_channel(known, connection, message, now_us, out)
        elif (connection_handler := CONNECTION_HANDLERS.get(type(message))) is not None:
            known = self.connections[connection]
            known.was_heard = True
            connection_handler(self, known, connection, message, now_us, out)
        elif type(message) is Opened:
            self.state.connections[connection] = Connection(message.peer, now_us)
            out.deadline(f"heartbeat:{connection}", now_us + self.state.heartbeat_us)
        elif type(message) is Closed:
            self.drop(connection, "rabbitmq.connection.closed_by_peer", now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        kind, _, of = name.partition(":")
        if kind == "tick":
            connection, number = map(int, of.split("."))
            self.look_at_oldest_delivery(self.connections[connection].channels[number], now_us, out)
        else:
            self.look_for_signs_of_life(int(of), now_us, out)

    def look_for_signs_of_life(self, connection: int, now_us: int, out: Outbox) -> None:
        known = self.connections[connection]
        if not known.look():
            out.deadline(f"heartbeat:{connection}", now_us + self.state.heartbeat_us)
            return
        out.blame_silence(connection)
        out.tell(
            "rabbitmq.connection.missed_heartbeats",
            "rabbitmq.heartbeat.two_silent_checks",
            {"heartbeat_us": self.state.heartbeat_us},
            {
                "consumer": known.name,
                "connection": connection,
                "unacked": known.unacked_count(),
                "unacked_in_all": sum(other.unacked_count() for other in self.state.connections.values()),
            },
        )
        out.close(connection)
        self.drop(connection, "rabbitmq.connection.missed_heartbeats", now_us, out)

    def look_at_oldest_delivery(self, channel: Channel, now_us: int, out: Outbox) -> None:
        """One tick of a channel. Where its oldest delivery has waited for too long, that is a channel
        exception."""
        timeout_us = self.state.consumer_timeout_us
        if timeout_us is None or not channel.is_timed_out(timeout_us, now_us):
            out.deadline(channel.tick, now_us + TICK_INTERVAL_US)
            return
        text = (
            f"PRECONDITION_FAILED - delivery acknowledgement on channel {channel.number} timed out. "
            f"Timeout value used: {timeout_us // 1_000} ms. "
            "This timeout value can be configured, see consumers doc guide to learn more"
        )
        known = self.connections[channel.connection]
        out.tell(
            "rabbitmq.channel.timed_out",
            TIMED_OUT,
            {"consumer_timeout_us": timeout_us},
            {"consumer": known.name, "connection": channel.connection, "unacked": len(channel.unacked)},
        )
        self.refuse(known, channel, codes.PRECONDITION_FAILED, text, now_us, out, TIMED_OUT)

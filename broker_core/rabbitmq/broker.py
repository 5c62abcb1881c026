"""The broker as a node: connections and their channels in front, exchanges and queues of the virtual hosts at the
back, a handler for each method (`handlers/`).

    connection ─ channel ─ publish ──► exchange ─ bindings ─► queue (whose turn, limits, requeue: queues/)
                     └──── consumer ◄──────────────────────────┘

Source: RabbitMQ 3.10.8, docs/rabbitmq/facts.md. Vectors: rabbitmq/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase, BrokerState
from broker_core.rabbitmq.channel import TICK_INTERVAL_US, Channel
from broker_core.rabbitmq.confirms import confirm_written, free_disk
from broker_core.rabbitmq.connection import RUNNING, Connection
from broker_core.rabbitmq.handlers import channel as channel_handlers
from broker_core.rabbitmq.handlers.connection import (
    CONNECTION_HANDLERS,
    SERVER_PROPERTIES,
    unexpected_in,
)
from broker_core.rabbitmq.handlers.table import CHANNEL_HANDLERS
from broker_core.rabbitmq.method_ids import IDS
from broker_core.rabbitmq.methods import BasicPublish
from broker_core.rabbitmq.overhearing import Ear
from broker_core.rabbitmq.refusals import Refused, precondition
from broker_core.rabbitmq.tracing import Overheard
from broker_core.rabbitmq.wire_fields import SHORT_MAX, check_fields
from broker_core.sim.node import PERSON, Closed, Opened, Outbox

TIMED_OUT = "rabbitmq.channel.consumer_timeout"


class Broker(BrokerBase):
    def __init__(
        self,
        state: BrokerState,
        workload_size: Callable[[int], int] | None = None,
        ear: Ear | None = None,
    ) -> None:
        super().__init__(state, workload_size, ear)
        self.handler_of = dict(CHANNEL_HANDLERS).get  # a plain dict is twice as fast
        self.alarms, self.trace = state.alarms, state.trace

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if self.trace.connection:
            out = self.overheard(connection, message, now_us, out)
        handler = self.handler_of(type(message))
        if handler is not None:
            known = self.connections[connection]
            known.was_heard = True
            if known.is_blocked:
                known.held.append(message)
                return
            channel = known.channels.get(message.channel)
            if channel is not None:
                try:
                    check_fields(message)
                    if self.ear is not None:
                        self.ear.hears(message)
                    handler(self, known, channel, message, now_us, out)
                except Refused as refused:
                    self.refuse(connection, channel, message, refused, now_us, out)
            else:
                self.without_channel(known, connection, message, now_us, out)
            if self.alarms and type(message) is BasicPublish and connection in self.connections:
                self.block(known, connection, out)
        elif type(message) is Opened:
            self.connections[connection] = Connection(message.peer, now_us, self.state.heartbeat_us)
            out.deadline(f"heartbeat:{connection}", now_us + self.state.heartbeat_us)
            out.send(connection, m.ConnectionStart(server_properties=SERVER_PROPERTIES))
        elif type(message) is Closed:
            self.drop(connection, "rabbitmq.connection.closed_by_peer", now_us, out)
        elif connection == PERSON:
            operator.obey(self, message, now_us, out)
            self.unblock_all(now_us, out)
        else:
            self.connection_method(connection, message, now_us, out)
        if self.graves or self.messages.freed_bytes:
            self.tidy(now_us, out)

    def overheard(self, connection: int, message: Any, now_us: int, out: Outbox) -> Outbox:
        """A connection is traced. What waits for an alarm to end is heard when it is read."""
        known = self.connections.get(connection)
        if isinstance(message, m.Method) and known is not None and not known.is_blocked:
            self.trace.hear(connection, message, False, now_us)
        return cast(Outbox, Overheard(out, self.trace, now_us))

    def connection_method(self, connection: int, method: Any, now_us: int, out: Outbox) -> None:
        """A method of the connection itself, or one that opens or closes a channel."""
        known = self.connections[connection]
        known.was_heard = True
        if known.is_blocked and type(method) is not m.Heartbeat:
            known.held.append(method)
            return
        try:
            check_fields(method)
            if type(method) in (m.ChannelOpen, m.ChannelCloseOk):
                self.open_or_close(known, connection, method, now_us, out)
            else:
                CONNECTION_HANDLERS[type(method)](self, known, connection, method, now_us, out)
        except Refused as refused:
            self.refuse(connection, None, method, refused, now_us, out)

    def open_or_close(
        self, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
    ) -> None:
        channel = known.channels.get(method.channel)
        if known.state != RUNNING or method.channel == 0:
            raise unexpected_in(known)
        if not 0 < method.channel <= SHORT_MAX:
            raise no_such_channel(method.channel)
        if type(method) is m.ChannelOpen:
            channel_handlers.open_(self, known, connection, method, now_us, out)
        elif method.channel in known.closing:
            known.closing.remove(method.channel)  # its number is free again
        elif channel is not None:
            channel_handlers.unimplemented(self, known, channel, method, now_us, out)
        else:
            raise Refused(codes.CHANNEL_ERROR, "expected 'channel.open'")

    def without_channel(
        self, known: Connection, connection: int, method: Any, now_us: int, out: Outbox
    ) -> None:
        """A method for a channel that is not open. On one that the broker has just closed, what was on its
        way is dropped; else it is a connection exception."""
        if method.channel not in known.closing:
            if known.state != RUNNING or method.channel == 0:
                refused = unexpected_in(known)
            elif not 0 < method.channel <= SHORT_MAX:
                refused = no_such_channel(method.channel)
            else:
                refused = Refused(codes.CHANNEL_ERROR, "expected 'channel.open'")
            self.refuse_connection(connection, refused, IDS.get(type(method), (0, 0)), now_us, out)
        elif type(method) is m.ChannelClose:  # both ends closed it at once: each answers the other
            out.send(connection, m.ChannelCloseOk(method.channel))

    def tidy(self, now_us: int, out: Outbox) -> None:
        """What a method leaves behind: the dead, and bytes on disk of what is gone."""
        self.bury(now_us, out)
        if self.messages.freed_bytes and free_disk(self, out):
            self.unblock_all(now_us, out)

    # -- a resource is short ---------------------------------------------------------------------------------

    def block(self, known: Connection, connection: int, out: Outbox) -> None:
        """A connection that publishes is not read any more."""
        if not known.is_blocked:
            known.is_blocked = True
            if "connection.blocked" in known.capabilities:
                out.send(connection, m.ConnectionBlocked(f"low on {' & '.join(self.alarms)}"))

    def unblock_all(self, now_us: int, out: Outbox) -> None:
        """With the last alarm gone, what came meanwhile is read."""
        if self.alarms:
            return
        for connection, known in list(self.connections.items()):
            if not known.is_blocked:
                continue
            known.is_blocked = False
            if "connection.blocked" in known.capabilities:
                out.send(connection, m.ConnectionUnblocked())
            held = list(known.held)
            known.held.clear()
            for method in held:
                if connection in self.connections:
                    self.receive(connection, method, now_us, out)

    # -- deadlines -------------------------------------------------------------------------------------------

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if self.trace.connection:
            out = cast(Outbox, Overheard(out, self.trace, now_us))
        kind, _, of = name.partition(":")
        if kind == "tick":
            self.look_at_oldest_delivery(self.channels[of], now_us, out)
        elif kind == "ttl":
            queue = self.queues[int(of)]
            queue.state.wakes_us = 0
            queue.drop_expired(now_us)
            self.carry_out(queue, (), now_us, out)
        elif kind == "expires":
            self.delete_queue(self.queues[int(of)], now_us, out)
        elif kind == "confirm":
            channel, _, number = of.rpartition(".")
            if channel in self.channels:
                confirm_written(self.channels[channel], int(number), out)
        else:
            self.look_for_signs_of_life(int(of), now_us, out)
        if self.graves or self.messages.freed_bytes:
            self.tidy(now_us, out)

    def look_for_signs_of_life(self, connection: int, now_us: int, out: Outbox) -> None:
        known = self.connections[connection]
        if not known.look():
            out.deadline(f"heartbeat:{connection}", now_us + known.heartbeat_us)
            return
        out.blame_silence(connection)
        out.tell(
            "rabbitmq.connection.missed_heartbeats",
            "rabbitmq.heartbeat.two_silent_checks",
            {"heartbeat_us": known.heartbeat_us},
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
            f"delivery acknowledgement on channel {channel.number} timed out. "
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
        self.refuse(channel.connection, channel, None, precondition(text), now_us, out, TIMED_OUT)


def no_such_channel(number: int) -> Refused:
    """No frame carries that channel's number."""
    return Refused(codes.SYNTAX_ERROR, f"channel {number!r:.80} does not fit its field")

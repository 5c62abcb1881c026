"""A run: a world with one RabbitMQ server and the real clients that came to it, driven from outside.

    act (a socket's bytes, an order) ─ stamped, journaled ─► world ─► bytes for the sockets

What happened follows from the acts and their times alone, so that the journal of them is the run. An act's time is later
than the one before it; whatever is due until then happens first. How an act is carried out: `broker_core/wire/open_server.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from broker_core.events import TurningPoint
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.sim.design import Design
from broker_core.sim.world import World
from broker_core.wire.acts import Act
from broker_core.wire.amqp.remote import RemoteState
from broker_core.wire.faults.book import Faults
from broker_core.wire.faults.broker import FaultyBroker
from broker_core.wire.open_server import MESSAGES, Leaving, OpenServer


class Run:
    """seed: what names that the server makes follow from. began_us: what the server's clock says at time 0, microseconds
    since 1970. listener: hears its turning points."""

    def __init__(
        self,
        seed: int = 0,
        began_us: int = 0,
        listener: Callable[[list[TurningPoint]], None] = lambda told: None,
    ) -> None:
        self.seed, self.began_us = seed, began_us
        self.server = OpenServer(lambda: self.world)
        design = Design(self.server.kinds(), MESSAGES, delay_us=0, ahead_us=began_us)
        self.world = World("rabbitmq", design, seed, listener)
        self.server.begin(BrokerState())

    @property
    def broker(self) -> FaultyBroker:
        return self.server.broker

    @property
    def faults(self) -> Faults:
        return self.server.faults

    @property
    def sockets(self) -> dict[int, RemoteState]:
        return self.server.sockets

    @property
    def is_up(self) -> bool:
        return self.server.is_up

    def due_us(self) -> int | None:
        """When something happens next of its own accord; None: nothing will."""
        return self.world.heap[0][0] if self.world.heap else None

    def advance(self, now_us: int) -> None:
        """Whatever is due until now happens."""
        self.server.advance(now_us)

    def act(self, socket: int, act: Act) -> None:
        """Something comes from outside, now. socket: its number, 0 for what no socket says. Raises CommandError, and then
        nothing has changed."""
        self.server.act(socket, act)

    def outgoing(self) -> list[Leaving]:
        """What leaves for the sockets; it is taken with that."""
        taken = self.server.taken()
        self.server.sweep()
        return taken

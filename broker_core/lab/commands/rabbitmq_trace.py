"""Tracing at the server of a RabbitMQ lane: the last methods of a connection, both ways, for a while."""

from __future__ import annotations

from typing import ClassVar

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Cause
from broker_core.lab.commands.rabbitmq import ServerCommand, shaped
from broker_core.lab.rabbitmq.facts import RabbitMqFacts
from broker_core.lab.rabbitmq.reading import BROKER
from broker_core.lab.rabbitmq.topology import number
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.wire_fields import SHORT_MAX

CONNECTION_MAX = (1 << 31) - 1
SECONDS, SECONDS_MAX = 60, 600


class TraceMethods(ServerCommand):
    """connection: its number at the server, 0: no more tracing. channel: one of its channels, 0: all, and the connection's
    own methods. seconds: of virtual time, then it ends."""

    kind: ClassVar[str] = "rabbitmq_trace"
    SHAPE, ARGS = shaped({
        "connection": (number(0, CONNECTION_MAX), 0), "channel": (number(0, SHORT_MAX), 0),
        "seconds": (number(1, SECONDS_MAX), SECONDS),
    })  # fmt: skip

    def check_in(self, lane: RabbitMqFacts) -> None:
        ServerCommand.check_in(self, lane)
        asked = self.given["connection"]
        if asked and asked not in lane.connections:
            choices = Names(str(each) for each in sorted(lane.connections))
            raise CommandError("args.connection", "must be one of {choices}", choices=choices)

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        g = self.given
        until_us = lane.world.node_us + g["seconds"] * SECOND_US
        order = server.TraceConnection(g["connection"], g["channel"], until_us)
        lane.world.order(BROKER, order, lane.emit("rabbitmq.server.trace", cause, None, {}, dict(g)))

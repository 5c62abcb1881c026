"""The server of a RabbitMQ lane stops, crashes and starts again.

A clean stop closes every connection (320 CONNECTION_FORCED) when the disk has all; a crash just breaks them. Clients
try to connect again until there is a server.
"""

from __future__ import annotations

from typing import ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.lab.commands.rabbitmq import ServerCommand, server_of
from broker_core.lab.rabbitmq.facts import RabbitMqFacts
from broker_core.lab.rabbitmq.reading import BROKER, RabbitMqReading
from broker_core.lab.rabbitmq.topology import Shape
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq import restart
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.wire.acts import Crash, Start, Stop

NOTHING: Shape = {}


class StopServer(ServerCommand):
    kind: ClassVar[str] = "rabbitmq_stop"
    SHAPE = NOTHING

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        connections = len(restart.state_of(lane.world, BROKER).connections)
        said = lane.emit(f"rabbitmq.server.{self.verb}", cause, None, {}, {"connections": connections})
        opened = server_of(lane)
        if opened is not None:
            opened.act(0, self.ACT(), said)
        else:
            self.end(lane, said)
        lane.rules.forget_caches()

    ACT: ClassVar[type[Stop | Crash]] = Stop

    def end(self, lane: Lane, cause: Cause) -> None:
        restart.stop(lane.world, BROKER, cause)


class CrashServer(StopServer):
    kind: ClassVar[str] = "rabbitmq_crash"
    ACT = Crash

    def end(self, lane: Lane, cause: Cause) -> None:
        restart.crash(lane.world, BROKER, cause)


class StartServer(ServerCommand):
    kind: ClassVar[str] = "rabbitmq_start"
    SHAPE = NOTHING

    def check_in(self, lane: RabbitMqFacts) -> None:
        if lane.is_running:
            raise CommandError("lane", "the server is running")

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        reads = lane.reads
        assert isinstance(reads, RabbitMqReading)
        before = reads.broker()
        waited = held(before)
        opened = server_of(lane)
        if opened is not None:
            opened.act(0, Start(), cause)
        else:
            restart.come_back(lane.world, BROKER, cause)
            reads.notes.note_restart(before, reads.broker(), lane.now_us)
        state = reads.broker()
        lane.emit(
            "rabbitmq.server.start",
            cause,
            "rabbitmq.restart.durable_and_persistent",
            {},
            {
                "queues": sum(len(vhost.queues) for vhost in state.vhosts.values()),
                "messages": sum(
                    queue.ready for vhost in state.vhosts.values() for queue in vhost.queues.values()
                ),
                "lost": waited - held(state),
            },
        )
        lane.rules.forget_caches()


def held(state: BrokerState) -> int:
    """Messages in all queues, ready and unacked."""
    return sum(len(queue.bodies) for vhost in state.vhosts.values() for queue in vhost.queues.values())


RUN_COMMANDS: tuple[type[ServerCommand], ...] = (StopServer, CrashServer, StartServer)

"""The RabbitMQ lane: one broker with a classic queue, one publisher, and a worker for each consumer, on its
own connection and channel.

Keys have no owner; a message goes to the consumer whose turn it is. Who has its turn, who is at its prefetch,
what a closed channel gives back and when a silent connection is given up is the broker's
(`broker_core/rabbitmq/`). The lab's own: to "leave" for a program that is silent, a person closes its
connection at the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.pieces import Pieces
from broker_core.lab.rabbitmq import own_topology
from broker_core.lab.rabbitmq.crew import crews_of
from broker_core.lab.rabbitmq.narrator import RabbitMqNarrator
from broker_core.lab.rabbitmq.open_reading import ClientEar, OpenNarrator, OpenReading
from broker_core.lab.rabbitmq.options import BEGAN
from broker_core.lab.rabbitmq.path_ear import PathEar
from broker_core.lab.rabbitmq.programs import (
    OPERATOR,
    consumer_role,
    import_definitions,
    publishers,
)
from broker_core.lab.rabbitmq.reading import BROKER, PUBLISHER, RabbitMqReading
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.channel import CONSUMER_TIMEOUT_US
from broker_core.rabbitmq.client.operator import Ask, Operator, OperatorState
from broker_core.rabbitmq.client.publisher import Declare, Publisher, PublisherState
from broker_core.rabbitmq.client.worker import Retake, Settle, Subscribe, Worker, WorkerState
from broker_core.rabbitmq.connection import SILENT_CHECKS_MAX
from broker_core.rabbitmq.definitions import read_definitions
from broker_core.rabbitmq.loading import DEFAULT_VHOST, LOADER
from broker_core.rabbitmq.methods import BasicPublish
from broker_core.sim.design import Design
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import RUNNING, Slot
from broker_core.wire.open_server import MESSAGES, OpenServer

PREFETCH = {"prefetch_5": 5, "prefetch_1": 1, "prefetch_unlimited": 0}


def algorithms() -> list[Json]:
    """By the name that the lane has for them; a custom prefetch count is an option."""
    return [{"id": name, "document": False} for name in PREFETCH]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    if BEGAN.name in setup.options:
        at_once = replace(setup, options={**setup.options, "network_delay_us": 0})
        return Lane(at_once, OpenRules(setup.algorithm, setup.options), watch)
    return Lane(setup, RabbitMqRules(setup.algorithm, setup.options), watch)


class RabbitMqRules:
    name = "rabbitmq"
    keys_have_owners = False
    sends_at_once = True
    Reads, Says = RabbitMqReading, RabbitMqNarrator

    def __init__(self, algorithm: str, options: Json) -> None:
        self.topology: Json | None = options.get("topology")
        prefetch = options.get("prefetch", PREFETCH[algorithm])
        self.reads = self.Reads(options["topic"], prefetch, self.topology)
        timeout_ms = options.get("consumer_timeout_ms", CONSUMER_TIMEOUT_US // 1_000)
        self.consumer_timeout_us = timeout_ms * 1_000 or None
        self.narrator = self.Says(self.reads)

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        ear = PathEar(lane, self.reads)
        publishers_own = partial(own_topology.of_publisher, self.topology)
        consumers_own = partial(own_topology.of_consumer, self.topology)
        return Design(
            {
                "broker": (BrokerState, lambda state: Broker(state, lane.messages.size, ear)),
                "publisher": (PublisherState, lambda state: Publisher(state, lane.messages, publishers_own)),
                "worker": (WorkerState, lambda state: Worker(state, lane.traffic, consumers_own)),
                "operator": (OperatorState, lambda state: Operator(state, self.reads.notes.paths.reached)),
            },
            m.Method | Subscribe | Retake | Settle | Declare | Ask | server.Order | Order,
            lane.delay_us, lane.jitter_us,
        )  # fmt: skip

    def begin(self, lane: Lane) -> Pieces[None]:
        world, topology = lane.world, self.topology
        world.start(BROKER, "broker", BrokerState(consumer_timeout_us=self.consumer_timeout_us))
        world.start(OPERATOR, "operator", OperatorState())
        if topology is not None:
            self.load(lane, topology)
        world.start(PUBLISHER, "publisher", PublisherState.of(*publishers(self.reads.queue_name, topology)))
        world.order(PUBLISHER, Declare(BROKER))
        yield None

    def load(self, lane: Lane, topology: Json) -> None:
        """The server reads its definitions before a program connects; no event says so."""
        world = lane.world
        listener, witness = world.listener, world.witness
        world.listener = world.witness = None
        import_definitions(lane, read_definitions(topology, DEFAULT_VHOST), None)
        world.advance(world.now_us + lane.delay_us + lane.jitter_us + 1)
        world.told.clear()
        world.listener, world.witness = listener, witness
        lane.now_us = world.now_us

    def head_start_us(self, lane: Lane) -> int:
        return lane.answer_us if self.topology is None else 2 * lane.answer_us

    def forget_caches(self) -> None:
        """It keeps none."""

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves."""
        if lane.world.condition(BROKER) != RUNNING:
            return  # nothing comes in and nothing goes
        self.reads.notes.note(self.reads.queues().values(), second, crews_of(lane, self.reads))
        state = self.reads.broker()
        is_idle = not any(known.user == LOADER for known in state.connections.values())
        if LOADER in state.users and is_idle:
            lane.world.order(BROKER, server.DeleteUser(LOADER))

    # -- a person's verbs ------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, BasicPublish | None]]]:
        slot = lane.world.slots[PUBLISHER]
        return slot, cast(Publisher, slot.node).publish

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.start(lane, consumer, cause)

    def start(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        role = consumer_role(consumer, self.reads.queue_name, self.reads.prefetch, self.topology)
        state = WorkerState(consumer.name, role, Program(consumer.service_us))
        lane.world.start(consumer.incarnation, "worker", state)
        lane.world.order(consumer.incarnation, Subscribe(BROKER), cause)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.state == GONE:
            lane.world.forget(consumer.incarnation)
            lane.say("left_gone", consumer=consumer.name)
            return
        self.narrator.say_left(lane, consumer.name, self.reads.held(consumer))
        if consumer.state == CRASHED:
            lane.crash_positions.pop(consumer.incarnation)
            connection = self.reads.connection_of(consumer.incarnation)
            if connection in self.reads.broker().connections:
                lane.world.reset(connection, cause)
            lane.world.forget(consumer.incarnation)
        else:
            lane.world.order(consumer.incarnation, Leave(), cause)
            lane.world.exit(consumer.incarnation, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        consumer.deadline_us = self.given_up_us(lane, consumer)
        unacked = self.reads.held(consumer)
        lane.emit(
            "rabbitmq.consumer.crashed",
            cause,
            "rabbitmq.heartbeat.two_silent_checks",
            {"heartbeat_us": m.HEARTBEAT_US, "unacked": unacked},
            {"consumer": consumer.name, "deadline_us": consumer.deadline_us},
        )
        lane.say(
            "rabbitmq.crash_pending",
            consumer=consumer.name,
            unacked=unacked,
            deadline_us=consumer.deadline_us,
        )

    def given_up_us(self, lane: Lane, consumer: Consumer) -> int:
        """When the broker will drop the connection of a program that falls silent now."""
        known = self.reads.broker().connections.get(self.reads.connection_of(consumer.incarnation))
        if known is None:  # its first words are still on their way
            return consumer.joined_us + lane.delay_us + (SILENT_CHECKS_MAX + 1) * m.HEARTBEAT_US
        return self.reads.given_up_us(consumer.incarnation, known)

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.start(lane, consumer, cause)

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """Nothing that the lab would have to do itself."""

    def between(self, lane: Lane) -> None:
        """Its nodes need nobody."""


class OpenRules(RabbitMqRules):
    """Of a lane that real clients come to, and no programs of the lab."""

    sends_at_once = False
    Reads, Says = OpenReading, OpenNarrator
    reads: OpenReading

    def __init__(self, algorithm: str, options: Json) -> None:
        super().__init__(algorithm, options)
        self.own, self.began_us = algorithm, options[BEGAN.name]

    def algorithms(self) -> list[Json]:
        return [each for each in algorithms() if each["id"] == self.own]

    def design(self, lane: Lane) -> Design:
        ear = ClientEar(lane, self.reads)
        reached = self.reads.notes.paths.reached
        server = self.reads.server = OpenServer(
            lambda: lane.world,
            lane.messages.size,
            ear,
            restarted=partial(self.restarted, lane),
            is_heard=False,
        )
        operator = (OperatorState, lambda state: Operator(state, reached))
        kinds = {**server.kinds(), "operator": operator}
        return Design(kinds, MESSAGES, delay_us=0, ahead_us=self.began_us)

    def begin(self, lane: Lane) -> Pieces[None]:
        self.reads.server.begin(BrokerState(consumer_timeout_us=self.consumer_timeout_us))
        yield None

    def head_start_us(self, lane: Lane) -> int:
        return 0

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, BasicPublish | None]]]:
        return lane.world.slots[BROKER], lambda index, code: (0, None)

    def restarted(self, lane: Lane, before: BrokerState, after: BrokerState) -> None:
        self.reads.notes.note_restart(before, after, lane.world.now_us)

    def between(self, lane: Lane) -> None:
        self.reads.server.carry_out_faults()

    def tidy(self, lane: Lane, second: int) -> None:
        self.reads.server.sweep()
        known = self.reads.broker().connections
        for gone in [connection for connection in self.reads.notes.published if connection not in known]:
            del self.reads.notes.published[gone]
        super().tidy(lane, second)

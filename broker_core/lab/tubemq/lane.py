"""The TubeMQ lane: a master, brokers with the partitions, one producer, and a client-balanced group with a
client for each consumer.

Every client works out its own partitions and registers them (`tubemq/client/balance_program.py`); who is
refused, and when the dead are forgotten, is the master's and the brokers'. The lab's own, since TubeMQ leaves
it to its users: the producer's router (unsigned Java hash of the key modulo the number of partitions), and
the operator (`tubemq/operator.py`) who answers a join or a leave by stopping all clients and starting them
with the new source count, node ids in join order. How long a process takes to start is drawn, 0.3 to 2 s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from broker_core.clock import MILLISECOND_US
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import PAUSED, Consumer
from broker_core.lab.pieces import Pieces
from broker_core.lab.shared.codes import code_of
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.shared.shares import units_of
from broker_core.lab.tubemq import operator
from broker_core.lab.tubemq.narrator import TubeMqNarrator
from broker_core.lab.tubemq.operator import Operator, OperatorState, TakeOff
from broker_core.lab.tubemq.reading import GROUP, MASTER, PRODUCER, TubeMqReading, is_alive
from broker_core.sim.design import Design
from broker_core.sim.program import Order, Program
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client import program_state as programs
from broker_core.tubemq.client.balance_program import BalanceProgram
from broker_core.tubemq.client.call_answers import SHUTDOWN_SLEEP_US
from broker_core.tubemq.client.consumer_object import FIRST, ConsumerConfig, ConsumerObject
from broker_core.tubemq.client.producer import Producer, ProducerState
from broker_core.tubemq.client.program_state import STOPPED, ProgramState, Shutdown, Start
from broker_core.tubemq.client_id import make_client_id
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState
from broker_core.tubemq.partition_key import broker_of

START_MIN_US, START_SPREAD_US = 300 * MILLISECOND_US, 1_700 * MILLISECOND_US
SIGNS_OF_LIFE = (r.HeartRequestC2MV2, r.HeartBeatRequestC2B, r.GetMessageRequestC2B)
OPERATOR = "tubemq:operator"
"""No consumer can have such a name."""


def algorithms() -> list[Json]:
    return [{"id": "modulo", "document": False}]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, TubeMqRules(setup.options), watch)


class TubeMqRules:
    name = "tubemq"
    keys_have_owners = True
    sends_at_once = True

    def __init__(self, options: Json) -> None:
        self.reads = TubeMqReading(options)
        self.narrator = TubeMqNarrator(self.reads)

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        def route(code: int) -> str:
            return self.reads.partition_of(code)

        return Design(
            {
                "master": (MasterState, Master),
                "broker": (BrokerState, Broker),
                "operator": (OperatorState, Operator),
                "producer": (ProducerState, lambda state: Producer(state, self.reads.partition_keys, route)),
                "consumer": (ProgramState, lambda state: BalanceProgram(state, lane.traffic)),
            },
            r.Request | producers.Connect | operator.Connect | TakeOff | programs.Orders | Order,
            lane.delay_us,
            lane.jitter_us,
        )

    def begin(self, lane: Lane) -> Pieces[None]:
        world = lane.world
        meta = f"{self.reads.topic}#" + ",".join(
            f"{broker_id}:1:{self.reads.each}:1" for broker_id in self.reads.brokers
        )
        world.start(MASTER, "master", MasterState(configured([meta])))
        for broker_id, name in self.reads.brokers.items():
            own = {key: Partition() for key in self.reads.partition_keys if broker_of(key) == broker_id}
            world.start(name, "broker", BrokerState(broker_id, own))
        world.start(PRODUCER, "producer", ProducerState())
        world.start(OPERATOR, "operator", OperatorState())
        world.order(PRODUCER, producers.Connect(self.reads.brokers))
        world.order(OPERATOR, operator.Connect(MASTER, self.reads.brokers))
        yield None

    def head_start_us(self, lane: Lane) -> int:
        return 0  # those who are there from the start take their time to start, as any process

    def forget_caches(self) -> None:
        self.reads.forget()

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves."""

    # -- records ---------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, r.SendMessageRequestP2B]]]:
        slot = lane.world.slots[PRODUCER]
        send = cast(Producer, slot.node).send

        def publish(index: int, code: int) -> tuple[int, r.SendMessageRequestP2B]:
            return send(index, code, lane.messages.size(index))

        return slot, publish

    # -- the operator ----------------------------------------------------------------------------------------

    def restart(self, lane: Lane, cause: Cause) -> None:
        """Stop every client and start a new one in its place, with the count of those who are alive."""
        self.sweep(lane)
        notes, alive = (
            self.reads.notes,
            [consumer for consumer in lane.consumers.values() if is_alive(consumer)],
        )
        was, notes.plan = len(notes.plan), [consumer.name for consumer in alive]
        if notes.count_at_rest is None and lane.ledger.bill is not None and lane.ledger.bill.at_us > 0:
            notes.count_at_rest = was
        kind = (
            "tubemq.group.stopped"
            if not alive
            else "tubemq.group.restarting"
            if was
            else "tubemq.group.starting"
        )
        followed = lane.emit(
            kind, cause, "tubemq.master.source_count_must_match", {"from": was, "to": len(alive)},
            {"node_ids": {name: node_id for node_id, name in enumerate(notes.plan)}},
        )  # fmt: skip
        counts = (
            {"from_count": was, "to_count": len(alive)}
            if alive
            else {"partitions": len(self.reads.partition_keys)}
        )
        lane.say(code_of("tubemq.restart", last=not alive, first=not was, same=was == len(alive)), **counts)
        for consumer in alive:
            if consumer.incarnation in lane.world.slots:
                self.stop(lane, consumer.incarnation, followed)
                consumer.incarnation = lane.new_incarnation(consumer.name)
                lane.traffic.by_node[consumer.incarnation] = consumer
        for node_id, consumer in enumerate(alive):
            self.launch(lane, consumer, node_id, followed)

    def stop(self, lane: Lane, incarnation: str, cause: Cause) -> None:
        """The process ends in order; from here on it reads nothing."""
        self.reads.notes.stop_reading(self.reads.client(incarnation).client_id, lane.now_us)
        lane.world.order(incarnation, Shutdown(), cause)
        lane.traffic.let_go(incarnation, lane.now_us)

    def launch(self, lane: Lane, consumer: Consumer, node_id: int, cause: Cause) -> None:
        """A process starts; it reaches the master when its former life has stopped and it has started up."""
        client_id = make_client_id(consumer.name, lane.incarnations_made[consumer.name])
        program = Program(consumer.service_us, is_paused=consumer.state == PAUSED)
        client = ConsumerObject(client_id, GROUP, ConsumerConfig(FIRST))
        count = len(self.reads.notes.plan)
        state = ProgramState(client, program, [self.reads.topic], count, node_id)
        lane.world.start(consumer.incarnation, "consumer", state)
        boot_us = SHUTDOWN_SLEEP_US + START_MIN_US + lane.world.random.below("tubemq.start", START_SPREAD_US)
        lane.world.order(consumer.incarnation, Start([MASTER], self.reads.brokers, boot_us), cause)

    def sweep(self, lane: Lane) -> None:
        """Processes that have ended, and dead ones that nobody waits for, go from the world."""
        present = {consumer.incarnation for consumer in lane.consumers.values()}
        for slot in list(lane.world.slots.values()):
            if slot.kind != "consumer" or slot.name in present or slot.name in lane.crash_positions:
                continue
            if slot.condition == NODE_CRASHED:
                lane.world.forget(slot.name)
            elif slot.node.state.phase == STOPPED:
                lane.world.exit(slot.name)

    # -- a person's verbs ------------------------------------------------------------------------------------

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        self.restart(lane, cause)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.incarnation in lane.crash_positions:
            del lane.crash_positions[consumer.incarnation]
            client_id = self.reads.client(consumer.incarnation).client_id
            own = [key for key in self.reads.partition_keys if self.reads.place(key).owner == client_id]
            lane.world.order(OPERATOR, TakeOff(client_id, GROUP, own), cause)
        elif is_alive(consumer):
            self.stop(lane, consumer.incarnation, cause)
        self.restart(lane, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        client = self.reads.client(consumer.incarnation)
        member = self.reads.member(client.client_id)
        if member is None:
            # It died before the master knew it: nobody will miss it, and what falls to its node id waits for
            # a person.
            lane.bury(consumer.incarnation, consumer.name)
            lane.emit(
                "tubemq.client.lost",
                cause,
                None,
                {},
                {"consumer": consumer.name, "partitions": units_of(lane, consumer.name)},
            )
            lane.say("tubemq.crash_unknown", consumer=consumer.name, partitions=units_of(lane, consumer.name))
            return
        places = [place for place in self.reads.places().values() if place.owner == client.client_id]
        heard = [  # what it has sent still arrives
            at_us + r.TIMEOUT_US for link in lane.world.slots[consumer.incarnation].links.values()
            for message, at_us in lane.world.under_way(link) if isinstance(message, SIGNS_OF_LIFE)
        ]  # fmt: skip
        consumer.deadline_us = max([member.deadline_us, *(place.deadline_us for place in places), *heard])
        self.reads.notes.stop_reading(client.client_id, lane.now_us)
        lane.emit(
            "tubemq.client.crashed",
            cause,
            "tubemq.timeout",
            {"timeout_us": r.TIMEOUT_US},
            {
                "consumer": consumer.name,
                "partitions": client.registered[:],
                "deadline_us": consumer.deadline_us,
            },
        )
        lane.say(
            "tubemq.crash_pending",
            consumer=consumer.name,
            partitions=len(client.registered),
            deadline_us=consumer.deadline_us,
        )

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """A process in the dead one's place: its own node id, else that of another dead one; the group runs
        on with its count."""
        plan = self.reads.notes.plan
        free = [
            node_id
            for node_id, name in enumerate(plan)
            if name == consumer.name or not is_alive(lane.consumers.get(name))
        ]
        if not free:  # the group was restarted without it meanwhile
            self.restart(lane, cause)
            return
        self.sweep(lane)
        node_id = plan.index(consumer.name) if consumer.name in plan else free[0]
        plan[node_id] = consumer.name
        followed = lane.emit(
            "tubemq.client.restarted",
            cause,
            None,
            {"source_count": len(plan)},
            {"consumer": consumer.name, "node_id": node_id},
        )
        lane.say("tubemq.rejoining", consumer=consumer.name, node_id=node_id)
        self.launch(lane, consumer, node_id, followed)

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """Nothing that the lab would have to do itself."""

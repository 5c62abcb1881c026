"""Processes of a TubeMQ group's clients start and end. How long one takes to start is drawn, 0.3 to 2 s; it reaches the
master when its former life has stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.clock import MILLISECOND_US
from broker_core.events import Cause
from broker_core.lab.consumer import PAUSED, Consumer
from broker_core.lab.tubemq.nodes import GROUP, MODULO
from broker_core.lab.tubemq.reading import TubeMqReading
from broker_core.sim.program import Program
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.tubemq.client.call_answers import SHUTDOWN_SLEEP_US
from broker_core.tubemq.client.consumer_object import FIRST, BaseConsumer, ConsumerConfig, ConsumerObject
from broker_core.tubemq.client.program_state import ProgramState, Shutdown, Start
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState, StartPull
from broker_core.tubemq.client.reading_program import STOPPED
from broker_core.tubemq.client_id import make_client_id

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

START_MIN_US, START_SPREAD_US = 300 * MILLISECOND_US, 1_700 * MILLISECOND_US


def launch(lane: Lane, reads: TubeMqReading, consumer: Consumer, cause: Cause) -> None:
    """A process starts for this consumer of the plan."""
    client_id = make_client_id(consumer.name, lane.incarnations_made[consumer.name])
    program = Program(consumer.service_us, is_paused=consumer.state == PAUSED)
    boot_us = SHUTDOWN_SLEEP_US + START_MIN_US + lane.world.random.below("tubemq.start", START_SPREAD_US)
    masters, brokers = list(reads.masters), dict(reads.brokers)
    if reads.by_master:
        pulling = PullConsumerState(BaseConsumer(client_id, GROUP), program, [reads.topic])
        lane.world.start(consumer.incarnation, "pull_consumer", pulling)
        lane.world.order(consumer.incarnation, StartPull(masters, brokers, boot_us), cause)
        return
    notes = reads.notes
    count, node_id = notes.started_with(consumer.name)
    client = ConsumerObject(client_id, GROUP, ConsumerConfig(FIRST))
    state = ProgramState(client, program, [reads.topic], count, node_id)
    if consumer.name in notes.by_hand:
        state.share = list(notes.by_hand[consumer.name])
    elif reads.algorithm != MODULO or notes.own_rule is not None:
        state.share = list(notes.shares.get(consumer.name, ()))
    lane.world.start(consumer.incarnation, "consumer", state)
    lane.world.order(consumer.incarnation, Start(masters, brokers, boot_us), cause)


def stop(lane: Lane, reads: TubeMqReading, incarnation: str, cause: Cause) -> None:
    """The process ends; from here on it reads nothing."""
    reads.notes.stop_reading(reads.client(incarnation).client_id, lane.now_us)
    lane.world.order(incarnation, Shutdown(), cause)
    lane.traffic.let_go(incarnation, lane.now_us)


def replace(lane: Lane, reads: TubeMqReading, consumer: Consumer, cause: Cause) -> None:
    """The process ends, and the consumer's next one is to come."""
    if consumer.incarnation in lane.world.slots:
        stop(lane, reads, consumer.incarnation, cause)
        consumer.incarnation = lane.new_incarnation(consumer.name)
        lane.traffic.by_node[consumer.incarnation] = consumer


def sweep(lane: Lane) -> None:
    """Processes that have ended, and dead ones that nobody waits for, go from the world."""
    present = {consumer.incarnation for consumer in lane.consumers.values()}
    for slot in list(lane.world.slots.values()):
        if slot.kind not in KINDS or slot.name in present or slot.name in lane.crash_positions:
            continue
        if slot.condition == NODE_CRASHED:
            lane.world.forget(slot.name)
        elif slot.node.state.phase == STOPPED:
            lane.world.exit(slot.name)


KINDS = ("consumer", "pull_consumer")
"""Of the world's nodes, the group's clients."""

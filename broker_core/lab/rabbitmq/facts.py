"""What the check of a RabbitMQ lane's orders may know of it: its virtual hosts and users, and whether its server
runs."""

from __future__ import annotations

from broker_core.lab.rabbitmq.reading import BROKER, RabbitMqReading
from broker_core.lab.shared.facts import LaneFacts, facts_of_any
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.loading import LOADER
from broker_core.sim.slot import RUNNING


class RabbitMqFacts(LaneFacts, frozen=True, kw_only=True, tag="rabbitmq"):
    """A RabbitMQ lane."""

    vhosts: list[str]
    users: list[str]
    alarms: list[str]
    connections: list[int]
    is_running: bool
    is_open: bool  # to real clients
    faults: list[int]


def rabbitmq_facts(lane: Lane) -> RabbitMqFacts:
    slot = lane.world.slots[BROKER]
    state: BrokerState = slot.node.state
    reads = lane.reads
    assert isinstance(reads, RabbitMqReading)
    return RabbitMqFacts(
        **facts_of_any(lane),  # type: ignore[arg-type]
        takes_consumers=not reads.is_open,
        vhosts=list(state.vhosts),
        users=[user for user in state.users if user != LOADER],
        alarms=list(state.alarms),
        connections=list(state.connections),
        is_running=slot.condition == RUNNING,
        is_open=reads.is_open,
        faults=[] if reads.server is None else list(reads.server.faults.rows),
    )

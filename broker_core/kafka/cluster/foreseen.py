"""What the controller would refuse, asked before it is ordered: so a person reads the original's own error,
and nothing has changed.

Source: Kafka 3.9 metadata ReplicationControlManager; the rules are in `kafka/controller/`.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy

from broker_core.kafka.cluster.control_requests import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    ElectLeadersRequest,
    ToolRequest,
)
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.controller.topic_names import check_collision
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.election import Election
from broker_core.kafka.replication.replica_placer import TOO_FEW_BROKERS, check_assignment
from broker_core.sim.world import World


def refusal_of(world: World, request: ToolRequest) -> Refused | None:
    """What the controller would say of this request now; None: it would carry it out. Asked of a copy:
    nothing changes."""
    controller: ControllerState = world.slots[CONTROLLER].node.state
    rules, now_ms = deepcopy(controller.rules), world.node_us // 1_000
    try:
        match request:
            case CreateTopicsRequest():
                rules.create_topic(request.name, request.num_partitions, request.replication_factor)
            case CreatePartitionsRequest():
                rules.create_partitions(request.name, request.count, request.assignments)
            case AlterPartitionReassignmentsRequest():
                rules.reassign((request.topic, request.partition), request.replicas, now_ms)
            case ElectLeadersRequest():
                for key in request.partitions or ():
                    rules.elect_leader(
                        key, Election.UNCLEAN if request.election_type else Election.PREFERRED, now_ms
                    )
    except Refused as refused:
        return refused
    return None


def refusal_of_new_topic(
    request: CreateTopicsRequest, topics: Collection[str], broker_count: int
) -> Refused | None:
    """The part of it that does not depend on who is alive. broker_count: registered ones."""
    if request.name in topics:
        return Refused(ErrorCode.TOPIC_ALREADY_EXISTS, "there is a topic {topic} already", topic=request.name)
    try:
        check_collision(request.name, topics)
    except Refused as refused:
        return refused
    factor = request.replication_factor
    if factor > broker_count:
        return Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR, TOO_FEW_BROKERS, factor=factor, brokers=broker_count
        )
    return None


def refusal_of_move(request: AlterPartitionReassignmentsRequest, brokers: Collection[int]) -> Refused | None:
    """The part of it that does not depend on who is alive, nor on topics that were made a moment ago.
    brokers: registered ones."""
    if request.replicas is None:
        return None
    try:
        check_assignment(request.replicas, brokers)
    except Refused as refused:
        return refused
    return None

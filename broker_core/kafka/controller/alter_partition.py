"""AlterPartition: which ISR a leader may ask the controller for.

Source: Kafka 3.9 metadata ReplicationControlManager.validateAlterPartitionData. Vectors:
kafka/replication/controller.json.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.kafka.controller.cluster_metadata import RegisteredBroker
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.partition_state import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionRegistration


def check_alter_partition(
    broker: int,
    partition: PartitionRegistration,
    request: AlterPartitionRequest,
    brokers: Mapping[int, RegisteredBroker],
) -> None:
    """The first check that fails decides. Raises Refused."""
    members = [member for member, _ in request.isr]
    state = request.leader_recovery_state
    if request.leader_epoch > partition.leader_epoch or request.partition_epoch > partition.partition_epoch:
        raise Refused(
            ErrorCode.NOT_CONTROLLER,
            "the sender has seen a later epoch: this controller is not the active one",
        )
    if request.leader_epoch < partition.leader_epoch:
        raise Refused(
            ErrorCode.FENCED_LEADER_EPOCH,
            f"leader epoch {request.leader_epoch}; it is {partition.leader_epoch}",
        )
    if broker != partition.leader:
        raise Refused(ErrorCode.INVALID_REQUEST, f"{broker} does not lead, {partition.leader} does")
    if request.partition_epoch < partition.partition_epoch:
        raise Refused(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"partition epoch {request.partition_epoch}; it is {partition.partition_epoch}",
        )
    if (
        not set(members) <= set(partition.replicas)
        or len(set(members)) < len(members)
        or broker not in members
    ):
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            f"{members} is no ISR of {partition.replicas} that the leader is in",
        )
    is_recovering = state is LeaderRecoveryState.RECOVERING
    if is_recovering and (
        len(members) > 1 or partition.leader_recovery_state is LeaderRecoveryState.RECOVERED
    ):
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "a leader that recovers is alone in the ISR, and does not begin to recover later",
        )
    for member, epoch in request.isr:
        known = brokers.get(member)
        if known is None or not known.is_active or epoch not in (-1, known.epoch):
            raise Refused(
                ErrorCode.INELIGIBLE_REPLICA,
                f"{member} is fenced, shutting down, or has registered again",
            )

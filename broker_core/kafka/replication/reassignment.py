"""Moving a partition to other brokers: the new replicas are added, and the old ones leave when all new ones
are in sync.

    [1 2 3] to [4 2]     replicas 4 2 1 3, adding 4, removing 1 3     ISR holds 4 and 2: replicas 4 2

Source: Kafka 3.9 metadata PartitionReassignmentReplicas, PartitionReassignmentRevert. Vectors:
kafka/replication/controller.json.
"""

from __future__ import annotations

from typing import NamedTuple

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.registration import Brokers, PartitionRegistration


class Reassignment(NamedTuple):
    """Replicas while a move is under way: the target first, then what is to leave."""

    replicas: Brokers
    adding: Brokers
    removing: Brokers


class Reverted(NamedTuple):
    """A move taken back. is_unclean: nobody of the old replicas is in sync any more."""

    replicas: Brokers
    isr: Brokers
    is_unclean: bool


def reassignment(current: Brokers, target: Brokers) -> Reassignment:
    """Give the move from some replicas to others.

    >>> reassignment((1, 2, 3), (4, 2))
    Reassignment(replicas=(4, 2, 1, 3), adding=(4,), removing=(1, 3))
    """
    removing = tuple(sorted(set(current).difference(target)))
    return Reassignment(target + removing, tuple(sorted(set(target).difference(current))), removing)


def completed(move: Reassignment, isr: Brokers) -> tuple[Brokers, Brokers] | None:
    """Give (replicas, ISR) of a move that can end with that ISR: every replica that stays is in it. None: not
    yet, or nothing moves."""
    if not (move.adding or move.removing):
        return None
    replicas = tuple(replica for replica in move.replicas if replica not in move.removing)
    members = tuple(replica for replica in isr if replica not in move.removing)
    if not replicas or not members or not set(replicas) <= set(members):
        return None
    return replicas, members


def reverted(partition: PartitionRegistration) -> Reverted:
    """Give the replicas from before a move. Raises Refused where there were none."""
    replicas = tuple(replica for replica in partition.replicas if replica not in partition.adding)
    isr = tuple(replica for replica in partition.isr if replica not in partition.adding)
    if isr:
        return Reverted(replicas, isr, is_unclean=False)
    if not replicas:
        raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "every replica is being added")
    return Reverted(replicas, replicas[:1], is_unclean=True)

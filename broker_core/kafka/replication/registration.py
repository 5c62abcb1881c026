"""A partition as the controller has it, and one change of it: what brokers learn of leaders and ISRs.

    leader epoch      rises with every change that names a leader, the same one too
    partition epoch   rises with every change

Source: Kafka 3.9 metadata PartitionRegistration, PartitionChangeRecord. Vectors:
kafka/replication/controller.json.
"""

from __future__ import annotations

from typing import NamedTuple

from broker_core.kafka.replication.partition_state import LeaderRecoveryState

NO_LEADER = -1
Brokers = tuple[int, ...]


class PartitionRegistration(NamedTuple):
    """One partition. replicas: the first is the preferred leader. isr, elr: in the order in which they were
    told.

    elr: eligible leader replicas, which have all that was committed though they are not in the ISR;
    last_known_elr: the last leader of a partition of which nobody is left. Both stay empty unless the cluster
    has the feature.
    """

    replicas: Brokers
    isr: Brokers
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    leader_recovery_state: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
    adding: Brokers = ()
    removing: Brokers = ()
    elr: Brokers = ()
    last_known_elr: Brokers = ()

    @property
    def has_preferred_leader(self) -> bool:
        return bool(self.replicas) and self.leader == self.replicas[0]

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    def merge(self, change: PartitionChange) -> PartitionRegistration:
        """Give the partition after a change.

        >>> PartitionRegistration((1, 2), (1, 2), 1).merge(PartitionChange(leader=2, isr=(2,)))[1:5]
        ((2,), 2, 1, 1)
        """
        told = {name: value for name, value in change._asdict().items() if value is not None}
        leader_epoch = self.leader_epoch + (change.leader is not None)
        return self._replace(**told, leader_epoch=leader_epoch, partition_epoch=self.partition_epoch + 1)


class PartitionChange(NamedTuple):
    """What changes; None: stays."""

    leader: int | None = None
    isr: Brokers | None = None
    leader_recovery_state: LeaderRecoveryState | None = None
    replicas: Brokers | None = None
    adding: Brokers | None = None
    removing: Brokers | None = None
    elr: Brokers | None = None
    last_known_elr: Brokers | None = None

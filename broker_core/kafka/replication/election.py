"""What a change of a partition comes to: a reassignment that ends, who leads, which epochs rise.

    ONLINE      the leader, if it is in the ISR and alive; else the first replica, in the order of the assignment, that is
    PREFERRED   the first replica, if it is; else as before: the leader, then the next ones
    UNCLEAN     as ONLINE; if there is none, the first replica that is alive: records may be lost, the partition is RECOVERING
    nobody      leader -1; the ISR stays unchanged, so that its last member leads again when it comes back

Source: Kafka 3.9 metadata PartitionChangeBuilder. Vectors: kafka/replication/controller.json, kind
`change_builder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from broker_core.hashing.java_map import JavaHashSet
from broker_core.kafka.replication.partition_state import LeaderRecoveryState
from broker_core.kafka.replication.reassignment import Reassignment, completed
from broker_core.kafka.replication.registration import (
    NO_LEADER,
    Brokers,
    PartitionChange,
    PartitionRegistration,
)


class Election(Enum):
    """Which rule chooses the leader."""

    ONLINE = "ONLINE"
    PREFERRED = "PREFERRED"
    UNCLEAN = "UNCLEAN"


class MetadataVersion(NamedTuple):
    """What the cluster's brokers agree to speak: 3.9-IV0."""

    major: int = 3
    minor: int = 9
    level: int = 0

    @classmethod
    def of(cls, text: str) -> MetadataVersion:
        """Read it.

        >>> MetadataVersion.of("3.5-IV2")
        MetadataVersion(major=3, minor=5, level=2)
        """
        release, _, level = text.partition("-IV")
        major, minor = release.split(".")
        return cls(int(major), int(minor), int(level or 0))

    @property
    def has_leader_recovery(self) -> bool:
        return self >= (3, 2, 0)

    @property
    def shrink_raises_leader_epoch(self) -> bool:
        """Until 3.6 followers learned of a smaller ISR by a new leader epoch."""
        return self < (3, 6, 0)

    @property
    def has_elr(self) -> bool:
        return self >= (4, 0, 0)


METADATA_3_9 = MetadataVersion()


@dataclass(slots=True)
class ChangeBuilder:
    """One change of one partition; `build` gives it. Of what is not set the partition's own holds.

    is_acceptable: who may lead: alive, and not on its way out. min_isr: of the topic, at most its replicas.
    is_elr_enabled, uses_last_known_leader, unclean_shutdown (brokers that came back without a clean
    shutdown): the feature of eligible leader replicas.
    """

    partition: PartitionRegistration
    is_acceptable: Callable[[int], bool]
    metadata_version: MetadataVersion = METADATA_3_9
    election: Election = Election.ONLINE
    min_isr: int = 1
    is_elr_enabled: bool = False
    uses_last_known_leader: bool = True
    unclean_shutdown: Brokers = ()
    isr: Brokers | None = None
    replicas: Brokers | None = None
    adding: Brokers | None = None
    removing: Brokers | None = None
    leader_recovery_state: LeaderRecoveryState | None = None

    def build(self) -> PartitionChange | None:
        """Give the change; None: nothing changes."""
        was = self.partition
        isr = was.isr if self.isr is None else self.isr
        replicas = was.replicas if self.replicas is None else self.replicas
        adding = was.adding if self.adding is None else self.adding
        removing = was.removing if self.removing is None else self.removing
        ended = completed(Reassignment(replicas, adding, removing), isr)
        if ended is not None:
            (replicas, isr), adding, removing = ended, (), ()
        elr, last_known = self._eligible(isr)
        change = PartitionChange()

        leader, is_unclean = self._elect(replicas, isr, elr)
        if leader != was.leader:
            if leader in elr:
                isr, elr = (leader,), tuple(broker for broker in elr if broker != leader)
            change = change._replace(leader=leader)
            if is_unclean:
                change = change._replace(isr=(leader,))
                if (
                    was.leader_recovery_state is not LeaderRecoveryState.RECOVERING
                    and self.metadata_version.has_leader_recovery
                ):
                    change = change._replace(leader_recovery_state=LeaderRecoveryState.RECOVERING)
        elif not set(was.replicas) <= set(replicas):
            # A replica leaves: the epoch of the same leader rises, so that what it still sends is fenced.
            change = change._replace(leader=was.leader)

        if change.isr is not None or not self.is_elr_enabled:
            elr, last_known = (), ()
        if elr != was.elr:
            change = change._replace(elr=elr)
        if not self.uses_last_known_leader and last_known != was.last_known_elr:
            change = change._replace(last_known_elr=last_known)
        if change.isr is None and (isr or self.is_elr_enabled) and isr != was.isr:
            change = change._replace(isr=isr)
        is_shrink = change.isr is not None and not set(was.isr) <= set(change.isr)
        if is_shrink and change.leader is None and self.metadata_version.shrink_raises_leader_epoch:
            change = change._replace(leader=was.leader)
        change = self._with_last_known_leader(change)
        if replicas and replicas != was.replicas:
            change = change._replace(replicas=replicas)
        if removing != was.removing:
            change = change._replace(removing=removing)
        if adding != was.adding:
            change = change._replace(adding=adding)
        if self.leader_recovery_state not in (None, was.leader_recovery_state):
            change = change._replace(leader_recovery_state=self.leader_recovery_state)
        return None if all(value is None for value in change) else change

    # --- inside

    def _elect(self, replicas: Brokers, isr: Brokers, elr: Brokers) -> tuple[int, bool]:
        """Give (leader or -1, whether it was elected outside ISR and ELR)."""

        def is_valid(broker: int) -> bool:
            return (broker in isr or (not isr and broker in elr)) and self.is_acceptable(broker)

        leader = self.partition.leader
        candidates = (leader, *replicas)
        if self.election is Election.PREFERRED:
            candidates = (replicas[0], leader, *replicas[1:])
        for broker in candidates:
            if is_valid(broker):
                return broker, False
        last_known = self.partition.last_known_elr
        if (
            self.is_elr_enabled
            and self.uses_last_known_leader
            and not isr
            and not elr
            and len(last_known) == 1
        ):
            return last_known[0], True  # alive or not: the original looks, and only logs what it saw
        if self.election is Election.UNCLEAN:
            for broker in replicas:
                if self.is_acceptable(broker):
                    return broker, True
        return NO_LEADER, False

    def _eligible(self, isr: Brokers) -> tuple[Brokers, Brokers]:
        """Give the ELR and the last known members: who leaves an ISR below the minimum still has all that was
        committed."""
        was = self.partition
        if not self.is_elr_enabled:
            return was.elr, was.last_known_elr
        if len(isr) >= self.min_isr:
            return (), ()
        candidates = (*was.elr, *was.isr)
        elr = _in_java_order(candidates, without=(*isr, *self.unclean_shutdown))
        return elr, _in_java_order((*candidates, *was.last_known_elr), without=(*isr, *elr))

    def _with_last_known_leader(self, change: PartitionChange) -> PartitionChange:
        """Remember who led last when nobody is left; forget it when somebody leads."""
        was = self.partition
        if not (self.uses_last_known_leader and self.is_elr_enabled):
            return change
        if change.isr == () and was.last_known_elr != (was.leader,):
            return change._replace(last_known_elr=(was.leader,))
        leader = was.leader if change.leader is None else change.leader
        return change._replace(last_known_elr=()) if leader != NO_LEADER and was.last_known_elr else change


def _in_java_order(brokers: Iterable[int], without: Brokers) -> Brokers:
    """Each once, in the order of a HashSet of Integer."""
    kept: JavaHashSet[int] = JavaHashSet(int)
    for broker in brokers:
        kept.add(broker)
    return tuple(broker for broker in kept.in_order() if broker not in without)

"""The controller: which brokers there are, where each partition's replicas are, who leads, and who is in
sync.

    heartbeat, silence ─► fenced, unfenced, controlled shutdown ─┐
    AlterPartition, election, reassignment, unregistration ──────┴─► changes of partitions ─► records, which brokers learn

Each request answers, and gives the records that it wrote to the metadata log; they are applied at once. The
rules of a single change are in replication/election.py, reassignment.py and placement.py, those of heartbeats
in replication/sessions.py.

Source: Kafka 3.9 metadata ReplicationControlManager, ClusterControlManager. Vectors:
kafka/replication/controller.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.election import METADATA_3_9, ChangeBuilder, Election, MetadataVersion
from broker_core.kafka.replication.isr import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.placement import UsableBroker, check_assignment, in_line, place_replicas
from broker_core.kafka.replication.reassignment import reassignment, reverted
from broker_core.kafka.replication.registration import NO_LEADER, PartitionChange, PartitionRegistration
from broker_core.kafka.replication.sessions import BrokerControlState, BrokerSessions

TopicPartition = tuple[str, int]


@dataclass(slots=True)
class RegisteredBroker:
    """One broker, fenced until its first heartbeat. rack: None: it has none."""

    epoch: int
    rack: str | None = None
    is_fenced: bool = True
    is_in_controlled_shutdown: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in ISRs."""
        return not (self.is_fenced or self.is_in_controlled_shutdown)


@dataclass(slots=True)
class Topic:
    """One topic: its partitions by number, and the settings that the controller needs."""

    partitions: list[PartitionRegistration]
    min_insync_replicas: int = 1
    allows_unclean_election: bool = False


class PartitionRecord(NamedTuple):
    """A partition was made."""

    partition: TopicPartition
    registration: PartitionRegistration


class PartitionChangeRecord(NamedTuple):
    """A partition has changed."""

    partition: TopicPartition
    change: PartitionChange


class BrokerChangeRecord(NamedTuple):
    """A broker was fenced or unfenced, or began its controlled shutdown; None: as it was."""

    broker: int
    is_fenced: bool | None = None
    is_in_controlled_shutdown: bool | None = None


class UnregisterBrokerRecord(NamedTuple):
    """A broker was removed."""

    broker: int


Record = PartitionRecord | PartitionChangeRecord | BrokerChangeRecord | UnregisterBrokerRecord


class HeartbeatReply(NamedTuple):
    """What a broker learns of itself."""

    is_fenced: bool
    is_in_controlled_shutdown: bool
    should_shut_down: bool


@dataclass(slots=True)
class Controller:
    """All that the active controller knows. placement: where it draws the places of new replicas from.

    is_elr_enabled: eligible leader replicas, which need metadata version 4.0.
    """

    placement: JavaRandom
    metadata_version: MetadataVersion = METADATA_3_9
    is_elr_enabled: bool = False
    elections_max: int = 1_000  # of one automatic round
    brokers: dict[int, RegisteredBroker] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    sessions: BrokerSessions = field(default_factory=BrokerSessions)

    # --- brokers

    def register_broker(
        self,
        broker: int,
        epoch: int,
        now_ms: int,
        rack: str | None = None,
        *,
        after_clean_shutdown: bool = False,
    ) -> list[Record]:
        """A broker starts: it is fenced until its heartbeat asks for more. epoch: a higher one than any
        before.

        after_clean_shutdown: the process before it has closed its logs, whether the controller had let it go
        or not: nothing is lost, and no partition changes. Else, with metadata version 4.0, it leaves ISRs and
        ELRs, for it may have lost records.
        Raises Refused (DUPLICATE_BROKER_REGISTRATION) while another process with that id is heard of.
        """
        if self.sessions.has_valid_session(broker, now_ms):
            raise Refused(ErrorCode.DUPLICATE_BROKER_REGISTRATION, f"broker {broker} is registered and alive")
        records: list[Record] = []
        if self.metadata_version.has_elr and not after_clean_shutdown:
            for affected in (self._with_in_isr(broker), self._with_in_elr(broker)):
                records += self._without_broker(affected, unclean=broker)
        self._replay(records, now_ms)
        self.sessions.remove(broker)
        self.brokers[broker] = RegisteredBroker(epoch, rack)
        self.sessions.touch(broker, is_fenced=True, now_ms=now_ms)
        return records

    def heartbeat(
        self, broker: int, epoch: int, now_ms: int, *, wants_fence: bool = False, wants_shutdown: bool = False
    ) -> tuple[HeartbeatReply, list[Record]]:
        """Answer a heartbeat. Raises Refused (STALE_BROKER_EPOCH).

        A broker that wants to shut down first gives away what it leads, and may go when it leads nothing.
        """
        registered = self._registered(broker, epoch)
        leads = any(partition.leader == broker for _, partition in self._partitions())
        was_fenced = broker not in self.sessions.unfenced
        state = self.sessions.next_state(
            broker, wants_fence=wants_fence, wants_shutdown=wants_shutdown, leads=leads
        )
        is_fenced = state in (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)
        is_leaving = state is BrokerControlState.CONTROLLED_SHUTDOWN
        records: list[Record] = []
        if is_leaving:
            if not registered.is_in_controlled_shutdown:
                records.append(BrokerChangeRecord(broker, is_in_controlled_shutdown=True))
            records += self._without_broker(self._with_in_isr(broker), removed=broker)
        elif is_fenced and not (was_fenced and state is BrokerControlState.FENCED):
            records = self._fence(broker)
        elif was_fenced and not is_fenced:
            # It leads again what nobody leads; it does not get anything back that another one leads.
            leaderless = [
                (key, partition) for key, partition in self._partitions() if partition.leader == NO_LEADER
            ]
            records = [
                BrokerChangeRecord(broker, is_fenced=False),
                *self._without_broker(leaderless, added=broker),
            ]
        self.sessions.touch(broker, is_fenced, now_ms)
        self._replay(records, now_ms)
        return HeartbeatReply(is_fenced, is_leaving, state is BrokerControlState.SHUTDOWN_NOW), records

    def fence_stale_broker(self, now_ms: int) -> list[Record]:
        """Fence one broker that was not heard of for too long; to be asked now and then."""
        broker = self.sessions.stale(now_ms)
        records = [] if broker is None else self._fence(broker)
        self._replay(records, now_ms)
        return records

    def unregister_broker(self, broker: int, now_ms: int) -> list[Record]:
        """Remove a broker for good. Raises Refused (BROKER_ID_NOT_REGISTERED)."""
        if broker not in self.brokers:
            raise Refused(ErrorCode.BROKER_ID_NOT_REGISTERED, f"broker {broker} is not registered")
        records: list[Record] = []
        for affected in (self._with_in_isr(broker), self._with_in_elr(broker)):
            records += self._without_broker(affected, removed=broker)
        records.append(UnregisterBrokerRecord(broker))
        self._replay(records, now_ms)
        return records

    # --- topics

    def create_topic(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        *,
        min_insync_replicas: int = 1,
        allows_unclean_election: bool = False,
    ) -> list[Record]:
        """Make a topic, its replicas placed over racks and brokers. Raises Refused."""
        self._check_new(name)
        if partitions < 1:
            raise Refused(
                ErrorCode.INVALID_PARTITIONS,
                "a topic has at least one partition, not {partitions}",
                partitions=partitions,
            )
        placed = place_replicas(self._usable(), partitions, replication_factor, self.placement)
        return self._create_topic(
            name, placed, ErrorCode.INVALID_REPLICATION_FACTOR, min_insync_replicas, allows_unclean_election
        )

    def create_topic_at(
        self,
        name: str,
        assignments: Sequence[Sequence[int]],
        *,
        min_insync_replicas: int = 1,
        allows_unclean_election: bool = False,
    ) -> list[Record]:
        """Make a topic with given replicas, a list per partition. Raises Refused (INVALID_REPLICA_ASSIGNMENT,
        TOPIC_ALREADY_EXISTS)."""
        self._check_new(name)
        if not assignments:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "a topic has at least one partition, not {partitions}",
                partitions=0,
            )
        for replicas in assignments:
            self._check_assignment(replicas, len(assignments[0]))
        return self._create_topic(
            name,
            assignments,
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            min_insync_replicas,
            allows_unclean_election,
        )

    def create_partitions(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] = ()
    ) -> list[Record]:
        """Give a topic more partitions, `count` in all; with replicas as its first one has, or as given.
        Raises Refused.

        Source: Kafka 3.9 ReplicationControlManager.createPartitions.
        """
        topic = self.topics.get(name)
        if topic is None:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no topic {topic}", topic=name)
        before = len(topic.partitions)
        if count <= before:
            raise Refused(
                ErrorCode.INVALID_PARTITIONS,
                "the topic has {before} partitions, which is no fewer than {count}",
                before=before,
                count=count,
            )
        factor = len(topic.partitions[0].replicas)
        if assignments:
            if len(assignments) != count - before:
                raise Refused(
                    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                    "{assignments} assignments for {partitions} partitions",
                    assignments=len(assignments),
                    partitions=count - before,
                )
            for replicas in assignments:
                self._check_assignment(replicas, factor)
        placed = assignments or place_replicas(self._usable(), count - before, factor, self.placement)
        added = self._placed(placed, ErrorCode.INVALID_REPLICA_ASSIGNMENT)
        topic.partitions += added
        return [PartitionRecord((name, before + number), partition) for number, partition in enumerate(added)]

    # --- partitions

    def alter_partition(
        self,
        broker: int,
        broker_epoch: int,
        partition: TopicPartition,
        request: AlterPartitionRequest,
        now_ms: int,
    ) -> tuple[PartitionRegistration, list[Record]]:
        """A leader asks for another ISR, or says that it has recovered. Gives the partition as it is now, and
        the records.

        The same ISR again gives no record and no new epoch. A reassignment ends here when its new replicas
        are in sync.
        Raises Refused: STALE_BROKER_EPOCH for the sender; for the partition as `_check_alter_partition`, and
        NEW_LEADER_ELECTED where the end of a reassignment took the lead from the sender: then the records
        were written (`Refused` comes after the change).
        """
        self._registered(broker, broker_epoch)
        if partition[0] not in self.topics:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic {partition[0]}")
        topic, registration = self._partition(partition)
        self._check_alter_partition(broker, registration, request)
        builder = self._builder(topic, registration)
        builder.isr = tuple(member for member, _ in request.isr)
        builder.leader_recovery_state = request.leader_recovery_state
        records = self._build(partition, builder)
        self._replay(records, now_ms)
        changed = records[0].change.leader if records else None
        if changed is not None and changed != broker:
            raise NewLeaderElected(partition, records)
        return self._partition(partition)[1], list(records)

    def elect_leader(self, partition: TopicPartition, election: Election, now_ms: int) -> list[Record]:
        """Elect by request: PREFERRED or UNCLEAN. Raises Refused: ELECTION_NOT_NEEDED, or that nobody can be
        elected."""
        records = self._elect(partition, election)
        self._replay(records, now_ms)
        return list(records)

    def balance_leaders(self, now_ms: int) -> list[Record]:
        """The automatic round of preferred elections (auto.leader.rebalance.enable)."""
        records: list[PartitionChangeRecord] = []
        for partition, registration in self._partitions():
            if not registration.has_preferred_leader and len(records) < self.elections_max:
                builder = self._builder(self.topics[partition[0]], registration)
                builder.election = Election.PREFERRED
                records += self._build(partition, builder)
        self._replay(records, now_ms)
        return list(records)

    def elect_unclean_leaders(self, now_ms: int) -> list[Record]:
        """Elect for partitions without a leader whose topics allow one outside the ISR
        (unclean.leader.election.enable)."""
        records: list[PartitionChangeRecord] = []
        for partition, registration in self._partitions():
            is_asked = registration.leader == NO_LEADER and self.topics[partition[0]].allows_unclean_election
            if is_asked and len(records) < self.elections_max:
                try:
                    records += self._elect(partition, Election.UNCLEAN)
                except Refused:
                    continue  # nobody is alive
        self._replay(records, now_ms)
        return list(records)

    def reassign(
        self, partition: TopicPartition, replicas: Sequence[int] | None, now_ms: int
    ) -> list[Record]:
        """Move a partition to other brokers; None: take a move back. Raises Refused."""
        topic, registration = self._partition(partition)
        if replicas is None:
            builder = self._builder_of_revert(topic, registration)
        else:
            self._check_assignment(replicas)
            move = reassignment(registration.replicas, tuple(replicas))
            builder = self._builder(topic, registration)
            builder.election = Election.ONLINE
            builder.replicas = move.replicas
            # What an earlier move still adds or removes stays, unless this one says something else.
            builder.adding, builder.removing = move.adding or None, move.removing or None
        records = self._build(partition, builder)
        self._replay(records, now_ms)
        return list(records)

    # --- inside: what is known

    def is_active(self, broker: int) -> bool:
        known = self.brokers.get(broker)
        return known is not None and known.is_active

    def _registered(self, broker: int, epoch: int) -> RegisteredBroker:
        known = self.brokers.get(broker)
        if known is None or known.epoch != epoch:
            raise Refused(
                ErrorCode.STALE_BROKER_EPOCH, f"broker {broker} with epoch {epoch} is not registered"
            )
        return known

    def _partitions(self) -> Iterable[tuple[TopicPartition, PartitionRegistration]]:
        for name, topic in self.topics.items():
            for number, registration in enumerate(topic.partitions):
                yield (name, number), registration

    def _partition(self, partition: TopicPartition) -> tuple[Topic, PartitionRegistration]:
        name, number = partition
        topic = self.topics.get(name)
        if topic is None or not 0 <= number < len(topic.partitions):
            raise Refused(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                "there is no partition {topic}-{partition}",
                topic=name,
                partition=number,
            )
        return topic, topic.partitions[number]

    def _with_in_isr(self, broker: int) -> list[tuple[TopicPartition, PartitionRegistration]]:
        return [(key, partition) for key, partition in self._partitions() if broker in partition.isr]

    def _with_in_elr(self, broker: int) -> list[tuple[TopicPartition, PartitionRegistration]]:
        return [(key, partition) for key, partition in self._partitions() if broker in partition.elr]

    # --- inside: checks

    def _check_assignment(self, replicas: Sequence[int], replication_factor: int | None = None) -> None:
        check_assignment(replicas, self.brokers)
        if replication_factor is not None and len(replicas) != replication_factor:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "{replicas} replicas where other partitions have {factor}",
                replicas=len(replicas),
                factor=replication_factor,
            )

    def _check_alter_partition(
        self, broker: int, partition: PartitionRegistration, request: AlterPartitionRequest
    ) -> None:
        """The first check that fails decides. Raises Refused."""
        members = [member for member, _ in request.isr]
        state = request.leader_recovery_state
        if (
            request.leader_epoch > partition.leader_epoch
            or request.partition_epoch > partition.partition_epoch
        ):
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
            if not self.is_active(member) or epoch not in (-1, self.brokers[member].epoch):
                raise Refused(
                    ErrorCode.INELIGIBLE_REPLICA,
                    f"{member} is fenced, shutting down, or has registered again",
                )

    # --- inside: changes

    def _check_new(self, name: str) -> None:
        """Before anything else, so that no replica is placed, nor a random number drawn, for a topic that is
        there."""
        if name in self.topics:
            raise Refused(ErrorCode.TOPIC_ALREADY_EXISTS, "there is a topic {topic} already", topic=name)

    def _create_topic(
        self,
        name: str,
        assignments: Sequence[Sequence[int]],
        error: ErrorCode,
        min_insync_replicas: int,
        allows_unclean_election: bool,
    ) -> list[Record]:
        partitions = self._placed(assignments, error)
        self.topics[name] = Topic(partitions, min_insync_replicas, allows_unclean_election)
        return [PartitionRecord((name, number), partition) for number, partition in enumerate(partitions)]

    def _placed(self, assignments: Sequence[Sequence[int]], error: ErrorCode) -> list[PartitionRegistration]:
        """New partitions: those of the replicas that are active are in sync, and the first of them leads.
        Raises Refused."""
        partitions: list[PartitionRegistration] = []
        for replicas in assignments:
            isr = tuple(broker for broker in replicas if self.is_active(broker))
            if not isr:
                raise Refused(
                    error, "brokers {brokers} are all fenced or shutting down", brokers=in_line(replicas)
                )
            partitions.append(PartitionRegistration(tuple(replicas), isr, isr[0]))
        return partitions

    def _usable(self) -> list[UsableBroker]:
        return [
            UsableBroker(broker, known.rack, known.is_fenced)
            for broker, known in self.brokers.items()
            if known.is_fenced or not known.is_in_controlled_shutdown
        ]

    def _builder(
        self,
        topic: Topic,
        partition: PartitionRegistration,
        is_acceptable: Callable[[int], bool] | None = None,
    ) -> ChangeBuilder:
        return ChangeBuilder(
            partition,
            is_acceptable or self.is_active,
            self.metadata_version,
            Election.UNCLEAN if topic.allows_unclean_election else Election.ONLINE,
            min(topic.min_insync_replicas, len(topic.partitions[0].replicas)),
            self.is_elr_enabled and self.metadata_version.has_elr,
        )

    def _builder_of_revert(self, topic: Topic, partition: PartitionRegistration) -> ChangeBuilder:
        if not partition.is_reassigning:
            raise Refused(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "the partition does not move")
        back = reverted(partition)
        if back.is_unclean and not topic.allows_unclean_election:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "the old replicas are not in sync, and no unclean election is allowed",
            )
        builder = self._builder(topic, partition)
        builder.isr, builder.replicas, builder.adding, builder.removing = back.isr, back.replicas, (), ()
        return builder

    def _build(self, partition: TopicPartition, builder: ChangeBuilder) -> list[PartitionChangeRecord]:
        change = builder.build()
        return [] if change is None else [PartitionChangeRecord(partition, change)]

    def _elect(self, partition: TopicPartition, election: Election) -> list[PartitionChangeRecord]:
        topic, registration = self._partition(partition)
        is_unclean = election is Election.UNCLEAN
        if registration.leader != NO_LEADER if is_unclean else registration.has_preferred_leader:
            raise Refused(
                ErrorCode.ELECTION_NOT_NEEDED, "broker {broker} leads already", broker=registration.leader
            )
        builder = self._builder(topic, registration)
        builder.election = election
        records = self._build(partition, builder)
        if not records:
            code = (
                ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
                if is_unclean
                else ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
            )
            raise Refused(code, "none of brokers {brokers} can lead", brokers=in_line(registration.replicas))
        return records

    def _fence(self, broker: int) -> list[Record]:
        return [
            *self._without_broker(self._with_in_isr(broker), removed=broker),
            BrokerChangeRecord(broker, is_fenced=True),
        ]

    def _without_broker(
        self,
        affected: Iterable[tuple[TopicPartition, PartitionRegistration]],
        *,
        removed: int = NO_LEADER,
        added: int = NO_LEADER,
        unclean: int = NO_LEADER,
    ) -> list[PartitionChangeRecord]:
        """Change partitions because a broker goes (removed), comes (added), or came back without its records
        (unclean)."""

        def is_acceptable(broker: int) -> bool:
            return broker not in (removed, unclean) and (broker == added or self.is_active(broker))

        records: list[PartitionChangeRecord] = []
        for key, partition in affected:
            builder = self._builder(self.topics[key[0]], partition, is_acceptable)
            builder.isr = tuple(broker for broker in partition.isr if broker not in (removed, unclean))
            builder.unclean_shutdown = () if unclean == NO_LEADER else (unclean,)
            records += self._build(key, builder)
        return records

    def _replay(self, records: Iterable[Record], now_ms: int) -> None:
        """Apply records, as every controller does that reads the metadata log."""
        for record in records:
            match record:
                case PartitionChangeRecord((name, number), change):
                    partitions = self.topics[name].partitions
                    partitions[number] = partitions[number].merge(change)
                case BrokerChangeRecord(broker, is_fenced, is_leaving):
                    known = self.brokers[broker]
                    known.is_fenced = known.is_fenced if is_fenced is None else is_fenced
                    known.is_in_controlled_shutdown = (
                        known.is_in_controlled_shutdown if is_leaving is None else is_leaving
                    )
                    self.sessions.touch(broker, known.is_fenced, now_ms)
                case UnregisterBrokerRecord(broker):
                    del self.brokers[broker]
                    self.sessions.remove(broker)


class NewLeaderElected(Refused):
    """The change was made, and took the lead from the one who asked for it. records: what was written."""

    def __init__(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        super().__init__(
            ErrorCode.NEW_LEADER_ELECTED, f"{partition[0]}-{partition[1]} has another leader now"
        )
        self.records = list(records)

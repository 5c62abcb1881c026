"""The controller: which brokers there are, where each partition's replicas are, who leads, and who is in
sync.

    heartbeat, silence ─► fenced, unfenced, controlled shutdown ─┐
    AlterPartition, election, reassignment, unregistration ──────┴─► changes of partitions ─► records, which brokers learn

Each request answers, and gives the records that it wrote to the metadata log; they are applied at once. The
rules of a single change are in replication/election.py, reassignment.py and replica_placer.py, those of heartbeats
in replication/sessions.py.

Source: Kafka 3.9 metadata ReplicationControlManager, ClusterControlManager. Vectors:
kafka/replication/controller.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from broker_core.kafka.controller.alter_partition import check_alter_partition
from broker_core.kafka.controller.cluster_metadata import ClusterMetadata, RegisteredBroker, Topic
from broker_core.kafka.controller.records import (
    BrokerChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    TopicPartition,
    UnregisterBrokerRecord,
)
from broker_core.kafka.controller.topic_names import check_collision
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.topic_config import AS_THE_BROKERS, TopicConfig
from broker_core.kafka.replication.election import Election
from broker_core.kafka.replication.partition_state import AlterPartitionRequest
from broker_core.kafka.replication.reassignment import reassignment
from broker_core.kafka.replication.registration import NO_LEADER, PartitionRegistration
from broker_core.kafka.replication.replica_placer import check_assignment, in_line, place_replicas
from broker_core.kafka.replication.sessions import BrokerControlState

NAME_LENGTH_MAX = 249
PARTITIONS_PER_REQUEST_MAX = 10_000
CONFIG_LIMITS = {
    "retention_ms": (-1, 2**63 - 1),
    "retention_bytes": (-(2**63), 2**63 - 1),
    "segment_ms": (1, 2**63 - 1),
    "segment_bytes": (14, 2**31 - 1),
}
"""What a topic may set. Source: LogConfig.CONFIG."""


class HeartbeatReply(NamedTuple):
    """What a broker learns of itself."""

    is_fenced: bool
    is_in_controlled_shutdown: bool
    should_shut_down: bool


@dataclass(slots=True)
class Controller(ClusterMetadata):
    """The controller's requests. Each applies its records before it answers."""

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
        config: TopicConfig = AS_THE_BROKERS,
    ) -> list[Record]:
        """Make a topic, its replicas placed over racks and brokers. Raises Refused."""
        self._check_new(name, min_insync_replicas, config)
        _check_count(partitions)
        if partitions < 1:
            raise Refused(
                ErrorCode.INVALID_PARTITIONS,
                "a topic has at least one partition, not {partitions}",
                partitions=partitions,
            )
        placed = place_replicas(self._usable(), partitions, replication_factor, self.placement)
        topic = Topic([], min_insync_replicas, allows_unclean_election, config)
        return self._create_topic(name, topic, placed, ErrorCode.INVALID_REPLICATION_FACTOR)

    def create_topic_at(
        self,
        name: str,
        assignments: Sequence[Sequence[int]],
        *,
        min_insync_replicas: int = 1,
        allows_unclean_election: bool = False,
        config: TopicConfig = AS_THE_BROKERS,
    ) -> list[Record]:
        """Make a topic with given replicas, a list per partition. Raises Refused (INVALID_REPLICA_ASSIGNMENT,
        TOPIC_ALREADY_EXISTS)."""
        self._check_new(name, min_insync_replicas, config)
        _check_count(len(assignments))
        if not assignments:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "a topic has at least one partition, not {partitions}",
                partitions=0,
            )
        for replicas in assignments:
            self._check_assignment(replicas, len(assignments[0]))
        topic = Topic([], min_insync_replicas, allows_unclean_election, config)
        return self._create_topic(name, topic, assignments, ErrorCode.INVALID_REPLICA_ASSIGNMENT)

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
        _check_count(count - before)
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
        Raises Refused: STALE_BROKER_EPOCH for the sender; for the partition as `check_alter_partition`, and
        NEW_LEADER_ELECTED where the end of a reassignment took the lead from the sender: then the records
        were written (`Refused` comes after the change).
        """
        self._registered(broker, broker_epoch)
        if partition[0] not in self.topics:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic {partition[0]}")
        topic, registration = self._partition(partition)
        check_alter_partition(broker, registration, request, self.brokers)
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
        """Elect by request: PREFERRED or UNCLEAN. Raises Refused: ELECTION_NOT_NEEDED, or that no replica can
        be elected."""
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

    # --- inside

    def _check_assignment(self, replicas: Sequence[int], replication_factor: int | None = None) -> None:
        check_assignment(replicas, self.brokers)
        if replication_factor is not None and len(replicas) != replication_factor:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "{replicas} replicas where other partitions have {factor}",
                replicas=len(replicas),
                factor=replication_factor,
            )

    def _check_new(self, name: str, min_insync_replicas: int, config: TopicConfig) -> None:
        """Before anything else, so that no replica is placed, nor a random number drawn, for a topic that is
        there, or cannot be."""
        if not name or len(name) > NAME_LENGTH_MAX:
            raise Refused(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                "a topic's name has 1 to {high} characters",
                high=NAME_LENGTH_MAX,
            )
        if name in self.topics:
            raise Refused(ErrorCode.TOPIC_ALREADY_EXISTS, "there is a topic {topic} already", topic=name)
        check_collision(name, self.topics)
        if min_insync_replicas < 1:
            raise Refused(ErrorCode.INVALID_CONFIG, "min.insync.replicas is at least 1")
        for setting, (low, high) in CONFIG_LIMITS.items():
            value = getattr(config, setting)
            if value is not None and not low <= value <= high:
                raise Refused(
                    ErrorCode.INVALID_CONFIG,
                    "{setting} is {low} to {high}",
                    setting=setting,
                    low=low,
                    high=high,
                )

    def _create_topic(
        self, name: str, topic: Topic, assignments: Sequence[Sequence[int]], error: ErrorCode
    ) -> list[Record]:
        """topic: its settings; the partitions are made here."""
        partitions = topic.partitions = self._placed(assignments, error)
        self.topics[name] = topic
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


def _check_count(partitions: int) -> None:
    """Raises Refused. Source: ReplicationControlManager.validateTotalNumberOfPartitions."""
    if partitions > PARTITIONS_PER_REQUEST_MAX:
        raise Refused(
            ErrorCode.POLICY_VIOLATION,
            "a request makes at most {high} partitions",
            high=PARTITIONS_PER_REQUEST_MAX,
        )


class NewLeaderElected(Refused):
    """The change was made, and took the lead from the one who asked for it. records: what was written."""

    def __init__(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        super().__init__(
            ErrorCode.NEW_LEADER_ELECTED, f"{partition[0]}-{partition[1]} has another leader now"
        )
        self.records = list(records)

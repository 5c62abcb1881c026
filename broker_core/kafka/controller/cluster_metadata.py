"""All that the active controller knows: the brokers and their sessions, the topics, and what a change of a
partition comes to.

    records ─► brokers, topics, sessions ─► changes of partitions ─► records

Source: Kafka 3.9 metadata ReplicationControlManager, ClusterControlManager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.controller.records import (
    BrokerChangeRecord,
    PartitionChangeRecord,
    Record,
    TopicPartition,
    UnregisterBrokerRecord,
)
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.topic_config import AS_THE_BROKERS, TopicConfig
from broker_core.kafka.replication.election import METADATA_3_9, ChangeBuilder, Election, MetadataVersion
from broker_core.kafka.replication.reassignment import reverted
from broker_core.kafka.replication.registration import NO_LEADER, PartitionRegistration
from broker_core.kafka.replication.replica_placer import UsableBroker, in_line
from broker_core.kafka.replication.sessions import BrokerSessions


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
    """One topic: its partitions by number, the settings that the controller needs, and what its brokers hear
    of its logs."""

    partitions: list[PartitionRegistration]
    min_insync_replicas: int = 1
    allows_unclean_election: bool = False
    config: TopicConfig = AS_THE_BROKERS


@dataclass(slots=True)
class ClusterMetadata:
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

    # --- what is known

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

    def _usable(self) -> list[UsableBroker]:
        return [
            UsableBroker(broker, known.rack, known.is_fenced)
            for broker, known in self.brokers.items()
            if known.is_fenced or not known.is_in_controlled_shutdown
        ]

    def leader_without(self, partition: TopicPartition, broker: int, is_alive: Callable[[int], bool]) -> int:
        """Who would lead if this broker were fenced now; NO_LEADER: nobody. is_alive: of the others."""
        topic, registration = self._partition(partition)
        builder = self._builder(topic, registration, lambda other: other != broker and is_alive(other))
        builder.isr = tuple(other for other in registration.isr if other != broker)
        change = builder.build()
        return registration.leader if change is None or change.leader is None else change.leader

    # --- changes of partitions

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

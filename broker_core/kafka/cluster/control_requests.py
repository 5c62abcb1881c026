"""What brokers, and an operator's tool, ask the controller, and what it tells the brokers. Kafka's names,
times in ms.

    broker ── BrokerRegistration, BrokerHeartbeat, AlterPartition ──► controller ── MetadataDelta ──► every registered broker
    tool   ── CreateTopics, CreatePartitions, ElectLeaders, AlterPartitionReassignments ──► any broker ──► controller

In KRaft a broker *fetches* the metadata log from the controller. Here the controller sends each record to
every broker that is connected as soon as it is written, in order, with its offset in that log; a broker that
connects gets all from the beginning as one image.

Source: Kafka 3.9 clients/src/main/resources/common/message, metadata/src/main/resources/common/metadata.
"""

from __future__ import annotations

from broker_core.kafka.cluster.requests import Message
from broker_core.kafka.log.topic_config import AS_THE_BROKERS, TopicConfig
from broker_core.kafka.replication.registration import PartitionRegistration

# --- brokers


class BrokerRegistrationRequest(Message, tag="kafka.cluster.BrokerRegistration"):
    """incarnation_id: of this process; the same one again, sent again because no answer came, is no other
    process."""

    broker_id: int
    rack: str | None = None
    incarnation_id: int = 0


class BrokerRegistrationResponse(Message, tag="kafka.cluster.BrokerRegistered"):
    """broker_epoch: the offset of the registration in the metadata log, so it rises; -1 with an error."""

    error_code: int
    broker_epoch: int = -1


class BrokerHeartbeatRequest(Message, tag="kafka.cluster.BrokerHeartbeat"):
    """current_metadata_offset: how far this broker has read the metadata log. want_shut_down: the controlled
    shutdown."""

    broker_id: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False


class BrokerHeartbeatResponse(Message, tag="kafka.cluster.BrokerHeartbeatAnswer"):
    error_code: int
    is_fenced: bool = True
    should_shut_down: bool = False


class AlterPartitionRequest(Message, tag="kafka.cluster.AlterPartition"):
    """A leader asks for another ISR. isr: (broker, broker epoch); -1: not known. One partition a request,
    where Kafka may send many."""

    broker_id: int
    broker_epoch: int
    topic: str
    partition: int
    leader_epoch: int
    partition_epoch: int
    isr: list[tuple[int, int]]
    leader_recovery_state: int = 0


class AlterPartitionResponse(Message, tag="kafka.cluster.AlteredPartition"):
    """What holds now; with an error only the partition is named."""

    topic: str
    partition: int
    error_code: int
    leader_id: int = -1
    leader_epoch: int = -1
    partition_epoch: int = -1
    isr: list[int] = []


class AllocateProducerIdsRequest(Message, tag="kafka.cluster.AllocateProducerIds"):
    """A broker has given all its producer ids away, or nearly."""

    broker_id: int
    broker_epoch: int


class AllocateProducerIdsResponse(Message, tag="kafka.cluster.AllocatedProducerIds"):
    """A block that nobody else gets."""

    error_code: int
    producer_id_start: int = -1
    producer_id_len: int = 0


# --- what the controller tells


class MetadataPartitionState(Message, tag="kafka.cluster.PartitionState"):
    """A partition as it is from here on."""

    topic: str
    partition: int
    registration: PartitionRegistration


class MetadataTopicState(Message, tag="kafka.cluster.TopicState"):
    """Settings of a topic that its brokers need."""

    topic: str
    min_insync_replicas: int
    config: TopicConfig = AS_THE_BROKERS


class MetadataBrokerState(Message, tag="kafka.cluster.BrokerState"):
    """A broker as it is from here on. is_registered: False: it was removed."""

    broker_id: int
    broker_epoch: int
    rack: str | None
    is_fenced: bool
    is_in_controlled_shutdown: bool
    is_registered: bool = True


class MetadataDelta(Message, tag="kafka.cluster.MetadataDelta"):
    """Records of the metadata log in their order. end_offset: one past the last; is_image: all that holds,
    from the beginning."""

    end_offset: int
    brokers: list[MetadataBrokerState]
    topics: list[MetadataTopicState]
    partitions: list[MetadataPartitionState]
    is_image: bool = False


# --- an operator's tool


class CreateTopicsRequest(Message, tag="kafka.cluster.CreateTopics"):
    """One topic a request. assignments: replicas of each partition, the preferred leader first; empty: placed
    by the controller. config: what it sets for its own logs."""

    name: str
    num_partitions: int = -1
    replication_factor: int = -1
    assignments: list[list[int]] = []
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    config: TopicConfig = AS_THE_BROKERS


class CreatePartitionsRequest(Message, tag="kafka.cluster.CreatePartitions"):
    """count: how many there are to be in all. assignments: of the new ones; empty: placed by the
    controller."""

    name: str
    count: int
    assignments: list[list[int]] = []


class ElectLeadersRequest(Message, tag="kafka.cluster.ElectLeaders"):
    """election_type: 0 PREFERRED, 1 UNCLEAN. partitions: (topic, partition); None: all that need it."""

    election_type: int
    partitions: list[tuple[str, int]] | None = None


class AlterPartitionReassignmentsRequest(Message, tag="kafka.cluster.AlterPartitionReassignments"):
    """replicas: None: take a move back."""

    topic: str
    partition: int
    replicas: list[int] | None


class UnregisterBrokerRequest(Message, tag="kafka.cluster.UnregisterBroker"):
    broker_id: int


class ControlResponse(Message, tag="kafka.cluster.Control"):
    """The answer to each request of a tool. results: (topic, partition, error code) where it was about single
    partitions."""

    error_code: int
    error_message: str = ""
    results: list[tuple[str, int, int]] = []


ToolRequest = (
    CreateTopicsRequest
    | CreatePartitionsRequest
    | ElectLeadersRequest
    | AlterPartitionReassignmentsRequest
    | UnregisterBrokerRequest
)
ControlMessage = (
    BrokerRegistrationRequest | BrokerRegistrationResponse | BrokerHeartbeatRequest | BrokerHeartbeatResponse
    | AlterPartitionRequest | AlterPartitionResponse
    | AllocateProducerIdsRequest | AllocateProducerIdsResponse | MetadataDelta | ToolRequest | ControlResponse
)  # fmt: skip

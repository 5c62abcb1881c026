"""The controller's process: requests of brokers and of an operator's tool, its timers, and the metadata log
that every broker reads.

    register, heartbeat, AlterPartition, CreateTopics ... ─► the rules of `controller/` ─► records ─► a delta to every broker that is connected
    silence of a broker ─► fenced          each five minutes ─► preferred elections

One controller, where KRaft has a quorum of them: it does not fail over, and while it is down nobody is
elected. A broker reads the log by being sent each delta, where the original fetches; one that connects gets
an image of all that holds.

Source: Kafka 3.9 metadata QuorumController, ReplicationControlManager, ClusterControlManager, core
ControllerApis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster.authorization import refused
from broker_core.kafka.cluster.elections import tell_broker, tell_change
from broker_core.kafka.cluster.names import has_cluster_action
from broker_core.kafka.cluster.requests import FetchRequest, FetchResponse
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.widths import fits
from broker_core.kafka.controller.controller import Controller, NewLeaderElected
from broker_core.kafka.controller.records import (
    BrokerChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    TopicPartition,
    UnregisterBrokerRecord,
)
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.election import Election
from broker_core.kafka.replication.partition_state import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.sim.node import Closed, Opened, Outbox

PRODUCER_ID_BLOCK = 1_000
"""Source: ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE."""


@dataclass(slots=True)
class ControllerState:
    """rules: all that the controller knows. end_offset: of the metadata log. readers: connection -> the
    broker that reads the log there. clients: connection -> the node that opened it,
    unless it is a broker.
    incarnations: of each registered broker the process that it is."""

    rules: Controller
    settings: ClusterSettings
    end_offset: int = 0
    readers: dict[int, int] = field(default_factory=dict)
    clients: dict[int, str] = field(default_factory=dict)
    incarnations: dict[int, int] = field(default_factory=dict)
    is_balancing: bool = False
    next_producer_id: int = 0


class ControllerNode:
    """told: each partition as the brokers were told of it last; found again from the rules, so its order
    means nothing."""

    def __init__(self, state: ControllerState) -> None:
        self.state = state
        self.told: dict[TopicPartition, PartitionRegistration] = {}
        for name, number in self.partitions():
            self.told[name, number] = state.rules.topics[name].partitions[number]

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is Opened:
            self.opened(connection, message, now_us, out)
        elif kind is Closed:
            self.closed(connection)
        elif kind not in HANDLERS or not fits(message):
            self.closed(connection)
            out.close(connection)
        elif (refusal := refused(message, self.state.clients.get(connection))) is not None:
            out.send(connection, refusal)
        else:
            HANDLERS[kind](self, connection, message, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if name == "sessions":
            self.look_at_sessions(now_us, out)
        else:
            self.balance(now_us, out)

    # --- brokers

    def register(
        self, connection: int, request: c.BrokerRegistrationRequest, now_us: int, out: Outbox
    ) -> None:
        """Its epoch is the offset of its registration. While an earlier process of it counts as alive it is
        refused; the same process that asks again, for it had no answer, gets its epoch again."""
        rules, epoch = self.state.rules, self.state.end_offset
        known = rules.brokers.get(request.broker_id)
        if known is not None and self.state.incarnations.get(request.broker_id) == request.incarnation_id:
            out.send(connection, c.BrokerRegistrationResponse(0, known.epoch))
            self.read_from_here(connection, request.broker_id, out)
            return
        try:
            records = rules.register_broker(request.broker_id, epoch, now_us // 1_000, request.rack)
        except Refused as error:
            out.send(connection, c.BrokerRegistrationResponse(error.code))
            return
        tell_broker(
            "registered", "kafka.controller.registration", {"broker_epoch": epoch}, request.broker_id, out
        )
        self.state.end_offset += 1
        self.state.incarnations[request.broker_id] = request.incarnation_id
        out.send(connection, c.BrokerRegistrationResponse(0, epoch))
        self.publish(records, "kafka.controller.registration", now_us, out, also=(request.broker_id,))
        self.read_from_here(connection, request.broker_id, out)

    def heartbeat(self, connection: int, request: c.BrokerHeartbeatRequest, now_us: int, out: Outbox) -> None:
        rules = self.state.rules
        known = rules.brokers.get(request.broker_id)
        was_fenced = known is None or known.is_fenced
        was_leaving = known is not None and known.is_in_controlled_shutdown
        try:
            reply, records = rules.heartbeat(
                request.broker_id, request.broker_epoch, now_us // 1_000,
                wants_fence=request.want_fence, wants_shutdown=request.want_shut_down,
            )  # fmt: skip
        except Refused as error:
            out.send(connection, c.BrokerHeartbeatResponse(error.code))
            return
        rule = "kafka.controller.heartbeat"
        inputs = {"wants_fence": request.want_fence, "wants_shutdown": request.want_shut_down}
        if reply.is_in_controlled_shutdown and not was_leaving:
            tell_broker("shutting_down", rule, inputs, request.broker_id, out)
        elif reply.is_fenced != was_fenced:
            tell_broker("fenced" if reply.is_fenced else "unfenced", rule, inputs, request.broker_id, out)
        if self.state.readers.get(connection) != request.broker_id:
            self.read_from_here(connection, request.broker_id, out)
        self.publish(records, rule, now_us, out)
        out.send(connection, c.BrokerHeartbeatResponse(0, reply.is_fenced, reply.should_shut_down))
        self.arm_sessions(now_us, out)

    def alter_partition(
        self, connection: int, request: c.AlterPartitionRequest, now_us: int, out: Outbox
    ) -> None:
        key = (request.topic, request.partition)
        ask = AlterPartitionRequest(
            request.leader_epoch,
            request.partition_epoch,
            tuple((broker, epoch) for broker, epoch in request.isr),
            LeaderRecoveryState(request.leader_recovery_state),
        )
        before = self.told.get(key)
        rule = "kafka.isr.alter_partition"
        if before is not None:
            rule = (
                "kafka.isr.replica_lag_time_max" if len(ask.isr) < len(before.isr) else "kafka.isr.caught_up"
            )
        try:
            now, records = self.state.rules.alter_partition(
                request.broker_id, request.broker_epoch, key, ask, now_us // 1_000
            )
        except NewLeaderElected as error:
            self.publish(error.records, rule, now_us, out)
            out.send(connection, c.AlterPartitionResponse(*key, error.code))
            return
        except Refused as error:
            out.send(connection, c.AlterPartitionResponse(*key, error.code))
            return
        out.send(
            connection,
            c.AlterPartitionResponse(
                *key, 0, now.leader, now.leader_epoch, now.partition_epoch, list(now.isr)
            ),
        )
        self.publish(records, rule, now_us, out)

    def allocate_producer_ids(
        self, connection: int, request: c.AllocateProducerIdsRequest, now_us: int, out: Outbox
    ) -> None:
        """The next block, for this broker alone. Source: ProducerIdControlManager."""
        known = self.state.rules.brokers.get(request.broker_id)
        if known is None or known.epoch != request.broker_epoch:
            error = ErrorCode.BROKER_ID_NOT_REGISTERED if known is None else ErrorCode.STALE_BROKER_EPOCH
            out.send(connection, c.AllocateProducerIdsResponse(error))
            return
        first = self.state.next_producer_id
        self.state.next_producer_id += PRODUCER_ID_BLOCK
        self.state.end_offset += 1
        out.send(connection, c.AllocateProducerIdsResponse(0, first, PRODUCER_ID_BLOCK))

    # --- timers

    def arm_sessions(self, now_us: int, out: Outbox) -> None:
        """Look again when the session of the broker that is silent for the longest time would be over."""
        sessions = self.state.rules.sessions
        oldest = next(iter(sessions.unfenced), None)
        if oldest is not None:
            out.deadline(
                "sessions",
                max(now_us + 1_000, (sessions.last_contact_ms[oldest] + sessions.timeout_ms + 1) * 1_000),
            )

    def look_at_sessions(self, now_us: int, out: Outbox) -> None:
        """One broker a pass; the next pass follows at once where there is another one."""
        sessions = self.state.rules.sessions
        broker = sessions.stale(now_us // 1_000)
        if broker is not None:
            silent_ms = now_us // 1_000 - sessions.last_contact_ms[broker]
            for connection, reader in self.state.readers.items():
                if reader == broker:
                    out.blame_silence(connection)
            records = self.state.rules.fence_stale_broker(now_us // 1_000)
            rule = "kafka.controller.session_timeout"
            tell_broker(
                "fenced",
                rule,
                {"silent_ms": silent_ms, "session_timeout_ms": sessions.timeout_ms},
                broker,
                out,
            )
            self.publish(records, rule, now_us, out)
        self.arm_sessions(now_us, out)

    def balance(self, now_us: int, out: Outbox) -> None:
        """The automatic round of preferred elections."""
        settings = self.state.settings
        if settings.auto_leader_rebalance:
            self.publish(
                self.state.rules.balance_leaders(now_us // 1_000), "kafka.election.preferred", now_us, out
            )
        out.deadline("balance", now_us + settings.leader_imbalance_check_interval_ms * 1_000)

    def fetch(self, connection: int, request: FetchRequest, now_us: int, out: Outbox) -> None:
        """Nothing but the metadata log can be fetched here. Source: KafkaRaftClient.handleFetchRequest."""
        out.send(connection, FetchResponse([], ErrorCode.INVALID_REQUEST))

    # --- an operator's tool

    def create_topic(self, connection: int, request: c.CreateTopicsRequest, now_us: int, out: Outbox) -> None:
        def do() -> Sequence[Record]:
            rules = self.state.rules
            request.config.check()
            settings = {
                "min_insync_replicas": request.min_insync_replicas,
                "allows_unclean_election": request.unclean_leader_election,
                "config": request.config,
            }
            if request.assignments:
                return rules.create_topic_at(request.name, request.assignments, **settings)  # type: ignore[arg-type]
            partitions, replicas = request.num_partitions, request.replication_factor
            return rules.create_topic(request.name, partitions, replicas, **settings)  # type: ignore[arg-type]

        self.serve(connection, do, "kafka.controller.placement", now_us, out)

    def create_partitions(
        self, connection: int, request: c.CreatePartitionsRequest, now_us: int, out: Outbox
    ) -> None:
        self.serve(
            connection,
            lambda: self.state.rules.create_partitions(request.name, request.count, request.assignments),
            "kafka.controller.placement",
            now_us,
            out,
        )

    def reassign(
        self, connection: int, request: c.AlterPartitionReassignmentsRequest, now_us: int, out: Outbox
    ) -> None:
        key = (request.topic, request.partition)
        self.serve(
            connection,
            lambda: self.state.rules.reassign(key, request.replicas, now_us // 1_000),
            "kafka.controller.reassignment",
            now_us,
            out,
        )

    def unregister(
        self, connection: int, request: c.UnregisterBrokerRequest, now_us: int, out: Outbox
    ) -> None:
        self.serve(
            connection,
            lambda: self.state.rules.unregister_broker(request.broker_id, now_us // 1_000),
            "kafka.controller.unregistration",
            now_us,
            out,
        )

    def elect(self, connection: int, request: c.ElectLeadersRequest, now_us: int, out: Outbox) -> None:
        """Each partition on its own: one that needs no election, or has nobody to elect, does not keep the
        others from it."""
        if request.election_type not in (0, 1):
            code, reason = ErrorCode.INVALID_REQUEST, f"unknown election type {request.election_type}"
            out.send(connection, c.ControlResponse(code, reason))
            return
        election = Election.UNCLEAN if request.election_type else Election.PREFERRED
        rule = "kafka.election.unclean" if request.election_type else "kafka.election.preferred"
        results: list[tuple[str, int, int]] = []
        for key in self.partitions() if request.partitions is None else request.partitions:
            try:
                self.publish(self.state.rules.elect_leader(key, election, now_us // 1_000), rule, now_us, out)
            except Refused as error:
                if request.partitions is not None or error.code is not ErrorCode.ELECTION_NOT_NEEDED:
                    results.append((*key, int(error.code)))
                continue
            results.append((*key, 0))
        out.send(connection, c.ControlResponse(0, "", results))

    def serve(
        self, connection: int, do: Callable[[], Sequence[Record]], rule: str, now_us: int, out: Outbox
    ) -> None:
        try:
            records = do()
        except Refused as error:
            out.send(connection, c.ControlResponse(error.code, error.reason))
            return
        self.publish(records, rule, now_us, out)
        out.send(connection, c.ControlResponse(0))

    # --- the metadata log

    def publish(
        self, records: Sequence[Record], rule: str, now_us: int, out: Outbox, also: Sequence[int] = ()
    ) -> None:
        """Tell what the records have changed: turning points for people, a delta for the brokers. also:
        brokers that changed beside them."""
        rules = self.state.rules
        self.state.end_offset += len(records)
        brokers = dict.fromkeys(also)
        topics: dict[str, None] = {}
        parts: dict[TopicPartition, None] = {}
        for record in records:
            match record:
                case PartitionRecord(key):
                    topics[key[0]] = None
                    parts[key] = None
                case PartitionChangeRecord(key):
                    parts[key] = None
                case BrokerChangeRecord(broker) | UnregisterBrokerRecord(broker):
                    brokers[broker] = None
        if not (brokers or parts):
            return
        why = out.why()
        for key in parts:
            now = rules.topics[key[0]].partitions[key[1]]
            tell_change(key, self.told.get(key), now, rule, out)
            out.because(why)
            self.told[key] = now
        delta = c.MetadataDelta(
            self.state.end_offset,
            [self.broker_state(broker) for broker in brokers],
            [self.topic_state(name) for name in topics],
            [c.MetadataPartitionState(*key, self.told[key]) for key in parts],
        )
        for connection in self.state.readers:
            out.send(connection, delta)

    def read_from_here(self, connection: int, broker: int, out: Outbox) -> None:
        """A broker has connected: it gets all that holds, and then each change."""
        rules = self.state.rules
        for other in [other for other, reader in self.state.readers.items() if reader == broker]:
            del self.state.readers[other]
        self.state.readers[connection] = broker
        out.send(
            connection,
            c.MetadataDelta(
                self.state.end_offset,
                [self.broker_state(known) for known in rules.brokers],
                [self.topic_state(name) for name in rules.topics],
                [c.MetadataPartitionState(*key, self.told[key]) for key in self.partitions()],
                is_image=True,
            ),
        )

    def partitions(self) -> list[TopicPartition]:
        """All there are, topic by topic."""
        return [
            (name, number)
            for name, topic in self.state.rules.topics.items()
            for number in range(len(topic.partitions))
        ]

    def broker_state(self, broker: int) -> c.MetadataBrokerState:
        known = self.state.rules.brokers.get(broker)
        if known is None:
            return c.MetadataBrokerState(broker, -1, None, True, False, is_registered=False)
        return c.MetadataBrokerState(
            broker, known.epoch, known.rack, known.is_fenced, known.is_in_controlled_shutdown
        )

    def topic_state(self, name: str) -> c.MetadataTopicState:
        topic = self.state.rules.topics[name]
        return c.MetadataTopicState(name, topic.min_insync_replicas, topic.config)

    # --- connections

    def opened(self, connection: int, message: Opened, now_us: int, out: Outbox) -> None:
        """The first connection of all sets the automatic round going."""
        if not has_cluster_action(message.peer):
            self.state.clients[connection] = message.peer
        if not self.state.is_balancing:
            self.state.is_balancing = True
            out.deadline("balance", now_us + self.state.settings.leader_imbalance_check_interval_ms * 1_000)

    def closed(self, connection: int) -> None:
        """A broker's session does not end with its connection."""
        self.state.clients.pop(connection, None)
        self.state.readers.pop(connection, None)


HANDLERS: Mapping[type, Callable[[ControllerNode, int, Any, int, Outbox], None]] = MappingProxyType(
    {
        c.BrokerRegistrationRequest: ControllerNode.register,
        c.BrokerHeartbeatRequest: ControllerNode.heartbeat,
        c.AlterPartitionRequest: ControllerNode.alter_partition,
        c.CreateTopicsRequest: ControllerNode.create_topic,
        c.CreatePartitionsRequest: ControllerNode.create_partitions,
        c.AlterPartitionReassignmentsRequest: ControllerNode.reassign,
        c.UnregisterBrokerRequest: ControllerNode.unregister,
        c.ElectLeadersRequest: ControllerNode.elect,
        c.AllocateProducerIdsRequest: ControllerNode.allocate_producer_ids,
        FetchRequest: ControllerNode.fetch,
    }
)
"""What may be asked here. Anything else closes the connection."""

"""The metadata log reaches a broker: it learns of brokers and topics, and takes up, changes or gives up the
roles of its replicas.

    delta ─► brokers, topics ─► replicas that I lead: make_leader, no fetcher
                              replicas that I follow: make_follower; a new leader epoch: the fetcher of that
                              leader begins again replicas that are not mine any more: given up, log deleted

Source: Kafka 3.9 core BrokerMetadataPublisher, ReplicaManager.applyDelta.
"""

from __future__ import annotations

from broker_core.kafka.cluster import (
    changes,
    cleaner,
    groups,
    isr_updates,
    log_directory,
    replication,
    transactions,
)
from broker_core.kafka.cluster.control_requests import MetadataDelta
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.state import SHUTTING_DOWN, Replica, TopicPartition
from broker_core.kafka.log.topic_config import AS_THE_BROKERS
from broker_core.kafka.replication.brokers import KnownBroker
from broker_core.kafka.replication.fetcher import Fetcher
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr
from broker_core.kafka.replication.registration import NO_LEADER, PartitionRegistration
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.sim.node import Outbox


def metadata_delta(host: Host, connection: int, delta: MetadataDelta, now_us: int, out: Outbox) -> None:
    """Take over what the controller tells; an image is all that holds, so what it does not name is no
    more."""
    state = host.state
    if connection != state.control:
        return
    if delta.is_image:
        named = {broker.broker_id for broker in delta.brokers}
        for broker_id in [broker_id for broker_id in state.brokers if broker_id not in named]:
            del state.brokers[broker_id]
    for told in delta.brokers:
        if told.is_registered:
            state.brokers[told.broker_id] = KnownBroker(
                told.broker_epoch, True, told.is_fenced, told.is_in_controlled_shutdown, told.rack
            )
        else:
            state.brokers.pop(told.broker_id, None)
    for topic in delta.topics:
        state.topics[topic.topic] = topic.min_insync_replicas
        if topic.config != AS_THE_BROKERS:
            state.configs[topic.topic] = topic.config
    changed: list[TopicPartition] = []
    for told_partition in delta.partitions:
        key = (told_partition.topic, told_partition.partition)
        known = state.registrations.get(key)
        if (
            known is None
            or known.partition_epoch < told_partition.registration.partition_epoch
            or key not in state.replicas
        ):
            state.registrations[key] = told_partition.registration
            changed.append(key)
    state.metadata_offset = delta.end_offset
    for key in changed:
        apply(host, key, state.registrations[key], now_us, out)
    replication.go_on(host, now_us, out)
    if changed:
        groups.metadata_changed(host, now_us, out)
        transactions.metadata_changed(host, changed)


def apply(host: Host, key: TopicPartition, known: PartitionRegistration, now_us: int, out: Outbox) -> None:
    """Be what this partition's registration says."""
    state = host.state
    if state.broker_id not in known.replicas:
        _give_up(host, key, now_us, out)
        return
    replica = state.replicas.get(key) or _take_up(host, key, now_us)
    partition = replica.partition
    decided = LeaderAndIsr(
        known.leader,
        known.leader_epoch,
        known.partition_epoch,
        known.replicas,
        known.isr,
        known.adding,
        known.removing,
    )
    host.touch_followers(key, partition)
    log = partition.log
    was_at = -1 if log is None else log.high_watermark
    if known.leader == state.broker_id:
        replication.remove(host, key, replica)
        partition.make_leader(decided, state.now_ms(now_us))
        isr_updates.send_request(host, key, partition, now_us, out)
    else:
        is_new_epoch = partition.make_follower(decided)
        is_leaving = state.stage == SHUTTING_DOWN and (
            known.leader == NO_LEADER or state.broker_id not in known.isr
        )
        if is_leaving or known.leader == NO_LEADER:
            replication.remove(host, key, replica)
        elif is_new_epoch or replica.fetcher.state is None:
            replication.remove(host, key, replica)
            replication.add(host, key, replica, known.leader, now_us, out)
    replica.has_refused = replica.has_refused and partition.is_under_min_isr
    changes.role_changed(host, key, now_us, out)
    if log is not None and log.high_watermark != was_at:
        changes.high_watermark_moved(host, key, replica, now_us, out)
    if key[0] == TRANSACTION_STATE_TOPIC:
        transactions.role_changed(host, key, now_us, out)


# --- inside


def _take_up(host: Host, key: TopicPartition, now_us: int) -> Replica:
    state, settings = host.state, host.state.settings
    log = state.disk.logs.get(key)
    if log is None:
        config = state.configs.get(key[0], AS_THE_BROKERS)
        log = log_directory.new_log(state.disk, key, settings, config, state.now_ms(now_us))
    partition = Partition(
        state.broker_id,
        state.brokers,
        state.broker_epoch,
        state.topics[key[0]],
        settings.replica_lag_time_max_ms,
        settings.lag_messages_max,
        log,
    )
    replica = state.replicas[key] = Replica(partition, Fetcher(partition, settings.truncation))
    return replica


def _give_up(host: Host, key: TopicPartition, now_us: int, out: Outbox) -> None:
    replica = host.state.replicas.get(key)
    if host.state.disk.logs.pop(key, None) is not None:
        cleaner.was_deleted(host.state.disk, key)
    if replica is None:
        return
    replication.remove(host, key, replica)
    replica.partition.leader = None
    changes.complete_produces(host, replica, now_us, out)
    del host.state.replicas[key]
    changes.role_changed(host, key, now_us, out)
    if key[0] == TRANSACTION_STATE_TOPIC:
        transactions.role_changed(host, key, now_us, out)

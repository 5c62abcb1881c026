"""The leader and its ISR: who is late is noticed by a timer, who has caught up by a fetch; either way the
controller is asked.

Source: Kafka 3.9 core ReplicaManager (isr-expiration, every half of replica.lag.time.max.ms),
DefaultAlterPartitionManager.
"""

from __future__ import annotations

from broker_core.kafka.cluster import changes
from broker_core.kafka.cluster.control_requests import AlterPartitionRequest, AlterPartitionResponse
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.state import RUNNING, Replica, TopicPartition
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr
from broker_core.sim.node import Outbox

RETRY_MS = 50


def look_at_isrs(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """Every half of `replica.lag.time.max.ms`: ask the controller to drop who is late."""
    state = host.state
    now_ms = state.now_ms(now_us)
    for key, replica in state.replicas.items():
        partition = replica.partition
        if partition.is_leader:
            host.touch_followers(key, partition)
            partition.maybe_shrink_isr(now_ms)
            send_request(host, key, partition, now_us, out)
    out.deadline("isr", now_us + state.settings.replica_lag_time_max_ms * 500)


def send_request(host: Host, key: TopicPartition, partition: Partition, now_us: int, out: Outbox) -> None:
    """Send the partition's AlterPartition, if there is one that was not sent yet. Without a controller it
    waits for one."""
    state = host.state
    if not state.control or state.stage != RUNNING:
        return
    request = partition.alter_partition.take_request()
    if request is not None:
        out.send(
            state.control,
            AlterPartitionRequest(
                state.broker_id,
                state.broker_epoch,
                *key,
                request.leader_epoch,
                request.partition_epoch,
                list(request.isr),
                request.leader_recovery_state.value,
            ),
        )


def send_all(host: Host, now_us: int, out: Outbox) -> None:
    """The controller can be reached again: what was on its way to it may be lost, and is sent again."""
    for key, replica in host.state.replicas.items():
        replica.partition.alter_partition.is_sent = False
        out.cancel(_timer(key))
        send_request(host, key, replica.partition, now_us, out)


def alter_again(host: Host, name: str, now_us: int, out: Outbox) -> None:
    """The back-off after an error of the whole request is over."""
    for key, replica in host.state.replicas.items():
        if _timer(key) == f"alter:{name}":
            replica.partition.alter_partition.is_sent = False
            send_request(host, key, replica.partition, now_us, out)


def fetched_by_follower(
    host: Host, key: TopicPartition, replica: Replica, was_at: int, now_us: int, out: Outbox
) -> None:
    """A follower's fetch has perhaps moved the high watermark, and perhaps the follower is to join the ISR.
    was_at: HW before."""
    partition = replica.partition
    if partition.alter_partition.in_flight is not None:
        send_request(host, key, partition, now_us, out)
    if partition.log is not None and partition.log.high_watermark != was_at:
        changes.high_watermark_moved(host, key, replica, now_us, out)


def _timer(key: TopicPartition) -> str:
    return f"alter:{key[0]}:{key[1]}"


def alter_partition_answered(
    host: Host, connection: int, answer: AlterPartitionResponse, now_us: int, out: Outbox
) -> None:
    """The controller has decided on an ISR."""
    key = (answer.topic, answer.partition)
    replica = host.state.replicas.get(key)
    if replica is None or connection != host.state.control:
        return
    partition = replica.partition
    if answer.error_code == ErrorCode.STALE_BROKER_EPOCH:
        # Of the whole request: no partition has heard an answer, and what was asked for stays asked for.
        if partition.alter_partition.in_flight is not None:
            out.deadline(_timer(key), now_us + RETRY_MS * 1_000)
        return
    was_at = -1 if partition.log is None else partition.log.high_watermark
    if answer.error_code:
        partition.alter_partition_failed(ErrorCode(answer.error_code))
    else:
        decided = LeaderAndIsr(
            answer.leader_id, answer.leader_epoch, answer.partition_epoch, partition.replicas, answer.isr
        )
        partition.alter_partition_succeeded(decided, host.state.now_ms(now_us))
    host.touch_followers(key, partition)
    fetched_by_follower(host, key, replica, was_at, now_us, out)
    if partition.isr_state.is_pending or not partition.is_leader:
        return
    # Whoever waits for NOT_ENOUGH_REPLICAS_AFTER_APPEND, or is done with fewer members.
    changes.complete_produces(host, replica, now_us, out)

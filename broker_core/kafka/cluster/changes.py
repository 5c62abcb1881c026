"""What follows from a change of a partition: who waited for it is answered.

Source: Kafka 3.9 core Partition (tryCompleteDelayedRequests), DelayedProduce, DelayedFetch.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.kafka.cluster import fetch
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.state import Replica, TopicPartition
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.partition import Partition
from broker_core.sim.node import Outbox


def appended(host: Host, key: TopicPartition, replica: Replica, now_us: int, out: Outbox) -> None:
    """Followers that wait for this partition get what came. (`Host.touch_followers` was called before the
    append.)"""
    watchers = host.watchers.get(key)
    if watchers:
        for connection, session in list(watchers.items()):
            if session.until_us and session.request.replica_id >= 0 and fetch.is_ready(host, session, key):
                fetch.complete(host, connection, session, now_us, out)


def high_watermark_moved(host: Host, key: TopicPartition, replica: Replica, now_us: int, out: Outbox) -> None:
    """Waiting produces may be done, and consumers may read on. A follower learns it with the next answer, and
    is not answered for it."""
    if replica.produces.waiting:
        complete_produces(host, replica, now_us, out)
    watchers = host.watchers.get(key)
    if watchers:
        for connection, session in list(watchers.items()):
            session.active[key] = None
            if session.until_us and session.request.replica_id < 0 and fetch.is_ready(host, session, key):
                fetch.complete(host, connection, session, now_us, out)
    if key[0] == OFFSETS_TOPIC and replica.partition.log is not None:
        host.consequences.offsets_moved(host, key[1], replica.partition.log.high_watermark, now_us, out)


def role_changed(host: Host, key: TopicPartition, now_us: int, out: Outbox) -> None:
    """Another leader, epoch, ISR, or no replica here any more: whoever waits is answered if that is of
    interest to him."""
    replica = host.state.replicas.get(key)
    if replica is not None and replica.produces.waiting:
        complete_produces(host, replica, now_us, out)
    for connection, session in list(host.watchers.get(key, {}).items()):
        session.active[key] = None
        if session.until_us and fetch.is_ready(host, session, key):
            fetch.complete(host, connection, session, now_us, out)
    if key[0] == OFFSETS_TOPIC:
        host.consequences.offsets_role_changed(host, key, now_us, out)


def complete_produces(host: Host, replica: Replica, now_us: int, out: Outbox) -> None:
    """Answer the produces that the partition's high watermark, or its role, has decided."""
    answer_produces(host, replica.produces.complete(replica.partition), replica, now_us, out)


def answer_produces(
    host: Host, decided: Iterable[tuple[int, ErrorCode]], replica: Replica, now_us: int, out: Outbox
) -> None:
    """One partition of each of these produces is decided; whose last one it was is answered."""
    partition = replica.partition
    for number, error in decided:
        pending = host.state.produces[number]
        if error is not ErrorCode.NONE:
            for answer in pending.answers:
                if host.state.replicas.get((answer.topic, answer.index)) is replica:
                    answer.error_code, answer.base_offset = int(error), -1
                    if error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                        answer.current_leader = -1 if partition.leader is None else partition.leader
                        answer.current_leader_epoch = partition.leader_epoch
        pending.left -= 1
        if pending.left == 0:
            del host.state.produces[number]
            host.consequences.produced(host, pending, error, now_us, out)


def tell_refusal(host: Host, key: TopicPartition, partition: Partition, out: Outbox) -> None:
    """Once until there are enough again: a turning point for each produce would be traffic."""
    inputs = {"isr": sorted(partition.isr_state.isr), "min_insync_replicas": partition.min_isr, "acks": -1}
    out.tell("kafka.partition.writes_refused", "kafka.partition.min_insync_replicas", inputs, {
        "broker": host.state.broker_id, "topic": key[0], "partition": key[1], "error": "NOT_ENOUGH_REPLICAS",
    })  # fmt: skip

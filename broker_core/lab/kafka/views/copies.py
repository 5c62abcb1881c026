"""The copies of one partition: each replica's log and role as its broker has them, and what the leader
believes of it.

A copy whose process is gone still shows its log: that is what the disk holds, and what comes back with the
process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from broker_core.events import Json
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.names import INTERNAL_TOPICS, broker_node
from broker_core.kafka.cluster.state import BrokerState, Replica, TopicPartition
from broker_core.kafka.replication.record_contents import STORED, RecordContents
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightBatch, LightLog
from broker_core.sim.slot import RUNNING
from broker_core.sim.world import World

LEADS, FOLLOWS, WITHOUT_LEADER, NOT_RUNNING = "leads", "follows", "without_leader", "not_running"


def copies_view(
    key: TopicPartition,
    registration: PartitionRegistration,
    brokers: Mapping[int, BrokerState],
    leader_end: int | None,
    world: World,
) -> Json:
    """By broker, in the order of the assignment, then copies that are there though nobody assigned them. lag:
    behind the leader's log end, below 0 where a copy has more; None: nobody leads."""
    others = (
        broker
        for broker, state in brokers.items()
        if key in state.disk.logs and broker not in registration.replicas
    )
    views: Json = {}
    for broker in (*registration.replicas, *others):
        state = brokers.get(broker)
        log = None if state is None else state.disk.logs.get(key)
        if state is not None and log is not None:
            slot = world.slots[broker_node(broker)]
            replica = state.replicas.get(key) if slot.condition == RUNNING else None
            views[str(broker)] = copy_view(
                broker,
                log,
                replica,
                registration,
                (world.now_us + world.design.ahead_us) // 1_000 + state.skew_ms,
            )
            views[str(broker)]["lag"] = None if leader_end is None else leader_end - log.log_end_offset
            contents = STORED if key[0] in INTERNAL_TOPICS else cast(Broker, slot.node).host.contents
            views[str(broker)]["compacted"] = _compacted(log, contents)
    return views


def _compacted(log: LightLog, contents: RecordContents) -> Json | None:
    """Of a compacted log, how many records are left in it, and how many of them are tombstones."""
    if not log.settings.cleanup_compact:
        return None
    values = [
        value
        for batch in log.batches()
        if isinstance(batch, LightBatch) and not batch.header.is_control
        for value in batch.values
        if value is not None
    ]
    return {"records": len(values), "tombstones": sum(map(contents.is_tombstone, values))}


def copy_view(
    broker: int, log: LightLog, replica: Replica | None, registration: PartitionRegistration, now_ms: int
) -> Json:
    """One copy. start, high_watermark, stable, end: offsets of its own log. epochs: (leader epoch, where it
    begins), the oldest first.

    role, follows, leader_epoch: as its own broker believes, which may have been told less than another one.
    is_in_isr: by the controller.
    fetch: of a follower, with how far it is behind the high watermark as it was told; followers: of a leader,
    with what it knows of them.
    """
    view: Json = {
        "start": log.log_start_offset,
        "high_watermark": log.high_watermark,
        "stable": log.last_stable_offset,
        "end": log.log_end_offset,
        "epochs": [list(row) for row in log.epochs.rows],
        "is_in_isr": broker in registration.isr,
        "role": NOT_RUNNING,
        "follows": None,
        "leader_epoch": None,
        "fetch": None,
        "followers": None,
        "pending_isr": None,
    }
    if replica is None:
        return view
    partition = replica.partition
    view["leader_epoch"] = partition.leader_epoch
    if partition.is_leader:
        state = partition.isr_state
        view["role"] = LEADS
        view["pending_isr"] = sorted(state.maximal_isr) if state.is_pending else None
        view["followers"] = {
            str(other): {
                "end": known.log_end_offset,
                "lag": None if known.log_end_offset < 0 else log.log_end_offset - known.log_end_offset,
                "caught_up_ms": None
                if known.last_caught_up_ms is None
                else max(0, now_ms - known.last_caught_up_ms) // 500 * 500,
            }
            for other, known in partition.followers.items()
        }
        return view
    has_leader = partition.leader is not None and partition.leader >= 0
    view["role"], view["follows"] = (FOLLOWS, partition.leader) if has_leader else (WITHOUT_LEADER, None)
    fetcher = replica.fetcher
    if fetcher.state is not None:
        asks = fetcher.state.asks is not None
        view["fetch"] = {
            "step": "asking_offsets" if asks else fetcher.state.step.value.lower(),
            "offset": fetcher.state.offset,
            "lag": fetcher.state.lag,
        }
    elif fetcher.is_failed:
        view["fetch"] = {"step": "failed", "offset": log.log_end_offset, "lag": None}
    return view

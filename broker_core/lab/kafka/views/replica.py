"""What one broker has on its disk of one partition: its own batches, offsets and checkpoint files, whether
its process runs or not.

    {"at_us", "sent", "broker": {"id", "condition", "files"}, "replicas": [...], "replica": {"start", ..., "segments",
    "files"} or None}

The batches are the light log's columns (`kafka/replication/light_columns.py`), from the log start on; of a
compacted topic all of them, by segment. `files` are texts as they are on the disk, byte for byte. Clocks are the
nodes': `clock_ms` ahead of the lab's.
"""

from __future__ import annotations

from broker_core.events import Json
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.state import DOWN, BrokerState, TopicPartition
from broker_core.kafka.log.checkpoints import CLEANER, LEADER_EPOCH, REPLICATION, read_offsets
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.replication.light_columns import columns_of
from broker_core.kafka.replication.light_segment import LightSegment
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.lab.kafka.views.cluster import brokers_of
from broker_core.lab.kafka.views.copies import FOLLOWS, LEADS, NOT_RUNNING, WITHOUT_LEADER
from broker_core.lab.messages import Messages
from broker_core.sim.slot import PAUSED, RUNNING
from broker_core.sim.world import World

SETTINGS = (
    "segment_ms",
    "segment_bytes",
    "cleanup_delete",
    "retention_ms",
    "retention_bytes",
    "min_cleanable_dirty_ratio_percent",
    "delete_retention_ms",
)
"""Of the log, which a page shows."""
LOST, STOPPED = "disk_lost", "stopped"


def replica_view(world: World, broker: int, key: TopicPartition, messages: Messages) -> Json:
    """One replica, and which others the broker has: [topic, partition, log start, log end, whether it leads],
    by name.

    `sent`: of the messages that people sent, keys and payloads, which no other process can work out.
    `replica` is None where the broker has none of that partition. Raises KeyError for a broker that is not
    there.
    """
    brokers = brokers_of(world)
    state = brokers[broker]
    slot = world.slots[broker_node(broker)]
    is_there = slot.condition in (RUNNING, PAUSED) and state.stage != DOWN
    condition = (
        LOST
        if slot.disk.is_lost
        else slot.condition
        if slot.condition != RUNNING
        else STOPPED
        if state.stage == DOWN
        else RUNNING
    )
    log = state.disk.logs.get(key)
    return {
        "at_us": world.now_us,
        "clock_ms": world.design.ahead_us // 1_000,
        "sent": {str(place): [sent.key, sent.payload] for place, sent in messages.sent.items()},
        "broker": {"id": broker, "condition": condition, "files": _texts(state.disk.folder)},
        "replicas": [
            [*each, held.log_start_offset, held.log_end_offset, is_there and _role(state, each) == LEADS]
            for each, held in sorted(state.disk.logs.items())
            if each[0] != TRANSACTION_STATE_TOPIC
        ],
        "replica": None if log is None else _replica(log, key, state, brokers, is_there),
    }


def _replica(
    log: LightLog, key: TopicPartition, state: BrokerState, brokers: dict[int, BrokerState], is_there: bool
) -> Json:
    """is_there: the process is. Without it the high watermark is the one that was written last, with which it
    would come back."""
    replica = state.replicas.get(key) if is_there else None
    leader = None if replica is None else replica.partition.leader
    leading = None if leader is None else brokers.get(leader)
    leader_log = None if leading is None else leading.disk.logs.get(key)
    settings = log.settings
    is_compacted = settings.cleanup_compact
    high_watermark = (
        log.high_watermark if is_there else read_offsets(state.disk.folder, REPLICATION).get(key, 0)
    )
    return {
        "start": log.log_start_offset,
        "end": log.log_end_offset,
        "high_watermark": high_watermark,
        "recovery_point": log.recovery_point,
        "role": _role(state, key) if is_there else NOT_RUNNING,
        "leader": leader,
        "leader_end": None if leader_log is None else leader_log.log_end_offset,
        "files": {name: text for name, text in _texts(log.folder).items() if name == LEADER_EPOCH},
        "is_compacted": is_compacted,
        "cleaned_up_to": read_offsets(state.disk.folder, CLEANER).get(key) if is_compacted else None,
        "settings": {name: getattr(settings, name) for name in SETTINGS},
        "segments": [_segment(segment, log) for segment in log.segments if isinstance(segment, LightSegment)],
    }


def _segment(segment: LightSegment, log: LightLog) -> Json:
    held = [batch for batch in segment.held if batch.header.last_offset >= log.log_start_offset]
    return {"base": segment.base_offset, "batches": columns_of(held)}


def _role(state: BrokerState, key: TopicPartition) -> str:
    replica = state.replicas.get(key)
    if replica is None or replica.partition.is_leader:
        return WITHOUT_LEADER if replica is None else LEADS
    return (
        FOLLOWS if replica.partition.leader is not None and replica.partition.leader >= 0 else WITHOUT_LEADER
    )


def _texts(folder: object) -> dict[str, str]:
    """Only checkpoints are text; snapshots and transaction indexes are not."""
    if not isinstance(folder, MemoryFolder):
        return {}
    return {
        name: folder.read(name).decode()
        for name in sorted(folder.names())
        if name.endswith(("-checkpoint", "_cleanshutdown"))
    }

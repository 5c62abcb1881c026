"""A broker's retention: every 300 s, with the round of its checkpoints, it deletes what its topics no longer
keep.

    delete           here, on leader and follower alike, each by its own clock and its own high watermark
    compact          by the cleaner (cleaner.py), after each of its rounds

What goes and what stays is the log's own rule (kafka/log/retention.py): whole segments, the oldest first, up
to the high watermark. A consumer that was below the new log start gets OFFSET_OUT_OF_RANGE with its next
fetch. A follower's log start follows the leader's with its fetches, too.

Source: Kafka 3.9 core LogManager (startup, cleanupLogs), LogCleaner.CleanerThread.tryCleanFilthiestLog.
"""

from __future__ import annotations

from broker_core.kafka.cluster.state import BrokerState, TopicPartition
from broker_core.kafka.log.retention import Deletion, delete_old_segments
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.sim.node import Outbox


def retain_if_due(state: BrokerState, now_us: int, out: Outbox, *, has_cleaned: bool) -> None:
    """Look for segments that are due, if it is time to look. has_cleaned: the cleaner has just had a round."""
    is_time = now_us >= state.retain_at_us
    if is_time:
        state.retain_at_us = now_us + state.settings.log_retention_check_interval_ms * 1_000
    if is_time or has_cleaned:
        for key, log in state.disk.logs.items():
            if has_cleaned if log.settings.cleanup_compact else is_time:
                _retain(state, key, log, now_us, out)


# --- inside


def _retain(state: BrokerState, key: TopicPartition, log: LightLog, now_us: int, out: Outbox) -> None:
    """Delete what one log no longer keeps. The leader tells of it where its log start moved."""
    now_ms, start = state.now_ms(now_us), log.log_start_offset
    deletions = delete_old_segments(log, now_ms)
    log.delete_due_files(now_ms)
    replica = state.replicas.get(key)
    if log.log_start_offset > start and replica is not None and replica.partition.is_leader:
        _tell(state, key, log, start, deletions, out)


def _tell(
    state: BrokerState,
    key: TopicPartition,
    log: LightLog,
    start: int,
    deletions: list[Deletion],
    out: Outbox,
) -> None:
    """start: where the log started before."""
    is_time = deletions[-1].reason == "time"  # the pass by size comes before that by time
    settings = log.settings
    out.tell(
        "kafka.log.segments_deleted",
        "kafka.log.retention_ms" if is_time else "kafka.log.retention_bytes",
        {"retention_ms": settings.retention_ms} if is_time else {"retention_bytes": settings.retention_bytes},
        {
            "broker": state.broker_id,
            "topic": key[0],
            "partition": key[1],
            "segments": len(deletions),
            "bytes": sum(deletion.size_in_bytes for deletion in deletions),
            "was_start": start,
            "start": log.log_start_offset,
        },
    )

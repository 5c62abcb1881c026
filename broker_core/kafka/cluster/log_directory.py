"""What a broker writes to its log directory beside the logs: the high watermarks every 5 s, and how its logs
are found again.

    replication-offset-checkpoint   flights 0 7        the high watermark that a restarted broker begins with
    log-start-offset-checkpoint     flights 0 3        where DeleteRecords has moved the log start to
    cleaner-offset-checkpoint       __consumer_offsets 4 60     how far a compacted log is cleaned (cleaner.py)
    .kafka_cleanshutdown            the process ended in order; else the last seconds' high watermarks are missing

Source: Kafka 3.9 core ReplicaManager.checkpointHighWatermarks, LogManager.
"""

from __future__ import annotations

from dataclasses import replace

from broker_core.kafka.cluster.cleaner import clean_if_due
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.retention import retain_if_due
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerDisk, TopicPartition
from broker_core.kafka.log.checkpoints import (
    CLEAN_SHUTDOWN,
    LOG_START,
    REPLICATION,
    read_offsets,
    write_offsets,
)
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.sim.node import Outbox


def checkpoint_due(host: Host, _: str, now_us: int, out: Outbox) -> None:
    """Every 5 s: write the high watermarks, and flush what is due; every 15 s the cleaner, and every 300 s
    retention."""
    state = host.state
    has_cleaned = clean_if_due(state, now_us, host.contents)
    retain_if_due(state, now_us, out, has_cleaned=has_cleaned)
    write_checkpoints(state.disk)
    for log in state.disk.logs.values():
        log.flush_if_due(state.now_ms(now_us))
    out.deadline("checkpoint", now_us + state.settings.high_watermark_checkpoint_interval_ms * 1_000)


def write_checkpoints(disk: BrokerDisk) -> None:
    write_offsets(disk.folder, REPLICATION, {key: log.high_watermark for key, log in disk.logs.items()})
    moved = {
        key: log.log_start_offset
        for key, log in disk.logs.items()
        if log.log_start_offset > log.segments[0].base_offset
    }
    if moved or LOG_START in disk.folder.names():
        write_offsets(disk.folder, LOG_START, moved)


def close_logs(host: Host, now_us: int) -> None:
    """A clean stop: everything is flushed, and a file says so."""
    disk = host.state.disk
    for log in disk.logs.values():
        log.close(host.state.now_ms(now_us))
    write_checkpoints(disk)
    disk.folder.replace(CLEAN_SHUTDOWN, b"")


def new_log(
    disk: BrokerDisk, key: TopicPartition, settings: ClusterSettings, config: TopicConfig, now_ms: int
) -> LightLog:
    """Make the log of a replica that this broker did not have. config: what its topic sets."""
    log = disk.logs[key] = LightLog.begin(config.over(log_settings(settings, key[0])), now_ms=now_ms)
    return log


def log_settings(settings: ClusterSettings, topic: str) -> LogSettings:
    """The offsets topic is compacted, and a group's coordinator writes offsets of transactions without asking
    the transaction's."""
    common = LogSettings(
        segment_bytes=settings.log_segment_bytes,
        flush_interval_messages=settings.flush_interval_messages,
        flush_interval_ms=settings.flush_interval_ms,
        verifies_transactions=settings.verifies_transactions and topic != OFFSETS_TOPIC,
    )
    if topic != OFFSETS_TOPIC:
        return common
    return replace(
        common, cleanup_delete=False, cleanup_compact=True, segment_ms=settings.offsets_segment_ms,
        delete_retention_ms=settings.offsets_delete_retention_ms,
    )  # fmt: skip


def logs_found(disk: BrokerDisk, now_ms: int) -> dict[TopicPartition, LightLog]:
    """The logs that a new process finds on its disk: their high watermarks, and log starts, are those of the
    checkpoints."""
    watermarks, starts = read_offsets(disk.folder, REPLICATION), read_offsets(disk.folder, LOG_START)
    disk.folder.remove(CLEAN_SHUTDOWN)
    for key, log in disk.logs.items():
        disk.logs[key] = log.found_again(
            now_ms=now_ms, log_start_offset=starts.get(key, 0), high_watermark=watermarks.get(key, 0)
        )
    return disk.logs

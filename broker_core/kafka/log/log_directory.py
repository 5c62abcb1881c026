"""A broker's log folder: one folder per partition, and what a restart must know about all of them.

    kafka-logs/
      flights-0/  flights-1/                 a partition each: partition_log.py
      recovery-point-offset-checkpoint       up to where each is known to be flushed
      log-start-offset-checkpoint            what DeleteRecords has cut off inside a segment
      replication-offset-checkpoint          the high watermarks
      cleaner-offset-checkpoint              how far each is compacted
      .kafka_cleanshutdown                   there only after an orderly end; removed as soon as the folder is opened

Without the last one every partition is read from its recovery point on.
Source: Kafka 3.9 core LogManager (loadLogs, checkpointRecoveryOffsets, shutdown).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from broker_core.errors import CommandError
from broker_core.kafka.log.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANER,
    LOG_START,
    RECOVERY_POINT,
    REPLICATION,
    read_offsets,
    write_offsets,
    write_topic_id,
)
from broker_core.kafka.log.compaction import Cleaned, clean, log_to_clean
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder

TopicPartition = tuple[str, int]
SHUTDOWN_MARK = b'{"version":0,"brokerEpoch":-1}'


class LogDirectory:
    """All partitions of one folder.

    folder: the top folder. partition_folder: gives the folder of a partition by its name, "flights-0".
    settings: topic -> its settings; a topic that is not in it has the defaults.
    """

    def __init__(
        self,
        folder: Folder,
        partition_folder: Callable[[str], Folder],
        settings: Mapping[str, LogSettings] | None = None,
    ) -> None:
        self.folder = folder
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.cleaned_up_to = read_offsets(folder, CLEANER)
        self._partition_folder = partition_folder
        self._settings = settings or {}
        self._recovery_points = read_offsets(folder, RECOVERY_POINT)
        self._log_starts = read_offsets(folder, LOG_START)
        self._high_watermarks = read_offsets(folder, REPLICATION)
        self.was_closed = CLEAN_SHUTDOWN in folder.names()
        if self.was_closed:
            # From here on a crash is a crash.
            folder.remove(CLEAN_SHUTDOWN)

    def open(self, topic: str, partition: int, now_ms: int, topic_id: bytes | None = None) -> PartitionLog:
        """Open a partition, made if it is missing. topic_id: 16 bytes, written to partition.metadata."""
        key = (topic, partition)
        if key in self.logs:
            return self.logs[key]
        if partition < 0 or not topic or "/" in topic:
            raise CommandError("topic", f"{topic}-{partition} cannot be a folder")
        folder = self._partition_folder(f"{topic}-{partition}")
        log = PartitionLog.open(
            folder,
            self._settings.get(topic),
            now_ms=now_ms,
            was_closed=self.was_closed,
            recovery_point=self._recovery_points.get(key, 0),
            log_start_offset=self._log_starts.get(key, 0),
            high_watermark=self._high_watermarks.get(key),
        )
        if topic_id is not None:
            write_topic_id(folder, topic_id)
        self.logs[key] = log
        return log

    def checkpoint(self) -> None:
        """Write the recovery points, log start offsets and high watermarks. Raises StorageFull."""
        write_offsets(
            self.folder, RECOVERY_POINT, {key: log.recovery_point for key, log in self.logs.items()}
        )
        # Only what the segments' names do not say on their own.
        starts = {
            key: log.log_start_offset
            for key, log in self.logs.items()
            if log.log_start_offset > log.segments[0].base_offset
        }
        write_offsets(self.folder, LOG_START, starts)
        replicated = {key: log.high_watermark for key, log in self.logs.items() if log.is_replicated}
        write_offsets(self.folder, REPLICATION, replicated)

    def clean_dirtiest(
        self, now_ms: int, memory_bytes: int = 128 << 20
    ) -> tuple[TopicPartition, Cleaned] | None:
        """Compact the dirtiest partition that is due, of those that compact. None: none is due."""
        todos = {
            key: log_to_clean(log, self.cleaned_up_to.get(key), now_ms)
            for key, log in self.logs.items()
            if log.settings.cleanup_compact
        }
        due = [
            key
            for key, todo in todos.items()
            if todo.is_due(self.logs[key].settings.min_cleanable_dirty_ratio_percent)
        ]
        if not due:
            return None
        key = max(due, key=lambda key: todos[key].dirty_per_million)
        cleaned = clean(self.logs[key], todos[key], OffsetMap(memory_bytes), now_ms)
        self.cleaned_up_to[key] = cleaned.end_offset
        write_offsets(self.folder, CLEANER, self.cleaned_up_to)
        return key, cleaned

    def close(self, now_ms: int) -> None:
        """Flush and close everything, and say so for the next start. Raises StorageFull; then it will be read
        again."""
        for log in self.logs.values():
            log.close(now_ms)
        self.checkpoint()
        self.folder.replace(CLEAN_SHUTDOWN, SHUTDOWN_MARK)
        self.logs.clear()

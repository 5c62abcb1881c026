"""A lab's Kafka lane as a log folder, derived from the lab's workload: what one broker without replicas would hold,
under the page's settings, for as far as the lab is.

    records of the lab ─► batches (producer.py) ─► PartitionLog.append ─► roll
    every virtual second   retention, files whose delay is over, flush      every five   the cleaner

It is not what the lane's brokers have on disk (`replica_log.py` is): it has their records at their offsets, and only
while nothing but the workload acts on the topic (`derivable.py`), in batches and segments of its own.

The folder follows from the scenario, the settings and the virtual time alone: written at once or bit by bit,
it is the same. After a crash the folder is opened as any other, by real recovery; what it has already is not
written again, and the rest comes as before. What a crash costs is what it costs a broker: files that waited
for their removal are gone, and a recovered segment's time index may have a row more.

With one replica everything that is appended is readable at once: the high watermark is the log end. Nothing
here invents a second replica.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.events import Json
from broker_core.kafka.log.log_directory import LogDirectory, TopicPartition
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.settings import UNLIMITED
from broker_core.kafka.log.storage import Folder
from broker_core.lab.kafka_log.producer import (
    EPOCH_MS,
    LINGER_US,
    LaneProducer,
    LaneRecord,
    batches_of,
    latest_topic,
)
from broker_core.lab.kafka_log.read_only import base_offset_of
from broker_core.lab.kafka_log.settings import LaneSettings
from broker_core.lab.workload.parse import Workload

TURNING_MAX = 60
RETENTION_EVERY_US = SECOND_US
CLEAN_EVERY_US = 5 * SECOND_US
OFFSET_MAP_BYTES = 4 << 20


class LaneLog:
    """The log folder of one lane, or of some of its partitions.

    folder, partition_folder: as LogDirectory takes them. partitions: the ones to write, of the lane's
    `producer.partition_count`.
    written: what `state` gave last, {} for a new folder; the log is brought to there first.
    """

    def __init__(
        self,
        folder: Folder,
        partition_folder: Callable[[str], Folder],
        *,
        workload: Workload,
        seed: int,
        topic: str,
        partition_count: int,
        partitions: Iterable[int],
        settings: LaneSettings,
        first_record: int = 0,
        written: Json | None = None,
    ) -> None:
        self.topic, self.settings = topic, settings
        self._producer = LaneProducer(workload, seed, partition_count, first_record)
        self._written = frozenset(partitions)
        self._ends: dict[str, list[int]] = {
            topic: [0] * partition_count,
            latest_topic(topic): [0] * partition_count,
        }
        topics = {topic: settings.records(), latest_topic(topic): settings.latest()}
        self._directory = LogDirectory(folder, partition_folder, topics)
        state = written or {}
        # Where a person sets no limit the lab has one, and what it cuts is not told as retention.bytes'.
        by_size = "lab_limit" if settings.retention_bytes == UNLIMITED else "retention_bytes"
        self._reasons = {"size": by_size, "time": "retention_ms", "log_start_offset": "start_offset"}
        self._turning: dict[TopicPartition, deque[Json]] = {}
        until_us = int(state.get("at_us", 0))
        for name in topics:
            for number in sorted(self._written):
                self._directory.open(name, number, _ms(until_us))
                told = state.get("logs", {}).get(f"{name}-{number}", {}).get("turning", [])
                self._turning[name, number] = deque(told, maxlen=TURNING_MAX)
        while self._producer.now_us < until_us:
            window = self._producer.next_window(with_content=frozenset())
            self._count(window.records, topic)
            self._count(window.latest, latest_topic(topic))

    @property
    def now_us(self) -> int:
        """How far the log is, in the lab's virtual time."""
        return self._producer.now_us

    def advance_to(self, at_us: int) -> None:
        """Write what was sent up to `at_us`, in whole lingers. Raises StorageFull."""
        while self._producer.now_us + LINGER_US <= at_us:
            window = self._producer.next_window(with_content=self._written)
            now_us = self._producer.now_us
            for topic, sent in ((self.topic, window.records), (latest_topic(self.topic), window.latest)):
                for number in sorted(self._written & sent.keys()):
                    self._append(topic, number, sent[number], _ms(now_us))
                self._count(sent, topic)
            if now_us % RETENTION_EVERY_US == 0:
                self._retain(_ms(now_us))
            if now_us % CLEAN_EVERY_US == 0:
                self._clean(_ms(now_us))

    def state(self) -> Json:
        """The positions, for readers of the folder and for the next start; all rows of the indexes are in
        their files now.

        {at_us, records, logs: {"flights-3": {start_offset, end_offset, recovery_point, cleaned_up_to,
        segments: [[base, bytes]], deleted: {base: due ms}, turning}}, ends: {topic: [end offset of each
        partition, also of those not written]}}
        """
        logs = {}
        for (topic, number), log in self._directory.logs.items():
            log.active.offset_index.write_out()
            log.active.time_index.write_out()
            deleted = {
                base: due_ms
                for due_ms, names in log.to_delete
                for name in names
                if (base := base_offset_of(name)) is not None
            }
            logs[f"{topic}-{number}"] = {
                "start_offset": log.log_start_offset,
                "end_offset": log.log_end_offset,
                "high_watermark": log.high_watermark,
                "recovery_point": log.recovery_point,
                "cleaned_up_to": self._directory.cleaned_up_to.get((topic, number)),
                "segments": [[segment.base_offset, segment.size] for segment in log.segments],
                "deleted": {str(base): due_ms for base, due_ms in deleted.items()},
                "turning": list(self._turning[topic, number]),
            }
        return {
            "at_us": self.now_us,
            "records": self._producer.record_count,
            "logs": logs,
            "ends": self._ends,
        }

    def checkpoint(self) -> None:
        """Write the checkpoint files of the folder. Raises StorageFull."""
        self._directory.checkpoint()

    def close(self) -> Json:
        """Flush everything and end in order, so that the next start reads no records. Returns the last state.
        Raises StorageFull."""
        now_ms = _ms(self.now_us)
        for log in self._directory.logs.values():
            log.flush(now_ms)
        state = self.state()
        self._directory.close(now_ms)
        return state

    # -- inside

    def _count(self, sent: dict[int, list[LaneRecord]], topic: str) -> None:
        ends = self._ends[topic]
        for number, records in sent.items():
            ends[number] += len(records)

    def _append(self, topic: str, number: int, sent: list[LaneRecord], now_ms: int) -> None:
        log = self._directory.logs[topic, number]
        base = self._ends[topic][number]
        # After a crash the folder may be ahead of the last state that was noted.
        missing = sent[max(0, log.log_end_offset - base) :]
        for data in batches_of(missing, self.settings.segment_bytes):
            active = log.active.base_offset
            log.append(data, now_ms=now_ms)
            if log.active.base_offset != active:
                self._tell(topic, number, now_ms, "rolled", log.active.base_offset, str(log.roll_reason))

    def _is_ahead(self, topic: str, number: int, log: PartitionLog) -> bool:
        return log.log_end_offset > self._ends[topic][number]

    def _retain(self, now_ms: int) -> None:
        for (topic, number), log in self._directory.logs.items():
            if self._is_ahead(topic, number, log):
                # what was due then was done before the crash, or is done when its time has come again
                continue
            for deletion in delete_old_segments(log, now_ms):
                self._tell(
                    topic,
                    number,
                    now_ms,
                    "deleted",
                    deletion.base_offset,
                    self._reasons[deletion.reason],
                    bytes=deletion.size_in_bytes,
                )
            removed = {base_offset_of(name) for name in log.delete_due_files(now_ms)}
            for base in sorted(base for base in removed if base is not None):
                self._tell(topic, number, now_ms, "removed", base, "file_delete_delay")
            log.flush_if_due(now_ms)

    def _clean(self, now_ms: int) -> None:
        if any(self._is_ahead(*key, log) for key, log in self._directory.logs.items()):
            return
        while (done := self._directory.clean_dirtiest(now_ms, OFFSET_MAP_BYTES)) is not None:
            (topic, number), cleaned = done
            first = self._directory.logs[topic, number].segments[0].base_offset
            self._tell(
                topic,
                number,
                now_ms,
                "compacted",
                first,
                "cleaned",
                end_offset=cleaned.end_offset,
                records_read=cleaned.records_read,
                records_kept=cleaned.records_kept,
                bytes_read=cleaned.bytes_read,
                bytes_written=cleaned.bytes_written,
                segments_before=cleaned.segments_before,
                segments_after=cleaned.segments_after,
            )

    def _tell(
        self, topic: str, number: int, now_ms: int, kind: str, base_offset: int, reason: str, **numbers: int
    ) -> None:
        self._turning[topic, number].append(
            {"at_ms": now_ms, "kind": kind, "base_offset": base_offset, "reason": reason, **numbers}
        )


def _ms(at_us: int) -> int:
    return EPOCH_MS + at_us // MILLISECOND_US

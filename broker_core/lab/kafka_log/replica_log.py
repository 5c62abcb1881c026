"""A replica of a lab's cluster as a partition's folder: the bytes of that one broker's log, as far as it was
told.

    replica_view (lab/kafka)  ─► batches ─► BatchWriter ─► PartitionLog.append_as_follower ─► <generation>/flights-2/

What follows on from what is there is appended; the log start moves as the replica's does. What does not,
because the replica was truncated or compacted, begins a new generation: a folder beside the old one, so that
a reader sees one or the other. The byte-exact log and the replica's light one agree by a law
(tests/core/lab/kafka_log/test_replica_log.py): same offsets, epochs, producers and segments' bounds.

Segments, and where retention and compaction have cut, are the replica's. `leader-epoch-checkpoint` and the files
of the broker's folder are the broker's, character by character.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from broker_core.clock import MILLISECOND_US
from broker_core.events import Json
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.settings import LONG_MAX, UNLIMITED, LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.kafka.replication.light_batch import LightBatch
from broker_core.kafka.replication.light_columns import batches_of
from broker_core.lab.kafka_log.read_only import base_offset_of
from broker_core.lab.kafka_log.replica_bytes import EPOCH_MS, BatchWriter
from broker_core.lab.kafka_log.settings import FolderSettings
from broker_core.lab.messages import Messages, Sent
from broker_core.lab.workload.parse import Workload

TURNING_MAX = 60
TRUNCATED, COMPACTED, LOST = "truncated", "compacted", "lost"


class ReplicaLog:
    """Writes one replica's folder.

    new_folder: gives a folder by its name, "3/flights-2" or "3" for the broker's own files of generation 3.
    name: "flights-2".
    generation: the last one that is on the disk already; the first one written here is the next.
    """

    def __init__(
        self,
        new_folder: Callable[[str], Folder],
        name: str,
        *,
        workload: Workload,
        settings: FolderSettings,
        generation: int = 0,
    ) -> None:
        self.name, self.settings, self.generation = name, settings, generation
        self.log: PartitionLog | None = None
        self._new_folder, self._messages = new_folder, Messages(workload)
        self._rows: list[tuple[int, LightBatch]] = []  # what is written: base offset of its segment, batch
        self._texts: dict[tuple[str, str], str] = {}
        self._cleaned_up_to: int | None = None
        self._begun_ms = 0  # the time of the first batch in the last segment
        self._turning: deque[Json] = deque(maxlen=TURNING_MAX)

    def take(self, told: Json) -> Json:
        """Bring the folder to what `replica_view` told. Returns the state for readers: {"at_us",
        "generation", "broker", "replicas", "replica", "logs": {name: {"start_offset", "end_offset",
        "high_watermark", "recovery_point", "cleaned_up_to", "segments": [[base, bytes]], "gaps", "deleted": {base: due
        ms}, "turning"}}}. Raises StorageFull."""
        at_us, replica = told["at_us"], told["replica"]
        now_ms = EPOCH_MS + at_us // MILLISECOND_US
        state: Json = {"at_us": at_us, "broker": _without_files(told["broker"]), "replicas": told["replicas"]}
        if replica is None:
            if self.log is not None:
                self._tell(now_ms, TRUNCATED, LOST, base_offset=0, records=0)
            self._close(now_ms)
            return {**state, "generation": self.generation, "replica": None, "logs": {}}
        self._messages.sent = {int(place): Sent(int(place), *each) for place, each in told["sent"].items()}
        self._bring(replica, now_ms, BatchWriter(self._messages, EPOCH_MS - told["clock_ms"]))
        self._write_texts("", told["broker"]["files"])
        self._write_texts(self.name, replica["files"])
        assert self.log is not None
        about = {key: value for key, value in replica.items() if key not in ("segments", "files")}
        return {
            **state,
            "generation": self.generation,
            "replica": about,
            "logs": {self.name: self._log_state(replica)},
        }

    def close(self, now_ms: int) -> None:
        """Let go of the files."""
        self._close(now_ms)

    # -- inside

    def _bring(self, replica: Json, now_ms: int, writer: BatchWriter) -> None:
        rows = [
            (segment["base"], batch)
            for segment in replica["segments"]
            for batch in batches_of(segment["batches"])
        ]
        generation = self.generation
        if self.log is None:
            self._begin(replica, rows, now_ms)
        else:
            known = self._known(rows, replica["start"])
            if known < len(self._rows):
                self._tell_cut(replica, known, now_ms)
                self._begin(replica, rows, now_ms)
        log = self.log
        assert log is not None
        for base, batch in rows[len(self._rows) :]:
            before, time_ms = log.active.base_offset, batch.header.max_timestamp
            waited_ms = time_ms - self._begun_ms if log.active.size else 0
            if base > log.active.base_offset:
                log.roll(now_ms, base)
            log.append_as_follower(writer.data_of(batch), now_ms=now_ms)
            # When the segments of a folder that is begun again rolled nobody saw.
            if log.active.base_offset > before and generation == self.generation:
                is_time = waited_ms >= replica["settings"]["segment_ms"]
                self._tell(
                    now_ms, "rolled", "time" if is_time else "size", base_offset=log.active.base_offset
                )
            if log.active.base_offset > before or not waited_ms:
                self._begun_ms = time_ms
            self._rows.append((base, batch))
        if (last := replica["segments"][-1]["base"]) > log.active.base_offset:
            log.roll(now_ms, last)
        log.high_watermark = replica["high_watermark"]
        log.raise_log_start(min(replica["start"], log.high_watermark))
        reasons = _reasons(replica["settings"], log.segments, now_ms)
        for deletion in delete_old_segments(log, now_ms):
            self._tell(
                now_ms,
                "deleted",
                reasons[deletion.base_offset],
                base_offset=deletion.base_offset,
                bytes=deletion.size_in_bytes,
            )
        removed = {
            base for name in log.delete_due_files(now_ms) if (base := base_offset_of(name)) is not None
        }
        for base in sorted(removed):
            self._tell(now_ms, "removed", "file_delete_delay", base_offset=base)
        self._cleaned_up_to = replica["cleaned_up_to"]

    def _known(self, rows: list[tuple[int, LightBatch]], log_start: int) -> int:
        """How many of the batches that are written are the replica's still. Of those below its log start
        nobody says anything."""
        del self._rows[: sum(batch.header.last_offset < log_start for _, batch in self._rows)]
        same = 0
        for mine, theirs in zip(self._rows, rows, strict=False):
            if mine != theirs:
                break
            same += 1
        return same

    def _begin(self, replica: Json, rows: list[tuple[int, LightBatch]], now_ms: int) -> None:
        """A folder of its own for the log as it is now."""
        self._close(now_ms)
        self.generation += 1
        self._rows, self._texts = [], {}
        settings = LogSettings(
            index_interval_bytes=self.settings.index_interval_bytes,
            segment_bytes=2**31 - 1,
            segment_ms=LONG_MAX // 2,
            retention_ms=UNLIMITED,
            file_delete_delay_ms=self.settings.file_delete_delay_ms,
        )
        log = PartitionLog.open(
            self._new_folder(f"{self.generation}/{self.name}"), settings, now_ms=now_ms, high_watermark=0
        )
        first = replica["segments"][0]["base"]
        if first:
            log.restart_at(first, now_ms)
        self.log = log

    def _tell_cut(self, replica: Json, known: int, now_ms: int) -> None:
        """Why what is there does not go on: the cleaner has been there, or the replica was truncated."""
        if replica["is_compacted"] and replica["cleaned_up_to"] != self._cleaned_up_to:
            before = sum(batch.header.record_count for _, batch in self._rows)
            held = [batch for segment in replica["segments"] for batch in batches_of(segment["batches"])]
            end = self._rows[-1][1].header.next_offset
            after = sum(batch.header.record_count for batch in held if batch.header.base_offset < end)
            self._tell(
                now_ms,
                COMPACTED,
                "cleaned",
                base_offset=0,
                end_offset=replica["cleaned_up_to"],
                records_read=before,
                records_kept=after,
            )
            return
        cut = self._rows[known][1].header.base_offset
        self._tell(
            now_ms, TRUNCATED, "follower", base_offset=cut, records=self._rows[-1][1].header.next_offset - cut
        )

    def _write_texts(self, folder: str, texts: dict[str, str]) -> None:
        """The broker's own files, where they have changed; the byte-exact log keeps one of them, too, and it
        says the same or less."""
        at = f"{self.generation}/{folder}" if folder else f"{self.generation}"
        for name, text in texts.items():
            if folder or self._texts.get((folder, name)) != text:
                self._new_folder(at).replace(name, text.encode())
                self._texts[folder, name] = text
        for place in [place for place in self._texts if place[0] == folder and place[1] not in texts]:
            self._new_folder(at).remove(place[1])
            del self._texts[place]

    def _log_state(self, replica: Json) -> Json:
        log = self.log
        assert log is not None
        log.active.offset_index.write_out()
        log.active.time_index.write_out()
        deleted = {
            base: due_ms
            for due_ms, names in log.to_delete
            for name in names
            if (base := base_offset_of(name)) is not None
        }
        return {
            "start_offset": replica["start"],
            "end_offset": replica["end"],
            "high_watermark": replica["high_watermark"],
            "recovery_point": replica["recovery_point"],
            "cleaned_up_to": replica["cleaned_up_to"],
            "segments": [[segment.base_offset, segment.size] for segment in log.segments],
            "gaps": self._gaps(replica["start"]),
            "deleted": {str(base): due_ms for base, due_ms in deleted.items()},
            "turning": list(self._turning),
        }

    def _gaps(self, start: int) -> int:
        """How many offsets have no record any more, from the log start on."""
        ends = [start, *(batch.header.next_offset for _, batch in self._rows)]
        between = sum(
            max(0, batch.header.base_offset - end) for end, (_, batch) in zip(ends, self._rows, strict=False)
        )
        return between + sum(
            batch.header.last_offset_delta + 1 - batch.header.record_count for _, batch in self._rows
        )

    def _close(self, now_ms: int) -> None:
        if self.log is not None:
            self.log.close(now_ms)
        self.log, self._rows = None, []

    def _tell(self, now_ms: int, kind: str, reason: str, **numbers: Any) -> None:
        self._turning.append({"at_ms": now_ms, "kind": kind, "reason": reason, **numbers})


def _reasons(settings: Json, segments: Sequence[Segment], now_ms: int) -> dict[int, str]:
    """Base offset of each segment -> why it would go now, of the rules that its topic sets, in the broker's order of
    passes: the broker says where its log starts, and not why."""
    by_size, by_time = (
        settings[name] if settings["cleanup_delete"] else UNLIMITED
        for name in ("retention_bytes", "retention_ms")
    )
    excess = sum(segment.size for segment in segments) - by_size
    found = {}
    for segment in segments:
        excess -= segment.size
        if by_size != UNLIMITED and excess >= 0:
            found[segment.base_offset] = "retention_bytes"
        elif by_time != UNLIMITED and now_ms - segment.load_times() > by_time:
            found[segment.base_offset] = "retention_ms"
        else:
            found[segment.base_offset] = "start_offset"
    return found


def _without_files(broker: Json) -> Json:
    return {key: value for key, value in broker.items() if key != "files"}

"""What is deleted, and when: by log start offset, by size, by time, in that order.

    log start offset 7421048          size: 5 GiB, retention.bytes 3 GiB        time: retention.ms 7 days

    [0 ..)[3257573 ..)[6506251 ..)    [1 GiB][1 GiB][1 GiB][1 GiB][1 GiB]       largest *record* time of the segment,
    next base <= start: both go       2 GiB too many: two go                    not the age of its file

Only whole segments go, and only from the oldest on: each pass stops at the first that must stay. A segment
goes when the next one's base offset is not above the high watermark, and an empty last one never goes. When
every segment has expired, the active one too, an empty one is begun first and becomes the log. Files are
renamed `.deleted` and removed after `file.delete.delay.ms`.

Source: Kafka 3.9 core UnifiedLog.deleteOldSegments, LocalLog.deleteSegments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.segment import Segment


class Deletion(NamedTuple):
    """One segment that went. reason: "log_start_offset", "size" or "time"."""

    base_offset: int
    size_in_bytes: int
    reason: str


def delete_old_segments(log: PartitionLog, now_ms: int) -> list[Deletion]:
    """Run the passes that the topic asks for. Returns what went, oldest first; the log start offset has
    moved.

    The log start pass runs always, the other two only with `delete` in the cleanup policy.

    >>> from broker_core.kafka.log.memory_storage import MemoryFolder
    >>> log = PartitionLog.open(MemoryFolder(), now_ms=0)
    >>> _ = log.append_pairs([(b"k", b"v")], now_ms=0)
    >>> delete_old_segments(log, now_ms=8 * 86_400_000)
    [Deletion(base_offset=0, size_in_bytes=70, reason='time')]
    >>> log.log_start_offset, log.log_end_offset
    (1, 1)
    """
    settings = log.settings
    # The active segment stays, also where DeleteRecords has emptied it: no other begins at or below the log
    # start.
    deleted = _delete(
        log,
        now_ms,
        "log_start_offset",
        lambda segment, next_base: segment is not log.active and next_base <= log.log_start_offset,
    )
    if settings.cleanup_delete and settings.retention_bytes >= 0:
        excess = log.size - settings.retention_bytes

        def is_too_much(segment: Segment, next_base: int) -> bool:
            nonlocal excess
            excess -= segment.size
            return excess >= 0

        deleted += _delete(log, now_ms, "size", is_too_much)
    if settings.cleanup_delete and settings.retention_ms >= 0:
        deleted += _delete(
            log, now_ms, "time", lambda segment, _: now_ms - segment.load_times() > settings.retention_ms
        )
    return deleted


def delete_records(log: PartitionLog, before_offset: int) -> None:
    """DeleteRecords: nobody reads below that offset any more. Bytes go with the next `delete_old_segments`.

    before_offset: -1 for the high watermark. Raises OffsetOutOfRange above it. A lower offset than now
    changes nothing.
    """
    offset = log.high_watermark if before_offset == -1 else before_offset
    if offset < 0:
        raise OffsetOutOfRange(f"offset {offset}; the high watermark is {log.high_watermark}")
    log.raise_log_start(offset)


def _delete(
    log: PartitionLog, now_ms: int, reason: str, must_go: Callable[[Segment, int], bool]
) -> list[Deletion]:
    going: list[Segment] = []
    for index, segment in enumerate(log.segments):
        is_last = index == len(log.segments) - 1
        next_base = log.log_end_offset if is_last else log.segments[index + 1].base_offset
        if (
            log.high_watermark < next_base
            or (is_last and segment.size == 0)
            or not must_go(segment, next_base)
        ):
            break
        going.append(segment)
    if not going:
        return []
    if len(going) == len(log.segments):
        log.roll(now_ms)  # a log always has a segment to write to
    deletions = [Deletion(segment.base_offset, segment.size, reason) for segment in going]
    log.segments = log.segments[len(going) :]
    # First the offset, then the files: a crash between them leaves bytes that nobody reads, never a gap.
    delete_records(log, max(log.log_start_offset, log.segments[0].base_offset))
    log.delete_files_of(going, now_ms)
    return deletions

"""What a round of compaction would do to a partition now: the real cleaner, run on a copy in memory, record
by record.

    before   clean | dirty | active        which records there are, and which of them stay
    after    the log as the cleaner leaves it

Nothing on disk changes. Its offset and its key identify a record.
"""

from __future__ import annotations

from broker_core.events import Json
from broker_core.kafka.group.record_words import described, in_words
from broker_core.kafka.log.compaction import LogToClean, clean, log_to_clean
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.file_names import LOG, TXN_INDEX, file_name
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.settings import LogSettings
from broker_core.lab.kafka_log.guarded import ensure_small
from broker_core.lab.kafka_log.opened import OpenedLog

BYTES_MAX = 8 * 1024 * 1024
SHOWN_MAX = 64
SHOWN_CLEAN = 16
MAP_BYTES = 1 << 20


def clean_json(
    log: OpenedLog,
    *,
    topic: str,
    partition: int,
    settings: LogSettings,
    cleaned_up_to: int | None,
    now_ms: int,
    is_open: bool = True,
) -> Json:
    """Run one round on a copy. cleaned_up_to: the last round's end; None: never cleaned.

    is_open: whether the last segment is the active one, which no cleaner touches; files that are all closed
    are compacted to their end.

    Returns {log, before, after, shown_from, shown_to, dirty_ratio, min_cleanable_ratio, due,
    first_dirty_offset, uncleanable_offset, records_before, records_after, bytes_before, bytes_after};
    `before` and `after` hold the records of at most SHOWN_MAX before, around the place where the dirty part
    begins, or where the active one does in a log that was never cleaned. {"log": null, "reason"} for a log of
    more than BYTES_MAX, or one that cannot be read.
    stopped_in, stopped_at: where there is damage, the segment and the byte up to which the log was read; both
    forms have them.
    """
    if sum(log.bytes_of(base) for base in log.live) > BYTES_MAX:
        return {"log": None, "reason": "too_large"}
    if (unreadable := _unreadable(log)) is not None:
        return {"log": None, "reason": "damaged", **unreadable}
    try:
        copy = PartitionLog.open(_copy_of(log), settings, now_ms=now_ms, log_start_offset=log.start_offset)
        before = _records(copy)
        stopped = _stopped(log, copy)
        if not is_open:
            copy.roll(now_ms)
        todo = log_to_clean(copy, cleaned_up_to, now_ms)
        bytes_before = copy.size
        clean(copy, todo, OffsetMap(MAP_BYTES), now_ms)
        after = _records(copy)
    except LogError:
        return {"log": None, "reason": "damaged"}
    kept, is_groups = {record.offset for record in after}, log.has_group_records
    shown = _shown(before, todo)
    first, last = (shown[0].offset, shown[-1].offset) if shown else (0, -1)
    return {
        "log": {"topic": topic, "partition": partition},
        "before": [
            {
                **_record_json(record, is_groups),
                "kept": record.offset in kept,
                "zone": _zone(record.offset, todo),
            }
            for record in shown
        ],
        "after": [_record_json(record, is_groups) for record in after if first <= record.offset <= last],
        "shown_from": first,
        "shown_to": last,
        "first_dirty_offset": todo.first_dirty_offset,
        "uncleanable_offset": todo.uncleanable_offset,
        "dirty_ratio": todo.dirty_per_million / 1_000_000,
        "min_cleanable_ratio": settings.min_cleanable_dirty_ratio_percent / 100,
        "due": todo.is_due(settings.min_cleanable_dirty_ratio_percent),
        "delete_retention_ms": settings.delete_retention_ms,
        "records_before": len(before),
        "records_after": len(after),
        "bytes_before": bytes_before,
        "bytes_after": copy.size,
        **stopped,
    }


def _copy_of(log: OpenedLog) -> MemoryFolder:
    """The logs alone: missing indexes are rebuilt."""
    copy = MemoryFolder()
    for base in log.live:
        for name in (file_name(base, LOG), file_name(base, TXN_INDEX)):
            if name in log.names:
                original = log.folder.open(name)
                copy.open(name).append(original.view(0, original.size))
    return copy


def _unreadable(log: OpenedLog) -> Json | None:
    """The position of the first batch that does not unpack within bounds: the cleaner itself does not ask.
    None: all of them do."""
    base = position = 0
    try:
        for base in log.live:
            position = 0
            for position, batch in log.segment(base).batches():
                ensure_small(batch)
                position += batch.size_in_bytes
    except LogError:
        return {"stopped_in": base, "stopped_at": position}
    return None


def _stopped(log: OpenedLog, copy: PartitionLog) -> Json:
    """Where recovery has cut the copy off; {} where the log is whole."""
    last = copy.active
    is_whole = [segment.base_offset for segment in copy.segments] == log.live and last.size == log.bytes_of(
        last.base_offset
    )
    return {} if is_whole else {"stopped_in": last.base_offset, "stopped_at": last.size}


def _records(log: PartitionLog) -> list[Record]:
    return [record for batch in log.batches() if not batch.header.is_control for record in batch.records()]


def _zone(offset: int, todo: LogToClean) -> str:
    if offset >= todo.uncleanable_offset:
        return "active"
    return "clean" if offset < todo.first_dirty_offset else "dirty"


def _shown(records: list[Record], todo: LogToClean) -> list[Record]:
    """A run without a gap: the end of the clean part, then the dirty one, and the active one as far as there
    is room.

    Of a log that was never cleaned the end of the dirty part, with the beginning of the active one: there the
    newest values are, which stay.
    """
    clean_part = [record for record in records if record.offset < todo.first_dirty_offset][-SHOWN_CLEAN:]
    if clean_part:
        rest = [record for record in records if record.offset >= todo.first_dirty_offset]
        return [*clean_part, *rest[: SHOWN_MAX - len(clean_part)]]
    active_part = [record for record in records if record.offset >= todo.uncleanable_offset][:SHOWN_CLEAN]
    dirty_part = [record for record in records if record.offset < todo.uncleanable_offset]
    return [*dirty_part[len(active_part) - SHOWN_MAX :], *active_part]


def _record_json(record: Record, is_groups: bool) -> Json:
    about = described(record.key, None) if is_groups else None
    key = None if record.key is None else record.key.decode(errors="backslashreplace")
    if about is not None:
        key = f"{about['kind']} {in_words(about['key'])}"
    return {"offset": record.offset, "key": key, "tombstone": record.value is None}

"""A partition's folder as JSON: its segments with their files, index rows and damage, and how far retention
reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from broker_core.events import Json
from broker_core.kafka.log.file_names import DELETED
from broker_core.kafka.log.segment import Segment
from broker_core.lab.kafka_log.batch_view import damage_json
from broker_core.lab.kafka_log.opened import OpenedLog, Summary

ENTRIES_MAX = 64
SEGMENTS_MAX = 512

Summaries = Mapping[tuple[int, str], Summary]


def segments_json(
    log: OpenedLog,
    summaries: Summaries,
    *,
    now_ms: int,
    deleted_at_ms: Mapping[int, int],
    cleaned_up_to: int,
    is_open: bool = True,
) -> list[Json]:
    """Each segment, the deleted ones first; the newest SEGMENTS_MAX of a folder that has more.

    summaries: of some or all, by base offset and stage; what is not counted yet is null. deleted_at_ms: when
    the files of a deleted segment go.
    cleaned_up_to: everything below has been compacted. is_open: whether the last segment is the active one,
    to which a broker writes.
    """
    deleted = [_segment_json(log, base, DELETED, summaries) for base in log.deleted[-SEGMENTS_MAX:]]
    for row in deleted:
        due_ms = deleted_at_ms.get(row["base_offset"])
        row |= {"state": "deleted", "deletes_in_ms": None if due_ms is None else max(0, due_ms - now_ms)}
    live = [_segment_json(log, base, "", summaries) for base in log.live[-SEGMENTS_MAX:]]
    for place, row in enumerate(live):
        next_base = live[place + 1]["base_offset"] if place + 1 < len(live) else None
        if row["next_offset"] is None:
            row["next_offset"] = next_base
        if next_base is None:
            row["active"] = is_open
        elif next_base <= cleaned_up_to:
            row["state"] = "cleaned"
    return deleted + live


def _segment_json(log: OpenedLog, base_offset: int, stage: str, summaries: Summaries) -> Json:
    segment = log.segment(base_offset, stage)
    summary = summaries.get((base_offset, stage))
    hollow = summary is not None and any(damage.kind == "zeros" for damage in summary.damage)
    # The data after zeros cannot be counted: the index rows still tell.
    counted = None if hollow else summary
    return {
        "base_offset": base_offset,
        "next_offset": None if counted is None else counted.next_offset,
        "bytes": segment.size,
        "records": None if counted is None else counted.records,
        "batches": None if counted is None else counted.batches,
        "first_timestamp": _first_timestamp(segment) if counted is None else counted.first_timestamp,
        "max_timestamp": segment.largest_timestamp if counted is None else counted.max_timestamp,
        "index_entries": segment.offset_index.row_count,
        "time_index_entries": segment.time_index.row_count,
        "active": False,
        "state": "live",
        "deletes_in_ms": None,
        "formats": None if counted is None else list(counted.formats),
        "files": [
            {"name": name, "bytes": log.folder.size_of(name)} for name in log.files_of(base_offset, stage)
        ],
        "entries": _thinned(segment),
        "damage": [] if summary is None else [damage_json(damage, base_offset) for damage in summary.damage],
    }


def retention_json(
    segments: Iterable[Json],
    *,
    retention_bytes: int,
    retention_ms: int,
    now_ms: int,
) -> Json:
    """How far retention reaches, as bytes from the start of the first live segment; only whole segments
    before it go.

    retention_bytes, retention_ms: -1 for no limit. reaches_position, reaches_position_ms: by size and by time; null
    without a limit.
    """
    live = [segment for segment in segments if segment["state"] != "deleted"]
    by_size = None
    if retention_bytes >= 0:
        by_size = sum(segment["bytes"] for segment in live) - retention_bytes
    by_time = None
    if retention_ms >= 0:
        by_time = 0
        for segment in live:
            if now_ms - segment["max_timestamp"] <= retention_ms:
                break
            by_time += segment["bytes"]
    return {
        "bytes": retention_bytes if retention_bytes >= 0 else None,
        "ms": retention_ms if retention_ms >= 0 else None,
        "reaches_position": by_size,
        "reaches_position_ms": by_time,
    }


def _first_timestamp(segment: Segment) -> int:
    return segment.time_index.entry(0).timestamp if segment.time_index.row_count else -1


def _thinned(segment: Segment) -> list[list[int]]:
    """At most ENTRIES_MAX rows of the offset index, evenly, the last one among them."""
    count = segment.offset_index.row_count
    slots = (
        range(count)
        if count <= ENTRIES_MAX
        else [(place + 1) * count // ENTRIES_MAX - 1 for place in range(ENTRIES_MAX)]
    )
    return [list(segment.offset_index.entry(slot)) for slot in slots]

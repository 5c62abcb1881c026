"""How an offset or a time is found in a partition's folder, step by step with the numbers.

The steps are the log's own: the segment by its base offset or largest time, both indexes by halves with every
row that was looked at, and the scan from batch to batch. Two rules for times: Kafka's, and the article's
(`kafka/log/time_lookup.py`), which may miss the first records.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.index_file import IndexFile
from broker_core.kafka.log.offset_index import OffsetPosition
from broker_core.kafka.log.segment import Segment
from broker_core.kafka.log.time_index import TimestampOffset
from broker_core.kafka.log.time_lookup import TimeLookup, time_lookup_document, time_lookup_kafka
from broker_core.lab.kafka_log.batch_view import batch_json
from broker_core.lab.kafka_log.opened import OpenedLog
from broker_core.lab.kafka_log.walk import BatchSeen, Damage, walk

RULES = ("kafka", "document")
AROUND_ROWS = 10
SCAN_BATCHES_MAX = 200
CANDIDATES_MAX = 200


def lookup_offset(log: OpenedLog, offset: int, end_offset: int) -> Json:
    """Find an offset. end_offset: the log end. The answer's `message` says why nothing was found, or that a
    later one was.

    Returns {target, rule, found, message, steps, batch}; see docs/interface.md.
    """
    answer = _answer("offset", offset, "kafka")
    if offset < log.start_offset:
        return answer | {"message": "offset_below_start"}
    if offset >= end_offset:
        return answer | {"message": "offset_at_end" if offset == end_offset else "offset_beyond_end"}
    for place in range(log.place_of(offset), len(log.live)):
        segment = log.segment(log.live[place])
        answer["steps"].append(_segment_step(log, place))
        probes: list[int] = []
        entry = segment.offset_index.lookup(offset, probes)
        answer["steps"].append(
            _index_step("offset", segment.offset_index, probes, offset - segment.base_offset, entry)
        )
        if _is_unreadable(segment, entry.position, answer):
            return answer
        try:
            position = _position_of(segment, entry.position, offset)
        except LogError:
            return answer | {"message": "damaged"}
        answer["steps"].append(_scan_step(segment, entry.position, position))
        if position is None:
            continue  # compaction has taken the end of this segment: the reader goes on in the next one
        try:
            kept = _first_kept(segment, position, offset)
        except LogError:
            # The batch is there, but its records cannot be read: it is shown as stored.
            return answer | {"message": "damaged", "batch": batch_json(log, segment, position)}
        if kept is not None:
            message = None if kept[0] == offset else "next_kept"
            return answer | {"found": kept[0], "message": message, "batch": batch_json(log, segment, kept[1])}
    return answer | {"message": "not_found"}


def lookup_timestamp(log: OpenedLog, timestamp: int, rule: str) -> Json:
    """Find the first record at or after a time, in ms. rule: one of RULES. Raises CommandError at `rule`.

    Returns as lookup_offset; with rule "document" also `kafka_found`, where the other rule finds an earlier
    record.
    """
    if rule not in RULES:
        raise CommandError("rule", "must be one of {choices}", choices=Names(RULES))
    answer = _answer("timestamp", timestamp, rule)
    for place, base_offset in enumerate(log.live):
        segment = log.segment(base_offset)
        if segment.largest_timestamp < timestamp:
            continue
        answer["steps"].append(_segment_step(log, place))
        answer["steps"][-1]["largest_timestamps"] = [
            log.segment(base).largest_timestamp for base in log.live[: place + 1]
        ][-CANDIDATES_MAX:]
        return _timestamp_in(log, segment, timestamp, rule, answer)
    return answer | {"message": "time_beyond_last"}


def _timestamp_in(log: OpenedLog, segment: Segment, timestamp: int, rule: str, answer: Json) -> Json:
    probes: list[int] = []
    if rule == "kafka":
        row = segment.time_index.lookup(timestamp, probes)
    else:
        slot = segment.time_index.slot_at_or_below(timestamp - 1, probes) + 1
        row = (
            segment.time_index.entry(slot)
            if slot < segment.time_index.row_count
            else segment.time_index.last_entry
        )
    answer["steps"].append(_index_step("time", segment.time_index, probes, timestamp, row))
    offset_probes: list[int] = []
    offset = max(row.offset, log.start_offset)
    entry = segment.offset_index.lookup(offset, offset_probes)
    answer["steps"].append(
        _index_step("offset", segment.offset_index, offset_probes, offset - segment.base_offset, entry)
    )
    if _is_unreadable(segment, entry.position, answer):
        return answer
    try:
        found = _time_found(time_lookup_kafka([segment], timestamp, log.start_offset))
        by_document = (
            found
            if rule == "kafka"
            else _time_found(time_lookup_document([segment], timestamp, log.start_offset))
        )
        position = None if by_document is None else _position_of(segment, entry.position, by_document.offset)
    except LogError:
        return answer | {"message": "damaged"}
    answer["steps"].append(_scan_step(segment, entry.position, position))
    if by_document is None or position is None:
        return answer | {"message": "not_found", "kafka_found": None if found is None else found.offset}
    answer |= {"found": by_document.offset, "batch": batch_json(log, segment, position)}
    if found is not None and found.offset < by_document.offset:
        answer |= {"message": "missed", "kafka_found": found.offset}
    return answer


def _time_found(lookup: TimeLookup | None) -> TimestampOffset | None:
    return None if lookup is None else lookup.found


def _answer(kind: str, value: int, rule: str) -> Json:
    return {
        "target": {"kind": kind, "value": value},
        "rule": rule,
        "found": None,
        "message": None,
        "steps": [],
        "batch": None,
    }


def _segment_step(log: OpenedLog, place: int) -> Json:
    first = max(0, place - CANDIDATES_MAX // 2)
    return {
        "step": "segment",
        "candidates": log.live[first : first + CANDIDATES_MAX],
        "chosen": log.live[place],
        "segments": len(log.live),
    }


def _index_step(
    kind: str, index: IndexFile, probes: list[int], target: int, result: OffsetPosition | TimestampOffset
) -> Json:
    """target: what the rows' first numbers are compared with: a time, or an offset relative to the
    segment's."""
    names = result._fields
    base = index.base_offset

    def row(slot: int) -> tuple[int, int]:
        first, second = index.row_at(slot)
        return (first, base + second) if kind == "time" else (base + first, second)

    def side(slot: int) -> str:
        first = index.row_at(slot)[0]
        return "hit" if first == target else "low" if first < target else "high"

    slot = _slot_of(index, result)
    first = max(0, min(slot - (AROUND_ROWS - 1) // 2, index.row_count - AROUND_ROWS))
    return {
        "step": "index",
        "kind": kind,
        "entries": index.row_count,
        "target": target + (base if kind == "offset" else 0),
        # The first row may be looked at twice in a row, for two questions; that is one step to see.
        "probes": [
            {"slot": slot, **dict(zip(names, row(slot), strict=True)), "side": side(slot)}
            for slot, _ in groupby(probes)
        ],
        "result": result._asdict(),
        "result_slot": slot,
        "around_first_slot": first,
        "around": [list(row(place)) for place in range(first, min(first + AROUND_ROWS, index.row_count))],
    }


def _slot_of(index: IndexFile, result: OffsetPosition | TimestampOffset) -> int:
    first = result.timestamp if isinstance(result, TimestampOffset) else result.offset - index.base_offset
    slot = index.slot_at_or_below(first)
    return slot if slot >= 0 and index.row_at(slot)[0] == first else -1


def _is_unreadable(segment: Segment, position: int, answer: Json) -> bool:
    """Whether no batch of the present format starts where the index points; the answer then says what
    does."""
    first = next(walk(segment.log, position, position + 1), None)
    if isinstance(first, BatchSeen) and first.magic == 2:
        return False
    kind = first.kind if isinstance(first, Damage) else "old_format" if first is not None else "not_found"
    answer["message"] = {"zeros": "hollow", "old_format": "old_format", "not_found": "not_found"}.get(
        kind, "damaged"
    )
    return True


def _position_of(segment: Segment, position: int, offset: int) -> int | None:
    """The position of the first batch whose last offset is at or above the offset, by the log's own walk.
    Raises LogError."""
    return next(
        (found.position for found in segment.batches(position) if found.batch.header.last_offset >= offset),
        None,
    )


def _scan_step(segment: Segment, start: int, found: int | None) -> Json:
    """All batches up to the next row of the index, or up to the found one where that is after it."""
    index = segment.offset_index
    slot = bisect_right(range(index.row_count), start, key=lambda slot: index.row_at(slot)[1])
    end = index.row_at(slot)[1] if slot < index.row_count else segment.size
    batches: list[Json] = []
    skipped = 0
    for seen in walk(segment.log, start, end if found is None else max(end, found + 1)):
        if isinstance(seen, Damage) or len(batches) == SCAN_BATCHES_MAX:
            end = seen.position
            break
        batches.append(
            {
                "base_offset": seen.base_offset,
                "last_offset": seen.last_offset,
                "position": seen.position,
                "bytes": seen.bytes,
            }
        )
        skipped += found is None or seen.position < found
        end = max(end, seen.position + seen.bytes)
    passed = (end if found is None else found) - start
    return {"step": "scan", "from": start, "to": end, "batches": batches, "skipped": skipped, "bytes": passed}


def _first_kept(segment: Segment, position: int, offset: int) -> tuple[int, int] | None:
    """The first record at or above the offset: (its offset, its batch's position). Compaction may have left a
    batch without it. Raises LogError."""
    for found in segment.batches(position):
        kept = next((record.offset for record in found.batch.records() if record.offset >= offset), None)
        if kept is not None:
            return kept, found.position
    return None

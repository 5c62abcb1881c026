"""One batch in place: its bytes, the name of each, and its records. And the batches and index rows of a
stretch of a segment."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from broker_core.events import Json
from broker_core.kafka.group.record_words import described, in_words
from broker_core.kafka.log.batch_fields import Field, batch_fields
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.legacy import LegacyBatch
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.kafka.log.segment import Segment
from broker_core.lab.kafka_log.opened import OpenedLog
from broker_core.lab.kafka_log.walk import BatchSeen, Damage, walk

HEX_BYTES_MAX = 4096
FIELDS_MAX = 2_000
RECORDS_MAX = 200
TEXT_MAX = 400
BATCHES_MAX = 500


def batch_json(log: OpenedLog, segment: Segment, position: int) -> Json:
    """The batch that starts at `position`. Raises CommandError at `position` where none does.

    Returns {segment, position, bytes, magic, base_offset, last_offset, codec, hex, truncated, crc_ok,
    problem, fields, fields_left, records, records_left, previous, next}. problem: what the log says of a
    batch that is not sound, else null.
    """
    batch = log.batch_at(segment, position)
    crc_ok, problem = _soundness(batch)
    fields: list[Field] = []
    if isinstance(batch, RecordBatch):
        try:
            fields = batch_fields(batch)
        except LogError as error:
            problem = problem or str(error)
    records, records_left, broken = _records(batch, log.has_group_records)
    data = bytes(batch.data)
    return {
        "segment": segment.base_offset,
        "position": position,
        "bytes": len(data),
        "magic": batch.magic,
        **_offsets(batch),
        "hex": data[:HEX_BYTES_MAX].hex(),
        "truncated": max(0, len(data) - HEX_BYTES_MAX),
        "crc_ok": crc_ok,
        "problem": problem or broken,
        "fields": [_field_json(field) for field in fields[:FIELDS_MAX]],
        "fields_left": max(0, len(fields) - FIELDS_MAX),
        "records": records,
        "records_left": records_left,
        "previous": _previous(log, segment, position),
        "next": _next(log, segment, position + len(data)),
    }


def stretch_json(log: OpenedLog, segment: Segment, start: int, end: int) -> Json:
    """The batches that start from byte `start` up to `end`, and the index rows that point there; at most
    BATCHES_MAX of each.

    Returns {base_offset, from, to, bytes, batches, entries, damage, more}.
    """
    batches: list[Json] = []
    damage: list[Json] = []
    more = False
    for seen in walk(segment.log, log.batch_starts_before(segment, start), min(end, segment.size)):
        if isinstance(seen, Damage):
            damage.append(damage_json(seen, segment.base_offset))
        elif seen.position >= start:
            if len(batches) == BATCHES_MAX:
                more = True
                break
            batches.append(
                {
                    "base_offset": seen.base_offset,
                    "last_offset": seen.last_offset,
                    "position": seen.position,
                    "bytes": seen.bytes,
                    "records": seen.records,
                    "max_timestamp": seen.max_timestamp,
                }
            )
    index = segment.offset_index
    first, behind = (
        bisect_left(range(index.row_count), byte, key=lambda slot: index.entry(slot).position)
        for byte in (start, end)
    )
    entries = [list(index.entry(slot)) for slot in range(first, min(behind, first + BATCHES_MAX))]
    return {
        "base_offset": segment.base_offset,
        "from": start,
        "to": min(end, segment.size),
        "bytes": segment.size,
        "batches": batches,
        "entries": entries,
        "damage": damage,
        "more": more,
    }


def damage_json(damage: Damage, base_offset: int) -> Json:
    return {
        "segment": base_offset,
        "kind": damage.kind,
        "position": damage.position,
        "bytes": damage.bytes,
        "detail": damage.detail,
    }


def content_json(content: bytes | None) -> Json | None:
    """A key or a value: its text where it is printable UTF-8, its bytes in any case (the first TEXT_MAX).
    None: null, not the empty text."""
    return (
        None
        if content is None
        else {"text": _text(content), "hex": content[:TEXT_MAX].hex(), "bytes": len(content)}
    )


def _text(content: bytes) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return text[:TEXT_MAX] if text.isprintable() or not text else None


def _soundness(batch: RecordBatch | LegacyBatch) -> tuple[bool, str | None]:
    try:
        batch.ensure_valid()
    except LogError as error:
        return False, str(error)
    return True, None


def _offsets(batch: RecordBatch | LegacyBatch) -> Json:
    if isinstance(batch, LegacyBatch):
        return {"base_offset": batch.last_offset, "last_offset": batch.last_offset, "codec": None}
    header = batch.header
    try:
        codec = header.codec.name.lower()
    except LogError:
        codec = None
    return {"base_offset": header.base_offset, "last_offset": header.last_offset, "codec": codec}


def _records(batch: RecordBatch | LegacyBatch, are_groups: bool) -> tuple[list[Json], int, str | None]:
    shown: list[Json] = []
    left = 0
    try:
        for record in batch.records():
            if len(shown) < RECORDS_MAX:
                shown.append(_record_json(record, are_groups))
            else:
                left += 1
    except LogError as error:
        return shown, left, str(error)
    return shown, left, None


def _record_json(record: Record, is_groups: bool) -> Json:
    key, value = content_json(record.key), content_json(record.value)
    about = described(record.key, record.value) if is_groups else None
    if about is not None and key is not None:
        key["text"] = f"{about['kind']} {in_words(about['key'])}"[:TEXT_MAX]
        if value is not None:
            value["text"] = (in_words(about["value"]) or "")[:TEXT_MAX]
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": key,
        "value": value,
        "headers": [
            {"key": content_json(key), "value": content_json(value)} for key, value in record.headers
        ],
    }


def _field_json(field: Field) -> Json:
    """value as it is printed: a number, a text, "0x..." for the CRC and for bytes that are not text, null for
    none."""
    value: int | str | None
    if isinstance(field.value, bytes):
        value = _text(field.value)
        if value is None:
            value = f"0x{field.value[:TEXT_MAX].hex()}"
    elif field.name == "crc" and field.value is not None:
        value = f"0x{field.value:08x}"
    else:
        value = field.value
    return {
        "start": field.start,
        "end": field.end_exclusive,
        "name": field.name,
        "value": value,
        "record": field.record,
    }


def _previous(log: OpenedLog, segment: Segment, position: int) -> Json | None:
    if position:
        before = [
            seen
            for seen in log.walk_to(segment, position - 1)
            if isinstance(seen, BatchSeen) and seen.position < position
        ]
        return {"segment": segment.base_offset, "position": before[-1].position} if before else None
    place = log.live.index(segment.base_offset)
    if not place:
        return None
    earlier = log.segment(log.live[place - 1])
    last = deque(
        (seen for seen in log.walk_to(earlier, earlier.size - 1) if isinstance(seen, BatchSeen)), maxlen=1
    )
    return {"segment": earlier.base_offset, "position": last[0].position} if last else None


def _next(log: OpenedLog, segment: Segment, position: int) -> Json | None:
    if position < segment.size:
        return (
            {"segment": segment.base_offset, "position": position} if _is_batch(segment, position) else None
        )
    following = log.live[log.live.index(segment.base_offset) + 1 :]
    found = next((base for base in following if log.bytes_of(base)), None)
    return (
        {"segment": found, "position": 0} if found is not None and _is_batch(log.segment(found), 0) else None
    )


def _is_batch(segment: Segment, position: int) -> bool:
    return isinstance(next(walk(segment.log, position, position + 1), None), BatchSeen)

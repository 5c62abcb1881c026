"""What a log page reads from: one partition's folder, and what is known about it beside the folder. Labs and
opened logs give the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.log.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANER,
    LEADER_EPOCH,
    LOCK,
    LOG_START,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT,
    REPLICATION,
)
from broker_core.kafka.log.file_names import DELETED, LOG, file_name
from broker_core.lab.kafka_log.batch_view import batch_json, stretch_json
from broker_core.lab.kafka_log.folder_view import retention_json, segments_json
from broker_core.lab.kafka_log.lookup import lookup_offset, lookup_timestamp
from broker_core.lab.kafka_log.opened import OpenedLog, Summary, summarize
from broker_core.lab.kafka_log.read_only import ReadOnlyFolder
from broker_core.lab.kafka_log.settings import NUMBER_MAX, whole_number
from broker_core.real_files import stat_file
from dashboard.errors import Refused, in_words

PARTITION_FILES = (LEADER_EPOCH, PARTITION_METADATA)
TEXT_BYTES_MAX = 256 * 1024
TOP_FILES = (LOCK, META_PROPERTIES, RECOVERY_POINT, LOG_START, REPLICATION, CLEANER, CLEAN_SHUTDOWN)
COUNT_INLINE_BYTES = 2 * 1024 * 1024
SUMMARIES_KEPT = 4096
TRIES = 5
EXACT_MAX = 2**53 - 1
Query = Mapping[str, str]
Answer = TypeVar("Answer")

_counted: OrderedDict[tuple[str, str, int, int], Summary] = OrderedDict()
_counted_lock = Lock()


@dataclass(slots=True)
class Source:
    """One partition to look at.

    log: its folder. about: the part of the folder's JSON that the folder does not say. end_offset: None where
    only counting tells.
    check: whether to look for damage. is_open: whether the last segment is the active one: not of files that
    somebody brought along.
    counted: what a worker has counted already, for logs that are too large to count while somebody waits.
    """

    log: OpenedLog
    about: Json
    now_ms: int
    retention_bytes: int
    retention_ms: int
    end_offset: int | None = None
    cleaned_up_to: int = 0
    deleted_at_ms: Mapping[int, int] = field(default_factory=dict)
    check: bool = False
    is_open: bool = True
    counted: Mapping[tuple[int, str], Summary] = field(default_factory=dict)


def steady(read: Callable[[], Answer]) -> Answer:
    """Read, and read again when a file went meanwhile: retention and compaction do not wait for readers.
    Raises Refused 503 if they never rest."""
    for _attempt in range(TRIES):
        try:
            return read()
        except FileNotFoundError:
            continue
    raise Refused(503, {"log": _("is being prepared: try again")})


def exact(answer: Answer) -> Answer:
    """The answer for a reader whose numbers are exact up to 2^53 - 1, as a browser's: whole numbers beyond
    that become text."""
    changed: Any = answer
    if isinstance(answer, dict):
        changed = {name: exact(value) for name, value in answer.items()}
    elif isinstance(answer, list | tuple):
        changed = [exact(value) for value in answer]
    elif isinstance(answer, int) and abs(answer) > EXACT_MAX:
        changed = str(answer)
    return cast("Answer", changed)


def folder(source: Source) -> Json:
    """The folder as docs/interface.md has it."""
    log = source.log
    summaries, is_reading = _summaries(source)
    segments = segments_json(
        log,
        summaries,
        now_ms=source.now_ms,
        deleted_at_ms=source.deleted_at_ms,
        cleaned_up_to=source.cleaned_up_to,
        is_open=source.is_open,
    )
    end = end_offset(source)
    live = [segment for segment in segments if segment["state"] != "deleted"]
    return {
        **source.about,
        "start_offset": log.start_offset,
        "end_offset": end,
        "now_ms": source.now_ms,
        "bytes": sum(row["bytes"] for row in live),
        "segments": segments,
        "reading": is_reading,
        "other_files": [{"name": name, "bytes": log.folder.size_of(name)} for name in log.other_files()],
        "top_files": [] if source.about["kind"] == "upload" else _top_files(log.folder.path.parent),
        "retention": retention_json(
            segments,
            retention_bytes=source.retention_bytes,
            retention_ms=source.retention_ms,
            now_ms=source.now_ms,
        ),
    }


def _top_files(path: Path) -> list[Json]:
    """What a broker keeps beside its partitions' folders, as far as it is there. Nothing else of that folder
    is shown."""
    beside = ReadOnlyFolder(path)
    there = set(beside.names())
    return [{"name": name, "bytes": beside.size_of(name)} for name in TOP_FILES if name in there]


def lookup(source: Source, query: Query) -> Json:
    """Find ?offset= or ?timestamp=&rule=. Raises Refused at the field."""
    try:
        if "timestamp" in query:
            timestamp = whole_number("timestamp", query["timestamp"], 0, NUMBER_MAX)
            return lookup_timestamp(source.log, timestamp, query.get("rule", "kafka"))
        if "offset" not in query:
            raise Refused(400, {"offset": _("is missing")})
        offset = whole_number("offset", query["offset"], 0, NUMBER_MAX)
        return lookup_offset(source.log, offset, end_offset(source) or 0)
    except CommandError as error:
        raise _refused(error) from error


def batch(source: Source, query: Query) -> Json:
    """The batch of ?segment= that starts at ?position=. Raises Refused at the field."""
    try:
        segment = source.log.segment(_number(query, "segment"))
        return batch_json(source.log, segment, _number(query, "position"))
    except CommandError as error:
        raise _refused(error) from error


def stretch(source: Source, query: Query) -> Json:
    """Batches and index rows of segment ?base= between the bytes ?from= and ?to=. Raises Refused at the
    field."""
    try:
        segment = source.log.segment(_number(query, "base", "segment"))
        start = whole_number("from", query.get("from", "0"), 0, NUMBER_MAX)
        end = whole_number("to", query.get("to", str(segment.size)), 0, NUMBER_MAX)
        return stretch_json(source.log, segment, start, end)
    except CommandError as error:
        raise _refused(error) from error


def text_file(source: Source, query: Query) -> Json:
    """A file of checkpoints as its text: {name, text}. ?name=: as the folder's JSON has it, those of the
    broker's folder with "../" before.

    Raises Refused at `name` for any other file, and for one of more than TEXT_BYTES_MAX.
    """
    name = query.get("name", "")
    is_top = name.startswith("../")
    folder = (
        ReadOnlyFolder(source.log.folder.path.parent)
        if is_top and source.about["kind"] != "upload"
        else source.log.folder
    )
    plain = name.removeprefix("../") if is_top else name
    known = (
        TOP_FILES if is_top else tuple(name for name in source.log.other_files() if name in PARTITION_FILES)
    )
    if plain not in known or plain not in folder.names():
        raise Refused(404, {"name": _("is no checkpoint file of this folder")})
    if folder.size_of(plain) > TEXT_BYTES_MAX:
        raise Refused(400, {"name": _("is too long to be shown")})
    return {"name": name, "text": folder.read(plain).decode(errors="backslashreplace")}


def end_offset(source: Source) -> int | None:
    """The log end: told, or counted in the last segment; where that is hollow, what its index says."""
    if source.end_offset is not None or not source.log.live:
        return source.end_offset
    last = source.log.live[-1]
    summary = source.counted.get((last, "")) or _summary(source.log, last, "", False)
    if summary.records or not any(damage.kind == "zeros" for damage in summary.damage):
        return summary.next_offset
    index = source.log.segment(last).offset_index
    return index.last_offset + 1 if index.row_count else last


def count(source: Source) -> dict[tuple[int, str], Summary]:
    """Count every segment, with all checks: minutes for a log of many GB. For a worker."""
    keys = [*((base, DELETED) for base in source.log.deleted), *((base, "") for base in source.log.live)]
    return {(base, stage): summarize(source.log, base, stage, check=True) for base, stage in keys}


def _summaries(source: Source) -> tuple[Mapping[tuple[int, str], Summary], bool]:
    """What is known of the segments, and whether counting still goes on."""
    log = source.log
    keys = [*((base, DELETED) for base in log.deleted), *((base, "") for base in log.live)]
    if all(key in source.counted for key in keys):
        return source.counted, False
    if source.check and sum(log.bytes_of(*key) for key in keys) > COUNT_INLINE_BYTES:
        return source.counted, True
    return {(base, stage): _summary(log, base, stage, source.check) for base, stage in keys}, False


def _summary(log: OpenedLog, base_offset: int, stage: str, check: bool) -> Summary:
    """Counted once for a file that does not change."""
    name = file_name(base_offset, LOG) + stage
    path: Path = log.folder.path / name
    stat = stat_file(path)
    key = (str(path), f"{log.bytes_of(base_offset, stage)}/{check}", stat.st_size, stat.st_mtime_ns)
    with _counted_lock:
        if key in _counted:
            _counted.move_to_end(key)
            return _counted[key]
    summary = summarize(log, base_offset, stage, check=check, unpack=False)
    with _counted_lock:
        _counted[key] = summary
        while len(_counted) > SUMMARIES_KEPT:
            _counted.popitem(last=False)
    return summary


def _number(query: Query, name: str, otherwise: str | None = None) -> int:
    text = query.get(name) or (query.get(otherwise) if otherwise else None)
    if text is None:
        raise Refused(400, {name: _("is missing")})
    return whole_number(name, text, 0, NUMBER_MAX)


def _refused(error: CommandError) -> Refused:
    return Refused(400, {error.field: in_words(error)})

"""Logs that somebody opened: an upload, a folder of this machine, the article's. Only read, whatever state
they are in."""

import hashlib
import json
import logging
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.log.checkpoints import CLEANER, LOG_START, RECOVERY_POINT, REPLICATION, read_offsets
from broker_core.kafka.log.file_names import LOG, file_name
from broker_core.kafka.log.settings import LogSettings
from broker_core.lab.kafka_log import article
from broker_core.lab.kafka_log.article import FOLDER, build_article_log
from broker_core.lab.kafka_log.opened import OpenedLog, Summary
from broker_core.lab.kafka_log.read_only import ReadOnlyFolder
from broker_core.lab.kafka_log.settings import NUMBER_MAX, whole_number
from broker_core.lab.kafka_log.walk import Damage
from dashboard.errors import Refused, in_words
from dashboard.logs.places import logs_dir, server_folders, write_json
from dashboard.logs.source import Query, Source

log = logging.getLogger(__name__)
ARTICLE = "article"
META = "meta.json"
MADE_BY = "made-by"
COUNTED = "counted.json"
CLEAN = "clean.json"


def log_unknown() -> Refused:
    return Refused(404, {"log": _("there is no such log; uploads are deleted after a day")})


def uploaded_as(log_id: str) -> str | None:
    """The name that the `.log` of an upload came under, when nobody said which partition it is of."""
    return None if log_id == ARTICLE or log_id.startswith("f-") else upload_meta(log_id).get("title")


def log_path(log_id: str) -> tuple[str, Path]:
    """What kind of log an id names ("upload", "folder", "article"), and its partition's folder. Raises
    Refused 404."""
    if log_id == ARTICLE:
        return "article", article_path()
    if log_id.startswith("f-"):
        found = next((folder for folder in server_folders() if folder.log == log_id), None)
        if found is None:
            raise log_unknown()
        return "folder", found.path
    meta = upload_meta(log_id)
    return "upload", logs_dir() / log_id / meta["folder"]


def upload_meta(log_id: str) -> Json:
    """What was noted when the upload came. Raises Refused 404, also when its time is over."""
    if "/" in log_id or log_id.startswith("."):
        raise log_unknown()
    try:
        meta: Json = json.loads((logs_dir() / log_id / META).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise log_unknown() from error
    if meta["until_s"] < time.time():
        raise log_unknown()
    return meta


def article_path() -> Path:
    """The article's folder, made when the first person asks for it, and again where other code has made
    it."""
    path = logs_dir() / ARTICLE
    if _made_by(path) != _maker():
        draft = logs_dir() / f".{ARTICLE}-{time.time_ns()}"
        build_article_log(draft)
        (draft / MADE_BY).write_text(_maker(), encoding="utf-8")
        old = draft.with_name(f"{draft.name}-old")
        with suppress(OSError):  # there is none, or another request was faster
            path.rename(old)
        try:
            draft.rename(path)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return path / FOLDER


@cache
def _maker() -> str:
    """What tells the folder of this code from another version's: a digest of the module that writes it."""
    return hashlib.sha256(Path(article.__file__).read_bytes()).hexdigest()


def _made_by(path: Path) -> str:
    try:
        return (path / MADE_BY).read_text(encoding="utf-8")
    except OSError:
        return ""


def source_of(log_id: str, query: Query) -> Source:
    """The log as its pages read it. ?retention_bytes= and ?retention_ms= ask "what if". Raises Refused 404,
    or 400 at the field."""
    kind, path = log_path(log_id)
    title = uploaded_as(log_id)
    topic, partition = topic_partition(path.name) if title is None else (None, 0)
    key = (topic or "", partition)
    beside = ReadOnlyFolder(path.parent)
    known = (
        {
            name: read_offsets(beside, name).get(key)
            for name in (LOG_START, REPLICATION, RECOVERY_POINT, CLEANER)
        }
        if kind == "folder"
        else {}
    )
    try:
        opened = OpenedLog(path, start_offset=known.get(LOG_START))
        retention_bytes = whole_number("retention_bytes", query.get("retention_bytes", "-1"), -1, NUMBER_MAX)
        retention_ms = whole_number("retention_ms", query.get("retention_ms", "-1"), -1, NUMBER_MAX)
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    except OSError as error:
        raise log_unknown() from error
    # The time of the last record: by today's clock every retention would be over.
    now_ms = max((opened.segment(base).largest_timestamp for base in opened.live[-1:]), default=0)
    cleaned_up_to = known.get(CLEANER)
    settings_shown: Json = {"retention_bytes": retention_bytes, "retention_ms": retention_ms}
    about: Json = {
        "log": log_id,
        "kind": kind,
        "topic": topic,
        "partition": partition,
        "folder": title or path.name,
        "settings": settings_shown,
        "settings_shown": list(settings_shown),
        "records_of_lab": None,
        "behind": 0,
        "behind_us": 0,
        "high_watermark": known.get(REPLICATION),
        "recovery_point": known.get(RECOVERY_POINT),
        "cleanup_policy": None,
        "committed": None,
        "turning": [],
        **_neighbours(kind, path, log_id, topic, partition),
    }
    return Source(
        opened,
        about,
        now_ms,
        retention_bytes,
        retention_ms,
        cleaned_up_to=cleaned_up_to or 0,
        check=kind != "article",
        is_open=kind != "upload",
        counted=counted_load(log_id, path),
    )


def topic_partition(folder: str) -> tuple[str, int]:
    """Topic and partition of a folder's name; a name without a number is a topic's only partition.

    >>> topic_partition("nginx_access_log-1"), topic_partition("segment")
    (('nginx_access_log', 1), ('segment', 0))
    """
    topic, dash, number = folder.rpartition("-")
    return (
        (topic, int(number))
        if dash and topic and number.isascii() and number.isdigit() and len(number) < 10
        else (folder, 0)
    )


def clean_of(log_id: str) -> Json | None:
    """What a worker has worked out about compacting a log; None while it has not, or the log has grown since.
    Raises Refused 404."""
    kind, path = log_path(log_id)
    if kind == "article":
        return {"log": None}
    try:
        answer: Json = json.loads((logs_dir() / log_id / CLEAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return answer["clean"] if answer["bytes"] == _log_bytes(path) else None


def clean_store(log_id: str, path: Path, answer: Json) -> None:
    """Keep what a worker has worked out, with the size of the log that it is true of."""
    (logs_dir() / log_id).mkdir(parents=True, exist_ok=True)
    write_json(logs_dir() / log_id / CLEAN, {"bytes": _log_bytes(path), "clean": answer})


def as_table(source: Source) -> Json:
    """What `clean_json` is to take an opened log for: a compacted topic with Kafka's own settings."""
    return {
        "topic": source.about["topic"] or source.about["folder"],
        "partition": source.about["partition"],
        "now_ms": source.now_ms,
        "settings": LogSettings(cleanup_delete=False, cleanup_compact=True),
        "cleaned_up_to": source.cleaned_up_to or None,
        "is_open": source.is_open,
    }


def _neighbours(kind: str, path: Path, log_id: str, topic: str | None, partition: int) -> Json:
    """The other partitions beside this one, for a broker's folder; else this one alone."""
    rows: list[Json] = []
    for folder in server_folders() if kind == "folder" else ():
        if folder.path.parent == path.parent:
            name, number = topic_partition(folder.path.name)
            rows.append(
                {
                    "topic": name,
                    "partition": number,
                    "log": folder.log,
                    "bytes": _log_bytes(folder.path),
                    "end_offset": None,
                }
            )
    rows = rows or [
        {"topic": topic, "partition": partition, "log": log_id, "bytes": _log_bytes(path), "end_offset": None}
    ]
    return {
        "partitions": sorted(
            (row for row in rows if row["topic"] == topic), key=lambda row: row["partition"]
        ),
        "topics": sorted({row["topic"] for row in rows if row["topic"] is not None}),
    }


def _log_bytes(path: Path) -> int:
    folder = ReadOnlyFolder(path)
    return sum(folder.size_of(name) for name in folder.names() if name.endswith(LOG))


# -- what a worker has counted -------------------------------------------------------------------------------


def counted_store(log_id: str, path: Path, summaries: dict[tuple[int, str], Summary]) -> None:
    """Keep a worker's count for the web process, with the sizes that it is true of."""
    rows = [
        {"base_offset": base, "stage": stage, "bytes": (path / (file_name(base, LOG) + stage)).stat().st_size,
         "summary": [*summary[:-1], [list(damage) for damage in summary[-1]]]}
        for (base, stage), found in summaries.items()
        for summary in [_as_tuple(found)]
    ]  # fmt: skip
    _counted_file(log_id).parent.mkdir(parents=True, exist_ok=True)
    write_json(_counted_file(log_id), rows)


def counted_load(log_id: str, path: Path) -> dict[tuple[int, str], Summary]:
    """What was counted of the files as they are now; {} before a worker has counted."""
    try:
        rows: list[Any] = json.loads(_counted_file(log_id).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = {}
    for row in rows:
        file = path / (file_name(row["base_offset"], LOG) + row["stage"])
        if file.is_file() and file.lstat().st_size == row["bytes"]:
            *numbers, formats, damage = row["summary"]
            found[row["base_offset"], row["stage"]] = Summary(
                *numbers, tuple(formats), tuple(Damage(*entry) for entry in damage)
            )
    return found


def _as_tuple(summary: Summary) -> tuple[Any, ...]:
    return (
        summary.next_offset,
        summary.records,
        summary.batches,
        summary.first_timestamp,
        summary.max_timestamp,
        summary.formats,
        summary.damage,
    )


def _counted_file(log_id: str) -> Path:
    return logs_dir() / log_id / COUNTED


def logs_sweep() -> int:
    """Remove uploads whose time is over, and what a broken upload left. Returns how many went."""
    gone = 0
    for path in logs_dir().glob("*") if logs_dir().exists() else ():
        is_known = path.name == ARTICLE or path.name.startswith("f-")
        is_old = path.stat().st_mtime < time.time() - settings.LOG_KEEP_S
        if not is_known and is_old:
            shutil.rmtree(path, ignore_errors=True)
            gone += 1
    return gone

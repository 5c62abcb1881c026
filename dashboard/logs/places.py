"""Where logs are in the run folder, and which of this machine's folders may be looked at.

<run dir>/labs/<lab id>/kafka/<digest>/     a replica's log of a lab, written while somebody looks
<run dir>/kafka-logs/<log id>/              what somebody uploaded, until LOG_KEEP_S after it came
<run dir>/kafka-logs/article/               the article's log
HIGHWATER_LOG_DIRS                          folders of real brokers: only read, and never through a link that leads out
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from broker_core.events import Json
from broker_core.lab.kafka_log.read_only import has_log

FOLDERS_MAX = 2_000
REQUEST, STATE, WATCHED, REPLICA = "request.json", "state.json", "watched", "replica.json"
"""In a lab's folder: what it follows from; what its writer said last; the mark of those who look; of a
replica, what its shard said last."""
BROKER, MOMENT = "broker", "moment"
"""In a request: it is of this broker's replica; of the past, of which its shard has nothing more to say."""


class ServerFolder(NamedTuple):
    """A partition's folder of this machine. log: its id in addresses. name: as the setting and the folder
    call it, "kafka-logs/flights-0"."""

    log: str
    name: str
    path: Path


def labs_dir() -> Path:
    return Path(settings.RUN_DIR) / "labs"


def logs_dir() -> Path:
    return Path(settings.RUN_DIR) / "kafka-logs"


def server_folders() -> list[ServerFolder]:
    """Every partition's folder in the folders of the setting, or one level below; at most FOLDERS_MAX."""
    found = []
    for folder in settings.LOG_DIRS:
        root = Path(folder).resolve()
        for path in _partition_folders(root):
            name = str(Path(folder).name / path.relative_to(root))
            found.append(ServerFolder(f"f-{hashlib.sha256(str(path).encode()).hexdigest()[:16]}", name, path))
            if len(found) == FOLDERS_MAX:
                return found
    return found


def _partition_folders(root: Path) -> Iterator[Path]:
    """The folder itself, and those in it, that hold files of a partition. Links are not followed: their
    targets were not allowed."""
    try:
        with os.scandir(root) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    if has_log([entry.name for entry in inside if entry.is_file(follow_symlinks=False)]):
        yield root
    for entry in inside:
        if entry.is_dir(follow_symlinks=False) and _holds_log(entry.path):
            yield root / entry.name


def _holds_log(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return has_log([entry.name for entry in entries if entry.is_file(follow_symlinks=False)])
    except OSError:
        return False


def wish(folder: Path, description: Json) -> Path:
    """Say that somebody looks: make the folder with its description if it is new, and leave a fresh mark.
    Returns the folder."""
    if not (folder / REQUEST).exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / REQUEST, description)
    (folder / WATCHED).touch()
    return folder


def state_of(folder: Path) -> Json:
    """What the worker said last about a folder; {} before it has begun."""
    try:
        state: Json = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state


def write_json(path: Path, value: Any) -> None:
    """Put a file there in one step: a reader sees the old one or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    draft.write_text(json.dumps(value), encoding="utf-8")
    draft.replace(path)

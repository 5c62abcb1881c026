"""Folders of this machine that studies may read: for data that is too large to upload, and for logs that
grow.

    HIGHWATER_DATA_DIRS     files of every kind that a source reads
    HIGHWATER_LOG_DIRS      Kafka's logs and nothing else that may be beside them

A folder is known by its last name, `orders` for /data/orders, and a place in it by a path below,
`orders/2026/may.csv`. What a person sends is resolved, links included, and must still be inside. Where a
folder itself is the source, links in it that lead out of it are left out, and each file is opened without
following any (`broker_core/real_files.py`).
"""

from collections import Counter
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.kinds import sniff
from broker_core.real_files import real_below
from dashboard.errors import Refused

ENTRIES_MAX = 500
FILES_LOOKED_AT_MAX = 20
NAME_MAX = 1024


def folder_roots() -> dict[str, Path]:
    """Name -> folder; where two have the same last name, the first keeps it."""
    roots: dict[str, Path] = {}
    for folder in [*settings.DATA_DIRS, *settings.LOG_DIRS]:
        roots.setdefault(Path(folder).name, Path(folder).resolve())
    return roots


def has_only_logs(name: str) -> bool:
    """Whether the target of `name` was opened for its logs alone. A folder in both settings was not."""
    root = folder_roots().get(name.partition("/")[0])
    return root is not None and root not in [Path(folder).resolve() for folder in settings.DATA_DIRS]


def folder_path(name: object) -> Path:
    """The file or folder that `name` means. Raises Refused at `source.name` for anything that is missing or
    outside."""
    unknown = Refused(404, {"source.name": _("is not a file or folder that this server offers")})
    if not isinstance(name, str) or not 0 < len(name) <= NAME_MAX or "\0" in name:
        raise unknown
    first, _slash, rest = name.partition("/")
    root = folder_roots().get(first)
    if root is None:
        raise unknown
    try:
        path = (root / rest).resolve(strict=True)
    except (OSError, RuntimeError) as error:  # missing, not readable, or links in a circle
        raise unknown from error
    if path != root and root not in path.parents:
        raise unknown
    return path


def folder_kind(path: Path) -> str | None:
    """The kind of source that a file or folder is, None for one that no source reads. A folder is what its
    first files are, or those of its first partition, `day=2024-01-01/`."""
    if path.is_file():
        found = sniff(path, path.name)
        return found.kind if found else None
    # First, because a broker keeps small text files beside its partitions.
    if log_topics(path) is not None:
        return "kafka_log"
    for file in files_in(path)[:FILES_LOOKED_AT_MAX]:
        if file.stat().st_size and (found := sniff(file, file.name)):
            return found.kind
    partition = next(
        (each for each in sorted(path.glob("*=*")) if real_below(each, path) and each.is_dir()), None
    )
    return folder_kind(partition) if partition else None


def files_in(path: Path) -> list[Path]:
    """The real paths of a folder's own files, by name, but for hidden ones."""
    entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
    return [real for entry in entries if (real := real_below(entry, path)) is not None and real.is_file()]


def log_topics(path: Path) -> list[Json] | None:
    """[{topic, partitions}] of a partition's folder or of a broker's log folder, by name; None where there is
    no log."""
    try:
        counts = Counter(partition.topic for partition in partition_folders(path))
    except CommandError:
        return None
    return [{"topic": topic, "partitions": counts[topic]} for topic in sorted(counts)]


def folder_list(*, name: str | None) -> Json:
    """{name, kind, topics, entries: [{name, folder, bytes}]}: what can be picked; without a name the folders
    of the settings.

    kind: what the folder itself is as a source, as folder_kind. topics: as log_topics. Raises as folder_path,
    403 for one that is locked.
    """
    if name is None:
        return {
            "name": None,
            "kind": None,
            "topics": None,
            "entries": [{"name": root, "folder": True, "bytes": None} for root in folder_roots()],
        }
    path = folder_path(name)
    if not path.is_dir():
        raise Refused(404, {"source.name": _("is not a file or folder that this server offers")})
    try:
        kind, entries = (
            folder_kind(path),
            sorted(path.iterdir(), key=lambda entry: (entry.is_file(), entry.name)),
        )
    except OSError as error:
        raise Refused(
            403,
            {"source.name": _("cannot be opened by this server: %(reason)s") % {"reason": error.strerror}},
        ) from error
    shown = [entry for entry in entries if _is_offered(name, entry)][:ENTRIES_MAX]
    return {
        "name": name,
        "kind": None if kind != "kafka_log" and has_only_logs(name) else kind,
        "topics": log_topics(path),
        "entries": [
            {
                "name": f"{name}/{entry.name}",
                "folder": entry.is_dir(),
                "bytes": None if entry.is_dir() else entry.stat().st_size,
            }
            for entry in shown
        ],
    }


def _is_offered(name: str, entry: Path) -> bool:
    if entry.name.startswith(".") or (has_only_logs(name) and entry.is_file() and entry.suffix != ".log"):
        return False
    return _is_inside(f"{name}/{entry.name}")


def _is_inside(name: str) -> bool:
    """A link that leads out is not shown either."""
    try:
        folder_path(name)
    except Refused:
        return False
    return True

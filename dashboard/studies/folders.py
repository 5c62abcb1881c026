"""Folders of this machine that studies may read, by HIGHWATER_DATA_DIRS: for data that is too large to upload.

A folder is known by its last name, `orders` for /data/orders, and a place in it by a path below, `orders/2026/may.csv`. What a person sends
is resolved, links included, and must still lie inside.
"""

from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused
from dashboard.studies.kinds import sniff

ENTRIES_MAX = 500
FILES_LOOKED_AT_MAX = 20
NAME_MAX = 1024


def folder_roots() -> dict[str, Path]:
    """Name -> folder; where two have the same last name, the first keeps it."""
    roots: dict[str, Path] = {}
    for folder in settings.DATA_DIRS:
        roots.setdefault(Path(folder).name, Path(folder).resolve())
    return roots


def folder_path(name: object) -> Path:
    """The file or folder that `name` means. Raises Refused at `source.name` for anything that is not there or lies outside."""
    unknown = Refused(404, {"source.name": _("is no file or folder that this server offers")})
    if not isinstance(name, str) or not 0 < len(name) <= NAME_MAX or "\0" in name:
        raise unknown
    first, _slash, rest = name.partition("/")
    root = folder_roots().get(first)
    if root is None:
        raise unknown
    try:
        path = (root / rest).resolve(strict=True)
    except (OSError, RuntimeError) as error:      # missing, not readable, or links in a circle
        raise unknown from error
    if path != root and root not in path.parents:
        raise unknown
    return path


def folder_kind(path: Path) -> str | None:
    """The kind of source that a file or folder is, None for one that no source reads. A folder is what its first files are."""
    if path.is_file():
        found = sniff(path, path.name)
        return found.kind if found else None
    files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith((".", "_")))
    for file in files[:FILES_LOOKED_AT_MAX]:
        if file.stat().st_size and (found := sniff(file, file.name)):
            return found.kind
    if any(entry.is_dir() and any(entry.glob("*.log")) for entry in path.iterdir()):
        return "kafka_log"                        # a log folder of Kafka's, a folder a partition
    return None


def folder_list(*, name: str | None) -> Json:
    """{name, entries: [{name, folder, bytes}]}: what can be picked; without a name the folders of the setting. Raises as folder_path."""
    if name is None:
        return {"name": None, "entries": [{"name": root, "folder": True, "bytes": None} for root in folder_roots()]}
    path = folder_path(name)
    if not path.is_dir():
        raise Refused(404, {"source.name": _("is no file or folder that this server offers")})
    entries = sorted(path.iterdir(), key=lambda entry: (entry.is_file(), entry.name))
    shown = [entry for entry in entries if not entry.name.startswith(".") and _is_inside(f"{name}/{entry.name}")][:ENTRIES_MAX]
    return {
        "name": name,
        "entries": [
            {"name": f"{name}/{entry.name}", "folder": entry.is_dir(), "bytes": None if entry.is_dir() else entry.stat().st_size}
            for entry in shown
        ],
    }


def _is_inside(name: str) -> bool:
    """A link that leads out is not shown either."""
    try:
        folder_path(name)
    except Refused:
        return False
    return True

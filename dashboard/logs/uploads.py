"""Segment files that people upload: streamed to the run folder, counted while they come, all or none of them.

The files of one request are one partition. They are named as a broker names them, after the first offset of
the `.log`; a file that is not is given that name here. A lone `.log` must begin with a batch; what else they
hold is not asked: a damaged segment is what somebody wants to look at.
"""

import errno
import json
import re
import shutil
import time
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.utils.translation import gettext as _

from broker_core.events import Json
from broker_core.kafka.log.file_names import (
    INDEX,
    LOG,
    SNAPSHOT,
    TIME_INDEX,
    TXN_INDEX,
    file_name,
)
from broker_core.kafka.log.record_batch import HEADER_SIZE
from broker_core.lab.kafka_log.read_only import base_offset_of
from broker_core.lab.kafka_log.walk import begins_with_batch
from dashboard import quotas
from dashboard.errors import Refused
from dashboard.logs.opened import META, logs_sweep
from dashboard.logs.places import logs_dir
from dashboard.models import lab_id_new
from dashboard.quotas import Quota

MIB = 2**20
FILES_MAX = 400
ENVELOPE_BYTES = 256 * 1024  # what multipart/form-data adds around the files
SUFFIXES = (LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT)
OTHER_FILES = ("leader-epoch-checkpoint", "partition.metadata")
FOLDER_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def too_large() -> Refused:
    return Refused(
        413,
        {
            "file": _("the files are larger than %(limit)d MiB together")
            % {"limit": settings.LOG_UPLOAD_BYTES_MAX // MIB}
        },
    )


class IncomingFile(UploadedFile):
    """A received file, stored under a new name."""

    def __init__(self, path: Path, file: IO[bytes], name: str, size: int) -> None:
        super().__init__(file, name, None, size)
        self.path = path


class UploadHandler(FileUploadHandler):
    """Writes each file as it comes into its own folder, and refuses the request as soon as it is too
    large."""

    chunk_size = MIB

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self.folder = logs_dir() / f".coming-{lab_id_new()}"
        self._file: IO[bytes] | None = None
        self._path = self.folder
        self._count = self._total = self._size = 0

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        if content_length > settings.LOG_UPLOAD_BYTES_MAX + ENVELOPE_BYTES:
            raise too_large()
        if shutil.disk_usage(settings.RUN_DIR).free < content_length + settings.DISK_SPARE_BYTES:
            raise disk_full()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._count += 1
        if self._count > FILES_MAX:
            raise Refused(400, {"file": _("at most %(count)d files at once") % {"count": FILES_MAX}})
        self.folder.mkdir(parents=True, exist_ok=True)
        self._path, self._size = self.folder / str(self._count), 0
        self._file = self._path.open("wb")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self._file is not None
        self._size += len(raw_data)
        self._total += len(raw_data)
        if self._total > settings.LOG_UPLOAD_BYTES_MAX:
            raise too_large()
        try:
            self._file.write(raw_data)
        except OSError as error:
            raise (disk_full() if error.errno in NO_SPACE else error) from error

    def file_complete(self, file_size: int) -> IncomingFile:
        assert self._file is not None
        self._file.close()
        return IncomingFile(self._path, self._file, self.file_name or "", self._size)

    def discard(self) -> None:
        """Leave nothing behind of what was not accepted."""
        if self._file is not None:
            self._file.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def disk_full() -> Refused:
    return Refused(507, {"file": _("does not fit on the server's disk; nothing of it was kept")})


def upload_accept(*, files: list[IncomingFile], folder: str, owner_hash: str, address: str) -> str:
    """Keep files that have come in as one partition's folder. Returns the log's id.

    folder: what the partition's folder was called, "flights-3"; "" if nobody said: then the log is called as
    its file was, and how many more came.
    Raises Refused 400 at `file` or `folder`, 429 for a quota of the owner or the network address, 507 for
    everybody's.
    """
    names = _names(files)
    if folder and (not FOLDER_NAME.fullmatch(folder) or folder in (".", "..")):
        raise Refused(400, {"folder": _("must be 1 to 249 letters, digits, dots, _ or -")})
    logs_sweep()
    _check_quota(owner_hash, address)
    log_id = lab_id_new().replace("f-", "f_")
    draft = logs_dir() / f".draft-{log_id}"
    target = draft / (folder or "segment-0")
    target.mkdir(parents=True)
    for file, name in zip(files, names, strict=True):
        file.path.replace(target / name)
    meta = {
        "folder": target.name,
        "owner_hash": owner_hash,
        "address_hash": address,
        "until_s": time.time() + settings.LOG_KEEP_S,
    }
    if not folder:
        logs = sorted(name for file in files if (name := Path(file.name or "").name).lower().endswith(LOG))
        meta["title"] = logs[0] if len(logs) == 1 else f"{logs[0]} + {len(logs) - 1}"
    (draft / META).write_text(json.dumps(meta), encoding="utf-8")
    draft.rename(logs_dir() / log_id)
    return log_id


def _names(files: list[IncomingFile]) -> list[str]:
    """The names that a broker would give these files. Raises Refused at `file`."""
    names = []
    lone_base = _lone_base(files)
    for file in files:
        name = Path(file.name or "").name
        suffix = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), None)
        if name in OTHER_FILES or (suffix and base_offset_of(name) is not None and name.count(".") == 1):
            names.append(name)
        elif suffix and lone_base is not None:
            names.append(file_name(lone_base, suffix))
        else:
            refusal = _(
                "%(name)s is no .log, .index, .timeindex, .txnindex or .snapshot named after its first offset"
            )
            raise Refused(400, {"file": refusal % {"name": name[:100]}})
    if not any(name.endswith(LOG) for name in names):
        raise Refused(400, {"file": _("there must be a .log file")})
    if len(set(names)) < len(names):
        raise Refused(400, {"file": _("two of the files have the same name")})
    return names


def _lone_base(files: list[IncomingFile]) -> int | None:
    """The first offset of the only `.log`: what its files are to be named after when somebody has renamed
    them.

    Raises Refused at `file` for one that is no log: any eight bytes are an offset.
    """
    logs = [file for file in files if (file.name or "").lower().endswith(LOG)]
    if len(logs) != 1:
        return None
    name = Path(logs[0].name or "").name
    named = base_offset_of(name)
    with logs[0].path.open("rb") as log:
        head = log.read(HEADER_SIZE)
    if not begins_with_batch(head):
        raise Refused(400, {"file": _("no Kafka batch at byte 0 of %(name)s") % {"name": name[:100]}})
    first = int.from_bytes(head[:8], signed=True)
    return named if named is not None else max(0, first)


def _check_quota(owner_hash: str, address: str) -> None:
    kept = []
    for meta in logs_dir().glob(f"*/{META}"):
        try:
            kept.append(json.loads(meta.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
    mine = [meta for meta in kept if meta.get("owner_hash") == owner_hash]
    if len(mine) >= settings.LOG_UPLOADS_OWNER_MAX:
        raise Refused(
            429,
            {"file": _("too many logs are stored; each is deleted a day after its upload")},
            _free_in_s(mine),
        )
    own = [meta for meta in kept if meta.get("address_hash") == address]
    quota = Quota(
        quotas.LOGS,
        "file",
        settings.LOG_UPLOADS_ADDRESS_MAX,
        settings.LOG_UPLOADS_MAX,
        newcomer=settings.LOG_UPLOADS_NEWCOMER,
        total_status=507,
    )
    quota.check(mine=len(own), everybody=len(kept), again_s=_free_in_s(own or kept))


def _free_in_s(kept: list[Json]) -> float:
    """When the next of these logs goes."""
    return min((meta.get("until_s", 0.0) for meta in kept), default=0.0) - time.time()

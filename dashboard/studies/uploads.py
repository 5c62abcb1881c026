"""Files that people upload: streamed to the run folder's `uploads/<id>/`, counted while they come, whole or
absent.

A part that is too large, or for which the disk has no room, is refused while it comes and leaves nothing
behind. Each file belongs to its sender, counts against a quota, and goes UPLOAD_KEEP_S after its last use.
"""

import contextlib
import errno
import logging
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.pipeline.sources.kinds import refusal, sniff
from dashboard import quotas
from dashboard.errors import Refused
from dashboard.models import Study, Upload, lab_id_new
from dashboard.quotas import Quota
from dashboard.stored import Damaged

log = logging.getLogger(__name__)

MB = 10**6
NAME_MAX = 255
NO_SOURCE = "is not a CSV, JSON lines, Parquet or Kafka log segment file"
COMING_IN_S = 3600
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# What multipart/form-data adds around a file.
ENVELOPE_BYTES = 64 * 1024


def uploads_dir() -> Path:
    return Path(settings.RUN_DIR) / "uploads"


def upload_path(upload: Upload) -> Path:
    """Where the file is. A kafka_log is read as the folder around its segments."""
    folder = uploads_dir() / upload.pk
    return folder if upload.kind == "kafka_log" else folder / upload.stored_name


def too_large() -> Refused:
    limit = {"limit": settings.UPLOAD_BYTES_MAX / MB}
    return Refused(
        413,
        {
            "file": _(
                "is larger than the %(limit)g MB that may be uploaded; for more, use a folder on the server"
            )
            % limit
        },
    )


def disk_full() -> Refused:
    return Refused(507, {"file": _("does not fit on the server's disk; nothing of it was kept")})


def check_room(*, owner_hash: str, address: str, length: int) -> None:
    """Refuse what cannot be kept before its first byte is. length: bytes announced, 0 when nobody said.

    Raises Refused: 413 too large, 429 the owner's or the network address's quota, 507 the disk or everybody's
    files together.
    """
    if length > settings.UPLOAD_BYTES_MAX + ENVELOPE_BYTES:
        raise too_large()
    mine = Upload.objects.filter(owner_hash=owner_hash)
    used = mine.aggregate(total=Sum("bytes"))["total"] or 0
    if (
        used + length > settings.UPLOADS_OWNER_BYTES_MAX + ENVELOPE_BYTES
        or mine.count() >= settings.UPLOADS_OWNER_MAX
    ):
        quota = {"used": used / MB, "limit": settings.UPLOADS_OWNER_BYTES_MAX / MB}
        text = _(
            "is over your quota: your files take %(used).0f of %(limit).0f MB; each is deleted a week "
            "after its last use"
        )
        raise Refused(429, {"file": text % quota}, _free_in_s(mine))
    _check_address(address, length)
    if shutil.disk_usage(settings.RUN_DIR).free < length + settings.DISK_SPARE_BYTES:
        raise disk_full()


def _check_address(address: str, length: int) -> None:
    """The quotas in bytes and in files. A newcomer may always have one file of the largest size, or a few
    small ones."""
    everybody, own = Upload.objects.all(), Upload.objects.filter(address_hash=address)
    free_in_s = _free_in_s(own if own.exists() else everybody)
    size = Quota(quotas.FILES, "file", settings.UPLOADS_ADDRESS_BYTES_MAX, settings.UPLOADS_TOTAL_BYTES_MAX,
                 newcomer=settings.UPLOAD_BYTES_MAX + ENVELOPE_BYTES, total_status=507)  # fmt: skip
    size.check(mine=_bytes(own), everybody=_bytes(everybody), adding=length, again_s=free_in_s)
    count = Quota(
        quotas.FILES,
        "file",
        settings.UPLOADS_ADDRESS_MAX,
        settings.UPLOADS_MAX,
        newcomer=settings.UPLOADS_NEWCOMER,
        total_status=507,
    )
    count.check(mine=own.count(), everybody=everybody.count(), again_s=free_in_s)


def _bytes(uploads: QuerySet[Upload]) -> int:
    return uploads.aggregate(total=Sum("bytes"))["total"] or 0


def _free_in_s(uploads: QuerySet[Upload]) -> float:
    """When the next of these files goes, if nobody uses it."""
    oldest = uploads.order_by("used_at").values_list("used_at", flat=True).first()
    return settings.UPLOAD_KEEP_S - (timezone.now() - oldest).total_seconds() if oldest is not None else 0.0


class IncomingFile(UploadedFile):
    """What has come in, under a name that nobody reads from."""

    def __init__(self, path: Path, file: IO[bytes], name: str, size: int) -> None:
        super().__init__(file, name, None, size)
        self.path = path


class UploadHandler(FileUploadHandler):
    """Django's way of handing over a file while it comes: written at once, counted as it grows. The first
    file counts, others are skipped."""

    chunk_size = 1024 * 1024

    def __init__(self, request: Any, allow: Callable[[int], None]) -> None:
        super().__init__(request)
        self._allow = allow
        self._file: IO[bytes] | None = None
        self._path: Path | None = None
        self._size = 0

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        self._allow(content_length)

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self._path is not None:
            raise Refused(400, {"file": _("must be one file")})
        try:
            folder = uploads_dir()
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / f"{lab_id_new()}.part"
            self._file = self._path.open("wb+")
        except OSError as error:
            raise self._given_up(error) from error

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self._file is not None
        self._size += len(raw_data)
        if self._size > settings.UPLOAD_BYTES_MAX:
            self.discard()
            raise too_large()
        try:
            self._file.write(raw_data)
        except OSError as error:
            raise self._given_up(error) from error

    def file_complete(self, file_size: int) -> IncomingFile:
        assert self._file is not None and self._path is not None
        try:
            self._file.flush()
        except OSError as error:
            raise self._given_up(error) from error
        return IncomingFile(self._path, self._file, self.file_name or "", self._size)

    def upload_interrupted(self) -> None:
        self.discard()

    def discard(self) -> None:
        """Leave nothing behind. A file that was accepted has moved away, so nothing is left to remove."""
        if self._file is not None:
            self._file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _given_up(self, error: OSError) -> Exception:
        self.discard()
        return disk_full() if error.errno in DISK_FULL else error


def upload_accept(*, incoming: IncomingFile, owner_hash: str, address: str = "") -> Upload:
    """Give a file that has come in its kind, its place and its row. Raises Refused 400 at `file` for one that
    no source reads."""
    name = "".join(letter for letter in incoming.name or "" if letter.isprintable())[:NAME_MAX] or "file"
    found = sniff(incoming.path, name)
    if found is None:
        said = "is empty" if not incoming.size else refusal(incoming.path) or NO_SOURCE
        raise Refused(400, {"file": _(said)})
    upload = Upload(
        owner_hash=owner_hash,
        address_hash=address,
        name=name,
        stored_name=found.stored_name,
        kind=found.kind,
        bytes=incoming.size,
    )
    folder = uploads_dir() / upload.pk
    folder.mkdir()
    incoming.path.replace(folder / found.stored_name)
    upload.save(force_insert=True)
    return upload


def upload_get(*, upload_id: str, owner_hash: str | None) -> Upload:
    """One's own upload. Somebody else's is unknown: raises Refused 404 at `source.upload` either way."""
    upload = Upload.objects.filter(pk=upload_id, owner_hash=owner_hash or "-").first()
    if upload is None:
        raise Refused(
            404,
            {"source.upload": _("you have no such file; uploads are deleted a week after their last use")},
        )
    return upload


def upload_drop(*, upload: Upload) -> None:
    """Forget an upload, its row first: a file without a row is swept, a row without its file would promise
    something."""
    pk = upload.pk
    Upload.objects.filter(pk=pk).delete()
    shutil.rmtree(uploads_dir() / pk, ignore_errors=True)


def uploads_sweep() -> int:
    """Drop what has expired, unless a study still waits for it, and files that no row knows. Returns how many
    rows went."""
    now = timezone.now()
    active = Study.objects.filter(state__in=[Study.State.QUEUED, Study.State.RUNNING])
    needed = {
        request.get("source", {}).get("upload")
        for request in active.values_list("request", flat=True)
        if not isinstance(request, Damaged)
    }
    old = Upload.objects.filter(used_at__lt=now - timedelta(seconds=settings.UPLOAD_KEEP_S))
    dropped = [upload for upload in old if upload.pk not in needed]
    for upload in dropped:
        upload_drop(upload=upload)
    known = set(Upload.objects.values_list("pk", flat=True))
    for entry in uploads_dir().glob("*"):
        # What is coming in has no row yet, and may go at any moment.
        with contextlib.suppress(FileNotFoundError):
            if entry.name not in known and entry.stat().st_mtime < now.timestamp() - COMING_IN_S:
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink()
    return len(dropped)

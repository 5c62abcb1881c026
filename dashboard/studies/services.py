"""Every write to studies that a person or program asks for. A service takes values and returns values, never
a request.

upload_add     a file has come in            study_start    queue a study, wake the worker
study_cancel   stop it, or take it back      study_watched  somebody looks at a live study
studies_tend   what the keeper does each second, and each minute
"""

import contextlib
import shutil
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.chunks import WANTED
from dashboard import quotas
from dashboard.errors import Refused, in_words
from dashboard.labs.services import lab_watched
from dashboard.models import Study, Upload
from dashboard.quotas import Quota
from dashboard.studies import writes
from dashboard.studies.job import result_remove, studies_dir
from dashboard.studies.reader import reader
from dashboard.studies.sources import (
    chunks_dir,
    history_for_pipeline,
    live_source,
    source_for_pipeline,
    source_public,
)
from dashboard.studies.uploads import IncomingFile, upload_accept, upload_drop, upload_path, uploads_sweep
from dashboard.studies.waking import wake_worker

State = Study.State
OVER = (State.DONE, State.FAILED, State.CANCELLED)
PREVIEW_ROWS = 20
NAME_MAX = 64
WAIT_S = 60.0  # a study that waits may begin within this
CHUNKS_KEEP_S = 3600  # of a lab that no live study wants any more


# -- data ----------------------------------------------------------------------------------------------------


def upload_add(*, incoming: IncomingFile, owner_hash: str, address: str = "") -> tuple[Upload, Json]:
    """Keep a file that has come in; (its row, its first rows). One that cannot be read is not kept: Refused
    400 at `file`."""
    upload = upload_accept(incoming=incoming, owner_hash=owner_hash, address=address)
    try:
        preview = _preview({"kind": upload.kind, "path": str(upload_path(upload))}, "file")
    except CommandError as error:
        upload_drop(upload=upload)
        raise Refused(400, {"file": in_words(error)}) from error
    except Exception:
        upload_drop(upload=upload)
        raise
    return upload, preview


def source_preview(*, source: Any, owner_hash: str | None) -> Json:
    """The first rows of a source, with the kind it turned out to be. Raises Refused at `source...`."""
    resolved = source_for_pipeline(source, owner_hash)
    try:
        return {**_preview(resolved, _field_of(resolved)), "kind": resolved["kind"]}
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _preview(spec: Json, field: str) -> Json:
    shown: Json = reader.ask("preview", field, spec=spec, rows=PREVIEW_ROWS)
    return shown


def _field_of(resolved: Json) -> str:
    """Where a source is refused that takes too long to be read."""
    return "source.path" if "path" in resolved else "source"


# -- studies -------------------------------------------------------------------------------------------------


def study_start(*, request: Json, owner_hash: str, address: str = "") -> Study:
    """Check a study, store it, wake the worker. Raises Refused at the field that is wrong, 429 when too many
    wait, 507 when too many are kept.

    address: as address.py gives it, "" for the server itself.
    """
    request = dict(request)
    is_live = request.pop("live", False)
    if not isinstance(is_live, bool):
        raise Refused(400, {"live": _("must be true or false")})
    source = request.get("source")
    checked = (
        _check_live(request, owner_hash)
        if is_live
        else _check(_with_topic(request), source_for_pipeline(source, owner_hash))
    )
    checked["source"] = source_public(source, checked["source"])  # type: ignore[arg-type]
    with transaction.atomic():
        _make_room(owner_hash, address, is_live)
        study = Study.objects.create(
            name=checked.get("name") or "",
            live=is_live,
            request=checked,
            owner_hash=owner_hash,
            address_hash=address,
        )
        transaction.on_commit(wake_worker)
    return study


def _with_topic(request: Json) -> Json:
    """An uploaded file is stored under another name than the one it came with, which its topic is called
    after."""
    from broker_core.lab.topic import topic_of_name

    source = request.get("source")
    upload = (
        Upload.objects.filter(pk=source["upload"]).first()
        if isinstance(source, dict) and isinstance(source.get("upload"), str)
        else None
    )
    if upload is None or upload.kind == "kafka_log" or "topic" in request:
        return request
    return {**request, "topic": topic_of_name(upload.name)}


def _check(request: Json, resolved: Json) -> Json:
    history = {"history": history_for_pipeline(request["history"])} if "history" in request else {}
    try:
        checked: Json = reader.ask(
            "study", _field_of(resolved), raw={**request, "source": resolved, **history}
        )
        return checked
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _check_live(request: Json, owner_hash: str) -> Json:
    """A live study is its source and its name."""
    if unknown := sorted(set(request) - {"name", "source"}):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    name = request.get("name", "")
    if not isinstance(name, str) or len(name) > NAME_MAX or not (name.isprintable() or not name):
        raise Refused(
            400, {"name": _("must be at most %(count)d printable characters") % {"count": NAME_MAX}}
        )
    try:
        resolved = live_source(request.get("source"), owner_hash)
        return {"name": name, "source": reader.ask("live", _field_of(resolved), source=resolved)}
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _make_room(owner_hash: str, address: str, is_live: bool) -> None:
    """Refuse what would wait too long; forget an owner's or an address's oldest finished study beyond what
    either may keep."""
    everybody = Study.objects.all()
    own = everybody.filter(address_hash=address) if address else everybody.none()
    newcomer = settings.STUDIES_NEWCOMER
    if is_live:
        live = Quota(
            quotas.LIVE_STUDIES, "study", settings.STUDIES_LIVE_ADDRESS_MAX, settings.STUDIES_LIVE_MAX
        )
        _check_quota(live, own, everybody, Q(live=True) & ~Q(state__in=OVER), settings.STUDY_LIVE_IDLE_S)
    if (
        everybody.filter(state=State.QUEUED, owner_hash=owner_hash).count()
        >= settings.STUDIES_WAITING_OWNER_MAX
    ):
        raise Refused(429, {"study": _("too many studies are waiting: start this one later")}, WAIT_S)
    waiting = Quota(
        quotas.WAITING_STUDIES,
        "study",
        settings.STUDIES_WAITING_ADDRESS_MAX,
        settings.STUDIES_WAITING_MAX,
        newcomer=newcomer,
    )
    _check_quota(waiting, own, everybody, Q(state=State.QUEUED), WAIT_S)
    for studies, most in (
        (everybody.filter(owner_hash=owner_hash), settings.STUDIES_OWNER_MAX),
        (own, settings.STUDIES_ADDRESS_MAX),
    ):
        if studies.count() >= most:
            oldest = studies.filter(state__in=OVER).order_by("created_at").first()
            if oldest is not None:
                study_forget(oldest.pk)
    kept = Quota(
        quotas.KEPT_STUDIES,
        "study",
        settings.STUDIES_ADDRESS_MAX,
        settings.STUDIES_MAX,
        newcomer=newcomer,
        total_status=507,
    )
    oldest_at = (
        everybody.filter(state__in=OVER).order_by("finished_at").values_list("finished_at", flat=True).first()
    )
    _check_quota(
        kept,
        own,
        everybody,
        Q(),
        settings.STUDY_KEEP_S - (timezone.now() - (oldest_at or timezone.now())).total_seconds(),
    )


def _check_quota(
    quota: Quota, own: QuerySet[Study], everybody: QuerySet[Study], which: Q, again_s: float
) -> None:
    quota.check(mine=own.filter(which).count(), everybody=everybody.filter(which).count(), again_s=again_s)


def study_cancel(*, study: Study, owner_hash: str | None) -> Study:
    """Stop a study; one that has ended stays as it is. A running one ends within moments, in the worker.
    Raises Refused 403."""
    if study.owner_hash != owner_hash:
        raise Refused(403, {"study": _("this study is not yours")})
    now = timezone.now()
    Study.objects.filter(pk=study.pk, state__in=[State.QUEUED, State.RUNNING]).update(cancel_requested=True)
    # Nobody runs what waits, so this is its end; if a worker took it in this very moment, it hears of the
    # request.
    Study.objects.filter(pk=study.pk, state=State.QUEUED).update(state=State.CANCELLED, finished_at=now)
    transaction.on_commit(wake_worker)
    return Study.objects.get(pk=study.pk)


def study_delete(*, study: Study, owner_hash: str | None) -> None:
    """Forget a study for good: its row, its windows, its folder. One that waits is taken back first. Its
    upload stays, others may need it.

    Raises Refused 403 to somebody else, 409 while it runs: what its worker writes would come back.
    """
    if study.owner_hash != owner_hash:
        raise Refused(403, {"study": _("this study is not yours")})
    Study.objects.filter(pk=study.pk, state=State.QUEUED).update(
        state=State.CANCELLED, cancel_requested=True, finished_at=timezone.now()
    )
    if not study_forget(study.pk):
        raise Refused(409, {"study": _("this study is still running: cancel it first")})


def study_watched(*, study_ids: list[str]) -> None:
    """Somebody looks at these live studies now, and so at their labs, which would rest otherwise."""
    looked_at = Study.objects.filter(pk__in=study_ids, live=True, state__in=[State.QUEUED, State.RUNNING])
    if looked_at.update(watched_at=timezone.now()):
        sources = [request["source"] for request in looked_at.values_list("request", flat=True)]
        if labs := {source["lab"] for source in sources if source["kind"] == "lab"}:
            lab_watched(lab_ids=labs, wake=True)


# -- keeping -------------------------------------------------------------------------------------------------


def studies_tend(*, sweep: bool) -> None:
    """What lost its worker fails, with the reason. sweep: also drop what has expired and folders that belong
    to nothing."""
    for study_id in writes.studies_fail_lost():
        result_remove(study_id)
    if sweep:
        uploads_sweep()
        studies_sweep()


def studies_sweep() -> None:
    """Forget studies that ended STUDY_KEEP_S ago, and remove folders that no study owns any more."""
    old = Study.objects.filter(
        state__in=OVER, finished_at__lt=timezone.now() - timedelta(seconds=settings.STUDY_KEEP_S)
    )
    for pk in list(old.values_list("pk", flat=True)):
        study_forget(pk)
    kept = set(Study.objects.exclude(state__in=[State.FAILED, State.CANCELLED]).values_list("pk", flat=True))
    for folder in studies_dir().glob("*"):
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    for wanted in chunks_dir("").glob(f"*/{WANTED}"):
        with contextlib.suppress(FileNotFoundError):
            if wanted.stat().st_mtime < time.time() - CHUNKS_KEEP_S:
                shutil.rmtree(wanted.parent, ignore_errors=True)


def study_forget(study_id: str) -> bool:
    """Drop a study that has ended, with its result. False: it has not ended, and everything stays."""
    Study.objects.filter(pk=study_id, state__in=OVER).delete()
    if Study.objects.filter(pk=study_id).exists():
        return False
    result_remove(study_id)
    return True

"""From what a person names to what the pipeline reads, and never back: a path of this machine is in no row
and no answer.

    {"kind": "csv", "upload": ID, "key": ...}          ─► {"kind": "csv", "path": P, "key": ...}
    {"kind": "folder", "name": "orders/may.csv", ...}  ─► {"kind": "csv", "path": P, ...}
    {"kind": "lab", "lab": ID, "records"?: N}          ─► {"kind": "lab", "scenario": {...}, "records": N}
    flights, zipf, uniform                             ─► as they are

A membership history may name a lab too: {"kind": "lab", "lab": ID} ─► its journal, as it is now.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.kinds import ensure_none_refused
from dashboard.errors import Refused, in_words, listed
from dashboard.labs import selectors
from dashboard.models import Study, Upload
from dashboard.studies import folders, uploads

GENERATED = ("flights", "zipf", "uniform")
FILES = ("csv", "jsonl", "parquet", "kafka_log")
KINDS = (*FILES, "folder", "lab", *GENERATED)
RECORDS_LEAST = 1_000


def source_for_pipeline(source: Any, owner_hash: str | None) -> Json:
    """The source as the pipeline takes it. Raises Refused at `source...` for what is not there or not the
    owner's."""
    if not isinstance(source, dict):
        raise Refused(400, {"source": _("must be an object")})
    if "path" in source or "scenario" in source:
        raise Refused(400, {f"source.{'path' if 'path' in source else 'scenario'}": _("is unknown")})
    match source.get("kind"):
        case "lab":
            return _lab(source)
        case "folder":
            return _folder(source)
        case kind if kind in FILES:
            return _upload(source, owner_hash)
        case kind if kind in GENERATED:
            return dict(source)
    raise Refused(400, {"source.kind": _("must be one of %(kinds)s") % {"kinds": listed(KINDS)}})


def _upload(source: Json, owner_hash: str | None) -> Json:
    given = {name: value for name, value in source.items() if name != "upload"}
    upload_id = source.get("upload")
    if not isinstance(upload_id, str) or not upload_id:
        raise Refused(400, {"source.upload": _("choose a file: none has been uploaded yet")})
    upload = uploads.upload_get(upload_id=upload_id, owner_hash=owner_hash)
    if upload.kind != source["kind"]:
        raise Refused(400, {"source.kind": _("the file is %(kind)s") % {"kind": upload.kind}})
    path = uploads.upload_path(upload)
    if not path.exists():
        raise Refused(
            404,
            {"source.upload": _("you have no such file; uploads are deleted a week after their last use")},
        )
    return {**given, "path": str(path)}


def _folder(source: Json) -> Json:
    given = {name: value for name, value in source.items() if name not in ("kind", "name", "format")}
    path = folders.folder_path(source.get("name"))
    try:
        kind = source.get("format") or folders.folder_kind(path)
    except OSError as error:
        raise Refused(
            403,
            {"source.name": _("cannot be opened by this server: %(reason)s") % {"reason": error.strerror}},
        ) from error
    if folders.has_only_logs(source["name"]) and kind != "kafka_log":
        raise Refused(
            400, {"source.name": _("holds no Kafka log, and this folder was opened for its logs only")}
        )
    if kind not in FILES:
        _ensure_none_refused(path)
        raise Refused(400, {"source.name": _("holds no CSV, JSON lines, Parquet or Kafka log")})
    return {"kind": kind, **given, "path": str(path)}


def _ensure_none_refused(path: Path) -> None:
    files = folders.files_in(path) if path.is_dir() else [path]
    try:
        ensure_none_refused(files[: folders.FILES_LOOKED_AT_MAX], is_alone=path.is_file())
    except CommandError as error:
        raise Refused(400, {"source.name": in_words(error)}) from error


def _lab(source: Json) -> Json:
    if unknown := sorted(set(source) - {"kind", "lab", "records"}):
        raise Refused(400, {f"source.{unknown[0][:64]}": _("is unknown")})
    lab = _lab_of(source.get("lab"), "source.lab")
    records = source.get("records")
    if records is None:
        snapshot = selectors.lab_snapshot(lab_id=lab.pk)
        records = max(RECORDS_LEAST, snapshot["view"]["record_count"]) if snapshot else RECORDS_LEAST
    return {"kind": "lab", "scenario": lab.scenario, "records": records}


def _lab_of(lab_id: Any, field: str) -> Any:
    try:
        return selectors.lab_get(lab_id=lab_id if isinstance(lab_id, str) else "")
    except Refused as refused:
        raise Refused(404, {field: refused.fields["lab"][0]}) from refused


def history_for_pipeline(history: Any) -> Any:
    """The membership history as the pipeline takes it. Raises Refused at `history.lab`."""
    if not isinstance(history, dict) or history.get("kind") != "lab" or "lab" not in history:
        return history
    if unknown := sorted(set(history) - {"kind", "lab"}):
        raise Refused(400, {f"history.{unknown[0][:64]}": _("is unknown")})
    lab = _lab_of(history["lab"], "history.lab")
    return {
        "kind": "lab", "start": lab.scenario["consumers"], "rate": lab.scenario["workload"]["rate"],
        "commands": selectors.journal(lab=lab)["commands"],
    }  # fmt: skip


def request_for_pipeline(study: Study) -> Json:
    """A stored request as the pipeline takes it, its file marked as used. Raises Refused when the data is
    gone."""
    request = dict(study.request)
    source = request["source"]
    if "upload" in source:
        Upload.objects.filter(pk=source["upload"]).update(used_at=timezone.now())
    if not study.live:
        request.setdefault(
            "topic", "flights"
        )  # it was waiting when studies began to be named after their source
    resolve = live_source if study.live else source_for_pipeline
    request["source"] = resolve(source, study.owner_hash)
    return request


def live_source(source: Any, owner_hash: str | None) -> Json:
    """The source of a live study as the pipeline takes it: a lab's chunks, or a log folder that grows. Raises
    as source_for_pipeline."""
    if isinstance(source, dict) and source.get("kind") == "lab":
        if unknown := sorted(set(source) - {"kind", "lab"}):
            raise Refused(400, {f"source.{unknown[0][:64]}": _("is unknown")})
        return {"kind": "lab", "chunks": str(chunks_dir(_lab_of(source.get("lab"), "source.lab").pk))}
    resolved = source_for_pipeline(source, owner_hash)
    if resolved["kind"] != "kafka_log":
        raise Refused(400, {"source.kind": _("must be a lab or a Kafka log: only these grow")})
    return resolved


def chunks_dir(lab_id: str) -> Path:
    """Where a lab's worker leaves its rows of each second while a live study wants them."""
    return Path(settings.RUN_DIR) / "chunks" / lab_id


def source_public(source: Json, checked: Json) -> Json:
    """The source as a row and an answer have it: what the check filled in, but for a path or a scenario,
    which stay a name."""
    if source["kind"] == "lab":
        records = {"records": checked["records"]} if "records" in checked else {}
        return {"kind": "lab", "lab": source["lab"], **records}
    filled = {name: value for name, value in checked.items() if name != "path"}
    if source["kind"] == "folder":
        return {**filled, "kind": "folder", "name": source["name"], "format": checked["kind"]}
    return {**filled, "upload": source["upload"]} if "upload" in source else filled

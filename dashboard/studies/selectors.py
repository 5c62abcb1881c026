"""What pages, the API and the websocket read about studies. Nothing here writes."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import redis
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from dashboard.errors import Refused, in_words
from dashboard.labs.transport import transport
from dashboard.models import Study, StudyWindow, Upload
from dashboard.stored import Damaged, intact
from dashboard.studies import reasons, writes
from dashboard.studies.job import study_folder
from dashboard.studies.sources import history_for_pipeline
from dashboard.studies.waking import QUEUE

State = Study.State
WORKER_SILENT_S = 5.0
TERMS = ("skew", "churn", "pause", "order")
CONSTRAINTS = (
    "keeps_order",
    "keeps_up",
    "no_idle",
    "wait_s_max",
    "wait_percent_max",
    "drain_s_max",
    "skew_max",
)
_CONSTRAINT_TEXTS = {"true": True, "false": False, "": None}
_NUMBER = re.compile(r"\d{1,6}(\.\d{1,6})?", re.ASCII)
LIST_MAX = 200


def study_get(*, study_id: str) -> Study:
    """Raises Refused 404 for an unknown study."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        raise Refused(404, {"study": _("there is no such study")})
    return study


def study_exists(*, study_id: str) -> bool:
    return Study.objects.filter(pk=study_id).exists()


def study_meta(*, study: Study, owner_hash: str | None = None) -> Json:
    """A study without its result. place: 1 is the next; error: in the reader's language; worker: whether
    anybody would run it."""
    return {
        "id": study.pk,
        "name": study.name,
        "live": study.live,
        "state": study.state,
        "progress": study_progress(study),
        "error": reasons.in_words(study.error),
        "is_fault": reasons.is_fault(study.error),
        "field": (study.error or {}).get("field"),
        "request": study.request,
        "created_at": study.created_at.isoformat(),
        "started_at": _iso(study.started_at),
        "finished_at": _iso(study.finished_at),
        "mine": study.owner_hash == owner_hash,
        "worker": study.state not in (State.QUEUED, State.RUNNING) or worker_answers(),
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def study_progress(study: Study) -> Json:
    """{stage, done, total, rows, rows_per_s, tasks_done, tasks_total, place, behind_s}; a waiting study has only its
    place, a live one its stage and behind_s (live_stage.py)."""
    nothing = {
        "stage": "queued",
        "done": 0,
        "total": 0,
        "rows": 0,
        "rows_per_s": None,
        "tasks_done": None,
        "tasks_total": None,
        "place": None,
        "behind_s": None,
    }
    if study.state != State.QUEUED:
        return {**nothing, "stage": "preparing", **study.progress}
    order = writes.study_order()
    return {**nothing, "place": order.index(study.pk) + 1 if study.pk in order else None}


def worker_answers() -> bool:
    """Whether the analysis worker showed itself lately; without Redis it is not known, and the database is
    asked anyway."""
    try:
        age_s = transport().worker_age_s(QUEUE)
    except redis.RedisError:
        return True
    return age_s is not None and age_s < WORKER_SILENT_S


def study_list(*, owner_hash: str | None) -> list[Json]:
    """One's own studies, newest first, each as study_meta with a summary {records, strategies} in place of
    its request."""
    rows = Study.objects.filter(owner_hash=owner_hash or "-").order_by("-created_at")[:LIST_MAX]
    metas = [study_meta(study=_listed(study), owner_hash=owner_hash) for study in rows]
    return [
        {**{name: value for name, value in meta.items() if name != "request"}, "summary": _summary(meta)}
        for meta in metas
    ]


def _listed(study: Study) -> Study:
    """The row; of a damaged one what can be read, with that as its error, so that its owner can delete it."""
    for column, empty in (("request", {}), ("progress", {}), ("error", None)):
        if isinstance(getattr(study, column), Damaged):
            setattr(study, column, empty)
            study.state, study.error = State.FAILED, reasons.reason(reasons.DAMAGED, column=column)
    return study


def _summary(meta: Json) -> Json:
    """records: how many were read, None before the end."""
    is_done = meta["state"] == State.DONE and not meta["live"]
    return {
        "records": meta["progress"]["rows"] if is_done else None,
        "strategies": len(meta["request"].get("strategies") or []),
    }


def study_message(*, study: Study) -> Json:
    """What the websocket says of it; the error as template and values, for each reader's language."""
    return {
        "type": "progress",
        "state": study.state,
        "started_at": _iso(study.started_at),
        "progress": study_progress(study),
        "error": intact(study.error),
    }


def uploads_list(*, owner_hash: str | None) -> list[Json]:
    """One's own files, the last used first."""
    rows = Upload.objects.filter(owner_hash=owner_hash or "-").order_by("-used_at")
    return [
        {
            "upload": row.pk,
            "name": row.name,
            "bytes": row.bytes,
            "kind": row.kind,
            "created_at": row.created_at.isoformat(),
        }
        for row in rows
    ]


# -- what can be asked ---------------------------------------------------------------------------------------


def strategies_offered() -> Json:
    """{strategies: every family with its parameters, default: ids of those that a new study offers first}."""
    from broker_core.pipeline import strategies

    return {
        "strategies": strategies.strategies_offered(),
        "default": [strategy.id for strategy in strategies.strategies_default()],
    }


def history_steps(*, history: Any, service: Any = None) -> Json:
    """{history: checked and filled in, steps, thinned: as `rate_thinned` says}: what a membership history
    comes to, and at which rate it is run.
    Raises Refused at `history...` or `service...`."""
    from broker_core.pipeline import members, study_request, timed

    try:
        checked = members.history_check(history_for_pipeline(history))
        steps = members.history_steps(checked)
        thinned = timed.rate_thinned(steps, study_request.service_check(service))
        return {"history": checked, "steps": [step.to_json() for step in steps], "thinned": thinned}
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


# -- results -------------------------------------------------------------------------------------------------


def study_done(*, study: Study) -> Study:
    """The study, if its result is whole. Raises Refused 409 otherwise."""
    if study.state != State.DONE or study.live:
        raise Refused(409, {"study": _("this study has no result (%(state)s)") % {"state": study.state}})
    return study


def study_result(*, study: Study) -> Json:
    """The result with its ranking under the request's weights and constraints. The request is the stored one,
    which names no path of this machine."""
    from broker_core.pipeline.advice import advise
    from broker_core.pipeline.result import result_json

    result = dict(result_json(study_folder(study_done(study=study).pk)))
    result["name"], result["request"] = study.name, request_shown(request=study.request)
    weights, constraints = study.request.get("weights") or {}, study.request.get("constraints") or {}
    return {**result, **advise(result, *_checked(weights, constraints))}


def request_shown(*, request: Json) -> Json:
    """A study's request for a person: an uploaded file has its name, `source.file`, as long as it is
    there."""
    upload = Upload.objects.filter(pk=request["source"].get("upload", "")).first()
    return {**request, "source": {**request["source"], "file": upload.name}} if upload else request


def study_bad_rows(*, study: Study, limit: int) -> list[Json]:
    """The first rows that could not be read, in order: line, reason (a code of the sources), text."""
    import pyarrow.parquet as pq

    first = next(
        pq.ParquetFile(study_folder(study_done(study=study).pk) / "bad_rows.parquet").iter_batches(limit),
        None,
    )
    return first.to_pylist() if first is not None else []


def study_ranking(*, study: Study, asked: Mapping[str, str]) -> Json:
    """{weights, constraints, ranking, verdict, feasibility} under other weights and constraints, from the
    stored figures: no Spark runs.

    asked: texts by name, as an address has them: a weight 0 to 100; keeps_order, keeps_up and no_idle `true`,
    `false` or empty (as the study's default has it); a bound as a decimal number, empty for none. What is left out is as in the request.
    Raises Refused at the name, or at `weights` where nothing would matter.
    """
    from broker_core.pipeline.advice import advise
    from broker_core.pipeline.result import result_json

    weights, constraints = (
        dict(study.request.get("weights") or {}),
        dict(study.request.get("constraints") or {}),
    )
    for name, text in asked.items():
        if name in TERMS:
            if not text.isascii() or not text.isdigit() or len(text) > 3 or int(text) > 100:
                raise Refused(400, {name: _("must be a whole number from 0 to 100")})
            weights[name] = int(text)
        elif name in CONSTRAINTS:
            constraints[name] = _constraint(text)
        else:
            raise Refused(400, {name[:64]: _("is unknown")})
    # Checked before the result is read: what is wrong with the address is not the study's fault.
    weights, constraints = _checked(weights, constraints)
    return advise(result_json(study_folder(study_done(study=study).pk)), weights, constraints)


def _constraint(text: str) -> Any:
    """A constraint of an address as the request has it; unrecognised values are passed through and rejected
    by the check."""
    if text in _CONSTRAINT_TEXTS:
        return _CONSTRAINT_TEXTS[text]
    return float(text) if _NUMBER.fullmatch(text) else text


def _checked(weights: Json, constraints: Json) -> tuple[Json, Json]:
    """Both complete, as a start takes them. Raises Refused at `weights` or at the constraint."""
    from broker_core.pipeline.constraints import constraints_check
    from broker_core.pipeline.recommend import weights_check

    try:
        return dict(weights_check(weights)), dict(constraints_check(constraints))
    except CommandError as error:
        raise Refused(400, {error.field.removeprefix("constraints."): in_words(error)}) from error


# -- live studies --------------------------------------------------------------------------------------------


def windows_since(*, study_id: str, version: int) -> tuple[int, list[Json]]:
    """(version of the newest, windows that changed after `version`, oldest first)."""
    newest, rows = windows_versions(study_id=study_id, version=version)
    return newest, [row for _changed, row in rows]


def windows_versions(*, study_id: str, version: int) -> tuple[int, list[tuple[int, Json]]]:
    """The same, each window with the version in which it changed."""
    found = StudyWindow.objects.filter(study_id=study_id, version__gt=version).order_by("start_us", "lane")
    rows = [(row.version, intact(row.row)) for row in found]
    return max((changed for changed, _row in rows), default=version), rows


def studies_now(study_ids: Iterable[str]) -> dict[str, Study]:
    """Several studies as they are now, for those who watch them."""
    return {study.pk: study for study in Study.objects.filter(pk__in=list(study_ids))}

"""The Analyze pages: the list of studies with the form for a new one, one study, two side by side. They read,
present and draw."""

import time
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.errors import Refused
from dashboard.labs import selectors
from dashboard.models import Study
from dashboard.page import base_context
from dashboard.presentation import textures
from dashboard.studies import folders
from dashboard.studies import selectors as studies
from dashboard.studies.advice import feasible_words
from dashboard.studies.owner import owner_of
from dashboard.studies.presentation import head, notes, ranking_rows, unowned, verdict_words
from dashboard.studies.reader import reader
from dashboard.studies.reasons import is_fault

Json = dict[str, Any]

TERMS = ("skew", "churn", "pause", "order")
# name, lowest, highest, step of its input; the limits are the pipeline's, which this process imports when it
# first needs them.
BOUNDS = (
    ("wait_s_max", 1, 600, 1),
    ("wait_percent_max", 0, 100, 0.1),
    ("drain_s_max", 0, 86_400, 1),
    ("skew_max", 1, 4_096, 0.1),
)
ANSWERS = ("keeps_order", "keeps_up", "no_idle")
STAGES = ("reading", "grouping", "routing", "lab", "writing")
SOURCE_KINDS = ("file", "flights", "lab", "zipf", "folder")
HISTORY_KINDS = ("given", "rolling_restart", "autoscale", "crash_storm", "lab")
RESTART_NAMES = ("own", "new")
# What each source of a live study can tell: a log knows no consumers, a lab's lanes have no replicas.
MEASURES = {"lab": ("throughput", "lag", "skew", "rebalance_cost"), "log": ("throughput", "skew", "hw_lag")}
HW_NOTES = "dashboard/analyze/partials/hw_notes.html"
COLUMNS = ("key", "time", "size", "payload")
BLANK_ROW = {"place": "", "id": "", "score": "", "bar": "0"}
OTHERS_MAX = 30
BAD_ROWS_MAX = 20


@require_safe
@never_cache
def analyze(request: HttpRequest) -> HttpResponse:
    """The visitor's studies, and the form for a new one; `?from=<id>` fills it with that study's request."""
    reader.begin()  # a file may come soon
    visitor = access.visitor_of(request) or access.token_new()
    owner_hash = access.token_hash(visitor)
    context = _context(request)
    words = context["catalogue"][context["page"]["language"]]
    rows = studies.study_list(owner_hash=owner_hash)
    labs = [*selectors.lab_list(visitor=visitor), *selectors.lab_list()]
    context["page"] |= {
        "offer": {
            **studies.strategies_offered(),
            "folders": bool(folders.folder_roots()),
            "upload_bytes_max": settings.UPLOAD_BYTES_MAX,
            "labs": [_lab_choice(lab, words) for lab in labs],
            "now_ms": time.time_ns() // 1_000_000,
        },
        "studies": rows,
        "request": _request_of(request.GET.get("from", "")),
    }
    context |= {
        "source_kinds": [{"id": kind, "words": words[f"data.{kind}"]} for kind in SOURCE_KINDS],
        "history_kinds": [{"id": kind, "words": words[f"history.{kind}"]} for kind in HISTORY_KINDS],
        "restart_names": [{"id": name, "words": words[f"history.{name}"]} for name in RESTART_NAMES],
        "columns": [{"id": column, "words": words[f"data.{column}"]} for column in COLUMNS],
    }
    response = render(request, "dashboard/analyze/studies.html", context)
    access.visitor_remember(response, visitor)
    return response


def _lab_choice(lab: Json, words: dict[str, str]) -> Json:
    """id, the name that it was given ("" for none), when it was made, and its workload as codes of words, for
    lab_titles.js."""
    codes = (f"workload.{lab['workload']['kind']}", f"key.{lab['workload'].get('key')}")
    created = lab["created_at"][:16].replace("T", " ")
    return {
        "id": lab["id"],
        "name": lab["name"],
        "created": created,
        "codes": [code for code in codes if code in words],
    }


def _request_of(study_id: str) -> Json | None:
    """What a study asked for, None for an address that names none."""
    try:
        return (
            studies.request_shown(request=studies.study_get(study_id=study_id).request) if study_id else None
        )
    except Refused:
        return None


@require_safe
@never_cache
def study(request: HttpRequest, study_id: str) -> HttpResponse:
    """One study by its link: how far it is, or its result under the weights of the address. Looking needs
    nothing."""
    visitor = access.visitor_of(request) or access.token_new()
    row = _study_or_404(study_id)
    meta = studies.study_meta(study=row, owner_hash=access.token_hash(visitor))
    context = _context(request)
    context["page"] |= {"study": meta}
    context["page"]["urls"] |= _study_urls(study_id)
    context["study"] = meta
    if row.live:
        source = "lab" if row.request["source"]["kind"] == "lab" else "log"
        context["about"] = f"live.about_{source}"
        context["stage"] = f"stage.{meta['progress']['stage']}"
        context["charts"] = [
            {"measure": measure, "title": f"live.{measure}", "sub": HW_NOTES if measure == "hw_lag" else ""}
            for measure in MEASURES[source]
        ]
        response = render(request, "dashboard/analyze/live.html", context)
    else:
        context |= _study_context(context, row, request)
        response = render(request, "dashboard/analyze/study.html", context)
    access.visitor_remember(response, visitor)
    return response


def _study_context(context: Json, row: Study, request: HttpRequest) -> Json:
    words = context["catalogue"][context["page"]["language"]]
    ended = "cancelled" if row.state == Study.State.CANCELLED else "failed"
    more = "study.fault_more" if is_fault(row.error) else f"study.{ended}_more"
    weights, constraints = row.request.get("weights") or {}, row.request.get("constraints") or {}
    drawn: Json = {
        "ended": ended, "ended_title": f"study.{ended}", "ended_more": more,
        "stages": [{"id": stage, "words": words[f"stage.{stage}"]} for stage in STAGES],
        "blank": BLANK_ROW, "textures": textures(), "others": _others(row),
    }  # fmt: skip
    if row.state == Study.State.DONE:
        result = studies.study_result(study=row)
        ranked = _ranked(request, row)
        ranking, weights, constraints = ranked["ranking"], ranked["weights"], ranked["constraints"]
        context["page"] |= ranked
        drawn |= {"head": head(result, ranking, words), "rows": ranking_rows(result, ranking, words)} | notes(
            result
        )
        drawn["sure"] = verdict_words(result, ranked["verdict"], words)
        drawn["unowned"] = unowned(result, words)
        drawn["feasible"] = feasible_words(ranked["feasibility"], words)
        drawn["level"] = ranked["feasibility"]["level"]
        drawn["bad"] = studies.study_bad_rows(study=row, limit=BAD_ROWS_MAX) if drawn["bad_rows"] else []
        for bad in drawn["bad"]:
            bad["code"] = f"bad.{bad['reason']}" if f"bad.{bad['reason']}" in words else "bad.other"
    drawn["weights"] = [
        {"term": term, "label": words[f"weight.{term}"], "value": weights.get(term, 0)} for term in TERMS
    ]
    bounds = [
        {
            "name": name,
            "label": words[f"constraint.{name}.label"],
            "low": low,
            "high": high,
            "step": step,
            "value": constraints.get(name),
        }
        for name, low, high, step in BOUNDS
    ]
    answers = [
        {"name": name, "label": words[f"constraint.{name}"], "value": constraints.get(name)}
        for name in ANSWERS
    ]
    return drawn | {"bounds": bounds, "answers": answers}


def _ranked(request: HttpRequest, row: Study) -> Json:
    """The ranking under the address's weights and constraints where they are good ones, else under the
    study's own."""
    asked = {
        name: text for name, text in request.GET.dict().items() if name in (*TERMS, *studies.CONSTRAINTS)
    }
    try:
        return studies.study_ranking(study=row, asked=asked)
    except Refused as refused:
        if refused.status != HTTPStatus.BAD_REQUEST:
            raise
        return studies.study_ranking(study=row, asked={})


def _others(row: Study) -> list[Json]:
    """Finished studies of the same owner, to compare with."""
    found = Study.objects.filter(owner_hash=row.owner_hash, state=Study.State.DONE, live=False).exclude(
        pk=row.pk
    )
    return [
        {"id": other.pk, "name": other.name, "when": _when(other)}
        for other in found.order_by("-created_at")[:OTHERS_MAX]
    ]


def _when(row: Study, to: str = "minutes") -> str:
    return row.created_at.replace(tzinfo=None).isoformat(sep=" ", timespec=to)


@require_safe
@never_cache
def compare(request: HttpRequest) -> HttpResponse:
    """Two finished studies side by side: `?a=<id>&b=<id>`. What is missing is chosen on the page."""
    context = _context(request)
    owner_hash = owner_of(request).hash
    chosen = [request.GET.get(side, "") for side in ("a", "b")]
    sides = [_study_or_404(study_id) if study_id else None for study_id in chosen]
    own = Study.objects.filter(owner_hash=owner_hash or "-", state=Study.State.DONE, live=False).order_by(
        "-created_at"
    )[:OTHERS_MAX]
    context["page"] |= {
        "sides": [{"id": row.pk, "name": row.name, "state": row.state} if row else None for row in sides]
    }
    # Studies of one file that began within a minute differ in their seconds.
    alike = {(row.name, _when(row)) for row in sides if row}
    is_close = all(sides) and len(alike) == 1
    choices = {
        row.pk: _choice(row, is_close and (row.name, _when(row)) in alike)
        for row in [*own, *(row for row in sides if row)]
    }
    context |= {"choices": list(choices.values()), "a": chosen[0], "b": chosen[1], "textures": textures()}
    context["ready"] = all(
        row is not None and row.state == Study.State.DONE and not row.live for row in sides
    )
    context["first"], context["second"] = (row and _side(choices[row.pk], sides) for row in sides)
    return render(request, "dashboard/analyze/compare.html", context)


def _choice(row: Study, with_seconds: bool) -> Json:
    return {"id": row.pk, "name": row.name, "when": _when(row, "seconds" if with_seconds else "minutes")}


def _side(choice: Json, sides: list[Study | None]) -> Json:
    """A study of the two: its title, which tells it from the other, and where its tables are."""
    is_namesake = len({other.name for other in sides if other}) == 1
    title = f"{choice['name']} · {choice['when']}" if is_namesake else choice["name"]
    return {**choice, "title": title, "data": _study_urls(choice["id"])["data"]}


def _study_or_404(study_id: str) -> Study:
    try:
        return studies.study_get(study_id=study_id)
    except Refused as refused:
        raise Http404(study_id) from refused


def _context(request: HttpRequest) -> Json:
    context = base_context(request, "analyze")
    context["page"] |= {
        "csrf": get_token(request),
        "urls": {
            "studies": "/api/studies/",
            "uploads": "/api/studies/uploads/",
            "preview": "/api/studies/preview/",
            "history": "/api/studies/history/",
            "folders": "/api/studies/folders/",
            "analyze": "/analyze/",
            "study": "/analyze/{id}/",
            "lab": "/lab/{id}/",
            "plotly": static("vendor/plotly.min.js"),
        },
    }
    return context


def _study_urls(study_id: str) -> dict[str, str]:
    own = f"/api/studies/{study_id}/"
    return {
        "ranking": f"{own}ranking/",
        "data": f"{own}data/",
        "windows": f"{own}windows/",
        "socket": f"/ws/studies/{study_id}/",
    }

"""Studies for programs and for the page's own buttons. Thin: read the body, call one service, answer JSON.

    POST /api/studies/uploads/      multipart `file`             201 {upload, name, bytes, kind, preview}
    GET  /api/studies/uploads/                                   200 {uploads, limits}
    GET  /api/studies/folders/?name=                             200 {name, entries}
    POST /api/studies/preview/      {source}                     200 {columns, key, time, rows, bad, bytes}
    GET  /api/studies/strategies/                                200 {strategies, default}
    POST /api/studies/history/      {history, service?}          200 {history, steps, thinned}
    POST /api/studies/              a study's request            201 what the study is
    GET  /api/studies/                                           200 {studies}: one's own
    GET  /api/studies/<id>/                                      200 what the study is
    DELETE /api/studies/<id>/                                    204 it and its result are gone
    POST /api/studies/<id>/cancel/                               200 what the study is
    GET  /api/studies/<id>/result/                               200 the result and its ranking
    GET  /api/studies/<id>/ranking/?skew=&...&skew_max=&...      200 {weights, constraints, ranking, verdict,
                                                                     feasibility}
    GET  /api/studies/<id>/windows/?after=                       200 {version, rows} of a live study
    GET  /api/studies/<id>/data/<table>.<csv|parquet>            200 a file
    POST /api/studies/<id>/open/    {strategies?}                201 a lab, as POST /api/labs/, and what was left out

A study belongs to the browser's cookie or to the program's bearer token; a program that has neither gets a
token with its first answer. Everyone with the link may read.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from broker_core.events import Json
from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.labs import selectors as lab_selectors
from dashboard.serializers import json_body, json_response, refusal_response
from dashboard.studies import folders, opening, selectors, services
from dashboard.studies.downloads import download, download_windows
from dashboard.studies.job import study_folder
from dashboard.studies.owner import Owner, owner_of
from dashboard.studies.uploads import IncomingFile, UploadHandler, check_room
from dashboard.views.api import api


@csrf_exempt
def uploads(request: HttpRequest) -> HttpResponse:
    """Send a file, or list one's own."""
    try:
        owner = owner_of(request, make=True)
    except Refused as refused:
        return refusal_response(refused)
    address = address_of(request)
    if request.method == "POST":
        # Before anything reads the form, and the check of the CSRF token does: the file goes to its place
        # while it comes.
        request.upload_handlers = [
            UploadHandler(
                request,
                lambda length: check_room(owner_hash=owner.hash or "", address=address, length=length),
            )
        ]
    try:
        return _uploads(request, owner=owner)
    finally:
        for handler in request.upload_handlers:
            if isinstance(handler, UploadHandler):
                handler.discard()


@api("GET", "POST")
def _uploads(request: HttpRequest, owner: Owner) -> HttpResponse:
    if request.method == "GET":
        limits = {"upload_bytes_max": settings.UPLOAD_BYTES_MAX, "folders": bool(folders.folder_roots())}
        return json_response(
            {"uploads": selectors.uploads_list(owner_hash=owner_of(request).hash), "limits": limits}
        )
    if request.content_type != "multipart/form-data":
        raise Refused(415, {"body": _("must be multipart/form-data")})
    try:
        incoming = request.FILES.get("file")
    except MultiPartParserError as error:
        raise Refused(400, {"body": _("must be multipart/form-data")}) from error
    if not isinstance(incoming, IncomingFile):
        raise Refused(400, {"file": _("choose a file")})
    upload, preview = services.upload_add(
        incoming=incoming, owner_hash=owner.hash or "", address=address_of(request)
    )
    answer = {
        "upload": upload.pk,
        "name": upload.name,
        "bytes": upload.bytes,
        "kind": upload.kind,
        "preview": preview,
    }
    return json_response(answer | owner.told, 201)


@api("GET")
def folder(request: HttpRequest) -> HttpResponse:
    """What of this machine may be picked."""
    return json_response(folders.folder_list(name=request.GET.get("name")))


@api("POST")
def preview(request: HttpRequest) -> HttpResponse:
    """The first rows of a source."""
    return json_response(
        services.source_preview(source=json_body(request).get("source"), owner_hash=owner_of(request).hash)
    )


@api("GET")
def strategies(request: HttpRequest) -> HttpResponse:
    """What may be compared."""
    return json_response(selectors.strategies_offered())


@api("POST")
def history(request: HttpRequest) -> HttpResponse:
    """What a membership history comes to, step by step."""
    body = json_body(request)
    return json_response(selectors.history_steps(history=body.get("history"), service=body.get("service")))


@api("GET", "POST")
def studies(request: HttpRequest) -> HttpResponse:
    """Start a study, or list one's own."""
    if request.method == "GET":
        return json_response({"studies": selectors.study_list(owner_hash=owner_of(request).hash)})
    owner = owner_of(request, make=True)
    study = services.study_start(
        request=json_body(request), owner_hash=owner.hash or "", address=address_of(request)
    )
    return json_response(selectors.study_meta(study=study, owner_hash=owner.hash) | owner.told, 201)


@api("GET", "DELETE")
def study(request: HttpRequest, study_id: str) -> HttpResponse:
    """What a study is and how far; or forget it."""
    found, owner_hash = selectors.study_get(study_id=study_id), owner_of(request).hash
    if request.method == "DELETE":
        services.study_delete(study=found, owner_hash=owner_hash)
        return HttpResponse(status=204)
    return json_response(selectors.study_meta(study=found, owner_hash=owner_hash))


@api("POST")
def cancel(request: HttpRequest, study_id: str) -> HttpResponse:
    """Stop a study."""
    owner_hash = owner_of(request).hash
    found = services.study_cancel(study=selectors.study_get(study_id=study_id), owner_hash=owner_hash)
    return json_response(selectors.study_meta(study=found, owner_hash=owner_hash))


@api("GET")
def result(request: HttpRequest, study_id: str) -> HttpResponse:
    """The whole result."""
    return json_response(selectors.study_result(study=selectors.study_get(study_id=study_id)))


@api("GET")
def ranking(request: HttpRequest, study_id: str) -> HttpResponse:
    """The ranking under other weights and constraints."""
    found = selectors.study_get(study_id=study_id)
    return json_response(selectors.study_ranking(study=found, asked=request.GET.dict()))


@api("GET")
def windows(request: HttpRequest, study_id: str) -> HttpResponse:
    """Windows of a live study that are newer than ?after=."""
    after = request.GET.get("after", "0")
    if not after.isascii() or not after.isdigit() or len(after) > 18:
        raise Refused(400, {"after": _("must be a whole number")})
    found = selectors.study_get(study_id=study_id)
    services.study_watched(study_ids=[found.pk])
    version, rows = selectors.windows_since(study_id=found.pk, version=int(after))
    return json_response({"version": version, "rows": rows})


@api("GET")
def data(request: HttpRequest, study_id: str, table: str, file_format: str) -> HttpResponseBase:
    """One table of the result as a file, or the windows of a live study."""
    found = selectors.study_get(study_id=study_id)
    if found.live:
        _version, rows = selectors.windows_since(study_id=found.pk, version=0)
        return download_windows(
            rows=rows, study_id=found.pk, study_name=found.name, table=table, file_format=file_format
        )
    selectors.study_done(study=found)
    return download(
        folder=study_folder(found.pk),
        study_id=found.pk,
        study_name=found.name,
        table=table,
        file_format=file_format,
    )


@api("POST")
def open_lab(request: HttpRequest, study_id: str) -> HttpResponse:
    """The study as a lab on the Stage."""
    found = selectors.study_done(study=selectors.study_get(study_id=study_id))
    opened = opening.study_open(
        study=found,
        request=json_body(request),
        visitor=access.visitor_of(request),
        address=address_of(request),
    )
    lab: Json = lab_selectors.lab_meta(lab=opened.lab)
    return json_response({**lab, "owner_token": opened.owner_token, "left_out": opened.left_out}, 201)
